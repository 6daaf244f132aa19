"""Comparing agents on the worlds they share: the draws of a world do not depend on who trades in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.stats.paired import Comparison, compare_outcomes
from experiments.storage.journal import HEADER
from experiments.years.spec import WORLD, with_aids
from experiments.years.summary import BETTER, year_estimates
from experiments.years.transcript import read_outcome
from experiments.years.year_mode import RESULT, is_year, read_todays_header, read_year_result
from terms.estimates import Estimate

UNFINISHED = "unfinished"
"""Why a year that may go on has no score."""


class YearOutcomes(NamedTuple):
    """A metric by agent and world, one value a repeat; ``excluded`` says of each year without a score why."""

    values: dict[str, dict[str, list[float]]]
    excluded: dict[Path, str]


def find_years(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of years among ``folders`` or directly in them; none if they hold runs of episodes.

    Raises
    ------
    ValueError
        If some are years and others are not.
    """
    found = [[folder] if is_year(folder) else _years_in(folder) for folder in folders]
    others = [str(folder) for folder, years in zip(folders, found, strict=True) if not years]
    if others and len(others) < len(folders):
        raise ValueError(f"runs has years and, in {', '.join(others)}, none; name years alone")
    return [year for years in found for year in years]


def _years_in(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{HEADER}") if is_year(path.parent))


def read_outcomes(years: Sequence[Path], metric: str) -> YearOutcomes:
    """Return the metric of every scored year.

    Raises
    ------
    ValueError
        If years cannot be compared on ``metric``.
    """
    if metric not in BETTER:
        raise ValueError(f"metric={metric!r}, allowed are {', '.join(BETTER)}")
    found: dict[str, dict[str, list[float]]] = {}
    excluded: dict[Path, str] = {}
    for folder in years:
        header = read_todays_header(folder)
        spec, by_world = header.spec, found.setdefault(with_aids(header.agent, header.spec), {})
        if (why := why_excluded(folder)) is not None:
            excluded[folder] = why
            continue
        value = read_year_result(folder)["metrics"][metric]["value"]
        if value is not None:
            by_world.setdefault(f"{header.digests[WORLD]}/{spec.rules_label}/{spec.num_days}", []).append(value)
    return YearOutcomes(found, excluded)


def read_metrics(years: Sequence[Path]) -> dict[str, dict[str, Estimate]]:
    """Return every metric by agent, over its scored years."""
    results: dict[str, list[dict[str, Any]]] = {}
    for folder in years:
        if why_excluded(folder) is None:
            header = read_todays_header(folder)
            results.setdefault(with_aids(header.agent, header.spec), []).append(read_year_result(folder))
    return {agent: year_estimates(found) for agent, found in results.items()}


def why_excluded(folder: Path) -> str | None:
    """Return why a year has no score; it has one when its outcome says so, whatever files lie beside it."""
    outcome = read_outcome(folder)
    if outcome is not None and not outcome.is_scored:
        return outcome.outcome.value
    return UNFINISHED if outcome is None or not (folder / RESULT).is_file() else None


def compare_years(
    outcomes: YearOutcomes, metric: str, *, delta: float | None = None, margin: float | None = None
) -> Comparison:
    """Compare every pair of agents by world, as :func:`experiments.stats.paired.compare` does by scenario."""
    if len(outcomes.values) < 2:
        raise ValueError(f"runs has years of {len(outcomes.values)} agent; a comparison needs at least 2")
    return compare_outcomes(outcomes.values, metric, BETTER[metric], delta=delta, margin=margin)
