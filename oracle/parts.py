"""The parts of a gap: the one list of their names and what each means, in the order they are told.

The advice, the bars, the tables and the explanations all speak the words of :data:`SENTENCES`. Parts add up to the gap
in every single episode or session, so they do in every slice; they may be negative and are never floored. What each one
is stands with the arms it is a difference of: :mod:`oracle.arms`, :mod:`oracle.bankroll.session_arms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from terms.estimates import UNDEFINED, Estimate


class Part(StrEnum):
    """The levels and parts of a gap, in the order of its table; ``caution`` and ``memory`` are of sessions only."""

    PLAYED = "played"
    REFERENCE = "reference"
    GAP = "gap"
    EXECUTION = "execution"
    INFERENCE = "inference"
    UNCERTAINTY = "uncertainty"
    UNCERTAINTY_OWN = "uncertainty_own"
    UNCERTAINTY_UNAVOIDABLE = "uncertainty_unavoidable"
    CONTROL = "control"
    CONTROL_RESIDUAL = "control_residual"
    WITH_BELIEF = "with_belief"
    SLIPS = "slips"
    BELIEF_LOSS = "belief_loss"
    PLANNING_LOSS = "planning_loss"
    CAUTION = "caution"
    MEMORY = "memory"


SUMMANDS = (Part.EXECUTION, Part.INFERENCE, Part.UNCERTAINTY, Part.CONTROL, Part.CAUTION)
"""What adds up to the gap; there is no caution in single episodes."""
SENTENCES: dict[str, str] = {
    Part.EXECUTION: "replies that are no legal move, and slips",
    Part.INFERENCE: "not working out of the talk what could be known",
    Part.UNCERTAINTY: "playing worse while the other side's type is hidden",
    Part.CONTROL: "moving badly with what is known",
    Part.CAUTION: "not minding the cash",
}
"""What each summand of a gap costs an agent by, said after "by" or "lost by"."""
LABELS: dict[str, str] = {
    Part.PLAYED: "as played",
    Part.WITH_BELIEF: "uncertainty and control",
    Part.UNCERTAINTY_OWN: "uncertainty beyond what nobody avoids",
    Part.UNCERTAINTY_UNAVOIDABLE: "uncertainty nobody avoids",
    Part.CONTROL_RESIDUAL: "control against the clairvoyant",
    Part.SLIPS: "slips",
    Part.BELIEF_LOSS: "its beliefs, planned on by the reference",
    Part.PLANNING_LOSS: "its planning, the exact belief in hand",
    "order_free_belief": "inference, in any order",
    "order_free_type": "uncertainty, in any order",
    "order_free_planning": "control, in any order",
}
"""How a reader is told a part whose name is no plain word."""
NOTHING_FOUND = "nothing stands out to be mended"


def steps_between(rows: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the steps from what was played to the reference, each with its estimate; they add up to the gap.

    An agent that makes more of the type than the reference knows has an uncertainty above 0 and a control below it that
    say one thing twice; the two are one step then.
    """
    steps = {part.value: rows[part] for part in SUMMANDS if part in rows}
    uncertainty, control = (steps.get(part, UNDEFINED).estimate or 0.0 for part in (Part.UNCERTAINTY, Part.CONTROL))
    if uncertainty * control >= 0:
        return steps
    both = rows.get(Part.WITH_BELIEF, Estimate(uncertainty + control, None, None, rows[Part.CONTROL].n))
    del steps[Part.CONTROL]
    return {
        Part.WITH_BELIEF.value if name == Part.UNCERTAINTY else name: both if name == Part.UNCERTAINTY else step
        for name, step in steps.items()
    }


def left_to_right(parts: Iterable[str]) -> list[str]:
    """Return the levels and summands among ``parts``, from what was played to the reference."""
    known = set(parts)
    return [part.value for part in (Part.PLAYED, *SUMMANDS, Part.REFERENCE) if part in known]


def in_words(parts: Iterable[str], reference: str = Part.REFERENCE) -> dict[str, str]:
    """Return how a reader is told ``parts``, by part."""
    labels = {**LABELS, Part.REFERENCE: reference}
    return {name: labels.get(name, str(name).replace("_", " ")) for name in parts}


def advice(fault: str) -> str:
    """Return what to mend first, in one sentence; ``fault`` is a summand's name, or ``none``."""
    if fault == "none":
        return NOTHING_FOUND
    return f"mend {fault} first" + (f": it loses most by {SENTENCES[fault]}" if fault in SENTENCES else "")
