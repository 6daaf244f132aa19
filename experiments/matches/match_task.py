"""Matches as a task of the engine: a suite, each of whose talks of two players is a row of ``matches.jsonl``.

A row holds the record of either seat and how a model's replies were read in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from experiments.engine.header import Header
from experiments.engine.task import Job, Keep, ReadBack, Row
from experiments.engine.verify import call_findings
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import SUMMARY, trial_name
from experiments.episodes.records import episode_from_row, episode_row, invalidity
from experiments.episodes.suite_task import EPISODES
from experiments.episodes.trials import SuiteTrial, SuiteTrials
from experiments.llm.calls import MODEL_CALLS
from experiments.matches.rivals import SECOND, Rivals
from experiments.players.player import Player
from experiments.players.receipts import check_receipts
from experiments.stats.matches import summarize_matches
from terms import EpisodeRecord
from terms.episode import Seeds
from terms.strict_json import strict_dumps
from terms.two_seats import Match, replay_match

MATCH_LOG = "matches.jsonl"
_FIELDS = {"first", "second", "repeat", "receipts", "second_receipts"}


class PlacedMatch(NamedTuple):
    """A talk as the log has it."""

    match: Match
    repeat: int
    receipts: list[dict[str, Any]]
    second_receipts: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class MatchRun(ReadBack[SuiteSpec]):
    """A run read back, in the order of the suite. ``resumed`` counts talks."""

    talks: tuple[PlacedMatch, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every talk of the suite is there."""
        return len(self.talks) == self.header.spec.num_episodes

    @property
    def left(self) -> str:
        """How many talks are there."""
        return f"{len(self.talks)} of {self.header.spec.num_episodes} talks are there"

    @property
    def matches(self) -> tuple[Match, ...]:
        """Every talk from both seats."""
        return tuple(talk.match for talk in self.talks)

    @property
    def agents(self) -> tuple[str, str]:
        """Who sat where."""
        return self.header.settings["first"]["agent"], self.header.settings["second"]["agent"]


class MatchTask:
    """See :class:`experiments.engine.task.Task`."""

    mode = "matches"
    log = MATCH_LOG
    tables = ()
    spec_type = SuiteSpec

    def digests(self, spec: SuiteSpec) -> dict[str, str]:
        """Return what pins the suite."""
        return EPISODES.digests(spec)

    def beside(self, spec: SuiteSpec) -> Mapping[str, bytes]:
        """Return what a suite of episodes has beside it."""
        return EPISODES.beside(spec)

    def reader(self, header: Header[SuiteSpec]) -> MatchReader:
        """Return a reader of the log."""
        return MatchReader(header)

    def jobs(self, run: MatchRun, concurrency: int) -> Sequence[Job]:
        """Cut what is left into jobs; a talk that a provider lost is tried again."""
        trials = SuiteTrials(run.header.spec)
        done = {trials.find(talk.match.first.scenario_id, talk.repeat) for talk in run.talks if not _is_lost(talk)}
        return [MatchJob(run.header.spec, part, run.header.salt) for part in trials.cut(done, concurrency)]

    def done(self, run: MatchRun) -> int:
        """Return how many talks have a result."""
        return sum(not _is_lost(talk) for talk in run.talks)

    def order(self, header: Header[SuiteSpec]) -> Callable[[Row], Any]:
        """Return the place of a row: a finished log is in the order of the suite."""
        trials = SuiteTrials(header.spec)
        return lambda row: trials.find(row["first"]["scenario_id"], row["repeat"])

    def check(self, run: MatchRun) -> Iterator[str]:
        """Replay the moves of both seats."""
        scenarios = {scenario.scenario_id: scenario for scenario in run.header.spec.build()}
        for talk in run.talks:
            name = talk.match.first.scenario_id
            try:
                again = replay_match(scenarios[name], talk.match)
            except ValueError as error:
                yield f"{name}: the logged moves cannot be replayed: {error}"
                continue
            for seat, there, now in zip(Match._fields, talk.match, again, strict=True):
                fields = [each for each in EpisodeRecord.__slots__ if getattr(there, each) != getattr(now, each)]
                if fields:
                    yield f"{name}: replaying the logged moves gives another {', '.join(fields)} of the {seat} seat"

    def results(self, run: MatchRun) -> Mapping[str, bytes]:
        """Return the summary."""
        return {SUMMARY: (strict_dumps(match_summary(run)) + "\n").encode()}

    def receipts(self, run: MatchRun) -> Iterable[Mapping[str, Any]]:
        """Return the receipts of every turn of the first seat."""
        return (turn for talk in run.talks for turn in talk.receipts)

    def extras(self, run: MatchRun) -> Mapping[str, Iterable[str]]:
        """Return the calls of a model in the second seat, if there are any."""
        name = f"{SECOND}/{MODEL_CALLS}"
        if not (run.folder / name).exists():
            return {}
        receipts = [turn for talk in run.talks for turn in talk.second_receipts]
        return {name: (f"{SECOND}/{found}" for found in call_findings(run.folder / SECOND, receipts))}


