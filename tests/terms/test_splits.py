"""Splits never overlap, and what reports play is never trained on."""

from itertools import combinations

import pytest

import terms
from terms.splits import (
    HELD_OUT_FAMILIES,
    SPLIT_SEEDS,
    TRAINING_FAMILIES,
    Split,
    require_trainable,
    split_of,
)
from terms.types import Family


def test_the_ranges_are_committed_and_apart():
    assert {split.value: (seeds.start, seeds.stop) for split, seeds in SPLIT_SEEDS.items()} == {
        "train": (1_000_000, 2_000_000),
        "validation": (2_000_000, 2_100_000),
        "test": (3_000_000, 3_100_000),
    }
    for one, other in combinations(SPLIT_SEEDS.values(), 2):
        assert not set(one) & set(other)
    assert {*HELD_OUT_FAMILIES, *TRAINING_FAMILIES} == set(Family)
    assert not set(HELD_OUT_FAMILIES) & set(TRAINING_FAMILIES)


@pytest.mark.parametrize(("seed", "split"), [(0, "test"), (1_999_999, "train"), (2_000_000, "validation")])
def test_an_episode_belongs_to_the_split_of_its_suite(seed, split):
    scenario = terms.fresh_suite(seed, ["overlap"], ["candid"], 1)[0]
    assert split_of(scenario.scenario_id) is Split(split)


def test_only_training_episodes_may_be_learned_from():
    require_trainable("fresh-1500000/overlap/candid/buyer/agent_opens/000")
    require_trainable("one of mine")
    published = terms.published_suite(["overlap"], ["candid"], 1)[0].scenario_id
    for scenario_id in (published, "fresh-7/x", "catalog-3000000/x", "fresh-2000000/x"):
        with pytest.raises(ValueError, match="allowed are suite seeds from 1000000 to 1999999"):
            require_trainable(scenario_id)


def test_one_episode_is_that_of_its_suite():
    from dataclasses import replace

    from terms.cells import suite_cells
    from terms.suites import fresh_scenario

    suite = terms.fresh_suite(5, n_per_cell=2)
    cells = suite_cells(None, None)
    for place in (0, 1, 17, len(suite) - 1):
        alone = fresh_scenario(5, cells[place // 2], place % 2)
        assert alone == replace(suite[place], difficulty_bin=None)
