"""The reference's value of many running episodes at once, compiled: exact beliefs followed in place, nets read.

Prices come in the episodes' own units and are turned into the canonical ones here, a buyer's view in percent of R.
"""

from __future__ import annotations

import math

import numpy as np

from oracle.kernels.belief import TOP, update_belief
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.planning import CompiledPlanner, State, state_value
from oracle.kernels.policies import SimulatedEpisodes
from oracle.kernels.stepping import RUNNING, Talks
from oracle.model import Priors
from terms.aliases import Floats, Ints


@inline
def _canonical(price: float, sign: int, low: float, high: float) -> float:
    return TOP * ((price - low) if sign > 0 else (high - price)) / (high - low)


@kernel
def follow_beliefs(places: Ints, clocks: Ints, talks: Talks, game: SimulatedEpisodes, shows_cues: bool, weights: Floats, priors: Priors, planner: CompiledPlanner, values: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Take in the answer of the running episodes at ``places`` and write the reference's value there, in percent of R.

    ``clocks`` are the rounds whose offer was answered, 0 at an opening. Ended episodes are worth 0, and so are those
    in which no price stands yet.
    """
    model = planner.model
    for place in range(len(places)):
        i = places[place]
        values[i] = 0.0
        if talks.termination[i] != RUNNING or math.isnan(talks.quotes[i, 2]):
            continue
        sign, low, high = game.sign[i], game.price_min[i], game.price_max[i]
        count, k = talks.num_offers[i], clocks[place]
        offers = np.empty(count)
        for j in range(count):
            offers[j] = _canonical(talks.offers[i, j], sign, low, high)
        price = _canonical(talks.quotes[i, 2], sign, low, high)
        opened = k > 1 or (k == 1 and game.agent_opens[i] == 0)
        before = _canonical(talks.quotes[i, 1], sign, low, high) if opened else TOP
        cue = (talks.cues[i, 0], talks.cues[i, 1]) if shows_cues else (-1, -1)
        update_belief(
            weights[i], priors.low[i], priors.high[i], offers, k, (min(price, before), before, opened), cue, model
        )
        state = State(
            weights[i], priors.low[i], priors.high[i], priors.own[i], offers, talks.round[i], min(price, before), True
        )
        values[i] = state_value(state, planner)
