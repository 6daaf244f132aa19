"""Playing one session: period after period on its chain, each told its money and what the ones before left behind.

The state is a function of the periods played, so a session is taken up after any of them and goes on to the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from commerce.bankroll import BankrollConfig, PeriodRecord, SupplierMode, is_ruin
from commerce.economics import BankrollChain, ChainSupplier, UnitEconomics, build_chain, unit_economics
from experiments.engine.task import Keep, Row
from experiments.players.negotiator import TOLD_ONCE
from experiments.players.player import PlayedEpisode, Player, play_episode, seed_of_playing
from experiments.sessions.records import Place, episode_of, period_from_row, period_row, settled_period
from experiments.sessions.spec import Arm, SessionsSpec
from terms import Belief, EpisodeRecord, Scenario
from terms.episode import Seeds
from terms.meetings import Meeting, meeting_of
from terms.types import Stance

LEDGER, MET_BEFORE = TOLD_ONCE


def period_side_info(  # noqa: PLR0913 - everything an agent may see, named
    *,
    period: int,
    cash_cents: int,
    economics: UnitEconomics,
    rules: BankrollConfig,
    supplier: ChainSupplier | None,
    ledger: Sequence[str],
    met_before: Sequence[str],
) -> dict[str, Any]:
    """Return the side information of a period, counted from 1; ``supplier`` is ``None`` where it is not told."""
    state: dict[str, Any] = {
        "period": period,
        "periods": rules.horizon,
        "cash": cash_cents / 100,
        "ruined_below": rules.ruin_cents / 100,
        "cost_per_period": rules.period_cost_cents / 100,
        "cost_per_round": rules.round_cost_cents / 100,
    }
    if supplier is not None:
        state["counterpart"] = supplier.name
        state[MET_BEFORE] = list(met_before)
    if ledger:
        state[LEDGER] = list(ledger)
    return {"economics": economics.to_json_object(), "bankroll": state}


def names_supplier(rules: BankrollConfig) -> bool:
    """Whether the agent can meet somebody again, and so is told whom it faces."""
    return rules.supplier_mode is not SupplierMode.IID


def ledger_line(period: PeriodRecord, supplier: ChainSupplier | None) -> str:
    """Return one line of the ledger."""
    who = "" if supplier is None else f" with {supplier.name}"
    end = "no deal" if period.price is None else f"deal at {period.price:.2f}"
    money = f"profit {period.profit_cents / 100:.2f}, cash {period.cash_cents / 100:.2f}"
    return f"period {period.period}{who}: {end} in {period.rounds} rounds, {money}"


def meeting_line(period: PeriodRecord, record: EpisodeRecord) -> str:
    """Return what happened with a supplier in one period: own reservation, its prices in order, the end.

    The belief that the agent stated last is told as well, so that what it thought of a supplier carries over.
    """
    named = ", ".join(_price(turn.counterpart_price) for turn in record.turns)
    end = period.termination if period.price is None else f"deal at {period.price:.2f} ({period.termination})"
    line = (
        f"period {period.period}: your reservation {record.agent_type.reservation_price:.2f}, its prices {named}, {end}"
    )
    stated = next((turn.belief for turn in reversed(record.turns) if turn.belief is not None), None)
    return line if stated is None else f"{line}; you believed {_belief(stated)}"


def _price(price: float | None) -> str:
    return "-" if price is None else f"{price:.2f}"


def _belief(stated: Belief) -> str:
    parts = [f"r_hat {_price(stated.r_hat)}", f"kappa_hat {_price(stated.kappa_hat)}"]
    if stated.stance_probs is not None:
        probs = zip(Stance, stated.stance_probs, strict=True)
        parts.append(", ".join(f"{stance} {prob:.2f}" for stance, prob in probs))
    return ", ".join(parts)


class SessionJob(NamedTuple):
    """One session of one arm, of which ``past`` is done."""

    spec: SessionsSpec
    arm: Arm
    session: int
    past: tuple[PeriodRecord, ...] = ()
    salt: str = ""

    @property
    def left(self) -> int:
        """How many periods there are to play, if nothing ends the session before."""
        return self.spec.bankroll.horizon - len(self.past)

    def do(self, player: Player, keep: Keep) -> None:
        """Play the periods that are missing, up to ruin, the horizon or a period that the provider lost."""
        table = SessionPlay(player.seeded(Seeds(self.salt)).apart(_playing(self.arm)), self)
        while not table.is_over:
            period, played = table.play_next()
            extras = {"receipts": list(played.receipts)} if played.receipts else {}
            keep({"arm": self.arm.value, "period": period_row(period), **extras})

    def after(self, rows: Sequence[Row]) -> SessionJob | None:
        """Return the session after ``rows``, ``None`` when it has ended."""
        past = (*self.past, *(period_from_row(row["period"]) for row in rows))
        return None if has_ended(past, self.spec) else self._replace(past=past)


def has_ended(periods: Sequence[PeriodRecord], spec: SessionsSpec) -> bool:
    """Whether a session goes no further: the horizon, ruin, or a period that the provider lost."""
    rules = spec.bankroll
    if not periods:
        return False
    last = periods[-1]
    return len(periods) == rules.horizon or last.is_lost or is_ruin(last.cash_cents, rules)


def period_seed(arm: Arm, scenario: Scenario, salt: str = "") -> int:
    """Return the seed that names a model's calls in a period of ``arm``."""
    return seed_of_playing(Seeds(salt).of(scenario), _playing(arm))


