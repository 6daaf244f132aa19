"""The clairvoyant: an agent that knows the counterpart's type, not its noise.

Knowing the type, offering ``r_B`` again and again is accepted sooner or later: its value is close to the whole surplus.
Offers that go back are legal, and where the counterpart reads speed and rigidity they can pay: the value is the larger
of the best rising play on a fine grid (:mod:`oracle.known_type`) and the best play in any order on a few offers
(:mod:`oracle.going_back`), the offer of the last round included where it is answered. Both are dynamic programs on
grids: what play between the grids could add is not in the value. Searches over such play find less than 0.4 % of the
zopa, which is no proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from oracle.going_back import can_pay, solve_few, unordered_values
from oracle.kernels.induction import SLOTS
from oracle.known_type import (
    STANDARD_RESOLUTION,
    KnownTypeProblem,
    Resolution,
    offer_grid,
    problem_of,
    situation_values,
    value_at_start,
)
from terms.agents.moves import sign
from terms.aliases import Floats
from terms.config import GameConfig
from terms.game import Game
from terms.kernel import STANCES
from terms.scenario import Scenario
from terms.types import Accept, Action, Belief, Family, Observation, Offer, PrivateType, Reject, Stance


def clairvoyant_values(
    scenarios: Sequence[Scenario], *, resolution: Resolution = STANDARD_RESOLUTION, num_threads: int = 2
) -> Floats:
    """Return the value of each scenario to an agent that knows the counterpart's type, at its first move.

    Where the counterpart opens, its opening price is already seen; where the agent opens, it is still to be drawn.
    """

    def value(scenario: Scenario) -> float:
        problem, standing = start_of(scenario)
        rising = value_at_start(problem, standing, resolution)
        if not can_pay(problem):
            return rising
        return max(rising, float(unordered_values(solve_few(problem), 1, (), standing)[1].max()))

    with ThreadPoolExecutor(num_threads) as pool:
        return np.array(list(pool.map(value, scenarios)))


def start_of(scenario: Scenario) -> tuple[KnownTypeProblem, float | None]:
    """Return the problem of an agent that knows the type, and the price it faces at its first move, if one stands."""
    observation, hidden = Game(scenario).observe(), scenario.counterpart_type
    problem = problem_of(scenario.config, scenario.family, hidden, observation)
    return problem, _standing(observation, hidden.reservation_price)


@dataclass(frozen=True)
class Clairvoyant:
    """Plays the greedy policy of the dynamic program: the best reply to a counterpart whose type is revealed.

    The type comes from ``side_info["revealed_type"]`` or, without it, from ``hidden``. The family is part of the rules,
    not of the type, and must be given. Reads the last four own offers from the observation's history.
    """

    family: Family
    config: GameConfig = field(default_factory=GameConfig)
    hidden: PrivateType | None = None
    resolution: Resolution = STANDARD_RESOLUTION
    name: str = "clairvoyant"

    @classmethod
    def for_scenario(cls, scenario: Scenario) -> Self:
        """Return the agent that knows the type of this scenario's counterpart."""
        return cls(scenario.family, scenario.config, scenario.counterpart_type)

    def act(self, observation: Observation) -> Action:
        """Accept, offer or leave, whichever is worth most; accepting wins a tie."""
        hidden = read_revealed_type(observation) or self.hidden
        if hidden is None:
            raise ValueError("side_info has no 'revealed_type'; the clairvoyant needs the counterpart's type")
        belief = point_belief(hidden)
        problem = problem_of(self.config, self.family, hidden, observation)
        if problem.zopa <= 0:
            return Reject(belief=belief)
        offers, values = known_type_values(problem, observation, hidden.reservation_price, self.resolution)
        best = int(values.argmax())
        gain = -np.inf if observation.accept_utility is None else observation.accept_utility
        if gain >= max(values[best], 0.0):
            return Accept(belief=belief)
        if values[best] <= 0:
            return Reject(belief=belief)
        price = hidden.reservation_price + sign(observation) * float(offers[best])
        return Offer(min(observation.price_max, max(observation.price_min, price)), belief=belief)


def known_type_values(
    problem: KnownTypeProblem,
    observation: Observation,
    reservation: float,
    resolution: Resolution = STANDARD_RESOLUTION,
) -> tuple[Floats, Floats]:
    """Return the offers searched, measured from ``reservation``, and their values where the observation was made."""
    past = [sign(observation) * (price - reservation) for price in past_offers(observation)]
    return _offer_values(problem, observation.round, past, _standing(observation, reservation), resolution)


