"""What a trading merchant makes of a store that somebody else ran until now.

Everything comes from the view: what is open, on hand, listed and on its way, what every supplier delivered of what was
ordered, and how fast each product sold since it first arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from commerce.branching import View
from commerce.merchants.advice import Market, MarketProduct, SupplierCard
from commerce.merchants.base import open_stores
from commerce.merchants.lines import ProductLine

PAGE_ROWS = 200
_LEAD_DAYS = 7

Ask = Callable[..., dict[str, Any]]
"""Asks a tool by name and returns its data; nothing once the year is over."""


class Inherited(NamedTuple):
    """A store's books: types of the open stores by id, their catalogue, suppliers and products by category."""

    market: Market
    stores: dict[str, str]
    catalogue: dict[str, list[MarketProduct]]
    suppliers: dict[str, list[SupplierCard]]
    lines: dict[str, ProductLine]
    on_the_way: list[dict[str, Any]]
    bank: float
    wallet: float


def pages_of(ask: Ask, tool: str, part: str | None = None, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of every page that ``tool`` shows, or of its ``part``."""
    page = pages = 1
    while page <= pages:
        data = ask(tool, **arguments, page=page, page_size=PAGE_ROWS)
        found = data if part is None else data.get(part, {})
        pages, page = found.get("pages", 0), page + 1
        yield from found.get("results", [])


def products_of(ask: Ask, category: str) -> list[MarketProduct]:
    """Return the catalogue of a category."""
    rows = pages_of(ask, "list_products", category=category)
    return [MarketProduct(row["product_id"], category, row["reference_price"]) for row in rows]


def inherit(view: View) -> Inherited:
    """Read the books."""
    market = Market(view.look("market_search")["store_types"])
    stores = {row["store_id"]: row["store_type"] for row in open_stores(view)}
    of_category = {}
    for card in market.store_types:
        for name in card["category_names"]:
            market.categories[name] = view.look("market_search", category=name)["detail"]
            of_category[name] = next((key for key, kind in stores.items() if kind == card["store_type"]), None)
    mine = {name: store_id for name, store_id in of_category.items() if store_id is not None}
    catalogue = {name: products_of(view.look, name) for name in mine}
    products = {product.product_id: product for found in catalogue.values() for product in found}
    balance = view.look("check_balance")
    return Inherited(
        market,
        stores,
        catalogue,
        {name: _cards(view, name, products) for name in mine},
        _lines(view, mine, products),
        [row for row in view.purchases() if row["received"] is None],
        balance["bank_balance"],
        balance["platform_wallet"],
    )


def _lines(view: View, stores: Mapping[str, str], products: Mapping[str, MarketProduct]) -> dict[str, ProductLine]:
    """Return what is listed or was ever bought, with the pace at which it sold."""
    first_day = {row["product_id"]: row["day"] for row in reversed(view.purchases())}
    sold = {row["product_id"]: row["units_sold"] for row in pages_of(view.look, "trace_return_sources")}
    price: dict[str, float] = {}
    for store_id in set(stores.values()):
        for row in pages_of(view.look, "check_store_status", "products", store_id=store_id):
            price[row["product_id"]] = row["retail_price"]
    lines = {}
    for product_id in sorted({*price, *first_day} & set(products)):
        product = products[product_id]
        days = max(1, view.time["day"] - first_day.get(product_id, 0) - _LEAD_DAYS)
        line = ProductLine(product, stores[product.category], price=price.get(product_id, 0.0))
        if product_id in sold:
            line.velocity, line.days_listed = sold[product_id] / days, days
        lines[product_id] = line
    return lines


def _cards(view: View, category: str, products: Mapping[str, MarketProduct]) -> list[SupplierCard]:
    """Return the suppliers of a category as their deliveries show them."""
    rows = view.look("supplier_search", category=category)["results"]
    cards = {row["supplier_email"]: SupplierCard(row["supplier_email"], category) for row in rows}
    for row in view.purchases():
        card = cards.get(row["supplier"])
        if card is not None:
            card.ratio = row["unit_price"] / products[row["product_id"]].reference
            card.deliveries += row["received"] == row["quantity"]
            card.is_blocked |= row["received"] is not None and row["received"] < row["quantity"]
    return list(cards.values())
