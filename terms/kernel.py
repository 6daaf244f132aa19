r"""The counterpart kernel as pure scalar formulas: acceptance, walk-away, counter-offer, opening and cues.

Notation (TERMS-Bench, eqs. 5-9): ``p`` the agent's offer, ``b`` the counterpart's previous price, ``r`` its
reservation, ``kappa`` its urgency, ``s = +1`` if the agent buys and -1 if it sells, ``R = p_max - p_min``, round ``k``
of ``K``,

.. math::
    D = s (p - r) / R, \qquad c = 1 - \sqrt{k / K}, \\
    P(accept) = 1\{D \ge 0\}\, \sigma(\alpha D + \beta\kappa - \gamma c + \rho\,Speed + \xi\,Rigidity), \\
    P(walk \mid no\ accept) = 1\{k \ge k_{walk}\} 1\{D < 0\}\, \sigma(\phi_0 + \phi_\Delta [-D]_+ + \phi_T \tau), \\
    \lambda = clip(\lambda_0 + \lambda_1 \kappa - \lambda_2 Magnitude - \lambda_3 1_{agg} + \lambda_4 1_{con}, 0, 1), \\
    b' = clip(b - \lambda (b - r) + \varepsilon)\ \text{onto the interval between}\ r\ \text{and}\ b.

Nothing here draws: every function takes its random number ready-made. All arguments are floats, integers or the
:class:`KernelParams` tuple, so the oracle compiles these very functions instead of keeping a second copy of the rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from terms.config import GameConfig
from terms.types import Family, Stance

STANCES = tuple(Stance)


class KernelParams(NamedTuple):
    """Constants of one (family, stance) at one price range, flattened for the formulas."""

    price_range: float
    horizon: int
    walk_round: int
    alpha: float
    beta: float
    gamma: float
    rho: float
    xi: float
    phi_0: float
    phi_delta: float
    phi_t: float
    lambda_0: float
    lambda_1: float
    lambda_2: float
    lambda_shift: float
    rigidity_threshold: float
    window: int
    noise_sd: float
    opening_urgency: float
    opening_shift: float
    phi_low: float
    phi_high: float
    opening_sd: float


def kernel_params(config: GameConfig, family: Family, stance: Stance, price_range: float) -> KernelParams:
    """Flatten ``config`` for one family and stance; ``price_range`` is the episode's own R."""
    index = STANCES.index(stance)
    preset = config.families[family]
    tilt = (1.0, 0.0, -1.0)[index]  # +1 conciliatory, -1 aggressive
    concession, opening = config.concession, config.opening
    return KernelParams(
        price_range=price_range,
        horizon=config.horizon,
        walk_round=math.ceil(config.horizon * config.walk.grace),
        alpha=config.acceptance.alpha,
        beta=config.acceptance.beta,
        gamma=config.acceptance.gamma,
        rho=preset.rho[index],
        xi=preset.xi[index],
        phi_0=config.walk.phi_0,
        phi_delta=config.walk.phi_delta,
        phi_t=config.walk.phi_t,
        lambda_0=concession.lambda_0,
        lambda_1=concession.lambda_1,
        lambda_2=preset.lambda2[index],
        lambda_shift=(concession.lambda_4, 0.0, -concession.lambda_3)[index],
        rigidity_threshold=concession.rigidity_threshold,
        window=concession.window,
        noise_sd=preset.noise_share * price_range,
        opening_urgency=opening.urgency_weight,
        opening_shift=-opening.stance_weight * tilt,
        phi_low=opening.phi_bounds.low,
        phi_high=opening.phi_bounds.high,
        opening_sd=opening.noise_share * price_range,
    )


class Features(NamedTuple):
    """History features of the agent's earlier offers."""

    speed: float
    magnitude: float
    rigidity: float


NO_HISTORY = Features(0.0, 0.0, 0.0)


def sigmoid(x: float) -> float:
    """Logistic function that does not overflow for any finite ``x``."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    z = math.exp(x)
    return z / (1.0 + z)


def history_features(earlier_offers: Sequence[float], sign: int, params: KernelParams) -> Features:
    """Return ConcedeSpeed, ConcedeMagnitude and Rigidity of the offers made *before* the current one.

    Including the current offer does not reproduce the published prices. With fewer than two earlier offers all three
    are 0, so a first offer is neither rigid nor fast.
    """
    tail = earlier_offers[-params.window - 1 :]
    if len(tail) < 2:
        return NO_HISTORY
    speed = magnitude = gain = 0.0
    # A plain loop: `sum` rounds differently from Python 3.12 on, and the oracle compiles this very function.
    for index in range(1, len(tail)):
        step = sign * (tail[index] - tail[index - 1]) / params.price_range
        gain = max(0.0, step)
        speed += step
        magnitude += gain
    steps = len(tail) - 1
    rigidity = 1.0 if gain < params.rigidity_threshold else 0.0
    return Features(speed / steps, magnitude / steps, rigidity)


def favourability(price: float, reservation: float, sign: int, price_range: float) -> float:
    """Return ``D``, the counterpart's gain from ``price`` as a share of R."""
    return sign * (price - reservation) / price_range


def accept_prob(gain: float, urgency: float, k: int, features: Features, params: KernelParams) -> float:
    """Return the acceptance probability at favourability ``gain`` (eqs. 5-6)."""
    if gain < 0:
        return 0.0
    clock = 1.0 - math.sqrt(k / params.horizon)
    return sigmoid(
        params.alpha * gain
        + params.beta * urgency
        - params.gamma * clock
        + params.rho * features.speed
        + params.xi * features.rigidity
    )


def walk_prob(gain: float, k: int, params: KernelParams) -> float:
    """Return the walk-away probability given that the offer was not accepted (eq. 7)."""
    if k < params.walk_round or gain >= 0:
        return 0.0
    span = params.horizon - params.walk_round
    # With no rounds left after the grace period the clock has run out.
    clock = min(1.0, max(0.0, (k - params.walk_round) / span)) if span > 0 else 1.0
    return sigmoid(params.phi_0 + params.phi_delta * -gain + params.phi_t * clock)


def concession_rate(urgency: float, features: Features, params: KernelParams) -> float:
    """Return ``lambda`` (eq. 8), clipped to [0, 1]."""
    raw = params.lambda_0 + params.lambda_1 * urgency - params.lambda_2 * features.magnitude + params.lambda_shift
    return min(1.0, max(0.0, raw))


def counter_offer(previous: float, reservation: float, rate: float, noise: float, sign: int) -> float:
    """Return the next counterpart price (eq. 9); ``noise`` is in price units.

    The projection keeps quotes monotone and never past the counterpart's own reservation.
    """
    candidate = previous - rate * (previous - reservation) + noise
    if sign > 0:
        return min(previous, max(reservation, candidate))
    return max(previous, min(reservation, candidate))


def opening_scale(urgency: float, params: KernelParams) -> float:
    """Return ``phi``, the clipped factor on the opening harshness."""
    raw = 1.0 - params.opening_urgency * urgency + params.opening_shift
    return min(params.phi_high, max(params.phi_low, raw))


def opening_price(reservation: float, bound: float, harshness: float, scale: float, noise: float, sign: int) -> float:
    """Return the first counterpart price; ``bound`` is ``p_max`` if the counterpart sells, ``p_min`` if it buys."""
    candidate = reservation + harshness * scale * (bound - reservation) + noise
    if sign > 0:
        return min(bound, max(reservation, candidate))
    return max(bound, min(reservation, candidate))
