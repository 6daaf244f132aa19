"""The diagnosis is itself tested: agents with one planted fault are diagnosed correctly in at least 95 % of batches."""

import numpy as np
import pytest

import terms
from oracle.agents import BELIEF_AGENTS
from oracle.arms import Arms, run_arms
from oracle.decomposition import decompose_arms
from oracle.diagnosis import DOCUMENTED_EPISODES, diagnose

PLANTED = {"ramp": "none", "faulty-belief": "inference", "faulty-planning": "control", "faulty-execution": "execution"}
SUITE = terms.fresh_suite(71, ["overlap"], n_per_cell=1)


def arms_of(played=10.0, base=10.0, posterior=10.0, revealed=15.0, oracle=10.0, clairvoyant=15.0):
    noise = np.random.default_rng(0).normal(0, 0.2, len(SUITE))
    values = (played, base, posterior, revealed, oracle, clairvoyant)
    return Arms(SUITE, *(np.full(len(SUITE), value) + noise * (i + 1) ** 2 / 6 for i, value in enumerate(values)))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, "none"),
        ({"played": 6.0}, "execution"),
        ({"played": 6.0, "base": 6.0}, "inference"),
        ({"played": 6.0, "base": 6.0, "posterior": 6.0}, "uncertainty"),
        ({"played": 6.0, "base": 6.0, "posterior": 6.0, "revealed": 11.0}, "control"),
        ({"played": 6.0, "base": 6.0, "posterior": 6.0, "revealed": 6.0}, "control"),
        ({"played": 9.0, "base": 9.0, "revealed": 11.0}, "control"),
        ({"played": 9.9}, "none"),
        ({"revealed": 10.0}, "none"),  # deaf to what it is told, but as good as the Bayes optimum
    ],
)
def test_the_largest_part_is_named(changes, fault):
    for reference in ("oracle", "clairvoyant"):
        assert diagnose(decompose_arms("any", arms_of(**changes), reference)).fault == fault


def test_shares_are_of_what_there_was_to_earn():
    found = diagnose(decompose_arms("any", arms_of(played=6.0)))
    assert found.shares["execution"] == pytest.approx(4 / 15, abs=0.02)
    assert found.found == ("execution",)
    assert found.n == DOCUMENTED_EPISODES == len(SUITE)


def test_nothing_to_earn_gives_no_shares():
    empty = Arms(SUITE, *(np.zeros(len(SUITE)) for _ in range(6)))
    found = diagnose(decompose_arms("any", empty))
    assert found.fault == "none"
    assert set(found.shares.values()) == {None}


def test_the_threshold_must_make_sense():
    with pytest.raises(ValueError, match=r"threshold=-1"):
        diagnose(decompose_arms("any", arms_of()), threshold=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), PLANTED.items())
def test_planted_faults_are_diagnosed_in_at_least_95_percent_of_batches(name, fault):
    batches = 20
    suite = terms.fresh_suite(72, ["overlap"], n_per_cell=batches)
    arms = run_arms(BELIEF_AGENTS[name], suite, is_order_free=False)
    reports = (decompose_arms(name, arms.take(range(batch, len(suite), batches))) for batch in range(batches))
    named = [diagnose(report).fault for report in reports]
    assert named.count(fault) >= 0.95 * batches, named
