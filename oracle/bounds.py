r"""The honest optimum of one family and opener between certified bounds, and what separates them.

PLACEHOLDER
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.fitted import FittedValues, make_planner
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
from terms.types import Opener, Role

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]
_SLOPE = 0.9  # of utility on the zopa, whose mean is known: any constant leaves the mean as it is
_DISTANCES = np.concatenate([np.arange(0, 10, 0.5), np.arange(10, 40, 1.5), np.arange(40, 100.5, 3.0)])
_CHUNK = 250


class Mean(NamedTuple):
    """A mean over ``n`` independent episodes with its standard error."""

    value: float
    se: float
    n: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """The honest optimum on ticks of one family and opener; every number is a share of the mean zopa.

    ``policy`` is what the planner earns, ``value`` the penalty's value at the first decision, ``inner`` the searched
    maximum of its later errors, ``histories`` the mean number of histories a search visits.
    """

    lower: float
    upper: float
    policy: Mean
    value: Mean
    inner: Mean
    histories: float

    @property
    def width(self) -> float:
        """Upper minus lower, sampling allowances included."""
        return self.upper - self.lower

    def width_parts(self) -> dict[str, float]:
        """Return what the width is made of; the parts add up to it."""
        return {
            "sampling of the policy (two standard errors)": 2 * self.policy.se,
            "sampling of the dual (two standard errors)": 2 * math.hypot(self.value.se, self.inner.se),
            "errors of the fitted value found by the search": self.inner.value,
            "value at the first decision over the policy": self.value.value - self.policy.value,
        }


def bracket(
    values: FittedValues,
    opener: Opener,
    *,
    num_dual: int,
    settings: BracketSettings | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Bracket:
    """Bracket the honest optimum of the family and regime of ``values`` with certified bounds.

    Parameters
    ----------
    num_dual
        Paths whose inner maximum is searched, at least 2.
    progress
        Called with (episodes done, episodes in all).
    """
    check_knowledge(values.knowledge)
    if num_dual < 2:
        raise ValueError(f"num_dual={num_dual}; a standard error needs at least 2 paths")
    settings = settings or BracketSettings()
    sizes = (settings.num_policy, settings.num_values, num_dual)
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    scale, samples, before = mean_zopa(values.knowledge), [], 0
    for run, n, stream in zip((policy_utility, first_values, inner_maxima), sizes, streams, strict=True):
        rng = np.random.default_rng(stream)
        parts = []
        for role, size in ((Role.BUYER, n - n // 2), (Role.SELLER, n // 2)):
            drawn = draw_episodes(values.knowledge, opener, role, size, rng)
            for start in range(0, size, _CHUNK):
                chunk = _slice(drawn, start, start + _CHUNK)
                parts.append(run(values, opener, settings, chunk))
                before += len(chunk.own)
                if progress is not None:
                    progress(before, sum(sizes))
        samples.append(np.concatenate(parts, axis=0))
    policy, value = _mean(samples[0] / scale), _mean(samples[1] / scale)
    inner = _mean(samples[2][:, 0] / scale)
    return Bracket(
        lower=policy.value - 2 * policy.se,
        upper=value.value + inner.value + 2 * math.hypot(value.se, inner.se),
        policy=policy,
        value=value,
        inner=inner,
        histories=float(samples[2][:, 1].mean()),
    )


def policy_utility(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Play the planner on ticks in the true game; return utilities (n,) with the luck of the zopa taken out."""
    knowledge, n = values.knowledge, len(drawn.own)
    planner = make_planner(
        build_model(knowledge, values.grid), values.nets, num_nodes=settings.num_prices, step=settings.tick, halvings=0
    )
    hidden = Hidden(drawn.group, drawn.reservation, drawn.urgency, drawn.opening, drawn.luck, drawn.cues)
    ticks = np.array([num_ticks(own, knowledge, settings.tick) for own in drawn.own.tolist()])
    params = np.array(stance_params(knowledge), dtype=np.float64)
    priors, out = build_priors(knowledge, drawn.own, values.grid, drawn.role), np.empty(n)
    play_ticks((0, n), priors, hidden, opener is Opener.AGENT, params, planner, settings.tick, ticks, out)
    return out - _SLOPE * (drawn.own - drawn.reservation - mean_zopa(knowledge))


def first_values(values: FittedValues, opener: Opener, settings: BracketSettings, drawn: Drawn) -> Floats:
    """Return the penalty's value at the first decision (n,), with the luck of the own reservation taken out."""
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


def _slice(drawn: Drawn, start: int, stop: int) -> Drawn:
    return Drawn(drawn.role, *(array[start:stop] for array in drawn[1:]))


def _mean(values: Floats) -> Mean:
    n = len(values)
    return Mean(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n), n)
