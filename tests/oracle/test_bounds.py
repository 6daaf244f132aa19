"""The certified bracket at full size: its parts, its pieces against the readable game, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracle import bounds
from oracle.bounds import Bracket, Mean, bracket, joint_allowance, policy_utility
from oracle.planner import BeliefTracker, FittedAgent, offer_value
from oracle.posterior import seat_of
from oracle.prior import Grid, Knowledge
from oracle.relaxation import BracketSettings, Drawn, draw_episodes, finite_game, finite_model, mean_zopa, num_ticks
from oracle.shipped import standard_knowledge, values_for
from terms.config import GameConfig
from terms.game import Game
from terms.kernel import STANCES
from terms.suites import fresh_suite
from terms.types import Accept, Family, Offer, Opener, Reject, Role

SMALL = BracketSettings(num_policy=60, num_values=20, num_rounding=10)


@pytest.fixture(scope="module")
def values():
    return values_for(standard_knowledge("taciturn", "overlap"))


def test_parts_add_up_to_the_width():
    found = Bracket(
        0.80, 0.87, Mean(0.82, 0.01, 9), Mean(0.83, 0.003, 9), Mean(0.03, 0.004, 9), Mean(0.01, 0.002, 9), 12.0,
    )  # fmt: skip
    assert found.width == pytest.approx(0.07)
    # 2 * 0.01 + 2 * 0.005 + 0.03 + 0.01, as hypot(0.003, 0.004) is 0.005
    assert list(found.width_parts().values()) == pytest.approx([0.02, 0.01, 0.03, 0.01])


@pytest.mark.parametrize(("num", "errors"), [(2, 1.95996), (12, 2.638), (36, 2.9913)])
def test_allowances_hold_together(num, errors):
    """Quantiles of the normal distribution at 1 - 0.05 / num."""
    assert joint_allowance(num) == pytest.approx(errors, abs=1e-3)


@pytest.mark.slow
def test_bracket_is_ordered_kept_and_counted(values, tmp_path, monkeypatch):
    seen = []
    found = bracket(
        values, Opener.AGENT, num_dual=4, settings=SMALL, folder=tmp_path, progress=lambda *step: seen.append(step)
    )
    assert found.lower < found.policy.value < found.upper < 1
    assert (found.policy.n, found.value.n, found.inner.n) == (60, 20, 4)
    assert sum(found.width_parts().values()) == pytest.approx(found.width)
    assert seen[-1] == (94, 94)
    monkeypatch.setattr(bounds, "_sample", None)  # a second run must not draw
    assert bracket(values, Opener.AGENT, num_dual=4, settings=SMALL, folder=tmp_path) == found


@pytest.mark.slow
@pytest.mark.parametrize("opener", list(Opener))
@pytest.mark.parametrize("family", list(Family))
def test_upper_is_above_lower_and_near_for_every_family(family, opener, tmp_path):
    settings = BracketSettings(num_policy=3000, num_values=1000, num_rounding=100)
    values = values_for(standard_knowledge(family, "overlap"))
    found = bracket(values, opener, num_dual=20, settings=settings, folder=tmp_path)
    assert 0 < found.width < 0.05


@pytest.mark.slow
def test_a_finer_relaxation_bounds_as_well_as_a_coarse_one(values, tmp_path):
    """Telling less cannot be worth more; the difference is within sampling error plus the fitted value's."""
    coarse, fine = (
        bracket(
            values, Opener.AGENT, num_dual=30, folder=tmp_path,
            settings=BracketSettings(num_policy=2, num_values=400, num_rounding=2, grid=grid),
        )
        for grid in (Grid(3.0, 3), Grid(1.0, 7))
    )  # fmt: skip
    assert fine.upper < coarse.upper + 0.01


def _as_drawn(scenarios):
    """The very episodes of ``scenarios`` (of one role) as canonical arrays; cues do not matter."""
    seats = [seat_of(Game(each).observe()) for each in scenarios]
    hidden = [each.counterpart_type for each in scenarios]
    draws = np.array([[draw[:3] for draw in each.noise.responses] for each in scenarios])
    draws[:, :, 2] *= np.array([each.sign for each in scenarios])[:, None]
    opened = [replace(each, opener=Opener.COUNTERPART) for each in scenarios]
    opening = [seat.to_canonical(Game(each).observe().standing_price) for seat, each in zip(seats, opened, strict=True)]
    return Drawn(
        scenarios[0].agent_role,
        np.array([seat.own for seat in seats]),
        np.array([seat.to_canonical(each.reservation_price) for seat, each in zip(seats, hidden, strict=True)]),
        np.array([each.urgency for each in hidden]),
        np.array([STANCES.index(each.stance) for each in hidden]),
        np.array(opening), draws, np.zeros((len(scenarios), 11, 2)),
    )  # fmt: skip


