"""Summaries of many episodes: every metric overall and by slice, and two curves over rounds.

Definitions stand in :mod:`terms.metric_table`, intervals in :mod:`terms.estimates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terms.columns import Columns, anchor_share
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_quotient, estimate_ratios
from terms.metric_table import METRIC_BY_NAME, METRICS
from terms.records import EpisodeRecord
from terms.suites import NUM_BINS
from terms.types import Decision, Family, Opener, Regime, Role

__all__ = [
    "METRICS",
    "METRIC_BY_NAME",
    "PCT_ORACLE",
    "Estimate",
    "Summary",
    "belief_error_by_round",
    "compute_metrics",
    "concession_curve",
    "summarize",
]

PCT_ORACLE = {"pct_oracle_se": "%Oracle, SE+", "pct_oracle_cse": "%Oracle, CSE+"}
"""Parts of a reference policy's surplus, each with its label."""


@dataclass(frozen=True)
class Summary:
    """Every metric, overall and by slice, and the belief errors by round.

    ``num_excluded`` counts trials lost to the provider, which no metric includes.
    """

    overall: dict[str, Estimate]
    regimes: dict[str, dict[str, Estimate]]
    families: dict[str, dict[str, Estimate]]
    roles: dict[str, dict[str, Estimate]]
    openers: dict[str, dict[str, Estimate]]
    difficulty: dict[str, dict[str, Estimate]]
    by_round: dict[str, list[Estimate]]
    num_episodes: int
    num_excluded: int

    def _repr_html_(self) -> str:
        """Return every metric overall as a table, for notebooks."""
        rows = "".join(
            f"<tr><td>{escape(METRIC_BY_NAME[name].label)}</td>"
            + "".join(f"<td>{'-' if number is None else f'{number:.4g}'}</td>" for number in value)
            + "</tr>"
            for name, value in self.overall.items()
            if name in METRIC_BY_NAME
        )
        head = "".join(f"<th>{name}</th>" for name in ("metric", *Estimate._fields))
        return f"<p>{self.num_episodes} episodes</p><table><tr>{head}</tr>{rows}</table>"

    def to_json_object(self) -> dict[str, Any]:
        """Return the object printed by ``--json``: undefined parts are null."""
        slices = ("regimes", "families", "roles", "openers", "difficulty")
        return {
            "overall": _as_json(self.overall),
            **{name: {key: _as_json(value) for key, value in getattr(self, name).items()} for name in slices},
            "by_round": {name: [value._asdict() for value in values] for name, values in self.by_round.items()},
            "num_episodes": self.num_episodes,
            "num_excluded": self.num_excluded,
        }


def _as_json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate._asdict() for name, estimate in estimates.items()}


def compute_metrics(
    episodes: Sequence[EpisodeRecord], reference: Mapping[str, EpisodeRecord] | None = None
) -> dict[str, Estimate]:
    """Compute every metric of one slice; ``reference`` maps scenario ids to the reference policy's episodes."""
    columns = Columns.of(episodes)
    values = {metric.name: metric.compute(columns) for metric in METRICS}
    if reference is not None:
        values |= _pct_oracle(columns, reference)
    return values


def _pct_oracle(columns: Columns, reference: Mapping[str, EpisodeRecord]) -> dict[str, Estimate]:
    """Return SE+ and CSE+ as parts of the reference policy's, on the same feasible episodes; deals are each side's own.

    The published number moves with CSE+ alone, so it is the second; the first counts the missed deals too.
    """
    pairs = [
        (own, reference[own.scenario_id])
        for own in columns.episodes
        if own.is_feasible and own.scenario_id in reference and not reference[own.scenario_id].is_excluded
    ]
    if not pairs:
        return dict.fromkeys(PCT_ORACLE, UNDEFINED)
    own, other = (Columns.of(side) for side in zip(*pairs, strict=True))
    mine, theirs = (Ratio(side.surplus_share, side.agreed) for side in (own, other))
    return {
        "pct_oracle_se": estimate_ratios([Ratio(own.surplus_share, other.surplus_share)], own.clusters)._replace(
            n=len(pairs)
        ),
        "pct_oracle_cse": estimate_quotient(mine, theirs, own.clusters),
    }


def summarize(episodes: Sequence[EpisodeRecord], reference: Sequence[EpisodeRecord] | None = None) -> Summary:
    """Summarise episodes overall and by regime, family, role, opener and difficulty bin.

    Parameters
    ----------
    episodes
        Records of one agent, any order, repeats of a scenario allowed.
    reference
        Episodes of a reference policy on the same scenarios; adds :data:`PCT_ORACLE`.
    """
    by_scenario = None if reference is None else {episode.scenario_id: episode for episode in reference}

    def sliced(order: Iterable[str], key: Callable[[EpisodeRecord], str | None]) -> dict[str, dict[str, Estimate]]:
        groups: dict[str, list[EpisodeRecord]] = {}
        for episode in episodes:
            label = key(episode)
            if label is not None:
                groups.setdefault(label, []).append(episode)
        return {label: compute_metrics(groups[label], by_scenario) for label in order if label in groups}

    columns = Columns.of(episodes)
    bins = [f"bin_{index}" for index in range(NUM_BINS)]
    return Summary(
        overall=compute_metrics(episodes, by_scenario),
        regimes=sliced(Regime, lambda e: e.regime.value),
        families=sliced(Family, lambda e: e.family.value),
        roles=sliced(Role, lambda e: e.agent_role.value),
        openers=sliced(Opener, lambda e: e.opener.value),
        difficulty=sliced(bins, lambda e: None if e.difficulty_bin is None else f"bin_{e.difficulty_bin}"),
        by_round={part: _by_round(grid, columns) for part, grid in columns.belief_grids.items()},
        num_episodes=len(episodes),
        num_excluded=sum(episode.is_excluded for episode in episodes),
    )


def belief_error_by_round(episodes: Sequence[EpisodeRecord], part: str = "be_type") -> list[Estimate]:
    """Return a belief error by round (index 0 is round 1); undefined in rounds where nobody stated it.

    ``part`` is one of ``be_type``, ``be_r``, ``be_kappa``, ``brier_eta`` and ``stance_acc``.
    """
    columns = Columns.of(episodes)
    return _by_round(columns.belief_grids[part], columns)


def concession_curve(episodes: Sequence[EpisodeRecord]) -> list[Estimate]:
    """Return by round the mean distance of the own offer from the own reservation, as a share of R."""
    columns = Columns.of(episodes)
    horizon = max((episode.horizon for episode in columns.episodes), default=0)
    grid = np.full((horizon, len(columns.episodes)), np.nan)
    for column, episode in enumerate(columns.episodes):
        for turn in episode.turns:
            if turn.decision is Decision.OFFER and turn.price is not None:
                grid[turn.round - 1, column] = anchor_share(episode, turn.price)
    return _by_round(grid, columns)


def _by_round(grid: NDArray[np.float64], columns: Columns) -> list[Estimate]:
    """Return the mean of each row of ``grid``, shape (horizon, episodes), over the episodes where it is not nan."""
    stated = ~np.isnan(grid)
    return [
        estimate_ratios([Ratio(np.where(known, row, 0.0), known.astype(float))], columns.clusters)
        for row, known in zip(grid, stated, strict=True)
    ]
