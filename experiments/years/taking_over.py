"""A year that goes on from the morning of a day of another one, on the same draws.

The branch is a year of its own. Its transcript begins with the calls that the first year made until that morning,
whoever made them, and goes on with what the successor said and did; its header names the day, whose year it was, and a
digest of those calls. So it is checked, reported and compared like any other, without the year that it comes from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from commerce.branching import Successor, View
from commerce.replay import DivergedError, Entry, check_entry
from commerce.setting import Setting
from commerce.tools.handling import clock
from commerce.year import Made, Result, Year
from experiments.engine.folder import RunError
from experiments.engine.header import Header
from experiments.llm.records import Record
from experiments.years.briefing import render_briefing
from experiments.years.limits import Limits
from experiments.years.seats import MerchantAgent, MerchantSeat, YearSeat, calling
from experiments.years.sitting import CallGuard, YearAgent, YearSitting
from experiments.years.spec import YearSpec
from experiments.years.transcript import Opening, read_outcome
from experiments.years.year_mode import read_store_calls, read_todays_header
from terms.strict_json import strict_dumps

BRANCH = "branch"
"""Where the settings of a year say that it is a branch."""


class BranchPoint(Record):
    """Where a year branches off, and who goes on: on the morning of ``day``, after so many calls of that ``digest``."""

    day: int
    agent: str
    num_calls: int
    digest: str
    successor: str


class Origin(NamedTuple):
    """A year that others can go on with: its header, and the calls that it made until the morning of ``day``."""

    header: Header[YearSpec]
    day: int
    calls: tuple[Entry, ...]


def read_origin(folder: Path, day: int) -> Origin:
    """Return the year in ``folder`` until the morning of ``day``.

    Raises
    ------
    RunError
        If it is unfinished or has no score.
    ValueError
        If it has no such morning.
    """
    header, outcome = read_todays_header(folder), read_outcome(folder)
    if outcome is None:
        raise RunError(f"{folder} holds an unfinished year; run the same command again")
    if not outcome.is_scored:
        raise RunError(f"{folder} holds a year without a score ({outcome.outcome}); run the same command again")
    if "voice" in header.settings:
        raise ValueError(
            f"the suppliers of {folder} speak through a model; a year is gone on with in their own words only"
        )
    if not 0 <= day <= outcome.days:
        raise ValueError(f"day={day}; the year in {folder} has the mornings of days 0 to {outcome.days}")
    calls, year = read_store_calls(folder), header.spec.build_year()
    num = 0
    while year.state.day < day:
        if num == len(calls):
            raise DivergedError(f"{folder}: its calls end on day {year.state.day}, its outcome says {outcome.days}")
        year.call(calls[num].tool, calls[num].arguments)
        num += 1
    return Origin(header, day, tuple(calls[:num]))


def calls_digest(calls: Sequence[Entry]) -> str:
    """Return what tells these calls with their answers from any others."""
    return hashlib.sha256(strict_dumps([list(call) for call in calls]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class BranchSeat(YearSeat):
    """The seat of somebody who goes on with a year of others: a merchant, a model, or an agent from outside.

    ``calls`` are those until the morning of the branch; without them the seat is good for checking only.
    """

    successor: YearSeat
    point: BranchPoint
    calls: Sequence[Entry] = ()

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other sitters
        """Who goes on, from when, with whose year."""
        return f"{self.successor.name} from day {self.point.day} of {self.point.agent}"

    @property
    def limits(self) -> Limits:  # type: ignore[override]  # a field of other seats
        """Limits of the successor, for its own turns."""
        return self.successor.limits

    @property
    def settings(self) -> dict[str, Any]:
        """Return what pins the successor, and what it goes on with."""
        return {**self.successor.settings, BRANCH: self.point.model_dump(mode="json")}

    def opening(self, setting: Setting) -> Opening:
        """Return the successor's opening; the last message says what it takes over."""
        made = self.successor.opening(setting)
        rules, day = setting.rules, self.point.day
        facts = {"opens": clock(rules.open_minute), "date": setting.date(day).isoformat(), "day": day}
        told = {"role": "user", "content": render_briefing("taken_over", facts)}
        messages = (*made.messages[:-1], told) if made.messages else ()
        return made.model_copy(update={"agent": self.name, "messages": messages})

    def guard(self) -> CallGuard | None:
        """Return what stands between the successor and the store."""
        return self.successor.guard()

    @contextmanager
    def sit(self, folder: Path) -> Iterator[BranchSeat]:
        """Let the successor sit down."""
        with self.successor.sit(folder) as seated:
            yield replace(self, successor=seated)

    def stop(self) -> None:
        """Let every year end at its next call."""
        self.successor.stop()

    def begin(self, session: YearSitting) -> None:
        """Make the calls until the morning of the branch; raises ``DivergedError`` if one is answered differently."""
        for written in self.calls[len(session.entries) : self.point.num_calls]:
            session.call(written.tool, written.arguments)
            check_entry(written, session.entries[-1])
        session.flush()

    def start(self, header: Header[YearSpec]) -> YearAgent:
        """Return who goes on."""
        if isinstance(self.successor, MerchantSeat):
            return SuccessorAgent(self.successor.start(header), self.point)
        return self.successor.start(header)

    def check(self, session: YearSitting, header: Header[YearSpec]) -> None:
        """Make sure that the year begins with the calls of the header, and what the successor was sent."""
        point, before = self.point, session.entries[: self.point.num_calls]
        if len(before) < point.num_calls or calls_digest(before) != point.digest:
            raise DivergedError(f"the first {point.num_calls} calls are not those of {point.agent} before the branch")
        self.successor.check(session, header)


