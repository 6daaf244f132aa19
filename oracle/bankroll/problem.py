r"""The stage menu and the chain of a bankroll session: the data of the ruin-aware dynamic program.

In period ``t`` the agent holds cash ``C`` and knows its supplier as belief class ``m``. It picks a plan ``a``; the
meeting changes cash by ``X`` (profit less the operating costs) and leaves the supplier in class ``l``, both drawn from
``p_a(x, l | m)``. The next supplier is of class ``m'`` with probability ``M_t(l, m')``.

Cash is kept on a lattice of whole cents. An amount between two nodes is split between them so that its mean stays
exact; a lattice of one cent splits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oracle.kernels.cash import Atoms
from terms.aliases import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class StageLaw:
    """Joint law of a meeting: ``change`` in lattice steps, ``posted`` class afterwards, ``prob``; all (atoms,)."""

    change: Ints
    posted: Ints
    prob: Floats


def stage_law(
    net_cents: Sequence[int] | Ints, *, step: int, posted: Sequence[int] | Ints | int = 0, weights: Floats | None = None
) -> StageLaw:
    """Return the law of sampled or listed outcomes on a lattice of ``step`` cents.

    Parameters
    ----------
    net_cents
        Change of cash of each outcome (n,), whole cents.
    posted
        Class of the supplier after each outcome.
    weights
        Probability of each outcome; equal if left out.

    Raises
    ------
    ValueError
        If there is no outcome, or the weights are no probabilities.
    """
    net = np.asarray(net_cents, dtype=np.int64)
    if net.ndim != 1 or len(net) == 0:
        raise ValueError(f"net_cents has shape {net.shape}; at least one outcome is needed")
    share = np.full(len(net), 1 / len(net)) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != net.shape or (share < 0).any() or not np.isclose(share.sum(), 1.0, atol=1e-9):
        raise ValueError(f"weights of shape {share.shape} sum to {share.sum()}; one probability an outcome is needed")
    classes = np.broadcast_to(np.asarray(posted, dtype=np.int64), net.shape)
    low, rest = np.divmod(net, step)
    changes = np.concatenate([low, low + 1])
    probs = np.concatenate([share * (1 - rest / step), share * (rest / step)])
    pairs, index = np.unique(np.stack([np.tile(classes, 2), changes]), axis=1, return_inverse=True)
    total = np.bincount(index.ravel(), probs).astype(np.float64)
    kept = total > 0
    return StageLaw(pairs[1][kept], pairs[0][kept], total[kept])


@dataclass(frozen=True, eq=False)
class RuinProblem:
    """A session for the dynamic program.

    Attributes
    ----------
    plans, classes
        Names.
    laws
        By (class, plan) numbers; a pair left out is a plan that is not to be had in that class.
    first
        Law of the first supplier's class (classes,).
    follow
        Law of the next supplier's class by the class this meeting left (T - 1, classes, classes).
    start_cents, threshold_cents, step_cents
        Cash at first, ruin below which, and the lattice, which starts at the threshold.
    """

    plans: tuple[str, ...]
    classes: tuple[str, ...]
    laws: Mapping[tuple[int, int], StageLaw]
    first: Floats
    follow: Floats
    start_cents: int = 10_000
    threshold_cents: int = 0
    step_cents: int = 50

    def __post_init__(self) -> None:
        m = len(self.classes)
        if self.step_cents < 1:
            raise ValueError(f"step_cents={self.step_cents}; at least one cent is needed")
        if self.start_cents < self.threshold_cents:
            raise ValueError(f"start_cents={self.start_cents} lies below threshold_cents={self.threshold_cents}")
        if self.follow.ndim != 3 or self.follow.shape[1:] != (m, m) or self.first.shape != (m,):
            raise ValueError(f"first {self.first.shape} and follow {self.follow.shape} do not fit {m} classes")
        _check_law("first", self.first[None])
        _check_law("follow", self.follow.reshape(-1, m))
        for name in range(m):
            if not any(key[0] == name for key in self.laws):
                raise ValueError(f"laws has no plan for class {self.classes[name]!r}")
        for (_, plan), law in self.laws.items():
            if law.posted.min() < 0 or law.posted.max() >= m:
                raise ValueError(f"plan {self.plans[plan]!r} leaves a supplier in a class beyond the {m} there are")
            _check_law(f"laws of {self.plans[plan]!r}", law.prob[None])

    @property
    def horizon(self) -> int:
        """Number of periods T."""
        return len(self.follow) + 1

    @property
    def start_node(self) -> int:
        """Lattice node at or below the starting cash."""
        return (self.start_cents - self.threshold_cents) // self.step_cents

    @cached_property
    def atoms(self) -> Atoms:
        """All laws, flat, for the compiled recursion."""
        pairs = [(m, plan) for m in range(len(self.classes)) for plan in range(len(self.plans))]
        found = [self.laws.get(pair) for pair in pairs]
        sizes = [0 if law is None else len(law.prob) for law in found]
        parts = [law for law in found if law is not None]
        return Atoms(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([law.change for law in parts]).astype(np.int64),
            np.concatenate([law.posted for law in parts]).astype(np.int64),
            np.concatenate([law.prob for law in parts]),
        )

    @cached_property
    def transitions(self) -> Floats:
        """``follow`` with a last matrix for after the end, where classes no longer matter (T, classes, classes)."""
        return np.concatenate([self.follow, np.eye(len(self.classes))[None]])


def _check_law(name: str, rows: Floats) -> None:
    if (rows < 0).any() or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-9):
        raise ValueError(f"{name} must hold probabilities that sum to 1; sums are {rows.sum(axis=1)[:5]}")
