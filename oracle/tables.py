"""What a suite is worth: the clairvoyant's value and what the Bayes-optimal player earns, by slice, with intervals.

Both bound the Bayes optimum ``U*`` of the slice, as shares of its mean zopa: ``lower`` is what the reference earned
minus two standard errors, ``upper`` the clairvoyant's value plus two. They hold whatever the reference is, up to
sampling and to what play between the clairvoyant's grids could add. :func:`certificates` are proven, of the laws the
suite is drawn from: of the game itself, and nearer ones for offers on ticks that never fall.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from oracle.bounds import Bracket, Mean, bracket, joint_allowance
from oracle.interventions import (
    BayesOptimal,
    run_bayes_optimal,
    told_family,
    told_for_efficiency,
    told_regime_and_family,
)
from oracle.real_game import real_bracket
from oracle.relaxation import BracketSettings
from oracle.remembered import remembered_values
from oracle.shipped import values_for
from terms.aliases import Floats, Progress
from terms.columns import Columns
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios
from terms.records import EpisodeRecord
from terms.scenario import Scenario

_CHUNK = 50  # episodes between two calls of progress
_Z95 = 1.959964

Objective = Literal["utility", "se"]


class SuiteValue(NamedTuple):
    """One quantity of one slice.

    ``clairvoyant_value`` and ``oracle_utility`` are means in price units over all episodes; ``clairvoyant_share`` and
    ``oracle_share`` the same sums over the sum of the zopa of the feasible ones; ``oracle_se_plus`` the mean of the
    reference's ``utility / zopa`` over them. ``lower``, ``upper`` and their difference ``width`` are shares of the mean
    zopa with the sampling error inside, so they have no interval of their own. ``se_lower`` and ``se_upper`` bound the
    largest SE+ likewise, by the reference's mean of ``utility / zopa`` and the clairvoyant's of ``value / zopa``.
    """

    slice: str
    label: str
    quantity: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


def suite_values(
    scenarios: Sequence[Scenario],
    *,
    bayes_optimal: BayesOptimal | None = None,
    num_threads: int = 2,
    progress: Progress | None = None,
) -> list[SuiteValue]:
    """Return the table of a suite overall and by regime, family, role and opener.

    ``progress`` is called with (steps done, steps in all), two steps an episode.
    """
    if not scenarios:
        raise ValueError("scenarios is empty; there is no value to report")
    values, records = _play(scenarios, bayes_optimal or BayesOptimal(), num_threads, progress)
    columns = Columns.of(records)
    width = np.array([max(item.zopa, 0.0) for item in scenarios])
    rows: list[SuiteValue] = []
    for kind, label, mask in _slices(scenarios):
        found = {
            quantity: estimate_ratios([ratio], columns.clusters)
            for quantity, ratio in _quantities(values, columns, width, mask).items()
        }
        inside = mask > 0
        found |= _bounds(values[inside], columns.utility[inside], width[inside])
        found |= _efficiency_bounds(values[inside], columns.utility[inside], width[inside])
        rows.extend(SuiteValue(kind, label, quantity, *estimate) for quantity, estimate in found.items())
    return rows


def certificates(
    scenarios: Sequence[Scenario],
    *,
    num_dual: int,
    objective: Objective = "utility",
    settings: BracketSettings | None = None,
    progress: Progress | None = None,
) -> list[SuiteValue]:
    """Return proven bounds of the Bayes optimum for every family and opener of a suite, by what is known of the regime.

    They belong to the law the episodes are drawn from, not to the episodes. Their slice is ``certificate``;
    ``real_lower`` and ``real_upper`` are of the game itself (:mod:`oracle.real_game`), ``lower`` and ``upper`` of its
    utility with offers on ticks (:mod:`oracle.bounds`). All have a sampling allowance inside with which they hold
    together in 95 % of samples, and every row has its own seed.

    Parameters
    ----------
    num_dual
        Paths whose inner maximum is searched in each row.
    progress
        Called with (steps done, steps in all), a step being an episode of a player, a first value, a path or a bound.
    """
    cells = certified_cells(scenarios, objective)
    rows: list[SuiteValue] = []
    for done, cell in enumerate(cells):

        def tell(step: int, steps: int, done: int = done) -> None:
            if progress is not None:
                progress(done * steps + step, len(cells) * steps)

        num_bounds = sum(each.num_bounds for each in cells)
        rows += certify_cell(cell, num_bounds=num_bounds, num_dual=num_dual, settings=settings, progress=tell)
    return rows


class CertifiedCell(NamedTuple):
    """A row of certificates: the laws of ``scenario``, its regime told or one of the released ones."""

    scenario: Scenario
    objective: Objective = "utility"
    is_regime_told: bool = True

    @property
    def has_ticks(self) -> bool:
        """Whether the game on ticks is certified as well."""
        return self.is_regime_told and self.objective == "utility"

    @property
    def num_bounds(self) -> int:
        """How many bounds the row states."""
        return 4 if self.has_ticks else 2

    @property
    def label(self) -> str:
        """What is known, the family and the opener."""
        regime = self.scenario.regime.value if self.is_regime_told else "unknown regime"
        return f"{regime} {self.scenario.family} {self.scenario.opener}"


def certified_cells(scenarios: Sequence[Scenario], objective: Objective = "utility") -> list[CertifiedCell]:
    """Return what is certified of a suite: every (regime, family, opener) in which a deal can be made.

    A suite with both kinds of regimes has a row more for each family and opener, of who is not told which one holds.
    """
    feasible = [item for item in scenarios if item.zopa > 0]
    told = {(item.regime, item.family, item.opener): item for item in feasible}
    cells = [CertifiedCell(item, objective) for item in told.values()]
    if len(feasible) == len(scenarios) or objective == "se":
        return cells
    untold = {(item.family, item.opener): item for item in feasible}
    return cells + [CertifiedCell(item, objective, is_regime_told=False) for item in untold.values()]


def certify_cell(
    cell: CertifiedCell,
    *,
    num_bounds: int,
    num_dual: int,
    settings: BracketSettings | None = None,
    progress: Progress | None = None,
) -> list[SuiteValue]:
    """Return the certified bounds of a cell, in a table that states ``num_bounds`` bounds."""
    seed = int.from_bytes(hashlib.sha256(cell.label.encode()).digest()[:7])  # a row's draws are its own
    allowance = joint_allowance(num_bounds)
    knows = told_for_efficiency if cell.objective == "se" else told_regime_and_family
    values = values_for(knows(cell.scenario) if cell.is_regime_told else told_family(cell.scenario))
    parts = 2 if cell.has_ticks else 1

    def tell(step: int, steps: int) -> None:
        if progress is not None:
            progress(step, parts * steps)

    def tell_more(step: int, steps: int) -> None:
        if progress is not None:
            progress(steps + step, parts * steps)

    real = real_bracket(values, cell.scenario.opener, settings=settings, seed=seed, allowance=allowance, progress=tell)
    plain = {"real_lower": real.lower, "real_upper": real.upper, "real_width": real.width}
    rows = _bound_rows(cell.label, plain, real.told.n) + _mean_rows(
        cell.label, {"bayes": real.bayes, "told": real.told}
    )
    if not cell.has_ticks:
        return rows
    found = bracket(
        values, cell.scenario.opener, num_dual=num_dual, settings=settings, seed=seed, allowance=allowance,
        progress=tell_more,
    )  # fmt: skip
    return rows + _tick_rows(cell.label, found)


def _tick_rows(label: str, found: Bracket) -> list[SuiteValue]:
    """Return one row a quantity; the width's parts come under their own names."""
    plain = {"lower": found.lower, "upper": found.upper, "width": found.width, **found.width_parts()}
    means = {
        "policy": found.policy,
        "first_value": found.value,
        "inner_maximum": found.inner,
        "rounding": found.rounding,
    }
    return _bound_rows(label, plain, found.inner.n) + _mean_rows(label, means)


