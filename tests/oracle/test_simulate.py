"""The compiled simulator against the readable game: same draws, same episode, to the last bit."""

import numpy as np
import pytest

import terms
from oracle.simulate import TERMINATION_CODES, Schedule, draw_batch, simulate, to_batch
from terms.agents.scripted import FixedConcession, Patient, RandomLegal, TimeDependent
from terms.cells import suite_cells
from terms.config import GameConfig
from terms.types import Decision, Regime

GAPS = (0.5, 0.45, 0.4, 0.35, 0.3, 0.2, 0.15, 0.1, 0.05, 0.0)
AGENTS = [
    FixedConcession(0.10),
    FixedConcession(0.30),
    TimeDependent(0.2),
    TimeDependent(3.0),
    Patient(),
    Patient(gap=0.6, rate=0.05),
    Schedule(GAPS, slack=0.02),
]


def assert_same_episodes(scenarios, agent):
    out = simulate(to_batch(scenarios), agent)
    for i, scenario in enumerate(scenarios):
        record = terms.play(scenario, agent)
        assert TERMINATION_CODES[out.termination[i]] is record.termination
        assert out.rounds[i] == record.rounds_played
        assert out.utility[i] == record.utility
        assert np.isnan(out.price[i]) if record.price is None else out.price[i] == record.price
        offers = [turn.price for turn in record.turns if turn.decision is Decision.OFFER]
        standing = [np.nan if turn.counterpart_price is None else turn.counterpart_price for turn in record.turns]
        np.testing.assert_array_equal(out.offers[i, : len(offers)], offers)
        assert np.isnan(out.offers[i, len(offers) :]).all()
        np.testing.assert_array_equal(out.standing[i, : len(standing)], standing)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_fresh_episodes_of_every_cell_are_equal(agent):
    assert_same_episodes(terms.fresh_suite(11, n_per_cell=2), agent)


def test_published_episodes_are_equal():
    assert_same_episodes(terms.published_suite(n_per_cell=3), Patient())


@pytest.mark.parametrize(
    "config",
    [
        GameConfig(final_offer_answered=True, horizon=4),
        GameConfig(horizon=1),
        GameConfig(price_min=-50.0, price_max=350.0, horizon=6),
        GameConfig.model_validate({"concession": {"window": 1, "rigidity_threshold": 0.03}}),
    ],
    ids=["answered", "one-round", "wide-prices", "window-1"],
)
def test_other_settings_are_equal(config):
    assert_same_episodes(terms.fresh_suite(5, n_per_cell=1, config=config), Schedule(GAPS))


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_many_episodes_are_equal(agent):
    assert_same_episodes(terms.fresh_suite(12, n_per_cell=20), agent)


def test_threads_do_not_change_a_bit():
    batch = to_batch(terms.fresh_suite(3, n_per_cell=3))
    one, two = (simulate(batch, Patient(), num_threads=threads) for threads in (1, 2))
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("regime", [Regime.OVERLAP, Regime.NO_DEAL, Regime.URGENCY_SHIFT])
def test_drawn_batches_follow_the_laws_of_a_fresh_suite(regime):
    cell = suite_cells([regime], ["adversarial"])[0]
    batch = draw_batch(cell, 40_000, rng=np.random.default_rng(1))
    hidden = batch.episodes
    width = hidden.sign * (hidden.own - hidden.reservation)
    middle = (hidden.own + hidden.reservation) / 2
    # Section 1.1: z ~ U[10, 40] or -q with q ~ U[5, 30]; Beta(2, 2) has mean 1/2, Beta(4, 2) 2/3.
    low, high = (-30, -5) if regime is Regime.NO_DEAL else (10, 40)
    assert low <= width.min() < low + 0.1
    assert high - 0.1 < width.max() <= high
    assert width.mean() == pytest.approx((low + high) / 2, abs=0.2)
    assert middle.mean() == pytest.approx(50, abs=0.5)
    assert hidden.urgency.mean() == pytest.approx(2 / 3 if regime is Regime.URGENCY_SHIFT else 1 / 2, abs=0.005)
    np.testing.assert_allclose(np.bincount(hidden.group) / batch.num_episodes, [0.05, 0.15, 0.80], atol=0.01)


def test_drawn_batches_earn_what_suites_earn():
    cells = suite_cells(["overlap"], ["taciturn"])
    rng = np.random.default_rng(2)
    drawn = np.concatenate([simulate(draw_batch(cell, 5_000, rng=rng), Patient()).utility for cell in cells])
    named = simulate(to_batch(terms.fresh_suite(4, ["overlap"], ["taciturn"], 250)), Patient()).utility
    error = np.hypot(drawn.std() / np.sqrt(len(drawn)), named.std() / np.sqrt(len(named)))
    assert abs(drawn.mean() - named.mean()) < 4 * error


def test_what_cannot_be_compiled_is_refused():
    with pytest.raises(ValueError, match=r"RandomLegal is not compiled.*FixedConcession"):
        simulate(to_batch(terms.fresh_suite(3, n_per_cell=1)), RandomLegal())
    with pytest.raises(ValueError, match="gaps has 2 rounds; the episodes have 10"):
        simulate(to_batch(terms.fresh_suite(3, n_per_cell=1)), Schedule((0.2, 0.1)))
    with pytest.raises(ValueError, match="gaps must not grow"):
        Schedule((0.1, 0.2))
    with pytest.raises(ValueError, match="scenarios is empty"):
        to_batch([])
    short = GameConfig(horizon=4)
    with pytest.raises(ValueError, match="scenarios mix 2 pairs"):
        to_batch([*terms.fresh_suite(3, n_per_cell=1), *terms.fresh_suite(3, n_per_cell=1, config=short)])