def _offer_values(  # noqa: PLR0913
    problem: KnownTypeProblem,
    k: int,
    past: Sequence[float],
    standing: float | None,
    resolution: Resolution,
    also: Sequence[float] = (),
    *,
    in_any_order: bool = True,
) -> tuple[Floats, Floats]:
    """Return offers and their values: rising ones on the fine grid, and any on the coarse one where that can pay.

    Of the offers ``also`` asked about, those that go back, and all after a history that did, are valued in any order.
    """
    recent = np.asarray(past, dtype=np.float64)[-SLOTS:]
    last = recent[-1] if len(recent) else -np.inf
    if (np.diff(recent) < 0).any():
        fine = offer_grid(problem, resolution.num_offers) if in_any_order else ()
        return unordered_values(solve_few(problem), k, past, standing, [*also, *fine])
    falling = [offer for offer in also if offer < last]
    offers, values = situation_values(
        problem, k, past, standing, resolution, [offer for offer in also if offer >= last]
    )
    if falling or (in_any_order and can_pay(problem)):
        more = unordered_values(solve_few(problem), k, past, standing, falling)
        offers, values = np.append(offers, more[0]), np.append(values, more[1])
    return offers, values


class Assessment(NamedTuple):
    """What actions are worth against a known type, ``values`` (actions,), and the best that could be done."""

    values: Floats
    best: float


def assess_actions(
    config: GameConfig,
    family: Family,
    hidden: PrivateType,
    observation: Observation,
    actions: Sequence[Action],
    resolution: Resolution = STANDARD_RESOLUTION,
) -> Assessment:
    """Return what each action is worth against a counterpart of type ``hidden``, playing best from then on.

    An action that is no legal move ends the episode and is worth nothing.
    """
    problem = problem_of(config, family, hidden, observation)
    offers, values, worth = _assess(problem, observation, hidden.reservation_price, actions, resolution, True)
    del offers
    return Assessment(worth, max(float(values.max()), observation.accept_utility or 0.0, 0.0))


def action_values(
    config: GameConfig,
    family: Family,
    hidden: PrivateType,
    observation: Observation,
    actions: Sequence[Action],
    resolution: Resolution = STANDARD_RESOLUTION,
) -> Floats:
    """Return what each action is worth, as :func:`assess_actions` does, without looking for the best one."""
    problem = problem_of(config, family, hidden, observation)
    return _assess(problem, observation, hidden.reservation_price, actions, resolution, False)[2]


def _assess(
    problem: KnownTypeProblem,
    observation: Observation,
    reservation: float,
    actions: Sequence[Action],
    resolution: Resolution,
    in_any_order: bool,
) -> tuple[Floats, Floats, Floats]:
    """Return the offers searched, their values, and what each action is worth."""
    side = sign(observation)
    past = [side * (price - reservation) for price in past_offers(observation)]
    asked = {
        action.price: side * (action.price - reservation)
        for action in actions
        if isinstance(action, Offer) and observation.price_min <= action.price <= observation.price_max
    }
    offers, values = _offer_values(
        problem, observation.round, past, _standing(observation, reservation), resolution, list(asked.values()),
        in_any_order=in_any_order,
    )  # fmt: skip
    worth = np.zeros(len(actions))
    for i, action in enumerate(actions):
        if isinstance(action, Accept) and observation.accept_utility is not None:
            worth[i] = observation.accept_utility
        elif isinstance(action, Offer) and action.price in asked:
            near = np.abs(offers - asked[action.price])
            worth[i] = values[near <= near.min() + 1e-12].max()
    return offers, values, worth


def past_offers(observation: Observation) -> list[float]:
    """Return the last own offers, oldest first, as many as the kernel can still see.

    Raises
    ------
    ValueError
        If the observation shows fewer past rounds than that.
    """
    prices = [turn.price for turn in observation.history if turn.price is not None]
    if len(prices) < min(observation.round - 1, SLOTS):
        raise ValueError(f"history shows {len(prices)} own offers; set history_window to at least {SLOTS}")
    return prices


def revealed_type(hidden: PrivateType) -> dict[str, Any]:
    """Return the type as JSON types: what ``side_info["revealed_type"]`` holds."""
    return {
        "reservation_price": hidden.reservation_price,
        "urgency": hidden.urgency,
        "stance": hidden.stance.value,
    }


def read_revealed_type(observation: Observation) -> PrivateType | None:
    """Return the type that the observation reveals, if it does."""
    info = observation.side_info.get("revealed_type")
    if info is None:
        return None
    return PrivateType(info["reservation_price"], info["urgency"], Stance(info["stance"]))


def point_belief(hidden: PrivateType) -> Belief:
    """Return certainty about ``hidden`` in the form an agent reports."""
    first, second, third = (float(stance is hidden.stance) for stance in STANCES)
    return Belief(hidden.reservation_price, hidden.urgency, (first, second, third))


def _standing(observation: Observation, reservation: float) -> float | None:
    if observation.standing_price is None:
        return None
    return sign(observation) * (observation.standing_price - reservation)
