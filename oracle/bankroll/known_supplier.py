r"""The stage solved to the optimum where the supplier's type is known: negotiation and session in one recursion.

The dynamic program of :mod:`oracle.known_type` is run with endings that are worth the continuation value of cash,

.. math::
    \text{deal at } p \text{ in round } k: V_{t+1}(C + \Pi(p) - b - r k), \qquad
    \text{no deal in round } k: V_{t+1}(C + o - b - r k),

so risk and the cost of time are weighed at every move, not by a choice among plans. It is exact up to its grids: offers
and standing prices within a stage, nodes of cash between periods, and the listed stages (own reservations a known
supplier may be met with). With ``V`` the identity it is the best reply in money to a known type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from commerce.bankroll import BankrollConfig
from commerce.economics import UnitEconomics
from oracle.kernels.induction import Worth
from oracle.known_type import (
    KnownTypeProblem,
    Solution,
    offer_action_values,
    opening_weights,
    problem_of,
    solve_on,
    standing_prices,
)
from terms.agents.moves import sign
from terms.aliases import Floats
from terms.game import Game
from terms.scenario import Scenario
from terms.types import Accept, Action, Observation, Offer, Opener, Reject

Utility = Callable[[Floats], Floats]
"""What cash in cents after a period is worth; takes and returns an array."""


class Stage(NamedTuple):
    """A period against a known type.

    ``reservation_cents`` is the profit of a deal at the own reservation; each unit of price better than that brings
    ``cents_per_price`` more.
    """

    problem: KnownTypeProblem
    agent_opens: bool
    reservation_cents: float
    cents_per_price: float
    outside_cents: float


@dataclass(frozen=True, slots=True)
class StageGrid:
    """Number of offers within the surplus, and of standing prices."""

    num_offers: int = 8
    num_prices: int = 24


STAGE_GRID = StageGrid()


def stage_of(scenario: Scenario, money: UnitEconomics) -> Stage:
    """Return the stage of a scenario to somebody who knows the supplier."""
    problem = problem_of(scenario.config, scenario.family, scenario.counterpart_type, Game(scenario).observe())
    at_own = money.profit_cents(money.reservation_price)
    slope = 100.0 * money.lot_size * money.surplus_scale
    return Stage(problem, scenario.opener is Opener.AGENT, at_own, slope, money.walkaway_cents)


def money_worth(
    stage: Stage, offers: Floats, prices: Floats, cash_cents: float, rules: BankrollConfig, utility: Utility
) -> Worth:
    """Return what endings are worth with ``cash_cents`` before the period."""
    rounds = np.arange(stage.problem.params.horizon + 1, dtype=np.float64)
    after = cash_cents - rules.period_cost_cents - rules.round_cost_cents * rounds

    def at(distances: Floats) -> Floats:
        profit = stage.reservation_cents + stage.cents_per_price * (stage.problem.zopa - distances)
        return utility(after[:, None] + profit)

    taken = np.where(prices <= stage.problem.zopa + 1e-12, at(prices), -np.inf)
    return Worth(at(offers), taken, utility(after + stage.outside_cents))


def solve_stage(
    stage: Stage, cash_cents: float, rules: BankrollConfig, utility: Utility, grid: StageGrid = STAGE_GRID
) -> Solution:
    """Solve a feasible stage; offers run from the supplier's reservation to the own one."""
    offers = np.linspace(0.0, stage.problem.zopa, grid.num_offers)
    prices = standing_prices(stage.problem, grid.num_prices)
    worth = money_worth(stage, offers, prices, cash_cents, rules, utility)
    # Taking a price past the own reservation is no option; the value of not being able to is the value of no deal.
    bounded = worth._replace(taken=np.maximum(worth.taken, worth.nothing[:, None]))
    return solve_on(stage.problem, offers, prices, worth=bounded)


