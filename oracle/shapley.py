r"""The order-free split of a gap: Shapley values of improvements that interact.

With ``v(S)`` the value when the improvements in ``S`` are made, player ``i`` gets

.. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(m - |S| - 1)!}{m!}\,[v(S \cup i) - v(S)],

the mean over all orders of what it adds when its turn comes. The parts sum to ``v(all) - v(none)`` exactly. Where
``v`` is in whole numbers, so is :math:`m!\,\phi_i`; the parts are then rounded to whole ones that keep the sum: all are
rounded down, and what is missing goes to the largest remainders (the method of Hamilton).
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
    _require_all(players, worth)
    m = len(players)
    parts = {}
    for player in players:
        others = [name for name in players if name != player]
        parts[player] = sum(
            (
                (worth[group | {player}] - worth[group])
                * (factorial(len(group)) * factorial(m - len(group) - 1) / factorial(m))
                for group in coalitions(others)
            ),
            np.zeros_like(worth[frozenset[_P]()]),
        )
    return parts


def whole_shapley_values(players: Sequence[_P], worth: Mapping[frozenset[_P], int]) -> dict[_P, int]:
    """Return each player's part of a worth in whole numbers, rounded to whole ones whose sum is that of the parts.

    A part that is whole stays as it is: it has no remainder. Of equal remainders the first player's comes first.

    Raises
    ------
    ValueError
        If a coalition has no worth.
    """
    _require_all(players, worth)
    m = len(players)
    exact = {
        player: sum(
            factorial(len(group)) * factorial(m - len(group) - 1) * (worth[group | {player}] - worth[group])
            for group in coalitions([name for name in players if name != player])
        )
        for player in players
    }
    parts = {player: value // factorial(m) for player, value in exact.items()}
    missing = sum(exact.values()) // factorial(m) - sum(parts.values())
    for player in sorted(players, key=lambda player: -(exact[player] % factorial(m)))[:missing]:
        parts[player] += 1
    return parts


def _require_all(players: Sequence[_P], worth: Mapping[frozenset[_P], object]) -> None:
    missing = [sorted(group) for group in coalitions(players) if group not in worth]
    if missing:
        raise ValueError(f"worth lacks the coalitions {missing}")


def coalitions(players: Sequence[_P]) -> list[frozenset[_P]]:
    """Return every group of ``players``, smaller ones first, the empty one included."""
    return [frozenset(group) for size in range(len(players) + 1) for group in combinations(players, size)]
