"""Episodes as columns: one array per quantity, so that a metric is one line of arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from terms.aliases import Floats
from terms.kernel import STANCES
from terms.payoffs import utility
from terms.records import EpisodeRecord
from terms.types import Belief, Decision, PrivateType, ReplyFault, Termination, ViolationKind


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
    def belief_grids(self) -> dict[str, Floats]:
        """Each belief error by round and episode, shape (horizon, episodes); nan where it was not stated."""
        shape = (max((episode.horizon for episode in self.episodes), default=0), len(self.episodes))
        grids = {part: np.full(shape, np.nan) for part in BELIEF_PARTS}
        for column, episode in enumerate(self.episodes):
            for turn in episode.turns:
                if turn.belief is not None:
                    for part, error in belief_errors(turn.belief, episode).items():
                        grids[part][turn.round - 1, column] = error
        return grids

    def belief_sums(self, part: str) -> tuple[Floats, Floats]:
        """Return the sum of a belief error over the rounds of an episode that stated it, and how many those were.

        Published values pool rounds, so a long talk weighs more than a short one.
        """
        grid = self.belief_grids[part]
        stated = ~np.isnan(grid)
        return np.where(stated, grid, 0.0).sum(axis=0), stated.sum(axis=0).astype(float)

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


#: Parts of a stated belief that can be wrong; ``be_type`` is the mean of the first three.
BELIEF_PARTS = ("be_r", "be_kappa", "brier_eta", "stance_acc", "be_type")


def belief_errors(belief: Belief, episode: EpisodeRecord) -> dict[str, float]:
    """Return the errors of one stated belief; a part that was not stated is not there.

    ``be_r = |r_hat - r_B|/R``, ``be_kappa = |kappa_hat - kappa_B|``, ``brier_eta`` the Brier score of the stance,
    ``stance_acc`` 1 if the true stance was the one most likely, ``be_type`` the mean of the first three.
    """
    true: PrivateType = episode.counterpart_type
    errors: dict[str, float] = {}
    if belief.r_hat is not None:
        errors["be_r"] = abs(belief.r_hat - true.reservation_price) / episode.price_range
    if belief.kappa_hat is not None:
        errors["be_kappa"] = abs(belief.kappa_hat - true.urgency)
    if belief.stance_probs is not None:
        index, probs = STANCES.index(true.stance), belief.stance_probs
        errors["brier_eta"] = sum((prob - (position == index)) ** 2 for position, prob in enumerate(probs))
        errors["stance_acc"] = float(probs[index] == max(probs) and probs.count(max(probs)) == 1)
    if errors.keys() >= {"be_r", "be_kappa", "brier_eta"}:
        errors["be_type"] = (errors["be_r"] + errors["be_kappa"] + errors["brier_eta"]) / 3
    return errors


def anchor_share(episode: EpisodeRecord, price: float) -> float:
    """Return the distance of ``price`` from the agent's reservation as a share of R; negative past it."""
    return utility(price, episode.agent_type.reservation_price, episode.sign) / episode.price_range


def _opening_anchor(episode: EpisodeRecord) -> float:
    for turn in episode.turns:
        if turn.decision is Decision.OFFER and turn.price is not None:
            return anchor_share(episode, turn.price)
    return float("nan")