@dataclass(frozen=True)
class SuccessorAgent:
    """A merchant that takes over, as a year's agent.

    It remembers nothing between sittings: taken up again it finds the books of the morning of the branch once more, is
    answered what it was answered before, and must ask the same again.
    """

    agent: MerchantAgent
    point: BranchPoint

    @property
    def name(self) -> str:
        """Name of the merchant."""
        return self.agent.name

    def play(self, session: YearSitting) -> None:
        """Go on until the year is over.

        Raises
        ------
        ValueError
            If the merchant is none that can take over.
        DivergedError
            If it is not the one that played before.
        """
        merchant, before = self.agent.build(session.year.setting), session.entries[: self.point.num_calls]
        if not isinstance(merchant, Successor):
            raise ValueError(f"{self.name} cannot take over a year: it has no take_over(view)")
        past = session.past_calls[len(before) :]
        year = self._morning(session, before) if past else session.year
        if year.is_over:
            return
        with calling(session, past) as answer:

            def call(tool: str, arguments: Any) -> Result:
                if year is not session.year:
                    year.call(tool, arguments)
                return answer(tool, arguments)

            merchant.take_over(View(year, lambda: _again(session, before), call))

    def _morning(self, session: YearSitting, before: Sequence[Entry]) -> Year:
        """Return the year of ``session`` as it was when the merchant took over."""
        year = session.year.anew()
        for entry in before:
            year.call(entry.tool, entry.arguments)
        return year


def _again(session: YearSitting, before: Sequence[Entry]) -> Iterator[tuple[Made, Result]]:
    year = session.year.anew()
    for entry in before:
        result = year.call(entry.tool, entry.arguments)
        assert year.past is not None
        yield year.past.made[-1], result


def branch_seat(origin: Origin, successor: YearSeat) -> BranchSeat:
    """Return the seat of ``successor`` in the place of whoever ran ``origin``.

    Raises
    ------
    ValueError
        If it wants a voice for the suppliers, who have spoken already.
    """
    if "voice" in successor.settings:
        raise ValueError(f"{successor.name}: nobody can begin to speak for the suppliers in the middle of a year")
    point = BranchPoint(
        day=origin.day,
        agent=origin.header.agent,
        num_calls=len(origin.calls),
        digest=calls_digest(origin.calls),
        successor=successor.name,
    )
    return BranchSeat(successor, point, origin.calls)
