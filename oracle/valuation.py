"""What single moves are worth at a belief, for players that have no fitted values.

The value of continuing is that of a player who learns the type right after the move (the QMDP bound): optimistic, and
for every move alike, so that differences between moves are what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from oracle.clairvoyant import action_values
from oracle.known_type import Resolution
from oracle.posterior import Posterior
from terms.aliases import Floats
from terms.types import Action, Family, Observation, PrivateType

Valuer = Callable[[Posterior, Observation, Sequence[Action]], Floats]
_NUM_TYPES = 12
_COARSE = Resolution(8, 32)


def mixture_values(belief: Posterior, observation: Observation, actions: Sequence[Action]) -> Floats:
    """Return each action's value against a known type, averaged over types spread evenly through the posterior."""
    knowledge = belief.knowledge
    values = [
        action_values(knowledge.config, family, hidden, observation, actions, _COARSE)
        for family, hidden in representative_types(belief, _NUM_TYPES)
    ]
    return np.asarray(np.mean(values, axis=0))


def representative_types(belief: Posterior, num: int) -> list[tuple[Family, PrivateType]]:
    """Return ``num`` equally likely (family, type) pairs, evenly spaced through the posterior by reservation."""
    rows, groups, nodes = belief.weights.shape
    top = belief.seat.own if belief.standing is None else belief.standing
    middles = np.append((belief.low + np.maximum(belief.low, np.minimum(belief.high, top))) / 2, top)
    order = np.argsort(middles, kind="stable")
    cumulative = np.cumsum(belief.weights[order].ravel())
    picks = np.searchsorted(cumulative, (np.arange(num) + 0.5) / num * cumulative[-1])
    found = []
    for pick in np.minimum(picks, rows * groups * nodes - 1):
        row, group, node = np.unravel_index(pick, (rows, groups, nodes))
        family, stance = belief.groups[group]
        price = belief.seat.from_canonical(float(middles[order[row]]))
        found.append((family, PrivateType(price, float(belief.urgency[node]), stance)))
    return found
