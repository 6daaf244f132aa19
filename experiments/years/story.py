"""What happened in a stored year, told from its calls: the reader's side of a year's folder.

The calls are replayed, so every number is derived and every answer is there in full, though the journal holds only its
digest. Money is in yuan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from commerce.metrics.bargaining import efficiency
from commerce.metrics.fraud import evidence_days
from commerce.money import to_yuan
from commerce.procurement import SupplierDesk
from commerce.procurement.talks import AGREEMENT, OPEN
from commerce.replay import DivergedError, Entry, check_entry, result_digest
from commerce.tools.handling import clock
from commerce.types import NegotiationRecord, World
from commerce.year import Year
from experiments.engine.folder import RunError
from experiments.engine.header import Header
from experiments.years.ledger_file import StoredLedger, TalkKey, read_ledger
from experiments.years.spec import YearSpec, year_label
from experiments.years.supplier_words import RecordedWords
from experiments.years.taking_over import BRANCH
from experiments.years.transcript import OutcomeRecord, Transcript, read_outcome, read_transcript
from experiments.years.year_mode import RESULT, read_store_calls, read_todays_header, read_year_result, result_object


class StoryCall(NamedTuple):
    """One call: when it was made, what was asked, and the whole answer."""

    day: int
    clock: str
    tool: str
    arguments: Any
    is_ok: bool
    answer: Mapping[str, Any]


class StoryPeriod(NamedTuple):
    """An event or a promotion window, days inclusive."""

    name: str
    first_day: int
    last_day: int


class FraudRow(NamedTuple):
    """A payment to a fraudulent supplier. ``evidence_day`` is the day its fraud could first be known, if any."""

    day: int
    supplier: str
    fraud: str
    item: str
    ordered: int
    delivered: int
    defective: int
    paid: float
    evidence_day: int | None

    @property
    def is_after_evidence(self) -> bool:
        """Whether the fraud could be known when this was paid."""
        return self.evidence_day is not None and self.day > self.evidence_day


class Scorecard(NamedTuple):
    """Dealings with one supplier; ``efficiency`` is the mean surplus efficiency of its concluded negotiations."""

    supplier: str
    category: str
    fraud: str | None
    negotiations: int
    deals: int
    efficiency: float | None
    ordered: int
    received: int
    short: int
    spent: float


class TalkRow(NamedTuple):
    """A talk that ended in an order. Prices in yuan a unit.

    ``floor`` is what an honest supplier would go to, the least that this one sells for if it is one. ``lost`` is what
    the talk cost beside the oracle's moves where it ``is_priced`` (by ``terms ledger``), else what was paid above the
    floor. ``opened`` is the day the talk began.
    """

    day: int
    supplier: str
    is_honest: bool
    item: str
    opening: float
    bids: int
    price: float
    floor: float
    units: int
    lost: float
    sku: str = ""
    opened: int = 0
    is_priced: bool = False

    @property
    def above_floor(self) -> float:
        """What was paid above what an honest supplier would have gone to."""
        return self.units * (self.price - self.floor)


@dataclass(frozen=True)
class YearStory:
    """One year as a reader wants it; ``result`` is what ``result.json`` holds, ``days`` the rows of the daily steps.

    ``transcript`` is that of an agent; a merchant says nothing. ``talks`` are those that ended in an order, the one
    that lost most first, ``ledger`` what ``terms ledger`` stored.
    """

    header: Header[YearSpec]
    result: Mapping[str, Any]
    calendar_year: int
    calls: Sequence[StoryCall]
    events: Sequence[StoryPeriod]
    promotions: Sequence[StoryPeriod]
    stores: Mapping[str, str]
    frauds: Sequence[FraudRow]
    suppliers: Sequence[Scorecard]
    transcript: Transcript | None = None
    talks: Sequence[TalkRow] = ()
    ledger: StoredLedger | None = None

    @property
    def days(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the daily steps; the row of a day holds the sales of the day before."""
        rows: Sequence[Mapping[str, Any]] = self.result["days"]
        return rows

    @property
    def config(self) -> Mapping[str, Any]:
        """Return what was played, by whom, for people."""
        header = self.header
        settings = {"agent settings": header.settings} if header.settings else {}
        return {"agent": header.agent, **header.spec.model_dump(mode="json"), **header.digests, **settings}

    @property
    def label(self) -> str:
        """Return the merchant, the world and the rules in a few words."""
        return year_label(self.header.agent, self.header.spec)


