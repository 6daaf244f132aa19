"""The counterpart's words: fixed templates that render a committed act and never decide anything.

Text is chosen by the act, the cue and the round, so the same episode always reads the same. Another :data:`Voice` may
be given to a game; it words what the kernel has committed and has no way to change it. :func:`stray_numbers` is the
check every voice must pass, including an optional model voice: no number other than the committed price.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from terms.types import Cue, Decision, Posture, Sentiment, Turn

Voice = Callable[[Decision, float | None, Cue, int], str]
"""Words for ``(decision, price, cue, round)``; ``price`` is ``None`` where the counterpart walks away."""

_TONE = {
    Sentiment.POSITIVE: ("I appreciate the way this is going.", "Thank you, this is a good conversation."),
    Sentiment.NEUTRAL: ("Let me be plain.", "Here is where things stand."),
    Sentiment.NEGATIVE: ("This is not where it needs to be.", "I am not impressed so far."),
}
_OFFER = {
    Posture.CONCEDE: ("I can move to {price}.", "Let us try {price}."),
    Posture.HOLD: ("My price is {price}.", "I am at {price}."),
    Posture.PRESSURE: ("{price}, and I need an answer soon.", "{price}. Others are waiting."),
}
_ACCEPT = "{price} works for me. We have a deal."
_WALK = "We are too far apart. I am stopping here."
_NUMBER = re.compile(r"[-\u2212]?(?:\d[\d.,_'’\u00a0\u202f\u2009 ]*\d|\d)")
_WORDS = (
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety hundred thousand million dozen "
    "half percent"
)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS.split())})(?:s|es|ies)?\b", re.IGNORECASE)
_CLAIMS_DEAL = re.compile(r"\b(?:accept(?:ed|s)?|agreed?|have a deal|sold|done)\b", re.IGNORECASE)
_GLUED_BEFORE, _GLUED_AFTER = re.compile(r"[^\W_]"), re.compile(r"\s?[%‰]|[^\W_]|[-−/]")


def format_price(price: float) -> str:
    """Write a price with two decimals, the precision of every counterpart message; never a negative zero."""
    return f"{price:z.2f}"


def render(decision: Decision, price: float | None, cue: Cue, round_number: int) -> str:
    """Put a committed counterpart act into words."""
    if decision is Decision.REJECT or price is None:
        return _WALK
    if decision is Decision.ACCEPT:
        return _ACCEPT.format(price=format_price(price))
    tone, offer = _TONE[cue.sentiment], _OFFER[cue.posture]
    return f"{tone[round_number % len(tone)]} {offer[round_number % len(offer)].format(price=format_price(price))}"


def stray_numbers(text: str, price: float | None) -> list[str]:
    """Return the numbers in ``text`` that are not the committed price; empty means the text is faithful.

    The price counts only as :func:`format_price` writes it. Every other spelling is a stray number, also of the same
    value: other separators, a sign, a suffix as in "45.00k", digits of other scripts, fractions, English number words
    (but not "one", which is rarely a number).
    """
    expected = None if price is None else format_price(price)
    stray = [match[0] for match in _NUMBER.finditer(text) if match[0] != expected or _is_glued(text, match)]
    signs = [char for char in text if not char.isdecimal() and unicodedata.numeric(char, None) is not None]
    return stray + signs + _NUMBER_WORD.findall(text)


def claims_deal(text: str) -> bool:
    """Whether ``text`` speaks of an agreement as if it were made."""
    return bool(_CLAIMS_DEAL.search(text))


def _is_glued(text: str, number: re.Match[str]) -> bool:
    """Whether a number is part of something longer, such as "A45.00" or "45.00k"."""
    start, end = number.span()
    return bool(_GLUED_BEFORE.match(text, max(0, start - 1), start) or _GLUED_AFTER.match(text, end))


def recorded(turns: Sequence[Turn], closing_message: str) -> Voice:
    """Return the voice that repeats a recorded episode, so that a replay reads as the original did."""

    def repeat(decision: Decision, price: float | None, cue: Cue, round_number: int) -> str:
        return turns[round_number - 1].counterpart_message if decision is Decision.OFFER else closing_message

    return repeat
