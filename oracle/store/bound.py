r"""An upper bound on the expected final assets of a store year, whoever runs it.

**Statement.** Let a merchant know the world with everything hidden in it (floors, frauds, events, lead times, what
suppliers will answer) and adapt to all that happens, but not know before its draw how demand is rounded to whole units
or which shipped units come back. Then :math:`E[\text{final assets}] \le` ``YearBound.upper``, the expectation being
over those draws. One year may exceed it by chance; its luck-adjusted assets have the same mean and usually less spread.

**Proof.** Each step only adds to what can be reached.

1. *Draws are integrated out.* Given all that is known before, a SKU with expected demand ``R`` sells at most ``R``
   units in expectation (:math:`E[q] = R`, and stock only cuts it), and of ``n`` shipped units :math:`n \rho` come
   back. All that follows is linear in these, so expected values obey it; a mixture of days is no better than the best.
2. *Returns:* no goods are defective, the rate is the lowest at that price and speed, and a unit that comes back is
   worth what it cost at once. :math:`\rho` only lowers the worth of a unit that is sold for more than it costs.
3. *Suppliers:* a unit costs its lowest reservation in the category, which no supplier undercuts (one accepts no bid
   below it and quotes none); there are as many as wanted, delivered whole, for no fee, in no minutes.
4. *Stock:* goods bought for a sale on day ``D`` are ordered no later than the last day from which the shortest lead
   time under that day's delay reaches it: delivery is taken in the morning after at the earliest, and what is listed is
   seen by customers a morning later. Cost of goods sold less that of goods back is then at most what was paid by that
   day, summed over SKUs; liquidated goods cost more than they bring.
5. *Cash:* what was paid by a day is at most the initial money and the escrow settled by then, since the bank must hold
   each purchase; freight, storage, rent and fees are not asked of it but of the end. Escrow holds at most the income of
   units that stay sold; commission kept on returns, and rounding, are covered by the terms of the margins.
6. *Reputation* is the highest there is. Returns and cancellations lower it, and so do few units shipped: this is where
   most of the bound's slack is for a store that sells little.
7. *Promotions* are joined whenever active, for each SKU at the discount that is best for it, or not at all for it.
8. *Listings and prices* of a store's day are optimised together over every set of SKUs and the continuum of prices
   (:mod:`oracle.store.bound_day`), for the worth of income less :math:`\mu` times cost. Demand after both saturations
   depends on no other day.
9. *Which stores are open* may change every day and in fractions; rent is paid, opening once.
10. *Time:* cash and stores are a linear program (:mod:`oracle.store.bound_program`) whose dual value is the bound.

That it is a bound does not depend on how good the solver's multipliers are; how near it comes does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.receiving import lead_days
from commerce.setting import Setting
from commerce.types import FloatArray, IntArray, Promotion, World
from oracle.solution_cache import Arrays, load_or_solve, solution_key
from oracle.store.bound_day import category_tables, day_worth
from oracle.store.bound_margins import UnitMargins
from oracle.store.bound_program import DayLines, Purse, cash_bound

VERSION = 5
"""Of the bound: a change that moves its value is another one, and what is on disk is worked out anew."""
_PRICES_OF_MONEY = (1.0, 1.6, 3.0, 6.0)
_SCARCE_DAYS = 120
"""Days on which money may be worth more than its face; later lines are kept for a price of money of 1 alone."""
_UNIT = 1e8
"""Fen in the unit of the program: a million yuan."""


@dataclass(frozen=True, slots=True)
class YearBound:
    """A certified bound and what it is made of; money in yuan.

    Attributes
    ----------
    upper
        The bound.
    primal
        Value of the relaxed problem that the solver found; ``upper / primal - 1`` is the duality gap.
    static
        The bound if cash were no constraint: each day the best stores, from the first day goods can be there.
    money_worth
        What one more yuan on each day is worth at the end, from the first day on.
    by_store_type
        What the stores of each type earn of ``primal``.
    """

    upper: float
    primal: float
    static: float
    money_worth: tuple[float, ...]
    by_store_type: tuple[float, ...]

    @property
    def gap(self) -> float:
        """The duality gap as a share of the bound."""
        return (self.upper - self.primal) / abs(self.upper)


def year_bound(world: World, rules: Rules, folder: Path | None = None) -> YearBound:
    """Return the bound on the expected final assets of a year of ``world`` under ``rules``.

    Parameters
    ----------
    folder
        Where bounds are kept, by default the cache: asked again, one is read.
    """
    facts = {"kind": "year bound", "version": VERSION, "world": world.digest, "rules": rules.model_dump(mode="json")}
    if not world.digest:
        return _to_bound(_solve(world, rules))
    return _to_bound(load_or_solve(solution_key(facts), lambda: _solve(world, rules), folder))


def _solve(world: World, rules: Rules) -> Arrays:
    setting = Setting(world, rules)
    lines, purse = day_lines(setting), purse_of(setting)
    found = cash_bound(lines, purse)
    numbers = np.array([found.upper, found.primal, static_bound(lines, purse)])
    return {"numbers": numbers, "money_worth": found.money_worth, "by_store_type": found.by_store_type}


def _to_bound(arrays: Arrays) -> YearBound:
    yuan = _UNIT / 100
    upper, primal, static = (arrays["numbers"] * yuan).tolist()
    earned = (arrays["by_store_type"] * yuan).tolist()
    return YearBound(upper, primal, static, tuple(arrays["money_worth"].tolist()), tuple(earned))


def purse_of(setting: Setting) -> Purse:
    """Return the money side of the rules in the unit of the program."""
    rules, types = setting.rules, setting.world.store_types
    rents = np.array([row.operations_fen for row in types]) / _UNIT
    return Purse(rules.initial_fen / _UNIT, rents, rules.setup_fen / _UNIT, rules.max_open_stores)


def static_bound(lines: DayLines, purse: Purse) -> float:
    """Return the bound without the cash constraint: each day the stores that earn most."""
    earned = np.maximum(0.0, lines.net[1.0] - purse.operations[:, None]) * (lines.bought >= 0)
    best = np.sort(earned, axis=0)[::-1][: purse.most_open]
    return purse.initial + float(best.sum())


class _Kind(NamedTuple):
    """Days on which a store type meets the same promotion."""

    promotion: Promotion | None
    days: IntArray


def day_lines(setting: Setting) -> DayLines:
    """Work out what every store type can earn on every day of sale, in the unit of the program."""
    market, rules = UnitMargins(setting), setting.rules
    num_days, num_types = max(1, setting.last_day - 1), len(setting.world.store_types)
    shape = (num_types, num_days)
    net, gross = ({mu: np.zeros(shape) for mu in _PRICES_OF_MONEY} for _ in range(2))
    kinds = list(_kinds(setting, num_days))
    factors = np.array([_factors(setting, row, num_days) for row in range(num_types)])
    bought = np.array([_last_orders(setting, row, num_days) for row in range(num_types)])
    for store_type in range(num_types):
        for promotion, days in kinds:
            for mu in _PRICES_OF_MONEY:
                chosen = days if mu == 1 else days[days < _SCARCE_DAYS]
                chosen = chosen[bought[store_type, chosen] >= 0]
                for worths, psi in ((net, 1.0), (gross, 0.0)):
                    found = _worths(market, store_type, _Kind(promotion, chosen), factors[store_type], (mu, psi))
                    worths[mu][store_type, chosen] = np.maximum(worths[mu][store_type, chosen], found)
    days = np.arange(num_days)
    return DayLines(
        net=net,
        gross=gross,
        most_spent=np.repeat(_most_spent(market)[:, None], num_days, axis=1) / _UNIT,
        bought=bought,
        settled=np.broadcast_to(days + 1 + rules.settlement_days, shape),
        scarce_days=_SCARCE_DAYS,
    )


def _worths(
    market: UnitMargins, store_type: int, kind: _Kind, factors: FloatArray, prices: tuple[float, float]
) -> FloatArray:
    if not len(kind.days):
        return np.zeros(0)
    setting = market.setting
    share, capacity = setting.category_shares[store_type], setting.world.store_types[store_type].capacity
    distinct, places = np.unique(factors[kind.days], return_inverse=True)
    tables = category_tables(market, store_type, kind.promotion, *prices)
    worth = day_worth(tables, share * capacity if share < 1 else None, capacity, distinct)
    return np.asarray(worth[places] / _UNIT)


def _kinds(setting: Setting, num_days: int) -> Iterator[_Kind]:
    """Yield the days without a promotion and those of each; two that run on one day both count, and alike ones once."""
    promotions = setting.world.promotions
    days = np.arange(num_days)
    active = np.array([[row.is_active(day) for day in days.tolist()] for row in promotions]).reshape(-1, num_days)
    yield _Kind(None, days[~active.any(axis=0)])
    terms = [(row.max_multiplier, row.elasticity_boost) for row in promotions]
    for term in dict.fromkeys(terms):
        rows = [row for row, other in enumerate(terms) if other == term]
        yield _Kind(promotions[rows[0]], days[active[rows].any(axis=0)])


def _factors(setting: Setting, store_type: int, num_days: int) -> FloatArray:
    """Return what season, events and the weekend multiply demand by each day, at the highest reputation."""
    rules = setting.rules
    highest = min(
        rules.reputation_bounds[1], max(rules.reputation_bounds[0], rules.reputation_base + rules.reputation_rise)
    )
    highest = max(highest, rules.reputation_new)
    return np.array(
        [
            setting.season(store_type, day)
            * setting.event_factor(store_type, day)
            * (rules.weekend_factor if setting.is_weekend(day) else 1.0)
            * highest
            for day in range(num_days)
        ]
    )


def _last_orders(setting: Setting, store_type: int, num_days: int) -> IntArray:
    """Return the last day on which goods for the sales of each day can be ordered, -1 where there is none."""
    last = np.full(num_days, -1)
    for day in range(num_days):
        first_sale = day + lead_days(0.0, setting.delay_factor(store_type, day), setting.rules) + 2
        last[first_sale:] = np.maximum(last[first_sale:], day)
    return last


def _most_spent(market: UnitMargins) -> FloatArray:
    """Return the most that a day's sales of each store type can cost: its capacity in the goods dearest for it."""
    setting = market.setting
    dearest = market.cost / setting.capacity_weight
    return np.array(
        [
            row.capacity * float(dearest[rows].max(initial=0.0))
            for row, rows in zip(setting.world.store_types, setting.rows_of_type, strict=True)
        ]
    )
