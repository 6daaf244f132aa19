r"""A best response fitted to a frozen opponent from play: a floor under how far it can be exploited.

Whoever plays against a frozen opponent faces a decision process: at what it can tell apart, a *key* ``x``, it chooses
an action and sees the next key or the end. From plays that explore, the model is counted and solved backwards,

.. math:: \hat Q(x, a) = \frac{1}{n_{xa}} \sum_j (u_j\ \text{or}\ \max_{a'} \hat Q(x'_j, a')),

and the greedy policy is played again, on scenarios it was not fitted on. What it earns there is a lower bound on the
value of a best response, whatever its keys cannot tell apart; where keys hold all that can be known and every one is
met often, it is the best response itself. With :math:`v` what the opponent earns against itself,

.. math:: \text{floor} = \sum_{\text{seats}} (\hat b_{\text{seat}} - v_{\text{seat}})

bounds the NashConv of the pair (opponent, opponent) from below, in shares of the surplus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from terms.episode import AgentLike
from terms.estimates import Estimate, estimate_mean
from terms.scenario import Scenario
from terms.two_seats import Match, play_match
from terms.types import Accept, Action, Observation, Offer

Choose = Callable[[Hashable, Sequence[int]], int]
"""Returns one of the actions that are allowed at a key."""


class KeyedMove(NamedTuple):
    """A choice that was made; ``allowed`` are the actions there were."""

    key: Hashable
    allowed: tuple[int, ...]
    action: int


class PlayedTalk(NamedTuple):
    """One play against the frozen agent: every choice of the responder, and what it earned."""

    moves: tuple[KeyedMove, ...]
    payoff: float


ResponderTable = Callable[[Choose, int], PlayedTalk]
"""Plays the game of a given number, chance drawn by that number, with the choices of the responder."""


@dataclass(frozen=True)
class Response:
    """A policy by key; where a key is unknown the first allowed action is taken."""

    best: Mapping[Hashable, int]

    def choose(self, key: Hashable, allowed: Sequence[int]) -> int:
        """Return the action for ``key``."""
        known = self.best.get(key)
        return allowed[0] if known is None else known


def fit_response(
    table: ResponderTable,
    num_plays: int,
    *,
    rng: np.random.Generator,
    passes: int = 3,
    explore: float = 0.3,
    least: int = 1,
) -> Response:
    """Fit the best response from ``num_plays`` plays a pass.

    Parameters
    ----------
    table
        Plays the frozen agent.
    passes
        The first explores at random, later ones leave the policy so far with probability ``explore`` at each move.
    least
        How often an action must have been tried to be chosen.

    Raises
    ------
    ValueError
        If there is nothing to fit from.
    """
    if num_plays < 1 or passes < 1:
        raise ValueError(f"num_plays={num_plays}, passes={passes}; both must be at least 1")
    talks, found = list[PlayedTalk](), Response({})
    for number in range(passes):
        chance = 1.0 if number == 0 else explore
        policy = found

        def choose(key: Hashable, allowed: Sequence[int], policy: Response = policy, chance: float = chance) -> int:
            if rng.random() < chance or key not in policy.best:
                return allowed[int(rng.integers(len(allowed)))]
            return policy.choose(key, allowed)

        talks += [table(choose, number * num_plays + play) for play in range(num_plays)]
        found = solve_talks(talks, least)
    return found


def solve_talks(talks: Sequence[PlayedTalk], least: int = 1) -> Response:
    """Return the best response of the model that ``talks`` count, for example of logs; keys must not come twice.

    Talks are solved from their last move backwards, so a key must always be met at the same number of moves.
    """
    by_depth: dict[int, list[tuple[KeyedMove, Hashable | None, float]]] = defaultdict(list)
    for talk in talks:
        for depth, move in enumerate(talk.moves):
            is_last = depth + 1 == len(talk.moves)
            by_depth[depth].append((move, None if is_last else talk.moves[depth + 1].key, talk.payoff))
    best, value = dict[Hashable, int](), dict[Hashable, float]()
    for depth in sorted(by_depth, reverse=True):
        sums: dict[Hashable, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for move, following, payoff in by_depth[depth]:
            sums[move.key][move.action].append(payoff if following is None else value[following])
        for key, tried in sums.items():
            means = {action: float(np.mean(worths)) for action, worths in tried.items() if len(worths) >= least}
            means = means or {action: float(np.mean(worths)) for action, worths in tried.items()}
            best[key] = max(means, key=lambda action: means[action])
            value[key] = means[best[key]]
    return Response(best)


# The negotiation as such a table.

NUM_GAINS = 13
_WIDEST = 0.6


class Responder:
    """Plays keys and numbered actions at the table of :mod:`terms.two_seats`: 0 accepts, the rest ask for a gain.

    A key is the round, the gain at the standing price and at the own last offer; gains are shares of R in steps.
    """

    def __init__(self, choose: Choose) -> None:
        self.moves: list[KeyedMove] = []
        self._choose, self._last = choose, NUM_GAINS

    def act(self, seen: Observation) -> Action:
        """Choose and remember."""
        width = seen.price_max - seen.price_min
        stands = None if seen.accept_utility is None else int(np.floor(seen.accept_utility / width * 20))
        offers = tuple(range(1, min(self._last, NUM_GAINS) + 1))
        allowed = (*((0,) if stands is not None and stands >= 0 else ()), *offers)
        key = (seen.round, stands, self._last)
        action = self._choose(key, allowed)
        self.moves.append(KeyedMove(key, allowed, action))
        if action == 0:
            return Accept()
        self._last = action
        gain = (action - 1) / (NUM_GAINS - 1) * _WIDEST * width
        side = seen.role.sign
        return Offer(min(seen.price_max, max(seen.price_min, seen.reservation_price - side * gain)))


def seat_table(frozen: AgentLike, scenarios: Sequence[Scenario], seat: str) -> ResponderTable:
    """Return the table at which the responder has ``seat``, ``first`` or ``second``, of scenarios in turn."""

    def play(choose: Choose, number: int) -> PlayedTalk:
        responder = Responder(choose)
        scenario = scenarios[number % len(scenarios)]
        match = _meet(scenario, responder.act, frozen, seat)
        return PlayedTalk(tuple(responder.moves), getattr(match, seat).utility / scenario.zopa)

    return play


def _meet(scenario: Scenario, agent: AgentLike, frozen: AgentLike, seat: str) -> Match:
    return play_match(scenario, *((agent, frozen) if seat == "first" else (frozen, agent)))


class ExploitabilityFloor(NamedTuple):
    """What a fitted response earns against a frozen agent, by seat, and what it earns there against itself.

    ``floor`` is the sum over seats of the paired differences: a lower bound of NashConv in shares of the surplus.
    """

    responses: Mapping[str, Estimate]
    own: Mapping[str, Estimate]
    floor: Estimate


def exploitability_floor(
    frozen: AgentLike,
    fitted_on: Sequence[Scenario],
    played_on: Sequence[Scenario],
    *,
    rng: np.random.Generator,
    num_plays: int = 4000,
) -> ExploitabilityFloor:
    """Fit a best response in each seat and play it on scenarios it was not fitted on.

    Parameters
    ----------
    frozen
        The agent; it must not learn from talk to talk.
    fitted_on, played_on
        Scenarios with a zopa, of different seeds; the interval is over those of ``played_on``.
    num_plays
        Plays a pass and seat.

    Raises
    ------
    ValueError
        If scenarios are shared or have no zopa.
    """
    if {each.scenario_id for each in fitted_on} & {each.scenario_id for each in played_on}:
        raise ValueError("fitted_on and played_on share scenarios; what is earned on those is no lower bound")
    if any(each.zopa <= 0 for each in (*fitted_on, *played_on)):
        raise ValueError("a scenario without a zopa has no surplus to share")
    earned: dict[str, list[float]] = {}
    own: dict[str, list[float]] = {}
    for seat in Match._fields:
        response = fit_response(seat_table(frozen, fitted_on, seat), num_plays, rng=rng, least=5)
        table = seat_table(frozen, played_on, seat)
        earned[seat] = [table(response.choose, number).payoff for number in range(len(played_on))]
        matches = (play_match(each, frozen, frozen) for each in played_on)
        own[seat] = [getattr(match, seat).utility / match.first.zopa for match in matches]
    gains = [sum(earned[seat][i] - own[seat][i] for seat in Match._fields) for i in range(len(played_on))]
    return ExploitabilityFloor(
        {seat: estimate_mean(values) for seat, values in earned.items()},
        {seat: estimate_mean(values) for seat, values in own.items()},
        estimate_mean(gains),
    )
