"""Same seed, same bytes: alone or in a batch, in any subset, in any process and under any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import terms
from terms.agents import build_scripted
from terms.draws import fresh_draws, published_seed
from terms.episode import UNSALTED
from terms.suites import fresh_suite, published_suite
from terms.types import Family, Opener, Regime, Role

REPOSITORY = Path(__file__).resolve().parents[2]
DIGEST = """
import hashlib
import terms
suites = (terms.fresh_suite(7, n_per_cell=1), terms.published_suite(n_per_cell=1))
agents = [terms.agents.build_scripted(name) for name in ("random", "patient", "never-accept")]
records = [repr(terms.play(scenario, agent)) for suite in suites for scenario in suite for agent in agents]
print(hashlib.sha256("\\n".join(records).encode()).hexdigest())
"""


def by_id(scenarios):
    """Index scenarios without their bins, which belong to the suite they were graded in."""
    return {scenario.scenario_id: scenario for scenario in scenarios}


def test_hash_seed_does_not_matter():
    digests = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", DIGEST],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout.strip())
    assert len(digests) == 1
    assert len(digests.pop()) == 64


@pytest.mark.parametrize("suite", [published_suite, lambda **kw: fresh_suite(3, **kw)], ids=["published", "fresh"])
def test_subsets_are_the_episodes_of_the_full_suite(suite):
    full = by_id(suite(n_per_cell=3))
    assert len(full) == 3 * 6 * 2 * 2 * 3
    part = suite(regimes=["no_deal", "overlap"], families=["stochastic", "candid"], n_per_cell=2)
    assert len(part) == 2 * 2 * 2 * 2 * 2
    for scenario in part:
        other = full[scenario.scenario_id]
        assert (scenario.noise, scenario.agent_type, scenario.counterpart_type, scenario.harshness) == (
            other.noise, other.agent_type, other.counterpart_type, other.harshness,
        )  # fmt: skip
        assert terms.play(scenario, build_scripted("random")).turns == terms.play(other, build_scripted("random")).turns


def test_the_order_of_the_arguments_does_not_matter():
    forward = fresh_suite(3, regimes=["overlap", "no_deal"], families=["candid", "strategic"], n_per_cell=1)
    assert forward == fresh_suite(3, regimes=["no_deal", "overlap"], families=["strategic", "candid"], n_per_cell=1)
    assert fresh_suite(3, regimes="overlap", n_per_cell=1) == fresh_suite(3, regimes=["overlap"], n_per_cell=1)


def test_an_episode_alone_equals_the_episode_in_the_batch():
    suite = fresh_suite(11, regimes=["overlap"], families=["expressive"], n_per_cell=5)
    shared = build_scripted("random")
    batch = [terms.play(scenario, shared) for scenario in suite]
    backwards = [terms.play(scenario, shared) for scenario in reversed(suite)]
    assert batch == backwards[::-1]
    for scenario, record in zip(suite, batch, strict=True):
        assert terms.play(scenario, build_scripted("random")) == record
    assert len({record.turns for record in batch}) > 10  # each episode draws for itself


def test_published_bins_are_those_of_the_full_suite():
    bins = {scenario.scenario_id: scenario.difficulty_bin for scenario in published_suite()}
    for scenario in published_suite(regimes=["no_deal"], n_per_cell=1):
        assert scenario.difficulty_bin == bins[scenario.scenario_id]


def test_seeds_and_ids_are_distinct():
    suite = published_suite()
    assert len({scenario.episode_seed for scenario in suite}) == len(suite)
    assert len({scenario.scenario_id for scenario in suite}) == len(suite)
    assert len({UNSALTED.of(scenario) for scenario in suite}) == len(suite)
    fresh = (*fresh_suite(1, n_per_cell=2), *fresh_suite(2, n_per_cell=2))
    assert len({scenario.noise.responses for scenario in fresh}) == len(fresh)
    assert len({UNSALTED.of(scenario) for scenario in fresh}) == len(fresh)  # nor do agents draw alike in two cells


def test_published_seed_arithmetic():
    # Site: episode ids end in 1e6 g + 1e5 f + 1e4 role + 1e3 opener + e.
    last = next(
        scenario
        for scenario in published_suite()
        if scenario.scenario_id == "published/no_deal/adversarial/seller/agent_opens/024"
    )
    assert last.episode_seed == 2_511_024
    first = published_suite()[0]
    assert (first.regime, first.family, first.agent_role, first.opener, first.episode_seed) == (
        Regime.OVERLAP, Family.CANDID, Role.BUYER, Opener.COUNTERPART, 0,
    )  # fmt: skip
    assert {published_seed(cell, 0) % 1000 for cell in terms.cells.suite_cells(None, None)} == {0}


def test_seeds_give_different_worlds_in_every_quantity():
    cell = terms.cells.suite_cells(None, None)[0]
    one, two = (fresh_draws(seed, cell, 0, terms.GameConfig()) for seed in (1, 2))
    for name in one._fields:
        assert getattr(one, name) != getattr(two, name), name
    for part in ("opening_noise", "opening_cue"):
        assert getattr(one.noise, part) != getattr(two.noise, part), part
    for mine, theirs in zip(one.noise.responses, two.noise.responses, strict=True):
        assert all(a != b for a, b in zip(mine, theirs, strict=True))


def test_the_first_rounds_do_not_depend_on_the_horizon():
    short, long = (fresh_suite(5, n_per_cell=1, config=terms.GameConfig(horizon=k)) for k in (3, 8))
    for before, after in zip(short, long, strict=True):
        assert before.noise.responses == after.noise.responses[:3]
        assert before.noise.opening_cue == after.noise.opening_cue


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: published_suite(n_per_cell=0), "n_per_cell=0"),
        (lambda: published_suite(n_per_cell=26), "n_per_cell=26.*1 to 25"),
        (lambda: fresh_suite(1, n_per_cell=0), "n_per_cell=0"),
        (lambda: fresh_suite(-1), "seed=-1"),
        (lambda: published_suite(regimes=["urgency_shift_reverse"]), "not released"),
        (lambda: fresh_suite(1, regimes=["overlaps"]), "regimes has 'overlaps'.*did you mean 'overlap'"),
        (lambda: fresh_suite(1, families=["xyz"]), "families has 'xyz', allowed are candid, taciturn"),
        (lambda: fresh_suite(1, families=[]), "families is empty"),
    ],
)
def test_wrong_suites_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_reverse_shift_is_played_on_request_only():
    assert Regime.URGENCY_SHIFT_REVERSE not in {scenario.regime for scenario in fresh_suite(1, n_per_cell=1)}
    assert len(fresh_suite(1, regimes=["urgency_shift_reverse"], n_per_cell=1)) == 24
