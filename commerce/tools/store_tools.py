"""Handlers of the store tools."""

from __future__ import annotations

import numpy as np

from commerce import shopkeeping
from commerce.decisions import CLOSE_STORE, LIQUIDATE_STORE, OPEN_STORE
from commerce.money import to_yuan
from commerce.notices import promotion_windows
from commerce.refusals import RefusedError
from commerce.state import StoreState
from commerce.tools import arguments as args
from commerce.tools.handling import Data, Desk, each_item
from commerce.tools.pages import TablePage, bounds, written_names


def open_store(desk: Desk, given: args.OpenStore) -> Data:
    """Open a store."""
    world, state = desk.setting.world, desk.state
    row = world.store_type_index.get(given.store_type)
    if row is None:
        allowed = ", ".join(world.store_type_index)
        raise RefusedError("unknown_store_type", "store_type", f"store_type={given.store_type!r} is none of: {allowed}")
    was_open = any(store.store_type == row for store in state.stores)
    store = shopkeeping.open_store(desk.setting, state, row, given.store_name)
    desk.decisions.store_act(state, OPEN_STORE, row)
    return {
        "store_id": store.store_id,
        "store_type": given.store_type,
        "store_name": store.name,
        "setup_fee": to_yuan(desk.setting.rules.setup_fen),
        "daily_operations_cost": to_yuan(world.store_types[row].operations_fen),
        "is_reopened": was_open,
        "bank_balance": to_yuan(state.bank_fen),
        "allowed_categories": [world.categories[category].name for category in world.categories_by_type[row]],
    }


def close_store(desk: Desk, given: args.CloseStore) -> Data:
    """Close a store."""
    store = shopkeeping.find_store(desk.state, given.store_id)
    sold = shopkeeping.close_store(desk.setting, desk.state, store, liquidate=given.liquidate)
    desk.decisions.store_act(desk.state, LIQUIDATE_STORE if given.liquidate else CLOSE_STORE, store.store_type)
    ids = desk.setting.world.skus.sku_id
    items = [
        {"product_id": ids[sku], "quantity": units, "salvage": to_yuan(fen) if given.liquidate else None}
        for sku, units, fen in zip(*(column.tolist() for column in sold), strict=True)
    ]
    return {
        "store_id": store.store_id,
        "liquidated": given.liquidate,
        "items": items,
        "total_units": int(sold.units.sum()),
        "salvage": to_yuan(int(sold.salvage_fen.sum())) if given.liquidate else None,
        "bank_balance": to_yuan(desk.state.bank_fen),
    }


def check_store_status(desk: Desk, given: args.CheckStoreStatus) -> Data:
    """Report one store, or all stores and the promotions that can be joined."""
    if given.store_id is not None:
        return _store_detail(desk, shopkeeping.find_store(desk.state, given.store_id, must_be_open=False), given)
    rules = desk.setting.rules
    promotions = [
        {"name": row.name, "windows": promotion_windows(desk.setting, row), "is_active": row.is_active(desk.state.day)}
        for row in desk.setting.world.promotions
        if any(first - rules.join_ahead_days <= desk.state.day <= last for first, last in row.windows)
    ]
    return {
        "max_stores": rules.max_open_stores,
        "open_stores": len(desk.state.open_stores),
        "stores": [_store_card(desk, store) for store in desk.state.stores],
        "promotions": promotions,
    }


def _store_card(desk: Desk, store: StoreState) -> Data:
    world = desk.setting.world
    return {
        "store_id": store.store_id,
        "store_type": world.store_types[store.store_type].name,
        "store_name": store.name,
        "is_open": store.is_open,
        "opened_date": desk.setting.iso_date(store.opened_day),
        "reputation": round(store.reputation, 3),
        "num_products": int(np.count_nonzero(store.shelf)),
        "num_units": int(store.shelf.sum()),
        "promotion": None if store.promotion is None else world.promotions[store.promotion].name,
        "discount_rate": None if store.promotion is None else store.discount,
    }


def _store_detail(desk: Desk, store: StoreState, given: args.CheckStoreStatus) -> Data:
    yesterday = {
        "revenue": to_yuan(store.revenue_fen),
        "units_sold": int(store.sold.sum()),
        "units_returned": int(store.returned.sum()),
        "refunds": to_yuan(store.refunds_fen),
        "shipping_cost": to_yuan(store.freight_fen),
        "net": to_yuan(store.revenue_fen - store.refunds_fen - store.freight_fen),
    }
    return {**_store_card(desk, store), "yesterday": yesterday, "products": _products(desk, store, given)}


