"""The findings of the first paper, each as numbers with intervals from runs that are there.

* **penalties**: what muted cues cost (``alpha_cue``), and inference under high reactivity (``alpha_inf``), by agent;
  over agents the mean, with Wilcoxon's signed-rank and the sign test.
* **posterior**: which share of an agent's gap is closed when it is shown the exact posterior, from decompositions.
* **style**: of how agents play (opening, rounds, who closes, reversed offers), the share of the variance that lies
  between agents, the rest being the same agent against other families; each family's mean is taken off first.
* **shifts**: an agent's SE+ on another suite less that on the first, over agents the paired mean with Wilcoxon's test,
  and Spearman's rank correlation with the interval of Bonett and Wright (2000, Psychometrika 65, 23-28).
* **suites**: relative zopa, price range and tails of each suite, with the Kolmogorov-Smirnov test against the first.
* **ablations**: one model with other prompts, cues, histories or a voice, on one set of draws, against its base.
* **cost**: utility a dollar and a second of model calls.
* **cells**: a metric by regime and family.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from experiments.comparing.suite_geometry import geometry_rows
from experiments.episodes.config import SUITE
from experiments.episodes.folder import Run
from experiments.llm.calls import MODEL_CALLS, read_calls
from experiments.players.costing import episode_bills
from experiments.stats.numerals import interval_text, number_text
from experiments.stats.paired import compare_outcomes, scenario_outcomes
from experiments.stats.variance import variance_parts
from experiments.storage.files import read_given
from experiments.storage.journal import errors_in_words
from terms.aliases import Floats
from terms.columns import Columns
from terms.estimates import Estimate, Ratio, estimate_mean, estimate_ratios
from terms.intervals import normal_quantile, share_bounds
from terms.metric_table import METRIC_BY_NAME
from terms.records import EpisodeRecord
from terms.strict_json import strict_loads
from terms.types import Family, Regime

PENALTY_METRICS = ("alpha_cue", "alpha_inf")
STYLE = ("opening_anchor", "rounds_played", "agent_closer_rate", "reversed_concession_rate")
FEWEST = 4
"""Agents that a statement over agents needs."""


class FindingRow(NamedTuple):
    """One number: whom and what it is about, with its interval and n, and a p-value where something is tested."""

    whose: str
    what: str
    value: Estimate
    p: float | None = None

    @property
    def in_words(self) -> str:
        """The number as a cell."""
        if self.value.estimate is None:
            return "-"
        interval = "" if self.value.low is None else f" {interval_text(self.value.low, self.value.high)}"
        tested = "" if self.p is None else f" p={self.p:.2g}"
        return f"{number_text(self.value.estimate)}{interval} n={self.value.n}{tested}"


class PaperFinding(NamedTuple):
    """A finding: its name, what its numbers say, the rows, and what it would need where there are none."""

    name: str
    says: str
    rows: tuple[FindingRow, ...]
    needs: str

    def to_json_object(self) -> dict[str, Any]:
        """Return the finding as JSON types."""
        rows = [{"whose": row.whose, "what": row.what, **row.value._asdict(), "p": row.p} for row in self.rows]
        return {"name": self.name, "says": self.says, "needs": self.needs, "rows": rows}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return headings and lines: a line for each of whom, a column for each of what."""
        columns = list(dict.fromkeys(row.what for row in self.rows))
        cells = {(row.whose, row.what): row.in_words for row in self.rows}
        whose = dict.fromkeys(row.whose for row in self.rows)
        return ("", *columns), [(who, *(cells.get((who, what), "") for what in columns)) for who in whose]


def find_all(
    runs: Sequence[Run], decompositions: Sequence[ClosedGap] = (), metric: str = "se_plus"
) -> list[PaperFinding]:
    """Return every finding that ``runs`` and stored decompositions allow; the others say what they would need."""
    made: tuple[tuple[str, str, Callable[[], Iterator[FindingRow]], str], ...] = (
        ("penalties", "SE+ lost where cues are muted and where the counterpart reacts (above 0: lost)",
         lambda: _penalties(runs), "runs on suites with several families"),
        ("posterior", "share of the gap that the exact posterior closes",
         lambda: _posterior(decompositions), "--decomposition FILE of `terms decompose --out`"),
        ("style", "share of the variance of a style between agents, not within one across families",
         lambda: _style(runs), f"{FEWEST} agents on one suite with several families"),
        ("shifts", "SE+ on another suite less that on the first; rank correlation of the agents",
         lambda: _shifts(runs), "the same agents on two suites"),
        ("suites", "geometry of each suite; R is the price range, p of the same law as the first suite's",
         lambda: _suites(runs), "runs of episodes"),
        ("ablations", "one model in another setting less its base, SE+ on the same draws, p by Holm",
         lambda: _ablations(runs), "runs of one model with other --model settings on one suite"),
        ("cost", "utility a dollar and a second of its calls", lambda: _cost(runs), "runs of a language model"),
        ("cells", f"{METRIC_BY_NAME[metric].label} by regime and family",
         lambda: _cells(runs, metric), "runs of episodes"),
    )  # fmt: skip
    return [PaperFinding(name, says, tuple(rows()), needs) for name, says, rows, needs in made]


