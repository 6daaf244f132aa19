"""The diagnosis is itself tested: agents with one planted fault are diagnosed correctly in at least 95 % of batches."""

import numpy as np
import pytest

import terms
from oracle.agents import BELIEF_AGENTS
from oracle.arms import Arms, run_arms
from oracle.decomposition import decompose_arms
from oracle.diagnosis import (
    DOCUMENTED_EPISODES,
    THRESHOLD,
    Evidence,
    detectable_share,
    diagnose,
    name_fault,
)

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
        ({"played": 6.0, "base": 6.0, "posterior": 6.0}, "control"),
        ({"played": 6.0, "base": 6.0, "posterior": 6.0, "revealed": 11.0}, "control"),
        ({"played": 6.0, "base": 6.0, "posterior": 6.0, "revealed": 6.0}, "control"),
        ({"played": 9.0, "base": 9.0, "posterior": 9.0}, "control"),
        ({"played": 8.0, "base": 8.0, "posterior": 9.2}, "inference"),
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


def test_how_sure_it_is_and_what_would_have_been_found():
    found = diagnose(decompose_arms("any", arms_of(played=6.0)))
    assert found.sureness == 1.0
    assert "execution costs 26" in found.in_words()
    assert "100% of resamples" in found.in_words()
    nothing = diagnose(decompose_arms("any", arms_of()))
    assert nothing.detectable == pytest.approx(0.03 / (1 - 0.8416212 * 1.3 / 24**0.5))
    assert "24 scenarios a steady fault that costs 3.9%" in nothing.in_words()
    assert "strikes in 12% of talks" in nothing.in_words()


def test_too_few_scenarios_find_nothing():
    assert detectable_share(13) is None
    assert detectable_share(14) > THRESHOLD
    assert detectable_share(10_000) == pytest.approx(THRESHOLD, rel=0.02)
    few = diagnose(decompose_arms("any", arms_of().take(range(5))))
    assert (few.fault, few.sureness) == ("none", None)
    assert few.in_words() == "5 scenarios are too few to find anything"


def test_an_agent_that_states_nonsense_and_plays_well_needs_no_mending():
    loss = np.abs(np.random.default_rng(0).normal(5, 1, 24))
    nothing = np.zeros(24)
    evidence = Evidence(nothing, nothing, loss, nothing + 0.1, nothing + 20, np.arange(24))
    assert name_fault(evidence).fault == "none"
    deaf = Evidence(nothing, loss / 2, loss, loss / 2, nothing + 20, np.arange(24))
    assert name_fault(deaf).fault == "control"  # beliefs cost no more than is lost in all


def test_a_slip_once_seen_needs_no_interval():
    slips = np.zeros(72)
    slips[3] = 40.0
    nothing = np.zeros(72)
    found = name_fault(Evidence(slips, nothing, nothing, slips, nothing + 20, np.arange(72)))
    assert found.fault == "execution"
    assert found.bounds["execution"] == (None, None)
    assert 0.5 < found.sureness < 0.75  # 1 - 1/e of resamples hold the one talk


def test_repeats_of_a_scenario_are_one_witness():
    loss, clusters = np.tile(np.random.default_rng(0).normal(1.0, 0.1, 24), 3), np.tile(np.arange(24), 3)
    nothing = np.zeros(72)
    thrice = name_fault(Evidence(nothing, loss, nothing, loss, nothing + 20, clusters, few=8))
    first = np.arange(24)
    once = name_fault(Evidence(nothing, loss, nothing, loss, nothing + 20, clusters, few=8).take(first))
    assert thrice.n == once.n == 24
    assert thrice.bounds["control"] == pytest.approx(once.bounds["control"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), PLANTED.items())
def test_planted_faults_are_diagnosed_in_at_least_95_percent_of_batches(name, fault):
    batches = 20
    suite = terms.fresh_suite(72, ["overlap"], n_per_cell=batches)
    arms = run_arms(BELIEF_AGENTS[name], suite, is_order_free=False)
    reports = (decompose_arms(name, arms.take(range(batch, len(suite), batches))) for batch in range(batches))
    named = [diagnose(report).fault for report in reports]
    assert named.count(fault) >= 0.95 * batches, named
