"""From sampled outcomes to what a session is worth: laws, pools, memory, caution, and play on real chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, build_chain
from oracle.bankroll.meeting import Ending, MeetingPlanners
from oracle.bankroll.menu import CLASSES, PLANS, MenuSettings, PlanOutcomes, build_problem, class_chain, sample_outcomes
from oracle.bankroll.ruin import solve_ruin
from oracle.bankroll.session_play import KnownTypes, PolicyPlayer, run_session
from oracle.bankroll.worth import load_outcomes, session_worth

CHAIN = ChainConfig(families=("taciturn",))
RULES = BankrollConfig(horizon=6, initial_cents=2000, supplier_mode=SupplierMode.PERSISTENT)
SETTINGS = MenuSettings(num_suppliers=24, num_judged=1)


@pytest.fixture(scope="module")
def outcomes():
    return sample_outcomes(CHAIN, SESSION_ECONOMICS, RULES, SETTINGS)


@pytest.fixture(scope="module")
def worth(outcomes):
    return session_worth(outcomes, RULES, num_groups=4)


def random_outcomes(rng, suppliers=8):
    shape = (len(CLASSES), len(PLANS), suppliers, 1)
    return PlanOutcomes(rng.integers(-1800, 3000, shape), rng.random(shape) < 0.8, np.zeros(shape[2:]))


def with_strangers_plans(outcomes):
    """Outcomes whose every class has the laws of strangers in half of its plans: memory may be ignored."""
    net, learnt = outcomes.net_cents.copy(), outcomes.learnt.copy()
    half = len(PLANS) // 2
    net[1:, :half], learnt[1:, :half] = net[0, :half], learnt[0, :half]
    again = np.arange(len(PLANS) - half) % half
    net[0, half:], learnt[0, half:] = net[0, again], learnt[0, again]
    return PlanOutcomes(net, learnt, outcomes.known_cents)


@given(st.integers(0, 10_000), st.sampled_from(list(SupplierMode)), st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_memory_that_may_be_ignored_never_costs(seed, mode, horizon):
    rules = BankrollConfig(horizon=horizon, supplier_mode=mode, initial_cents=1000, pool_size=3)
    outcomes = with_strangers_plans(random_outcomes(np.random.default_rng(seed)))
    remembering = solve_ruin(build_problem(outcomes, rules, step_cents=100)).value()
    forgetful = solve_ruin(build_problem(outcomes, rules, step_cents=100, is_remembering=False)).value()
    assert remembering >= forgetful - 1e-6
    if mode is SupplierMode.IID or horizon == 1:
        assert remembering == pytest.approx(forgetful)


def test_the_class_of_a_pools_next_supplier():
    """Pool of 2, hand-computed: after period 1 the met one returns (class 1) or the other comes (class 0), 1/2 each.

    After period 2 with one that was met twice, the other one was never met; with one met once, the other once.
    """
    chain = class_chain(BankrollConfig(horizon=4, pool_size=2), 4)
    assert chain.shape == (3, 4, 4)
    assert chain[0, 1] == pytest.approx([0.5, 0.5, 0, 0])
    assert chain[1, 2] == pytest.approx([0.5, 0, 0.5, 0])
    assert chain[1, 1] == pytest.approx([0, 1.0, 0, 0])
    assert chain.sum(axis=2) == pytest.approx(np.ones((3, 4)))
    assert class_chain(BankrollConfig(horizon=3, pool_size=1), 4)[0] == pytest.approx(np.eye(4))


def test_pool_law_against_drawn_pools():
    """Frequency of the next supplier's class in 20,000 drawn sequences, for each class the last meeting left."""
    rules = BankrollConfig(horizon=8, pool_size=4)
    chain = class_chain(rules, 4)
    rng = np.random.default_rng(0)
    who = rng.integers(4, size=(20_000, 8))
    counts = np.zeros((20_000, 4), dtype=int)
    for period in range(7):
        rows = np.arange(20_000)
        counts[rows, who[:, period]] += 1
        left = np.minimum(counts[rows, who[:, period]], 3)
        following = np.minimum(counts[rows, who[:, period + 1]], 3)
        for class_ in range(1, 3):
            chosen = left == class_
            if chosen.sum() > 500:
                seen = np.bincount(following[chosen], minlength=4) / chosen.sum()
                assert seen == pytest.approx(chain[period, class_], abs=4 * 0.5 / np.sqrt(chosen.sum()))


def test_remembering_a_supplier_pays(outcomes, worth):
    best = outcomes.net_cents.mean(axis=(2, 3)).max(axis=1)
    assert best[-1] > best[0]
    assert worth.measures["value_of_memory"].estimate > 0
    assert worth.measures["price_of_caution"].estimate >= -1e-9
    assert worth.measures["value"].estimate >= worth.measures["held_out_value"].estimate - 1e-9
    # Sampled deals against expected ones: the menu lies below the known types up to noise.
    noise = 3 * outcomes.net_cents[-1].max(axis=0).std() / 100 * RULES.horizon / np.sqrt(SETTINGS.num_suppliers)
    assert worth.measures["value"].estimate < worth.measures["known_types_value"].estimate + noise
    assert (np.diff(worth.aware.values, axis=2) > 0).all()  # here more cash is better everywhere
    for name, found in worth.measures.items():
        assert found.low <= found.estimate <= found.high, name
        assert found.n == SETTINGS.num_suppliers