def _by_suite(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.header.digests[SUITE], []).append(run)
    return found


def _name(run: Run) -> str:
    return f"{run.header.agent} on {run.header.spec.label}"


def _measured(episodes: Sequence[EpisodeRecord], metric: str) -> Estimate:
    return METRIC_BY_NAME[metric].compute(Columns.of(episodes))


def _penalties(runs: Sequence[Run]) -> Iterator[FindingRow]:
    for group, metric in itertools.product(_by_suite(runs).values(), PENALTY_METRICS):
        found = {_name(run): _measured(run.records, metric) for run in group}
        known = {name: value for name, value in found.items() if value.estimate is not None}
        yield from (FindingRow(name, metric, value) for name, value in known.items())
        values = [value.estimate for value in known.values() if value.estimate is not None]
        if len(values) >= FEWEST:
            over = f"over agents on {group[0].header.spec.label}"
            yield FindingRow(over, metric, estimate_mean(values), signed_rank_p(values))
            above, num = float(np.mean(np.array(values) > 0)), len(values)
            share = Estimate(above, *share_bounds(above, num), num)
            yield FindingRow(over, f"{metric} above 0", share, sign_p(values))


def signed_rank_p(values: Sequence[float]) -> float | None:
    """Return the p-value of Wilcoxon's signed-rank test that ``values`` lie around 0; ``None`` if all are 0."""
    from scipy.stats import wilcoxon

    return None if not np.any(values) else float(wilcoxon(np.asarray(values)).pvalue)


def sign_p(values: Sequence[float]) -> float | None:
    """Return the p-value of the exact sign test: ``values`` as often above 0 as below; ``None`` if all are 0."""
    from scipy.stats import binomtest

    signs = np.sign(np.asarray(values))
    num = int(np.count_nonzero(signs))
    return None if num == 0 else float(binomtest(int((signs > 0).sum()), num).pvalue)


class ClosedGap(BaseModel):
    """What is taken of the file of a decomposition; the file has more."""

    agent: str
    suite: str
    closed_by_posterior: Estimate | None = None


def read_closed_gap(path: Path) -> ClosedGap:
    """Read which share of a gap the posterior closed from what ``terms decompose --out`` wrote.

    Raises
    ------
    ValueError
        If the file is no decomposition.
    """
    try:
        return ClosedGap.model_validate(strict_loads(read_given(path)))
    except ValueError as error:
        words = errors_in_words(error)
        raise ValueError(f"decomposition={str(path)!r} is not what terms decompose --out writes: {words}") from error


def _posterior(decompositions: Sequence[ClosedGap]) -> Iterator[FindingRow]:
    for found in decompositions:
        if found.closed_by_posterior is not None:
            yield FindingRow(f"{found.agent} on {found.suite}", "share of the gap", found.closed_by_posterior)


def _style(runs: Sequence[Run]) -> Iterator[FindingRow]:
    for group, metric in itertools.product(_by_suite(runs).values(), STYLE):
        table = {run.header.agent: _by_family(run, metric) for run in group}
        shared = set.intersection(*(set(row) for row in table.values()))
        if len(table) < FEWEST or len(shared) < 2:
            continue
        means = {family: float(np.mean([row[family] for row in table.values()])) for family in shared}
        centred = {name: [row[family] - means[family] for family in shared] for name, row in table.items()}
        parts = variance_parts(centred)
        yield FindingRow(f"{metric} on {group[0].header.spec.label}", "share between agents", parts.share_between)


def _by_family(run: Run, metric: str) -> dict[str, float]:
    groups: dict[str, list[EpisodeRecord]] = {}
    for record in run.records:
        groups.setdefault(record.family.value, []).append(record)
    found = {family: _measured(group, metric).estimate for family, group in groups.items()}
    return {family: value for family, value in found.items() if value is not None}


def _shifts(runs: Sequence[Run]) -> Iterator[FindingRow]:
    suites = list(_by_suite(runs).values())
    for second in suites[1:]:
        first = {run.header.agent: run for run in suites[0]}
        pairs = [(first[run.header.agent], run) for run in second if run.header.agent in first]
        what = f"{second[0].header.spec.label} less {suites[0][0].header.spec.label}"
        values = []
        for one, other in pairs:
            value = _shift(one, other)
            yield FindingRow(one.header.agent, what, value)
            if value.estimate is not None:
                values.append((value.estimate, _measured(one.records, "se_plus").estimate or 0.0))
        if len(values) < FEWEST:
            continue
        shifts, before = np.array(values).T
        yield FindingRow("over agents", what, estimate_mean(shifts), signed_rank_p(shifts.tolist()))
        yield FindingRow("rank correlation", what, *rank_correlation(before, before + shifts))


