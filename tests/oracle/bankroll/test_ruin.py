"""The ruin-aware dynamic program against closed forms, brute force over exact cash, and its own forward law."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.bankroll.problem import RuinProblem, StageLaw, stage_law
from oracle.bankroll.ruin import cash_law, fixed_policy, solve_risk_neutral, solve_ruin, value_policy

DOLLAR = 100


def session(laws, *, horizon, start=0, threshold=0, step=DOLLAR, first=None, follow=None):
    """A problem whose classes and plans are numbered by the keys of ``laws``."""
    classes = 1 + max(key[0] for key in laws)
    return RuinProblem(
        plans=tuple(f"plan-{i}" for i in range(1 + max(key[1] for key in laws))),
        classes=tuple(f"class-{i}" for i in range(classes)),
        laws=laws,
        first=np.eye(classes)[0] if first is None else first,
        follow=np.repeat(np.eye(classes)[None], horizon - 1, axis=0) if follow is None else follow,
        start_cents=start,
        threshold_cents=threshold,
        step_cents=step,
    )


def gamble(*outcomes):
    """A law of ``(cents, probability)`` pairs on a lattice of a dollar."""
    cents, weights = zip(*outcomes, strict=True)
    return stage_law(cents, step=DOLLAR, weights=np.array(weights))


def coin(p):
    return gamble((DOLLAR, p), (-DOLLAR, 1 - p))


def best_by_brute_force(problem):
    """Expectimax over exact integer cash: no lattice, no padding, no linear top (the slow twin)."""
    follow = [*problem.follow, np.eye(len(problem.classes))]

    @cache
    def value(t, m, cash):
        if cash < problem.threshold_cents or t == problem.horizon:
            return float(cash)
        return max(worth(t, m, cash, plan) for (cls, plan) in problem.laws if cls == m)

    @cache
    def worth(t, m, cash, plan):
        law, total = problem.laws[m, plan], 0.0
        for change, posted, prob in zip(law.change, law.posted, law.prob, strict=True):
            after = cash + int(change) * problem.step_cents
            for other in range(len(problem.classes)):
                weight = follow[t][posted, other]
                if weight > 0:
                    total += prob * weight * (after if after < problem.threshold_cents else value(t + 1, other, after))
        return total

    return sum(problem.first[m] * value(0, m, problem.start_cents) for m in range(len(problem.classes)))


@pytest.mark.parametrize("p", [0.5, 0.6])
@pytest.mark.parametrize("cash", [0, 3])
def test_finite_gamblers_ruin_by_the_reflection_principle(p, cash):
    """P(S_T = k, min >= 0) = [C(T, u) - C(T, u + cash + 1)] p^u q^(T-u) with u up-steps (Feller I, section III.1)."""
    horizon = 21
    survival = balance = 0.0
    for up in range(horizon + 1):
        end = cash + 2 * up - horizon
        if end >= 0:
            crossing = up + cash + 1
            paths = comb(horizon, up) - (comb(horizon, crossing) if crossing <= horizon else 0)
            survival += paths * p**up * (1 - p) ** (horizon - up)
            balance += end * paths * p**up * (1 - p) ** (horizon - up)
    valued = solve_ruin(session({(0, 0): coin(p)}, horizon=horizon, start=cash * DOLLAR))
    assert valued.survival_prob() == pytest.approx(survival, abs=1e-12)
    assert valued.value() / DOLLAR == pytest.approx(balance - (1 - survival), abs=1e-9)  # the ruined stand at -1


@pytest.mark.parametrize("cash", [0, 1, 4])
def test_gamblers_ruin_in_the_long_run(cash):
    """Ruin at the first -1 has probability (q/p)^(cash+1) for p > 1/2 (Feller I, section XIV.2)."""
    p = 0.7
    valued = solve_ruin(session({(0, 0): coin(p)}, horizon=300, start=cash * DOLLAR))
    assert 1 - valued.survival_prob() == pytest.approx((0.3 / 0.7) ** (cash + 1), abs=1e-8)


def test_exactly_the_threshold_is_not_ruin():
    drop = gamble((-DOLLAR, 1.0))
    valued = solve_ruin(session({(0, 0): drop}, horizon=2, start=300, threshold=100))
    assert valued.survival_prob() == 1.0
    valued = solve_ruin(session({(0, 0): drop}, horizon=3, start=300, threshold=100))
    assert valued.survival_prob() == 0.0
    assert valued.value() == 0.0  # 300 - 3 * 100: the first balance below 100 ends it and stays


def test_ruined_sessions_earn_nothing_later():
    """By hand: cash 0, T = 2, a coin. Half are ruined at -1; the others stand at 1, then at 2 or 0."""
    law = cash_law(solve_ruin(session({(0, 0): coin(0.5)}, horizon=2)))
    assert dict(zip(law.cash[law.prob[2] > 0].tolist(), law.prob[2][law.prob[2] > 0].tolist(), strict=True)) == {
        -100.0: 0.5,
        0.0: 0.25,
        200.0: 0.25,
    }
    assert law.survival.tolist() == [1.0, 0.5, 0.5]


def test_caution_by_hand():
    """Cash 1, T = 2. Bold: +3 or -2, even odds, mean 0.5. Safe: 0 for sure.

    Bold first: 1/2 at -1 (ruined), 1/2 at 4, and there bold again, 4.5: value 1.75. Safe first, then bold: 1.5. So the
    best is bold in both periods, which is what the risk-neutral player does: caution is worth nothing here.
    """
    bold, safe = gamble((300, 0.5), (-200, 0.5)), gamble((0, 1.0))
    problem = session({(0, 0): bold, (0, 1): safe}, horizon=2, start=100)
    assert solve_ruin(problem).value() == pytest.approx(175.0)
    assert solve_ruin(problem).plan_at(1, 0, 100) == 0
    assert solve_risk_neutral(problem).value() == pytest.approx(175.0)


def test_price_of_caution_by_hand():
    """Cash 1, T = 3. Bold: -2 or +7, even odds, mean 2.5. Steady: +2 for sure.

    Risk-neutral: bold always. From 1: 1/2 ruined at -1; else 8, from where -2 a period cannot ruin: 13. Value 6.
    Ruin-aware: steady in period 1, to 3. From there bold leads to 1 or 10 and, bold again, to 3.5 or 12.5: 8, more
    than steady and bold, 7.5. Ruined is who falls to 1 and then to -1, one in four. The price of caution is 2.
    """
    problem = session({(0, 0): gamble((-200, 0.5), (700, 0.5)), (0, 1): gamble((200, 1.0))}, horizon=3, start=100)
    assert solve_risk_neutral(problem).value() == pytest.approx(600.0)
    best = solve_ruin(problem)
    assert best.value() == pytest.approx(800.0)
    assert best.plan_at(1, 0, 100) == 1
    assert best.plan_at(2, 0, 300) == 0
    assert best.survival_prob() == pytest.approx(1 - 0.25)
    assert best.value() - solve_risk_neutral(problem).value() == pytest.approx(200.0)


def test_dollar_near_ruin_by_hand():
    """One coin flip left: a dollar at 0 adds exactly a dollar; with two left it also saves half the sessions.

    V_1(0) of two flips: (-1 + 1)/2 = 0 as a fair stopped game is fair; with a drift of 1/2 a period it is not:
    outcomes +2 and -1. V_2(C) = C + 0.5 for C >= 0. V_1(0) = (-1 + 2.5)/2 = 0.75, V_1(1) = (0.5 + 3.5)/2 = 2.
    """
    problem = session({(0, 0): gamble((200, 0.5), (-100, 0.5))}, horizon=2)
    cash, dollars = solve_ruin(problem).dollar_values(period=1)
    assert cash[:2].tolist() == [0.0, 100.0]
    assert dollars[:2] == pytest.approx([1.25, 1.0])


laws_ = st.lists(st.tuples(st.integers(-4, 5), st.integers(1, 5)), min_size=1, max_size=3)


@st.composite
def problems(draw, losing=True):
    classes, plans, horizon = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 4))

    def law():
        outcomes = draw(laws_)
        weights = np.array([weight for _, weight in outcomes], dtype=float)
        change = [x if losing else abs(x) for x, _ in outcomes]
        posted = draw(st.lists(st.integers(0, classes - 1), min_size=len(outcomes), max_size=len(outcomes)))
        return stage_law(np.array(change) * DOLLAR, step=DOLLAR, posted=posted, weights=weights / weights.sum())

    def rows(*shape):
        cells = draw(st.lists(st.integers(0, 3), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        table = np.array(cells, dtype=float).reshape(shape) + 1e-3
        return table / table.sum(axis=-1, keepdims=True)

    return session(
        {(m, a): law() for m in range(classes) for a in range(plans)},
        horizon=horizon,
        start=DOLLAR * draw(st.integers(0, 6)),
        first=rows(classes),
        follow=rows(horizon - 1, classes, classes),
    )


@given(problems())
@settings(max_examples=150, deadline=None)
def test_equals_brute_force_over_exact_cash(problem):
    assert solve_ruin(problem).value() == pytest.approx(best_by_brute_force(problem), abs=1e-8)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_the_forward_law_earns_the_value_and_survives_as_often(problem):
    for valued in (solve_ruin(problem), solve_risk_neutral(problem)):
        law = cash_law(valued)
        assert law.prob.sum(axis=1) == pytest.approx(np.ones(problem.horizon + 1))
        assert law.means()[-1] == pytest.approx(valued.value(), abs=1e-7)
        assert law.survival[-1] == pytest.approx(valued.survival_prob(), abs=1e-10)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_caution_never_costs(problem):
    best = solve_ruin(problem)
    assert best.value() >= solve_risk_neutral(problem).value() - 1e-7
    for plan in range(len(problem.plans)):
        always = fixed_policy(problem, np.full((problem.horizon, len(problem.classes)), plan))
        assert best.value() >= value_policy(problem, always).value() - 1e-7


@given(problems(losing=False))
@settings(max_examples=60, deadline=None)
def test_without_losses_the_risk_neutral_policy_is_the_optimum(problem):
    best, neutral = solve_ruin(problem), solve_risk_neutral(problem)
    assert best.value() == pytest.approx(neutral.value(), abs=1e-8)
    assert best.survival_prob() == pytest.approx(1.0)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_far_above_the_threshold_nothing_but_the_mean_counts(problem):
    best, neutral = solve_ruin(problem), solve_risk_neutral(problem)
    cash = problem.threshold_cents + DOLLAR * (4 * problem.horizon + 3)
    assert best.value(cash) == pytest.approx(neutral.value(cash), abs=1e-8)
    assert best.survival_prob(cash) == pytest.approx(1.0)


@given(problems(losing=False), st.integers(0, 10))
@settings(max_examples=40, deadline=None)
def test_value_rises_with_cash_where_no_plan_loses_on_average(problem, shift):
    """Each law is shifted to lose in some outcome but to gain on average; then more cash is never worse."""
    laws = {}
    for pair, law in problem.laws.items():
        mean = int(np.floor(law.prob @ law.change))
        laws[pair] = StageLaw(law.change - min(shift, mean), law.posted, law.prob)
    shifted = session(laws, horizon=problem.horizon, first=problem.first, follow=problem.follow)
    values = solve_ruin(shifted).values
    assert (np.diff(values, axis=2) >= -1e-7).all()


def test_value_can_fall_with_cash_where_every_plan_loses():
    """A session that loses a dollar a period for sure: the poorer one is stopped sooner and keeps more."""
    loss = gamble((-300, 1.0))
    poor, rich = (solve_ruin(session({(0, 0): loss}, horizon=3, start=cash)).value() for cash in (200, 300))
    assert (poor, rich) == (-100.0, -300.0)


def test_amounts_between_nodes_keep_their_mean():
    law = stage_law([-130, 275], step=50, weights=np.array([0.4, 0.6]))
    assert 50 * float(law.prob @ law.change) == pytest.approx(0.4 * -130 + 0.6 * 275)
    assert law.prob.sum() == pytest.approx(1.0)
    assert set(law.change.tolist()) == {-3, -2, 5, 6}


def test_halving_the_lattice_changes_little():
    """The lattice of a cent is exact; a dollar's and a quarter's must come near it."""
    rng = np.random.default_rng(4)
    net = rng.integers(-900, 1300, 40)
    found = {
        step: solve_ruin(
            session({(0, 0): stage_law(net, step=step), (0, 1): stage_law([-150], step=step)},
                    horizon=6, start=1000, step=step)
        ).value()
        for step in (1, 25, 100)
    }  # fmt: skip
    assert found[25] == pytest.approx(found[1], rel=0.002)
    assert found[100] == pytest.approx(found[1], rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": -100}, "start_cents=-100"),
        ({"step": 0}, "step_cents=0"),
        ({"first": np.array([0.5])}, "first must hold probabilities"),
        ({"follow": np.array([[[0.4]]])}, "follow must hold probabilities"),
    ],
)
def test_bad_problems_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        session({(0, 0): coin(0.5)}, **{"horizon": 2, **change})


def test_bad_laws_are_refused():
    with pytest.raises(ValueError, match="at least one outcome"):
        stage_law([], step=1)
    with pytest.raises(ValueError, match="one probability an outcome"):
        stage_law([1, 2], step=1, weights=np.array([0.5, 0.6]))
    with pytest.raises(ValueError, match="beyond the 1 there are"):
        session({(0, 0): stage_law([100], step=DOLLAR, posted=1)}, horizon=2)
    with pytest.raises(ValueError, match="no plan for class 'class-0'"):
        session({(1, 0): coin(0.5)}, horizon=2)
    with pytest.raises(ValueError, match="below the threshold"):
        solve_ruin(session({(0, 0): coin(0.5)}, horizon=2)).plan_at(1, 0, -1)
    with pytest.raises(ValueError, match="cash_cents=-1 is below"):
        solve_ruin(session({(0, 0): coin(0.5)}, horizon=2)).value(-1)


def test_cash_between_nodes_is_interpolated():
    """Half a dollar between two nodes is worth half of each, and starts half of its law on each."""
    law = gamble((200, 0.5), (-100, 0.5))
    whole = {cash: solve_ruin(session({(0, 0): law}, horizon=2, start=cash)) for cash in (100, 200)}
    between = solve_ruin(session({(0, 0): law}, horizon=2, start=150))
    assert between.value() == pytest.approx((whole[100].value() + whole[200].value()) / 2)
    assert between.survival_prob() == pytest.approx((whole[100].survival_prob() + whole[200].survival_prob()) / 2)
    assert cash_law(between).means()[-1] == pytest.approx(between.value())


def test_equals_whole_array_convolutions_on_a_session_of_full_size():
    """The NumPy twin of the benchmark: 50 periods, four classes, the whole menu."""
    from tests.bench.ruin import numpy_values, sampled_problem

    problem = sampled_problem(200)
    assert solve_ruin(problem).values[0] == pytest.approx(numpy_values(problem), abs=1e-6)
