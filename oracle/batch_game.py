"""Many episodes played in step at compiled speed, for learners: N moves in, N answers out.

A :class:`TalkPool` holds episodes as arrays, either the very scenarios of a suite or freshly drawn ones; a
:class:`BatchGame` has N places at which episodes of the pool are played. Played on scenarios it equals the readable
:class:`terms.Game` draw for draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracle.kernels.policies import SimulatedEpisodes
from oracle.kernels.stepping import RUNNING, CueRules, Talks, begin_talks, step_talks
from oracle.simulate import EpisodeArrays, draw_batch, groups_of, to_batch
from terms.aliases import Floats, Ints
from terms.cells import Cell
from terms.config import GameConfig
from terms.cues import COLLAPSED, PRESSURING
from terms.kernel import STANCES
from terms.noise import CueDraw
from terms.scenario import Scenario
from terms.types import Channel, Family, Posture, Sentiment, Stance, Termination
from terms.vectors import VECTOR_SIZE

BATCH_ENDINGS = (
    Termination.AGENT_ACCEPT,
    Termination.COUNTERPART_ACCEPT,
    Termination.AGENT_REJECT,
    Termination.COUNTERPART_WALK,
    Termination.ROUND_LIMIT,
    Termination.INVALID_ACTION,
)
"""How an episode ended, by the number that :attr:`BatchGame.termination` holds; -1 is none yet."""
_SENTIMENTS, _POSTURES = tuple(Sentiment), tuple(Posture)


@dataclass(frozen=True)
class TalkPool:
    """Episodes as arrays, with their cues: ``cue_draws`` (n, K + 1, 2), ``cue_rules`` (groups, columns)."""

    arrays: EpisodeArrays
    cue_draws: Floats
    cue_rules: Floats
    shows_cues: bool

    @property
    def num_episodes(self) -> int:
        """How many episodes the pool holds."""
        return self.arrays.num_episodes


def pool_of(scenarios: Sequence[Scenario]) -> TalkPool:
    """Lay scenarios out as a pool, in their order. They must agree on the horizon and on whether cues are shown."""
    arrays = to_batch(scenarios)
    if len({item.config.show_cues for item in scenarios}) > 1:
        raise ValueError("scenarios mix show_cues true and false; a pool needs one")
    _, firsts = groups_of(scenarios)
    rules = [_cue_rules(item.config, item.family, item.counterpart_type.stance) for item in firsts]
    draws = [
        [_used(item, cue) for cue in (item.noise.opening_cue, *(answer.cue for answer in item.noise.responses))]
        for item in scenarios
    ]
    return TalkPool(arrays, np.array(draws), np.array(rules), scenarios[0].config.show_cues)


def draw_pool(cells: Sequence[Cell], n: int, *, rng: np.random.Generator, config: GameConfig | None = None) -> TalkPool:
    """Draw ``n`` fresh episodes, each of a cell chosen at random: the laws of a fresh suite from one generator."""
    if not cells or n < 1:
        raise ValueError(f"cells={list(cells)}, n={n}; at least one of each is needed")
    settings = config or GameConfig()
    counts = rng.multinomial(n, np.full(len(cells), 1 / len(cells)))
    parts = [
        (list(Family).index(cell.family), draw_batch(cell, int(count), rng=rng, config=settings))
        for cell, count in zip(cells, counts, strict=True)
        if count
    ]
    shift = len(STANCES)
    episodes = [part.episodes._replace(group=part.episodes.group + shift * family) for family, part in parts]
    order = rng.permutation(n)
    joined = SimulatedEpisodes._make(np.concatenate(columns)[order] for columns in zip(*episodes, strict=True))
    any_part = parts[0][1]
    params = np.zeros((shift * len(Family), any_part.params.shape[1]))
    for family, part in parts:
        params[shift * family : shift * (family + 1)] = part.params
    draws = rng.random((n, settings.horizon + 1, 2))
    draws[:, :, 1] = rng.standard_normal((n, settings.horizon + 1))
    rules = [_cue_rules(settings, family, stance) for family in Family for stance in STANCES]
    return TalkPool(any_part._replace(episodes=joined, params=params), draws, np.array(rules), settings.show_cues)


def _used(scenario: Scenario, cue: CueDraw) -> tuple[float, float]:
    """Return the two random numbers of a cue that the channel of ``scenario`` looks at."""
    is_noisy = scenario.config.families[scenario.family].channel is Channel.NOISY
    return (cue.noisy_posture, cue.noisy_sentiment) if is_noisy else (cue.posture, cue.sentiment)


def _cue_rules(config: GameConfig, family: Family, stance: Stance) -> CueRules:
    channel, cues, place = config.families[family].channel, config.cues, STANCES.index(stance)
    fixed = PRESSURING if channel is Channel.PRESSURING else COLLAPSED
    is_noisy = channel is Channel.NOISY
    return CueRules(
        float(channel not in (Channel.COLLAPSED, Channel.PRESSURING)),
        _SENTIMENTS.index(fixed.sentiment),
        _POSTURES.index(fixed.posture),
        cues.sentiment_mean[place],
        cues.noisy_sd if is_noisy else cues.sentiment_sd,
        cues.sentiment_threshold,
        *cues.posture_bias[place],
        cues.concede_slope,
        cues.concede_reference,
        cues.pressure_slope,
        cues.pressure_reference,
        cues.noisy_temperature if is_noisy else 1.0,
    )


class BatchGame:
    """``n`` places, each with a running or ended episode.

    Attributes
    ----------
    seen
        What the agents see, (n, VECTOR_SIZE) of single precision, overwritten by every step (see
        :mod:`terms.vectors`).
    """

    def __init__(self, pool: TalkPool, n: int) -> None:
        if n < 1:
            raise ValueError(f"n={n}; it must be at least 1")
        arrays, horizon = pool.arrays, pool.arrays.horizon
        self.pool = pool
        self.seen = np.zeros((n, VECTOR_SIZE), dtype=np.float32)
        self._episodes = SimulatedEpisodes._make(
            np.zeros((n, *column.shape[1:]), dtype=column.dtype) for column in arrays.episodes
        )
        self._cue_draws = np.zeros((n, horizon + 1, 2))
        self.talks = Talks(
            round=np.zeros(n, dtype=np.int64),
            termination=np.zeros(n, dtype=np.int64),
            num_offers=np.zeros(n, dtype=np.int64),
            offers=np.full((n, horizon), np.nan),
            quotes=np.full((n, 3), np.nan),
            cues=np.full((n, 2), -1, dtype=np.int64),
            past=np.zeros((n, 3)),
            gain=np.zeros(n),
        )

    @property
    def termination(self) -> Ints:
        """How each episode ended, a place in :data:`BATCH_ENDINGS`; -1 while it runs."""
        return self.talks.termination

    @property
    def running(self) -> np.ndarray:
        """Which episodes run, (n,)."""
        return np.asarray(self.talks.termination == RUNNING)

    @property
    def round(self) -> Ints:
        """Round of each episode."""
        return self.talks.round

    @property
    def utility(self) -> Floats:
        """What each agent earned, in money; 0 until there is a deal."""
        return self.talks.gain

    @property
    def episodes(self) -> SimulatedEpisodes:
        """The episodes at the places, hidden types and draws included."""
        return self._episodes

    @property
    def zopa(self) -> Floats:
        """What there is to divide in each episode; negative where no deal is possible."""
        episodes = self._episodes
        return np.asarray(episodes.sign * (episodes.own - episodes.reservation))

    def begin(self, places: Ints, rows: Ints) -> None:
        """Begin the episodes ``rows`` of the pool at ``places``, whatever was played there."""
        for mine, pooled in zip(self._episodes, self.pool.arrays.episodes, strict=True):
            mine[places] = pooled[rows]
        self._cue_draws[places] = self.pool.cue_draws[rows]
        pool = self.pool
        begin_talks(
            places, self.talks, self._episodes, self._cue_draws, pool.arrays.params, pool.cue_rules, pool.shows_cues,
            self.seen,
        )  # fmt: skip

    def step(self, decision: Ints, price: Floats) -> None:
        """Make one move at every place: ``decision`` is 0 offer, 1 accept, 2 reject; places that ended stay."""
        pool = self.pool
        step_talks(
            decision, price, self.talks, self._episodes, self._cue_draws, pool.arrays.params, pool.cue_rules,
            pool.arrays.is_final_answered, pool.shows_cues, self.seen,
        )  # fmt: skip