def _shift(one: Run, other: Run) -> Estimate:
    """Return the difference of two SE+ on scenarios that have nothing to do with each other."""
    own, moved = (Columns.of(run.records) for run in (one, other))
    parts = []
    for place, columns in enumerate((own, moved)):
        padding = [np.zeros(len(each.ones)) for each in (own, moved)]
        shares, counts = list(padding), list(padding)
        shares[place], counts[place] = columns.surplus_share, columns.feasible
        parts.append(Ratio(np.concatenate(shares), np.concatenate(counts), (-1.0, 1.0)[place]))
    clusters = np.concatenate([own.clusters, moved.clusters + int(own.clusters.max(initial=0)) + 1])
    return estimate_ratios(parts, clusters)


def rank_correlation(first: Floats, second: Floats) -> tuple[Estimate, float | None]:
    """Return Spearman's correlation with its interval and p-value; undefined where one side is constant."""
    from scipy.stats import spearmanr

    n = len(first)
    if n < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Estimate(None, None, None, n), None
    found = spearmanr(first, second)
    value = float(found.statistic)
    if abs(value) >= 1.0 - 1e-12:
        return Estimate(value, None, None, n), float(found.pvalue)
    middle = math.atanh(value)
    half = normal_quantile(0.975) * math.sqrt((1 + value**2 / 2) / (n - 3))
    return Estimate(value, math.tanh(middle - half), math.tanh(middle + half), n), float(found.pvalue)


def _suites(runs: Sequence[Run]) -> Iterator[FindingRow]:
    suites = {group[0].header.spec.label: group[0].header.spec.build() for group in _by_suite(runs).values()}
    yield from (FindingRow(*row) for row in geometry_rows(suites))


def _ablations(runs: Sequence[Run]) -> Iterator[FindingRow]:
    for group in _by_suite(runs).values():
        models: dict[str, list[Run]] = {}
        for run in group:
            if "negotiator" in run.header.settings:
                models.setdefault(str(run.header.settings["model"]), []).append(run)
        for same in models.values():
            yield from _against_base(sorted(same, key=lambda run: len(run.header.agent)))


def _against_base(runs: Sequence[Run]) -> Iterator[FindingRow]:
    """Compare each run of one model with the one whose name says least."""
    if len(runs) < 2:
        return
    base, outcomes = runs[0], {run.header.agent: scenario_outcomes(run.records, "se_plus") for run in runs}
    found = compare_outcomes(outcomes, "se_plus", "higher").differences
    for run in runs[1:]:
        (pair,) = (each for each in found if {each.first, each.second} == {run.header.agent, base.header.agent})
        low, high, value = pair.low, pair.high, pair.estimate
        if pair.first == base.header.agent:
            value, low, high = -value, None if high is None else -high, None if low is None else -low
        changed = ", ".join(_changed(base.header.settings, run.header.settings))
        yield FindingRow(f"{base.header.agent}: {changed}", "SE+", Estimate(value, low, high, pair.n), pair.p_holm)


def _changed(base: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for key, value in other["negotiator"].items():
        if base["negotiator"].get(key) != value:
            yield f"{key}={value}"
    if base["voice"] != other["voice"]:
        yield "voice=" + (other["voice"]["model"] if other["voice"] else "templates")


def _cost(runs: Sequence[Run]) -> Iterator[FindingRow]:
    for run in runs:
        if "negotiator" not in run.header.settings:
            continue
        bills = episode_bills(read_calls(run.folder / MODEL_CALLS), run.played_seeds)
        kept = [(record, bill) for record, bill in zip(run.records, bills, strict=True) if not record.is_excluded]
        columns = Columns.of([record for record, _ in kept])
        known = np.array([bill.usd is not None for _, bill in kept], dtype=float)
        dollars = np.array([bill.usd or 0.0 for _, bill in kept])
        seconds = np.array([bill.seconds for _, bill in kept])
        for what, spent, counted in (("a dollar", dollars, known), ("a second", seconds, np.ones(len(kept)))):
            yield FindingRow(
                _name(run), what, estimate_ratios([Ratio(columns.utility * counted, spent)], columns.clusters)
            )


def _cells(runs: Sequence[Run], metric: str) -> Iterator[FindingRow]:
    for run, regime, family in itertools.product(runs, Regime, Family):
        group = [record for record in run.records if (record.regime, record.family) == (regime, family)]
        value = _measured(group, metric)
        if value.estimate is not None:
            yield FindingRow(f"{_name(run)}, {regime.value}", family.value, value)