def _playing(arm: Arm) -> str:
    return "" if arm is Arm.MEMORY else arm.value


@dataclass
class SessionPlay:
    """A session under play. What it keeps follows from ``past``, which it replays once when it is set up.

    ``play`` plays a period; the diagnosis plays the same periods under its conditions.
    """

    agent: Player
    job: SessionJob
    play: Callable[..., PlayedEpisode] = play_episode

    def __post_init__(self) -> None:
        spec = self.job.spec
        self._chain: BankrollChain = build_chain(self.job.session, spec.chain, spec.bankroll)
        self._periods: list[PeriodRecord] = []
        self._ledger: list[str] = []
        self._met: dict[int, list[str]] = {}
        self._meetings: dict[int, list[Meeting]] = {}
        for period in self.job.past:
            self._remember(period, episode_of(self._chain.scenarios[period.period - 1], period))

    @property
    def is_over(self) -> bool:
        """Whether the session goes no further."""
        return has_ended(self._periods, self.job.spec)

    @property
    def cash_cents(self) -> int:
        """Cash now."""
        return self._periods[-1].cash_cents if self._periods else self.job.spec.bankroll.initial_cents

    def play_next(self) -> tuple[PeriodRecord, PlayedEpisode]:
        """Play the next period."""
        index, spec = len(self._periods), self.job.spec
        scenario, supplier = self._chain.scenarios[index], self._chain.who[index]
        economics = unit_economics(scenario, spec.economics)
        remembers = self.job.arm is Arm.MEMORY
        named = remembers and names_supplier(spec.bankroll)
        told = period_side_info(
            period=index + 1,
            cash_cents=self.cash_cents,
            economics=economics,
            rules=spec.bankroll,
            supplier=supplier if named else None,
            ledger=self._ledger if remembers else (),
            met_before=self._met.get(supplier.number, ()),
        )
        past = tuple(self._meetings.get(supplier.number, ())) if named else ()
        played = self.play(scenario, self.agent, side_info=told, past=past)
        place = Place(self.job.session, index + 1, supplier.number)
        period = settled_period(place, played.record, economics, self.cash_cents, spec.bankroll)
        self._remember(period, played.record)
        return period, played

    def _remember(self, period: PeriodRecord, record: EpisodeRecord) -> None:
        supplier = self._chain.who[period.period - 1]
        self._periods.append(period)
        self._ledger.append(ledger_line(period, supplier if names_supplier(self.job.spec.bankroll) else None))
        self._met.setdefault(supplier.number, []).append(meeting_line(period, record))
        self._meetings.setdefault(supplier.number, []).append(meeting_of(record, period.profit_cents / 100))
