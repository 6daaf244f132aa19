r"""What the talks of a year cost: every purchase beside the reference, split into inference, uncertainty and control.

A unit bought at ``p`` of goods worth ``v`` at reference price earned ``v - p``. With the exact belief before every move
(:mod:`oracle.store.floor_belief`) and what moves are worth on it (:mod:`oracle.store.talk_plan`), the gap to a buyer
who had been told the supplier's type is, in fen at the quantity bought,

.. math::
    U(told) - (v - p) = \underbrace{U(told) - U(reference)}_{uncertainty}
    + \underbrace{\sum [U(m^*) - U(m_s)]}_{inference} + \underbrace{\sum [U(m_s) - U(m)]}_{control} - noise,

``m`` being the move made, ``m*`` the reference's, and ``m_s`` the reference's under the belief that explains the buyer
best: no belief is stated in a year, so one number ``s`` for all its talks says how far it takes floors to lie above
where the reference does, as a share of the way to the standing price. ``m_s`` is the reference's bid moved that far;
``s`` is the median over the bids, and 0 where it is below 0.05 or leaves more than a third of the median distance
between bids and reference's. A bid below every floor states no belief: what it costs is control. No belief short of
certainty makes it best to take the standing price while a lower bid would be answered, so the cost of that is control
too. ``noise`` is the rest: draws, and what replanning gains over the plan.

Purchases only: a talk without one cost nothing at the quantity bought. Parts may be negative and are never floored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from commerce.metrics.bargaining import efficiency
from commerce.money import to_yuan
from commerce.procurement.talks import AGREEMENT
from commerce.row_tables import data_frame, table_html
from commerce.types import World
from commerce.year import Year
from oracle.parts import Part
from oracle.store.talk_history import TALK_ENDINGS, StoreTalk, tell_talks
from oracle.store.talk_moves import TalkMove, review_pairs
from oracle.store.talk_plan import tabulate_plans

_EXACT = 0.05
"""Shift below which a buyer is taken to believe what the reference does."""
_UNEXPLAINED = 1 / 3
"""Share of the median distance to the reference's bids that may be left beside the shifted ones."""
TALK_PARTS = (Part.INFERENCE, Part.UNCERTAINTY, Part.CONTROL)


class TalkCost(NamedTuple):
    """What one purchase cost against the reference: prices in fen a unit, the rest in fen at the quantity bought.

    ``gap_fen = inference_fen + uncertainty_fen + control_fen - noise_fen``, to the fen. ``quote_fen`` is what of the
    control was lost by taking the first price told. ``worth_fen`` is what the reference expected at the start of
    the talk, and ``pct_oracle`` what was earned as a share of it. ``cost_fen`` is what the buyer could have helped:
    inference and control.
    """

    number: int
    day: int
    supplier: str
    sku: str
    is_honest: bool
    units: int
    reference_fen: int
    opening_fen: int
    price_fen: int
    se_plus: float
    pct_oracle: float | None
    worth_fen: int
    gap_fen: int
    inference_fen: int
    uncertainty_fen: int
    control_fen: int
    quote_fen: int
    noise_fen: int

    @property
    def cost_fen(self) -> int:
        """Inference and control: what the buyer itself gave up."""
        return self.inference_fen + self.control_fen


@dataclass(frozen=True, repr=False)
class TalkCosts:
    """The purchases of a year, in the order of their talks; ``believed_shift`` is the ``s`` of the whole year."""

    rows: tuple[TalkCost, ...]
    num_talks: int
    believed_shift: float

    def total(self, field: str) -> int:
        """Return the sum of a column in fen."""
        return sum(getattr(row, field) for row in self.rows)

    def parts(self) -> dict[str, int]:
        """Return inference, uncertainty and control of the year in fen, by part."""
        return {part.value: self.total(f"{part.value}_fen") for part in TALK_PARTS}

    def costliest(self, num: int = 10) -> list[TalkCost]:
        """Return the purchases that cost the buyer most by its own doing."""
        return sorted(self.rows, key=lambda row: (-row.cost_fen, row.number))[:num]

    @property
    def pct_oracle(self) -> float | None:
        """What was earned in talks as a share of what the reference expected of them."""
        worth = self.total("worth_fen")
        return sum(row.units * (row.reference_fen - row.price_fen) for row in self.rows) / worth if worth > 0 else None

    @property
    def fault(self) -> str:
        """The largest of inference, control and paid quotes; ``none`` if nothing was given up."""
        quote = self.total("quote_fen")
        parts = {"inference": self.total("inference_fen"), "control": self.total("control_fen") - quote, "quote": quote}
        name = max(parts, key=lambda key: parts[key])
        return name if parts[name] > 0 else "none"

    def __repr__(self) -> str:
        """Return what the talks cost, not every talk."""
        parts = ", ".join(f"{name} {to_yuan(fen):,.2f}" for name, fen in self.parts().items())
        return f"<TalkCosts: {len(self.rows)} purchases of {self.num_talks} talks, yuan: {parts}>"

    def _repr_html_(self) -> str:
        """Return the ten costliest talks as a table, for notebooks."""
        return table_html(repr(self), TalkCost._fields, self.costliest())

    def to_frame(self) -> Any:
        """Return every purchase as a pandas data frame, whose columns are the fields of :class:`TalkCost`."""
        return data_frame(self.rows, TalkCost._fields)

    def to_json_object(self, num: int = 10) -> dict[str, Any]:
        """Return the totals and the ``num`` costliest talks as JSON data, undefined being null."""
        return {
            "num_talks": self.num_talks,
            "num_purchases": len(self.rows),
            "believed_shift": self.believed_shift,
            "pct_oracle": self.pct_oracle,
            "fault": self.fault,
            "gap_fen": self.total("gap_fen"),
            **{f"{name}_fen": fen for name, fen in self.parts().items()},
            "quote_fen": self.total("quote_fen"),
            "noise_fen": self.total("noise_fen"),
            "talks": [{**row._asdict(), "cost_fen": row.cost_fen} for row in self.costliest(num)],
        }


