"""A run of episodes read back, and what is derived from it: ``episodes.parquet`` and ``summary.json``.

The log ``episodes.jsonl`` is the truth, so a run can be killed at any moment and derived again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.engine.folder import RunError
from experiments.engine.header import Header
from experiments.engine.task import ReadBack
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.money_metrics import MoneyRow, money_object, money_rows
from experiments.episodes.records import invalidity
from experiments.stats.paired import PAIRED, scenario_outcomes
from experiments.stats.variance import variance_parts
from terms import EpisodeRecord
from terms.episode import Seeds
from terms.metrics import summarize

LOG, PARQUET, SUMMARY = "episodes.jsonl", "episodes.parquet", "summary.json"
DROPPED = "dropped_rows.json"


@dataclass(frozen=True, kw_only=True)
class Run(ReadBack[SuiteSpec]):
    """A run read back: records in the order of the suite, whatever order they were finished in.

    ``repeats`` says of each record which of several plays of its scenario it is, from 0. ``receipts`` holds by
    :func:`trial_name` how a model's replies were read. ``resumed`` counts episodes.
    """

    records: tuple[EpisodeRecord, ...]
    repeats: tuple[int, ...]
    receipts: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every episode of the suite is there."""
        return len(self.records) == self.header.spec.num_episodes

    @property
    def left(self) -> str:
        """How many episodes are there."""
        return f"{len(self.records)} of {self.header.spec.num_episodes} episodes are there"

    @property
    def seeds(self) -> list[int]:
        """What names the model calls of each episode."""
        spec = self.header.spec
        repeats = [Seeds(self.header.salt, repeat) for repeat in range(spec.repeats)]
        return [seeds.of(scenario) for scenario in spec.build() for seeds in repeats]

    @property
    def played_seeds(self) -> list[int]:
        """What names the model calls of each record, in the order of the records."""
        spec = self.header.spec
        trials = [(scenario.scenario_id, repeat) for scenario in spec.build() for repeat in range(spec.repeats)]
        seeds = dict(zip(trials, self.seeds, strict=True))
        played = zip(self.records, self.repeats, strict=True)
        return [seeds[record.scenario_id, repeat] for record, repeat in played]


def trial_name(scenario_id: str, repeat: int) -> str:
    """Return the name of one play of a scenario; the first has the scenario's."""
    return f"{scenario_id}#{repeat}" if repeat else scenario_id


def run_money(header: Header[SuiteSpec], records: Sequence[EpisodeRecord]) -> list[MoneyRow]:
    """Return the money of a commerce run's scored episodes.

    Raises
    ------
    RunError
        If it was played without money.
    """
    suite = header.spec
    if suite.economics is None:
        raise RunError(f"{header.agent} on {suite.label} was played without money; use `terms diagnose --money`")
    return money_rows(records, {scenario.scenario_id: scenario for scenario in suite.build()}, suite.economics)


def suite_summary(header: Header[SuiteSpec], records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return what ``summary.json`` holds: every metric, and what it was measured on; commerce runs their money too."""
    return {
        **({} if header.spec.economics is None else {"money": money_object(run_money(header, records))}),
        "agent": header.agent,
        "suite": header.spec.label,
        "suite_digest": header.digests[SUITE],
        "versions": header.versions,
        "notices": list(header.spec.notices),
        "invalidity": invalidity(records),
        "metrics": summarize(records).to_json_object(),
        **({} if header.spec.repeats == 1 else {"variance": variance_object(records)}),
    }


def variance_object(records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return for each metric of single scenarios its variance between them and between repeats of the same one."""
    parts = {metric: variance_parts(scenario_outcomes(records, metric)) for metric in PAIRED}
    return {metric: found.to_json_object() for metric, found in parts.items()}
