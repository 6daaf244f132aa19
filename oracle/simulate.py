"""Batches of scripted episodes at compiled speed, for training, sweeps and power studies.

:func:`simulate` plays the very episodes :func:`terms.play` plays, draw for draw, and returns arrays in place of
records. :func:`draw_batch` draws fresh episodes of one cell directly as arrays: same laws as a fresh suite, one
generator for all, so it is for training and power studies, where no episode needs a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from oracle.kernels.policies import (
    FIXED,
    PATIENT,
    SCHEDULE,
    TIME_DEPENDENT,
    SimulatedEpisodes,
    SimulatedOutcomes,
    simulate_episodes,
)
from terms.agents import moves
from terms.agents.scripted import FixedConcession, Patient, TimeDependent
from terms.cells import Cell
from terms.config import GameConfig, Uniform
from terms.kernel import STANCES, kernel_params
from terms.scenario import Scenario
from terms.types import Accept, Action, Observation, Opener, Regime, Role, Termination

TERMINATION_CODES = (
    Termination.AGENT_ACCEPT,
    Termination.COUNTERPART_ACCEPT,
    Termination.COUNTERPART_WALK,
    Termination.ROUND_LIMIT,
)


@dataclass(frozen=True)
class Schedule:
    """The parametric policy: ask for ``gaps[k - 1]`` (share of R) below the own reservation in round k.

    Accepts what earns at least its own ask less ``slack`` (share of R), and anything rational in the last round. Gaps
    never grow, so offers never go back.
    """

    gaps: tuple[float, ...]
    slack: float = 0.0
    name: str = "schedule"

    def __post_init__(self) -> None:
        if not self.gaps or any(not 0 <= gap <= 1 for gap in self.gaps):
            raise ValueError(f"gaps={self.gaps}; one share of R in [0, 1] for each round")
        if any(after > before for before, after in zip(self.gaps, self.gaps[1:], strict=False)):
            raise ValueError(f"gaps={self.gaps}; gaps must not grow, or an offer would go back")

    def act(self, observation: Observation) -> Action:
        """Accept what beats this round's ask less the slack, else ask."""
        if observation.round > len(self.gaps):
            raise ValueError(f"gaps has {len(self.gaps)} rounds; the episode is in round {observation.round}")
        width = observation.price_max - observation.price_min
        price = moves.price_at_gap(observation, self.gaps[observation.round - 1] * width)
        ask = moves.sign(observation) * (observation.reservation_price - price)
        gain = observation.accept_utility
        if gain is not None and gain >= 0 and gain >= ask - self.slack * width:
            return Accept()
        return moves.accept_or_offer(observation, price)


class EpisodeArrays(NamedTuple):
    """Episodes as arrays, with the constants they are played under; ``params`` has shape (groups, constants)."""

    episodes: SimulatedEpisodes
    params: np.ndarray
    horizon: int
    is_final_answered: bool

    @property
    def num_episodes(self) -> int:
        """How many episodes the batch holds."""
        return len(self.episodes.sign)

    def slice(self, start: int, stop: int) -> EpisodeArrays:
        """Return the episodes ``start`` to ``stop`` (views, not copies)."""
        return self._replace(episodes=SimulatedEpisodes._make(column[start:stop] for column in self.episodes))


def to_batch(scenarios: Sequence[Scenario]) -> EpisodeArrays:
    """Lay scenarios out as arrays. They must share one horizon and one answer to the question of the final offer."""
    if not scenarios:
        raise ValueError("scenarios is empty; a batch needs at least one")
    rules = {(item.config.horizon, item.config.final_offer_answered) for item in scenarios}
    if len(rules) > 1:
        raise ValueError(f"scenarios mix {len(rules)} pairs of (horizon, final_offer_answered); a batch needs one")
    numbers, firsts = groups_of(scenarios)
    rows = [kernel_params(each.config, each.family, each.counterpart_type.stance, each.price_range) for each in firsts]
    draws = [[draw[:3] for draw in item.noise.responses] for item in scenarios]
    episodes = SimulatedEpisodes(
        group=numbers,
        sign=np.array([item.sign for item in scenarios], dtype=np.int64),
        agent_opens=np.array([item.opener is Opener.AGENT for item in scenarios], dtype=np.int64),
        own=np.array([item.agent_type.reservation_price for item in scenarios]),
        reservation=np.array([item.counterpart_type.reservation_price for item in scenarios]),
        urgency=np.array([item.counterpart_type.urgency for item in scenarios]),
        price_min=np.array([float(item.price_min) for item in scenarios]),
        price_max=np.array([float(item.price_max) for item in scenarios]),
        harshness=np.array([item.harshness for item in scenarios]),
        opening_noise=np.array([item.noise.opening_noise for item in scenarios]),
        draws=np.array(draws, dtype=np.float64),
    )
    horizon, is_final_answered = rules.pop()
    return EpisodeArrays(episodes, np.array(rows, dtype=np.float64), horizon, is_final_answered)