def _bound_rows(label: str, bounds: Mapping[str, float], n: int) -> list[SuiteValue]:
    return [SuiteValue("certificate", label, name, value, None, None, n) for name, value in bounds.items()]


def _mean_rows(label: str, means: Mapping[str, Mean]) -> list[SuiteValue]:
    rows = []
    for name, mean in means.items():
        low, high = mean.value - _Z95 * mean.se, mean.value + _Z95 * mean.se
        rows.append(SuiteValue("certificate", label, name, mean.value, low, high, mean.n))
    return rows


def _play(
    scenarios: Sequence[Scenario], bayes_optimal: BayesOptimal, num_threads: int, progress: Progress | None
) -> tuple[Floats, list[EpisodeRecord]]:
    values, records, total = list[float](), list[EpisodeRecord](), 2 * len(scenarios)
    for start in range(0, len(scenarios), _CHUNK):
        chunk = scenarios[start : start + _CHUNK]
        values.extend(remembered_values(chunk, num_threads=num_threads).tolist())
        records.extend(run_bayes_optimal(chunk, bayes_optimal))
        if progress is not None:
            progress(len(values) + len(records), total)
    return np.array(values), records


def _bounds(values: Floats, utility: Floats, width: Floats) -> dict[str, Estimate]:
    """Return lower, upper and width; undefined where there is no zopa, or too few episodes to know the error."""
    n = len(width)
    if n < 2 or width.sum() == 0:
        return dict.fromkeys(("lower", "upper", "width"), UNDEFINED)
    lower, upper = _share(utility, width, -2.0), _share(values, width, 2.0)
    upper = min(upper, 1.0)  # nobody earns more than the whole zopa
    found = {"lower": lower, "upper": upper, "width": upper - lower}
    return {name: Estimate(value, None, None, n) for name, value in found.items()}