class ExcludedYear(NamedTuple):
    """A year that a provider's fault or a reached budget ended: counted, and in no other number."""

    header: Header[YearSpec]
    outcome: OutcomeRecord

    @property
    def label(self) -> str:
        """Return the agent, the world and the rules in a few words."""
        return year_label(self.header.agent, self.header.spec)


def read_excluded(folder: str | Path) -> ExcludedYear | None:
    """Return the year in ``folder`` if it ended by no doing of its agent, else ``None``."""
    outcome = read_outcome(Path(folder))
    return None if outcome is None or outcome.is_scored else ExcludedYear(read_todays_header(Path(folder)), outcome)


class ReplayedYear(NamedTuple):
    """A finished year whose calls were made again, each with its answer."""

    header: Header[YearSpec]
    year: Year
    calls: list[StoryCall]


def read_story(folder: str | Path) -> YearStory:
    """Replay the finished year in ``folder`` and tell it; raises as :func:`replay_year` does."""
    header, year, calls = replay_year(folder)
    transcript = read_transcript(Path(folder)) if header.settings.keys() - {BRANCH} else None
    told = _story(header, year, calls)
    ledger = read_ledger(Path(folder), read_year_result(Path(folder)))
    return replace(told, transcript=transcript, ledger=ledger, talks=with_oracle_costs(told.talks, ledger))


def replay_year(folder: str | Path) -> ReplayedYear:
    """Replay the finished year in ``folder``.

    Raises
    ------
    RunError
        If it is unfinished, was played by other rules, or is not what its journal says.
    """
    folder = Path(folder)
    header = read_todays_header(folder)
    is_open = read_outcome(folder) is None
    if is_open or not (folder / RESULT).is_file():
        raise RunError(f"{folder} holds an unfinished year; run the same command again")
    voice = RecordedWords(folder) if "voice" in header.settings else None
    year = header.spec.build_year(procurement=SupplierDesk(voice))
    try:
        calls = [_repeat(year, entry) for entry in read_store_calls(folder)]
    except DivergedError as error:
        where = str(error).partition(":")[0]
        raise RunError(
            f"{folder}: {where} is answered differently; it was altered, or played by another version"
        ) from None
    year.stop()
    return ReplayedYear(header, year, calls)


def _repeat(year: Year, entry: Entry) -> StoryCall:
    day, minute = year.state.day, year.state.minute
    result = year.call(entry.tool, entry.arguments)
    check_entry(entry, entry._replace(result=result_digest(result)))
    return StoryCall(day, clock(minute), str(entry.tool), entry.arguments, result.ok, result.to_json_object())


def _story(header: Header[YearSpec], year: Year, calls: Sequence[StoryCall]) -> YearStory:
    world, num_days = year.setting.world, year.setting.rules.num_days
    events = [StoryPeriod(event.name, event.first_day, event.last_day) for event in world.events]
    promotions = [StoryPeriod(one.name, *window) for one in world.promotions for window in one.windows]
    return YearStory(
        header=header,
        result=result_object(header, year),
        calendar_year=world.year,
        calls=calls,
        events=_within(events, num_days),
        promotions=_within(promotions, num_days),
        stores={
            one.store_id: f"{one.store_id}, {world.store_types[one.store_type].title}" for one in year.state.stores
        },
        frauds=_fraud_rows(year),
        suppliers=_scorecards(year),
        talks=_talk_rows(year),
    )


