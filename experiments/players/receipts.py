"""What the reader of replies hands back: a verdict from a closed list, the move, and the receipt for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from terms.types import Action, ReplyFault, Unusable


class Verdict(StrEnum):
    """What became of a reply."""

    OK = "ok"
    REPAIRED = "repaired"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    PROVIDER_FAULT = "provider_fault"


class Repair(StrEnum):
    """Everything the reader may do to a reply that is not exactly one object of the schema."""

    THINKING_REMOVED = "thinking_removed"
    FENCE_REMOVED = "fence_removed"
    PROSE_IGNORED = "prose_ignored"
    EXAMPLE_IGNORED = "example_ignored"
    LAST_OF_SEVERAL = "last_of_several"
    CONTROL_CHARACTERS = "control_characters"
    DECISION_SPELLING = "decision_spelling"
    NUMBER_FROM_TEXT = "number_from_text"
    NEGATIVE_ZERO = "negative_zero"
    PRICE_IGNORED = "price_ignored"
    MESSAGE_DROPPED = "message_dropped"
    MESSAGE_CLEANED = "message_cleaned"
    MESSAGE_CUT = "message_cut"
    BELIEF_PART_DROPPED = "belief_part_dropped"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a reply: the field, the value found there, and what is allowed."""

    field: str
    value: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.field} is {self.value}; allowed is {self.allowed}"


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply as read. ``span`` is the object used and ``price_span`` its price, as positions in the reply.

    ``message_price`` is the price the public message names, ``None`` where it names none or several; it describes, and
    never decides.
    """

    verdict: Verdict
    action: Action
    span: tuple[int, int] | None = None
    price_span: tuple[int, int] | None = None
    repairs: tuple[Repair, ...] = ()
    problem: Problem | None = None
    message_price: float | None = None

    def to_json_object(self) -> dict[str, Any]:
        """Return the receipt for the log; the move itself is in the episode's record."""
        return {
            "verdict": self.verdict.value,
            "span": self.span,
            "price_span": self.price_span,
            "repairs": [repair.value for repair in self.repairs],
            "problem": str(self.problem) if self.problem else None,
            "message_price": self.message_price,
        }


_FAULTS = {
    Verdict.UNREADABLE: ReplyFault.UNREADABLE,
    Verdict.EMPTY: ReplyFault.EMPTY,
    Verdict.REFUSED: ReplyFault.REFUSED,
    Verdict.FILTERED: ReplyFault.REFUSED,
    Verdict.TRUNCATED: ReplyFault.TRUNCATED,
    Verdict.PROVIDER_FAULT: ReplyFault.PROVIDER,
}


def unusable(verdict: Verdict, problem: Problem) -> Reading:
    """Return the reading of a reply that holds no move."""
    return Reading(verdict, Unusable(_FAULTS[verdict], str(problem)), problem=problem)


def check_receipts(receipts: Any) -> list[dict[str, Any]]:
    """Return the receipts of an episode as a log holds them, one a round.

    Raises
    ------
    ValueError
        If they are not what is written there.
    """
    if not isinstance(receipts, list):
        raise ValueError("receipts are no list")
    for turn in receipts:
        if not isinstance(turn, dict) or set(turn) != {"round", "verdict", "attempts"}:
            found = ", ".join(sorted(turn)) if isinstance(turn, dict) else repr(turn)[:60]
            raise ValueError(f"a receipt has {found}, needed are round, verdict and attempts")
        attempts = turn["attempts"]
        if not isinstance(attempts, list) or not attempts:
            raise ValueError("a receipt has no attempts")
        for part in (turn, *attempts):
            if not isinstance(part, dict) or part.get("verdict") not in list(Verdict):
                raise ValueError(f"a receipt has no verdict out of {', '.join(Verdict)}")
        if not all(map(_is_attempt, attempts)):
            raise ValueError("an attempt of a receipt lacks its kind, call_id, text, text_start, repairs or problem")
    return receipts


def _is_attempt(part: Mapping[str, Any]) -> bool:
    repairs = part.get("repairs")
    return (
        all(isinstance(part.get(name), str) for name in ("kind", "call_id", "text"))
        and type(part.get("text_start")) is int
        and isinstance(repairs, list)
        and all(isinstance(repair, str) for repair in repairs)
        and isinstance(part.get("problem", 0), str | None)
    )
