"""Goods in and out of the warehouse at cost: units, lots and value move together or not at all."""

from __future__ import annotations

import numpy as np

from commerce.lots import Lots, merge, take_oldest
from commerce.money import pro_rata
from commerce.state import YearState
from commerce.types import IntArray


def put_in(state: YearState, lots: Lots, skus: IntArray, cost_fen: IntArray) -> None:
    """Add ``lots`` (owned by SKUs) with their cost to the unlisted stock; ``skus`` may repeat."""
    state.lots = merge(state.lots, lots)
    for target in (state.unlisted, state.on_hand):
        np.add.at(target, lots.owner, lots.units)
    np.add.at(state.value_fen, skus, cost_fen)


def take_out(state: YearState, skus: IntArray, units: IntArray) -> tuple[Lots, IntArray]:
    """Take units of the ascending ``skus`` out, oldest first; return their lots and their average cost.

    The caller takes them off the shelf or the unlisted stock.
    """
    cost = pro_rata(state.value_fen[skus], units, state.on_hand[skus])
    state.lots, taken = take_oldest(state.lots, skus, units)
    state.on_hand[skus] -= units
    state.value_fen[skus] -= cost
    return taken, cost