def _efficiency_bounds(values: Floats, utility: Floats, width: Floats) -> dict[str, Estimate]:
    """Return what bounds SE+; the clairvoyant bounds it type by type, whatever the objective."""
    feasible = width > 0
    n = int(feasible.sum())
    if n < 2:
        return dict.fromkeys(("se_lower", "se_upper"), UNDEFINED)
    earned, most = utility[feasible] / width[feasible], values[feasible] / width[feasible]
    lower, upper = (
        float(each.mean()) + side * float(each.std(ddof=1)) / math.sqrt(n) for each, side in ((earned, -2), (most, 2))
    )
    return {"se_lower": Estimate(lower, None, None, n), "se_upper": Estimate(min(upper, 1.0), None, None, n)}


def _share(numerator: Floats, width: Floats, num_errors: float) -> float:
    share = float(numerator.sum() / width.sum())
    influence = (numerator - share * width) / width.mean()
    return share + num_errors * float(influence.std(ddof=1)) / math.sqrt(len(width))


def _quantities(values: Floats, columns: Columns, width: Floats, mask: Floats) -> dict[str, Ratio]:
    feasible = columns.feasible * mask
    return {
        "clairvoyant_value": Ratio(values * mask, mask),
        "clairvoyant_share": Ratio(values * feasible, width * mask),
        "oracle_utility": Ratio(columns.utility * mask, mask),
        "oracle_share": Ratio(columns.utility * feasible, width * mask),
        "oracle_se_plus": Ratio(columns.surplus_share * mask, feasible),
    }


def _slices(scenarios: Sequence[Scenario]) -> list[tuple[str, str, Floats]]:
    found = [("overall", "all", np.ones(len(scenarios)))]
    for kind, labels in (
        ("regime", [item.regime.value for item in scenarios]),
        ("family", [item.family.value for item in scenarios]),
        ("role", [item.agent_role.value for item in scenarios]),
        ("opener", [item.opener.value for item in scenarios]),
    ):
        found.extend(
            (kind, label, np.array([float(each == label) for each in labels])) for label in dict.fromkeys(labels)
        )
    return found