def _talk_rows(year: Year) -> list[TalkRow]:
    world = year.setting.world
    rows = [
        TalkRow(
            day=record.day_opened if record.day_closed is None else record.day_closed,
            supplier=world.suppliers[record.supplier].name,
            is_honest=record.is_honest,
            item=world.skus.title[record.sku],
            opening=to_yuan(record.opening_fen),
            bids=len(record.offers),
            price=to_yuan(record.price_fen),
            floor=to_yuan(record.floor_fen),
            units=record.quantity,
            lost=to_yuan(record.quantity * (record.price_fen - record.floor_fen)),
            sku=world.skus.sku_id[record.sku],
            opened=record.day_opened,
        )
        for record in year.procurement.records(year.state.book)
        if record.outcome == AGREEMENT and record.price_fen is not None
    ]
    return _costliest_first(rows)


def _costliest_first(rows: Sequence[TalkRow]) -> list[TalkRow]:
    return sorted(rows, key=lambda row: (-row.is_priced, -row.lost, row.day, row.supplier, row.item))


def with_oracle_costs(rows: Sequence[TalkRow], ledger: StoredLedger | None) -> list[TalkRow]:
    """Return the talks with the oracle's costs for those that ``ledger`` has, which come first."""
    costs = {} if ledger is None else ledger.talk_costs
    found = []
    for row in rows:
        cost = costs.get(TalkKey(row.opened, row.supplier, row.sku, row.units, round(100 * row.price)))
        found.append(row if cost is None else row._replace(lost=to_yuan(cost), is_priced=True))
    return _costliest_first(found)


def _within(windows: Sequence[StoryPeriod], num_days: int) -> list[StoryPeriod]:
    ordered = sorted(windows, key=lambda window: window.first_day)
    return [window for window in ordered if window.first_day < num_days]


def _fraud_rows(year: Year) -> list[FraudRow]:
    world, state = year.setting.world, year.state
    known = evidence_days(year.setting, state)
    rows = [
        FraudRow(
            row.placed_day,
            *_named(world, row.supplier),
            item=world.skus.sku_id[row.sku],
            ordered=row.quantity,
            delivered=row.delivered,
            defective=row.defective,
            paid=to_yuan(row.quantity * row.unit_price_fen),
            evidence_day=known.get(row.supplier),
        )
        for row in state.purchases
        if not world.suppliers[row.supplier].is_honest
    ]
    rows += [
        FraudRow(fee["day"], *_named(world, fee["supplier"]), "fee", 0, 0, 0, to_yuan(fee["amount_fen"]), fee["day"])
        for fee in state.fees
    ]
    return sorted(rows, key=lambda row: row.day)


def _named(world: World, supplier: int) -> tuple[str, str]:
    one = world.suppliers[supplier]
    return one.name, "none" if one.fraud is None else one.fraud.value


def _scorecards(year: Year) -> list[Scorecard]:
    records: dict[int, list[NegotiationRecord]] = {}
    for record in year.procurement.records(year.state.book):
        records.setdefault(record.supplier, []).append(record)
    met = {*records, *(row.supplier for row in year.state.purchases)}
    cards = [_scorecard(year, supplier, records.get(supplier, [])) for supplier in met]
    return sorted(cards, key=lambda card: (-card.spent, card.supplier))


def _scorecard(year: Year, supplier: int, records: Sequence[NegotiationRecord]) -> Scorecard:
    world = year.setting.world
    one = world.suppliers[supplier]
    concluded = [record for record in records if record.outcome != OPEN]
    orders = [row for row in year.state.purchases if row.supplier == supplier]
    received = [row for row in orders if row.received_day >= 0]
    return Scorecard(
        supplier=one.name,
        category=world.categories[one.category].name,
        fraud=None if one.fraud is None else one.fraud.value,
        negotiations=len(concluded),
        deals=sum(record.outcome == AGREEMENT for record in concluded),
        efficiency=sum(map(efficiency, concluded)) / len(concluded) if concluded else None,
        ordered=sum(row.quantity for row in orders),
        received=sum(row.delivered for row in received),
        short=sum(row.quantity - row.delivered for row in received),
        spent=to_yuan(sum(row.quantity * row.unit_price_fen for row in orders)),
    )
