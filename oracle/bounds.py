r"""The Bayes optimum of one family and opener between certified bounds, and what separates them.

The certified game is the negotiation with offers on ticks ``own - i T`` that never fall (the protocol's rule); own
reservation, types and noise stay continuous. What rounding to ticks costs against free offers is not in the bounds;
``rounding`` is an estimate of its larger half, what the planner gains when the tick is halved. Bounds of the game
itself are in :mod:`oracle.real_game`.

**Lower bound.** The mean utility of the planner on ticks in the true game, less its allowance. The zopa has a
known mean, so ``utility - 0.9 (zopa - E zopa)`` has the mean of the utility and less noise.

**Upper bound**, each step of which can only raise it:

1. The agent is told where r and kappa lie inside their cells (:mod:`oracle.relaxation`). The type law is then finite,
   the posterior a finite sum, and a quote that reaches the reservation shows it: the rest is worth ``(r_A - r)^+``.
2. Let ``N_k(I)`` be any function of what this agent knows, ``N`` of an end its payoff, and
   ``Q_k(I, a) = E[N_{k+1}(I') | I, a]``. On every path, with ``a_t`` the offers made and ``N_\tau`` the payoff,

   .. math:: payoff = N_1 + \sum_t [Q_t(I_t, a_t) - N_t(I_t)] + \sum_t [N_{t+1}(I_{t+1}) - Q_t(I_t, a_t)].

   The last sum has mean zero under every policy that uses what it knows. Reveal type, price noise and cue noise but not
   the draws of acceptance and walking away, whose probabilities given the type enter as survival s (Brown, Smith and
   Sun 2010); then the optimum is at most ``E[N_1 + F_1]`` with

   .. math:: F_k = \max\big(stop - N_k,\ \max_a [Q_k(I, a) - N_k(I) + s(a) F_{k+1}(I')]\big).

3. Q is exact, not a quadrature: ``N_{k+1}`` is *defined* as the net interpolated in the next price between points that
   the history fixes, and the weights of that interpolation are closed forms (:mod:`oracle.kernels.finite`). After a
   cue it moves by the net's value less its mean over the nine cues (:mod:`oracle.kernels.penalty`). The offer of the
   last answered round has an exact value, so nothing follows it.
4. The search is over every monotone sequence of ticks; what it leaves out has ``F = 0`` by proof. Let ``U`` be the
   value if the type were told after the offer, an upper bound under the best history (:mod:`oracle.kernels.told`).
   ``U`` is a supersolution, so a penalty that follows ``N`` and switches to ``U`` for good has ``F <= 0`` after the
   switch, and the offer's term becomes ``Q^U - N_k``. Where to switch may depend on what the agent knows, not on the
   type: here once ``Q^U_k(I, a) - N_k + \sum_{t<k} [Q_t - N_t] <= slack``, when a history has lost so much that even
   being told would not pay. Besides that a history is dropped if no possible error could lift it above the best found.
5. ``E[N_1]`` and ``E[F_1]`` are means over independent draws of own reservation, type and noise; an allowance is added.
   ``N_1`` is the lookahead at the first decision, taken on more draws as it needs no search.

An allowance is a number of standard errors: two for one bracket, and for a table as many as its bounds need to hold
together (:func:`joint_allowance`), each row being drawn from its own seed. Means are taken as normal.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from oracle.fitted import FittedValues, make_planner
from oracle.kernels.compiling import SOURCE_DIGEST
from oracle.kernels.dual import inner_maximum
from oracle.kernels.episodes import Hidden, play_ticks
from oracle.model import build_model, build_priors
from oracle.relaxation import (
    BracketSettings,
    Drawn,
    check_knowledge,
    draw_episodes,
    finite_game,
    finite_model,
    mean_zopa,
    num_ticks,
    stance_params,
)
from oracle.solution_cache import Arrays, load_or_solve, solution_key
from terms.aliases import Floats, Progress
from terms.types import Opener, Role

_SLOPE = 0.9  # of utility on the zopa, whose mean is known: any constant leaves the mean as it is
_DISTANCES = np.concatenate([np.arange(0, 10, 0.5), np.arange(10, 40, 1.5), np.arange(40, 100.5, 3.0)])
_CHUNK = 250
_SAMPLES = ("policy", "value", "inner", "rounding")
_JOINT_LEVEL = 0.95


class Mean(NamedTuple):
    """A mean over ``n`` independent episodes with its standard error."""

    value: float
    se: float
    n: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """The Bayes optimum on ticks of one family and opener; every number is a share of the mean zopa.

    ``policy`` is what the planner earns, ``value`` the penalty's value at the first decision, ``inner`` the searched
    maximum of its later errors, ``histories`` the mean number of histories a search visits; ``rounding`` is no part of
    the width. ``allowance`` is the number of standard errors inside both bounds.
    """

    lower: float
    upper: float
    policy: Mean
    value: Mean
    inner: Mean
    rounding: Mean
    histories: float
    allowance: float = 2.0

    @property
    def width(self) -> float:
        """Upper minus lower, sampling allowances included."""
        return self.upper - self.lower

    def width_parts(self) -> dict[str, float]:
        """Return what the width is made of; the parts add up to it."""
        return {
            "sampling of the policy (its allowance)": self.allowance * self.policy.se,
            "sampling of the dual (its allowance)": self.allowance * math.hypot(self.value.se, self.inner.se),
            "errors of the fitted value found by the search": self.inner.value,
            "value at the first decision over the policy": self.value.value - self.policy.value,
        }


def joint_allowance(num_bounds: int) -> float:
    """Return how many standard errors make ``num_bounds`` bounds hold together in 95 % of samples.

    By Bonferroni's inequality, so that it does not matter how they depend on each other.
    """
    return NormalDist().inv_cdf(1 - (1 - _JOINT_LEVEL) / num_bounds)


def bracket(  # noqa: PLR0913
    values: FittedValues,
    opener: Opener,
    *,
    num_dual: int,
    settings: BracketSettings | None = None,
    seed: int = 0,
    allowance: float = 2.0,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> Bracket:
    """Bracket the Bayes optimum of the family and regime of ``values`` with certified bounds.

    Parameters
    ----------
    num_dual
        Paths whose inner maximum is searched, at least 2.
    allowance
        Standard errors inside both bounds.
    progress
        Called with (episodes done, episodes in all).
    folder
        Where finished brackets are kept, by default the cache: asked again, one is read.
    """
    check_knowledge(values.knowledge)
    if num_dual < 2:
        raise ValueError(f"num_dual={num_dual}; a standard error needs at least 2 paths")
    settings = settings or BracketSettings()
    key, total = bracket_key("bracket", values, opener, settings, seed, num_dual), sum(_sizes(settings, num_dual))
    found = load_or_solve(key, lambda: _sample(values, opener, num_dual, settings, seed, progress), folder)
    if progress is not None:
        progress(total, total)
    scale = mean_zopa(values.knowledge)
    policy, value, inner, rounding = (mean_of(found[name] / scale) for name in _SAMPLES)
    return Bracket(
        lower=policy.value - allowance * policy.se,
        upper=value.value + inner.value + allowance * math.hypot(value.se, inner.se),
        policy=policy,
        value=value,
        inner=inner,
        rounding=rounding,
        histories=float(found["histories"].mean()),
        allowance=allowance,
    )


def _sample(
    values: FittedValues,
    opener: Opener,
    num_dual: int,
    settings: BracketSettings,
    seed: int,
    progress: Progress | None,
) -> Arrays:
    """Draw and value every episode of a bracket."""
    sizes, runs = _sizes(settings, num_dual), (policy_utility, first_values, inner_maxima, rounding_gain)
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    samples, before, total = [], 0, sum(sizes)
    for run, n, stream in zip(runs, sizes, streams, strict=True):
        rng = np.random.default_rng(stream)
        parts = []
        for role, size in ((Role.BUYER, n - n // 2), (Role.SELLER, n // 2)):
            drawn = draw_episodes(values.knowledge, opener, role, size, rng)
            for start in range(0, size, _CHUNK):
                chunk = _slice(drawn, start, start + _CHUNK)
                parts.append(run(values, opener, settings, chunk))
                before += len(chunk.own)
                if progress is not None:
                    progress(before, total)
        samples.append(np.concatenate(parts, axis=0))
    histories = samples[2][:, 1]
    samples[2] = samples[2][:, 0]
    return {**dict(zip(_SAMPLES, samples, strict=True)), "histories": histories}


def _sizes(settings: BracketSettings, num_dual: int) -> tuple[int, int, int, int]:
    return settings.num_policy, settings.num_values, num_dual, settings.num_rounding


def bracket_key(
    kind: str, values: FittedValues, opener: Opener, settings: BracketSettings, seed: int, more: object
) -> str:
    """Return the digest of all a bracket depends on, the code of the kernels included."""
    nets = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in values.nets))
    knowledge = values.knowledge
    return solution_key(
        {
            "kind": kind,
            "config": knowledge.config.model_dump(mode="json"),
            "regimes": list(knowledge.regimes),
            "families": list(knowledge.families),
            "objective": knowledge.objective,
            "opener": opener,
            "belief": asdict(values.grid),
            "nets": nets.hexdigest(),
            "kernels": SOURCE_DIGEST,
            "settings": asdict(settings),
            "seed": seed,
            "more": more,
        }
    )


def policy_utility(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Play the planner on ticks in the true game; return utilities (n,) with the chance of the zopa taken out."""
    knowledge, n = values.knowledge, len(drawn.own)
    planner = make_planner(
        build_model(knowledge, values.grid), values.nets, num_nodes=settings.num_prices, step=settings.tick, halvings=0
    )
    hidden = Hidden(drawn.group, drawn.reservation, drawn.urgency, drawn.opening, drawn.draws, drawn.cues)
    ticks = np.array([num_ticks(own, knowledge, settings.tick) for own in drawn.own.tolist()])
    params = np.array(stance_params(knowledge), dtype=np.float64)
    priors, out = build_priors(knowledge, drawn.own, values.grid, drawn.role), np.empty(n)
    play_ticks((0, n), priors, hidden, opener is Opener.AGENT, params, planner, settings.tick, ticks, out)
    return out - _SLOPE * (drawn.own - drawn.reservation - mean_zopa(knowledge))


