"""Which episodes may be learned from: committed ranges of suite seeds for training, validation and the final test.

An episode of a fresh suite or of a catalogue is drawn from the seed of its suite, which its id names. Whoever trains on
seeds of one range and reports another has met none of the reported episodes. The published episodes and every seed
outside the ranges (the small ones that reports use) belong to the test.
"""

from __future__ import annotations

import re
from enum import StrEnum

from terms.types import Family


class Split(StrEnum):
    """What an episode is for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


SPLIT_SEEDS = {
    Split.TRAIN: range(1_000_000, 2_000_000),
    Split.VALIDATION: range(2_000_000, 2_100_000),
    Split.TEST: range(3_000_000, 3_100_000),
}
"""Suite seeds of each split; they are part of the interface and never change."""
HELD_OUT_FAMILIES = (Family.STRATEGIC, Family.ADVERSARIAL)
"""Families to leave out of training where the question is how far a policy carries over to unknown behaviour."""
TRAINING_FAMILIES = tuple(family for family in Family if family not in HELD_OUT_FAMILIES)
_DRAWN_ID = re.compile(r"(?:fresh|catalog)-(\d+)/.*", re.DOTALL)


def split_of(scenario_id: str) -> Split | None:
    """Return the split an episode belongs to, ``None`` for one that no suite of this project drew.

    Examples
    --------
    >>> split_of("fresh-1000000/overlap/candid/buyer/agent_opens/000")
    <Split.TRAIN: 'train'>
    >>> split_of("published/overlap/candid/buyer/agent_opens/000")
    <Split.TEST: 'test'>
    >>> split_of("my own episode")
    """
    drawn = _DRAWN_ID.fullmatch(scenario_id)
    if drawn is None:
        return Split.TEST if scenario_id.startswith("published/") else None
    seed = int(drawn[1])
    return next((split for split, seeds in SPLIT_SEEDS.items() if seed in seeds), Split.TEST)


def require_trainable(scenario_id: str) -> None:
    """Raise ValueError if learning from this episode would spoil a reported result."""
    split = split_of(scenario_id)
    if split not in (Split.TRAIN, None):
        seeds = SPLIT_SEEDS[Split.TRAIN]
        raise ValueError(
            f"scenario={scenario_id!r} belongs to the {split} split; in training, allowed are suite seeds from "
            f"{seeds.start} to {seeds.stop - 1}"
        )