def test_measures_agree_with_the_policies(worth):
    found = {name: value.estimate for name, value in worth.measures.items()}
    assert found["value"] == pytest.approx(worth.aware.value() / 100)
    assert found["price_of_caution"] == pytest.approx(found["value"] - found["risk_neutral_value"])
    assert found["value_of_memory"] == pytest.approx(found["value"] - found["memoryless_value"])
    assert found["survival"] >= found["risk_neutral_survival"] - 0.05
    assert worth.to_json_object()["value"]["estimate"] == found["value"]


def test_outcomes_come_from_the_cache(outcomes, tmp_path):
    first = load_outcomes(CHAIN, SESSION_ECONOMICS, RULES, SETTINGS, folder=tmp_path)
    told = []
    longer = RULES.model_copy(update={"horizon": 9, "initial_cents": 5000})
    again = load_outcomes(CHAIN, SESSION_ECONOMICS, longer, SETTINGS, folder=tmp_path, progress=told.append)
    assert told == []  # cash, mode and length do not matter to a meeting
    assert (first.net_cents == outcomes.net_cents).all()
    assert (again.net_cents == outcomes.net_cents).all()
    assert again.learnt.dtype == np.bool_


def test_policies_play_real_chains(worth):
    table, paths = MeetingPlanners(CHAIN), []
    for number in range(4):
        chain = build_chain(number, CHAIN, RULES)
        for player in (
            PolicyPlayer(worth.aware, table),
            PolicyPlayer(worth.memoryless, table, is_remembering=False),
            KnownTypes(RULES),
        ):
            result = run_session(chain, SESSION_ECONOMICS, RULES, player)
            assert result.cash_cents[0] == RULES.initial_cents
            assert result.is_ruined == (result.terminal_cents < RULES.ruin_cents)
            assert len(result.cash_cents) == 1 + RULES.horizon or result.is_ruined
            paths.append(result)
    assert len({result.cash_cents for result in paths}) > 4


@pytest.mark.slow
def test_played_on_fresh_chains_policies_earn_their_value():
    """Pool of 2, 16 periods, 80 chains apart from the sample: the played means against the dynamic program.

    Tolerance: 3 standard errors of play and program together, for the difference that memory makes on paired chains
    too. It holds the mean field of the pool, the lattice, and classes that end at five meetings of about eight.
    """
    rules = BankrollConfig(horizon=16, pool_size=2)
    outcomes = sample_outcomes(CHAIN, SESSION_ECONOMICS, rules, MenuSettings(num_suppliers=120, num_judged=2))
    found, table = session_worth(outcomes, rules), MeetingPlanners(CHAIN)
    earned = np.empty((80, 2))
    for number in range(80):
        chain = build_chain(1000 + number, CHAIN, rules)
        players = (PolicyPlayer(found.aware, table), PolicyPlayer(found.memoryless, table, is_remembering=False))
        for column, player in enumerate(players):
            earned[number, column] = run_session(chain, SESSION_ECONOMICS, rules, player).terminal_cents / 100
    played = {"value": earned[:, 0], "memoryless_value": earned[:, 1], "value_of_memory": earned[:, 0] - earned[:, 1]}
    for name, sample in played.items():
        solved = found.measures[name]
        spread = np.hypot(sample.std(ddof=1) / np.sqrt(80), (solved.high - solved.low) / 2 / 2.262)  # t, 9 degrees
        assert sample.mean() == pytest.approx(solved.estimate, abs=3 * spread), name
    assert played["value_of_memory"].mean() > 0


def test_a_session_is_settled_by_hand():
    """Leaving at once costs 9.00 a period and brings the outside income; 20 dollars last two periods, ruin in third."""
    rules = RULES.model_copy(update={"horizon": 5})
    chain = build_chain(3, CHAIN, rules)
    outside = [0 if scenario.zopa > 0 else 238 for scenario in chain.scenarios]
    expected = [2000]
    for income in outside:
        expected.append(expected[-1] + income - 900)
        if expected[-1] < 0:
            break
    result = run_session(chain, SESSION_ECONOMICS, rules, lambda period: Ending(None, 1))
    assert list(result.cash_cents) == expected
    assert result.is_ruined == (expected[-1] < 0)


def test_plans_are_carried_out_as_named(worth):
    """Every kind of plan at the table: a policy of one plan alone must lead to the ending the plan says."""
    from oracle.bankroll.ruin import Policy, value_policy

    chain, table = build_chain(1, CHAIN, RULES), MeetingPlanners(CHAIN)
    size = worth.aware.values.shape[2]
    rounds = {}
    for name in ("leave at once", "fixed 0.3", "eager 8, exit 6"):
        plan = worth.aware.problem.plans.index(name)
        policy = Policy(np.full((6, len(CLASSES), size), plan), np.full((6, len(CLASSES)), plan))
        player = PolicyPlayer(value_policy(worth.aware.problem, policy), table)
        rounds[name] = run_session(chain, SESSION_ECONOMICS, RULES, player).cash_cents
    assert rounds["leave at once"][1] - 2000 in (-900, -900 + 238)
    assert len(set(rounds.values())) == 3


def test_bad_settings_are_refused(outcomes):
    with pytest.raises(ValueError, match="num_suppliers=1"):
        MenuSettings(num_suppliers=1)
    with pytest.raises(ValueError, match="num_groups=99"):
        session_worth(outcomes, RULES, num_groups=99)
