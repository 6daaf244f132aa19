"""Draws, demand and return rates of one SKU, compiled, as in :mod:`commerce.streams`, ``demand`` and ``returns``."""

from __future__ import annotations

import math

import numpy as np

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_tables import TableRow
from terms.aliases import Floats

_DAY_STEP = np.uint64(0x9E3779B97F4A7C15)
_INDEX_STEP = np.uint64(0xD1B54A32D192ED03)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3, _SHIFT_4 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_EIGHT, _BLOCK, _DEEP = 8, 128, 128


@inline
def draw_at(key: int, day: int, index: int) -> float:
    """Return a uniform of the stream ``key``."""
    x = key + np.uint64(day) * _DAY_STEP + np.uint64(index) * _INDEX_STEP + _DAY_STEP
    x = (x ^ (x >> _SHIFT_1)) * _MIX_1
    x = (x ^ (x >> _SHIFT_2)) * _MIX_2
    x = x ^ (x >> _SHIFT_3)
    return (x >> _SHIFT_4) * 2.0**-53


@inline
def _block_sum(values: Floats, first: int, stop: int) -> float:
    """Return the sum in the order in which NumPy adds up to 128 numbers: eight running sums, then the rest."""
    whole = first + (stop - first) // _EIGHT * _EIGHT
    total = 0.0
    if whole > first:
        r = values[first : first + _EIGHT].copy()
        for i in range(first + _EIGHT, whole):
            r[(i - first) % _EIGHT] += values[i]
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    for i in range(whole, stop):
        total += values[i]
    return total


@inline
def sum_in_pairs(values: Floats, num: int) -> float:
    """Return the sum of the first ``num`` values in the order in which NumPy adds: halves of halves down to blocks."""
    begins, ends, sums = np.empty(_DEEP, np.int64), np.empty(_DEEP, np.int64), np.empty(_DEEP)
    begins[0], ends[0], top, done = 0, num, 1, 0
    while top > 0:
        top -= 1
        begin, end = begins[top], ends[top]
        half = (end - begin) // 2
        half -= half % _EIGHT
        if begin < 0:  # both halves are summed
            done -= 1
            sums[done - 1] += sums[done]
        elif end - begin <= _BLOCK:
            sums[done] = _block_sum(values, begin, end)
            done += 1
        else:
            begins[top], begins[top + 1], ends[top + 1] = -1, begin + half, end
            begins[top + 2], ends[top + 2] = begin, begin + half
            top += 3
    return sums[0]


@inline
def price_factor(ratio: float, elasticity: float, response: int, rules: TableRow) -> float:
    """Return the response of demand to the price."""
    is_bound = not math.isnan(rules.response_bound)
    r = max(ratio, rules.response_bound) if is_bound else ratio
    gap = r - 1
    linear = elasticity * gap
    if response == 0:
        found = max(0.0, 1 - linear)
    elif response == 1:
        found = math.exp(-linear)
    elif response == 2:
        found = r**-elasticity
    else:
        found = max(0.0, 1 - linear * (abs(gap) if is_bound else gap))
    if math.isnan(rules.choke_ratio):
        return found
    above = min(max((ratio - 1) / (rules.choke_ratio - 1), 0.0), 1.0)
    return found * (1 - above * above)


@inline
def rate_at_sale(sku: TableRow, goods: TableRow, rules: TableRow, knees: Floats, price_fen: float) -> float:
    """Return the return rate of what is sold at ``price_fen``, before the speed of its shipping is known."""
    share = min(1.0, goods.defective / max(goods.delivered, 1))
    worst = min(rules.return_cap, max(rules.defect_return_min, rules.defect_return_factor * sku.natural))
    blended = (1 - share) * sku.natural + share * worst
    return min(rules.return_cap, blended * _knee_value(knees, price_fen / sku.reference_fen))


@inline
def _knee_value(knees: Floats, at: float) -> float:
    last = knees.shape[1] - 1
    if at >= knees[0, last]:
        return knees[1, last]
    if at < knees[0, 0]:
        return knees[1, 0]
    row = 0
    while at >= knees[0, row + 1]:
        row += 1
    slope = (knees[1, row + 1] - knees[1, row]) / (knees[0, row + 1] - knees[0, row])
    return slope * (at - knees[0, row]) + knees[1, row]
