"""What a planning merchant believes about the market; two that plan differ in nothing else."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from commerce.merchants.handover import Ask
from commerce.types import FloatArray, IntArray
from oracle.store.store_model import StoreModel


class BuyingStyle(StrEnum):
    """How to come to a price: repeat a bid that will be taken, take the first quote, or press and take the counter."""

    BIDS = "bids"
    QUOTES = "quotes"
    COUNTERS = "counters"


class Supply(NamedTuple):
    """A supplier to buy from: its address, the price expected for each SKU asked about, and the most to spend, in fen.

    Those that know a floor expect it, and bid it.
    """

    email: str
    bids: IntArray
    most_fen: float = math.inf


class Shown(NamedTuple):
    """What one store showed from one stock-taking to the next, by row of its type's SKUs."""

    price: FloatArray
    on_hand: IntArray
    reputation: float
    first_day: int
    num_days: int


class MarketKnowledge(Protocol):
    """Beliefs about the market, by store type and by row of the catalogue."""

    style: BuyingStyle
    trial_days: int
    """Days that a choice of stores is given before another is made."""

    def prepare(self, look: Ask, ask: Ask, first_date: dt.date) -> None:
        """Find out by ``look`` what can be found out before the first plan; later questions go to ``ask``."""

    @property
    def product_ids(self) -> Sequence[str]:
        """Product of each row."""

    @property
    def kinds(self) -> Sequence[str]:
        """Names of the store types."""

    def last_day(self, day: int) -> int:
        """Return the day on whose morning the year is expected to end, asked on ``day``."""

    def model(self, kind: int) -> StoreModel:
        """Return what is believed of a store type."""

    def operations_fen(self, kind: int) -> float:
        """Return what a store of a type costs a day."""

    def demand_factor(self, kind: int, first_day: int, num_days: int) -> float:
        """Return the mean demand factor of the days, reputation left out."""

    def unit_costs(self) -> FloatArray:
        """Return what a unit of each SKU is expected to cost, in fen; infinite where nobody sells it."""

    def supplies(self, skus: IntArray, units: FloatArray, most: int) -> list[tuple[Supply, IntArray]]:
        """Divide SKUs of one category among at most ``most`` suppliers; each comes with its places in ``skus``."""

    def bid(self, email: str, product_id: str, standing_fen: int) -> int:
        """Return what to bid, in fen, a supplier that has been pressed down to its standing price."""

    def orders_left(self, sku: int) -> int:
        """Return how many more orders the suppliers of a SKU's category are expected to take."""

    def learn_sales(self, ask: Ask, shown: Mapping[int, Shown]) -> None:
        """Learn from what each store type showed since the last time."""

    def learn_talk(self, replies: Iterable[Mapping[str, Any]]) -> None:
        """Note what suppliers answered."""

    def learn_deliveries(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note what arrived."""
