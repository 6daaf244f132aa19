r"""The exact posterior over (r_B, kappa_B, eta_B) on a grid, from what the agent itself has seen.

After each answer of the counterpart to the offer of round ``k``,

.. math::
    w(t) \leftarrow w(t)\, (1 - a_k(t)) (1 - \omega_k(t))\, f(b' \mid b, t)\, P(cue \mid t, b, b'),

with an atom at ``r = b`` that a quote equal to the counterpart's reservation creates (see :mod:`oracle.likelihood`).
Sums of logs, rescaled every round: a belief never underflows to zero.

This module is the readable form and the slow twin of :mod:`oracle.kernels`. Start with :func:`start`, feed every
observation to :func:`update`, read :func:`summary`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracle import likelihood
from oracle.prior import SCALE, Grid, Knowledge, Seat, TypeGroup, build_prior
from terms.aliases import Floats
from terms.cues import POSTURES, concession_share, posture_probs, sentiment_probs
from terms.kernel import STANCES, KernelParams, concession_rate, history_features, kernel_params, opening_scale
from terms.types import Belief, Cue, Observation, Sentiment

SENTIMENTS = tuple(Sentiment)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """A belief in the middle of an episode. Prices are canonical: a buyer's view, in percent of R.

    ``weights`` (rows + 1, groups, nodes) sum to one; the last row is the atom at ``r = standing``. Cells are ``low``,
    ``high`` (rows,), cut at the standing price. ``round`` is the round the agent is about to move in, 0 before the
    first observation.
    """

    knowledge: Knowledge
    seat: Seat
    low: Floats
    high: Floats
    urgency: Floats
    groups: tuple[TypeGroup, ...]
    weights: Floats
    round: int = 0
    standing: float | None = None
    offers: tuple[float, ...] = ()
    log_evidence: float = 0.0


def start(knowledge: Knowledge, seat: Seat, grid: Grid | None = None) -> Posterior:
    """Return the prior of an agent that sits in ``seat``.

    Raises
    ------
    ValueError
        If the own reservation is impossible under what the agent knows.
    """
    prior = build_prior(knowledge, seat.own, grid or Grid(), seat.role)
    atom = np.zeros((1, *prior.weights.shape[1:]))
    weights = np.concatenate([prior.weights, atom])
    return Posterior(knowledge, seat, prior.low, prior.high, prior.urgency, prior.groups, weights)


def seat_of(observation: Observation) -> Seat:
    """Return the chair the observation was made from."""
    return Seat(observation.role, observation.reservation_price, observation.price_min, observation.price_max)


def update(belief: Posterior, observation: Observation) -> Posterior:
    """Return the belief after the next observation of the same episode; one already counted changes nothing.

    Raises
    ------
    ValueError
        If rounds were skipped, or if what was seen is impossible under what the agent knows.
    """
    if observation.round == belief.round:
        return belief
    if observation.round != belief.round + 1:
        raise ValueError(f"observation is of round {observation.round}; the belief waits for round {belief.round + 1}")
    seat = belief.seat
    offer = None if observation.last_own_offer is None else seat.to_canonical(observation.last_own_offer)
    price = None if observation.standing_price is None else seat.to_canonical(observation.standing_price)
    return respond(belief, offer, price, observation.cue)


def respond(belief: Posterior, offer: float | None, price: float | None, cue: Cue | None) -> Posterior:
    """Return the belief after the answer ``(price, cue)`` to ``offer``; prices canonical.

    ``offer`` is ``None`` before the agent's first move, ``price`` while nothing stands, ``cue`` if it is hidden.
    """
    k, offers = belief.round, belief.offers if offer is None else (*belief.offers, offer)
    # A new atom is fed by a cell that has survived the offer, so survival comes first and the quote second.
    survived = belief if offer is None else replace(belief, weights=belief.weights * _survival(belief, offer, k))
    weights, log_likelihood = survived.weights, np.zeros(())
    if price is not None:
        weights, log_likelihood = _quote(survived, price, belief.offers)
        if cue is not None:
            log_likelihood = log_likelihood + _log_cue(belief, price, cue, k)
    return replace(
        belief,
        **_normalised(belief, weights, log_likelihood),
        round=k + 1,
        standing=price,
        offers=offers,
    )


def answer_probs(belief: Posterior, offer: float) -> tuple[Floats, Floats, Floats]:
    """Return P(accepted), P(walked away from) and P(neither) of a canonical ``offer`` made in the belief's round.

    Each has the shape of the weights, averaged over every cell.
    """
    unaccepted, survived = (_survival(belief, offer, belief.round, can_walk=can_walk) for can_walk in (False, True))
    return 1.0 - unaccepted, np.maximum(unaccepted - survived, 0.0), survived


def summary(belief: Posterior, level: float = 0.9) -> dict[str, Any]:
    """Return the belief in the episode's own units, as JSON types: what ``side_info["posterior"]`` holds."""
    seat = belief.seat
    points, masses = _reservation_law(belief)
    ends = [_quantile(points, masses, share) for share in ((1 - level) / 2, (1 + level) / 2)]
    interval = sorted(seat.from_canonical(end) for end in ends)
    urgency = belief.weights.sum(axis=(0, 1))
    nodes = [belief.urgency[np.searchsorted(np.cumsum(urgency), share)] for share in ((1 - level) / 2, (1 + level) / 2)]
    stance = stance_probs(belief)
    return {
        "r_mean": seat.from_canonical(mean_reservation(belief)),
        "r_interval": interval,
        "kappa_mean": float(urgency @ belief.urgency),
        "kappa_interval": [float(node) for node in nodes],
        "level": level,
        "stance_probs": dict(zip((name.value for name in STANCES), stance, strict=True)),
        "feasible_prob": feasible_prob(belief),
    }