def stage_value(
    stage: Stage, cash_cents: float, rules: BankrollConfig, utility: Utility, grid: StageGrid = STAGE_GRID
) -> float:
    """Return the expected utility of a period before the opening price is drawn."""
    leave = float(
        utility(np.array([cash_cents - rules.period_cost_cents - rules.round_cost_cents + stage.outside_cents]))[0]
    )
    if stage.problem.zopa <= 0:
        return leave
    solution = solve_stage(stage, cash_cents, rules, utility, grid)
    if stage.agent_opens:
        return max(leave, float(offer_action_values(solution, 1, (), None).max()))
    law = opening_weights(stage.problem, solution.prices)
    total = 0.0
    for node, weight in enumerate(law):
        if abs(weight) > 1e-12:
            best = float(offer_action_values(solution, 1, (), float(solution.prices[node])).max())
            total += weight * max(leave, float(solution.worth.taken[1, node]), best)
    return total


class KnownSession(NamedTuple):
    """Optimal values ``values`` (T + 1, nodes) in cents on nodes of cash ``cash``; index 0 before the first period."""

    cash: Floats
    values: Floats
    threshold: float

    def utility(self, period: int) -> Utility:
        """Return what cash is worth before ``period`` (from 1): as it is below the threshold, else interpolated."""
        row = self.values[period - 1]

        def worth(cash: Floats) -> Floats:
            beyond = np.maximum(cash - self.cash[-1], 0.0)
            return np.where(cash < self.threshold, cash, np.interp(cash, self.cash, row) + beyond)

        return worth


def solve_known_session(
    stages: Sequence[tuple[float, Stage]],
    rules: BankrollConfig,
    cash_nodes: Floats,
    grid: StageGrid = STAGE_GRID,
) -> KnownSession:
    """Solve a session in which every period is one of ``stages`` (probability, stage), seen before the first move.

    Parameters
    ----------
    cash_nodes
        Rising, from the threshold on, in cents. Beyond the last a cent more is taken to be worth a cent more.

    Raises
    ------
    ValueError
        If the probabilities do not sum to 1 or the nodes do not start at the threshold.
    """
    total = sum(prob for prob, _ in stages)
    if abs(total - 1) > 1e-9:
        raise ValueError(f"stages have probabilities that sum to {total}; they must sum to 1")
    if cash_nodes[0] != rules.ruin_cents or (np.diff(cash_nodes) <= 0).any():
        raise ValueError(f"cash_nodes start at {cash_nodes[0]}; they must rise from {rules.ruin_cents}")
    values = np.empty((rules.horizon + 1, len(cash_nodes)))
    values[-1] = cash_nodes
    session = KnownSession(cash_nodes, values, float(rules.ruin_cents))
    for period in range(rules.horizon, 0, -1):
        utility = session.utility(period + 1)
        for node, cash in enumerate(cash_nodes):
            values[period - 1, node] = sum(
                prob * stage_value(stage, float(cash), rules, utility, grid) for prob, stage in stages
            )
    return session


def identity(cash: Floats) -> Floats:
    """Value cash at itself: the risk-neutral player."""
    return cash


class KnownTypePlayer:
    """Plays one period with the type known: the greedy policy of the stage, for any utility of cash."""

    name = "clairvoyant in money"

    def __init__(
        self, scenario: Scenario, money: UnitEconomics, cash_cents: float, rules: BankrollConfig, utility: Utility
    ) -> None:
        self._stage = stage_of(scenario, money)
        self._reservation = scenario.counterpart_type.reservation_price
        feasible = self._stage.problem.zopa > 0
        self._solution = solve_stage(self._stage, cash_cents, rules, utility) if feasible else None
        self._made: list[int] = []

    def act(self, observation: Observation) -> Action:
        """Take, leave or offer, whichever is worth most; taking wins a tie."""
        solution, k = self._solution, observation.round
        if solution is None:
            return Reject()
        side, standing = sign(observation), None
        taken = -np.inf
        if observation.standing_price is not None:
            standing = side * (observation.standing_price - self._reservation)
            if standing <= self._stage.problem.zopa:
                taken = float(np.interp(standing, solution.prices, solution.worth.taken[k]))
        values = offer_action_values(solution, k, self._made, standing)
        best = int(values.argmax())
        if taken >= max(float(values[best]), float(solution.worth.nothing[k])):
            return Accept()
        if values[best] <= solution.worth.nothing[k]:
            return Reject()
        self._made.append(best)
        price = self._reservation + side * float(solution.offers[best])
        return Offer(min(observation.price_max, max(observation.price_min, price)))
