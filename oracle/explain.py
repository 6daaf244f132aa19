"""One negotiation told move by move: what could be believed, what the reference would have done, what each move cost.

A move's cost is the expected utility it gives up against the reference's move, both valued by the reference at the
exact posterior of that moment. With a stated belief it splits: *belief* is what the reference's rule loses on the
stated belief, *planning* the rest. In hindsight, with the type known, the costs and the noise add up exactly:

    value at the start - utility = sum of hindsight costs - noise.

Each move has its turn reward too, the utility it ended with and what it changed in the reference's value
(:mod:`oracle.move_credit`); they add up to the utility less that value at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from commerce.row_tables import data_frame, table_html
from oracle import posterior
from oracle.beliefs import tilt
from oracle.clairvoyant import assess_actions, revealed_type
from oracle.interventions import BayesOptimal, is_execution_fault
from oracle.posterior import Posterior
from oracle.retrace import retrace
from oracle.valuation import Valuer
from terms.game import Game
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Belief, Cue, Decision, Observation, Offer, Reject, Turn, Unusable

_NOTICEABLE = 0.005  # share of the price range: smaller costs are grid noise


_SHOWN = (
    "round",
    "standing_price",
    "decision",
    "price",
    "reference_decision",
    "reference_price",
    "cost",
    "hindsight_cost",
)
"""What a table of moves shows of each."""


class MoveReview(NamedTuple):
    """One move of the agent beside the reference's; values and costs in price units.

    ``belief_cost`` is ``None`` where no belief was stated; ``hindsight_cost`` knows the counterpart's type. The
    reference expects ``value`` after the move and ``reference_value`` before it.
    """

    round: int
    standing_price: float | None
    cue: Cue | None
    decision: Decision | None
    price: float | None
    stated: Belief | None
    exact: dict[str, Any]
    reference_decision: Decision
    reference_price: float | None
    value: float
    reference_value: float
    cost: float
    belief_cost: float | None
    planning_cost: float
    execution_cost: float
    hindsight_cost: float
    turn_reward: float = 0.0


@dataclass(frozen=True)
class Explanation:
    """The whole negotiation: who the counterpart was, the moves, and where the loss came from."""

    scenario_id: str
    agent: str
    family: str
    counterpart: dict[str, Any]
    zopa: float
    utility: float
    clairvoyant_value: float
    noise: float
    moves: tuple[MoveReview, ...]
    costs: dict[str, float]
    source: str
    costliest_round: int | None

    def _repr_html_(self) -> str:
        """Return the moves as a table, for notebooks."""
        caption = f"{self.scenario_id}, {self.agent}: utility {self.utility:.2f}; the loss came from {self.source}"
        return table_html(caption, _SHOWN, [[_shown(getattr(move, name)) for name in _SHOWN] for move in self.moves])

    def to_frame(self) -> Any:
        """Return the moves as a pandas data frame."""
        return data_frame([tuple(getattr(move, name) for name in _SHOWN) for move in self.moves], _SHOWN)

    def to_json_object(self) -> dict[str, Any]:
        """Return only JSON types; undefined is null."""
        moves = [
            {
                **move._asdict(),
                "cue": None
                if move.cue is None
                else {"sentiment": move.cue.sentiment.value, "posture": move.cue.posture.value},
                "decision": None if move.decision is None else move.decision.value,
                "reference_decision": move.reference_decision.value,
                "stated": _belief_json(move.stated),
            }
            for move in self.moves
        ]
        numbers = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("noise", "moves")}
        return {**numbers, "luck": self.noise, "moves": moves}


def _shown(value: object) -> object:
    return value.value if isinstance(value, Decision) else value


def explain(
    scenario: Scenario,
    record: EpisodeRecord,
    *,
    bayes_optimal: BayesOptimal | None = None,
) -> Explanation:
    """Replay a recorded episode beside the reference; by default the rule of thumb, which needs no fitted values.

    Raises
    ------
    ValueError
        If the record is not of this scenario, or its moves do not lead to what it says.
    """
    bayes_optimal = bayes_optimal or BayesOptimal()
    plan, valuer = bayes_optimal.plan(scenario), bayes_optimal.valuer(bayes_optimal.knowledge(scenario))
    moves: list[MoveReview] = []
    for observation, turn, action, exact in retrace(scenario, record, bayes_optimal):
        if not record.is_excluded or turn is not record.turns[-1]:  # a provider's failure is no move to review
            on_stated = None if turn.belief is None else plan(tilt(exact, turn.belief), observation)
            choices = (action, plan(exact, observation), on_stated)
            moves.append(_review(scenario, observation, turn, exact, choices, valuer))
    return _summarise(scenario, record, _paid(moves, record.utility))


def _paid(moves: Sequence[MoveReview], utility: float) -> tuple[MoveReview, ...]:
    """Return the moves with what each is paid; nothing is expected any more after the last."""
    later = [*(move.reference_value for move in moves[1:]), utility]
    return tuple(
        move._replace(turn_reward=after - move.reference_value) for move, after in zip(moves, later, strict=False)
    )


def _review(
    scenario: Scenario,
    observation: Observation,
    turn: Turn,
    exact: Posterior,
    choices: tuple[Action, Action, Action | None],
    valuer: Valuer,
) -> MoveReview:
    action, ideal, on_stated = choices
    asked = [action, ideal, ideal if on_stated is None else on_stated]
    value, best, believed = (float(each) for each in valuer(exact, observation, asked))
    is_fault = is_execution_fault(action, observation)
    belief_cost = None if on_stated is None else best - believed
    known = assess_actions(scenario.config, scenario.family, scenario.counterpart_type, observation, [action])
    return MoveReview(
        round=turn.round,
        standing_price=turn.counterpart_price,
        cue=turn.cue,
        decision=turn.decision,
        price=turn.price,
        stated=turn.belief,
        exact=posterior.summary(exact),
        reference_decision=_decision_of(ideal),
        reference_price=ideal.price if isinstance(ideal, Offer) else None,
        value=value,
        reference_value=best,
        cost=best - value,
        belief_cost=belief_cost,
        planning_cost=0.0 if is_fault else best - value - (belief_cost or 0.0),
        execution_cost=best - value - (belief_cost or 0.0) if is_fault else 0.0,
        hindsight_cost=known.best - float(known.values[0]),
    )


def _summarise(scenario: Scenario, record: EpisodeRecord, moves: tuple[MoveReview, ...]) -> Explanation:
    observation = Game(scenario).observe()
    start = assess_actions(scenario.config, scenario.family, scenario.counterpart_type, observation, []).best
    costs = {
        "inference": sum(move.belief_cost or 0.0 for move in moves),
        "control": sum(move.planning_cost for move in moves),
        "execution": sum(move.execution_cost for move in moves),
    }
    source = max(costs, key=lambda name: costs[name])
    is_noticeable = costs[source] >= _NOTICEABLE * scenario.price_range
    costliest = max(moves, key=lambda move: move.cost, default=None)
    is_costly = costliest is not None and costliest.cost >= _NOTICEABLE * scenario.price_range
    return Explanation(
        scenario_id=scenario.scenario_id,
        agent=record.agent,
        family=scenario.family.value,
        counterpart=revealed_type(scenario.counterpart_type),
        zopa=scenario.zopa,
        utility=record.utility,
        clairvoyant_value=start,
        noise=record.utility - start + sum(move.hindsight_cost for move in moves),
        moves=moves,
        costs=costs,
        source=source if is_noticeable else "none",
        costliest_round=costliest.round if costliest is not None and is_costly else None,
    )


def _decision_of(action: Action) -> Decision:
    match action:
        case Offer():
            return Decision.OFFER
        case Accept():
            return Decision.ACCEPT
        case Reject():
            return Decision.REJECT
        case Unusable():
            raise ValueError("the reference returned no action; a planner must always move")


def _belief_json(belief: Belief | None) -> dict[str, Any] | None:
    if belief is None:
        return None
    probs = None if belief.stance_probs is None else list(belief.stance_probs)
    return {"r_hat": belief.r_hat, "kappa_hat": belief.kappa_hat, "stance_probs": probs}
