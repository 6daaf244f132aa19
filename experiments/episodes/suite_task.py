"""Episodes as a task of the engine: a suite, each of whose episodes is a row of the log ``episodes.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commerce.economics import EconomicsConfig, unit_economics
from experiments.engine.header import Header
from experiments.engine.task import Job, Keep, Row
from experiments.episodes.config import DATA, SUITE, SuiteSpec
from experiments.episodes.folder import DROPPED, LOG, PARQUET, SUMMARY, Run, suite_summary, trial_name
from experiments.episodes.records import episode_from_row, episode_row, episodes_parquet
from experiments.episodes.trials import SuiteTrial, SuiteTrials
from experiments.players.player import Player, play_episode
from experiments.players.receipts import check_receipts
from terms import EpisodeRecord, Scenario, replay, voice
from terms.episode import Seeds, recorded_moves
from terms.strict_json import strict_dumps


class EpisodesTask:
    """See :class:`experiments.engine.task.Task`."""

    mode = "episodes"
    log = LOG
    tables = (PARQUET,)
    spec_type = SuiteSpec

    def digests(self, spec: SuiteSpec) -> dict[str, str]:
        """Return the hash of every drawn quantity, and that of a catalogue's files."""
        data = spec.data_digest()
        return {SUITE: spec.digest(), **({} if data is None else {DATA: data})}

    def beside(self, spec: SuiteSpec) -> Mapping[str, bytes]:
        """Return the rows of a catalogue that could not be used, if there are any."""
        rows = [row._asdict() for row in spec.dropped_rows]
        text = json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
        return {DROPPED: text.encode(errors="backslashreplace")} if rows else {}

    def reader(self, header: Header[SuiteSpec]) -> EpisodesReader:
        """Return a reader of the log."""
        return EpisodesReader(header)

    def jobs(self, run: Run, concurrency: int) -> Sequence[Job]:
        """Cut what is left into jobs; a trial that the provider lost is tried again, as it has no result yet."""
        trials = SuiteTrials(run.header.spec)
        pairs = zip(run.records, run.repeats, strict=True)
        done = {trials.find(record.scenario_id, repeat) for record, repeat in pairs if not record.is_excluded}
        return [SuiteJob(run.header.spec, part, run.header.salt) for part in trials.cut(done, concurrency)]

    def done(self, run: Run) -> int:
        """Return how many episodes have a result."""
        return sum(not record.is_excluded for record in run.records)

    def order(self, header: Header[SuiteSpec]) -> Callable[[Row], Any]:
        """Return the place of a row: a finished log is in the order of the suite."""
        trials = SuiteTrials(header.spec)
        return lambda row: trials.find(row["record"]["scenario_id"], row["repeat"])

    def check(self, run: Run) -> Iterator[str]:
        """Replay the moves of every episode."""
        scenarios = {scenario.scenario_id: scenario for scenario in run.header.spec.build()}
        has_voice = bool(run.header.settings.get("voice"))
        for record in run.records:
            yield from _replay_findings(scenarios[record.scenario_id], record, has_voice=has_voice)

    def results(self, run: Run) -> Mapping[str, bytes]:
        """Return the table of episodes and the summary."""
        summary = strict_dumps(suite_summary(run.header, run.records)) + "\n"
        return {PARQUET: episodes_parquet(run.records, run.repeats), SUMMARY: summary.encode()}

    def receipts(self, run: Run) -> Iterable[Mapping[str, Any]]:
        """Return the receipts of every turn."""
        return (turn for turns in run.receipts.values() for turn in turns)

    def extras(self, run: Run) -> Mapping[str, Iterable[str]]:
        """Return nothing more."""
        return {}


EPISODES = EpisodesTask()


class EpisodesReader:
    """Reads the log; a trial lost to the provider gives way to one that was played, and nothing else is there twice."""

    def __init__(self, header: Header[SuiteSpec]) -> None:
        self._header = header
        self._trials = SuiteTrials(header.spec)
        self._found: dict[SuiteTrial, tuple[EpisodeRecord, list[dict[str, Any]]]] = {}

    def add(self, row: Row) -> None:
        """Take in an episode."""
        record, repeat = _logged_record(row), row.get("repeat")
        trial = self._trials.find(record.scenario_id, repeat)
        if trial in self._found and not self._found[trial][0].is_excluded:
            raise ValueError(f"{trial_name(record.scenario_id, trial[1])} was played before and is there again")
        self._found[trial] = (record, _receipts(row))

    def done(self, folder: Path, torn: int) -> Run:
        """Return the run."""
        keys = sorted(self._found)
        pairs = [self._found[key] for key in keys]
        return Run(
            folder=folder,
            header=self._header,
            torn=torn,
            records=tuple(record for record, _ in pairs),
            repeats=tuple(repeat for _, repeat in keys),
            receipts={
                trial_name(record.scenario_id, repeat): receipts
                for (_, repeat), (record, receipts) in zip(keys, pairs, strict=True)
                if receipts
            },
        )


def _logged_record(row: Row) -> EpisodeRecord:
    unknown = sorted(set(row) - {"record", "repeat", "receipts", "voice"})
    if unknown:
        raise ValueError(f"unknown fields {', '.join(unknown)}")
    if not isinstance(row.get("record"), dict):
        raise ValueError("there is no record of an episode")
    return episode_from_row(row["record"])


def _receipts(row: Row) -> list[dict[str, Any]]:
    return check_receipts(row.get("receipts", []))


class SuiteJob(NamedTuple):
    """Some trials of a suite: the places of their episodes in it, and which repeat each is."""

    spec: SuiteSpec
    trials: tuple[SuiteTrial, ...]
    salt: str = ""

    @property
    def left(self) -> int:
        """How many episodes there are to play."""
        return len(self.trials)

    def do(self, player: Player, keep: Keep) -> None:
        """Play the episodes."""
        scenarios = self.spec.build()
        for index, repeat in self.trials:
            seeded = player.seeded(Seeds(self.salt, repeat))
            keep(_play_row(seeded, scenarios[index], repeat, self.spec.economics))

    def after(self, rows: Sequence[Row]) -> SuiteJob | None:
        """Return the episodes after the first ``len(rows)``."""
        rest = self.trials[len(rows) :]
        return self._replace(trials=rest) if rest else None


def _play_row(player: Player, scenario: Scenario, repeat: int, economics: EconomicsConfig | None) -> Row:
    money = None if economics is None else {"economics": unit_economics(scenario, economics).to_json_object()}
    played = play_episode(scenario, player, side_info=money)
    extras = {"receipts": list(played.receipts), "voice": played.voice_outcomes}
    found = {key: value for key, value in extras.items() if value}
    return {"record": episode_row(played.record), "repeat": repeat, **found}


def _replay_findings(scenario: Scenario, record: EpisodeRecord, *, has_voice: bool) -> Iterator[str]:
    # Words that a model spoke cannot be made again; they decide nothing, so the recorded ones are spoken.
    words = voice.recorded(record.turns, record.closing_message) if has_voice else voice.render
    try:
        again = replay(scenario, recorded_moves(record), agent=record.agent, voice=words)
    except ValueError as error:
        yield f"{record.scenario_id}: the logged moves cannot be replayed: {error}"
        return
    if again != record:
        fields = [name for name in EpisodeRecord.__slots__ if getattr(again, name) != getattr(record, name)]
        yield f"{record.scenario_id}: replaying the logged moves gives another {', '.join(fields)}"
