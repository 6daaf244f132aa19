r"""Exact credit for every move of a talk: what it was worth, what it gave up, and what it is paid for.

With :math:`b_k` the exact belief before the move of round ``k`` and :math:`Q(b_k, a)` what the reference expects after
move ``a``, its value is :math:`V(b_k) = \max_a Q(b_k, a)`, 0 once the talk has ended. A move has

* the *advantage* :math:`A_k = Q(b_k, a_k) - V(b_k)`, and the *regret* :math:`-A_k`;
* the *turn reward* :math:`F_k = r_k + V(b_{k+1}) - V(b_k)` with :math:`r_k` the utility of the last move, else 0;
* *noise* :math:`F_k - A_k`, which no move can change: its mean is 0 where V is exact.

Turn rewards add up to :math:`U - V(b_1)`, so that whoever learns from them has the same best policies (Ng, Harada and
Russell 1999). The regret splits into *belief*, what the reference would lose on the belief the agent stated, and
*planning*, or *execution* where the reply was no legal move. *Hindsight* regret knows the counterpart's type.

V is looked ahead one step on the fitted values of :mod:`oracle.planner`, which were fitted on offers that rise: an
offer that goes back is valued on the features it has, and afterwards the reference goes on from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from oracle.beliefs import tilt
from oracle.clairvoyant import assess_actions
from oracle.fitted import FittedValues
from oracle.interventions import is_execution_fault, told_regime_and_family
from oracle.planner import ACCEPT, OFFER, BeliefTracker, BestMove, FittedAgent, decide, offer_value
from oracle.posterior import Posterior, seat_of
from oracle.prior import SCALE, column_groups
from oracle.shipped import values_for
from terms.episode import recorded_moves
from terms.game import Game
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Belief, Observation, Offer


class MoveCredit(NamedTuple):
    """One move; money in price units. ``belief_regret`` is ``None`` where no belief was stated.

    ``hindsight_regret`` is ``None`` where it was not asked for.
    """

    round: int
    value: float
    move_value: float
    turn_reward: float
    belief_regret: float | None
    planning_regret: float
    execution_regret: float
    hindsight_regret: float | None = None

    @property
    def advantage(self) -> float:
        """What the move is worth beyond the reference's; above 0 only by what its grid of offers leaves out."""
        return self.move_value - self.value

    @property
    def regret(self) -> float:
        """What the move gives up: belief, planning and execution together."""
        return self.value - self.move_value

    @property
    def noise(self) -> float:
        """What the answer added to what could be expected."""
        return self.turn_reward - self.advantage

    def to_json_object(self) -> dict[str, Any]:
        """Return only JSON types."""
        return {**self._asdict(), "advantage": self.advantage, "regret": self.regret, "noise": self.noise}