def groups_of(scenarios: Sequence[Scenario]) -> tuple[np.ndarray, list[Scenario]]:
    """Return the group of each scenario, shape (n,), and the first scenario of each group.

    Scenarios of a group have the same constants: one configuration, family, stance and price range.
    """
    places: dict[tuple[Any, ...], int] = {}
    firsts: list[Scenario] = []
    numbers = np.empty(len(scenarios), dtype=np.int64)
    for i, item in enumerate(scenarios):
        key = (id(item.config), item.family, item.counterpart_type.stance, item.price_range)
        if key not in places:
            places[key] = len(firsts)
            firsts.append(item)
        numbers[i] = places[key]
    return numbers, firsts


def draw_batch(cell: Cell, n: int, *, rng: np.random.Generator, config: GameConfig | None = None) -> EpisodeArrays:
    """Draw ``n`` fresh episodes of ``cell`` as arrays."""
    if n < 1:
        raise ValueError(f"n={n}; it must be at least 1")
    settings = config or GameConfig()
    prior, horizon = settings.prior, settings.horizon
    buyer, seller = _draw_reservations(cell.regime, n, settings, rng)
    buys = cell.role is Role.BUYER
    law = prior.counterpart_urgency(cell.regime)
    draws = rng.random((n, horizon, 3))
    draws[:, :, 2] = rng.standard_normal((n, horizon))
    width = settings.price_max - settings.price_min
    stances = settings.families[cell.family].stance_prior
    episodes = SimulatedEpisodes(
        group=rng.choice(len(STANCES), size=n, p=stances),
        sign=np.full(n, 1 if buys else -1),
        agent_opens=np.full(n, int(cell.opener is Opener.AGENT)),
        own=buyer if buys else seller,
        reservation=seller if buys else buyer,
        urgency=rng.beta(law.a, law.b, n),
        price_min=np.full(n, float(settings.price_min)),
        price_max=np.full(n, float(settings.price_max)),
        harshness=_draw(settings.opening.harshness, n, rng),
        opening_noise=rng.standard_normal(n),
        draws=draws,
    )
    rows = [kernel_params(settings, cell.family, stance, width) for stance in STANCES]
    return EpisodeArrays(episodes, np.array(rows, dtype=np.float64), horizon, settings.final_offer_answered)


def _draw(law: Uniform, n: int, rng: np.random.Generator) -> np.ndarray:
    return law.low + (law.high - law.low) * rng.random(n)


def _draw_reservations(
    regime: Regime, n: int, config: GameConfig, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``(r_buyer, r_seller)``, the law of :func:`terms.draws.reservations`."""
    low, scale = config.price_min, config.price_max - config.price_min
    if regime is Regime.NO_DEAL:
        gap = scale * _draw(config.prior.gap_share, n, rng)
        buyer = low + rng.random(n) * (scale - gap)
        return buyer, buyer + gap
    width = scale * _draw(config.prior.zopa_share, n, rng)
    middle = low + scale * _draw(config.prior.midpoint_share, n, rng)
    return middle + width / 2, middle - width / 2


def compiled_policy(agent: Any, horizon: int) -> tuple[int, np.ndarray]:
    """Return the kernel's number and settings for a scripted agent.

    Raises
    ------
    ValueError
        If the agent has no compiled twin; play it with :func:`terms.play`.
    """
    match agent:
        case FixedConcession():
            return FIXED, np.array([agent.rate])
        case TimeDependent():
            return TIME_DEPENDENT, np.array([1.0 / agent.speed])
        case Patient():
            return PATIENT, np.array([agent.gap, agent.rate])
        case Schedule():
            if len(agent.gaps) < horizon:
                raise ValueError(f"gaps has {len(agent.gaps)} rounds; the episodes have {horizon}")
            return SCHEDULE, np.array([agent.slack, *agent.gaps])
        case _:
            known = "FixedConcession, TimeDependent, Patient, Schedule"
            raise ValueError(f"agent={type(agent).__name__} is not compiled, allowed are {known}; use terms.play")


def simulate(batch: EpisodeArrays, agent: Any, *, num_threads: int = 1) -> SimulatedOutcomes:
    """Play a batch with one scripted agent.

    Returns
    -------
    Outcomes
        Arrays in the order of the batch; ``TERMINATIONS[termination[i]]`` is how episode i ended. The number of threads
        changes the speed alone: every thread has its own episodes.
    """
    policy, settings = compiled_policy(agent, batch.horizon)
    n = batch.num_episodes
    out = SimulatedOutcomes(
        termination=np.empty(n, dtype=np.int64),
        price=np.empty(n),
        utility=np.empty(n),
        rounds=np.empty(n, dtype=np.int64),
        offers=np.full((n, batch.horizon), np.nan),
        standing=np.full((n, batch.horizon), np.nan),
    )
    edges = np.linspace(0, n, num_threads + 1).astype(int).tolist()

    def run(start: int, stop: int) -> None:
        part = SimulatedOutcomes._make(column[start:stop] for column in out)
        chunk = batch.slice(start, stop)
        simulate_episodes(chunk.episodes, batch.params, policy, settings, batch.is_final_answered, part)

    if num_threads == 1:
        run(0, n)
    else:
        with ThreadPoolExecutor(num_threads) as pool:
            list(pool.map(run, edges[:-1], edges[1:]))
    return out
