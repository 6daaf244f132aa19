r"""Stated beliefs against the exact posterior: what an agent got wrong, and what nobody could have got right.

Each stated belief has an error against the truth, and so have the posterior's means at the same moment. The posterior's
error is what remains when everything seen is used, so the difference is the agent's own. For the stance this is exact,

.. math:: E |p - e|^2 = E |p^* - e|^2 + E |p - p^*|^2,

with ``p`` stated, ``p^*`` the posterior and ``e`` the truth; the last term is the distance of the two beliefs. For
absolute errors of r and kappa the mean is not the best point (the median is), so an agent can be slightly better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.calibration import Calibration, Observed, mean_by_episode, observed
from oracle.interventions import BayesOptimal
from oracle.posterior import stated_belief
from oracle.retrace import retrace
from terms.aliases import Floats
from terms.columns import belief_errors
from terms.estimates import Estimate
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Belief

ERROR_PARTS = ("be_type", "be_r", "be_kappa", "brier_eta")


class MeanErrors(NamedTuple):
    """Mean error as stated, of the exact posterior at the same moments, their paired difference, their distance."""

    stated: Estimate
    exact: Estimate
    excess: Estimate
    distance: Estimate


class ErrorCurves(NamedTuple):
    """The same by round, index 0 being round 1."""

    stated: list[Estimate]
    exact: list[Estimate]
    excess: list[Estimate]
    distance: list[Estimate]


@dataclass(frozen=True, eq=False)
class BeliefErrors:
    """One row a moment with a stated belief: episode's number and round (n,), and errors by part, nan if not stated.

    ``stated``, ``exact`` and ``distance`` map the parts of :data:`ERROR_PARTS` to arrays (n,).
    """

    horizon: int
    episode: NDArray[np.intp]
    round: NDArray[np.intp]
    stated: Mapping[str, Floats]
    exact: Mapping[str, Floats]
    distance: Mapping[str, Floats]

    def curves(self, part: str = "be_type") -> ErrorCurves:
        """Return the errors of one part by round, with intervals clustered by episode."""
        rounds = [self._means(part, self.round == number) for number in range(1, self.horizon + 1)]
        return ErrorCurves(*map(list, zip(*rounds, strict=True)))

    def overall(self, part: str = "be_type") -> MeanErrors:
        """Return the errors of one part over all rounds; a long talk weighs more than a short one."""
        return self._means(part, np.ones(len(self.round), dtype=bool))

    def _means(self, part: str, chosen: NDArray[np.bool_]) -> MeanErrors:
        if part not in ERROR_PARTS:
            raise ValueError(f"part={part!r}, allowed are {', '.join(ERROR_PARTS)}")
        stated, exact, distance = self.stated[part], self.exact[part], self.distance[part]
        used = chosen & ~np.isnan(stated)  # the posterior has every part, also where the agent left one out
        ones, episode = np.ones(int(used.sum())), self.episode[used]
        return MeanErrors(
            *(mean_by_episode(values[used], ones, episode) for values in (stated, exact, stated - exact, distance))
        )


class Trace(NamedTuple):
    """What following the posterior along a run shows about its stated beliefs, and about the posterior itself."""

    errors: BeliefErrors
    calibration: Calibration


def trace_beliefs(
    scenarios: Sequence[Scenario],
    records: Iterable[EpisodeRecord],
    *,
    bayes_optimal: BayesOptimal | None = None,
    rng: np.random.Generator,
    tell: Callable[[], None] = lambda: None,
) -> Trace:
    """Follow the exact posterior along every scored record; ``tell`` is called after each.

    Episodes are numbered by their scenario's place in ``scenarios``, so that several runs on them can be pooled. Trials
    lost to the provider are left out, as everywhere. ``rng`` spreads the atom at the standing price.

    Raises
    ------
    ValueError
        If no record is scored, or one is of no scenario given.
    """
    bayes_optimal, places = bayes_optimal or BayesOptimal(), {each.scenario_id: i for i, each in enumerate(scenarios)}
    seen: list[Observed] = []
    rows: list[_Row] = []
    for record in records:
        if record.is_excluded:
            continue
        if record.scenario_id not in places:
            raise ValueError(f"record of {record.scenario_id!r} is of none of the {len(places)} scenarios")
        place = places[record.scenario_id]
        for moment in retrace(scenarios[place], record, bayes_optimal):
            seen.append(observed(moment.belief, record.counterpart_type, place, rng.random()))
            if moment.turn.belief is not None:
                exact = stated_belief(moment.belief)
                rows.append(_row(place, moment.turn.round, moment.turn.belief, exact, record))
        tell()
    if not seen:
        raise ValueError("records holds no scored episode; there is no belief to follow")
    horizon = max(each.config.horizon for each in scenarios)
    return Trace(_arrays(rows, horizon), Calibration.of(seen))


class _Row(NamedTuple):
    episode: int
    round: int
    stated: tuple[float, ...]
    exact: tuple[float, ...]
    distance: tuple[float, ...]


def _row(place: int, number: int, stated: Belief, exact: Belief, record: EpisodeRecord) -> _Row:
    errors = belief_errors(stated, record), belief_errors(exact, record), _distances(stated, exact, record.price_range)
    return _Row(place, number, *(tuple(each.get(part, np.nan) for part in ERROR_PARTS) for each in errors))


def _distances(stated: Belief, exact: Belief, price_range: float) -> dict[str, float]:
    found: dict[str, float] = {}
    if stated.r_hat is not None and exact.r_hat is not None:
        found["be_r"] = abs(stated.r_hat - exact.r_hat) / price_range
    if stated.kappa_hat is not None and exact.kappa_hat is not None:
        found["be_kappa"] = abs(stated.kappa_hat - exact.kappa_hat)
    if stated.stance_probs is not None and exact.stance_probs is not None:
        pairs = zip(stated.stance_probs, exact.stance_probs, strict=True)
        found["brier_eta"] = sum((one - other) ** 2 for one, other in pairs)
    if len(found) == len(ERROR_PARTS) - 1:
        found["be_type"] = sum(found.values()) / len(found)
    return found


def _arrays(rows: Sequence[_Row], horizon: int) -> BeliefErrors:
    def column(name: str) -> dict[str, Floats]:
        table = np.array([getattr(row, name) for row in rows], dtype=np.float64).reshape(-1, len(ERROR_PARTS))
        return dict(zip(ERROR_PARTS, table.T, strict=True))

    return BeliefErrors(
        horizon,
        np.array([row.episode for row in rows], dtype=np.intp),
        np.array([row.round for row in rows], dtype=np.intp),
        column("stated"),
        column("exact"),
        column("distance"),
    )