def _readable_utility(values, scenario, settings):
    """The planner on ticks written out over the readable game."""
    planner = FittedAgent(values, num_nodes=settings.num_prices).planner()
    game = Game(scenario)
    tracker = BeliefTracker.start(values.knowledge, planner.model, seat_of(game.observe()), values.grid)
    count = num_ticks(tracker.seat.own, values.knowledge, settings.tick)
    while not game.is_over:
        tracker.see(game.observe())
        last, standing = tracker.offers[-1] if tracker.offers else 0.0, tracker.standing
        best, value = None, 0.0
        if tracker.round < 10:
            prices = tracker.seat.own - settings.tick * np.arange(count - 1, -1, -1)
            keep = (prices >= last - 1e-9) & ((prices <= last + 1e-9) | (prices < (standing or 1e9) + settings.tick))
            worth = offer_value(tracker, planner, prices[keep])
            if worth.max() > 0:
                best, value = float(prices[keep][int(np.argmax(worth))]), float(worth.max())
        if standing is not None and tracker.seat.own - standing >= value:
            game.step(Accept())
        elif best is None:
            game.step(Reject())
        else:
            game.step(Offer(tracker.seat.from_canonical(best)))
    return game.record("planner").utility


@pytest.mark.slow
@pytest.mark.parametrize("role", list(Role))
def test_the_planner_on_ticks_earns_what_the_readable_game_says(values, role):
    suite = [each for each in fresh_suite(8, ["overlap"], ["taciturn"], 6) if each.agent_role is role]
    for opener in Opener:
        scenarios = [each for each in suite if each.opener is opener]
        drawn = _as_drawn(scenarios)
        control = 0.9 * (drawn.own - drawn.reservation - mean_zopa(values.knowledge))
        found = policy_utility(values, opener, SMALL, drawn) + control
        expected = [_readable_utility(values, each, SMALL) for each in scenarios]
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("role", list(Role))
def test_atoms_hold_the_true_type(values, role):
    drawn = draw_episodes(values.knowledge, Opener.AGENT, role, 40, np.random.default_rng(0))
    model = finite_model(values.knowledge, SMALL)
    for e in range(40):
        game, truth = finite_game(values, SMALL, model, drawn, e)
        assert game.reservations[truth.row] == pytest.approx(drawn.reservation[e], abs=1e-9)
        assert game.model.columns.urgency[truth.node] == pytest.approx(drawn.urgency[e], abs=1e-6)
        assert game.weights.sum() == pytest.approx(1.0)
        assert np.ptp(game.weights[0]) == pytest.approx(0.0, abs=1e-15)  # equally likely within a stance
        lowest = game.own - game.tick * (game.num_ticks - 1)
        assert 0 <= lowest <= max(game.own - 40.0, game.tick)


def test_the_law_of_the_atoms_is_uniform(values):
    """Offsets are independent of the cells: each cell is hit equally often (chi-square of 15 cells, p > 1e-4)."""
    drawn = draw_episodes(values.knowledge, Opener.AGENT, Role.BUYER, 3000, np.random.default_rng(1))
    model, hits = finite_model(values.knowledge, SMALL), np.zeros((5, 15))
    for e in range(3000):
        game, truth = finite_game(values, SMALL, model, drawn, e)
        if game.weights.shape[2] == 15:
            hits[truth.node, truth.row] += 1
    expected = hits.sum() / hits.size
    assert ((hits - expected) ** 2 / expected).sum() < 74 + 4.5 * np.sqrt(2 * 74)


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        (Knowledge.of(["overlap", "urgency_shift"], ["candid"]), "one feasible regime"),
        (Knowledge.of(["no_deal"], ["candid"]), "one feasible regime"),
        (Knowledge.of(["overlap"], ["candid", "taciturn"]), "one family"),
        (replace(Knowledge.of(["overlap"], ["candid"]), objective="se"), "objective=se"),
        (Knowledge.of(["overlap"], ["candid"], GameConfig(horizon=2)), "horizon=2"),
    ],
)
def test_what_the_relaxation_does_not_describe_is_refused(values, knowledge, message):
    with pytest.raises(ValueError, match=message):
        bracket(replace(values, knowledge=knowledge), Opener.AGENT, num_dual=2)


def test_settings_and_numbers_are_checked(values):
    with pytest.raises(ValueError, match="num_dual=1"):
        bracket(values, Opener.AGENT, num_dual=1)
    with pytest.raises(ValueError, match="tick=0"):
        BracketSettings(tick=0)
