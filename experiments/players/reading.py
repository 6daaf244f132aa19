"""The one reader of a negotiator's replies: text in, a move and its receipt out, nothing invented in between.

Rules, in order:

1. No reply, a stated refusal or a content filter, and a reply without visible text have verdicts of their own.
2. Private reasoning between the marks of any family of models is never read (:mod:`experiments.llm.free_text`).
3. Only a complete JSON object with a ``decision`` can be a move; prose is never one, broken or truncated JSON neither.
4. An object that a sentence only speaks of, as an example, in its middle or to deny it, is no answer. Those left must
   agree on decision and price. Where they differ, the last counts if it closes the reply and words other than
   "or" set it apart from the one before; else the reply is unreadable. A reply stopped at the output limit counts only
   if the object closes it.
5. A price is a JSON number, or text that is one unmistakable amount (:mod:`terms.prices`). An ``Accept``
   that names another price than the standing one agrees to nothing and is unreadable.
6. A readable move outside the rules stays what it is, with the verdict *illegal*; the game counts it.
"""

from __future__ import annotations

import math
import re

from experiments.llm.free_text import FoundObject, Value, blank_thinking, find_objects, spoken_as
from experiments.llm.records import MALFORMED, PROMPT_FILTER, Completion
from experiments.players.receipts import Problem, Reading, Repair, Verdict, unusable
from terms.prices import parse_price, stated_price
from terms.protocol import read_belief, read_decision
from terms.types import Accept, Action, Belief, Decision, Observation, Offer, Reject

_FENCE = re.compile(r"(?:```|~~~)[^\S\n]*[\w+-]*|`")
_ONE_OBJECT = "one JSON object with the keys decision, price, message"
_SURROGATES = re.compile("[\ud800-\udfff]")
_SHOWN = 60
LONGEST_MESSAGE = 4000
"""Characters of a public message that reach the counterpart, the record and every page that shows it."""
_CENT = 0.005


class _UnreadableError(Exception):
    """Leaves the reader from wherever the reply turned out to hold no move."""

    def __init__(self, field: str, value: str, allowed: str) -> None:
        super().__init__(field, value, allowed)
        self.problem = Problem(field, value, allowed)


def read_completion(completion: Completion, observation: Observation) -> Reading:
    """Read what a model answered to ``observation``."""
    return read_move(completion.text, observation, finish_reason=completion.finish_reason, refusal=completion.refusal)


def read_move(
    text: str | None, observation: Observation, *, finish_reason: str | None = None, refusal: str | None = None
) -> Reading:
    """Read a reply to ``observation``. Never raises on any text.

    Parameters
    ----------
    text
        The reply's content, thinking tags and all; ``None`` where there was none.
    observation
        What the agent was answering; it says which decisions are open and which prices are allowed.
    finish_reason
        The provider's word for why the reply ended.
    refusal
        The model's stated refusal, from the field that servers have for it.
    """
    if finish_reason == PROMPT_FILTER:
        return unusable(Verdict.FILTERED, Problem("prompt", "stopped by the server's content filter", _ONE_OBJECT))
    if finish_reason == MALFORMED:
        problem = Problem("reply", "what the server could not take apart, and threw away", _ONE_OBJECT)
        return unusable(Verdict.UNREADABLE, problem)
    if refusal or finish_reason == "content_filter":
        return unusable(Verdict.REFUSED, Problem("reply", "a refusal or a filtered text", _ONE_OBJECT))
    visible = blank_thinking(text or "")
    is_cut = finish_reason == "length"
    if not visible.strip():
        what = "empty, the output limit was used up before any answer" if is_cut else "empty"
        return unusable(Verdict.EMPTY, Problem("reply", what, _ONE_OBJECT))
    try:
        chosen, repairs = _choose(visible, is_cut)
        if visible != text:
            repairs.insert(0, Repair.THINKING_REMOVED)
        return _as_reading(chosen, repairs, observation)
    except _UnreadableError as error:
        return unusable(Verdict.TRUNCATED if is_cut else Verdict.UNREADABLE, error.problem)


def _choose(text: str, is_cut: bool) -> tuple[FoundObject, list[Repair]]:
    """Return the object that is the answer (rules 3 and 4) and the repairs its place in the text took."""
    found = find_objects(text)
    movers = [item for item in found if item.fields is not None and "decision" in item.fields]
    if not movers:
        raise _no_move(found)
    spoken = [spoken_as(text, found, place) for place in range(len(found))]
    meant = [item for item, how in zip(found, spoken, strict=True) if item in movers and how != "example"]
    answers = [item for item, how in zip(found, spoken, strict=True) if item in meant and how == "own"]
    if not answers:
        raise _UnreadableError("reply", "a move that is only spoken of", _ONE_OBJECT)
    last = answers[-1]
    if any(item.fields is None and item.start > last.end for item in found):
        raise _UnreadableError("reply", "an object followed by broken JSON", _ONE_OBJECT)
    tail = _prose(text[last.end :])
    if is_cut and tail:
        raise _UnreadableError("reply", "cut off at the output limit", _ONE_OBJECT)
    if any(_move(item) != _move(last) for item in meant):
        before = meant[meant.index(last) - 1] if last is not meant[0] else last
        between = _prose(text[before.end : last.start]).strip(" ,;:.\n").lower()
        if tail or between in ("", "or", "and"):
            raise _UnreadableError("reply", f"{len(meant)} objects with different moves", _ONE_OBJECT)
    repairs = [Repair.EXAMPLE_IGNORED] if len(meant) < len(movers) else []
    if len(meant) > 1:
        repairs.append(Repair.LAST_OF_SEVERAL)
    return last, repairs + _wrapping(text, last)


