"""The planner on ticks in the true game, compiled: the game loop of :mod:`terms.game` around the exact belief.

Prices are canonical. The counterpart answers with the game's own formulas; every random number arrives ready-made.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import TOP, conceded, update_belief
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.formulas import (
    accept_prob,
    concession_rate,
    counter_offer,
    favourability,
    history_features,
    walk_prob,
)
from oracle.kernels.paths import cue_with_answer, fresh_weights, state_at
from oracle.kernels.planning import CompiledPlanner, State, action_value, look_ahead
from oracle.kernels.policies import unpack
from oracle.model import Priors
from terms.aliases import Floats, Ints


class Hidden(NamedTuple):
    """Arrays (n,) of what the agent does not see, canonical, and the draws of the answers."""

    group: Ints
    reservation: Floats
    urgency: Floats
    opening: Floats  # the counterpart's first price
    draws: Floats  # (n, K, 3): accept uniform, walk uniform, price normal
    cues: Floats  # (n, K + 1, 2): sentiment and posture uniforms, the opening's first


@inline
def best_tick(state: State, planner: CompiledPlanner, tick: float, num_ticks: int) -> tuple[float, float]:
    """Return the best offer ``own - i * tick`` that neither falls back nor passes the standing price, and its value.

    The first tick at or above the standing price is still tried; ``(nan, 0)`` if none is left or none is answered.
    """
    best, value = np.nan, 0.0
    if state.round > planner.model.rules.last_answered:
        return best, value
    outlook, count = look_ahead(state, planner), state.offers.shape[0]
    last = state.offers[count - 1] if count > 0 else 0.0
    for i in range(num_ticks - 1, -1, -1):
        price = state.own - i * tick
        if price < last or (state.opened and price >= state.standing + tick and price > last):
            continue
        q = action_value(price, False, state, outlook, planner)
        if q > value + 1e-12:
            best, value = price, q
    return best, value


@kernel
def play_ticks(span: tuple[int, int], priors: Priors, hidden: Hidden, agent_opens: bool, params: Floats, planner: CompiledPlanner, tick: float, num_ticks: Ints, utility: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Write what the planner earns in each episode of ``span``; ``params`` (stances, constants)."""
    model = planner.model
    horizon = model.rules.horizon
    offers, quotes = np.empty(horizon), np.full(horizon + 1, np.nan)
    for e in range(span[0], span[1]):
        weights, group = fresh_weights(priors, e), hidden.group[e]
        constants = unpack(params[group])
        r, kappa = hidden.reservation[e], hidden.urgency[e]
        utility[e] = 0.0
        quotes[:] = np.nan
        if not agent_opens:
            quotes[0] = hidden.opening[e]
            cue = _cue(0, group, 0.0, hidden.cues[e, 0], planner)
            update_belief(weights, priors.low[e], priors.high[e], offers[:0], 0, (quotes[0], TOP, False), cue, model)
        for k in range(1, horizon + 1):
            state = state_at(weights, e, k, priors, quotes[k - 1], offers)
            price, value = best_tick(state, planner, tick, num_ticks[e])
            if state.opened and state.own - state.standing >= max(value, 0.0):
                utility[e] = state.own - state.standing
                break
            if math.isnan(price):
                break
            past = history_features(offers[: k - 1], 1, constants)  # type: ignore[arg-type]
            offers[k - 1] = price
            gain = favourability(price, r, 1, TOP)
            if hidden.draws[e, k - 1, 0] < accept_prob(gain, kappa, k, past, constants):
                utility[e] = state.own - price
                break
            if hidden.draws[e, k - 1, 1] < walk_prob(gain, k, constants) or k == horizon:
                break
            answer = hidden.opening[e]
            if state.opened:
                noise = hidden.draws[e, k - 1, 2] * constants.noise_sd
                answer = counter_offer(state.standing, r, concession_rate(kappa, past, constants), noise, 1)
            quotes[k] = answer
            cue = _cue(k, group, conceded(answer, state.standing, state.opened, r), hidden.cues[e, k], planner)
            update_belief(
                weights, state.low, state.high, offers[:k], k, (answer, state.standing, state.opened), cue, model
            )


@inline
def _cue(k: int, group: int, share: float, draws: Floats, planner: CompiledPlanner) -> tuple[int, int]:
    """Return the cue shown, or a hidden one where cues tell nothing."""
    if planner.model.columns.num_cues == 1:
        return -1, -1
    return cue_with_answer(k, group, share, draws, planner.model)
