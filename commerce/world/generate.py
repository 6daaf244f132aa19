"""A world from a seed: catalogue, suppliers, fraud map and calendar.

Worlds are of matched difficulty by construction. Every world has the same store types and categories, as many SKUs and
honest and fraudulent suppliers in each category, and the same number of suppliers of each personality and fraud. Within
a category reference prices and return rates are stratified uniforms on the category's band (one SKU in each n-th part,
in random order), so their distributions match from world to world while no SKU is the same. Identifiers, names and the
order of the suppliers are drawn independently of everything hidden.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from commerce.config import PAPER, Rules
from commerce.streams import generator
from commerce.types import (
    Category,
    Event,
    FloatArray,
    Fraud,
    IntArray,
    Personality,
    Promotion,
    Size,
    SkuTable,
    Supplier,
    World,
)
from commerce.world.categories import CATEGORY_ROWS, RESPONSES, SIZES, WORDINGS
from commerce.world.digest import world_digest
from commerce.world.happenings import EVENT_ROWS, PROMOTION_ROWS, Date
from commerce.world.identities import anonymous_identities
from commerce.world.stores import STORE_TYPES
from commerce.world.word_lists import ADJECTIVES, BRAND_HEADS, BRAND_TAILS, NOUNS, SUPPLIER_HEADS, SUPPLIER_TAILS

_T = TypeVar("_T")

DEFAULT_SEED = 20260122
YEAR = 2026
NUM_SKUS = 6886
#: Spread of the numbers of SKUs of the categories (standard deviation of the logarithm).
_SIZE_SPREAD = 0.8
_DEFAULT_SIZE_SHARE = 0.7
_MAX_SHIFT_DAYS = 7  # the closest two events are 17 days apart, so shifted ones cannot overlap

PERSONALITY_COUNTS = {
    Personality.FRIENDLY: 106,
    Personality.ENTHUSIASTIC: 102,
    Personality.UNPREDICTABLE: 58,
    Personality.PROFESSIONAL: 56,
    Personality.STRATEGIC: 54,
    Personality.TOUGH: 48,
}
FRAUD_COUNTS = {
    Fraud.VIP_FEE: 31,
    Fraud.FUTURE_DISCOUNT: 31,
    Fraud.FAKE_URGENCY: 30,
    Fraud.QTY_BAIT: 30,
    Fraud.QUALITY_DOWNGRADE: 30,
}
RETIREMENT_ORDERS = (10, 20)


def generate_world(seed: int = DEFAULT_SEED, rules: Rules = PAPER) -> World:
    """Return the world of ``seed``.

    Any seed but the default, or ``rules.calendar == "shifted"``, moves the dates of events and promotions too.
    """
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed={seed} is outside [0, 2**63)")
    categories = tuple(_categories())
    is_shifted = seed != DEFAULT_SEED or rules.calendar == "shifted"
    world = World(
        seed=seed,
        year=YEAR,
        store_types=STORE_TYPES,
        categories=categories,
        skus=_skus(seed, categories),
        suppliers=_suppliers(seed, categories),
        events=tuple(_events(seed, is_shifted)),
        promotions=tuple(_promotions(seed, is_shifted)),
    )
    return replace(world, digest=world_digest(world))


def category_sizes(total: int = NUM_SKUS) -> list[int]:
    """Return the SKUs of each category: log-normal quantiles in a fixed order, rounded to sum to ``total``."""
    num = sum(len(rows) for rows in CATEGORY_ROWS.values())
    weights = [np.exp(_SIZE_SPREAD * NormalDist().inv_cdf((rank * 37 % num + 0.5) / num)) for rank in range(num)]
    edges = np.rint(np.cumsum([0.0, *weights]) / sum(weights) * total).astype(int)
    return [int(size) for size in np.diff(edges)]


def day_of(date: Date, year: int = YEAR) -> int:
    """Return the day of the year of a (month, day), counted from 0."""
    return (dt.date(year, *date) - dt.date(year, 1, 1)).days


def _categories() -> Iterator[Category]:
    for index, store_type in enumerate(STORE_TYPES):
        for row in CATEGORY_ROWS[store_type.name]:
            name, size, low, high, monthly_low, monthly_high, return_low, return_high, wording, response = row[:10]
            yield Category(
                name=name,
                store_type=index,
                default_size=SIZES[size],
                reference_min_fen=low * 100,
                reference_max_fen=high * 100,
                monthly_sales_min=float(monthly_low),
                monthly_sales_max=float(monthly_high),
                return_rate_min=float(return_low),
                return_rate_max=float(return_high),
                return_wording=WORDINGS[wording],
                response=RESPONSES[response],
                elasticity=row[10],
                wholesale_ratio=row[11],
                floor_ratio=row[12],
                scam_cap_ratio=row[13],
            )


def _stratified(rng: np.random.Generator, num: int) -> FloatArray:
    """Return ``num`` uniforms, exactly one in each n-th part of [0, 1), in random order."""
    return np.asarray((rng.permutation(num) + rng.random(num)) / num, dtype=np.float64)


def _skus(seed: int, categories: Sequence[Category]) -> SkuTable:
    sizes = category_sizes()
    category = np.repeat(np.arange(len(categories), dtype=np.int64), sizes)
    rng = generator(seed, "skus")
    prices, returns, size, titles, brands = [], [], [], [], []
    for row, num in zip(categories, sizes, strict=True):
        span = row.reference_max_fen - row.reference_min_fen
        prices.append(np.rint(row.reference_min_fen + span * _stratified(rng, num)))
        band = row.return_rate_max - row.return_rate_min
        returns.append(np.round(row.return_rate_min + band * _stratified(rng, num), 4))
        size.append(_draw_sizes(rng, row.default_size, num))
        for brand, title in _draw_titles(rng, row.name, num):
            brands.append(brand)
            titles.append(title)
    order = rng.permutation(len(category))  # the place in the catalogue says nothing about the category's draws
    return SkuTable(
        sku_id=tuple(_sku_ids(seed, len(order))),
        title=tuple(titles[row] for row in order),
        brand=tuple(brands[row] for row in order),
        category=category[order],
        store_type=np.array([row.store_type for row in categories], dtype=np.int64)[category[order]],
        size=np.concatenate(size)[order],
        reference_fen=np.concatenate(prices).astype(np.int64)[order],
        return_rate=np.concatenate(returns)[order],
    )


def _sku_ids(seed: int, num: int) -> Iterator[str]:
    for row in range(num):
        yield hashlib.blake2b(f"{seed}/sku/{row}".encode(), digest_size=6).hexdigest()


def _draw_sizes(rng: np.random.Generator, default: Size, num: int) -> IntArray:
    """Return size rows: the default for 70 %, the rest one step up or down."""
    middle = list(Size).index(default)
    uniforms = _stratified(rng, num)
    steps = np.where(uniforms < _DEFAULT_SIZE_SHARE, 0, np.where(uniforms < (1 + _DEFAULT_SIZE_SHARE) / 2, 1, -1))
    rows = middle + steps
    return np.where((rows < 0) | (rows >= len(Size)), middle - steps, rows).astype(np.int64)


def _draw_titles(rng: np.random.Generator, category: str, num: int) -> Iterator[tuple[str, str]]:
    nouns = NOUNS[category].split()
    picks = rng.integers(0, 10**6, size=(num, 5)).tolist()
    for head, tail, adjective, noun, model in picks:
        brand = BRAND_HEADS[head % len(BRAND_HEADS)] + BRAND_TAILS[tail % len(BRAND_TAILS)]
        what = nouns[noun % len(nouns)].replace("-", " ").title()
        yield brand, f"{brand} {ADJECTIVES[adjective % len(ADJECTIVES)]} {what} {100 + model % 900}"


def _suppliers(seed: int, categories: Sequence[Category]) -> tuple[Supplier, ...]:
    rows = [row for store_type in STORE_TYPES for row in CATEGORY_ROWS[store_type.name]]
    honest = [index for index, row in enumerate(rows) for _ in range(row[14])]
    fraudulent = [index for index, row in enumerate(rows) for _ in range(row[15])]
    rng = generator(seed, "suppliers")
    personalities = _shuffled(rng, [kind for kind, num in PERSONALITY_COUNTS.items() for _ in range(num)])
    frauds = _shuffled(rng, [kind for kind, num in FRAUD_COUNTS.items() for _ in range(num)])
    kinds: list[tuple[int, Personality, Fraud | None]] = [
        *((category, personality, None) for category, personality in zip(honest, personalities, strict=True)),
        *((category, Personality.ADVERSARIAL, fraud) for category, fraud in zip(fraudulent, frauds, strict=True)),
    ]
    names = rng.permutation(len(SUPPLIER_HEADS) * len(SUPPLIER_TAILS))[: len(kinds)].tolist()
    lowest, highest = RETIREMENT_ORDERS
    retirement = rng.integers(lowest, highest + 1, len(kinds)).tolist()
    suppliers = []
    for (category, personality, fraud), number, orders in zip(kinds, names, retirement, strict=True):
        head, tail = divmod(number, len(SUPPLIER_TAILS))
        name = f"{SUPPLIER_HEADS[head]} {SUPPLIER_TAILS[tail]}"
        suppliers.append(Supplier("", name, "", category, personality, fraud, orders))
    return anonymous_identities(seed, suppliers)


def _shuffled(rng: np.random.Generator, values: list[_T]) -> list[_T]:
    return [values[row] for row in rng.permutation(len(values))]


def _shift(rng: np.random.Generator, is_shifted: bool) -> int:
    draw = int(rng.integers(-_MAX_SHIFT_DAYS, _MAX_SHIFT_DAYS + 1))
    return draw if is_shifted else 0


def _events(seed: int, is_shifted: bool) -> Iterator[Event]:
    index = {store_type.name: row for row, store_type in enumerate(STORE_TYPES)}
    rng = generator(seed, "events")
    for name, date, num_days, factors, delay, scope in EVENT_ROWS:
        first = day_of(date) + _shift(rng, is_shifted)
        demand = {index[store_type]: factor for store_type, factor in factors.items()}
        delayed = None if scope is None else tuple(index[store_type] for store_type in scope)
        event = Event(name, first, first + num_days - 1, demand, delay, delayed, "")
        yield replace(event, text=event_text(event, [store_type.title for store_type in STORE_TYPES]))


def event_text(event: Event, titles: Sequence[str]) -> str:
    """Return the news of an event, in full: length, scope and the direction of every effect."""
    up = [titles[row] for row, factor in sorted(event.demand.items()) if factor > 1]
    down = [titles[row] for row, factor in sorted(event.demand.items()) if factor < 1]
    parts = [f"{event.name}: expected to last {event.last_day - event.first_day + 1} days."]
    if up:
        parts.append(f"Demand rises for {', '.join(up)}.")
    if down:
        parts.append(f"Demand falls for {', '.join(down)}.")
    if event.delay > 1:
        names = "all goods" if event.delayed_types is None else ", ".join(titles[row] for row in event.delayed_types)
        parts.append(f"Deliveries ordered meanwhile take about {event.delay:g} times as long ({names}).")
    return " ".join(parts)


def _promotions(seed: int, is_shifted: bool) -> Iterator[Promotion]:
    rng = generator(seed, "promotions")
    for name, windows, multiplier, boost in PROMOTION_ROWS:
        shift = max(_shift(rng, is_shifted), -day_of(windows[0][0]))  # no window may start before the year does
        days = tuple((day_of(first) + shift, day_of(last) + shift) for first, last in windows)
        yield Promotion(name, days, multiplier, boost)
