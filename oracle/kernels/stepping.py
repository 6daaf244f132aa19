"""Many episodes in step, compiled: one move of the agent in each, the counterpart's answer, and what is seen then.

The rules and the order of the draws are those of :mod:`terms.game`; an episode's random numbers lie ready in its row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.compiling import from_game, inline, kernel
from oracle.kernels.formulas import (
    accept_prob,
    concession_rate,
    counter_offer,
    favourability,
    history_features,
    opening_price,
    opening_scale,
    utility,
    walk_prob,
)
from oracle.kernels.policies import SimulatedEpisodes, unpack
from terms import vectors
from terms.aliases import Floats, Ints, Singles
from terms.kernel import Features, KernelParams

OFFERS, ACCEPTS, REJECTS = range(3)
AGENT_ACCEPTS, COUNTERPART_ACCEPTS, AGENT_REJECTS, COUNTERPART_WALKS, ROUNDS_OUT, INVALID = range(6)
RUNNING = -1

_write_vector = from_game(vectors.write_vector)


class CueRules(NamedTuple):
    """Columns of the table of cue laws, one row a group (see :mod:`terms.cues`)."""

    is_drawn: float
    fixed_sentiment: float
    fixed_posture: float
    mean: float
    sd: float
    threshold: float
    bias_concede: float
    bias_hold: float
    bias_pressure: float
    concede_slope: float
    concede_reference: float
    pressure_slope: float
    pressure_reference: float
    temperature: float


class Talks(NamedTuple):
    """Where each of n episodes stands; arrays of shape (n,) unless said otherwise."""

    round: Ints
    termination: Ints  # RUNNING, or how it ended
    num_offers: Ints
    offers: Floats  # (n, K)
    quotes: Floats  # (n, 3): first, previous, standing; nan for none
    cues: Ints  # (n, 2), -1 for none
    past: Floats  # (n, 3): history features of the offers made so far
    gain: Floats  # utility in money, 0 until there is a deal


@inline
def _cue(rules: Floats, share: float, elapsed: float, uniform: float, normal: float) -> tuple[int, int]:
    """Return (sentiment, posture) of an offer; ``rules`` is a row of :class:`CueRules`."""
    if rules[0] == 0.0:
        return int(rules[1]), int(rules[2])
    score = rules[3] + rules[4] * normal
    sentiment = 0 if score > rules[5] else (2 if score < -rules[5] else 1)
    concede = (rules[6] + rules[9] * (share - rules[10])) / rules[13]
    hold = rules[7] / rules[13]
    pressure = (rules[8] + rules[11] * (elapsed - rules[12]) - share) / rules[13]
    top = max(concede, hold, pressure)
    concede, hold, pressure = math.exp(concede - top), math.exp(hold - top), math.exp(pressure - top)
    total = concede + hold + pressure
    first = concede / total
    return sentiment, (0 if uniform < first else (1 if uniform < first + hold / total else 2))


@inline
def _first_price(sign: int, reservation: float, bound: float, harshness: float, urgency: float, noise: float, params: KernelParams) -> float:  # fmt: skip  # noqa: PLR0913, E501
    return opening_price(reservation, bound, harshness, opening_scale(urgency, params), noise * params.opening_sd, sign)


# Helpers take numbers, not the tuples of arrays: each array handed to a compiled helper is counted and released again,
# which cost more than the game itself.


@kernel
def begin_talks(places: Ints, talks: Talks, game: SimulatedEpisodes, cue_draws: Floats, params: Floats, rules: Floats, shows_cues: bool, seen: Singles) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Begin the episodes at ``places`` and write what is seen in round 1."""
    for i in places:
        group, sign = game.group[i], game.sign[i]
        constants = unpack(params[group])
        talks.round[i], talks.termination[i], talks.num_offers[i], talks.gain[i] = 1, RUNNING, 0, 0.0
        standing, sentiment, posture = np.nan, -1, -1
        if game.agent_opens[i] == 0:
            bound = game.price_max[i] if sign > 0 else game.price_min[i]
            standing = _first_price(
                sign, game.reservation[i], bound, game.harshness[i], game.urgency[i], game.opening_noise[i], constants
            )
            if shows_cues:
                sentiment, posture = _cue(rules[group], 0.0, 0.0, cue_draws[i, 0, 0], cue_draws[i, 0, 1])
        talks.cues[i, 0], talks.cues[i, 1] = sentiment, posture
        for j in range(3):
            talks.quotes[i, j], talks.past[i, j] = standing, 0.0
        seat = (sign, game.agent_opens[i], game.own[i], game.price_min[i], game.price_max[i])
        quotes = (standing, standing, standing)
        _write_vector(seen[i], seat, 1, quotes, np.nan, (0.0, 0.0, 0.0), (sentiment, posture), constants)


