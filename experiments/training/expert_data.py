r"""What the reference would do, as data to learn from: talks, pairs of moves with a cost, and steps.

The reference is the player ``bayes``, which is told regime and family and keeps the exact posterior. *Talks* are its
own episodes as a model would have had them: the prompts of play, its moves as replies. *Pairs* follow another agent and
set the reference's move beside the agent's own wherever that gives up at least :data:`LEAST_COST`,

.. math:: c = (V(b, a^*) - V(b, a)) / R,

both valued at the exact posterior :math:`b` of that moment. Every reply states that posterior, so that a pair differs
in the move alone. *Steps* are the reference's episodes as vectors (:mod:`terms.vectors`), boxed actions, rewards as
``terms/Negotiation-v0`` counts them, and in their unit the value before the move and its turn reward
(:mod:`oracle.move_credit`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from experiments.llm.records import Completion
from experiments.players.model_options import NegotiatorSettings
from experiments.players.negotiator import Messages, ModelAgent
from experiments.storage.files import parquet_bytes
from experiments.training.seat_view import SeatView
from oracle.interventions import BayesOptimal
from oracle.move_credit import credit_record
from oracle.posterior import stated_belief
from oracle.retrace import retrace
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.strict_json import strict_dumps
from terms.types import Accept, Action, Belief, Decision, Observation, Offer, Reject, Stance, Unusable

DataKind = Literal["sft", "dpo", "trajectories"]
LEAST_COST = 0.005
"""Share of R that a move must give up to be set beside the reference's; smaller costs are grid noise."""
_BOXED = {Offer: 0.0, Accept: 0.5, Reject: 1.0}


def reply_of_move(action: Offer | Accept | Reject, belief: Belief) -> str:
    """Return a move as the reply of a model, in the form that the system prompt asks for.

    Examples
    --------
    >>> reply_of_move(Offer(40.5), Belief(60.0, 0.5, (0.25, 0.5, 0.25)))[:69]
    '{"decision": "Offer", "price": 40.5, "message": "I can offer 40.50.",'
    """
    price = action.price if isinstance(action, Offer) else None
    match action:
        case Offer():
            decision, message = Decision.OFFER, f"I can offer {price:.2f}."
        case Accept():
            decision, message = Decision.ACCEPT, "I accept your price."
        case Reject():
            decision, message = Decision.REJECT, "I see no price that suits us both."
    probs = dict(zip(Stance, belief.stance_probs or (), strict=True))
    told = {"r_hat": belief.r_hat, "kappa_hat": belief.kappa_hat, "stance_probs": probs}
    return json.dumps({"decision": decision, "price": price, "message": message, "belief": told}, allow_nan=False)


class Scribe:
    """Writes the moves of anybody down as a model's talk, by letting :class:`ModelAgent` ask for them."""

    def __init__(self, scenario: Scenario) -> None:
        settings = NegotiatorSettings(corrections=0)
        self._talk = ModelAgent(self, "scribe", settings, scenario.config).for_episode(0)
        self._asked: Messages = []
        self._answer = ""

    def complete(self, messages: Sequence[Mapping[str, Any]], **_: Any) -> Completion:
        """Answer with what is written down; see :class:`experiments.llm.client.Completer`."""
        self._asked = [dict(message) for message in messages]
        return Completion(text=self._answer, finish_reason="stop")

    def stop(self) -> None:
        """Do nothing: nothing is under way."""

    def write(self, observation: Observation, reply: str) -> Messages:
        """Take ``reply`` as the answer to ``observation`` and return the messages that it answers."""
        self._answer = reply
        self._talk.act(observation)
        return self._asked


def sft_rows(scenario: Scenario, record: EpisodeRecord, bayes_optimal: BayesOptimal) -> Iterator[dict[str, Any]]:
    """Return the reference's talk as one chat; ``record`` is an episode of its own."""
    scribe, messages = Scribe(scenario), []
    for observation, _, action, exact in retrace(scenario, record, bayes_optimal):
        reply = reply_of_move(_usable(action), stated_belief(exact))
        messages = [*scribe.write(observation, reply), _said(reply)]
    yield {"scenario_id": scenario.scenario_id, "messages": messages, "share": _share(scenario, record)}


