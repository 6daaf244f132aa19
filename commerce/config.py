"""Every rule of the store year as one frozen model; ``PAPER`` and ``FAIR`` are two instances of it.

Sources: the published benchmark (arXiv 2608.30730) for ``PAPER``; each departure of ``FAIR`` is one named field in the
section "what differs". Money is in fen, time in days and minutes. Tuples by size, speed or response follow the order of
the enumerations in :mod:`commerce.types`.

A rule set has a version of its own: years of one name and different versions are different games. Of ``paper``, in 1
rejects and accepts without a talk left a record, and a counter equal to the bid was raised. Of ``fair``, in 1
negotiation draws were keyed by cycle and a bid that could not be paid was answered; 2 is ``FIRST_FAIR``, whose stores
sell best at the highest price the platform takes, with as many products as they can hold.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
Fen = Annotated[int, Field(ge=0)]
Steps = tuple[tuple[float, float], ...]


class Frozen(BaseModel):
    """Immutable settings that refuse unknown keys and non-finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PriceBand(Frozen):
    """Allowed list prices as multiples of the reference price."""

    low: float = Field(gt=0)
    high: float = Field(gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low={self.low} must be below high={self.high}")
        return self


class Rules(Frozen):
    """One rule set."""

    name: str = Field("paper", min_length=1)
    version: int = Field(2, ge=1, description="years of different versions are different games under one name")

    # clock
    num_days: int = Field(365, ge=1, le=3650, description="daily steps until the year ends")
    open_minute: int = Field(8 * 60, ge=0, le=1439)
    close_minute: int = Field(18 * 60, ge=1, le=1440)

    # money
    initial_fen: Fen = 10_000_000
    setup_fen: Fen = 50_000
    max_open_stores: int = Field(4, ge=1)
    commission: Share = 0.02
    settlement_days: int = Field(9, ge=1, description="days from shipping to the wallet")
    ship_within_days: int = Field(2, ge=0, description="days after the sale in which an order can be shipped")
    salvage_share: Share = 0.10
    idle_penalty_fen: Fen = 100_000
    idle_grace_days: int = Field(7, ge=0, description="days without a store before the penalty starts")
    bankruptcy_mornings: int = Field(10, ge=1, description="consecutive daily steps that end with the bank below zero")
    vip_fee_fen: Fen = 100_000
    max_memos: int = Field(20, ge=0)
    max_price_fen: int = Field(10**9, ge=1, description="highest list price the platform takes")

    # goods
    freight_fen: tuple[Fen, Fen, Fen, Fen] = (50, 150, 300, 600)
    storage_fen: tuple[Fen, Fen, Fen, Fen] = (5, 15, 50, 150)
    storage_steps: Steps = ((0, 1.0), (21, 1.4), (45, 2.2), (90, 4.0), (135, 6.0), (180, 9.0))
    speed_cost: tuple[float, float, float] = (2.0, 1.0, 0.5)
    speed_returns: tuple[float, float, float] = (0.75, 1.0, 1.30)

    # demand
    platform_share: Share = 0.1
    weekend_factor: float = Field(1.3, gt=0)
    sub_cap_floor: Share = 0.35
    sub_cap_numerator: float = Field(1.2, gt=0)
    discount_min: Share = 0.05
    discount_max: Share = 0.50
    full_discount: float = Field(0.30, gt=0, le=1, description="discount from which the promotion factor is full")
    join_ahead_days: int = Field(30, ge=0)
    announce_ahead_days: int = Field(7, ge=0)

    # reputation: base + rise / (1 + exp(-(N - middle) / width)), less the penalty
    reputation_new: Share = 0.5
    reputation_base: Share = 0.3
    reputation_rise: Share = 0.7
    reputation_middle: float = 500.0
    reputation_width: float = Field(200.0, gt=0)
    reputation_return_weight: float = Field(0.6, ge=0)
    reputation_cancel_weight: float = Field(1.0, ge=0)
    reputation_penalty_max: Share = 0.5
    reputation_bounds: tuple[Share, Share] = (0.15, 1.0)
    reputation_memory: Share = 0.85

    # returns
    return_cap: Share = 0.95
    defect_return_min: Share = 0.40
    defect_return_factor: float = Field(2.0, ge=0)
    return_knees: Steps = ((0.8, 0.85), (1.0, 1.00), (1.3, 1.50), (1.8, 2.20))
    return_lag: tuple[int, int] = (3, 7)

    # procurement
    lead_days: tuple[int, int] = (3, 7)
    short_delivery: tuple[Share, Share] = (0.6, 0.7)
    upfront_floor_factor: float = Field(1.5, ge=1, description="floor of price frauds as a multiple of the honest one")
    opening_bound_factor: float = Field(1.5, gt=1, description="p_max of a negotiation as a multiple of the opening")

    # what differs between the two rule sets
    return_wording: Literal["published", "from_numbers"] = "published"
    promotion_base: Literal["list", "reference_or_trailing"] = "list"
    trailing_days: int = Field(14, ge=1, description="memory of the trailing list price; used by the second base")
    response_bound: float | None = Field(
        None, gt=0, lt=1, description="price ratio below which demand grows no further, and a quadratic made monotone"
    )
    choke_ratio: float | None = Field(
        None, gt=1, description="price ratio from which nobody buys; above the reference demand bends down to it"
    )
    capacity_unit: Literal["units", "value"] = Field(
        "units", description="whether a store can sell so many units, or goods of so much value at reference prices"
    )
    category_breadth: float | None = Field(
        None, gt=0, description="products whose full demand is the most that all listed ones of a category can share"
    )
    price_band: PriceBand | None = Field(None, description="allowed list prices; None is any price of at least 1 fen")
    commission_on_returns: Literal["kept", "reversed"] = "kept"
    kernel_types: Literal["by_personality", "drawn"] = "by_personality"
    fraud_price_scale: Literal["published", "as_honest"] = "published"
    honest_floors: Literal["published", "as_fraudulent"] = Field(
        "published", description="whether as many honest suppliers as fraudulent ones have the floor of a price fraud"
    )
    counter_below_bid: Literal["raised", "take_bid"] = "raised"
    history_includes_current: bool = True
    round_limit: int | None = Field(None, ge=1, description="rounds of a negotiation; then no talk until the next day")
    negotiation_draws: Literal["by_cycle", "by_day"] = Field(
        "by_cycle", description="whether earlier talks with a supplier move the draws of later ones"
    )
    unpaid_bids: Literal["answered", "refused"] = Field(
        "answered",
        description="whether a supplier is asked about a bid that cannot be paid, or lower than one it agreed to",
    )
    calendar: Literal["published", "shifted"] = "published"

    # options of a study, off in both rule sets
    ending: Literal["told", "drawn"] = Field(
        "told",
        description="whether the year ends after num_days, or on a morning drawn by the world and told to nobody",
    )
    sure_share: Share = Field(0.75, description="share of num_days before which a drawn end does not come")
    end_hazard: float = Field(0.02, gt=0, le=1, description="chance of each morning after these to be the drawn end")
    fee_consent: Literal["action", "words"] = Field(
        "action", description="whether a membership fee is paid by an action only, or by agreeing in words too"
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.open_minute >= self.close_minute:
            raise ValueError(f"open_minute={self.open_minute} must be before close_minute={self.close_minute}")
        for field in ("return_lag", "lead_days", "short_delivery", "reputation_bounds"):
            low, high = getattr(self, field)
            if not 0 <= low <= high:
                raise ValueError(f"{field}=({low}, {high}) must be ordered and not negative")
        if self.choke_ratio is not None and self.price_band is not None and self.price_band.high > self.choke_ratio:
            raise ValueError(f"price_band.high={self.price_band.high} must not exceed choke_ratio={self.choke_ratio}")
        if self.return_lag[1] >= self.settlement_days:
            # A refund is taken from the escrow of its own shipment, which must still be there.
            raise ValueError(f"return_lag={self.return_lag} must end before settlement_days={self.settlement_days}")
        return self


PAPER = Rules()
FAIR = Rules(
    name="fair",
    version=3,
    return_wording="from_numbers",
    promotion_base="reference_or_trailing",
    response_bound=0.4,
    choke_ratio=1.3,
    capacity_unit="value",
    category_breadth=12,
    price_band=PriceBand(low=0.25, high=1.3),
    commission_on_returns="reversed",
    kernel_types="drawn",
    fraud_price_scale="as_honest",
    honest_floors="as_fraudulent",
    counter_below_bid="take_bid",
    history_includes_current=False,
    round_limit=10,
    negotiation_draws="by_day",
    unpaid_bids="refused",
    calendar="shifted",
)
FIRST_FAIR = FAIR.model_copy(
    update={
        "name": "fair-1",
        "version": 2,
        "choke_ratio": None,
        "capacity_unit": "units",
        "category_breadth": None,
        "price_band": PriceBand(low=0.25, high=5.0),
    }
)
RULE_SETS = {rules.name: rules for rules in (PAPER, FAIR)}
_NAMED = RULE_SETS | {FIRST_FAIR.name: FIRST_FAIR}


def rules_named(name: str, version: int | None = None) -> Rules:
    """Return the rule set called ``name``; one of an earlier version is another game and is refused."""
    if name not in _NAMED:
        raise ValueError(f"rules={name!r} is unknown; choose one of {', '.join(_NAMED)}")
    rules = _NAMED[name]
    if version not in (None, rules.version):
        raise ValueError(
            f"rules={name!r} of version {version} cannot be played or compared here, where they have version "
            f"{rules.version}; use the release that played them"
        )
    return rules
