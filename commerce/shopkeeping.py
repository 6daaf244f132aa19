"""What a merchant does to its stores: open, close, list, price, take off the shelf, join a promotion.

Changes of shelf, price and promotion reach customers at the next 08:00, when the window is set
(:func:`refresh_windows`); units taken off the shelf are gone at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.ledger import Account, Entity, post
from commerce.money import round_fen, to_fen, to_yuan
from commerce.refusals import RefusedError
from commerce.setting import Setting
from commerce.state import StoreState, YearState, new_store
from commerce.stock import take_out
from commerce.types import IntArray


def find_store(state: YearState, store_id: str, *, must_be_open: bool = True) -> StoreState:
    """Return the store an agent means."""
    for store in state.stores:
        if store.store_id == store_id:
            if must_be_open and not store.is_open:
                raise RefusedError("store_closed", "store_id", f"{store_id} was closed")
            return store
    known = ", ".join(store.store_id for store in state.stores) or "none yet"
    raise RefusedError("unknown_store", "store_id", f"store_id={store_id!r} is not one of your stores: {known}")


def open_store(setting: Setting, state: YearState, store_type: int, name: str) -> StoreState:
    """Open a store of a type that is not open yet."""
    rules, open_stores = setting.rules, state.open_stores
    if any(store.store_type == store_type for store in open_stores):
        type_name = setting.world.store_types[store_type].name
        raise RefusedError("type_open", "store_type", f"a store of type {type_name} is already open")
    if len(open_stores) >= rules.max_open_stores:
        raise RefusedError("too_many_stores", None, f"no more than {rules.max_open_stores} stores may be open")
    if state.bank_fen < rules.setup_fen:
        needed, bank = to_yuan(rules.setup_fen), to_yuan(state.bank_fen)
        raise RefusedError("insufficient_funds", None, f"opening costs {needed:.2f} yuan, the bank holds {bank:.2f}")
    store = new_store(len(state.stores) + 1, store_type, name, state.day, len(setting.rows_of_type[store_type]))
    store.reputation = rules.reputation_new
    state.stores.append(store)
    entity = (Entity.STORE, store.number)
    post(state.ledger, state.stamp("store setup"), Account.SETUP, Account.BANK, entity, rules.setup_fen)
    return store


def open_store_of(state: YearState, store_type: int) -> StoreState | None:
    """Return the open store of a type, of which there is one at most."""
    return next((store for store in state.stores if store.store_type == store_type and store.is_open), None)


def move_to_bank(state: YearState, amount_fen: int) -> None:
    """Move money from the wallet, which must hold it, to the bank."""
    post(state.ledger, state.stamp("withdrawal"), Account.BANK, Account.WALLET, (Entity.YEAR, 0), amount_fen)


class Liquidation(NamedTuple):
    """Units sold off when a store closed, and what they brought."""

    skus: IntArray
    units: IntArray
    salvage_fen: IntArray


def close_store(setting: Setting, state: YearState, store: StoreState, *, liquidate: bool) -> Liquidation:
    """Close ``store``; its shelf goes back to the unlisted stock or is sold off at the salvage share of its cost."""
    places = np.flatnonzero(store.shelf)
    skus, units = setting.rows_of_type[store.store_type][places], store.shelf[places].copy()
    salvage = np.zeros(len(skus), dtype=np.int64)
    if liquidate:
        _, cost = take_out(state, skus, units)
        salvage = round_fen(cost * setting.rules.salvage_share)
        state.units.liquidated[skus] += units
        ledger, entity = state.ledger, (Entity.SKU, skus)
        stamp = state.stamp("liquidation")
        post(ledger, stamp, Account.LIQUIDATION_COST, Account.INVENTORY, entity, cost)
        post(ledger, stamp, Account.BANK, Account.SALVAGE, entity, salvage)
    else:
        state.unlisted[skus] += units
    for column in (store.shelf, store.price_fen, store.trailing_fen, store.window_units, store.window_fen):
        column[:] = 0
    store.closed_day = state.day
    store.promotion = store.window_promotion = None
    return Liquidation(skus, units, salvage)


def find_sku(setting: Setting, product_id: str) -> int:
    """Return the SKU an agent means."""
    sku = setting.world.sku_index.get(product_id)
    if sku is None:
        raise RefusedError("unknown_product", "product_id", f"product_id={product_id!r} is not in the catalogue")
    return sku


def highest_price_fen(rules: Rules, reference_fen: int) -> int:
    """Return the highest list price the platform takes."""
    if rules.price_band is None:
        return rules.max_price_fen
    return min(rules.max_price_fen, int(reference_fen * rules.price_band.high))


def checked_price_fen(setting: Setting, sku: int, yuan: float, field: str) -> int:
    """Return a list price in fen, or refuse one that the platform does not take."""
    rules, reference = setting.rules, int(setting.world.skus.reference_fen[sku])
    low, high = 1, highest_price_fen(rules, reference)
    if rules.price_band is not None:
        low = max(low, int(np.ceil(reference * rules.price_band.low)))
    # Compared before the conversion, because a huge number of yuan has no place in integer arithmetic.
    if not (low - 0.5) / 100 <= yuan <= (high + 0.5) / 100 or not low <= to_fen(yuan) <= high:
        raise RefusedError(
            "price_out_of_range", field, f"{field}={yuan:g} is outside [{to_yuan(low):.2f}, {to_yuan(high):.2f}] yuan"
        )
    return to_fen(yuan)


def publish(setting: Setting, state: YearState, store: StoreState, sku: int, quantity: int, price_fen: int) -> None:
    """Move units from the unlisted stock to the shelf; the price holds for all units of the SKU on it."""
    if setting.world.skus.store_type[sku] != store.store_type:
        category = setting.world.categories[int(setting.world.skus.category[sku])].name
        raise RefusedError("category_not_allowed", "product_id", f"{store.store_id} may not sell {category}")
    if quantity > state.unlisted[sku]:
        raise RefusedError(
            "not_enough_stock", "quantity", f"quantity={quantity} exceeds the {state.unlisted[sku]} unlisted units"
        )
    place = setting.place[sku]
    state.unlisted[sku] -= quantity
    store.shelf[place] += quantity
    store.price_fen[place] = price_fen
    if store.trailing_fen[place] == 0:
        store.trailing_fen[place] = price_fen


def set_price(setting: Setting, store: StoreState, sku: int, price_fen: int) -> int:
    """Set the list price of a SKU that is or was on the shelf and return the old one."""
    place = _listed_place(setting, store, sku)
    old = int(store.price_fen[place])
    store.price_fen[place] = price_fen
    return old


def unlist(setting: Setting, state: YearState, store: StoreState, sku: int, quantity: int) -> int:
    """Move units from the shelf back to the unlisted stock and return how many stay on it."""
    place = _listed_place(setting, store, sku)
    if quantity > store.shelf[place]:
        raise RefusedError(
            "not_enough_stock", "quantity", f"quantity={quantity} exceeds the {store.shelf[place]} units on the shelf"
        )
    store.shelf[place] -= quantity
    state.unlisted[sku] += quantity
    if store.shelf[place] == 0:
        store.price_fen[place] = 0  # the trailing price stays, or taking a product off would launder a low one
    return int(store.shelf[place])


def _listed_place(setting: Setting, store: StoreState, sku: int) -> int:
    place = int(setting.place[sku])
    if setting.world.skus.store_type[sku] != store.store_type or store.price_fen[place] == 0:
        product = setting.world.skus.sku_id[sku]
        raise RefusedError("not_listed", "product_id", f"product_id={product!r} is not listed in {store.store_id}")
    return place


def join_promotion(setting: Setting, state: YearState, store: StoreState, name: str, discount: float) -> int:
    """Join a promotion that runs or starts soon, in place of any other, and return its row."""
    rules = setting.rules
    if not rules.discount_min <= discount <= rules.discount_max:
        low, high = rules.discount_min, rules.discount_max
        raise RefusedError("discount_out_of_range", "discount_rate", f"{discount=:g} is outside [{low}, {high}]")
    row = next((i for i, promotion in enumerate(setting.world.promotions) if promotion.name == name), None)
    if row is None:
        names = ", ".join(promotion.name for promotion in setting.world.promotions)
        raise RefusedError("unknown_promotion", "event_name", f"event_name={name!r} is none of: {names}")
    windows = setting.world.promotions[row].windows
    if not any(first - rules.join_ahead_days <= state.day <= last for first, last in windows):
        message = f"{name} is not running and does not start within {rules.join_ahead_days} days"
        raise RefusedError("promotion_not_open", "event_name", message)
    store.promotion, store.discount = row, discount
    return row


def refresh_windows(setting: Setting, state: YearState) -> None:
    """Fix what customers see today, and let the trailing prices follow the list prices."""
    weight = setting.rules.trailing_days
    for store in state.open_stores:
        if store.promotion is not None and state.day > setting.world.promotions[store.promotion].windows[-1][1]:
            store.promotion, store.discount = None, 0.0
        store.window_units[:] = store.shelf
        store.window_fen[:] = store.price_fen
        store.window_promotion, store.window_discount = store.promotion, store.discount
        change = round_fen((store.price_fen - store.trailing_fen) / weight)
        store.trailing_fen += np.where(store.price_fen > 0, change, 0)
