r"""What two agents make of a talk, and the rating of many from a round robin.

In a talk with zopa :math:`z > 0` closed at a price, seat ``i`` gets the share :math:`y_i = u_i / z`, and
:math:`y_1 + y_2 = 1` where both agreed rationally; without a deal both get 0. **Efficiency** is the share of possible
deals that were made. An agent's **rating** is its mean share against every other agent in both seats, in which every
opponent and seat weighs the same: in a complete round robin on common scenarios this is the least-squares estimate of
an additive model ``y = mean + own + other + seat`` up to a constant, and it is in shares of the surplus rather than in
points. Scenarios are the independent blocks. Two agents tie where their paired difference in rating does not exclude
0 among all pairs (:mod:`experiments.stats.paired`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.stats.paired import Comparison, compare_outcomes
from terms.estimates import Estimate, Ratio, estimate_mean, estimate_ratios, estimate_share
from terms.two_seats import Match
from terms.types import Role


class RatedAgent(NamedTuple):
    """An agent's place: ``rating`` is its mean share of the surplus, ``ties`` who is not told apart from it."""

    agent: str
    rating: Estimate
    efficiency: Estimate
    ties: tuple[str, ...]


class Ratings(NamedTuple):
    """All agents, the best first, and the paired comparison behind their order."""

    agents: tuple[RatedAgent, ...]
    paired: Comparison

    def to_json_object(self) -> dict[str, Any]:
        """Return the ratings as JSON types."""
        rows = [
            {**row._asdict(), "rating": row.rating._asdict(), "efficiency": row.efficiency._asdict()}
            for row in self.agents
        ]
        return {"agents": rows, "paired": self.paired.to_json_object()}


def summarize_matches(matches: Sequence[Match]) -> dict[str, Estimate]:
    """Return efficiency, either seat's share of the surplus, the first seat's and the buyer's part of deals.

    Talks lost to a provider and those without a zopa are left out; ``unwise_deals`` is the share of talks without a
    zopa that were closed all the same.
    """
    scored = [match for match in matches if not match.first.is_excluded]
    possible = [match for match in scored if match.first.is_feasible]
    blocks = _blocks(possible)
    dealt = np.array([match.first.is_agreement for match in possible], dtype=float)
    ones = np.ones(len(possible))
    first = np.array([match.first.utility / match.first.zopa for match in possible])
    second = np.array([match.second.utility / match.second.zopa for match in possible])
    buyer = np.where([match.first.agent_role is Role.BUYER for match in possible], first, second)
    hopeless = [match for match in scored if not match.first.is_feasible]
    closed = np.array([match.first.is_agreement for match in hopeless], dtype=float)
    rounds = np.array([match.first.rounds_played for match in scored], dtype=float)
    return {
        "efficiency": estimate_share(dealt, ones, blocks),
        "first_share": estimate_ratios([Ratio(first, ones)], blocks),
        "second_share": estimate_ratios([Ratio(second, ones)], blocks),
        "first_part_of_deals": estimate_ratios([Ratio(first * dealt, dealt)], blocks),
        "buyer_part_of_deals": estimate_ratios([Ratio(buyer * dealt, dealt)], blocks),
        "unwise_deals": estimate_share(closed, np.ones(len(hopeless)), _blocks(hopeless)),
        "rounds": estimate_ratios([Ratio(rounds, np.ones(len(scored)))], _blocks(scored)),
    }


def rate(tables: Mapping[tuple[str, str], Sequence[Match]]) -> Ratings:
    """Rate the agents of a round robin; ``tables`` has by (first, second) the talks of one pair.

    Raises
    ------
    ValueError
        If a pair or a scenario of it is missing, fewer than two agents played, or no talk was possible.
    """
    agents = sorted({name for pair in tables for name in pair})
    if len(agents) < 2:
        raise ValueError(f"agents={agents}; a tournament needs at least two")
    missing = [(one, other) for one in agents for other in agents if one != other and (one, other) not in tables]
    if missing:
        raise ValueError(f"tables lacks {missing[0][0]} against {missing[0][1]}; every pair meets in both seats")
    outcomes, dealt = _shares(tables, agents)
    if not outcomes[agents[0]]:
        raise ValueError("no scenario was possible and played by every pair; there is nothing to rate")
    paired = compare_outcomes(outcomes, "surplus share", "higher")
    differing = {frozenset((each.first, each.second)) for each in paired.differences if each.is_significant}
    rows = [
        RatedAgent(
            name,
            estimate_mean([float(np.mean(values)) for values in outcomes[name].values()]),
            estimate_mean([float(np.mean(values)) for values in dealt[name].values()]),
            tuple(other for other in agents if other != name and frozenset((name, other)) not in differing),
        )
        for name in paired.ranking
    ]
    return Ratings(tuple(rows), paired)


def _shares(
    tables: Mapping[tuple[str, str], Sequence[Match]], agents: Sequence[str]
) -> tuple[dict[str, dict[str, list[float]]], dict[str, dict[str, list[float]]]]:
    """Return by agent and scenario the mean share against each opponent in each seat, and whether there was a deal.

    Only scenarios that every pair has played are kept, so that all ratings rest on the same draws.
    """
    found: dict[str, dict[tuple[str, str, int], list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (first, second), matches in tables.items():
        if first == second:
            continue
        for match in matches:
            record = match.first
            if record.is_excluded or not record.is_feasible:
                continue
            dealt = float(record.is_agreement)
            cell = found[record.scenario_id]
            cell[first, second, 0].append((match.first.utility / record.zopa, dealt))
            cell[second, first, 1].append((match.second.utility / record.zopa, dealt))
    num = len(agents) * (len(agents) - 1) * 2
    whole = {name: cells for name, cells in found.items() if len(cells) == num}
    shares: dict[str, dict[str, list[float]]] = {agent: {} for agent in agents}
    deals: dict[str, dict[str, list[float]]] = {agent: {} for agent in agents}
    for scenario, cells in whole.items():
        for agent in agents:
            means = [np.mean(values, axis=0) for (own, _, _), values in cells.items() if own == agent]
            shares[agent][scenario] = [float(np.mean([mean[0] for mean in means]))]
            deals[agent][scenario] = [float(np.mean([mean[1] for mean in means]))]
    return shares, deals


def _blocks(matches: Sequence[Match]) -> Any:
    names = np.array([match.first.scenario_id for match in matches], dtype=str)
    return np.unique(names, return_inverse=True)[1].astype(np.intp)
