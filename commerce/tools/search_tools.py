"""Handlers of research, memory and supplier conversations."""

from __future__ import annotations

import numpy as np

from commerce.config import Rules
from commerce.money import to_fen, to_yuan
from commerce.receiving import Door
from commerce.refusals import RefusedError
from commerce.streams import stream_key
from commerce.tools import arguments as args
from commerce.tools.handling import Data, Desk, paged
from commerce.types import BuyerAction, BuyerMove, Category, ChatTurn, Size, World
from commerce.world.categories import wording_from_numbers

_SIZES = tuple(Size)
_MARGIN_LABELS = ((0.20, "low"), (0.35, "moderate"), (1.0, "high"))
_POTENTIAL = {1: "very high", 2: "high", 3: "moderate"}


def _known_rows(world: World, store_type: str | None, category: str | None) -> list[int]:
    """Return the categories that pass both filters; a name nobody knows is an error, not an empty answer."""
    rows = range(len(world.categories))
    if store_type is not None and store_type not in world.store_type_index:
        allowed = ", ".join(world.store_type_index)
        raise RefusedError("unknown_store_type", "store_type", f"store_type={store_type!r} is none of: {allowed}")
    if category is not None and category not in world.category_index:
        raise RefusedError("unknown_category", "category", f"category={category!r} is unknown; see market_search")
    return [
        row
        for row in rows
        if (store_type is None or world.categories[row].store_type == world.store_type_index[store_type])
        and (category is None or row == world.category_index[category])
    ]


def list_products(desk: Desk, given: args.ListProducts) -> Data:
    """List the catalogue."""
    world = desk.setting.world
    wanted = np.zeros(len(world.categories), dtype=np.bool_)
    wanted[_known_rows(world, given.store_type, given.category)] = True
    rows = np.flatnonzero(wanted[world.skus.category]).tolist()

    def show(sku: int) -> Data:
        return {
            "product_id": world.skus.sku_id[sku],
            "title": world.skus.title[sku],
            "category": world.category_names[sku],
            "brand": world.skus.brand[sku],
            "size": _SIZES[int(world.skus.size[sku])].value,
            "reference_price": to_yuan(int(world.skus.reference_fen[sku])),
        }

    return paged(rows, given.page, given.page_size, show)


def market_search(desk: Desk, given: args.MarketSearch) -> Data:
    """Describe the store types, one store type or one category."""
    world = desk.setting.world
    rows = _known_rows(world, given.store_type, given.category)
    if not rows:
        raise RefusedError("wrong_store_type", "category", f"{given.category} does not belong to {given.store_type}")
    if given.category is not None:
        return {"view": "category", "detail": _category_detail(desk, world.categories[rows[0]])}
    if given.store_type is not None:
        cards = [_category_card(world.categories[row]) for row in rows]
        return {"view": "store_type", **_type_card(desk, world.store_type_index[given.store_type]), "categories": cards}
    return {"view": "overview", "store_types": [_type_card(desk, row) for row in range(len(world.store_types))]}


def _type_card(desk: Desk, row: int) -> Data:
    world = desk.setting.world
    store_type = world.store_types[row]
    season = store_type.season
    return {
        "store_type": store_type.name,
        "store_name": store_type.title,
        "tier": store_type.tier,
        "profit_potential": _POTENTIAL.get(store_type.tier, "unknown"),
        "daily_operations_cost": to_yuan(store_type.operations_fen),
        "category_names": [world.categories[category].name for category in world.categories_by_type[row]],
        "monthly_sales_index": [round(100 * factor) for factor in season],
        "season_peak_month": 1 + season.index(max(season)),
        "season_low_month": 1 + season.index(min(season)),
    }


def _category_card(category: Category) -> Data:
    return {
        "category": category.name,
        "reference_price_range": [to_yuan(category.reference_min_fen), to_yuan(category.reference_max_fen)],
        "default_size": category.default_size.value,
    }


