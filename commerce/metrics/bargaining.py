r"""What the negotiations were worth.

For a concluded negotiation with an honest supplier, reference ``v``, honest floor ``c`` and price ``p``, the surplus
efficiency is ``s = (v - p) / (v - c)`` and 0 without a deal. SE+ is its mean over all of them, CSE+ over the deals,
AGR+ the share of deals; the money-weighted versions weigh a deal by what was spent and, where there may be no deal,
each negotiation by the reference price. Unfinished negotiations are left out and counted.

Anchoring: within a pair (supplier, SKU), prices in the order of the deals, ``pi = clip((p - c) / (v - c), 0, 1)``.
AnchorRegret is the mean over all deals after the first of ``max(0, pi_t - min earlier pi)``; AnchorRatio divides it by
its mean over 400 shuffles within the pairs, and ``z = (null mean - regret) / null standard deviation``,
``AnchorP`` the two-sided p-value of that ``z``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, pstdev

import numpy as np

from commerce.metrics.measure import Measure, difference, mean, share, weighted_mean
from commerce.procurement.talks import AGREEMENT, OPEN
from commerce.quotes import QuoteBook
from commerce.types import IntArray, NegotiationRecord

NUM_SHUFFLES = 400
SHUFFLE_SEED = 20260101
_MIN_RECORDS = 4


def efficiency(record: NegotiationRecord) -> float:
    """Return the surplus efficiency of a negotiation, 0 without a deal."""
    if record.outcome != AGREEMENT or record.price_fen is None:
        return 0.0
    return (record.reference_fen - record.price_fen) / max(1, record.reference_fen - record.floor_fen)


def bargaining_metrics(records: Sequence[NegotiationRecord]) -> dict[str, Measure]:
    """Return the bargaining metrics of a year."""
    concluded = [row for row in records if row.outcome != OPEN]
    honest = [row for row in concluded if row.is_honest]
    deals = [row for row in honest if row.outcome == AGREEMENT]
    return {
        "se_plus": mean(efficiency(row) for row in honest),
        "cse_plus": mean(efficiency(row) for row in deals),
        "agr_plus": mean(float(row.outcome == AGREEMENT) for row in honest),
        "se_plus_money": weighted_mean((efficiency(row), row.reference_fen) for row in honest),
        "cse_plus_money": weighted_mean((efficiency(row), row.quantity * (row.price_fen or 0)) for row in deals),
        "agr_plus_money": weighted_mean((float(row.outcome == AGREEMENT), row.reference_fen) for row in honest),
        "open_negotiations": Measure(float(len(records) - len(concluded)), len(records)),
        **_learning(honest, concluded),
        **anchoring(price_paths(deals)),
    }


def own_quote_metrics(book: QuoteBook | None) -> dict[str, Measure]:
    """Return which share of the buys was dearer than the own best earlier quote, and by how much in yuan.

    ``n`` of the share are the buys of products that had an earlier quote, of the money those that were dearer.
    Undefined for a year that began from a saved state: what was offered before is not known.
    """
    if book is None:
        return {name: Measure(None, 0) for name in ("dearer_buys", "dearer_paid")}
    return {
        "dearer_buys": share(book.num_dearer, book.num_compared, book.num_compared),
        "dearer_paid": Measure(book.dearer_fen / 100, book.num_dearer),
    }


def _halves(rows: Sequence[NegotiationRecord]) -> tuple[Sequence[NegotiationRecord], Sequence[NegotiationRecord]]:
    ordered = sorted(rows, key=lambda row: row.day_closed or 0)
    middle = len(ordered) // 2
    return ordered[:middle], ordered[middle:]


def _learning(honest: Sequence[NegotiationRecord], concluded: Sequence[NegotiationRecord]) -> dict[str, Measure]:
    """Late half minus early half; undefined with fewer than four negotiations."""
    early, late = _halves(honest)
    lifts = {
        "surplus_lift": difference(mean(map(efficiency, late)), mean(map(efficiency, early))),
        "agreement_lift": difference(_agreed(late), _agreed(early)),
    }
    early, late = _halves([row for row in concluded if row.outcome == AGREEMENT])
    lifts["fraud_lift"] = difference(_fraudulent(late), _fraudulent(early))
    return {name: lift if lift.n >= _MIN_RECORDS else Measure(None, lift.n) for name, lift in lifts.items()}


def _agreed(rows: Iterable[NegotiationRecord]) -> Measure:
    return mean(float(row.outcome == AGREEMENT) for row in rows)


def _fraudulent(rows: Iterable[NegotiationRecord]) -> Measure:
    return mean(float(not row.is_honest) for row in rows)


def price_paths(deals: Iterable[NegotiationRecord]) -> list[list[float]]:
    """Return the normalised prices of each pair with at least two deals, in order of the deals."""
    paths: dict[tuple[int, int], list[float]] = {}
    for row in sorted(deals, key=lambda row: row.day_closed or 0):
        if row.price_fen is not None:
            level = (row.price_fen - row.floor_fen) / max(1, row.reference_fen - row.floor_fen)
            paths.setdefault((row.supplier, row.sku), []).append(min(1.0, max(0.0, level)))
    return [path for path in paths.values() if len(path) > 1]


def anchor_regret(paths: Iterable[Sequence[float]]) -> float:
    """Return the mean excess over the best earlier price of the pair."""
    excess = []
    for path in paths:
        best = path[0]
        for level in path[1:]:
            excess.append(max(0.0, level - best))
            best = min(best, level)
    return fmean(excess)


def anchoring(paths: Sequence[Sequence[float]]) -> dict[str, Measure]:
    """Return regret, ratio and z; all undefined without a repeated deal."""
    n = sum(len(path) - 1 for path in paths)
    if not n:
        return {name: Measure(None, 0) for name in ("anchor_regret", "anchor_ratio", "anchor_z", "anchor_p")}
    observed = anchor_regret(paths)
    null = shuffled_regrets(paths)
    centre, spread = fmean(null), pstdev(null)
    z = (centre - observed) / spread if spread else None
    return {
        "anchor_regret": Measure(observed, n),
        "anchor_ratio": Measure(observed / centre if centre else None, n),
        "anchor_z": Measure(z, n),
        "anchor_p": Measure(None if z is None else two_sided_p(z), n),
    }


def two_sided_p(z: float) -> float:
    """Return how likely a standard normal lies at least as far from 0 as ``z``."""
    return math.erfc(abs(z) / math.sqrt(2))


def shuffled_regrets(paths: Sequence[Sequence[float]]) -> list[float]:
    """Return the regret of each shuffle of the published null: those of ``random.Random(SHUFFLE_SEED).shuffle``."""
    places = [place for path in paths for place in range(len(path) - 1, 0, -1)]
    others = _swaps(places, random.Random(SHUFFLE_SEED).getrandbits)
    every, column, excess = np.arange(NUM_SHUFFLES), 0, []
    for path in paths:
        levels = np.tile(np.array(path), (NUM_SHUFFLES, 1))
        for place in range(len(path) - 1, 0, -1):
            other = others[:, column]
            levels[every, other], levels[:, place] = levels[:, place].copy(), levels[every, other]
            column += 1
        excess.append(np.maximum(0.0, levels[:, 1:] - np.minimum.accumulate(levels, axis=1)[:, :-1]))
    return [fmean(row) for row in np.concatenate(excess, axis=1).tolist()]


def _swaps(places: Sequence[int], draw: Callable[[int], int]) -> IntArray:
    """Return with which place each of ``places`` is swapped in each shuffle, drawn as the standard library does."""
    steps = [(place, (place + 1).bit_length()) for place in places]
    found = []
    for _ in range(NUM_SHUFFLES):
        for place, bits in steps:
            other = draw(bits)
            while other > place:
                other = draw(bits)
            found.append(other)
    return np.array(found, dtype=np.int64).reshape(NUM_SHUFFLES, len(places))
