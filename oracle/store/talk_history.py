"""The talks of a year told round by round: every bid with the quote that answered it, from the records alone.

A record keeps the bids and where they led to, and the answers are decided by draws of the world: so they are given
again. The draws of a talk that ran over several days belong to the day of each round, which is found as the first
sequence of days under which the record comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commerce.config import Rules
from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.pair import opening_quote, pair_terms
from commerce.procurement.talks import AGREEMENT, OPEN, REJECT, ROUND_LIMIT, WALK
from commerce.streams import scalar_uniforms, stream_key
from commerce.types import NegotiationRecord, World
from oracle.store.floor_belief import BidAnswer, PairTalk


@dataclass(frozen=True)
class StoreTalk:
    """One talk of a year.

    Attributes
    ----------
    number
        Place in the order in which the talks of the year were opened, from 1.
    heard
        What the buyer saw of it.
    days
        The day of each bid.
    rounds_left
        How many bids would still have been answered before each bid, it included; and after the last one.
    took_standing
        Whether it ended by the buyer accepting the supplier's price.
    """

    number: int
    record: NegotiationRecord
    heard: PairTalk
    days: tuple[int, ...]
    rounds_left: tuple[int, ...]
    took_standing: bool


def tell_talks(world: World, rules: Rules, records: Sequence[NegotiationRecord]) -> list[StoreTalk]:
    """Return the talks of a year in the order of their opening.

    Raises
    ------
    ValueError
        If a record does not come out under the world and the rules.
    """
    found: list[StoreTalk] = []
    last: dict[tuple[int, int], tuple[NegotiationRecord, dict[int, int]]] = {}
    for number, record in enumerate(records, start=1):
        pair = (record.supplier, record.sku)
        before, spent = last.get(pair, (None, {}))
        spent = dict(spent)
        answers, days, took = _retell(world, rules, record, before, number)
        spent[record.day_opened] = spent.get(record.day_opened, 0) + (rules.negotiation_draws == "by_day")
        left = []
        for place, day in enumerate(days):
            left.append(_rounds_left(rules, place + 1, spent.get(day, 0)))
            spent[day] = spent.get(day, 0) + 1
        left.append(_rounds_left(rules, len(days) + 1, spent.get(days[-1] if days else record.day_opened, 0)))
        last[pair] = (record, spent)
        heard = PairTalk(record.opening_fen, tuple(answers))
        found.append(StoreTalk(number, record, heard, tuple(days), tuple(left), took))
    return found


_FREE_ROUNDS = 9
"""Bids that are planned for where the rules set no limit: those of a game of ten rounds."""


def _rounds_left(rules: Rules, round_number: int, spent_today: int) -> int:
    if rules.round_limit is None:
        return max(1, _FREE_ROUNDS + 1 - round_number)
    return max(0, rules.round_limit - max(round_number, spent_today))


_Steps = tuple[list[BidAnswer], list[int], bool]


def _retell(
    world: World, rules: Rules, record: NegotiationRecord, before: NegotiationRecord | None, number: int
) -> _Steps:
    for steps in _tellings(world, rules, record, before):
        return steps
    raise ValueError(f"talk {number} does not come out under these rules; was the year played in another world?")


def _tellings(
    world: World, rules: Rules, record: NegotiationRecord, before: NegotiationRecord | None
) -> Iterator[_Steps]:
    """Yield every way to tell a record."""
    teller = _Teller(world, rules, record, before)
    opening = opening_quote(teller.terms, rules, teller.draws(record.day_opened, 1).price)
    if opening == record.opening_fen:
        yield from teller.go_on(record.day_opened, opening, [], [])


class _Teller:
    """Gives the answers of one record again."""

    def __init__(self, world: World, rules: Rules, record: NegotiationRecord, before: NegotiationRecord | None) -> None:
        self.terms = pair_terms(world, rules, record.supplier, record.sku)
        self._rules, self._record, self._seed = rules, record, world.seed
        self._pair = (world.suppliers[record.supplier].supplier_id, world.skus.sku_id[record.sku])
        self._is_daily = rules.negotiation_draws == "by_day"
        self._last_day = record.extra["day"] if self._is_daily else record.day_opened
        is_second = self._is_daily and before is not None and before.extra["day"] == record.day_opened
        self._talk = before.extra["talk"] + 1 if is_second and before is not None else 1

    def draws(self, day: int, round_number: int) -> AnswerDraws:
        """Return the draws of a round on a day."""
        place: tuple[int, ...] = (self._record.cycle,)
        if self._is_daily:
            place = (day, self._talk if day == self._record.day_opened else 1)
        key = stream_key(self._seed, "negotiation", *self._pair, *place, round_number)
        return AnswerDraws(*scalar_uniforms(key, 3))

    def go_on(self, day: int, standing: int, told: list[BidAnswer], days: list[int]) -> Iterator[_Steps]:
        """Yield every way to go on from ``day`` on."""
        record = self._record
        if len(told) == len(record.offers):
            is_bought = record.outcome == AGREEMENT
            if standing == record.extra["standing_fen"] and record.price_fen in (None, standing):
                yield told, days, is_bought
            return
        bids = record.offers[: len(told) + 1]
        is_last = len(bids) == len(record.offers)
        for today in range(day, self._last_day + 1):
            draws = self.draws(today, len(bids) + 1)
            answer = answer_offer(self.terms, self._rules, standing, bids, len(bids) + 1, draws)
            steps = [*told, BidAnswer(bids[-1], answer.price, answer.walks)], [*days, today]
            if answer.walks:
                if is_last and record.outcome == WALK:
                    yield *steps, False
            elif answer.accepts and is_last and record.outcome == AGREEMENT and record.price_fen == bids[-1]:
                yield *steps, False
            else:
                yield from self.go_on(today, bids[-1] if answer.price is None else answer.price, *steps)


TALK_ENDINGS = {
    AGREEMENT: "bought",
    WALK: "the supplier walked away",
    REJECT: "the buyer left",
    ROUND_LIMIT: "no rounds were left",
    OPEN: "left open",
}
"""How a talk ended, in words."""
