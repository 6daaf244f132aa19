r"""Small bargaining games whose Bayes optimum is solved exactly on the belief tree.

Prices lie on a few ticks, the counterpart is one of a few types ``t = (r, kappa, eta)`` with prior ``w``, and its
price noise takes a few equally likely values ``e``. The rules are the game's own formulas. A history is (offers,
quotes); with unnormalised beliefs ``w`` the optimum obeys

.. math::
    V_k(h) = \max\Big(|w| (r_A - b),\ 0,\ \max_p \sum_t w_t a_k(t, p) (r_A - p) + \sum_{b'} V_{k+1}(h, p, b')\Big).

The same game carries the bracket used at full size: a greedy policy's exact value from below, and from above the
information relaxation dual of Brown, Smith and Sun (2010). With any approximation ``U`` of V and its one-step
lookahead ``Q``, reveal the type and the noise, keep acceptance and walk-away as a survival factor ``s``, and
penalise by the one-step errors of ``U``:

.. math::
    W_k = \max\big(r_A - b,\ 0,\ \max_p\, Q_k(p) + s(t, p) (W_{k+1} - U_{k+1})\big), \qquad V_1 \le E[W_1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import ndtri

from terms.aliases import Floats
from terms.config import GameConfig
from terms.kernel import (
    STANCES,
    KernelParams,
    accept_prob,
    concession_rate,
    counter_offer,
    favourability,
    history_features,
    kernel_params,
    walk_prob,
)
from terms.types import Family

Approximation = Callable[[int, float, tuple[float, ...], Floats], float]
"""``U(k, standing price, offers so far, normalised belief)``; any function gives a bracket, a good one a tight one."""


@dataclass(frozen=True)
class SmallGame:
    """A buyer's game on rising prices ``ticks`` that starts at the quote ``opening``.

    Type i is (``reservations[i]``, ``urgencies[i]``, ``stances[i]``) with probability ``prior[i]``. The offer of the
    last round is not answered, as in the full game. Offers rise unless the game ``goes_back``.
    """

    ticks: tuple[float, ...]
    own: float
    reservations: tuple[float, ...]
    urgencies: tuple[float, ...]
    stances: tuple[int, ...]
    prior: tuple[float, ...]
    opening: float
    horizon: int = 4
    num_noises: int = 3
    family: Family = Family.STOCHASTIC
    goes_back: bool = False
    config: GameConfig = field(default_factory=GameConfig)

    @cached_property
    def params(self) -> list[KernelParams]:
        """Kernel constants of each type, with this game's horizon."""
        config = self.config.model_copy(update={"horizon": self.horizon})
        return [kernel_params(config, self.family, STANCES[eta], 100.0) for eta in self.stances]

    @cached_property
    def noises(self) -> Floats:
        """Equally likely standard price noises."""
        return np.asarray(ndtri((np.arange(self.num_noises) + 0.5) / self.num_noises))

    def survival(self, offer: float, earlier: tuple[float, ...], k: int) -> tuple[Floats, Floats]:
        """Return (acceptance, survival) probabilities of every type for ``offer``."""
        accepts, survives = np.empty(len(self.params)), np.empty(len(self.params))
        for i, (r, kappa, params) in enumerate(zip(self.reservations, self.urgencies, self.params, strict=True)):
            gain = favourability(offer, r, 1, 100.0)
            accepts[i] = accept_prob(gain, kappa, k, history_features(earlier, 1, params), params)
            survives[i] = (1 - accepts[i]) * (1 - walk_prob(gain, k, params))
        return accepts, survives

    def quote(self, i: int, noise: float, standing: float, earlier: tuple[float, ...]) -> float:
        """Return type ``i``'s next price: the kernel's, moved up to the next tick, never above the standing price."""
        params = self.params[i]
        rate = concession_rate(self.urgencies[i], history_features(earlier, 1, params), params)
        price = counter_offer(standing, self.reservations[i], rate, noise * params.noise_sd, 1)
        return min(standing, next((tick for tick in self.ticks if tick >= price - 1e-12), standing))

    def quote_law(self, standing: float, earlier: tuple[float, ...]) -> dict[float, Floats]:
        """Return the probability of every possible next price under each type."""
        law: dict[float, Floats] = {}
        for i in range(len(self.params)):
            for noise in self.noises:
                price = self.quote(i, float(noise), standing, earlier)
                law.setdefault(price, np.zeros(len(self.params)))[i] += 1.0 / self.num_noises
        return law

    def offers(self, earlier: tuple[float, ...]) -> list[float]:
        """Return the ticks that may be offered: up to the own reservation, as a rule not below the last offer."""
        least = -np.inf if self.goes_back or not earlier else earlier[-1]
        return [tick for tick in self.ticks if least <= tick <= self.own]


def exact_value(game: SmallGame) -> float:
    """Return the Bayes optimum by backward induction over the whole belief tree."""
    return continuation_value(game, 1, game.opening, (), np.array(game.prior))


def continuation_value(game: SmallGame, k: int, standing: float, earlier: tuple[float, ...], weights: Floats) -> float:
    """Return the exact value from round ``k`` on, times the mass of the unnormalised belief ``weights``."""
    best = float(weights.sum()) * max(game.own - standing, 0.0)
    if k == game.horizon:
        return best
    law = game.quote_law(standing, earlier)
    for offer in game.offers(earlier):
        accepts, survives = game.survival(offer, earlier, k)
        value = float(weights @ accepts) * (game.own - offer)
        for price, likelihood in law.items():
            after = weights * survives * likelihood
            if after.sum() > 0:
                value += continuation_value(game, k + 1, price, (*earlier, offer), after)
        best = max(best, value)
    return best