def first_values(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Return the penalty's value at the first decision (n,), with the chance of the own reservation taken out."""
    model, stats = finite_model(values.knowledge, settings), np.zeros(3)
    out = np.empty(len(drawn.own))
    for e in range(len(out)):
        game, truth = finite_game(values, settings, model, drawn, e)
        inner_maximum(game, truth, opener is Opener.AGENT, np.empty(0), stats)
        expected = float((game.weights.sum(axis=(0, 1)) * (game.own - game.reservations)).sum())
        out[e] = stats[0] - _SLOPE * (expected - mean_zopa(values.knowledge))
    return out


def inner_maxima(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Return the inner maximum and the number of histories searched (n, 2)."""
    model, stats = finite_model(values.knowledge, settings), np.zeros(3)
    out = np.empty((len(drawn.own), 2))
    for e in range(len(out)):
        game, truth = finite_game(values, settings, model, drawn, e)
        inner_maximum(game, truth, opener is Opener.AGENT, _DISTANCES, stats)
        out[e] = stats[1:]
    return out


def rounding_gain(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Return what the planner earns more with half the tick on the same episodes (n,)."""
    finer = replace(settings, tick=settings.tick / 2)
    return policy_utility(values, opener, finer, drawn) - policy_utility(values, opener, settings, drawn)


def _slice(drawn: Drawn, start: int, stop: int) -> Drawn:
    arrays = {name: array[start:stop] for name, array in drawn._asdict().items() if name != "role"}
    return Drawn(role=drawn.role, **arrays)


def mean_of(values: Floats) -> Mean:
    """Return the mean of independent values with its standard error."""
    n = len(values)
    return Mean(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n), n)
