"""List prices of one year for the goods of another.

A SKU that the year whose prices they are never priced gets the price ratios, over the whole year, of the SKU of its
category that was priced and has the nearest reference price; where nothing of its category was, of all that were.
"""

from __future__ import annotations

import numpy as np

from commerce.plan.planned import ListPrices
from commerce.setting import Setting
from commerce.types import IntArray


def prices_for(setting: Setting, traded: IntArray, prices: ListPrices) -> ListPrices:
    """Return ``prices`` with those of the ``traded`` SKUs that they lack; without any price they are left alone."""
    priced = np.unique(prices.sku)
    lacking = np.setdiff1d(traded, priced)
    if not len(lacking) or not len(priced):
        return prices
    tables = [prices, *(_like(setting, sku, _twin(setting, sku, priced), prices) for sku in lacking.tolist())]
    columns = ListPrices(*(np.concatenate(parts) for parts in zip(*tables, strict=True)))
    by_time = np.lexsort((columns.order, columns.day))
    return ListPrices(*(column[by_time] for column in columns))


def _twin(setting: Setting, sku: int, priced: IntArray) -> int:
    skus = setting.world.skus
    alike = priced[skus.category[priced] == skus.category[sku]]
    alike = alike if len(alike) else priced
    return int(alike[np.abs(np.log(skus.reference_fen[alike] / skus.reference_fen[sku])).argmin()])


def _like(setting: Setting, sku: int, twin: int, prices: ListPrices) -> ListPrices:
    rules, reference = setting.rules, setting.world.skus.reference_fen
    mine = prices.sku == twin
    fen = np.rint(prices.fen[mine] / reference[twin] * reference[sku]).astype(np.int64)
    low, high = 1, rules.max_price_fen
    if rules.price_band is not None:
        low, high = int(np.ceil(reference[sku] * rules.price_band.low)), int(reference[sku] * rules.price_band.high)
    return ListPrices(prices.order[mine], prices.day[mine], np.full(len(fen), sku), np.clip(fen, max(1, low), high))
