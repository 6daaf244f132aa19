"""Conversions between yuan, which people and agents read, and integer fen, which the ledger holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commerce.types import IntArray


def to_fen(yuan: float) -> int:
    """Return yuan as fen, rounded half to even; raises on a number that is not finite."""
    return round(yuan * 100)


def to_yuan(fen: int) -> float:
    """Return fen as yuan; exact to the fen for every amount below 2**53 fen."""
    return int(fen) / 100


def round_fen(amounts: NDArray[np.floating[Any]]) -> IntArray:
    """Return fractional fen rounded half to even."""
    return np.asarray(np.rint(amounts), dtype=np.int64)


def pro_rata(totals: IntArray, parts: IntArray, wholes: IntArray) -> IntArray:
    """Return the share ``total * part / whole`` rounded down; the whole is exactly the total, so nothing is lost.

    The product is never formed, because a large stock at a high value would overflow 64 bits.
    """
    whole = np.maximum(wholes, 1)
    shares = totals // whole * parts + totals % whole * parts // whole
    return np.asarray(np.where(parts == wholes, totals, shares), dtype=np.int64)
