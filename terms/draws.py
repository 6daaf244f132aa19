"""What is drawn for one episode before anybody moves: two ways of drawing, one record of draws, one way of using it.

Uniform draws are kept as uniforms, so that the same record serves any price frame. The released runs seed a new
generator for every quantity by arithmetic on the cell; fresh draws take a ``SeedSequence`` stream per quantity.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from terms.cells import Cell
from terms.config import Beta, GameConfig, PriorConfig, Uniform
from terms.noise import Noise, keyed_noise, released_noise
from terms.types import Channel, Opener, Regime


class Draws(NamedTuple):
    """Raw draws of one episode: uniforms in [0, 1) except the two urgencies and the noise."""

    width: float
    position: float
    agent_stance: float
    counterpart_stance: float
    agent_urgency: float
    counterpart_urgency: float
    harshness: float
    noise: Noise


def published_seed(cell: Cell, episode: int) -> int:
    """Return the trailing number of a published episode id."""
    regime, family, role, opener = cell.indices
    return 1_000_000 * regime + 100_000 * family + 10_000 * role + 1_000 * opener + episode


def published_draws(cell: Cell, episode: int, config: GameConfig) -> Draws:
    """Draw as the released runs did: a new generator for each quantity, its first draw used."""
    seed = published_seed(cell, episode)
    shared = seed % 1_000_000  # without the regime, which is what ties width to midpoint in overlap
    base = shared - episode + 10 * episode
    urgency_seed = base + (4 if cell.regime is Regime.URGENCY_SHIFT else 3)
    return Draws(
        width=np.random.default_rng(shared).random(),
        position=np.random.default_rng(seed).random(),
        agent_stance=np.random.default_rng(base + 4).random(),
        counterpart_stance=np.random.default_rng(base + 1).random(),
        agent_urgency=_beta(config.prior.agent_urgency, np.random.default_rng(base + 2)),
        counterpart_urgency=_beta(config.prior.counterpart_urgency(cell.regime), np.random.default_rng(urgency_seed)),
        harshness=np.random.default_rng(base + 5).random(),
        noise=released_noise(
            float(np.random.default_rng(seed + 17_171).standard_normal()),
            config.horizon,
            counterpart_opens=cell.opener is Opener.COUNTERPART,
            is_noisy=config.families[cell.family].channel is Channel.NOISY,
            rng=np.random.default_rng(seed + 9_999),
        ),
    )


def fresh_draws(seed: int, cell: Cell, episode: int, config: GameConfig) -> Draws:
    """Draw every quantity from its own stream, keyed by (seed, quantity, cell, episode).

    A stream is named after what it decides, so adding a quantity later disturbs none of the others.
    """

    def stream(name: str) -> np.random.Generator:
        return keyed_stream(name, seed, cell, episode)

    return Draws(
        width=stream("width").random(),
        position=stream("position").random(),
        agent_stance=stream("agent_stance").random(),
        counterpart_stance=stream("counterpart_stance").random(),
        agent_urgency=_beta(config.prior.agent_urgency, stream("agent_urgency")),
        counterpart_urgency=_beta(config.prior.counterpart_urgency(cell.regime), stream("counterpart_urgency")),
        harshness=stream("harshness").random(),
        noise=keyed_noise(stream, config.horizon),
    )


def keyed_stream(name: str, seed: int, cell: Cell, episode: int) -> np.random.Generator:
    """Return the stream that decides the quantity ``name`` of one episode."""
    key = (zlib.crc32(name.encode()), *cell.indices, episode)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def between(law: Uniform, uniform: float) -> float:
    """Map a uniform draw to ``law``."""
    return law.low + (law.high - law.low) * uniform


def pick(probs: tuple[float, ...], uniform: float) -> int:
    """Return the index whose cumulative probability first exceeds ``uniform``; the last one absorbs rounding."""
    cumulative = 0.0
    for index, prob in enumerate(probs):
        cumulative += prob
        if uniform < cumulative:
            return index
    return len(probs) - 1


def reservations(regime: Regime, draws: Draws, prior: PriorConfig, low: float, scale: float) -> tuple[float, float]:
    """Return ``(r_buyer, r_seller)`` on the price frame ``[low, low + scale]`` (section 1.1).

    Feasible: ``z = scale U(zopa_share)``, ``m = low + scale U(midpoint_share)``, reservations ``m +- z/2``. No-deal:
    ``q = scale U(gap_share)`` and ``m`` uniform where both reservations stay on the frame, so with ``v`` uniform
    ``r_buyer = low + v (scale - q)`` and ``r_seller = r_buyer + q``.
    """
    if regime is Regime.NO_DEAL:
        gap = between(_scaled(prior.gap_share, scale), draws.width)
        buyer = low + draws.position * (scale - gap)
        return buyer, buyer + gap
    width = between(_scaled(prior.zopa_share, scale), draws.width)
    middle = low + between(_scaled(prior.midpoint_share, scale), draws.position)
    return middle + width / 2, middle - width / 2


def _scaled(law: Uniform, scale: float) -> Uniform:
    return Uniform.model_construct(low=law.low * scale, high=law.high * scale)


def _beta(law: Beta, rng: np.random.Generator) -> float:
    return float(rng.beta(law.a, law.b))