@kernel
def step_talks(decision: Ints, price: Floats, talks: Talks, game: SimulatedEpisodes, cue_draws: Floats, params: Floats, rules: Floats, is_final_answered: bool, shows_cues: bool, seen: Singles) -> None:  # fmt: skip  # noqa: C901, PLR0913, PLR0915, E501
    """Make one move in every running episode and write what is seen then; those that have ended stay as they are.

    ``decision`` is OFFERS, ACCEPTS or REJECTS; ``price`` is read for offers alone. Moves the rules do not allow end an
    episode as they do in the readable game.
    """
    for i in range(len(decision)):
        if talks.termination[i] != RUNNING:
            continue
        group, sign, k, count = game.group[i], game.sign[i], talks.round[i], talks.num_offers[i]
        own, reservation, urgency = game.own[i], game.reservation[i], game.urgency[i]
        constants = unpack(params[group])
        first, previous, standing = talks.quotes[i, 0], talks.quotes[i, 1], talks.quotes[i, 2]
        sentiment, posture = talks.cues[i, 0], talks.cues[i, 1]
        past = Features(talks.past[i, 0], talks.past[i, 1], talks.past[i, 2])
        after, offer = past, talks.offers[i, count - 1] if count > 0 else np.nan
        end, gain = RUNNING, 0.0
        if decision[i] == REJECTS:
            end = AGENT_REJECTS
        elif decision[i] == ACCEPTS:
            end = INVALID if math.isnan(standing) else AGENT_ACCEPTS
            gain = 0.0 if math.isnan(standing) else utility(standing, own, sign)
        elif not game.price_min[i] <= price[i] <= game.price_max[i]:
            end = INVALID
        else:
            offer = price[i]
            talks.offers[i, count] = offer
            talks.num_offers[i] = count + 1
            after = history_features(talks.offers[i, : count + 1], sign, constants)  # type: ignore[arg-type]
            favour = favourability(offer, reservation, sign, constants.price_range)
            if k == constants.horizon and not is_final_answered:
                end = ROUNDS_OUT
            elif game.draws[i, k - 1, 0] < accept_prob(favour, urgency, k, past, constants):
                end, gain = COUNTERPART_ACCEPTS, utility(offer, own, sign)
            elif game.draws[i, k - 1, 1] < walk_prob(favour, k, constants):
                end = COUNTERPART_WALKS
            elif k == constants.horizon:
                end = ROUNDS_OUT
            else:
                share = 0.0
                if math.isnan(standing):
                    bound = game.price_max[i] if sign > 0 else game.price_min[i]
                    harshness, noise = game.harshness[i], game.opening_noise[i]
                    standing = _first_price(sign, reservation, bound, harshness, urgency, noise, constants)
                    first, previous = standing, standing
                else:
                    previous = standing
                    noise = game.draws[i, k - 1, 2] * constants.noise_sd
                    rate = concession_rate(urgency, past, constants)
                    standing = counter_offer(previous, reservation, rate, noise, sign)
                    share = min(1.0, abs(standing - previous) / (abs(previous - reservation) + 1e-6))
                if shows_cues:
                    elapsed = math.sqrt(k / constants.horizon)
                    uniform, normal = cue_draws[i, k, 0], cue_draws[i, k, 1]
                    sentiment, posture = _cue(rules[group], share, elapsed, uniform, normal)
                k += 1
        talks.termination[i], talks.gain[i], talks.round[i] = end, gain, k
        talks.quotes[i, 0], talks.quotes[i, 1], talks.quotes[i, 2] = first, previous, standing
        talks.cues[i, 0], talks.cues[i, 1] = sentiment, posture
        talks.past[i, 0], talks.past[i, 1], talks.past[i, 2] = after.speed, after.magnitude, after.rigidity
        seat = (sign, game.agent_opens[i], own, game.price_min[i], game.price_max[i])
        features = (after.speed, after.magnitude, after.rigidity)
        quotes = (first, previous, standing)
        _write_vector(seen[i], seat, k, quotes, offer, features, (sentiment, posture), constants)
