"""A recorded negotiation walked through again, with the exact posterior beside every observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from oracle.interventions import BayesOptimal
from oracle.posterior import Posterior
from terms.episode import recorded_moves
from terms.game import Game
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Action, Observation, Turn


class Moment(NamedTuple):
    """One move of a record: what the agent saw, what it did, and what could be believed there."""

    observation: Observation
    turn: Turn
    action: Action
    belief: Posterior


def retrace(scenario: Scenario, record: EpisodeRecord, bayes_optimal: BayesOptimal) -> Iterator[Moment]:
    """Yield the moments of ``record`` in order.

    Raises
    ------
    ValueError
        If the record is not of this scenario, or its moves do not lead to what it says.
    """
    if record.scenario_id != scenario.scenario_id:
        raise ValueError(f"record is of {record.scenario_id!r}, not of {scenario.scenario_id!r}")
    game, tracker = Game(scenario), bayes_optimal.tracker(scenario)
    for turn, action in zip(record.turns, recorded_moves(record), strict=True):
        observation = game.observe()
        if observation.round != turn.round or observation.standing_price != turn.counterpart_price:
            raise ValueError(
                f"round {turn.round} of the record does not follow from its moves; is the config the same?"
            )
        yield Moment(observation, turn, action, tracker.see(observation))
        game.step(action)
    if game.termination is not record.termination:
        raise ValueError(f"the moves end with {game.termination}, the record says {record.termination}")