def _products(desk: Desk, store: StoreState, given: args.CheckStoreStatus) -> TablePage:
    """Return what is on the shelf, or sold or came back yesterday."""
    world = desk.setting.world
    all_places = np.flatnonzero((store.price_fen > 0) | (store.sold > 0) | (store.returned > 0))
    places = all_places[bounds(given.page, given.page_size)]
    skus = desk.setting.rows_of_type[store.store_type][places].tolist()
    columns = [column[places].tolist() for column in (store.shelf, store.price_fen, store.sold, store.returned)]
    ids = [world.skus.sku_id[sku] for sku in skus]

    def make() -> list[Data]:
        titles, categories = world.skus.title, world.category_names
        return [
            {
                "product_id": product_id,
                "title": titles[sku],
                "category": categories[sku],
                "quantity": units,
                "retail_price": fen / 100,
                "yesterday_sold": sold,
                "yesterday_returned": returned,
            }
            for product_id, sku, units, fen, sold, returned in zip(ids, skus, *columns, strict=True)
        ]

    def write() -> list[str]:
        written, titles, categories, _ = written_names(world)
        return [
            f'{{"category":{categories[sku]},"product_id":{written[sku]},"quantity":{units},'
            f'"retail_price":{fen / 100!r},"title":{titles[sku]},"yesterday_returned":{returned},'
            f'"yesterday_sold":{sold}}}'
            for sku, units, fen, sold, returned in zip(skus, *columns, strict=True)
        ]

    cheap = {"product_id": ids, "quantity": columns[0], "yesterday_sold": columns[2]}
    return TablePage(make, given.page, given.page_size, len(all_places), cheap, write)


def publish_to_store(desk: Desk, given: args.PublishToStore) -> Data:
    """Put units on a shelf."""
    store = shopkeeping.find_store(desk.state, given.store_id)

    def act(item: args.PlanItem) -> Data:
        sku = shopkeeping.find_sku(desk.setting, item.product_id)
        price = shopkeeping.checked_price_fen(desk.setting, sku, item.retail_price, "retail_price")
        shopkeeping.publish(desk.setting, desk.state, store, sku, item.quantity, price)
        desk.decisions.listed(desk.state, sku, item.quantity, price)
        return {"quantity_stocked": item.quantity, "retail_price": to_yuan(price)}

    return {"store_id": store.store_id, **each_item(given.plan, lambda item: item.product_id, act)}


def set_prices(desk: Desk, given: args.SetPrices) -> Data:
    """Set list prices."""
    store = shopkeeping.find_store(desk.state, given.store_id)

    def act(item: args.PriceItem) -> Data:
        sku = shopkeeping.find_sku(desk.setting, item.product_id)
        price = shopkeeping.checked_price_fen(desk.setting, sku, item.price, "price")
        old = shopkeeping.set_price(desk.setting, store, sku, price)
        desk.decisions.priced(desk.state, sku, price)
        return {"old_price": to_yuan(old), "new_price": to_yuan(price)}

    return {"store_id": store.store_id, **each_item(given.prices, lambda item: item.product_id, act)}


def return_to_warehouse(desk: Desk, given: args.ReturnToWarehouse) -> Data:
    """Take units off a shelf."""
    store = shopkeeping.find_store(desk.state, given.store_id)

    def act(item: args.ReturnItem) -> Data:
        sku = shopkeeping.find_sku(desk.setting, item.product_id)
        left = shopkeeping.unlist(desk.setting, desk.state, store, sku, item.quantity)
        desk.decisions.taken_off(desk.state, sku, item.quantity, left)
        return {"returned": item.quantity}

    return {"store_id": store.store_id, **each_item(given.items, lambda item: item.product_id, act)}


def join_promotion(desk: Desk, given: args.JoinPromotion) -> Data:
    """Join a promotion."""
    store = shopkeeping.find_store(desk.state, given.store_id)
    row = shopkeeping.join_promotion(desk.setting, desk.state, store, given.event_name, given.discount_rate)
    desk.decisions.joined(desk.state, store.store_type, row, given.discount_rate)
    promotion = desk.setting.world.promotions[row]
    return {
        "store_id": store.store_id,
        "event": promotion.name,
        "discount_rate": given.discount_rate,
        "is_active": promotion.is_active(desk.state.day),
        "windows": promotion_windows(desk.setting, promotion),
        "max_demand_multiplier": promotion.max_multiplier,
        "note": "takes effect at the next 08:00",
    }