def greedy_value(game: SmallGame, approximation: Approximation) -> float:
    """Return the exact value of the policy that is greedy in one-step lookahead on ``approximation``: a lower bound."""
    return _greedy(game, approximation, 1, game.opening, (), np.array(game.prior))


def _greedy(
    game: SmallGame, approximation: Approximation, k: int, standing: float, earlier: tuple[float, ...], weights: Floats
) -> float:
    stop = max(game.own - standing, 0.0)
    if k == game.horizon:
        return float(weights.sum()) * stop
    offers = game.offers(earlier)
    values = [_lookahead(game, approximation, k, standing, earlier, weights, offer) for offer in offers]
    if not offers or stop >= max(values):
        return float(weights.sum()) * stop
    offer = offers[int(np.argmax(values))]
    accepts, survives = game.survival(offer, earlier, k)
    value = float(weights @ accepts) * (game.own - offer)
    for price, likelihood in game.quote_law(standing, earlier).items():
        after = weights * survives * likelihood
        if after.sum() > 0:
            value += _greedy(game, approximation, k + 1, price, (*earlier, offer), after)
    return value


def _lookahead(  # noqa: PLR0913
    game: SmallGame,
    approximation: Approximation,
    k: int,
    standing: float,
    earlier: tuple[float, ...],
    weights: Floats,
    offer: float,
) -> float:
    """Return ``Q_k`` of ``offer`` per unit of belief, exact in everything but the next value."""
    accepts, survives = game.survival(offer, earlier, k)
    value = float(weights @ accepts) * (game.own - offer)
    for price, likelihood in game.quote_law(standing, earlier).items():
        after = weights * survives * likelihood
        mass = float(after.sum())
        if mass > 0:
            value += mass * _next_value(game, approximation, k + 1, price, (*earlier, offer), after / mass)
    return value / float(weights.sum())


def _next_value(
    game: SmallGame, approximation: Approximation, k: int, standing: float, earlier: tuple[float, ...], belief: Floats
) -> float:
    if k == game.horizon:
        return max(game.own - standing, 0.0)
    return approximation(k, standing, earlier, belief)


def dual_value(game: SmallGame, approximation: Approximation) -> float:
    """Return the dual upper bound: the mean over types and noise paths of the penalised optimum in hindsight."""
    total, prior = 0.0, np.array(game.prior)
    paths = list(product(game.noises.tolist(), repeat=game.horizon - 1))
    memo: dict[tuple[tuple[float, ...], tuple[float, ...], float], float] = {}
    for i, weight in enumerate(game.prior):
        for noises in paths:
            inner = _Inner(game, approximation, i, noises, memo)
            total += weight / len(paths) * inner.best(1, (game.opening,), (), prior)
    return total


@dataclass(slots=True)
class _Inner:
    """The hindsight problem of one type and noise path. ``memo`` shares lookahead values between paths."""

    game: SmallGame
    approximation: Approximation
    type_index: int
    noises: tuple[float, ...]
    memo: dict[tuple[tuple[float, ...], tuple[float, ...], float], float]

    def best(self, k: int, quotes: tuple[float, ...], earlier: tuple[float, ...], belief: Floats) -> float:
        """Return ``W_k`` at a history whose normalised belief is ``belief``."""
        game, standing = self.game, quotes[-1]
        best = max(game.own - standing, 0.0)
        if k == game.horizon:
            return best
        price = game.quote(self.type_index, self.noises[k - 1], standing, earlier)
        likelihood = game.quote_law(standing, earlier)[price]
        for offer in game.offers(earlier):
            _, survives = game.survival(offer, earlier, k)
            key = (quotes, earlier, offer)
            if key not in self.memo:
                self.memo[key] = _lookahead(game, self.approximation, k, standing, earlier, belief, offer)
            after = belief * survives * likelihood
            value = self.memo[key]
            if survives[self.type_index] > 0:
                after = after / after.sum()
                later = self.best(k + 1, (*quotes, price), (*earlier, offer), after)
                guess = _next_value(game, self.approximation, k + 1, price, (*earlier, offer), after)
                value += float(survives[self.type_index]) * (later - guess)
            best = max(best, value)
        return best


def random_game(rng: np.random.Generator, *, horizon: int = 3, num_ticks: int = 4, num_types: int = 3) -> SmallGame:
    """Draw a small game with reservations on both sides of the own one."""
    own = float(rng.uniform(45, 75))
    ticks = np.sort(rng.uniform(own - 40, own + 5, num_ticks - 1))
    opening = float(rng.uniform(own - 5, own + 25))
    reservations = np.minimum(own - rng.uniform(-5, 40, num_types), opening)
    prior = rng.dirichlet(np.ones(num_types))
    return SmallGame(
        ticks=(*(float(tick) for tick in ticks), max(opening, float(ticks[-1]))),
        own=own,
        reservations=tuple(float(r) for r in reservations),
        urgencies=tuple(float(u) for u in rng.beta(2, 2, num_types)),
        stances=tuple(int(eta) for eta in rng.integers(0, 3, num_types)),
        prior=tuple(float(p) for p in prior),
        opening=opening,
        horizon=horizon,
        family=list(Family)[int(rng.integers(6))],
    )
