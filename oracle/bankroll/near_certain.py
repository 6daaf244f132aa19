r"""A meeting with a supplier of whom much is known: the best reply in money to a type that it hardly beats.

At every move the belief is brought up to date, the supplier is taken to be

.. math:: (F^{-1}(q),\ E[\kappa],\ \text{the likeliest stance}),

``F`` being the law of ``r_B`` given that a deal is possible, and the known-type program of
:mod:`oracle.bankroll.known_supplier` is solved anew from there, so the cost of a round is weighed at every move. Let
``p`` be the probability that a deal is possible and ``G`` what staying is worth then: the table is left once
``p G`` is less than the round that staying costs in vain with ``1 - p``. It is an honest plan for the menu, no optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from commerce.bankroll import BankrollConfig
from commerce.economics import UnitEconomics
from oracle.bankroll.known_supplier import STAGE_GRID, StageGrid, identity, money_worth, stage_of
from oracle.kernels.induction import SLOTS
from oracle.known_type import offer_action_values, solve_on, standing_prices
from oracle.planner import BeliefTracker
from terms.agents.moves import sign
from terms.kernel import STANCES
from terms.scenario import Scenario
from terms.types import Accept, Action, Observation, Offer, PrivateType, Reject


def near_worst_type(tracker: BeliefTracker, quantile: float) -> tuple[PrivateType, float]:
    """Return the type to reply to, in the scenario's units, and the probability that a deal is possible."""
    own, atom = tracker.seat.own, 100.0 if tracker.standing is None else tracker.standing
    low = np.append(tracker.low, atom)
    high = np.append(np.maximum(tracker.low, np.minimum(tracker.high, atom)), atom)
    inside = np.where(high > low, np.clip((own - low) / np.maximum(high - low, 1e-300), 0.0, 1.0), low <= own)
    mass = tracker.weights.sum(axis=(1, 2)) * inside
    feasible = float(mass.sum())
    order = np.argsort(low, kind="stable")
    row = order[min(int(np.searchsorted(np.cumsum(mass[order]), quantile * feasible)), len(order) - 1)]
    r = min(float(high[row]), own) if feasible > 0 else own
    columns = tracker.model.columns
    urgency = float(tracker.weights.sum(axis=(0, 1)) @ columns.urgency)
    stance = np.bincount(columns.stance, tracker.weights.sum(axis=(0, 2)), minlength=len(STANCES))
    return PrivateType(tracker.seat.from_canonical(r), urgency, STANCES[int(stance.argmax())]), feasible


@dataclass(frozen=True, eq=False)
class NearCertainPlayer:
    """Plays one meeting; make one for each. ``tracker`` is the belief before the first price."""

    scenario: Scenario
    money: UnitEconomics
    rules: BankrollConfig
    tracker: BeliefTracker
    quantile: float
    grid: StageGrid = STAGE_GRID
    name: str = "as if sure"

    def act(self, observation: Observation) -> Action:
        """Take, leave or offer, whichever is worth most against the type taken for true."""
        self.tracker.see(observation)
        hidden, feasible = near_worst_type(self.tracker, self.quantile)
        stage = stage_of(replace(self.scenario, counterpart_type=hidden), self.money)
        gain = observation.accept_utility
        if stage.problem.zopa <= 1e-9 * observation.price_max:
            return Accept() if gain is not None and gain >= 0 else Reject()
        side, k = sign(observation), observation.round
        made = self.tracker.offers[-SLOTS:]
        past = np.maximum.accumulate(
            [side * (self.tracker.seat.from_canonical(price) - hidden.reservation_price) for price in made]
        )
        offers = np.union1d(np.linspace(0.0, stage.problem.zopa, self.grid.num_offers), past)
        offers = offers[offers >= past[0]] if made else offers
        prices = standing_prices(stage.problem, self.grid.num_prices)
        worth = money_worth(stage, offers, prices, 0.0, self.rules, identity)
        bounded = worth._replace(taken=np.maximum(worth.taken, worth.nothing[:, None]))
        solution = solve_on(stage.problem, offers, prices, first_round=k + 1, worth=bounded)
        standing, taken = None, -np.inf
        if observation.standing_price is not None:
            standing = max(0.0, side * (observation.standing_price - hidden.reservation_price))
            if gain is not None and gain >= 0:
                taken = stage.cents_per_price * gain + stage.reservation_cents
                taken -= self.rules.period_cost_cents + self.rules.round_cost_cents * k
        indices = [int(np.abs(offers - each).argmin()) for each in past]
        values = offer_action_values(solution, k, indices, standing)
        best, nothing = int(values.argmax()), float(worth.nothing[k])
        if taken >= max(float(values[best]), nothing):
            return Accept()
        if feasible * (values[best] - nothing) <= (1 - feasible) * self.rules.round_cost_cents:
            return Reject() if taken < nothing else Accept()
        price = hidden.reservation_price + side * float(offers[best])
        own = observation.reservation_price
        price = min(price, own) if side > 0 else max(price, own)
        return Offer(min(observation.price_max, max(observation.price_min, price)))