def _category_detail(desk: Desk, category: Category) -> Data:
    rules, row = desk.setting.rules, _SIZES.index(category.default_size)
    margin = 1 - (category.wholesale_ratio + category.floor_ratio) / 2
    return {
        **_category_card(category),
        "store_type": desk.setting.world.store_types[category.store_type].name,
        "return_risk": return_wording(category, rules),
        "typical_gross_margin": next(label for limit, label in _MARGIN_LABELS if margin < limit or limit == 1.0),
        "platform_monthly_sales": [category.monthly_sales_min, category.monthly_sales_max],
        "shipping_cost_per_unit": to_yuan(rules.freight_fen[row]),
        "storage_cost_per_unit_day": to_yuan(rules.storage_fen[row]),
    }


def return_wording(category: Category, rules: Rules) -> str:
    """Return what the agent is told about the return risk of a category."""
    if rules.return_wording == "published":
        return category.return_wording
    return wording_from_numbers(category.return_rate_min, category.return_rate_max)


def supplier_search(desk: Desk, given: args.SupplierSearch) -> Data:
    """List suppliers in an order that depends on the world and the filters alone."""
    world, state = desk.setting.world, desk.state
    categories = set(_known_rows(world, given.store_type, given.category))
    if given.product_name is not None:
        wanted = given.product_name.lower()
        titles = zip(world.skus.title, world.skus.category.tolist(), strict=True)
        categories &= {category for title, category in titles if wanted in title.lower()}
    rows = [
        row
        for category in sorted(categories)
        for row in world.suppliers_by_category[category]
        if not desk.procurement.is_retired(state.book, row)
    ]
    rows.sort(key=lambda row: stream_key(world.seed, "search_order", world.suppliers[row].supplier_id))

    def show(row: int) -> Data:
        supplier = world.suppliers[row]
        return {
            "supplier_name": supplier.name,
            "supplier_email": supplier.email,
            "categories_served": [world.categories[supplier.category].name],
        }

    return paged(rows, given.page, given.page_size, show)


def chatbox(desk: Desk, given: args.Chatbox) -> Data:
    """Talk to suppliers; accepted offers are orders."""
    world = desk.setting.world
    suppliers = []
    for uid in dict.fromkeys(given.uids):
        if uid not in world.supplier_index:
            raise RefusedError("unknown_supplier", "uids", f"uids has {uid!r}, which is no supplier's address")
        suppliers.append(world.supplier_index[uid])
    moves = tuple(_move(world, move) for move in given.actions)
    turn = ChatTurn(tuple(suppliers), given.content, moves)
    replies = desk.procurement.chat(Door(desk.setting, desk.state, desk.decisions), desk.state.book, turn)
    return {
        "replies": [
            {
                "supplier": world.suppliers[reply.supplier].email,
                "message": reply.text,
                "outcomes": [dict(outcome) for outcome in reply.outcomes],
            }
            for reply in replies
        ],
        "bank_balance": to_yuan(desk.state.bank_fen),
    }


def _move(world: World, move: args.NegotiationMove) -> BuyerAction:
    sku = None if move.sku_id is None else world.sku_index.get(move.sku_id)
    if move.sku_id is not None and sku is None:
        raise RefusedError("unknown_product", "actions.sku_id", f"sku_id={move.sku_id!r} is not in the catalogue")
    price = None if move.price is None else to_fen(move.price)
    return BuyerAction(BuyerMove(move.action), sku, price, move.quantity or 0)


def operate_memory(desk: Desk, given: args.OperateMemory) -> Data:
    """Keep notes."""
    memos, title = desk.state.memos, given.title
    if given.action == "list" or title is None:
        return {"memos": dict(memos), "total_memos": len(memos)}
    if given.action == "add":
        if title in memos:
            raise RefusedError("title_exists", "title", f"title={title!r} exists; use update")
        if len(memos) >= desk.setting.rules.max_memos:
            limit = desk.setting.rules.max_memos
            raise RefusedError("too_many_memos", "title", f"there are {limit} memos, which is the most allowed")
    elif title not in memos:
        known = ", ".join(memos) or "none"
        raise RefusedError("unknown_title", "title", f"title={title!r} is not among the memos: {known}")
    if given.action == "delete":
        del memos[title]
    elif given.action in ("add", "update"):
        memos[title] = given.content or ""
    return {"title": title, "content": memos.get(title), "total_memos": len(memos)}
