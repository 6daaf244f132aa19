"""Constants of the unit economics. The paper gives the formulas and the range of n; every other value is inferred.

With these defaults the fixed concessions of 30, 10 and 1 % have regret rates of 0.492, 0.562 and 0.601 on 1,800 fresh
episodes; published on 144 episodes are 0.498, 0.573 and 0.618, whose layout has a standard error of about 0.03. The
tests hold the defaults to within 0.05 of the published ones.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from commerce.bankroll import MAX_CENTS
from terms.config import Frozen, Uniform

#: Larger ones are slips of the pen, and the profit of a negotiation would no longer fit whole cents.
MAX_LOT, MAX_SHARE = 10**6, 100


class EconomicsConfig(Frozen):
    """Laws of what one negotiation is worth; money in cents, shares of the own reservation or of the price scale."""

    lot_low: int = Field(1, ge=1, le=MAX_LOT, description="published: n from 1 to 50")
    lot_high: int = Field(50, ge=1, le=MAX_LOT, description="published: n from 1 to 50; that n is uniform is inferred")
    margin_share: float = Field(
        0.06,
        ge=0,
        le=MAX_SHARE,
        description="g over the price scale; inferred: 6 of 100 from SE+ 0.387 going with regret 0.498",
    )
    margin_basis: Literal["price_scale", "reservation"] = Field(
        "price_scale", description="what g is a share of: the price scale, or the own reservation; neither is published"
    )
    surplus_scale: float = Field(
        1.0,
        gt=0,
        le=MAX_SHARE,
        description="a deal at p is paid at r + scale (p - r), r being the own reservation; 1.3 fits published dollars",
    )
    fulfilment_share: Uniform = Field(
        Uniform(low=0.05, high=0.15), description="c over the own reservation; inferred, moves gross margins alone"
    )
    cogs_share: Uniform = Field(
        Uniform(low=0.80, high=0.95),
        description="goods in a vendor's unit cost, the rest is sales overhead; inferred, decides no outcome",
    )
    overhead_cents: int = Field(
        300, ge=0, le=MAX_CENTS, description="h per negotiation; inferred, small beside the mean lot's profit"
    )
    infeasible_outside_cents: int = Field(
        238,
        ge=-MAX_CENTS,
        le=MAX_CENTS,
        description="o where no deal is possible; inferred: every published agent earns 114.45 dollars on 48 of them",
    )
    infeasible_outside_share: float | None = Field(
        None,
        ge=-MAX_SHARE,
        le=MAX_SHARE,
        description="o where no deal is possible over the own reservation; None: infeasible_outside_cents holds",
    )
    feasible_outside_cents: int | None = Field(
        None,
        ge=-MAX_CENTS,
        le=MAX_CENTS,
        description="o where a deal is possible; None is -h, inferred: failing there counts as negative profit",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.lot_low > self.lot_high:
            raise ValueError(f"lot_low={self.lot_low} exceeds lot_high={self.lot_high}; it must not")
        for field in ("fulfilment_share", "cogs_share"):
            law = getattr(self, field)
            most = 1 if field == "cogs_share" else MAX_SHARE
            if law.low < 0 or law.high > most:
                raise ValueError(f"{field} [{law.low}, {law.high}] must lie between 0 and {most}")
        return self

    def outside_cents(self, is_feasible: bool, reservation_price: float) -> int:
        """Return ``o``, which depends on the regime and, as a share, on the own reservation."""
        if not is_feasible and self.infeasible_outside_share is not None:
            return round(100 * self.infeasible_outside_share * reservation_price)
        if not is_feasible:
            return self.infeasible_outside_cents
        return -self.overhead_cents if self.feasible_outside_cents is None else self.feasible_outside_cents


#: Constants that also fit the published dollars (:mod:`experiments.episodes.money_fit` has the table): surplus counts
#: 1.3 times, g and c are 10 % of the own reservation, and no deal brings 5 % of it where none is possible.
PUBLISHED_2 = EconomicsConfig(
    margin_basis="reservation",
    margin_share=0.10,
    surplus_scale=1.3,
    fulfilment_share=Uniform(low=0.10, high=0.10),
    infeasible_outside_share=0.05,
)
ECONOMICS = {"default": EconomicsConfig(), "published-2": PUBLISHED_2}

#: A period of a session trades one unit, and its fixed overhead is part of the operating cost: a talk that fails at
#: once then costs exactly 9.00 dollars, as in the published trajectories (inferred).
SESSION_ECONOMICS = EconomicsConfig(lot_low=1, lot_high=1, overhead_cents=0)
