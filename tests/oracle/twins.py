"""Slow twins of the known-type dynamic program, and small problems to compare on; needs no test library."""

import math
from functools import cache

import numpy as np

from oracle.kernels.induction import rank
from oracle.known_type import KnownTypeProblem
from terms import kernel
from terms.config import GameConfig
from terms.types import Family, Stance


def cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def density(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def normal_law(nodes, top, mean, sd):
    """Node weights of clip(N(mean, sd), 0, top) by partial moments, interval by interval: a second derivation."""
    weights = [0.0] * len(nodes)

    def add(price, mass):
        for j in range(len(nodes) - 1):
            if nodes[j] <= price <= nodes[j + 1]:
                share = (price - nodes[j]) / (nodes[j + 1] - nodes[j])
                weights[j] += mass * (1 - share)
                weights[j + 1] += mass * share
                return

    if sd == 0:
        add(min(top, max(0.0, mean)), 1.0)
        return weights
    add(0.0, cdf(-mean / sd))
    add(top, 1 - cdf((top - mean) / sd))
    for j in range(len(nodes) - 1):
        low, high = nodes[j], min(nodes[j + 1], top)
        if low >= high:
            continue
        a, b = (low - mean) / sd, (high - mean) / sd
        mass = cdf(b) - cdf(a)
        first = mean * mass - sd * (density(b) - density(a))
        width = nodes[j + 1] - nodes[j]
        weights[j] += (nodes[j + 1] * mass - first) / width
        weights[j + 1] += (first - nodes[j] * mass) / width
    return weights


def tiny_problem(rng, horizon=3):
    share = rng.choice([0.0, 0.01, 0.03, 0.08, 0.3])
    base = GameConfig()
    family = Family(rng.choice(list(Family)))
    changed = base.families[family].model_copy(update={"noise_share": float(share)})
    config = base.model_copy(
        update={
            "horizon": horizon,
            "final_offer_answered": bool(rng.random() < 0.5),
            "families": {**base.families, family: changed},
            "walk": base.walk.model_copy(update={"grace": float(rng.random())}),
            "concession": base.concession.model_copy(
                update={"window": int(rng.integers(1, 4)), "rigidity_threshold": float(rng.choice([0.02, 0.1, 0.2]))}
            ),
        }
    )
    params = kernel.kernel_params(config, family, Stance(rng.choice(list(Stance))), 100.0)
    zopa = float(rng.uniform(5, 40))
    return KnownTypeProblem(params, float(rng.random()), zopa, -40.0, 70.0, (0.2, 0.8), config.final_offer_answered)


def numpy_backward_induction(problem, offers, prices):
    """Whole-array twin of the compiled recursion: all states at once, a round a step."""
    params, n, horizon = problem.params, len(offers), problem.params.horizon
    quads = np.array([(a, b, c, d) for d in range(n) for c in range(d + 1) for b in range(c + 1) for a in range(b + 1)])
    quads = quads[np.argsort([rank(*quad) for quad in quads.tolist()])]
    number = np.zeros((n,) * 4, dtype=int)
    number[tuple(quads.T)] = np.arange(len(quads))
    later_quads = number[quads[:, 1, None], quads[:, 2, None], quads[:, 3, None], np.arange(n)]
    values = np.zeros((horizon + 2, len(quads), len(prices)))
    gain = offers / params.price_range
    for k in range(horizon, 1, -1):
        values[k] = np.maximum(problem.zopa - prices, 0.0)
        if k == horizon and not problem.is_final_answered:
            continue
        counted = min(k - 1, 4, params.window + 1)
        moves = np.diff(offers[quads[:, 4 - counted :]], axis=1) / params.price_range
        speed = moves.mean(axis=1) if counted > 1 else np.zeros(len(quads))
        rigid = moves[:, -1] < params.rigidity_threshold if counted > 1 else np.zeros(len(quads))
        logit = params.alpha * gain + params.beta * problem.urgency - params.gamma * (1 - math.sqrt(k / horizon))
        logit = logit + (params.rho * speed + params.xi * rigid)[:, None]
        accepts = np.where(gain >= 0, 1 / (1 + np.exp(-logit)), 0.0)
        walks = np.array([kernel.walk_prob(each, k, params) for each in gain])
        raw = params.lambda_0 + params.lambda_1 * problem.urgency - params.lambda_2 * speed + params.lambda_shift
        rates, which = np.unique(np.clip(raw, 0, 1).round(13), return_inverse=True)
        laws = np.array([[normal_law(prices.tolist(), b, b - c * b, params.noise_sd) for b in prices] for c in rates])
        follow = np.einsum("tbc,tjc->tjb", laws[which], values[k + 1][later_quads])
        worth = (accepts * (problem.zopa - offers))[:, :, None] + ((1 - accepts) * (1 - walks))[:, :, None] * follow
        worth[quads[:, 3, None] > np.arange(n)] = -np.inf
        values[k] = np.maximum(values[k], worth.max(axis=1))
    return values


def brute_force(problem, offers, prices, opening_law, standing, *, is_rising=True, first=(1, ())):
    """Enumerate every course of play: no state is merged, every history is its own node.

    ``first`` is the round and the offers made before it.
    """
    params, horizon = problem.params, problem.params.horizon

    @cache
    def law(top, rate):
        return normal_law(prices, top, top - rate * top, params.noise_sd)

    def offer_value(k, past, b, x):
        if k == horizon and not problem.is_final_answered:
            return 0.0
        features = kernel.history_features(past, 1, params)
        gain = kernel.favourability(x, 0.0, 1, params.price_range)
        accepts = kernel.accept_prob(gain, problem.urgency, k, features, params)
        walks = kernel.walk_prob(gain, k, params)
        value = accepts * (problem.zopa - x)
        if k < horizon:
            rate = kernel.concession_rate(problem.urgency, features, params)
            weights = opening_law if b is None else law(b, rate)
            later = sum(w * state_value(k + 1, (*past, x), y) for w, y in zip(weights, prices, strict=True) if w)
            value += (1 - accepts) * (1 - walks) * later
        return value

    def state_value(k, past, b):
        best = 0.0 if b is None else max(0.0, problem.zopa - b)
        for x in offers:
            if not is_rising or not past or x >= past[-1]:
                best = max(best, offer_value(k, past, b, x))
        return best

    return state_value(*first, standing)
