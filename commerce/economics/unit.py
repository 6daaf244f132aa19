r"""What one negotiation is worth in money (paper, section 4.4).

With lot size ``n``, fixed overhead ``h``, outside option ``o``, resale value ``v`` and fulfilment cost ``c`` of a unit,

.. math::
    \Pi_{merchant}(p) = n (v - p - c) - h, \qquad \Pi_{vendor}(p) = n (p - cogs - overhead) - h,

and ``o`` without a deal. The own reservation is tied to it: there the deal still leaves the margin floor ``g`` a unit,
``Pi(r_A) = n g``, so ``v = r_A + c + g + h / n`` and ``cogs + overhead = r_A - g - h / n``. Unit values are whole
cents, rounded so that the floor is not undercut: ``n g <= Pi(r_A) <= n (g + 1) + 1``. Payments are rounded to the cent.
With a surplus scale ``k`` other than 1 a deal at ``p`` is paid at ``r_A + k (p - r_A)``, which stands for ``p`` above.
"""

from __future__ import annotations

import math
from enum import StrEnum

from pydantic import Field

from commerce.economics.constants import EconomicsConfig
from commerce.streams import keyed_integer, keyed_uniform
from terms.config import Frozen
from terms.scenario import Scenario
from terms.types import Regime, Role


class Perspective(StrEnum):
    """Whose money it is: a merchant buys to sell again, a vendor sells what it made."""

    MERCHANT = "merchant"
    VENDOR = "vendor"

    @property
    def role(self) -> Role:
        """Side of the trade."""
        return Role.BUYER if self is Perspective.MERCHANT else Role.SELLER


class UnitEconomics(Frozen):
    """Money of one negotiation: cents a unit, except overhead and outside option, which are cents a negotiation.

    A merchant has ``resale_cents`` and ``fulfilment_cents``, a vendor ``cogs_cents`` and ``sales_overhead_cents``; the
    other two are ``None``. ``reservation_price`` is that of the scenario, in its units (dollars).
    """

    perspective: Perspective
    lot_size: int = Field(ge=1)
    reservation_price: float
    margin_floor_cents: int = Field(ge=0)
    overhead_cents: int = Field(ge=0)
    outside_cents: int
    surplus_scale: float = Field(1.0, gt=0)
    resale_cents: int | None = None
    fulfilment_cents: int | None = None
    cogs_cents: int | None = None
    sales_overhead_cents: int | None = None

    def profit_cents(self, price: float | None) -> int:
        """Return the profit of a deal at ``price``, or of none; a loss is a loss and never clipped."""
        if price is None:
            return self.outside_cents
        payment = round(100 * self.lot_size * self._paid(price))
        return self._sign * (self.lot_size * self._unit_value_cents - payment) - self.overhead_cents

    @property
    def walkaway_cents(self) -> int:
        """Profit without a deal, ``o``."""
        return self.outside_cents

    def best_cents(self, counterpart_reservation: float) -> int | None:
        """Return the best feasible profit, that of a deal at ``r_B``; ``None`` where no price suits both."""
        if self._sign * (self.reservation_price - counterpart_reservation) <= 0:
            return None
        return self.profit_cents(counterpart_reservation)

    def revenue_cents(self, price: float) -> int:
        """Return what comes in on a deal at ``price``: resale of the lot, or the buyer's payment."""
        if self.resale_cents is not None:
            return self.lot_size * self.resale_cents
        return round(100 * self.lot_size * self._paid(price))

    def gross_margin(self, price: float) -> float | None:
        """Return profit before the fixed overhead over revenue; ``None`` where nothing comes in."""
        revenue = self.revenue_cents(price)
        return (self.profit_cents(price) + self.overhead_cents) / revenue if revenue > 0 else None

    def to_json_object(self) -> dict[str, object]:
        """Return what the agent is told, in dollars: the terms of its own side and nothing about the other.

        The outside option is not among them: it depends on the regime and would tell beforehand whether a deal is
        possible. Afterwards cash shows what no deal brought, and with it the same.
        """
        units = ("resale_cents", "fulfilment_cents", "cogs_cents", "sales_overhead_cents")
        shown = {
            name.removesuffix("_cents"): getattr(self, name) / 100 for name in units if getattr(self, name) is not None
        }
        paid = "price"
        if self.surplus_scale != 1:
            own = f"{self.reservation_price:g}"
            paid = f"({own} + {self.surplus_scale:g} * (price - {own}))"
        formula = f"lot_size * (resale - {paid} - fulfilment) - overhead"
        if self.perspective is Perspective.VENDOR:
            formula = f"lot_size * ({paid} - cogs - sales_overhead) - overhead"
        return {
            "perspective": self.perspective.value,
            "lot_size": self.lot_size,
            **shown,
            "overhead": self.overhead_cents / 100,
            "profit_of_a_deal": formula,
            "margin_per_unit_at_reservation": self.margin_floor_cents / 100,
        }

    def _paid(self, price: float) -> float:
        if self.surplus_scale == 1:
            return price
        return self.reservation_price + self.surplus_scale * (price - self.reservation_price)

    @property
    def _sign(self) -> int:
        return self.perspective.role.sign

    @property
    def _unit_value_cents(self) -> int:
        """Price in cents at which a unit leaves nothing before the fixed overhead."""
        if self.resale_cents is not None and self.fulfilment_cents is not None:
            return self.resale_cents - self.fulfilment_cents
        return (self.cogs_cents or 0) + (self.sales_overhead_cents or 0)


def unit_economics(scenario: Scenario, config: EconomicsConfig) -> UnitEconomics:
    """Draw the economics of ``scenario`` from streams of its own, named after what they decide.

    Two agents on one scenario have the same economics, and drawing them disturbs nothing of the game.
    """

    def uniform(name: str) -> float:
        return keyed_uniform(0, name, scenario.scenario_id)

    own, buys = scenario.agent_type.reservation_price, scenario.agent_role is Role.BUYER
    lot = keyed_integer(config.lot_low, config.lot_high, uniform("lot_size"))
    basis = own if config.margin_basis == "reservation" else price_scale(scenario)
    floor = round(100 * config.margin_share * basis)
    share = config.fulfilment_share if buys else config.cogs_share
    part = share.low + (share.high - share.low) * uniform("fulfilment_share" if buys else "cogs_share")
    markup = 100 * own + scenario.sign * (floor + config.overhead_cents / lot)
    cost: dict[str, int] = {}
    if buys:
        fulfilment = round(100 * own * part)
        cost = {"resale_cents": math.ceil(markup + fulfilment), "fulfilment_cents": fulfilment}
    else:
        total = math.floor(markup)
        cost = {"cogs_cents": round(total * part), "sales_overhead_cents": total - round(total * part)}
    return UnitEconomics(
        perspective=Perspective.MERCHANT if buys else Perspective.VENDOR,
        lot_size=lot,
        reservation_price=own,
        margin_floor_cents=floor,
        overhead_cents=config.overhead_cents,
        outside_cents=config.outside_cents(scenario.regime is not Regime.NO_DEAL, own),
        surplus_scale=config.surplus_scale,
        **cost,
    )


def price_scale(scenario: Scenario) -> float:
    """Return the scale margins are taken of: the item's own spread if there is one, else R."""
    product = scenario.product
    return scenario.price_range if product is None else product.high_price - product.low_price
