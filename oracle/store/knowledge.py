"""What a planning merchant believes about the market; two that plan differ in nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from commerce.types import FloatArray, IntArray
from oracle.store.store_model import StoreModel


class Supply(NamedTuple):
    """A supplier to buy from: its address, and what to bid for each SKU asked about, in fen."""

    email: str
    bids: IntArray


class MarketKnowledge(Protocol):
    """Beliefs about the market, by store type and by row of the catalogue."""

    @property
    def product_ids(self) -> Sequence[str]:
        """Product of each row."""

    @property
    def kinds(self) -> Sequence[str]:
        """Names of the store types."""

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

    def orders_left(self, sku: int) -> int:
        """Return how many more orders the suppliers of a SKU's category are expected to take."""

    def learn_talk(self, replies: Iterable[Mapping[str, Any]]) -> None:
        """Note what suppliers answered."""

    def learn_deliveries(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note what arrived."""