def dpo_rows(scenario: Scenario, record: EpisodeRecord, bayes_optimal: BayesOptimal) -> Iterator[dict[str, Any]]:
    """Return a pair for each move of ``record`` that gives up at least :data:`LEAST_COST`; no reply is no move."""
    scribe = Scribe(scenario)
    plan, valuer = bayes_optimal.plan(scenario), bayes_optimal.valuer(bayes_optimal.knowledge(scenario))
    for observation, turn, action, exact in retrace(scenario, record, bayes_optimal):
        if isinstance(action, Unusable):
            return
        best, belief = _usable(plan(exact, observation)), stated_belief(exact)
        own = reply_of_move(action, belief)
        prompt = scribe.write(observation, own)
        value, top = (float(each) for each in valuer(exact, observation, [action, best]))
        cost = (top - value) / scenario.price_range
        if cost >= LEAST_COST:
            yield {
                "scenario_id": scenario.scenario_id,
                "round": turn.round,
                "prompt": prompt,
                "chosen": [_said(reply_of_move(best, belief))],
                "rejected": [_said(own)],
                "cost": cost,
            }


def trajectory_rows(scenario: Scenario, record: EpisodeRecord, bayes_optimal: BayesOptimal) -> Iterator[dict[str, Any]]:
    """Return each step of the reference's episode ``record``: vector, boxed action, reward, and the exact credit."""
    seat, own, unit = SeatView(scenario), scenario.agent_type.reservation_price, _unit(scenario)
    moments = retrace(scenario, record, bayes_optimal)
    for (observation, turn, action, _), credit in zip(moments, credit_record(scenario, record), strict=True):
        move, is_last = _usable(action), turn is record.turns[-1]
        gain = scenario.sign * (own - move.price) / scenario.price_range if isinstance(move, Offer) else 0.0
        yield {
            "scenario_id": scenario.scenario_id,
            "round": turn.round,
            "observation": seat.vector(observation).tolist(),
            "action": [_BOXED[type(move)], gain],
            "reward": _share(scenario, record) if is_last else 0.0,
            "value": credit.value / unit,
            "turn_reward": credit.turn_reward / unit,
            "is_last": is_last,
        }
        seat.note(move)


ROWS = {"sft": sft_rows, "dpo": dpo_rows, "trajectories": trajectory_rows}
"""How each kind is made of an episode: the reference's own, for ``dpo`` that of another agent."""


def jsonl_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the rows, one JSON object a line."""
    return "".join(strict_dumps(row) + "\n" for row in rows).encode()


def rows_parquet(kind: DataKind, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the same rows as a Parquet file; the same rows give the same bytes."""
    import pyarrow as pa

    text, number, whole = pa.string(), pa.float64(), pa.int64()
    chat, numbers = pa.list_(pa.struct({"role": text, "content": text})), pa.list_(number)
    columns = {
        "sft": {"messages": chat, "share": number},
        "dpo": {"round": whole, "prompt": chat, "chosen": chat, "rejected": chat, "cost": number},
        "trajectories": {
            "round": whole, "observation": numbers, "action": numbers, "reward": number,
            "value": number, "turn_reward": number, "is_last": pa.bool_(),
        },
    }[kind]  # fmt: skip
    schema = pa.schema({"scenario_id": text, **columns})
    return parquet_bytes(pa.Table.from_pylist(list(rows), schema=schema))


def _said(reply: str) -> dict[str, str]:
    return {"role": "assistant", "content": reply}


def _share(scenario: Scenario, record: EpisodeRecord) -> float:
    """Return the utility as a share of the zopa, or of R where no deal is possible."""
    return record.utility / _unit(scenario)


def _unit(scenario: Scenario) -> float:
    """Return what rewards are counted in, in price units."""
    return scenario.zopa if scenario.zopa > 0 else scenario.price_range


def _usable(action: Action) -> Offer | Accept | Reject:
    if isinstance(action, Unusable):
        raise ValueError("the reference returned no action; a planner must always move")
    return action
