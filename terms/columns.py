"""Episodes as columns: one array per quantity, so that a metric is one line of arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from terms.game import EpisodeRecord
from terms.kernel import STANCES
from terms.types import Belief, Decision, PrivateType, ReplyFault, Termination, ViolationKind

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Columns:
    """Scored episodes (provider failures left out); every array has shape (episodes,)."""

    episodes: tuple[EpisodeRecord, ...]
    num_excluded: int

    @classmethod
    def of(cls, episodes: Sequence[EpisodeRecord]) -> Columns:
        """Split off the trials that the provider, not the agent, ended."""
        scored = tuple(episode for episode in episodes if not episode.is_excluded)
        return cls(scored, len(episodes) - len(scored))

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """Number of the scenario of each episode."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(e.scenario_id, len(numbers)) for e in self.episodes], dtype=np.intp)

    @cached_property
    def ones(self) -> Floats:
        """A denominator that counts every episode."""
        return np.ones(len(self.episodes))

    @cached_property
    def utility(self) -> Floats:
        """Agent's gain, 0 without a deal."""
        return np.array([e.utility for e in self.episodes], dtype=float)

    @cached_property
    def feasible(self) -> Floats:
        """1 where some price suited both sides."""
        return np.array([e.is_feasible for e in self.episodes], dtype=float)

    @cached_property
    def infeasible(self) -> Floats:
        """1 where no price did."""
        return 1.0 - self.feasible

    @cached_property
    def agreed(self) -> Floats:
        """1 where a deal was closed."""
        return np.array([e.is_agreement for e in self.episodes], dtype=float)

    @cached_property
    def surplus_share(self) -> Floats:
        """Gain as a share of the zopa on feasible episodes, 0 elsewhere."""
        widths = np.array([e.zopa if e.is_feasible else 1.0 for e in self.episodes], dtype=float)
        shares: Floats = self.utility / widths * self.feasible
        return shares

    @cached_property
    def rounds(self) -> Floats:
        """Rounds in which the agent moved."""
        return np.array([e.rounds_played for e in self.episodes], dtype=float)

    @cached_property
    def opening_anchor(self) -> Floats:
        """Distance of the first own offer from the own reservation, share of R; nan without an offer."""
        return np.array([_opening_anchor(e) for e in self.episodes], dtype=float)

    @cached_property
    def belief_errors(self) -> NDArray[np.float64]:
        """Mean errors over the rounds with a stated belief, shape (episodes, 4); nan where none was stated.

        Columns: ``|r_hat - r_B|/R``, ``|kappa_hat - kappa_B|``, Brier score of the stance, share of rounds whose most
        likely stance was the true one.
        """
        table = np.full((len(self.episodes), 4), np.nan)
        for row, episode in enumerate(self.episodes):
            beliefs = [turn.belief for turn in episode.turns if turn.belief is not None]
            if beliefs:
                table[row] = mean_of_stated([belief_error(belief, episode) for belief in beliefs])
        return table

    def terminated(self, *kinds: Termination) -> Floats:
        """1 where the episode ended in one of ``kinds``."""
        return np.array([e.termination in kinds for e in self.episodes], dtype=float)

    def violated(self, *kinds: ViolationKind) -> Floats:
        """1 where at least one breach of ``kinds`` happened."""
        return np.array([any(v.kind in kinds for v in e.violations) for e in self.episodes], dtype=float)

    def faulted(self, fault: ReplyFault) -> Floats:
        """1 where a reply of this fault ended the episode."""
        return np.array([e.fault is fault for e in self.episodes], dtype=float)

    def in_families(self, *families: str) -> Floats:
        """1 where the counterpart belonged to one of ``families``."""
        return np.array([e.family in families for e in self.episodes], dtype=float)


def belief_error(belief: Belief, episode: EpisodeRecord) -> tuple[float, float, float, float]:
    """Return the four errors of one stated belief; nan for a part that was not stated."""
    true: PrivateType = episode.counterpart_type
    width = episode.price_max - episode.price_min
    r_error = np.nan if belief.r_hat is None else abs(belief.r_hat - true.reservation_price) / width
    kappa_error = np.nan if belief.kappa_hat is None else abs(belief.kappa_hat - true.urgency)
    if belief.stance_probs is None:
        return r_error, kappa_error, np.nan, np.nan
    index = STANCES.index(true.stance)
    probs = belief.stance_probs
    brier = sum((prob - (position == index)) ** 2 for position, prob in enumerate(probs))
    is_right = probs[index] == max(probs) and probs.count(max(probs)) == 1
    return r_error, kappa_error, brier, float(is_right)


def mean_of_stated(rows: Sequence[tuple[float, ...]]) -> Floats:
    """Average each column over the rows in which it is stated; nan where none is."""
    table = np.asarray(rows, dtype=float)
    stated = ~np.isnan(table)
    counts = stated.sum(axis=0)
    totals = np.where(stated, table, 0.0).sum(axis=0)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def _opening_anchor(episode: EpisodeRecord) -> float:
    for turn in episode.turns:
        if turn.decision is Decision.OFFER and turn.price is not None:
            gap = episode.sign * (episode.agent_type.reservation_price - turn.price)
            return gap / (episode.price_max - episode.price_min)
    return float("nan")
