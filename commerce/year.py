"""A running year: one call at a time, each validated, timed and answered in one envelope.

A call is checked against its schema before it takes any time. If its minutes reach closing time, the clock jumps to the
next 08:00, the daily step runs, and only then does the call act, in the new day. An unknown tool or a malformed call
takes no time and changes nothing but the counters; a call after the end changes nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from commerce.argument_parser import read_arguments
from commerce.audit import check_books
from commerce.config import PAPER, Rules
from commerce.daily_step import daily_step, finish, start_year
from commerce.decisions import Decisions
from commerce.ledger import Batch, close_batches
from commerce.notices import day_report
from commerce.procurement import SupplierDesk
from commerce.quotes import QuoteBook
from commerce.refusals import RefusedError
from commerce.setting import Setting
from commerce.state import YearState, initial_state
from commerce.supplier_protocol import Procurement
from commerce.tools import TOOLS, Tool
from commerce.tools.arguments import Arguments, validate, validated
from commerce.tools.handling import Desk, clock
from commerce.tools.pages import TablePage, told
from commerce.types import EndReason, Refusal, World

UNKNOWN_TOOL = "unknown_tool"
YEAR_OVER = "year_over"


@dataclass(frozen=True)
class Result:
    """The envelope of every answer. ``data`` is set if ``ok``, else ``error``; ``notices`` is news since the last.

    ``answer`` is the data as the tool gave it, its pages in columns; see :mod:`commerce.tools.pages`.
    """

    ok: bool
    time: Mapping[str, Any]
    answer: Mapping[str, Any] | TablePage | None = None
    error: Refusal | None = None
    notices: tuple[Mapping[str, Any], ...] = field(default=())

    @cached_property
    def data(self) -> Mapping[str, Any] | None:
        """The data in full."""
        found: Mapping[str, Any] | None = told(self.answer)
        return found

    @property
    def is_over(self) -> bool:
        """Whether the year has ended."""
        return self.time["end"] is not None

    def to_json_object(self) -> dict[str, Any]:
        """Return the envelope as JSON data, notices first so that nothing can push them out of sight."""
        body: dict[str, Any] = {"notices": list(self.notices), "ok": self.ok}
        if self.error is None:
            body["data"] = self.data
        else:
            body["error"] = {"code": self.error.code, "field": self.error.field, "message": self.error.message}
        return body | {"time": dict(self.time)}


class Made(NamedTuple):
    """A call that was made: its tool, and its checked arguments or why they were refused."""

    tool: str
    given: Arguments | Refusal


@dataclass
class Past:
    """What happened in a year so far: the calls, what was decided by them, and which prices were offered."""

    made: list[Made]
    decisions: Decisions
    quotes: QuoteBook = field(default_factory=QuoteBook)


class Year:
    """One year of ``world`` under ``rules``.

    Parameters
    ----------
    world, rules
        What the year is played in.
    procurement
        The supplier side; the default sells through the bargaining kernel.
    state
        A saved state to go on from; the default is the first morning.
    past
        What led to the saved state, where it is known.
    on_postings
        Called with the ledger postings of each daily step, and of the end of a stopped year.
    """

    def __init__(
        self,
        world: World,
        rules: Rules = PAPER,
        *,
        procurement: Procurement | None = None,
        state: YearState | None = None,
        past: Past | None = None,
        on_postings: Callable[[list[Batch]], None] | None = None,
    ) -> None:
        self.setting = Setting(world, rules)
        self._procurement = procurement or SupplierDesk()
        self._on_postings = on_postings
        self.past = past or (None if state else Past([], Decisions(self.setting.num_skus)))
        if state is None:
            state = initial_state(self.setting, self._procurement.initial_book())
            start_year(self.setting, state)
        self.state = state
        self._decisions = self.past.decisions if self.past else Decisions(self.setting.num_skus)
        self._desk = Desk(self.setting, self.state, self._procurement, self._decisions)

    @property
    def procurement(self) -> Procurement:
        """The supplier side."""
        return self._procurement

    @property
    def is_over(self) -> bool:
        """Whether the year has ended."""
        return self.state.is_over

    @property
    def final_fen(self) -> int:
        """Bank, wallet and escrow; the score once the year is over."""
        return self.state.ledger.assets_fen

    def anew(self, state: YearState | None = None, past: Past | None = None) -> Year:
        """Return this year at its first morning, or at the moment that ``state`` and ``past`` were saved at."""
        return Year(self.setting.world, self.setting.rules, procurement=self._procurement, state=state, past=past)

    def time(self, minutes_charged: int = 0) -> dict[str, Any]:
        """Return the moment as every answer tells it."""
        state, rules = self.state, self.setting.rules
        return {
            "day": state.day,
            "date": self.setting.iso_date(state.day),
            "clock": clock(state.minute),
            "minutes_charged": minutes_charged,
            "minutes_left": rules.close_minute - state.minute,
            "end": state.end,
        }

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Run one tool call; nothing an agent can send raises.

        ``arguments`` may be the JSON text a model produced; text that is not a JSON object is refused as it is.
        """
        if self.is_over:
            return self._result(0, error=Refusal(YEAR_OVER, None, f"the year has ended: {self.state.end}"))
        return self.repeat(_checked(name, arguments))

    def repeat(self, made: Made) -> Result:
        """Make a call that was checked already: in this year or in one that it branches off from."""
        if self.past is not None:
            self.past.made.append(made)
        return self._make(made)

    def _make(self, made: Made) -> Result:
        if isinstance(made.given, Refusal):
            self._count(made.tool, 0)
            return self._refuse(made.given)
        return self._run(TOOLS[made.tool], made.given)

    def stop(self) -> None:
        """End the year early; it is scored like any other end."""
        if not self.is_over:
            self._decisions.stopped(self.state)
            finish(self.setting, self.state, EndReason.STOPPED)
            self._pass_on(close_batches(self.state.ledger))
            check_books(self.setting, self.state)

    def _run(self, tool: Tool, given: Arguments) -> Result:
        minutes = self._advance(tool.minutes)
        self._count(tool.name, minutes)
        if tool.handler is None:
            return self._result(minutes, day_report(self.state))
        if self.is_over:
            return self._refuse(Refusal(YEAR_OVER, None, f"closing time came first: {self.state.end}"), minutes)
        self._decisions.begin_call()
        try:
            answer = tool.handler(self._desk, given)
            if self.past is not None:
                self.past.quotes.learn(tool.name, self.state.day, answer)
            return self._result(minutes, answer)
        except RefusedError as error:
            return self._refuse(error.refusal, minutes)

    def _advance(self, minutes: int | None) -> int:
        """Let time pass and return the minutes taken; reaching closing time runs the daily step."""
        state, rules = self.state, self.setting.rules
        left = rules.close_minute - state.minute
        if minutes is not None and minutes < left:
            state.minute += minutes
            return minutes
        self._decisions.end_day(state)
        self._pass_on(daily_step(self.setting, state))
        self._decisions.begin_day(state)
        if self.past is not None:
            for notice in state.notices:
                self.past.quotes.receive(notice.get("deliveries", ()))
        return left

    def _pass_on(self, batches: list[Batch]) -> None:
        if self._on_postings is not None:
            self._on_postings(batches)

    def _count(self, name: str, minutes: int) -> None:
        state = self.state
        state.calls[name] = state.calls.get(name, 0) + 1
        state.minutes[name] = state.minutes.get(name, 0) + minutes

    def _refuse(self, refusal: Refusal, minutes: int = 0) -> Result:
        self.state.refused[refusal.code] = self.state.refused.get(refusal.code, 0) + 1
        return self._result(minutes, error=refusal)

    def _result(
        self, minutes: int, answer: Mapping[str, Any] | TablePage | None = None, error: Refusal | None = None
    ) -> Result:
        notices, self.state.notices = tuple(self.state.notices), []
        return Result(error is None, self.time(minutes), answer, error, notices)


def _checked(name: object, arguments: Mapping[str, Any] | str | None) -> Made:
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        fault = Refusal(UNKNOWN_TOOL, None, f"there is no such tool; choose one of {', '.join(TOOLS)}")
        return Made(UNKNOWN_TOOL, fault)
    if isinstance(arguments, Mapping) and (fitting := validated(tool.arguments, arguments)) is not None:
        return Made(tool.name, fitting)  # what fits a schema is not too deep, so it need not be looked through
    try:
        return Made(tool.name, validate(tool.arguments, read_arguments(arguments)))
    except RefusedError as error:
        return Made(tool.name, error.refusal)
