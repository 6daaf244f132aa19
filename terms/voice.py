"""The counterpart's words: fixed templates that render a committed act and never decide anything.

Text is chosen by the act, the cue and the round, so the same episode always reads the same. :func:`stray_numbers` is
the check every voice must pass, including an optional model voice: no number other than the committed price.
"""

from __future__ import annotations

import re

from terms.types import Cue, Decision, Posture, Sentiment

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
_NUMBER = re.compile(r"[-\u2212]?(?:\d[\d.,\u00a0 ]*\d|\d)")


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
    """Return the numbers in ``text`` that are not the committed price; empty means the text is faithful."""
    expected = None if price is None else format_price(price)
    return [found for found in _NUMBER.findall(text) if found != expected]
