r"""The order-free split of a gap: Shapley values of improvements that interact.

With ``v(S)`` the value when the improvements in ``S`` are made, player ``i`` gets

.. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(m - |S| - 1)!}{m!}\,[v(S \cup i) - v(S)],

the mean over all orders of what it adds when its turn comes. The parts sum to ``v(all) - v(none)`` exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import factorial
from typing import TypeVar

import numpy as np

from terms.aliases import Floats

_P = TypeVar("_P", bound=str)


def shapley_values(players: Sequence[_P], worth: Mapping[frozenset[_P], Floats]) -> dict[_P, Floats]:
    """Return each player's part, element by element.

    Parameters
    ----------
    worth
        An array for every one of the ``2 ** len(players)`` coalitions, the empty one included; all of one shape.

    Raises
    ------
    ValueError
        If a coalition has no worth.
    """
    missing = [sorted(group) for group in _coalitions(players) if group not in worth]
    if missing:
        raise ValueError(f"worth lacks the coalitions {missing}")
    m = len(players)
    parts = {}
    for player in players:
        others = [name for name in players if name != player]
        parts[player] = sum(
            (
                (worth[group | {player}] - worth[group])
                * (factorial(len(group)) * factorial(m - len(group) - 1) / factorial(m))
                for group in _coalitions(others)
            ),
            np.zeros_like(worth[frozenset[_P]()]),
        )
    return parts


def _coalitions(players: Sequence[_P]) -> list[frozenset[_P]]:
    return [frozenset(group) for size in range(len(players) + 1) for group in combinations(players, size)]
