"""Scripted policies against the counterpart, compiled: the game loop of :mod:`terms.game` without its records.

Every random number arrives ready-made, so an episode is the same here and in the readable game, draw for draw.
Policies are numbered; ``settings`` holds their numbers (see :mod:`oracle.simulate`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracle.kernels.compiling import inline, kernel
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
from terms.aliases import Floats, Ints
from terms.kernel import KernelParams

FIXED, TIME_DEPENDENT, PATIENT, SCHEDULE = range(4)
AGENT_ACCEPT, COUNTERPART_ACCEPT, COUNTERPART_WALK, OUT_OF_ROUNDS = range(4)


class SimulatedEpisodes(NamedTuple):
    """Arrays of shape (n,) unless said otherwise: who plays, what is hidden, and the draws."""

    group: Ints  # row of ``params``
    sign: Ints  # +1 where the agent buys
    agent_opens: Ints  # 1 where the agent moves first
    own: Floats  # r_A
    reservation: Floats  # r_B
    urgency: Floats  # kappa_B
    price_min: Floats
    price_max: Floats
    harshness: Floats
    opening_noise: Floats
    draws: Floats  # (n, K, 3): accept uniform, walk uniform, price normal


class SimulatedOutcomes(NamedTuple):
    """Arrays of shape (n,) unless said otherwise; written by the kernel."""

    termination: Ints
    price: Floats  # nan without a deal
    utility: Floats
    rounds: Ints
    offers: Floats  # (n, K), nan where none was made
    standing: Floats  # (n, K), the counterpart's price when the agent moved, nan where none stood


@inline
def unpack(row: Floats) -> KernelParams:
    """Return the constants laid out in ``row``."""
    return KernelParams(
        row[0], int(row[1]), int(row[2]), row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], row[11],
        row[12], row[13], row[14], row[15], int(row[16]), row[17], row[18], row[19], row[20], row[21], row[22],
    )  # fmt: skip


@inline
def _at_gap(own: float, sign: int, gap: float, low: float, high: float) -> float:
    return min(high, max(low, own - sign * gap))


@inline
def _propose(policy: int, settings: Floats, clock: tuple[int, int], past: Floats, frame: Floats, sign: int) -> float:
    """Return the policy's offer; ``clock`` is (round, horizon), ``frame`` is (own reservation, p_min, p_max)."""
    k, horizon = clock
    own, low, high = float(frame[0]), float(frame[1]), float(frame[2])
    bound = low if sign > 0 else high
    if policy == FIXED:
        last = float(past[-1]) if len(past) else bound
        return last + float(settings[0]) * (own - last)
    if policy == TIME_DEPENDENT:
        elapsed: float = (k / horizon) ** float(settings[0])
        return bound + (own - bound) * elapsed
    if policy == PATIENT:
        if len(past) == 0:
            return _at_gap(own, sign, settings[0] * (high - low), low, high)
        last = float(past[-1])
        return last + float(settings[1]) * (own - last)
    return _at_gap(own, sign, settings[k] * (high - low), low, high)


@inline
def _takes(policy: int, slack: float, gain: float, ask: float, is_last: bool) -> bool:
    """Whether the policy accepts a standing price worth ``gain`` when its next offer would earn ``ask``."""
    if gain < 0:
        return False
    if policy == FIXED or is_last:
        return True
    return gain >= (ask - slack if policy == SCHEDULE else ask)


@inline
def _first_price(game: SimulatedEpisodes, i: int, params: KernelParams) -> float:
    sign = game.sign[i]
    return opening_price(
        game.reservation[i],
        game.price_max[i] if sign > 0 else game.price_min[i],
        game.harshness[i],
        opening_scale(game.urgency[i], params),
        game.opening_noise[i] * params.opening_sd,
        sign,
    )


@kernel
def simulate_episodes(
    game: SimulatedEpisodes,
    params: Floats,
    policy: int,
    settings: Floats,
    is_final_answered: bool,
    out: SimulatedOutcomes,
) -> None:
    """Play every episode with one policy and write what came of it."""
    frame = np.empty(3)
    for i in range(len(game.sign)):
        constants = unpack(params[game.group[i]])
        sign, own, reservation = game.sign[i], game.own[i], game.reservation[i]
        frame[0], frame[1], frame[2] = own, game.price_min[i], game.price_max[i]
        standing = np.nan if game.agent_opens[i] else _first_price(game, i, constants)
        out.price[i], out.termination[i], out.rounds[i] = np.nan, OUT_OF_ROUNDS, constants.horizon
        for k in range(1, constants.horizon + 1):
            past = out.offers[i, : k - 1]
            out.standing[i, k - 1] = standing
            offer = _propose(policy, settings, (k, constants.horizon), past, frame, sign)
            is_open = np.isnan(standing)
            if not is_open and _takes(
                policy,
                settings[0] * (frame[2] - frame[1]),
                utility(standing, own, sign),
                utility(offer, own, sign),
                k == constants.horizon,
            ):
                out.price[i], out.termination[i], out.rounds[i] = standing, AGENT_ACCEPT, k
                break
            features = history_features(past, sign, constants)  # type: ignore[arg-type]  # an array is read like a sequence
            out.offers[i, k - 1] = offer
            if k == constants.horizon and not is_final_answered:
                break
            gain = favourability(offer, reservation, sign, constants.price_range)
            if game.draws[i, k - 1, 0] < accept_prob(gain, game.urgency[i], k, features, constants):
                out.price[i], out.termination[i], out.rounds[i] = offer, COUNTERPART_ACCEPT, k
                break
            if game.draws[i, k - 1, 1] < walk_prob(gain, k, constants):
                out.termination[i], out.rounds[i] = COUNTERPART_WALK, k
                break
            if is_open:
                standing = _first_price(game, i, constants)
            else:
                rate = concession_rate(game.urgency[i], features, constants)
                noise = game.draws[i, k - 1, 2] * constants.noise_sd
                standing = counter_offer(standing, reservation, rate, noise, sign)
        out.utility[i] = 0.0 if np.isnan(out.price[i]) else utility(out.price[i], own, sign)
