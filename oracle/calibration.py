"""Whether the posterior is right: where the truth falls in it, over many episodes.

At each observation the randomised probability integral transform of the true reservation is taken
(:func:`oracle.posterior.pit`). It is uniform on [0, 1] in every round if the belief is calibrated, whatever the agent
does. For the stance the frequencies are compared: among observations where a stance had 30 %, it is true in 30 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from oracle.interventions import BayesOptimal
from oracle.posterior import Posterior, pit, stance_probs
from oracle.retrace import retrace
from terms.aliases import Floats
from terms.episode import AgentLike, play
from terms.estimates import Estimate, Ratio, estimate_ratios
from terms.kernel import STANCES
from terms.scenario import Scenario
from terms.types import PrivateType

NUM_QUANTILES = 10


class Observed(NamedTuple):
    """One observation of an episode: its round, the transform of the true r, the stance's posterior, the true one."""

    episode: int
    round: int
    transform: float
    stance_probs: tuple[float, float, float]
    stance: int


class Frequency(NamedTuple):
    """Probabilities of one bin: their mean, and the share of them that came true."""

    stated: Estimate
    true: Estimate


@dataclass(frozen=True, eq=False)
class Calibration:
    """One row an observation, arrays (n,): its episode's number, its round, and the transform of the true reservation.

    ``stance_probs`` (n, 3) is the posterior of the stance, ``stance`` (n,) the number of the true one.
    """

    episode: NDArray[np.intp]
    round: NDArray[np.intp]
    transform: Floats
    stance_probs: Floats
    stance: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Iterable[Observed]) -> Self:
        """Lay rows out as arrays."""
        episode, number, transform, probs, stance = zip(*rows, strict=True)
        return cls(np.array(episode), np.array(number), np.array(transform), np.array(probs), np.array(stance))

    @classmethod
    def pooled(cls, parts: Sequence[Calibration]) -> Self:
        """Join calibrations whose episodes are numbered alike: equal numbers share one truth."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def shares(self, num_bins: int = NUM_QUANTILES) -> list[Estimate]:
        """Return the share of observations in each of ``num_bins`` equal bins, with intervals clustered by episode."""
        bins = _bins(self.transform, num_bins)
        everything = np.ones(len(bins))
        return [mean_by_episode((bins == each).astype(float), everything, self.episode) for each in range(num_bins)]

    def frequencies(self, num_bins: int = NUM_QUANTILES) -> list[Frequency]:
        """Return, by bin of the probability, the mean probability of a stance and how often it was true."""
        probs = self.stance_probs.ravel()
        true = (self.stance[:, None] == np.arange(len(STANCES))).astype(float).ravel()
        bins, episode = _bins(probs, num_bins), np.repeat(self.episode, len(STANCES))
        inside = [(bins == each).astype(float) for each in range(num_bins)]
        return [
            Frequency(*(mean_by_episode(values * each, each, episode) for values in (probs, true))) for each in inside
        ]


def mean_by_episode(values: Floats, weights: Floats, episode: NDArray[np.intp]) -> Estimate:
    """Return ``sum(values) / sum(weights)`` over rows with an interval clustered by episode; n counts episodes."""
    _, index = np.unique(episode, return_inverse=True)
    total, weight = (np.bincount(index, each).astype(np.float64) for each in (values, weights))
    return estimate_ratios([Ratio(total, weight)], np.arange(len(weight)))


def observed(belief: Posterior, hidden: PrivateType, episode: int, uniform: float) -> Observed:
    """Return where the truth ``hidden`` lies in ``belief``; ``uniform`` spreads the atom at the standing price."""
    transform = pit(belief, hidden.reservation_price, uniform)
    return Observed(episode, belief.round, transform, stance_probs(belief), STANCES.index(hidden.stance))


def calibrate(
    scenarios: Sequence[Scenario],
    agent: AgentLike,
    *,
    bayes_optimal: BayesOptimal | None = None,
    rng: np.random.Generator,
) -> Calibration:
    """Play ``agent`` and follow the exact posterior beside it; ``rng`` spreads the atom at the standing price."""
    if not scenarios:
        raise ValueError("scenarios is empty; calibration needs episodes")
    bayes_optimal = bayes_optimal or BayesOptimal()
    return Calibration.of(
        observed(moment.belief, scenario.counterpart_type, number, rng.random())
        for number, scenario in enumerate(scenarios)
        for moment in retrace(scenario, play(scenario, agent), bayes_optimal)
    )


def _bins(values: Floats, num_bins: int) -> NDArray[np.intp]:
    return np.minimum((values * num_bins).astype(np.intp), num_bins - 1)