def stated_belief(belief: Posterior) -> Belief:
    """Return the belief in the form an agent reports."""
    urgency = float(belief.weights.sum(axis=(0, 1)) @ belief.urgency)
    return Belief(belief.seat.from_canonical(mean_reservation(belief)), urgency, stance_probs(belief))


def mean_reservation(belief: Posterior) -> float:
    """Return the posterior mean of r, canonical."""
    return float(belief.weights.sum(axis=(1, 2)) @ _middles(belief))


def stance_probs(belief: Posterior) -> tuple[float, float, float]:
    """Return the posterior of the stance, (conciliatory, neutral, aggressive)."""
    by_group = belief.weights.sum(axis=(0, 2))
    probs = [sum(by_group[i] for i, group in enumerate(belief.groups) if group.stance is name) for name in STANCES]
    return float(probs[0]), float(probs[1]), float(probs[2])


def feasible_prob(belief: Posterior) -> float:
    """Return the probability that some price suits both sides."""
    own = belief.seat.own
    low, high = _edges(belief)
    width = np.maximum(high - low, 1e-300)
    share = np.where(high > low, np.clip((own - low) / width, 0, 1), low < own)
    return float(np.clip(belief.weights.sum(axis=(1, 2)) @ share, 0.0, 1.0))


def pit(belief: Posterior, r: float, uniform: float) -> float:
    """Return the randomised probability integral transform of the true ``r`` (episode units): uniform if calibrated.

    The atom at the standing price makes the distribution function jump there; ``uniform`` spreads the jump, without
    which late rounds look miscalibrated.
    """
    value = belief.seat.to_canonical(r)
    low, high = _edges(belief)
    masses = belief.weights.sum(axis=(1, 2))
    width = np.maximum(high - low, 1e-300)
    below = float(masses[:-1] @ np.clip((value - low[:-1]) / width[:-1], 0.0, 1.0))
    at_standing = belief.standing is not None and value >= belief.standing - 1e-9
    return below + (uniform * float(masses[-1]) if at_standing else 0.0)


def _edges(belief: Posterior) -> tuple[Floats, Floats]:
    """Return cell bounds with the atom as a last cell of width zero."""
    atom = SCALE if belief.standing is None else belief.standing
    high = np.maximum(belief.low, np.minimum(belief.high, atom))
    return np.append(belief.low, atom), np.append(high, atom)


def _middles(belief: Posterior) -> Floats:
    low, high = _edges(belief)
    return (low + high) / 2


def _reservation_law(belief: Posterior) -> tuple[Floats, Floats]:
    """Return cell middles in rising order with their masses."""
    points, masses = _middles(belief), belief.weights.sum(axis=(1, 2))
    order = np.argsort(points, kind="stable")
    return points[order], masses[order]


def _quantile(points: Floats, masses: Floats, share: float) -> float:
    index = np.searchsorted(np.cumsum(masses), share)
    return float(points[min(int(index), len(points) - 1)])


def _params(belief: Posterior) -> list[KernelParams]:
    config = belief.knowledge.config
    return [kernel_params(config, family, stance, SCALE) for family, stance in belief.groups]