MATCHES = MatchTask()


class MatchReader:
    """Reads the log; a talk lost to a provider gives way to one that was played, and nothing else is there twice."""

    def __init__(self, header: Header[SuiteSpec]) -> None:
        self._header = header
        self._trials = SuiteTrials(header.spec)
        self._found: dict[SuiteTrial, PlacedMatch] = {}

    def add(self, row: Row) -> None:
        """Take in a talk."""
        unknown = sorted(set(row) - _FIELDS)
        if unknown:
            raise ValueError(f"unknown fields {', '.join(unknown)}")
        if not all(isinstance(row.get(seat), dict) for seat in Match._fields):
            raise ValueError("there are not the records of both seats")
        match = Match(*(episode_from_row(row[seat]) for seat in Match._fields))
        name = match.first.scenario_id
        trial = self._trials.find(name, row.get("repeat"))
        if trial in self._found and not _is_lost(self._found[trial]):
            raise ValueError(f"{trial_name(name, trial[1])} was played before and is there again")
        receipts = (check_receipts(row.get(field, [])) for field in ("receipts", "second_receipts"))
        self._found[trial] = PlacedMatch(match, trial[1], *receipts)

    def done(self, folder: Path, torn: int) -> MatchRun:
        """Return the run."""
        talks = tuple(self._found[trial] for trial in sorted(self._found))
        return MatchRun(folder=folder, header=self._header, torn=torn, talks=talks)


class MatchJob(NamedTuple):
    """Some talks of a suite: the places of their scenarios in it, and which repeat each is."""

    spec: SuiteSpec
    trials: tuple[SuiteTrial, ...]
    salt: str = ""

    @property
    def left(self) -> int:
        """How many talks there are to play."""
        return len(self.trials)

    def do(self, player: Player, keep: Keep) -> None:
        """Play the talks."""
        scenarios, rivals = self.spec.build(), cast(Rivals, player)
        for index, repeat in self.trials:
            played = rivals.seeded(Seeds(self.salt, repeat)).meet(scenarios[index])
            receipts = {"receipts": list(played.receipts), "second_receipts": list(played.second_receipts)}
            records = {seat: episode_row(record) for seat, record in played.match._asdict().items()}
            keep({**records, "repeat": repeat, **{name: value for name, value in receipts.items() if value}})

    def after(self, rows: Sequence[Row]) -> MatchJob | None:
        """Return the talks after the first ``len(rows)``."""
        rest = self.trials[len(rows) :]
        return self._replace(trials=rest) if rest else None


def match_summary(run: MatchRun) -> dict[str, Any]:
    """Return what ``summary.json`` holds: what the two make of the surplus, each number with its interval."""
    first, second = run.agents
    return {
        "first": first,
        "second": second,
        "suite": run.header.spec.label,
        "versions": run.header.versions,
        "notices": list(run.header.spec.notices),
        "invalidity": _invalidity(run.matches),
        "metrics": {name: value._asdict() for name, value in summarize_matches(run.matches).items()},
    }


def _invalidity(matches: Sequence[Match]) -> str | None:
    found = [invalidity([getattr(match, seat) for match in matches]) for seat in Match._fields]
    return "; ".join(dict.fromkeys(each for each in found if each)) or None


def _is_lost(talk: PlacedMatch) -> bool:
    return talk.match.first.is_excluded
