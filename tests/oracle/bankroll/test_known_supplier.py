"""The stage and the session against a known type: brute force, play in the true kernel, and what ruin changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, build_chain, unit_economics
from oracle.bankroll.known_supplier import (
    KnownTypePlayer,
    Stage,
    StageGrid,
    identity,
    solve_known_session,
    solve_stage,
    stage_of,
    stage_value,
)
from oracle.known_type import offer_action_values, opening_weights
from terms import kernel, play
from tests.oracle.test_clairvoyant import normal_law, tiny_problem

RULES = BankrollConfig()
COARSE = StageGrid(4, 12)
FAR = 1e7


def kinked(cash):
    """A concave worth of cash: the first cents count double."""
    return np.where(cash < 2000, 2.0 * cash, cash + 2000)


def brute_force(stage, offers, prices, cash, utility, standing):
    """Enumerate every course of play with endings worth ``utility`` of cash; every history is its own node."""
    problem, params = stage.problem, stage.problem.params
    horizon = params.horizon

    def end(k, profit):
        return float(utility(np.array([cash + profit - RULES.period_cost_cents - RULES.round_cost_cents * k]))[0])

    def deal(k, distance):
        return end(k, stage.reservation_cents + stage.cents_per_price * (problem.zopa - distance))

    @cache
    def law(top, rate):
        return normal_law(prices, top, top - rate * top, params.noise_sd)

    def offer_value(k, past, b, x):
        nothing = end(k, stage.outside_cents)
        if k == horizon and not problem.is_final_answered:
            return nothing
        features = kernel.history_features(past, 1, params)
        gain = kernel.favourability(x, 0.0, 1, params.price_range)
        accepts = kernel.accept_prob(gain, problem.urgency, k, features, params)
        walks = kernel.walk_prob(gain, k, params)
        value = accepts * deal(k, x) + (1 - accepts) * walks * nothing
        lives = (1 - accepts) * (1 - walks)
        if k == horizon:
            return value + lives * nothing
        rate = kernel.concession_rate(problem.urgency, features, params)
        weights = opening_weights(problem, np.array(prices)) if b is None else law(b, rate)
        return value + lives * sum(
            w * state_value(k + 1, (*past, x), y) for w, y in zip(weights, prices, strict=True) if w
        )

    def state_value(k, past, b):
        best = end(k, stage.outside_cents)
        if b is not None and b <= problem.zopa:
            best = max(best, deal(k, b))
        return max([best, *(offer_value(k, past, b, x) for x in offers if not past or x >= past[-1])])

    return max(offer_value(1, (), standing, x) for x in offers)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("utility", [identity, kinked])
def test_stage_equals_brute_force(seed, utility):
    rng = np.random.default_rng(seed)
    problem = tiny_problem(rng, horizon=3)
    stage = Stage(problem, True, 600.0, 100.0, float(rng.choice([0.0, 238.0])))
    solution = solve_stage(stage, 1500.0, RULES, utility, StageGrid(3, 4))
    standing = None if seed % 2 else float(solution.prices[2])
    found = float(offer_action_values(solution, 1, (), standing).max())
    expected = brute_force(stage, solution.offers.tolist(), solution.prices.tolist(), 1500.0, utility, standing)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.fixture(scope="module")
def stages():
    chain = ChainConfig(seed=5)
    iid = BankrollConfig(supplier_mode=SupplierMode.IID, horizon=30)
    scenarios = build_chain(0, chain, iid).scenarios
    return [(scenario, unit_economics(scenario, SESSION_ECONOMICS)) for scenario in scenarios]


def test_played_in_the_true_kernel_it_earns_its_value(stages):
    """30 periods, each replayed with 12 other draws: the mean net of costs against the mean value."""
    rng = np.random.default_rng(0)
    value, earned = [], []
    for scenario, money in stages:
        value.append(stage_value(stage_of(scenario, money), FAR, RULES, identity) - FAR)
        for _ in range(12):
            responses = tuple(
                each._replace(accept=rng.random(), walk=rng.random(), price=rng.standard_normal())
                for each in scenario.noise.responses
            )
            noise = scenario.noise._replace(opening_noise=rng.standard_normal(), responses=responses)
            law = scenario.config.opening.harshness
            other = replace(scenario, noise=noise, harshness=rng.uniform(law.low, law.high))
            record = play(other, KnownTypePlayer(other, money, FAR, RULES, identity))
            cost = RULES.period_cost_cents + RULES.round_cost_cents * record.rounds_played
            earned.append(money.profit_cents(record.price) - cost)
    table = np.array(earned, dtype=float).reshape(len(stages), -1)
    se = (table - table.mean(axis=1, keepdims=True)).std() / np.sqrt(table.size)
    assert table.mean() == pytest.approx(np.mean(value), abs=4 * se + 3.0)


def test_an_infeasible_stage_is_left_at_once(stages):
    scenario, money = next(pair for pair in stages if pair[0].zopa <= 0)
    stage = stage_of(scenario, money)
    left = FAR + money.walkaway_cents - RULES.period_cost_cents - RULES.round_cost_cents
    assert stage_value(stage, FAR, RULES, identity) == left
    record = play(scenario, KnownTypePlayer(scenario, money, FAR, RULES, identity))
    assert record.price is None
    assert record.rounds_played == 1


def test_far_from_ruin_a_session_is_worth_its_stages(stages):
    """V_1(C) - C is T times the risk-neutral stage where nobody can be ruined."""
    rules = BankrollConfig(horizon=4)
    mix = [(0.5, stage_of(*stages[0])), (0.5, stage_of(*stages[1]))]
    nodes = np.array([0.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0, 20_000.0])
    session = solve_known_session(mix, rules, nodes, COARSE)
    alone = sum(prob * (stage_value(stage, FAR, rules, identity, COARSE) - FAR) for prob, stage in mix)
    assert session.values[0, -1] - nodes[-1] == pytest.approx(4 * alone, rel=1e-6)
    assert (np.diff(session.values[0]) > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_session_of_two_periods_equals_brute_force(seed):
    """Both periods enumerated, ruin between them: V_2(C) is C below the threshold and C + E[gain] from there on.

    The last period only adds its mean, as nothing comes after it; so no node of cash is interpolated wrongly.
    """
    rng = np.random.default_rng(seed)
    grid = StageGrid(3, 4)
    mix = [
        (0.4, Stage(tiny_problem(rng, horizon=2), True, 600.0, 100.0, 0.0)),
        (0.6, Stage(tiny_problem(rng, horizon=2), True, 900.0, 100.0, 238.0)),
    ]

    def enumerated(cash, utility):
        total = 0.0
        for prob, stage in mix:
            solution = solve_stage(stage, cash, RULES, utility, grid)
            leave = float(utility(np.array([cash - 900.0 + stage.outside_cents]))[0])
            best = brute_force(stage, solution.offers.tolist(), solution.prices.tolist(), cash, utility, None)
            total += prob * max(leave, best)
        return total

    gain = enumerated(FAR, identity) - FAR

    def afterwards(cash):
        return np.where(cash < RULES.ruin_cents, cash, cash + gain)

    nodes = np.array([0.0, 400.0, 700.0, 1000.0, 5000.0])
    session = solve_known_session(mix, RULES.model_copy(update={"horizon": 2}), nodes, grid)
    assert session.values[1] == pytest.approx(nodes + gain)
    expected = [enumerated(cash, afterwards) for cash in nodes]
    assert session.values[0] == pytest.approx(expected, abs=1e-6)
    assert min(expected - nodes) < 2 * gain - 10 or min(expected - nodes) > 2 * gain + 10  # ruin matters somewhere


def test_caution_pays_near_ruin(stages):
    """With one dollar more than a quick deal costs, the ruin-aware stage must beat the risk-neutral play of it."""
    scenario, money = next(pair for pair in stages if pair[0].zopa > 15)
    stage = stage_of(scenario, money)

    def valuable_survival(cash):
        return np.where(cash < 0, cash, cash + 20_000.0)

    aware = solve_stage(stage, 1000.0, RULES, valuable_survival)
    neutral = solve_stage(stage, 1000.0, RULES, identity)
    first = {
        name: float(solution.offers[int(offer_action_values(solution, 1, (), None).argmax())])
        for name, solution in (("aware", aware), ("neutral", neutral))
    }
    assert stage_value(stage, 1000.0, RULES, valuable_survival) > 1000.0
    assert first["aware"] >= first["neutral"]


def test_bad_sessions_are_refused(stages):
    stage = stage_of(*stages[0])
    with pytest.raises(ValueError, match=r"sum to 0\.5"):
        solve_known_session([(0.5, stage)], RULES, np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="must rise from 0"):
        solve_known_session([(1.0, stage)], RULES, np.array([100.0, 200.0]))
