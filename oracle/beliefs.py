"""Beliefs other than the exact posterior: what an agent states, and certainty about a revealed type.

A stated belief names means only. :func:`tilt` turns it into a full belief, the one closest to the exact posterior (in
relative entropy) whose means are those stated: an agent that states the exact means is taken to hold the exact
posterior, and one that errs keeps the posterior's spread around its own centre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oracle import posterior
from oracle.posterior import Posterior
from oracle.prior import Grid, Knowledge
from terms.aliases import Floats
from terms.kernel import STANCES
from terms.types import Belief, Observation, PrivateType

_MAX_TILT = 60.0  # over the range of a quantity: e^60 is certainty for every purpose
_POINT = 1e-6  # half width of a certain reservation, percent of R: the planner must not aim below it
_MAX_STEPS = 100


@dataclass(slots=True)
class Tracker:
    """The exact posterior of one episode, brought up to date by every observation shown to it."""

    knowledge: Knowledge
    grid: Grid
    belief: Posterior | None = None

    def see(self, observation: Observation) -> Posterior:
        """Return the posterior at ``observation``; observations come in order, a repeated one changes nothing."""
        if self.belief is None:
            self.belief = posterior.start(self.knowledge, posterior.seat_of(observation), self.grid)
        self.belief = posterior.update(self.belief, observation)
        return self.belief


def tilt(belief: Posterior, stated: Belief | None) -> Posterior:
    """Return the belief closest to ``belief`` that has the stated means and stance probabilities.

    Parts not stated stay free. A mean outside what ``belief`` holds possible comes as near as it can.
    """
    if stated is None:
        return belief
    held = belief.weights > 0
    features, goals = _constraints(belief, stated, held)
    if not len(goals):
        return belief
    weights = np.zeros_like(belief.weights)
    weights[held] = _exponential_tilt(belief.weights[held], features, goals)
    return replace(belief, weights=weights)


def certain(belief: Posterior, hidden: PrivateType) -> Posterior:
    """Return the belief of an agent that has been told the type: one cell, one urgency, the stance's groups."""
    r = belief.seat.to_canonical(hidden.reservation_price)
    mass = belief.weights.sum(axis=(0, 2))
    kept = [i for i, group in enumerate(belief.groups) if group.stance is hidden.stance]
    share = mass[kept] if mass[kept].sum() > 0 else np.ones(len(kept))
    weights = np.zeros((2, len(kept), 1))
    weights[0, :, 0] = share / share.sum()
    return replace(
        belief,
        low=np.array([r - _POINT]),
        high=np.array([r + _POINT]),
        urgency=np.array([hidden.urgency]),
        groups=tuple(belief.groups[i] for i in kept),
        weights=weights,
    )


def known_type(belief: Posterior) -> PrivateType | None:
    """Return the type ``belief`` is certain of, or ``None`` if it is not certain."""
    stances = {group.stance for group in belief.groups}
    if len(belief.low) > 1 or len(belief.urgency) > 1 or len(stances) > 1 or belief.weights[-1].any():
        return None
    r = belief.seat.from_canonical(float(belief.low[0] + belief.high[0]) / 2)
    return PrivateType(r, float(belief.urgency[0]), stances.pop())


def reservation_quantile(belief: Posterior, share: float, *, feasible_only: bool = True) -> float:
    """Return a quantile of the counterpart's reservation, canonical, r being uniform inside each cell.

    ``feasible_only`` conditions on ``r <= r_A``; with no such mass the own reservation is returned.
    """
    low, high, mass = belief.low, belief.high.copy(), belief.weights.sum(axis=(1, 2))
    if belief.standing is not None:
        high = np.maximum(low, np.minimum(high, belief.standing))
        low, high = np.append(low, belief.standing), np.append(high, belief.standing)
    else:
        mass = mass[:-1]
    own = belief.seat.own
    if feasible_only:
        width = np.maximum(high - low, 1e-12)
        mass = mass * np.where(high > low, np.clip((own - low) / width, 0.0, 1.0), low <= own)
        high = np.maximum(low, np.minimum(high, own))
    total = mass.sum()
    if total <= 0:
        return own
    order = np.argsort(low, kind="stable")
    cumulative = np.cumsum(mass[order]) / total
    cell = min(int(np.searchsorted(cumulative, share)), len(order) - 1)
    before = cumulative[cell - 1] if cell else 0.0
    inside = (share - before) / max(cumulative[cell] - before, 1e-300)
    row = order[cell]
    return float(low[row] + np.clip(inside, 0.0, 1.0) * (high[row] - low[row]))


def _centres(belief: Posterior) -> Floats:
    top = np.inf if belief.standing is None else belief.standing
    high = np.maximum(belief.low, np.minimum(belief.high, top))
    atom = belief.high.max() if belief.standing is None else belief.standing
    return np.append((belief.low + high) / 2, atom)


def _constraints(belief: Posterior, stated: Belief, held: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return features (stated parts, held cells), each scaled to [0, 1], and their goals."""
    shape = belief.weights.shape
    stance = np.array([STANCES.index(group.stance) for group in belief.groups])
    parts: list[tuple[Floats, float]] = []
    if stated.r_hat is not None:
        parts.append((_centres(belief)[:, None, None], belief.seat.to_canonical(stated.r_hat)))
    if stated.kappa_hat is not None:
        parts.append((belief.urgency[None, None, :], stated.kappa_hat))
    if stated.stance_probs is not None:  # the third probability follows
        parts.extend(((stance == i).astype(float)[None, :, None], stated.stance_probs[i]) for i in (0, 2))
    features, goals = [], []
    for values, goal in parts:
        column = np.broadcast_to(values, shape)[held]
        low, high = float(column.min()), float(column.max())
        if high - low > 1e-9:  # what the posterior is certain of cannot be believed otherwise
            features.append((column - low) / (high - low))
            goals.append(float(np.clip((goal - low) / (high - low), 0.0, 1.0)))
    return np.array(features), np.array(goals)


def _exponential_tilt(weights: Floats, features: Floats, goals: Floats) -> Floats:
    """Return weights proportional to ``weights * exp(t . features)`` with the goals as means, by damped Newton steps.

    ``t`` minimises the convex ``log sum(weights * exp(t . features)) - t . goals``.
    """
    t, log_weights = np.zeros(len(goals)), np.log(weights)

    def at(point: Floats) -> tuple[Floats, float]:
        logs = log_weights + point @ features
        top = logs.max()
        tilted = np.exp(logs - top)
        total = tilted.sum()
        return tilted / total, float(top + np.log(total) - point @ goals)

    probs, dual = at(t)
    for _ in range(_MAX_STEPS):
        means = features @ probs
        miss = goals - means
        if np.abs(miss).max() < 1e-12:
            break
        spread = (features * probs) @ features.T - np.outer(means, means)
        step = np.linalg.solve(spread + 1e-12 * np.eye(len(t)), miss)
        step *= min(1.0, 5.0 / np.abs(step).max())
        while True:
            moved = np.clip(t + step, -_MAX_TILT, _MAX_TILT)
            new_probs, new_dual = at(moved)
            if new_dual <= dual or np.abs(step).max() < 1e-9:
                break
            step = step / 2
        if np.abs(moved - t).max() < 1e-12:
            break
        t, probs, dual = moved, new_probs, new_dual
    return probs
