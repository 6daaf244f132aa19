"""The parts of a gap: the one list of their names, in the order they are told.

Parts add up to the gap in every single episode or session, so they do in every slice; they may be negative and are
never floored. What each one is stands with the arms it is a difference of: :mod:`oracle.arms`,
:mod:`oracle.bankroll.session_arms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


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
    CAUTION = "caution"
    MEMORY = "memory"


SUMMANDS = (Part.EXECUTION, Part.INFERENCE, Part.UNCERTAINTY, Part.CONTROL, Part.CAUTION)
"""What adds up to the gap; there is no caution in single episodes."""
STEPS = (
    Part.EXECUTION,
    Part.INFERENCE,
    Part.UNCERTAINTY_OWN,
    Part.UNCERTAINTY_UNAVOIDABLE,
    Part.CONTROL,
    Part.CAUTION,
)
"""The same with the uncertainty split, from what was played to the reference."""
LABELS = {
    Part.PLAYED: "as played",
    Part.UNCERTAINTY_OWN: "uncertainty, own",
    Part.UNCERTAINTY_UNAVOIDABLE: "uncertainty, unavoidable",
}
"""How a reader is told a part whose name is no plain word."""


def left_to_right(parts: Iterable[str]) -> list[str]:
    """Return the levels and steps among ``parts``, from what was played to the reference."""
    known = set(parts)
    return [part.value for part in (Part.PLAYED, *STEPS, Part.REFERENCE) if part in known]


def in_words(parts: Iterable[str], reference: str = Part.REFERENCE) -> dict[str, str]:
    """Return how a reader is told the levels and steps among ``parts``, by part, from left to right."""
    labels = {**LABELS, Part.REFERENCE: reference}
    return {name: labels.get(Part(name), name) for name in left_to_right(parts)}
