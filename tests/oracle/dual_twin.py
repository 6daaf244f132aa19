"""The dual's inner maximum written out: NumPy, no closed forms, no pruning, recursion over every history.

The next price is integrated by quantiles of its noise; the fitted net alone is the compiled one.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from oracle.kernels.belief import past_of
from oracle.kernels.finite import Finite, Truth, price_law
from oracle.kernels.penalty import guess, make_scratch
from oracle.kernels.value import NUM_FEATURES, Nets
from oracle.model import build_model
from oracle.prior import SCALE, Grid, Knowledge
from terms.config import GameConfig
from terms.kernel import STANCES, kernel_params, opening_scale
from terms.types import Family

NOISES = norm.ppf((np.arange(4000) + 0.5) / 4000)
NEVER = -1e9  # a slack with which no history ends early
HARSHNESS = (np.arange(40) + 0.5) / 40


def _random_nets(rng, horizon, scale=10.0, hidden=4):
    """Any function of the belief will do for a bound; this one is as bad as it gets."""
    return Nets(
        rng.normal(size=(horizon + 1, NUM_FEATURES, hidden)) / 3, rng.normal(size=(horizon + 1, hidden)),
        rng.normal(size=(horizon + 1, hidden, hidden)), rng.normal(size=(horizon + 1, hidden)),
        scale * rng.normal(size=(horizon + 1, hidden)) / 2, scale * rng.uniform(0, 2, horizon + 1),
    )  # fmt: skip


def tiny_game(rng, *, horizon=3, family=None, rows=3, nodes=2, ticks=4, slack=NEVER, num_prices=5):
    """A random three-stance game whose penalty is as bad as it gets."""
    config = GameConfig(horizon=horizon)
    family = family or list(Family)[int(rng.integers(6))]
    model = build_model(Knowledge.of(["overlap"], [family], config), Grid(2.0, nodes))
    urgency = np.sort(rng.uniform(0, 1, nodes))
    params = [kernel_params(config, family, stance, 100.0) for stance in STANCES]
    scale = np.array([[opening_scale(kappa, each) for kappa in urgency.tolist()] for each in params])
    own, cell = float(rng.uniform(55, 70)), float(rng.uniform(5, 12))
    weights = rng.dirichlet(np.ones(3 * nodes * rows)).reshape(3, nodes, rows)
    return Finite(
        own, own - 33.0 + cell * np.arange(rows), cell, weights,
        model._replace(columns=model.columns._replace(urgency=urgency, opening_scale=scale)),
        _random_nets(rng, horizon), float(rng.uniform(6, 10)), ticks, num_prices, 2 * num_prices, slack,
    )  # fmt: skip


def tiny_truth(game, atom, rng, *, opening=None, noise=None):
    """The type ``atom`` with random noise."""
    group, node, row = (int(index) for index in atom)
    rounds = game.model.rules.horizon + 1
    start = game.reservations[row] + rng.uniform(5, 40) if opening is None else opening
    drawn = rng.normal(size=rounds) if noise is None else noise
    return Truth(group, node, row, float(start), drawn, rng.random(rounds), rng.random(rounds))


def shape(game):
    return game.weights.shape


def atoms(game):
    """Every (group, node, row) of the type law."""
    return list(np.ndindex(*shape(game)))


def rate_of(game, g, n, past):
    rules, columns = game.model
    raw = rules.lambda_0 - columns.lambda_2[g] * past.magnitude + columns.lambda_shift[g]
    return min(1.0, max(0.0, raw + rules.lambda_1 * columns.urgency[n]))


def answers(game, atom, standing, past, noises=NOISES):
    """Draws of the next price of one type, equally likely, before they are cut to [r, standing or 100]."""
    g, n, i = atom
    rules, columns, r = *game.model, game.reservations[i]
    if math.isnan(standing):
        shares = rules.harshness_low + (rules.harshness_high - rules.harshness_low) * HARSHNESS
        few = noises[:: len(noises) // 200]
        mark_up = columns.opening_scale[g, n] * (SCALE - r)
        return (r + shares[:, None] * mark_up + rules.opening_sd * few[None, :]).ravel()
    return standing - rate_of(game, g, n, past) * (standing - r) + columns.noise_sd[g] * noises


def acceptance(game, atom, offer, k, past):
    """P(accept) and P(talk goes on) of one type, by the formulas of the paper."""
    g, n, i = atom
    rules, columns, r = *game.model, game.reservations[i]
    gain = (offer - r) / 100
    if gain < 0:
        if k < rules.walk_round:
            return 0.0, 1.0
        elapsed = (k - rules.walk_round) / (rules.horizon - rules.walk_round)
        return 0.0, 1.0 - 1 / (1 + math.exp(-(rules.phi_0 + rules.phi_delta * -gain + rules.phi_t * elapsed)))
    logit = rules.alpha * gain + rules.beta * columns.urgency[n] - rules.gamma * (1 - math.sqrt(k / rules.horizon))
    takes = 1 / (1 + math.exp(-(logit + columns.rho[g] * past.speed + columns.xi[g] * past.rigidity)))
    return takes, 1 - takes


def weighed_by_answer(game, weights, standing, past, price, *, is_held):
    """Posterior after a held or moved price, every likelihood from scipy."""
    rules, columns = game.model
    after = np.zeros(shape(game))
    for g, n, i in atoms(game):
        r = game.reservations[i]
        if weights[g, n, i] == 0:
            continue
        if math.isnan(standing):
            mark_up = columns.opening_scale[g, n] * (SCALE - r)
            near, far = rules.harshness_low * mark_up, rules.harshness_high * mark_up
            sd = rules.opening_sd
            density = (norm.cdf((price - r - near) / sd) - norm.cdf((price - r - far) / sd)) / (far - near)
            held = np.mean(answers(game, (g, n, i), standing, past) >= SCALE)
        else:
            mean, sd = standing - rate_of(game, g, n, past) * (standing - r), columns.noise_sd[g]
            density, held = norm.pdf(price, mean, sd), norm.sf(standing, mean, sd)
        after[g, n, i] = weights[g, n, i] * (held if is_held else density * (price > r))
    return after / after.sum()


class Twin:
    """The hindsight problem of one game, type and noise."""

    def __init__(self, game, truth):
        self.game, self.truth, self.work = game, truth, make_scratch(game)
        self.rules = game.model.rules

    def first(self, weights, standing):
        """N_1 and F_1 at a first decision; every tick is searched."""
        offers = np.zeros(self.rules.horizon + 1)
        terms = self._terms(weights, offers, 1, standing, self.game.num_ticks - 1)
        stop = 0.0 if math.isnan(standing) else max(self.game.own - standing, 0.0)
        value = max([stop, 0.0, *(q for q, _, _ in terms)])
        return value, self._maximum(weights, offers, 1, standing, self.game.num_ticks - 1, value)

    def _maximum(self, weights, offers, k, standing, last, value):
        game, truth = self.game, self.truth
        best = (0.0 if math.isnan(standing) else max(game.own - standing, 0.0)) - value
        if k > self.rules.last_answered:
            return best
        past = past_of(offers, k - 1, self.rules)
        atom = (truth.group, truth.node, truth.row)
        top = SCALE if math.isnan(standing) else standing
        candidate = truth.opening if math.isnan(standing) else float(
            answers(game, atom, standing, past, np.array([truth.noise[k]]))[0]
        )  # fmt: skip
        for a, (q, law, values) in enumerate(self._terms(weights, offers, k, standing, last)):
            offers[k - 1] = game.own - a * game.tick
            term = q - value
            _, goes_on = acceptance(game, atom, offers[k - 1], k, past)
            if k < self.rules.last_answered and candidate > game.reservations[truth.row]:
                kept = np.array(
                    [weights[t] * acceptance(game, t, offers[k - 1], k, past)[1] for t in atoms(game)]
                ).reshape(shape(game))
                is_held = candidate >= top
                price = top if is_held else candidate
                later = values[-1] if is_held else float(np.interp(price, law.prices, values[:-1]))
                after = weighed_by_answer(game, kept, standing, past, price, is_held=is_held)
                term += goes_on * self._maximum(after, offers, k + 1, price, a, later)
            best = max(best, term)
        return best

    def _terms(self, weights, offers, k, standing, last):
        """(Q, law, values of the next belief at the law's prices and at a held price) of every tick."""
        game = self.game
        past = past_of(offers, k - 1, self.rules)
        rate = np.array([[rate_of(game, g, n, past) for n in range(shape(game)[1])] for g in range(shape(game)[0])])
        law = price_law(game, weights, standing, rate, True)
        top = SCALE if math.isnan(standing) else standing
        out = []
        for a in range(last + 1):
            offer = offers[k - 1] = game.own - a * game.tick
            following = past_of(offers, k, self.rules)
            chances = [acceptance(game, t, offer, k, past) for t in atoms(game)]
            kept = (weights.ravel() * [goes_on for _, goes_on in chances]).reshape(shape(game))
            q = float(weights.ravel() @ [takes for takes, _ in chances]) * (game.own - offer)
            if k == self.rules.last_answered:
                q += sum(kept[t] * self._accepting(t, standing, past) for t in atoms(game))
                out.append((q, law, None))
                continue
            for g, n in np.ndindex(*shape(game)[:2]):
                self.work.rate[g, n] = rate_of(game, g, n, following)
            values = [
                guess(game, kept, each, k + 1, (game.own, place, offer, following), self.work)
                for each, place in [*zip(law.density, law.prices, strict=True), (law.held, top)]
            ]
            for t in atoms(game):
                if kept[t] > 0:
                    q += kept[t] * self._expected(t, standing, past, law.prices, values)
            out.append((q, law, values))
        return out

    def _accepting(self, atom, standing, past):
        r, top = self.game.reservations[atom[2]], SCALE if math.isnan(standing) else standing
        return np.maximum(self.game.own - np.clip(answers(self.game, atom, standing, past), r, top), 0.0).mean()

    def _expected(self, atom, standing, past, prices, values):
        r, top = self.game.reservations[atom[2]], SCALE if math.isnan(standing) else standing
        drawn = answers(self.game, atom, standing, past)
        inside = np.interp(drawn, prices, values[:-1])
        return np.where(drawn <= r, max(self.game.own - r, 0.0), np.where(drawn >= top, values[-1], inside)).mean()
