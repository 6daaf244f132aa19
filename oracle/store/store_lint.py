r"""The economy's test on full stores: what the best listing of a whole store looks like, before any agent plays.

For each store type on an ordinary day at reputation 1 (and on a busy one, with ``8`` times the demand), every SKU
bought at its category's floor, the best listing over all allowed prices is :func:`oracle.store.static_optimum`. It
should be away from every border:

* No price on an end of the allowed band. Where the rules name no band, its ends are 0.01 and 100 times the reference
  price, and a price there says that it would rise (or fall) on.
* Fewer listings than there are SKUs, and worth it: with every SKU of the store listed, each at its best price then,
  the store earns at most 99 % of the best. With ``a(n) = m / (m + n - 1)`` the demand that sharing leaves each of
  ``n`` listed SKUs of a category, that profit is the optimum at demands ``a(N_c) R_i``, since a SKU can always be
  priced to sell nothing.
* Prices no higher than twice the reference.
* No living from a list at the highest price: with every SKU there, the store does not earn its running costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.demand import share_buyers
from commerce.lint import Finding, undisturbed_demand, unit_margin
from commerce.setting import Setting
from commerce.types import BoolArray, FloatArray, IntArray, World
from oracle.store.static_optimum import Candidates, StaticOptimum, StoreCapacity, saturated, static_optimum

_STEP = 0.02
_UNBOUNDED = (0.01, 100.0)
_BUSY = 8.0
_WORTH_IT = 0.99
_DEAR = 2.0


class FullStore(NamedTuple):
    """One store type with all its SKUs: rows of the world, price ratios of the columns, candidates and capacity."""

    name: str
    skus: IntArray
    ratios: FloatArray
    candidates: Candidates
    capacity: StoreCapacity
    operations_fen: int


def full_stores(setting: Setting, demand_factor: float = 1.0) -> Iterator[FullStore]:
    """Yield every store type that has SKUs."""
    ratios = ratio_grid(setting)
    prices = setting.world.skus.reference_fen[:, None] * ratios
    demand, margin = demand_factor * undisturbed_demand(setting, prices), unit_margin(setting, prices)
    caps = np.where(setting.category_caps > 0, setting.category_caps, np.inf)
    for kind, rows in zip(setting.world.store_types, setting.rows_of_type, strict=True):
        if len(rows):
            names, category = np.unique(setting.world.skus.category[rows], return_inverse=True)
            yield FullStore(
                kind.name,
                rows,
                ratios,
                Candidates(demand[rows], margin[rows], setting.capacity_weight[rows], category),
                StoreCapacity(kind.capacity, caps[names], breadth=setting.rules.category_breadth),
                kind.operations_fen,
            )


def ratio_grid(setting: Setting) -> FloatArray:
    """Return price ratios 2 % apart from one end of the allowed band to the other, shape (P,)."""
    band = setting.rules.price_band
    low, high = (band.low, band.high) if band is not None else _UNBOUNDED
    return np.geomspace(low, high, round(np.log(high / low) / _STEP) + 1)


def profit_if_all_listed(store: FullStore, rules: Rules) -> float:
    """Return the most a store earns with every one of its SKUs listed, in fen a day."""
    candidates, capacity = store.candidates, store.capacity._replace(breadth=None)
    left = share_buyers(np.ones(len(store.skus)), candidates.category, rules)
    return static_optimum(candidates._replace(demand=candidates.demand * left[:, None]), capacity).profit


def lint_stores(world: World, rules: Rules) -> tuple[Finding, ...]:
    """Return what full stores of ``world`` allow under ``rules`` that they had better not."""
    setting = Setting(world, rules)
    stores = [store for factor in (1.0, _BUSY) for store in full_stores(setting, factor)]
    best = [static_optimum(store.candidates, store.capacity) for store in stores]
    found = [
        _on_prices("full store: best price on the edge of the allowed band", setting, stores, best, _is_on_edge),
        _on_prices("full store: best price above twice the reference", setting, stores, best, _is_dear),
        _on_listings(rules, stores, best),
        _on_ceilings(stores, best),
    ]
    return tuple(finding for finding in found if finding.num)


def _is_on_edge(store: FullStore, optimum: StaticOptimum) -> BoolArray:
    return np.asarray((optimum.price == 0) | (optimum.price == len(store.ratios) - 1))


def _is_dear(store: FullStore, optimum: StaticOptimum) -> BoolArray:
    return np.asarray(store.ratios[optimum.price] > _DEAR)


def _on_prices(
    kind: str,
    setting: Setting,
    stores: Sequence[FullStore],
    best: Sequence[StaticOptimum],
    is_bad: Callable[[FullStore, StaticOptimum], BoolArray],
) -> Finding:
    """Count listed SKUs whose best price is bad."""
    num = total = 0
    example = ""
    for store, optimum in zip(stores, best, strict=True):
        bad = np.flatnonzero(optimum.listed & is_bad(store, optimum))
        total += int(optimum.listed.sum())
        num += len(bad)
        if len(bad) and not example:
            sku, ratio = int(store.skus[bad[0]]), store.ratios[optimum.price[bad[0]]]
            category = setting.world.categories[int(setting.world.skus.category[sku])].name
            example = f"{setting.world.skus.sku_id[sku]} ({category}) at {ratio:.3g} times its reference price"
    return Finding(kind, num, total, "SKUs", example)


def _on_listings(rules: Rules, stores: Sequence[FullStore], best: Sequence[StaticOptimum]) -> Finding:
    """Count stores that lose nothing worth mentioning when they list all they can."""
    found = []
    for store, optimum in zip(stores, best, strict=True):
        share = profit_if_all_listed(store, rules) / optimum.profit
        if share > _WORTH_IT:
            listed = f"its best lists {optimum.listed.sum()} of {len(store.skus)} SKUs"
            found.append((share, f"{store.name} earns {share:.1%} of its best with all; {listed}"))
    return _on_stores("full store: listing everything costs nothing", stores, found)


def _on_ceilings(stores: Sequence[FullStore], best: Sequence[StaticOptimum]) -> Finding:
    """Count stores that live on a list of all SKUs at the highest price."""
    found = []
    for store, optimum in zip(stores, best, strict=True):
        num, last = len(store.skus), len(store.ratios) - 1
        units = saturated(store.candidates, store.capacity, np.ones(num, dtype=bool), np.full(num, last))
        profit = float(units @ store.candidates.margin[:, last])
        if profit > store.operations_fen:
            earned = f"{profit / 100:,.0f} yuan a day on {units.sum():.2f} sales"
            listed = f"{num} SKUs at {store.ratios[last]:g} times their reference prices"
            found.append((profit / optimum.profit, f"{store.name}, {listed}: {earned}"))
    return _on_stores("full store: lives on a list at the highest price", stores, found)


def _on_stores(kind: str, stores: Sequence[FullStore], found: Sequence[tuple[float, str]]) -> Finding:
    """Return a finding about stores; its example is the one nearest to the best of its store."""
    return Finding(kind, len(found), len(stores), "stores", max(found)[1] if found else "")
