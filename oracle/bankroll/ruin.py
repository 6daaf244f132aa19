r"""The ruin-aware optimum of a session, against a menu of negotiation plans.

.. math::
    V_{T+1}(C, m) = C, \qquad V_t(C, m) = C \text{ if } C < \tau, \text{ else } \max_a
    \sum_{x, l} p_a(x, l \mid m) \sum_{m'} M_t(l, m')\, V_{t+1}(C + x, m').

Ruin is hard: the first time ``C < tau`` the session ends and its balance stays; exactly ``tau`` is not ruin. The
recursion is exact for the menu and the lattice. A menu is a restriction of all that can be done at the table, so its
value is a lower bound of the optimum (:mod:`oracle.bankroll.known_supplier` lifts the restriction where the type is
known).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oracle.bankroll.problem import RuinProblem
from oracle.convergence import ConvergenceError
from oracle.kernels.cash import Lattice, evaluate, optimise, spread
from terms.aliases import Floats, Ints

_RESIDUAL_CENTS = 1e-4


class Policy(NamedTuple):
    """Plan by period, class and cash: ``plans`` (T, classes, nodes); from the last node on ``top`` (T, classes)."""

    plans: Ints
    top: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    """A policy and what it is worth.

    ``values`` in cents and ``survival`` are (T + 1, classes, nodes), ``top`` the value beyond the last node less cash
    (T + 1, classes). Index 0 is before the first period.
    """

    problem: RuinProblem
    policy: Policy
    values: Floats
    survival: Floats
    top: Floats

    def value(self, cash_cents: int | None = None, period: int = 1) -> float:
        """Return the expected final balance in cents, before a supplier drawn by ``first`` is met.

        Between two nodes of the lattice it is interpolated.

        Raises
        ------
        ValueError
            If the cash is below the threshold.
        """
        cash, node, share = self.node_of(cash_cents)
        if node + 1 < self.values.shape[2]:
            low, high = self.problem.first @ self.values[period - 1, :, node : node + 2]
            return float(low + share * (high - low))
        return cash + float(self.problem.first @ self.top[period - 1])

    def survival_prob(self, cash_cents: int | None = None, period: int = 1) -> float:
        """Return the probability of no ruin until the end."""
        _, node, share = self.node_of(cash_cents)
        rows = self.problem.first @ self.survival[period - 1]
        last = len(rows) - 1  # ruin cannot be reached from there
        low, high = rows[min(node, last)], rows[min(node + 1, last)]
        return min(1.0, float(low + share * (high - low)))

    def dollar_values(self, period: int = 1) -> tuple[Floats, Floats]:
        """Return cash on the lattice in cents and what one more dollar there adds to the final balance, in dollars.

        Raises
        ------
        ValueError
            If a dollar is no whole number of lattice steps.
        """
        step = self.problem.step_cents
        if 100 % step:
            raise ValueError(f"step_cents={step} does not divide a dollar")
        rows = self.problem.first @ self.values[period - 1]
        ahead = 100 // step
        cash = self.problem.threshold_cents + step * np.arange(len(rows) - ahead)
        return cash.astype(np.float64), (rows[ahead:] - rows[:-ahead]) / 100

    def plan_at(self, period: int, class_: int, cash_cents: int) -> int:
        """Return the plan for any cash at or above the threshold; between nodes the lower one decides."""
        node = (cash_cents - self.problem.threshold_cents) // self.problem.step_cents
        if node < 0:
            raise ValueError(f"cash_cents={cash_cents} is below the threshold; the session is over")
        plans = self.policy.plans[period - 1, class_]
        return int(plans[node] if node < len(plans) else self.policy.top[period - 1, class_])

    def node_of(self, cash_cents: int | None) -> tuple[int, int, float]:
        """Return cash (that at the start for ``None``), the node at or below it, and the share of the step above."""
        problem = self.problem
        cash = problem.start_cents if cash_cents is None else cash_cents
        node, rest = divmod(cash - problem.threshold_cents, problem.step_cents)
        if node < 0:
            raise ValueError(f"cash_cents={cash} is below the threshold, {problem.threshold_cents}")
        return cash, node, rest / problem.step_cents


def solve_ruin(problem: RuinProblem) -> Valued:
    """Return the ruin-aware optimum; ties go to the plan named first.

    Raises
    ------
    ConvergenceError
        If the policy, valued again on its own, does not earn the optimum.
    """
    tops, top_plans = risk_neutral(problem)
    shape = (problem.horizon, len(problem.classes), num_nodes(problem))
    values, plans = np.empty((shape[0] + 1, *shape[1:])), np.zeros(shape, dtype=np.int64)
    values[-1] = _cash(problem, shape[2])
    optimise(problem.atoms, problem.transitions, lattice_of(problem), tops, top_plans, values, plans)
    valued = value_policy(problem, Policy(plans, top_plans))
    residual = float(np.abs(valued.values - values).max())
    if not residual <= _RESIDUAL_CENTS:
        raise ConvergenceError("the ruin-aware dynamic program", residual, _RESIDUAL_CENTS)
    return valued


def value_policy(problem: RuinProblem, policy: Policy) -> Valued:
    """Value a policy under ruin."""
    tops = _value_top(problem, policy.top)
    values = np.empty((problem.horizon + 1, *policy.plans.shape[1:]))
    survival = np.empty_like(values)
    values[-1], survival[-1] = _cash(problem, values.shape[2]), 1.0
    evaluate(problem.atoms, problem.transitions, lattice_of(problem), tops, policy.plans, values, survival)
    return Valued(problem, policy, values, survival, tops)


def solve_risk_neutral(problem: RuinProblem) -> Valued:
    """Return the policy that is best where nobody can be ruined, valued under ruin; it never looks at cash."""
    _, plans = risk_neutral(problem)
    return value_policy(problem, fixed_policy(problem, plans))


def fixed_policy(problem: RuinProblem, plans: Ints) -> Policy:
    """Return the policy that plays ``plans`` (T, classes) whatever the cash."""
    size = num_nodes(problem)
    return Policy(np.repeat(plans[:, :, None], size, axis=2), plans)


def risk_neutral(problem: RuinProblem) -> tuple[Floats, Ints]:
    """Return what all later periods add on average without ruin (T + 1, classes), and the best plan (T, classes)."""
    classes, plans = len(problem.classes), len(problem.plans)
    values = np.zeros((problem.horizon + 1, classes))
    best = np.zeros((problem.horizon, classes), dtype=np.int64)
    for t in range(problem.horizon - 1, -1, -1):
        worth = np.full((classes, plans), -np.inf)
        for pair in problem.laws:
            worth[pair] = _mean_of(problem, pair, t, values[t + 1])
        for m in range(classes):
            best[t, m] = _first_best(worth[m])
            values[t, m] = worth[m, best[t, m]]
    return values, best


def _value_top(problem: RuinProblem, plans: Ints) -> Floats:
    values = np.zeros((problem.horizon + 1, len(problem.classes)))
    for t in range(problem.horizon - 1, -1, -1):
        for m, plan in enumerate(plans[t]):
            values[t, m] = _mean_of(problem, (m, int(plan)), t, values[t + 1])
    return values


def _mean_of(problem: RuinProblem, pair: tuple[int, int], t: int, later: Floats) -> float:
    law = problem.laws[pair]
    ahead = problem.transitions[t] @ later
    return float(law.prob @ (law.change * problem.step_cents + ahead[law.posted]))


def _first_best(row: Floats) -> int:
    best = 0
    for plan, worth in enumerate(row):
        if worth > row[best] + 1e-9:
            best = plan
    return best


def lattice_of(problem: RuinProblem) -> Lattice:
    """Return the lattice of a problem."""
    change = problem.atoms.change
    below, above = max(0, -int(change.min())), max(0, int(change.max()))
    return Lattice(float(problem.threshold_cents), float(problem.step_cents), below, above)


def num_nodes(problem: RuinProblem) -> int:
    """Return how many nodes can meet ruin, and at least a dollar more than the starting cash."""
    reach = lattice_of(problem).below * problem.horizon
    return max(reach, problem.start_node + math.ceil(100 / problem.step_cents)) + 2


def _cash(problem: RuinProblem, size: int) -> Floats:
    return problem.threshold_cents + problem.step_cents * np.arange(size, dtype=np.float64)


class CashLaw(NamedTuple):
    """Law of cash after each period.

    ``cash`` in cents (nodes,), ``prob`` (T + 1, nodes) with the ruined where they stopped, ``survival`` (T + 1,).
    """

    cash: Floats
    prob: Floats
    survival: Floats

    def means(self) -> Floats:
        """Return the mean balance after each period, in cents."""
        return np.asarray(self.prob @ self.cash)

    def quantiles(self, share: float) -> Floats:
        """Return the balance below which a session lies with probability ``share``, after each period."""
        index = (np.cumsum(self.prob, axis=1) < share - 1e-12).sum(axis=1)
        return np.asarray(self.cash[np.minimum(index, len(self.cash) - 1)])


def cash_law(valued: Valued) -> CashLaw:
    """Follow a policy forward from the starting cash."""
    problem, lattice = valued.problem, lattice_of(valued.problem)
    classes = len(problem.classes)
    width = lattice.below + problem.start_node + problem.horizon * lattice.above + 2
    law = np.zeros((problem.horizon + 1, classes + 1, width))
    start, (_, _, share) = lattice.below + problem.start_node, valued.node_of(None)
    law[0, :classes, start], law[0, :classes, start + 1] = (1 - share) * problem.first, share * problem.first
    policy = valued.policy
    spread(problem.atoms, problem.transitions, lattice.below, policy.plans, policy.top, law)
    cash = problem.threshold_cents + problem.step_cents * (np.arange(width, dtype=np.float64) - lattice.below)
    return CashLaw(cash, law.sum(axis=1), law[:, :classes].sum(axis=(1, 2)))
