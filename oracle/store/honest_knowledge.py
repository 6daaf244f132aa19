"""The beliefs of somebody who knows the published rules, what the tools show, and what it has lived through.

Demand is learned from own sales (:mod:`oracle.store.demand_learning`), return rates from the trace of returns, prices
from own talks, frauds from evidence: a fee that is asked for, a delivery that is short, goods that come back. It is
given no world.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from commerce.config import Rules
from commerce.demand import sub_cap_share
from commerce.merchants.handover import Ask, pages_of
from commerce.types import FloatArray, IntArray, PriceResponse, Size
from oracle.store.demand_learning import DemandBelief, ShelfSales, first_belief
from oracle.store.floor_guesses import FloorGuesses
from oracle.store.knowledge import BuyingStyle, Shown, Supply
from oracle.store.static_optimum import StoreCapacity
from oracle.store.store_model import StoreModel

_COST_OF_MARGIN = {"low": 0.89, "moderate": 0.74, "high": 0.55}
"""Expected price as a share of the reference, halfway between floor and first quote of each published margin."""
_RETURNS_OF_WORDING = {"very low": 0.015, "low": 0.05, "low to moderate": 0.08, "moderate": 0.15, "elevated": 0.28}
_RETURNS_BY_DEFAULT = 0.2
_SCALE = 4.0
_DAILY_VALUE_FEN = {1: 10_000_000.0, 2: 6_000_000.0, 3: 4_000_000.0}
"""Expected capacity of a store of each tier, as goods a day at their reference prices."""
_ORDERS = 12
_PRESSES, _PRESSING_SHARE = 3, 0.1
_TRIAL_FEN, _TRIAL_DAYS = 250_000.0, 25.0
_OVER_GUESS, _UNHEARD = 1.02, 0.93
_NEW = 0.08  # what a supplier without a proven delivery must be cheaper by


@dataclass
class _Card:
    """What is known of a supplier; ``ratio`` is its last price as a share of the reference."""

    email: str
    category: int
    ratio: float = 9.0
    orders: int = 0
    proven: int = 0
    is_blocked: bool = False


class HonestKnowledge:
    """See :class:`oracle.store.knowledge.MarketKnowledge`."""

    style = BuyingStyle.COUNTERS
    trial_days = 25

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._ask: Ask | None = None
        self._cards: dict[str, _Card] = {}
        self._found: dict[int, list[_Card]] = {}
        self._ordered: dict[int, tuple[_Card, int]] = {}
        self._sold_before: FloatArray = np.zeros(0)
        self._paid: dict[int, tuple[float, float]] = {}
        self._floors = FloorGuesses()

    @property
    def product_ids(self) -> Sequence[str]:
        """Product of each row."""
        return self._product_ids

    @property
    def kinds(self) -> Sequence[str]:
        """Names of the store types."""
        return [card["store_type"] for card in self._types]

    def last_day(self, day: int) -> int:
        """Return the last day, or one that a year with a drawn end outlasts as often as not."""
        rules = self._rules
        if rules.ending == "told":
            return rules.num_days
        first = max(day, int(rules.sure_share * rules.num_days))
        return min(rules.num_days, first + round(math.log(2) / rules.end_hazard))

    def prepare(self, look: Ask, ask: Ask, first_date: dt.date) -> None:
        """Read the catalogue and the market's cards."""
        self._ask, self._first_date = ask, first_date
        self._types = look("market_search")["store_types"]
        names = [name for card in self._types for name in card["category_names"]]
        self._category = {name: row for row, name in enumerate(names)}
        self._details = [look("market_search", category=name).get("detail", {}) for name in names]
        products = list(pages_of(look, "list_products"))
        self._product_ids = tuple(row["product_id"] for row in products)
        self._row = {product: row for row, product in enumerate(self._product_ids)}
        self._of_category = np.array([self._category[row["category"]] for row in products], dtype=np.int64)
        self._reference = np.array([round(100 * row["reference_price"]) for row in products], dtype=np.float64)
        sizes = [size.value for size in Size]
        self._size = np.array([sizes.index(row["size"]) for row in products], dtype=np.int64)
        self._returns = np.array([_expected_returns(self._details[row]) for row in self._of_category])
        self._sold_before = np.zeros(len(products))
        self._pace = np.zeros(len(names))
        self._beliefs = [self._prior(card) for card in self._types]
        self._models = [belief.current() for belief in self._beliefs]

    def _prior(self, card: Mapping[str, Any]) -> DemandBelief:
        """Return the belief about a store type before anything was sold."""
        rules, names = self._rules, [self._category[name] for name in card["category_names"]]
        skus = np.flatnonzero(np.isin(self._of_category, names))
        reference = self._reference[skus]
        monthly = [
            sum(self._details[row].get("platform_monthly_sales", (100, 100))) / 2 for row in self._of_category[skus]
        ]
        share = sub_cap_share(len(names), rules)
        is_by_value = rules.capacity_unit == "value"
        model = StoreModel(
            rules=rules,
            skus=skus,
            base=np.array(monthly) / 30 * rules.platform_share,
            elasticity=np.full(len(skus), 3.5),
            response=np.full(len(skus), list(PriceResponse).index(PriceResponse.EXPONENTIAL)),
            returns=self._returns[skus],
            reference=reference,
            freight=np.array(rules.freight_fen, dtype=np.float64)[self._size[skus]],
            storage=np.array(rules.storage_fen, dtype=np.float64)[self._size[skus]],
            weight=reference / reference.mean() if is_by_value else np.ones(len(skus)),
            category=np.searchsorted(np.sort(names), self._of_category[skus]),
            capacity=StoreCapacity(
                1.0, np.full(len(names), share if share < 1 else np.inf), breadth=rules.category_breadth
            ),
        )
        value = _DAILY_VALUE_FEN.get(card["tier"], _DAILY_VALUE_FEN[2])
        return first_belief(model, _SCALE, value / float(reference.mean()))

    def model(self, kind: int) -> StoreModel:
        """Return what is believed of a store type."""
        return self._models[kind]

    def operations_fen(self, kind: int) -> float:
        """Return what a store of a type costs a day."""
        return 100 * float(self._types[kind]["daily_operations_cost"])

    def demand_factor(self, kind: int, first_day: int, num_days: int) -> float:
        """Return the mean of season and weekend."""
        dates = [self._first_date + dt.timedelta(days=first_day + day) for day in range(num_days)]
        index, weekend = self._types[kind]["monthly_sales_index"], self._rules.weekend_factor
        return float(np.mean([index[d.month - 1] / 100 * (weekend if d.weekday() >= 5 else 1.0) for d in dates]))

    def unit_costs(self) -> FloatArray:
        """Return the price paid so far in the category, or what its published margin lets one expect."""
        ratios = np.array([self._ratio(row) for row in range(len(self._details))])
        return np.asarray(self._reference * ratios[self._of_category])

    def _ratio(self, category: int) -> float:
        units, paid = self._paid.get(category, (0.0, 0.0))
        prior = _COST_OF_MARGIN.get(self._details[category].get("typical_gross_margin", ""), 0.74)
        return (prior + paid) / (1 + units)

    def learn_sales(self, ask: Ask, shown: Mapping[int, Shown]) -> None:
        """Learn demand from what was sold, return rates and bad goods from what came back."""
        sold = self._sold_before.copy()
        for row in pages_of(ask, "trace_return_sources"):
            place = self._row[row["product_id"]]
            sold[place], self._returns[place] = row["units_sold"], row["natural_return_rate"]
            if row["note"] and "far above" in row["note"]:
                for source in row["suppliers"]:
                    if source["share"] > 0.5 and source["supplier"] in self._cards:
                        self._cards[source["supplier"]].is_blocked = True
        new, self._sold_before = sold - self._sold_before, sold
        if shown:
            num_days = max(seen.num_days for seen in shown.values())
            worth = new * self.unit_costs() / num_days
            self._pace = np.maximum(0.5 * self._pace, np.bincount(self._of_category, worth, len(self._details)))
        for kind, seen in shown.items():
            belief = self._beliefs[kind]
            belief.model.returns[:] = self._returns[belief.model.skus]
            places = np.flatnonzero(seen.on_hand > 0)
            if len(places):
                units = new[belief.model.skus[places]]
                factor = self.demand_factor(kind, seen.first_day, seen.num_days) * seen.reputation
                complete = (units < seen.on_hand[places]).astype(np.float64)
                belief.learn(ShelfSales(places, seen.price[places], units, complete, float(seen.num_days), factor))
            self._models[kind] = belief.current()

    def supplies(self, skus: IntArray, units: FloatArray, most: int) -> list[tuple[Supply, IntArray]]:
        """Return the cheapest supplier that is trusted.

        One that has delivered nothing yet gets a trial, and no category gets more than some weeks of what it has sold.
        """
        category = int(self._of_category[skus[0]])
        if category not in self._found:
            self._scout(category, int(skus[0]))
        usable = [card for card in self._found.get(category, []) if not card.is_blocked]
        if not usable:
            return []
        card = min(usable, key=lambda found: (found.ratio + (0 if found.proven else _NEW), found.email))
        ratio = min(card.ratio, 1.2 * self._ratio(category))
        bids = np.maximum(1, np.rint(self._reference[skus] * ratio)).astype(np.int64)
        most_fen = max(_TRIAL_FEN, _TRIAL_DAYS * float(self._pace[category]) if card.proven else 0.0)
        return [(Supply(card.email, bids, most_fen), np.arange(len(skus)))]

    def bid(self, email: str, product_id: str, standing_fen: int) -> int:
        """Return the floor that is guessed, or what lies a little below the standing price."""
        guess = self._floors.of(email, product_id)
        return min(standing_fen, max(1, round(_OVER_GUESS * guess if guess else _UNHEARD * standing_fen)))

    def _scout(self, category: int, sku: int) -> None:
        """Find the suppliers of a category and press all of them at once for one product."""
        ask = self._ask
        assert ask is not None
        name = next(name for name, row in self._category.items() if row == category)
        rows = ask("supplier_search", category=name).get("results", [])
        self._found[category] = [_Card(row["supplier_email"], category) for row in rows]
        self._cards |= {card.email: card for card in self._found[category]}
        bid = max(0.01, round(_PRESSING_SHARE * self._reference[sku] / 100, 2))
        move = {"action": "offer", "sku_id": self._product_ids[sku], "price": bid, "quantity": 1}
        for _ in range(_PRESSES):
            emails = [card.email for card in self._found[category]][:20]
            if emails:
                self.learn_talk(ask("chatbox", uids=emails, actions=[move]).get("replies", []))

    def orders_left(self, sku: int) -> int:
        """Return how many more orders the trusted suppliers of a SKU's category may take."""
        found = self._found.get(int(self._of_category[sku]))
        if found is None:
            return 7 * _ORDERS
        return sum(max(1, _ORDERS - card.orders) for card in found if not card.is_blocked)

    def learn_talk(self, replies: Iterable[Mapping[str, Any]]) -> None:
        """Note prices and orders; who asks for a fee or does not answer any more is not asked again."""
        for reply in replies:
            card = self._cards.get(reply["supplier"])
            if card is None:
                continue
            card.is_blocked |= not reply["outcomes"]
            card.orders += any("order" in outcome for outcome in reply["outcomes"])
            for outcome in reply["outcomes"]:
                card.is_blocked |= outcome.get("code") == "members_only"
                if outcome["decision"] in ("Offer", "Accept") and "sku_id" in outcome:
                    self._floors.note(card.email, outcome)
                self._learn_outcome(card, outcome)

    def _learn_outcome(self, card: _Card, outcome: Mapping[str, Any]) -> None:
        if outcome["decision"] not in ("Offer", "Accept") or "sku_id" not in outcome:
            return
        ratio = 100 * outcome["price"] / self._reference[self._row[outcome["sku_id"]]]
        card.ratio = ratio if card.ratio > 2 else 0.7 * card.ratio + 0.3 * ratio
        if "order" in outcome:
            order = outcome["order"]
            self._ordered[order["purchase_order"]] = (card, order["quantity"])
            units, paid = self._paid.get(card.category, (0.0, 0.0))
            self._paid[card.category] = (0.9 * units + 1, 0.9 * paid + ratio)

    def learn_deliveries(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Trust who delivers in full, and do not ask again who does not."""
        for row in rows:
            if row["purchase_order"] in self._ordered:
                card, units = self._ordered.pop(row["purchase_order"])
                card.is_blocked |= row["received"] < units
                card.proven += row["received"] >= units


def _expected_returns(detail: Mapping[str, Any]) -> float:
    wording = str(detail.get("return_risk", "")).removesuffix(" return risk")
    return _RETURNS_OF_WORDING.get(wording, _RETURNS_BY_DEFAULT)
