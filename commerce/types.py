"""The nouns of the store year: closed sets, the parts of a world, and what passes between the store and its suppliers.

Entities are referred to by their index in the world's tables (``sku``, ``supplier``, ``store_type``), agents see the
string ids. Days are counted from 0 (1 January of the calendar year); money is integer fen (0.01 yuan). Everything here
is immutable data without rules or randomness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
KeyArray = NDArray[np.uint64]


class Size(StrEnum):
    """Size class of a SKU; the order is the order of every size-indexed table."""

    SMALL = "Small"
    MEDIUM = "Medium"
    LARGE = "Large"
    XLARGE = "XLarge"


class PriceResponse(StrEnum):
    """Family of the demand response to the price; the order is the order of every family-indexed table."""

    LINEAR = "linear"
    EXPONENTIAL = "exponential"
    CONSTANT_ELASTICITY = "constant_elasticity"
    QUADRATIC = "quadratic"


class Speed(StrEnum):
    """Shipping speed; the order is the order of every speed-indexed table."""

    FAST = "fast"
    STANDARD = "standard"
    SLOW = "slow"


class Personality(StrEnum):
    """How a supplier bargains; hidden from the agent. ``ADVERSARIAL`` marks fraudulent suppliers in the public data."""

    FRIENDLY = "Friendly"
    ENTHUSIASTIC = "Enthusiastic"
    UNPREDICTABLE = "Unpredictable"
    PROFESSIONAL = "Professional"
    STRATEGIC = "Strategic"
    TOUGH = "Tough"
    ADVERSARIAL = "Adversarial"


class Fraud(StrEnum):
    """The five frauds; hidden from the agent."""

    VIP_FEE = "vip_fee"
    FUTURE_DISCOUNT = "future_discount"
    QTY_BAIT = "qty_bait"
    QUALITY_DOWNGRADE = "quality_downgrade"
    FAKE_URGENCY = "fake_urgency"

    @property
    def is_upfront(self) -> bool:
        """Whether the harm lies in the price and not in the goods."""
        return self in (Fraud.VIP_FEE, Fraud.FUTURE_DISCOUNT, Fraud.FAKE_URGENCY)


class EndReason(StrEnum):
    """How a year ended."""

    CALENDAR = "max_days_reached"
    BANKRUPTCY = "bankruptcy"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Category:
    """One category: bands its SKUs are drawn from, price response, and the ratios of its suppliers."""

    name: str
    store_type: int
    default_size: Size
    reference_min_fen: int
    reference_max_fen: int
    monthly_sales_min: float
    monthly_sales_max: float
    return_rate_min: float
    return_rate_max: float
    return_wording: str
    response: PriceResponse
    elasticity: float
    wholesale_ratio: float
    floor_ratio: float
    scam_cap_ratio: float


@dataclass(frozen=True, slots=True)
class StoreType:
    """One store type. ``capacity`` is the saturation level in units a day, ``demand_scale`` the factor S."""

    name: str
    title: str
    tier: int
    operations_fen: int
    capacity: float
    demand_scale: float
    season: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Supplier:
    """One supplier. ``supplier_id``, ``name``, ``email`` and ``category`` are public, the rest is hidden."""

    supplier_id: str
    name: str
    email: str
    category: int
    personality: Personality
    fraud: Fraud | None
    retirement_orders: int

    @property
    def is_honest(self) -> bool:
        """Whether the supplier delivers what it sells at a price of the honest law."""
        return self.fraud is None


@dataclass(frozen=True, slots=True)
class Event:
    """A shock: demand factors by store type, and a delay factor for orders placed while it lasts (days inclusive)."""

    name: str
    first_day: int
    last_day: int
    demand: Mapping[int, float]
    delay: float
    delayed_types: tuple[int, ...] | None
    text: str

    def delays(self, store_type: int) -> bool:
        """Whether goods of ``store_type`` are delayed; ``delayed_types`` of ``None`` means all."""
        return self.delayed_types is None or store_type in self.delayed_types


@dataclass(frozen=True, slots=True)
class Promotion:
    """A platform promotion with one or more windows ``(first_day, last_day)``, inclusive."""

    name: str
    windows: tuple[tuple[int, int], ...]
    max_multiplier: float
    elasticity_boost: float

    def is_active(self, day: int) -> bool:
        """Whether ``day`` lies in one of the windows."""
        return any(first <= day <= last for first, last in self.windows)


class SkuTable(NamedTuple):
    """The catalogue by columns; row ``i`` is SKU ``i``. ``return_rate`` is hidden."""

    sku_id: tuple[str, ...]
    title: tuple[str, ...]
    brand: tuple[str, ...]
    category: IntArray
    store_type: IntArray
    size: IntArray
    reference_fen: IntArray
    return_rate: FloatArray


@dataclass(frozen=True)
class World:
    """Everything that exists before anybody acts. ``digest`` identifies the content, ``seed`` keys all later draws."""

    seed: int
    year: int
    store_types: tuple[StoreType, ...]
    categories: tuple[Category, ...]
    skus: SkuTable
    suppliers: tuple[Supplier, ...]
    events: tuple[Event, ...]
    promotions: tuple[Promotion, ...]
    digest: str = ""

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What others work out from this world again and again; it lives as long as the world."""
        return {}

    @cached_property
    def sku_index(self) -> dict[str, int]:
        """SKU id to row."""
        return {sku_id: row for row, sku_id in enumerate(self.skus.sku_id)}

    @cached_property
    def supplier_index(self) -> dict[str, int]:
        """Supplier e-mail to row."""
        return {supplier.email: row for row, supplier in enumerate(self.suppliers)}

    @cached_property
    def category_index(self) -> dict[str, int]:
        """Category name to row."""
        return {category.name: row for row, category in enumerate(self.categories)}

    @cached_property
    def store_type_index(self) -> dict[str, int]:
        """Store type name to row."""
        return {store_type.name: row for row, store_type in enumerate(self.store_types)}

    @cached_property
    def category_names(self) -> tuple[str, ...]:
        """Category name of each SKU."""
        return tuple(self.categories[row].name for row in self.skus.category.tolist())

    @cached_property
    def frauds(self) -> tuple[Fraud, ...]:
        """The fraud of each fraudulent supplier."""
        return tuple(supplier.fraud for supplier in self.suppliers if supplier.fraud is not None)

    @cached_property
    def honest_personalities(self) -> tuple[Personality, ...]:
        """The personality of each honest supplier."""
        return tuple(supplier.personality for supplier in self.suppliers if supplier.is_honest)

    @cached_property
    def suppliers_by_category(self) -> tuple[tuple[int, ...], ...]:
        """Supplier rows of each category."""
        rows: list[list[int]] = [[] for _ in self.categories]
        for row, supplier in enumerate(self.suppliers):
            rows[supplier.category].append(row)
        return tuple(tuple(found) for found in rows)

    @cached_property
    def categories_by_type(self) -> tuple[tuple[int, ...], ...]:
        """Category rows of each store type."""
        return tuple(
            tuple(row for row, category in enumerate(self.categories) if category.store_type == index)
            for index in range(len(self.store_types))
        )