def _survival(belief: Posterior, offer: float, k: int, *, can_walk: bool = True) -> Floats:
    params = _params(belief)
    rules = params[0]
    features = [history_features(belief.offers, 1, each) for each in params]
    clock = 1.0 - math.sqrt(k / rules.horizon)
    shift = np.array(
        [
            rules.beta * belief.urgency - rules.gamma * clock + each.rho * past.speed + each.xi * past.rigidity
            for each, past in zip(params, features, strict=True)
        ]
    )
    span = rules.horizon - rules.walk_round
    elapsed = min(1.0, max(0.0, (k - rules.walk_round) / span)) if span > 0 else 1.0
    intercept = rules.phi_0 + rules.phi_t * elapsed if can_walk and k >= rules.walk_round else -math.inf
    low, high = (edge[:, None, None] for edge in _edges(belief))
    return likelihood.survival_prob(offer, low, high, shift, rules.alpha, (intercept, rules.phi_delta))


def _quote(belief: Posterior, price: float, earlier: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the weights to multiply and the log likelihood of the quote.

    A new atom takes its weight from the cell that holds the price: the cell's mass over its width is the density of r.
    """
    if belief.standing is None:
        return _opening(belief, price)
    params = _params(belief)
    rate = np.array(
        [[concession_rate(u, history_features(earlier, 1, each), each) for u in belief.urgency] for each in params]
    )
    sd = np.array([[each.noise_sd] for each in params])
    low, high = belief.low[:, None, None], belief.high[:, None, None]
    if price >= belief.standing:
        held = likelihood.log_held(belief.standing, low, high, rate, sd)
        return belief.weights, np.concatenate([held, np.zeros((1, *rate.shape))])
    moved = likelihood.log_move(price, belief.standing, low, high, rate, sd)
    reached = likelihood.log_reached(price, belief.standing, rate, sd)
    return _with_new_atom(belief, price), np.concatenate([moved, reached[None]])


def _opening(belief: Posterior, price: float) -> tuple[Floats, Floats]:
    params = _params(belief)
    scale = np.array([[opening_scale(u, each) for u in belief.urgency] for each in params])
    law = belief.knowledge.config.opening.harshness
    harshness, sd = (law.low, law.high), params[0].opening_sd
    low, high = belief.low[:, None, None], belief.high[:, None, None]
    if price >= SCALE:
        ceiling = likelihood.log_opening_ceiling(low, high, scale, harshness, sd)
        return belief.weights, np.concatenate([ceiling, np.full((1, *scale.shape), -np.inf)])
    opened = likelihood.log_opening(price, low, high, scale, harshness, sd)
    floor = likelihood.log_opening_floor(price, scale, harshness, sd)
    return _with_new_atom(belief, price), np.concatenate([opened, floor[None]])


def _with_new_atom(belief: Posterior, price: float) -> Floats:
    weights = belief.weights.copy()
    weights[-1] = 0.0
    inside = np.flatnonzero((belief.low < price) & (price <= belief.high))
    if len(inside):
        row = int(inside[0])
        top = belief.high[row] if belief.standing is None else min(belief.high[row], belief.standing)
        weights[-1] = belief.weights[row] / (top - belief.low[row])
    return weights


def _log_cue(belief: Posterior, price: float, cue: Cue, k: int) -> Floats:
    """Return ``log P(cue)`` per row and group. The posture depends on r through the share of the distance conceded."""
    config = belief.knowledge.config
    elapsed = math.sqrt(k / config.horizon)
    posture, sentiment = POSTURES.index(cue.posture), SENTIMENTS.index(cue.sentiment)
    rows = np.append((belief.low + np.minimum(belief.high, price)) / 2, price)
    probs = np.empty((len(rows), len(belief.groups), 1))
    for g, (family, stance) in enumerate(belief.groups):
        channel, index = config.families[family].channel, STANCES.index(stance)
        tone = sentiment_probs(index, channel, config.cues)[sentiment]
        for i, r in enumerate(rows):
            share = concession_share(price, belief.standing, float(r))
            probs[i, g] = tone * posture_probs(share, elapsed, index, channel, config.cues)[posture]
    with np.errstate(divide="ignore"):
        return np.log(probs)


def _normalised(belief: Posterior, weights: Floats, log_likelihood: Floats) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights) + log_likelihood
    top = float(log_weights.max())
    if not math.isfinite(top):
        raise ValueError(
            f"what was seen in round {belief.round + 1} is impossible under the agent's prior; "
            "check the regimes, families and geometry it was given"
        )
    scaled = np.exp(log_weights - top)
    total = float(scaled.sum())
    return {"weights": scaled / total, "log_evidence": belief.log_evidence + top + math.log(total)}