def _no_move(found: list[FoundObject]) -> _UnreadableError:
    broken = [item for item in found if item.fields is None]
    if broken:
        return _UnreadableError("reply", f"broken JSON ({broken[-1].problem})", _ONE_OBJECT)
    if found:
        return _UnreadableError("decision", "missing", ", ".join(Decision))
    return _UnreadableError("reply", "text without a JSON object", _ONE_OBJECT)


def _prose(text: str) -> str:
    return _FENCE.sub("", text).strip()


def _move(item: FoundObject) -> tuple[str, str]:
    """Return decision and price as written, for comparison."""
    fields = item.fields or {}
    decision, price = fields["decision"].value, fields.get("price")
    return repr(decision).strip().lower(), repr(price.value if price else None)


def _wrapping(text: str, item: FoundObject) -> list[Repair]:
    around = text[: item.start] + text[item.end :]
    without_fence = _FENCE.sub("", around)
    repairs = [Repair.FENCE_REMOVED] if without_fence != around else []
    if without_fence.strip("\ufeff \t\r\n\f\v"):
        repairs.append(Repair.PROSE_IGNORED)
    return [*repairs, Repair.CONTROL_CHARACTERS] if item.is_lenient else repairs


def _as_reading(item: FoundObject, repairs: list[Repair], observation: Observation) -> Reading:
    fields = item.fields or {}
    decision = _read_decision(fields["decision"], repairs)
    price = _read_price(fields.get("price"), decision, observation, repairs)
    message = _read_message(fields.get("message"), repairs)
    belief = _read_belief(fields.get("belief"), repairs)
    action: Action
    if decision is Decision.OFFER and price is not None:
        action = Offer(price, message, belief)
    else:
        action = Accept(message, belief) if decision is Decision.ACCEPT else Reject(message, belief)
    problem = _breach(decision, price, observation)
    verdict = Verdict.ILLEGAL if problem else Verdict.REPAIRED if repairs else Verdict.OK
    used = fields["price"] if decision is Decision.OFFER else None
    return Reading(
        verdict,
        action,
        (item.start, item.end),
        (used.start, used.end) if used else None,
        tuple(dict.fromkeys(repairs)),
        problem,
        stated_price(message),
    )


def _read_decision(field: Value, repairs: list[Repair]) -> Decision:
    raw = field.value
    known = read_decision(raw)
    if known is None:
        raise _UnreadableError("decision", _shown(raw), ", ".join(Decision))
    if raw != known.value:
        repairs.append(Repair.DECISION_SPELLING)
    return known


def _read_price(
    field: Value | None, decision: Decision, observation: Observation, repairs: list[Repair]
) -> float | None:
    raw = None if field is None else field.value
    if decision is Decision.OFFER:
        return _read_number(raw, observation, repairs)
    if raw is None:
        return None
    if decision is Decision.ACCEPT and observation.standing_price is not None:
        named = parse_price(raw) if isinstance(raw, str) else raw
        if not isinstance(named, float) or not abs(named - observation.standing_price) <= _CENT:
            raise _UnreadableError(
                "price", _shown(raw), f"null with Accept, which closes at {observation.standing_price}"
            )
    repairs.append(Repair.PRICE_IGNORED)
    return None


def _read_number(raw: object, observation: Observation, repairs: list[Repair]) -> float:
    price = raw
    if isinstance(raw, str):
        price = parse_price(raw)
        repairs.append(Repair.NUMBER_FROM_TEXT)
    if not isinstance(price, float) or not math.isfinite(price):
        allowed = f"a JSON number between {observation.price_min:g} and {observation.price_max:g}"
        raise _UnreadableError("price", _shown(raw), allowed)
    if price == 0 and math.copysign(1.0, price) < 0:
        repairs.append(Repair.NEGATIVE_ZERO)
        return 0.0
    return price


def _read_message(field: Value | None, repairs: list[Repair]) -> str:
    if field is None or field.value is None:
        return ""
    if not isinstance(field.value, str):
        repairs.append(Repair.MESSAGE_DROPPED)
        return ""
    # The tags may have been spelled with escapes, and a lone surrogate cannot be written to any file.
    message = _SURROGATES.sub("\ufffd", blank_thinking(field.value)).replace("\x00", "\ufffd")
    if message != field.value:
        repairs.append(Repair.MESSAGE_CLEANED)
    message = message.strip()
    if len(message) > LONGEST_MESSAGE:
        repairs.append(Repair.MESSAGE_CUT)
    return message[:LONGEST_MESSAGE]


def _read_belief(field: Value | None, repairs: list[Repair]) -> Belief | None:
    if field is None or field.value is None:
        return None
    belief, raw = read_belief(field.value), field.value
    parts = ("r_hat", "kappa_hat", "stance_probs")
    if belief is None or any(raw.get(part) is not None and getattr(belief, part) is None for part in parts):
        repairs.append(Repair.BELIEF_PART_DROPPED)
    return belief


def _breach(decision: Decision, price: float | None, observation: Observation) -> Problem | None:
    if decision not in observation.legal_decisions:
        return Problem("decision", decision.value, ", ".join(observation.legal_decisions))
    if price is not None and not observation.price_min <= price <= observation.price_max:
        return Problem("price", f"{price:g}", f"{observation.price_min:g} to {observation.price_max:g}")
    return None


def _shown(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