class BuyerMove(StrEnum):
    """What a buyer may put into a structured supplier message."""

    OFFER = "offer"
    ACCEPT = "accept"
    REJECT = "reject"
    PAY_VIP_FEE = "pay_vip_fee"


@dataclass(frozen=True, slots=True)
class BuyerAction:
    """One structured move. ``sku`` is ``None`` for the fee; ``price_fen`` is ``None`` for a reject and the fee."""

    move: BuyerMove
    sku: int | None = None
    price_fen: int | None = None
    quantity: int = 0


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One validated message to one or more suppliers; the same actions go to each in the order given."""

    suppliers: tuple[int, ...]
    text: str
    actions: tuple[BuyerAction, ...]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What one supplier answered. ``outcomes`` holds one JSON-plain object per action, in order."""

    supplier: int
    text: str
    outcomes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PurchaseOrder:
    """A settled deal to book. What will arrive is fixed now and hidden: ``delivered`` units, ``defective`` of them."""

    supplier: int
    sku: int
    quantity: int
    unit_price_fen: int
    delivered: int
    defective: int = 0

    @property
    def total_fen(self) -> int:
        """What the buyer pays."""
        return self.quantity * self.unit_price_fen


@dataclass(frozen=True, slots=True)
class Booking:
    """A booked purchase order: its number, what was paid, and the delivery days the buyer is told (from, to)."""

    order_id: int
    total_fen: int
    told_days: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the store did not do what was asked; nothing changed."""

    code: str
    field: str | None
    message: str


@dataclass(frozen=True, slots=True)
class NegotiationRecord:
    """One negotiation cycle with one supplier over one SKU, as the metrics need it (all but prices shown is hidden).

    ``outcome`` is ``agreement``, ``supplier_walk``, ``buyer_reject``, ``round_limit`` or ``open``. An agreement counts
    only once its order has settled; ``price_fen`` and ``quantity`` are then those of the order, else ``None`` and 0.
    ``opening_fen`` is the opening quote shown, ``floor_fen`` the honest floor, ``reference_fen`` the SKU's reference.
    """

    supplier: int
    sku: int
    cycle: int
    day_opened: int
    day_closed: int | None
    outcome: str
    price_fen: int | None
    quantity: int
    offers: tuple[int, ...]
    opening_fen: int
    floor_fen: int
    reference_fen: int
    is_honest: bool
    extra: Mapping[str, Any] = field(default_factory=dict)