class CreditTracker:
    """Follows one talk with the exact belief; :meth:`credit` each move as it is answered.

    Parameters
    ----------
    scenario
        Says which laws the agent is told: those of its regime and family.
    observation
        What the agent sees before its first move.
    values
        Fitted values of these laws; by default those that come with the package, fitted now where none do.
    with_hindsight
        Whether to work out what each move gave up against the counterpart's type, which takes far longer.

    Examples
    --------
    >>> import terms
    >>> game = terms.Game(terms.fresh_suite(1_000_000, ["overlap"], ["candid"], 1)[1])
    >>> tracker = CreditTracker(game.scenario, game.observe())
    >>> before, move = tracker.value, terms.Reject()
    >>> game.step(move)
    >>> found = tracker.credit(move, None, game.record("me").utility)
    >>> found.turn_reward == -before == found.advantage, found.noise
    (True, 0.0)
    """

    def __init__(
        self,
        scenario: Scenario,
        observation: Observation,
        values: FittedValues | None = None,
        *,
        with_hindsight: bool = False,
    ) -> None:
        fitted = values or values_for(told_regime_and_family(scenario))
        self._scenario, self._with_hindsight = scenario, with_hindsight
        self._planner = FittedAgent(fitted).planner()
        self._belief = BeliefTracker.start(fitted.knowledge, self._planner.model, seat_of(observation), fitted.grid)
        self._unit = scenario.price_range / SCALE
        self._value = 0.0
        self._see(observation)

    @property
    def value(self) -> float:
        """What the reference expects from here on, in price units."""
        return self._value

    def credit(self, action: Action, after: Observation | None, utility: float) -> MoveCredit:
        """Return the credit of ``action``.

        Parameters
        ----------
        after
            What the agent sees before its next move, ``None`` once the talk has ended.
        utility
            Of the deal; read only at the end.
        """
        seen, before = self._seen, self._value
        worth = self._worth(action, seen)
        belief_regret = None if action.belief is None else before - self._worth_on(action.belief, seen)
        rest = before - worth - (belief_regret or 0.0)
        is_fault = is_execution_fault(action, seen)
        hindsight = self._in_hindsight(action, seen) if self._with_hindsight else None
        if after is None:
            self._value = 0.0
        else:
            self._see(after)
        return MoveCredit(
            round=seen.round,
            value=before,
            move_value=worth,
            turn_reward=(utility if after is None else 0.0) + self._value - before,
            belief_regret=belief_regret,
            planning_regret=0.0 if is_fault else rest,
            execution_regret=rest if is_fault else 0.0,
            hindsight_regret=hindsight,
        )

    def _see(self, observation: Observation) -> None:
        self._belief.see(observation)
        self._seen = observation
        self._value = self._value_of(decide(self._belief, self._planner), observation)

    def _value_of(self, best: BestMove, seen: Observation) -> float:
        if best.kind == ACCEPT:
            return float(seen.accept_utility or 0.0)
        return best.value * self._unit if best.kind == OFFER else 0.0

    def _worth(self, action: Action, seen: Observation) -> float:
        """Return ``Q`` of a move; what is no legal move is worth nothing."""
        if isinstance(action, Accept):
            return float(seen.accept_utility or 0.0)
        if isinstance(action, Offer) and seen.price_min <= action.price <= seen.price_max:
            return self._offer_worth(self._belief.seat.to_canonical(float(action.price)))
        return 0.0

    def _offer_worth(self, price: float) -> float:
        return float(offer_value(self._belief, self._planner, np.array([price]))[0]) * self._unit

    def _worth_on(self, stated: Belief, seen: Observation) -> float:
        """Return what the reference's move on the stated belief is worth on the exact one."""
        held = self._belief
        exact = Posterior(
            held.knowledge,
            held.seat,
            held.low,
            held.high,
            self._planner.model.columns.urgency,
            column_groups(held.knowledge),
            held.weights,
            held.round,
            held.standing,
            tuple(held.offers),
        )
        believed = held.copy()
        believed.weights = np.ascontiguousarray(tilt(exact, stated).weights)
        best = decide(believed, self._planner)
        return self._offer_worth(best.price) if best.kind == OFFER else self._value_of(best, seen)

    def _in_hindsight(self, action: Action, seen: Observation) -> float:
        at = self._scenario
        known = assess_actions(at.config, at.family, at.counterpart_type, seen, [action])
        return known.best - float(known.values[0])


def credit_record(
    scenario: Scenario,
    record: EpisodeRecord,
    values: FittedValues | None = None,
    *,
    with_hindsight: bool = False,
) -> tuple[MoveCredit, ...]:
    """Return the credit of every move of a finished episode; parameters as of :class:`CreditTracker`.

    Raises
    ------
    ValueError
        If the record is not of this scenario, or its moves do not lead to what it says.

    Examples
    --------
    >>> import terms
    >>> scenario = terms.fresh_suite(1_000_000, ["overlap"], ["candid"], 1)[0]
    >>> record = terms.play(scenario, terms.FixedConcession(0.3))
    >>> found = credit_record(scenario, record)
    >>> abs(sum(move.turn_reward for move in found) - (record.utility - found[0].value)) < 1e-9
    True
    """
    if record.scenario_id != scenario.scenario_id:
        raise ValueError(f"record is of {record.scenario_id!r}, not of {scenario.scenario_id!r}")
    game, found = Game(scenario), list[MoveCredit]()
    moves: Sequence[Action] = recorded_moves(record)
    tracker = CreditTracker(scenario, game.observe(), values, with_hindsight=with_hindsight)
    for action in moves:
        game.step(action)
        found.append(tracker.credit(action, None if game.is_over else game.observe(), record.utility))
    if game.termination is not record.termination:
        raise ValueError(f"the moves end with {game.termination}, the record says {record.termination}")
    return tuple(found)