def talk_costs(year: Year) -> TalkCosts:
    """Return what the talks of a year cost against the reference.

    Raises
    ------
    ValueError
        If the talks do not come out under the world and the rules of the year.
    """
    world, rules = year.setting.world, year.setting.rules
    talks = tell_talks(world, rules, year.procurement.records(year.state.book))
    return price_talks(world, talks, list(review_pairs(world, rules, talks, _purchases(talks))))


def _purchases(talks: Sequence[StoreTalk]) -> list[int]:
    return [talk.number for talk in talks if talk.record.outcome == AGREEMENT]


def price_talks(
    world: World, talks: Sequence[StoreTalk], reviewed: Sequence[tuple[StoreTalk, list[TalkMove]]]
) -> TalkCosts:
    """Return what talks cost whose purchases were reviewed."""
    shift = believed_shift([move for _, moves in reviewed for move in moves])
    rows = (_price(world, talk, moves, shift) for talk, moves in reviewed)
    return TalkCosts(tuple(sorted(rows, key=lambda row: row.number)), len(talks), shift)


def believed_shift(moves: Sequence[TalkMove]) -> float:
    """Return how far the bids lie above the reference's, as a share of the way from there to the standing price."""
    shares = []
    for move in moves:
        top = _top(move)
        if _states_belief(move) and move.bid is not None and move.reference_bid is not None:
            shares.append((move.bid - move.reference_bid) / (top - move.reference_bid))
    if not shares:
        return 0.0
    found = median(shares)
    is_clear = median(abs(share - found) for share in shares) <= _UNEXPLAINED * median(map(abs, shares))
    return found if is_clear and abs(found) >= _EXACT else 0.0


def _states_belief(move: TalkMove) -> bool:
    """Whether a bid says where the buyer looks for the floor: at a price that may be one, below the standing price."""
    top = _top(move)
    if move.bid is None or move.reference_bid is None or move.reference_bid >= top:
        return False
    return float(move.types.floor[0]) <= move.bid < top


def _top(move: TalkMove) -> float:
    return float(move.types.opening.mean()) if move.seat.standing is None else float(move.seat.standing)


def _price(world: World, talk: StoreTalk, moves: Sequence[TalkMove], shift: float) -> TalkCost:
    record, units = talk.record, talk.record.quantity
    paid = record.price_fen or 0
    start = moves[0]
    inference = control = quote = 0.0
    for move in moves:
        wrong = _inference(move, shift)
        inference += wrong
        control += move.cost - wrong
        if len(move.seat.bids) <= 1 and _takes_standing(move):
            quote += move.cost
    gap = start.told - (record.reference_fen - paid)
    fen = [round(units * part) for part in (inference, start.told - start.best, control, gap)]
    earned, worth = units * (record.reference_fen - paid), round(units * start.best)
    return TalkCost(
        number=talk.number,
        day=record.day_opened,
        supplier=world.suppliers[record.supplier].name,
        sku=world.skus.sku_id[record.sku],
        is_honest=record.is_honest,
        units=units,
        reference_fen=record.reference_fen,
        opening_fen=record.opening_fen,
        price_fen=paid,
        se_plus=efficiency(record),
        pct_oracle=earned / worth if worth > 0 else None,
        worth_fen=worth,
        gap_fen=fen[3],
        inference_fen=fen[0],
        uncertainty_fen=fen[1],
        control_fen=fen[2],
        quote_fen=round(units * quote),
        noise_fen=sum(fen[:3]) - fen[3],
    )


def _takes_standing(move: TalkMove) -> bool:
    return move.bid is None or (move.seat.standing is not None and move.bid >= move.seat.standing)


def _inference(move: TalkMove, shift: float) -> float:
    """Return what the reference's rule loses on the belief that explains the buyer, fen a unit."""
    if not shift or move.reference_bid is None or not _states_belief(move):
        return 0.0
    bid = max(1, round(move.reference_bid + shift * (_top(move) - move.reference_bid)))
    if bid == move.bid:
        return move.cost
    return max(move.best, (table := tabulate_plans(move.types, move.seat, bid)).best()[1]) - table.of(float(bid))


def told_talk(year: Year, number: int) -> tuple[StoreTalk, list[TalkMove]]:
    """Return one talk of a year, by its number from 1, with its moves beside the reference's.

    Raises
    ------
    ValueError
        If the year has no such talk.
    """
    world, rules = year.setting.world, year.setting.rules
    talks = tell_talks(world, rules, year.procurement.records(year.state.book))
    if not 1 <= number <= len(talks):
        raise ValueError(f"talk={number}; the year has talks 1 to {len(talks)}")
    ((talk, moves),) = review_pairs(world, rules, talks, [number])
    return talk, moves


def ending_words(talk: StoreTalk) -> str:
    """Return how a talk ended, in words."""
    return TALK_ENDINGS.get(talk.record.outcome, talk.record.outcome)
