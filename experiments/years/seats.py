"""Who runs a year, before it sits down: settings only, so that a year is named before a file is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commerce.merchants import Merchant
from commerce.merchants.base import Call
from commerce.procurement.spoken import SupplierVoice
from commerce.replay import Entry, check_entry, diverged, recordable, result_digest
from commerce.setting import Setting
from commerce.year import Result
from experiments.engine.header import Header
from experiments.players.player import Sitter
from experiments.years.briefing import make_opening
from experiments.years.limits import Limits
from experiments.years.sitting import CallGuard, YearAgent, YearSitting
from experiments.years.spec import YearSpec
from experiments.years.transcript import CallRecord, Opening
from oracle.store.year_players import YEAR_PLAYERS, build_year_player


class YearSeat(Sitter):
    """What every agent of a year has before it sits down, with the words of every player."""

    limits: Limits = Limits()

    def opening(self, setting: Setting) -> Opening:
        """Return the first line of its transcript: what it is told and which tools it has."""
        return make_opening(self.name, setting, self.limits)

    def guard(self) -> CallGuard | None:
        """Return what stands before the store, if anything."""
        return None

    def supplier_voice(self, folder: Path, header: Header[YearSpec], *, is_playing: bool) -> SupplierVoice | None:
        """Return who words the suppliers' answers in a year, ``None`` for their templates.

        In a year that is only carried out again it says what was said.
        """
        del folder, header, is_playing
        return None

    def sit(self, folder: Path) -> AbstractContextManager[YearSeat]:
        """Sit down in the folder of a year: open files, connect, and yield the seat that plays."""
        del folder
        return nullcontext(self)

    def begin(self, session: YearSitting) -> None:
        """Carry out what comes before the agent's own first turn, as far as it is not done; here nothing."""

    def start(self, header: Header[YearSpec]) -> YearAgent:
        """Return the agent of a year."""
        raise NotImplementedError

    def check(self, session: YearSitting, header: Header[YearSpec]) -> None:
        """Make sure that the past of ``session`` is what this agent was sent; raises ``DivergedError``.

        What an agent that is not ours was sent is its own affair, and a merchant's calls are carried out again anyway.
        """


@dataclass(frozen=True)
class PlainSeat(YearSeat):
    """The seat of an agent that keeps no files: any :class:`YearAgent`, or ``None`` for checking what it did."""

    name: str
    agent: YearAgent | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def settings(self) -> dict[str, Any]:
        """Return what pins the agent beyond its name."""
        return {"limits": self.limits.model_dump(mode="json")}

    def start(self, header: Header[YearSpec]) -> YearAgent:
        """Return the agent."""
        if self.agent is None:
            raise TypeError(f"{self.name} has no agent and cannot play")
        return self.agent


@dataclass(frozen=True)
class MerchantSeat(YearSeat):
    """The seat of a merchant, which is told nothing in words.

    ``merchant`` replaces the one that ``name`` names; it must make the same calls when it is run again.
    """

    name: str
    merchant: Merchant | None = None
    limits: Limits = field(default_factory=Limits)

    def opening(self, setting: Setting) -> Opening:
        """Return an opening without a word."""
        return Opening(agent=self.name, messages=(), tools=())

    def start(self, header: Header[YearSpec]) -> MerchantAgent:
        """Return the merchant as an agent."""
        return MerchantAgent(self.name, header.spec.agent_seed, self.merchant)


@dataclass(frozen=True)
class MerchantAgent:
    """A merchant as a year's agent.

    It remembers nothing between sittings: taken up again it plays from the first morning, is answered what it was
    answered before, and must ask the same again.
    """

    name: str
    seed: int = 0
    merchant: Merchant | None = None

    def build(self, setting: Setting) -> Merchant:
        """Return the merchant of a year in ``setting``."""
        return self.merchant or build_year_player(self.name, setting.world, setting.rules, self.seed)

    def play(self, session: YearSitting) -> None:
        """Run the year; raises ``DivergedError`` if the merchant is not the one that played before."""
        with calling(session, session.past_calls) as call:
            self.build(session.year.setting)(call)


@contextmanager
def calling(session: YearSitting, past: Sequence[tuple[CallRecord, Result]]) -> Iterator[Call]:
    """Yield what makes calls of ``session``: first each of ``past`` must be asked again, and all of it in the end.

    Raises
    ------
    DivergedError
        If another call is made in the place of one of ``past``, or none.
    """
    left = iter(past)

    def call(tool: str, arguments: Any) -> Result:
        for written, result in left:
            made = Entry(written.number, tool, recordable(arguments), result_digest(result))
            check_entry(entry_of(written), made)
            return result
        return session.call(tool, arguments)

    yield call
    if (unasked := next(left, None)) is not None:
        diverged(entry_of(unasked[0]), "nothing")


def merchant_seat(name: str) -> MerchantSeat:
    """Return the seat of the built-in merchant called ``name``; another name raises ``ValueError``."""
    if name not in YEAR_PLAYERS:
        raise ValueError(f"agent={name!r}, allowed are {', '.join(YEAR_PLAYERS)}, or a language model")
    return MerchantSeat(name)


def entry_of(record: CallRecord) -> Entry:
    """Return the store call that a line of the transcript is."""
    return Entry(record.number, record.tool, record.arguments, record.result)
