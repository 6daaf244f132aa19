"""Tiny scenarios, scripted noise and the mirror: what the tests of the game are built from."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from terms import GameConfig, Scenario
from terms.noise import CueDraw, Noise, ResponseDraw, keyed_noise
from terms.types import Family, Observation, Offer, Opener, PrivateType, Regime, Reject, Role, Stance

NEVER = 1.0
"""A uniform draw no probability exceeds."""
ALWAYS = 0.0
"""A uniform draw any positive probability exceeds."""
SYMMETRIC = GameConfig(price_min=-50.0, price_max=50.0)
"""Bounds around zero: the mirror of a price is its negation, exact in floating point."""


def scripted_noise(horizon: int = 10, **draws: float) -> Noise:
    """Return the same draws in every round; by default nobody accepts or walks and no price is moved by noise."""
    cue = CueDraw(
        draws.get("posture", 0.5),
        draws.get("sentiment", 0.0),
        draws.get("noisy_sentiment", 0.0),
        draws.get("noisy_posture", 0.5),
    )
    response = ResponseDraw(draws.get("accept", NEVER), draws.get("walk", NEVER), draws.get("price", 0.0), cue)
    return Noise(draws.get("opening_noise", 0.0), cue, (response,) * horizon)


def seeded_noise(seed: int, horizon: int = 10) -> Noise:
    """Return noise drawn from ``seed``, a stream for every purpose."""
    return keyed_noise(lambda name: np.random.default_rng([seed, zlib.crc32(name.encode())]), horizon)


def make_scenario(
    *,
    own: float = 80.0,
    other: float = 40.0,
    role: Role = Role.BUYER,
    opener: Opener = Opener.COUNTERPART,
    family: Family = Family.CANDID,
    regime: Regime = Regime.OVERLAP,
    stance: Stance = Stance.NEUTRAL,
    urgencies: tuple[float, float] = (0.5, 0.5),
    harshness: float = 0.5,
    noise: Noise | None = None,
    config: GameConfig | None = None,
    **others: Any,
) -> Scenario:
    """Return one episode; the defaults give a buyer (limit 80) a candid seller (limit 40) that opens at 65.5."""
    config = config or GameConfig()
    return Scenario(
        scenario_id=others.pop("scenario_id", "made/0"),
        regime=regime,
        family=family,
        agent_role=role,
        opener=opener,
        episode_seed=0,
        agent_type=PrivateType(own, urgencies[0], Stance.NEUTRAL),
        counterpart_type=PrivateType(other, urgencies[1], stance),
        harshness=harshness,
        price_min=config.price_min,
        price_max=config.price_max,
        noise=noise or scripted_noise(config.horizon),
        config=config,
        **others,
    )


def mirrored(scenario: Scenario) -> Scenario:
    """Return the same episode seen from the other role: prices reflected in the bounds, price noise negated."""

    def reflect(side: PrivateType) -> PrivateType:
        return replace(side, reservation_price=mirror_price(scenario, side.reservation_price))

    noise = scenario.noise
    return replace(
        scenario,
        agent_role=Role.SELLER if scenario.agent_role is Role.BUYER else Role.BUYER,
        agent_type=reflect(scenario.agent_type),
        counterpart_type=reflect(scenario.counterpart_type),
        noise=noise._replace(
            opening_noise=-noise.opening_noise,
            responses=tuple(draw._replace(price=-draw.price) for draw in noise.responses),
        ),
    )


def mirror_price(scenario: Scenario, price: float) -> float:
    """Reflect ``price`` in the middle of the public bounds."""
    return scenario.price_min + scenario.price_max - price


class Script:
    """An agent that plays a list of moves (numbers are offers) and then leaves; keeps what it saw."""

    name = "script"

    def __init__(self, *moves: Any) -> None:
        self.moves = list(moves)
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Any:
        """Return the next move of the list."""
        self.seen.append(observation)
        if not self.moves:
            return Reject()
        move = self.moves.pop(0)
        return Offer(move) if isinstance(move, int | float) else move


def as_plain(episodes: Iterable[Any]) -> list[dict[str, Any]]:
    """Return records as nested dicts, so that a difference reads well."""
    return [asdict(episode) for episode in episodes]
