r"""Backward induction over (period, class, cash) with hard ruin, and the law of cash under a policy.

Cash lies on a lattice: node ``i`` is ``tau + i step``. An atom of a stage's law moves cash by a whole number of steps
and leaves the supplier in a class. Below node 0 the session is over and cash stays as it is; from the last node on no
plan can lead to ruin any more, so there ``V_t(C, m) = C + R_t(m)`` exactly, with ``R`` the risk-neutral value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracle.kernels.compiling import inline, kernel
from terms.aliases import Floats, Ints

_TIE = 1e-9


class Atoms(NamedTuple):
    """Laws of every (class, plan), one after the other.

    Those of pair ``q = class * plans + plan`` lie in ``start[q] : start[q + 1]``; an empty range is a plan that is not
    to be had.
    """

    start: Ints
    change: Ints
    posted: Ints
    prob: Floats


class Lattice(NamedTuple):
    """``threshold`` and ``step`` in cents; ``below`` and ``above`` are the largest loss and gain in steps."""

    threshold: float
    step: float
    below: int
    above: int


@inline
def _look_ahead(nodes: Floats, tops: Floats, follow: Floats, lattice: Lattice, out: Floats) -> None:
    """Write what cash is worth after a meeting, (classes, below + nodes + above); ``nodes`` (classes, nodes)."""
    classes, size = nodes.shape
    for posted in range(classes):
        for j in range(out.shape[1]):
            i = j - lattice.below
            cash = lattice.threshold + i * lattice.step
            worth = cash
            if i >= 0:
                worth = 0.0
                for m in range(classes):
                    worth += follow[posted, m] * (nodes[m, i] if i < size else cash + tops[m])
            out[posted, j] = worth


@inline
def _expect(atoms: Atoms, span: tuple[int, int], ahead: Floats, below: int, out: Floats) -> None:
    """Write the expectation of ``ahead`` at every node; two atoms a pass, on slices, so that the loop is vectorised."""
    out[:] = 0.0
    size, atom = len(out), span[0]
    while atom < span[1]:
        shift = below + atoms.change[atom]
        first, weight = ahead[atoms.posted[atom], shift : shift + size], atoms.prob[atom]
        if atom + 1 < span[1]:
            shift = below + atoms.change[atom + 1]
            second, other = ahead[atoms.posted[atom + 1], shift : shift + size], atoms.prob[atom + 1]
            for i in range(size):
                out[i] += weight * first[i] + other * second[i]
        else:
            for i in range(size):
                out[i] += weight * first[i]
        atom += 2


@kernel
def optimise(atoms: Atoms, follow: Floats, lattice: Lattice, tops: Floats, top_plans: Ints, values: Floats, policy: Ints) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Fill ``values`` (T, classes, nodes) of ``values[T]``, which is given, and ``policy``; ties go to the first plan.

    ``follow`` is (T, classes after, next class), ``tops`` (T + 1, classes), ``top_plans`` (T, classes).
    """
    horizon, classes, size = policy.shape
    plans = (len(atoms.start) - 1) // classes
    ahead = np.empty((classes, lattice.below + size + lattice.above))
    row = np.empty(size)
    for t in range(horizon - 1, -1, -1):
        _look_ahead(values[t + 1], tops[t + 1], follow[t], lattice, ahead)
        exposed = min(size, lattice.below * (horizon - t))
        for m in range(classes):
            best, chosen = values[t, m], policy[t, m]
            best[:] = -np.inf
            for plan in range(plans):
                first, last = atoms.start[m * plans + plan], atoms.start[m * plans + plan + 1]
                if first == last:
                    continue
                _expect(atoms, (first, last), ahead, lattice.below, row[:exposed])
                for i in range(exposed):
                    if row[i] > best[i] + _TIE:
                        best[i], chosen[i] = row[i], plan
            for i in range(exposed, size):
                best[i], chosen[i] = lattice.threshold + i * lattice.step + tops[t, m], top_plans[t, m]


@kernel
def evaluate(atoms: Atoms, follow: Floats, lattice: Lattice, tops: Floats, policy: Ints, values: Floats, survival: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Fill ``values`` and ``survival`` (T, classes, nodes) of a policy; both are given at index T."""
    horizon, classes, size = policy.shape
    plans = (len(atoms.start) - 1) // classes
    shape = (classes, lattice.below + size + lattice.above)
    ahead, alive = np.empty(shape), np.empty(shape)
    for t in range(horizon - 1, -1, -1):
        _look_ahead(values[t + 1], tops[t + 1], follow[t], lattice, ahead)
        _survive_ahead(survival[t + 1], follow[t], lattice.below, alive)
        for m in range(classes):
            for i in range(size):
                pair = m * plans + policy[t, m, i]
                worth, lives = 0.0, 0.0
                for atom in range(atoms.start[pair], atoms.start[pair + 1]):
                    j, posted = i + lattice.below + atoms.change[atom], atoms.posted[atom]
                    worth += atoms.prob[atom] * ahead[posted, j]
                    lives += atoms.prob[atom] * alive[posted, j]
                values[t, m, i], survival[t, m, i] = worth, lives


@inline
def _survive_ahead(nodes: Floats, follow: Floats, below: int, out: Floats) -> None:
    classes, size = nodes.shape
    for posted in range(classes):
        for j in range(out.shape[1]):
            out[posted, j] = 0.0 if j < below else 1.0
            if below <= j < below + size:
                out[posted, j] = 0.0
                for m in range(classes):
                    out[posted, j] += follow[posted, m] * nodes[m, j - below]


@kernel
def spread(atoms: Atoms, follow: Floats, below: int, policy: Ints, top_plans: Ints, law: Floats) -> None:
    """Fill ``law`` (T + 1, classes + 1, below + nodes) of cash after each period from ``law[0]``, which is given.

    The last class holds the ruined, whose cash (the first ``below`` columns) no longer moves.
    """
    horizon, classes, size = policy.shape
    plans = (len(atoms.start) - 1) // classes
    for t in range(horizon):
        now, later = law[t], law[t + 1]
        later[:] = 0.0
        later[classes] = now[classes]
        for m in range(classes):
            for j in range(below, now.shape[1]):
                if now[m, j] == 0.0:
                    continue
                i = j - below
                pair = m * plans + (policy[t, m, i] if i < size else top_plans[t, m])
                for atom in range(atoms.start[pair], atoms.start[pair + 1]):
                    mass, target = now[m, j] * atoms.prob[atom], j + atoms.change[atom]
                    if target < below:
                        later[classes, target] += mass
                        continue
                    for n in range(classes):
                        later[n, target] += mass * follow[t, atoms.posted[atom], n]
