r"""What an agent's moves lose, luck taken out: slips, a wrong belief, bad planning on the exact belief.

A move of an arm costs what the reference's move at the exact posterior is worth more, both by the reference's values,
:math:`c_t = \hat Q(I_t, a^*_t) - \hat Q(I_t, a_t)`. With exact values the costs of an arm add up in expectation to what
it earns less than the reference (the performance difference identity: Kakade and Langford 2002), and they hold none of
the luck of the answers, so they vary far less than the utilities do. With the fitted values the two agree within 0.2 %
of the clairvoyant's utility (1,200 episodes a fault).

* *planning loss*: the costs of the agent that is shown the exact posterior, slips left out;
* *belief loss*: the costs of the reference that plays on the beliefs the agent states; of one that states none, what
  being shown the posterior saves;
* *slips*: the costs, beyond what its belief explains, of moves that no belief and no plan can justify (a price beyond
  the own reservation, an offer dearer than what stands) or that lie far from what the agent does otherwise: above
  :data:`FAR` times the 90 % quantile of its own moves in these rounds and :data:`LARGE` of the price range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from oracle.beliefs import tilt
from oracle.interventions import BayesOptimal, is_execution_fault
from oracle.retrace import retrace
from terms.aliases import Floats, Ints
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Observation, Offer

FAR = 5.0
LARGE = 0.05
_ROUNDING = 1e-9


class MoveLoss(NamedTuple):
    """What one move cost, as a share of the price range, and what of it the stated belief explains (0 if none is).

    ``is_blunder`` says that no belief and no plan can justify it.
    """

    round: int
    cost: float
    belief_cost: float
    is_blunder: bool
    has_belief: bool


def move_losses(scenario: Scenario, record: EpisodeRecord, bayes_optimal: BayesOptimal) -> list[MoveLoss]:
    """Review every move of a record that is one; faults of execution are no moves and are counted elsewhere."""
    plan, valuer = bayes_optimal.plan(scenario), bayes_optimal.valuer(bayes_optimal.knowledge(scenario))
    found = []
    for observation, turn, action, exact in retrace(scenario, record, bayes_optimal):
        if is_execution_fault(action, observation) or turn.decision is None:
            continue
        ideal = plan(exact, observation)
        believed = ideal if turn.belief is None else plan(tilt(exact, turn.belief), observation)
        value, best, with_belief = (
            float(each) / scenario.price_range for each in valuer(exact, observation, [action, ideal, believed])
        )
        blunder = is_blunder(action, observation)
        found.append(MoveLoss(turn.round, best - value, best - with_belief, blunder, turn.belief is not None))
    return found


def is_blunder(action: Action, observation: Observation) -> bool:
    """Whether no belief and no plan can justify a move: a loss, or an offer dearer than what can be had at once.

    An offer may be dearer than the standing price if it only holds the own last one.
    """
    sign, own = observation.role.sign, observation.reservation_price
    if isinstance(action, Accept):
        return observation.accept_utility is not None and observation.accept_utility < -_ROUNDING
    if not isinstance(action, Offer):
        return False
    if sign * (own - action.price) < -_ROUNDING:
        return True
    held, standing = observation.last_own_offer, observation.standing_price
    if standing is None:
        return False
    dearest = standing if held is None or sign * (held - standing) < 0 else held
    return sign * (action.price - dearest) > _ROUNDING


@dataclass(frozen=True, eq=False)
class MoveTable:
    """The moves of one arm: ``episode`` numbers them; the other columns are those of :class:`MoveLoss`, (moves,)."""

    episode: Ints
    round: Ints
    cost: Floats
    belief_cost: Floats
    is_blunder: NDArray[np.bool_]
    has_belief: NDArray[np.bool_]

    @classmethod
    def of(cls, episodes: Sequence[Sequence[MoveLoss]]) -> Self:
        """Lay the moves of each episode out as columns."""
        rows = [(number, *move) for number, moves in enumerate(episodes) for move in moves]
        return cls.from_rows(np.array(rows, dtype=np.float64).reshape(-1, 6))

    @classmethod
    def from_rows(cls, rows: Floats) -> Self:
        """Return the table of ``rows`` (moves, 6), whose columns are those of the table in their order."""
        episode, clock, cost, belief_cost, blunder, has_belief = rows.T
        return cls(episode.astype(np.intp), clock.astype(np.intp), cost, belief_cost, blunder > 0, has_belief > 0)

    @property
    def own_cost(self) -> Floats:
        """What the belief does not explain."""
        return self.cost - self.belief_cost

    def total(self, values: Floats, num: int) -> Floats:
        """Add ``values``, one a move, up by episode."""
        return np.bincount(self.episode, weights=values, minlength=num).astype(np.float64)


class Losses(NamedTuple):
    """What each episode lost, shape (episodes,), as shares of its price range; ``num_slips`` counts slips in it.

    ``total`` are all costs of the agent as it plays. ``states_beliefs`` says that belief losses are of stated beliefs,
    not of what being shown the posterior saves.
    """

    slips: Floats
    belief: Floats
    planning: Floats
    total: Floats
    num_slips: Ints
    states_beliefs: bool

    def take(self, indices: Sequence[int]) -> Losses:
        """Return the losses of some of the episodes; which moves were slips stays as all of them said."""
        at = list(indices)
        return Losses(
            self.slips[at], self.belief[at], self.planning[at], self.total[at], self.num_slips[at], self.states_beliefs
        )


def pool_losses(base: MoveTable, posterior: MoveTable, swapped: MoveTable | None = None, *, num: int) -> Losses:
    """Return the losses of ``num`` episodes from the moves of the arms: base, shown the posterior, planner swapped."""
    bars = _bars(base)
    slipped = _slips(base, bars)
    planned = posterior.total(np.where(_slips(posterior, bars), 0.0, posterior.cost), num)
    states_beliefs = swapped is not None and bool(base.has_belief.any())
    if swapped is not None and states_beliefs:
        believed = swapped.total(swapped.cost, num)
    else:
        believed = base.total(np.where(slipped, 0.0, base.cost), num) - planned
    return Losses(
        slips=base.total(np.where(slipped, base.own_cost, 0.0), num),
        belief=believed,
        planning=planned,
        total=base.total(base.cost, num),
        num_slips=np.bincount(base.episode, weights=slipped, minlength=num).astype(np.intp),
        states_beliefs=states_beliefs,
    )


def _bars(moves: MoveTable) -> Floats:
    """Return the cost above which a move of each round lies far from what the agent does in that and the rounds beside.

    Round by round, as an agent that waits too long pays for it in the last ones, each time.
    """
    last = int(moves.round.max(initial=0))
    near = [moves.own_cost[np.abs(moves.round - k) <= 1] for k in range(last + 1)]
    return np.array([max(LARGE, FAR * float(np.quantile(each, 0.9))) if len(each) else LARGE for each in near])


def _slips(moves: MoveTable, bars: Floats) -> NDArray[np.bool_]:
    return moves.is_blunder | (moves.own_cost > bars[np.minimum(moves.round, len(bars) - 1)])
