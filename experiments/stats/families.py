"""One family of tests: which of many differences are sure together, and with which interval beside each.

Holm's step-down procedure (1979) keeps the chance of calling any true tie different at 5 % or less over the whole
family. Each verdict is decided at a level of its own, ``0.05 / (tests still open)``, and the interval at that level is
reported with it: it leaves 0 out exactly where the verdict is ``different`` (Ludbrook 2000, Clinical and Experimental
Pharmacology and Physiology 27, 212-215). With a margin, equivalence is tested too, by two one-sided tests on the same
interval (Schuirmann 1987): ``equivalent`` is an interval inside the margin, at a level that Holm's procedure over the
family's equivalence tests allows and that is no easier than that of its test of difference.

Two agents share a letter exactly if their own test does not tell them apart. Letters are built by inserting one
different pair after the other and absorbing what another letter already says (Piepho 2004, Journal of Computational and
Graphical Statistics 13, 456-466). An agent may have several letters, because not being told apart is not transitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from terms.aliases import Floats
from terms.intervals import Spread, mean_bounds, mean_p, share_bounds
from terms.sample_sizes import SIGNIFICANCE


class PairVerdict(StrEnum):
    """What a comparison of two agents says; the words are the same in the terminal, in JSON and in the report."""

    DIFFERENT = "different"
    EQUIVALENT = "equivalent"
    NOT_TOLD_APART = "not told apart"
    TOO_FEW = "not enough to say"


class AlikeBlocks(NamedTuple):
    """Differences of shares, between -1 and 1, of which all but ``apart`` of ``n`` are ``mode``.

    Their spread says nothing, but with ``q`` the probability of another value the mean lies between
    ``mode - q (1 + mode)`` and ``mode + q (1 - mode)``; Clopper and Pearson (1934) bound ``q`` exactly from above.
    """

    mode: float
    apart: int
    n: int

    @classmethod
    def of(cls, differences: Floats) -> AlikeBlocks:
        """Return the most common difference and how many others there are."""
        values, counts = np.unique(np.round(differences, 12), return_counts=True)
        return cls(float(values[counts.argmax()]), len(differences) - int(counts.max()), len(differences))

    def bounds(self, level: float) -> tuple[float, float]:
        """Return the interval of the mean; at least ``level`` of such intervals hold it."""
        q = share_bounds(self.apart / self.n, self.n, level)[1]
        return self.mode - q * (1 + self.mode), self.mode + q * (1 - self.mode)

    def p(self, mean: float = 0.0) -> float:
        """Return the two-sided p-value of a true ``mean``: twice the chance of so few other values."""
        from scipy.special import bdtr

        room = 1 + self.mode if mean < self.mode else 1 - self.mode
        least = min(1.0, abs(self.mode - mean) / room) if room > 0 else 1.0
        return min(1.0, 2 * float(bdtr(self.apart, self.n, least))) if mean != self.mode else 1.0


class Measured(NamedTuple):
    """A difference before its family is known; ``estimate`` is that of ``n`` blocks.

    ``alike`` stands for ``spread`` where that says too little and the outcomes are shares.
    """

    estimate: float
    spread: Spread
    n: int
    alike: AlikeBlocks | None = None

    @property
    def p(self) -> float | None:
        """The two-sided p-value of no difference; ``None`` where the blocks say too little."""
        if self.alike is not None:
            return self.alike.p()
        return _known(float(mean_p(self.estimate, self.spread)))

    def bounds(self, level: float) -> tuple[float | None, float | None]:
        """Return the interval at confidence ``level``."""
        if self.alike is not None:
            return self.alike.bounds(level)
        low, high = mean_bounds(self.estimate, self.spread, level)
        return _known(float(low)), _known(float(high))

    def p_outside(self, margin: float) -> float | None:
        """Return the p-value of a true difference of ``margin`` or more: twice the larger one-sided one."""
        if abs(self.estimate) >= margin:
            return None if self.p is None else 1.0
        if self.alike is not None:
            return max(self.alike.p(side * margin) for side in (-1, 1))
        sides = [float(mean_p(self.estimate + side * margin, self.spread)) for side in (-1, 1)]
        return _known(max(sides))


class Ruling(NamedTuple):
    """What the family says of one difference: ``low`` and ``high`` are its interval at confidence ``level``."""

    p_holm: float | None
    level: float
    low: float | None
    high: float | None
    p_equivalent: float | None
    verdict: PairVerdict


def rule_on(family: Sequence[Measured], margins: Sequence[float | None]) -> list[Ruling]:
    """Return the verdict on each member of a family of tests, with the interval it was decided on.

    Parameters
    ----------
    margins
        For each member the difference that counts as none, ``None`` where equivalence is not asked.

    Raises
    ------
    ValueError
        If a margin is not positive.
    """
    for margin in margins:
        if margin is not None and not (np.isfinite(margin) and margin > 0):
            raise ValueError(f"margin={margin}; it must be a positive number")
    p_values = [each.p for each in family]
    outside = [None if m is None else each.p_outside(m) for each, m in zip(family, margins, strict=True)]
    steps, equivalence_steps = holm_levels(p_values), holm_levels(outside)
    adjusted, adjusted_outside = holm(p_values), holm(outside)
    found = []
    for place, each in enumerate(family):
        p, step = p_values[place], steps[place]
        if p is None:
            found.append(Ruling(None, 1 - step, None, None, None, PairVerdict.TOO_FEW))
            continue
        verdict = PairVerdict.DIFFERENT if p < step else PairVerdict.NOT_TOLD_APART
        q = outside[place]
        if q is not None and verdict is PairVerdict.NOT_TOLD_APART:
            step = min(step, equivalence_steps[place])
            verdict = PairVerdict.EQUIVALENT if q < step else verdict
        low, high = each.bounds(1 - step)
        found.append(Ruling(adjusted[place], 1 - step, low, high, adjusted_outside[place], verdict))
    return found


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's step-down adjusted p-values (Holm 1979); an undefined one stays undefined and does not count."""
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, index) in enumerate(order):
        running = max(running, min(1.0, p * (len(order) - rank)))
        adjusted[index] = running
    return adjusted


def holm_levels(p_values: Sequence[float | None]) -> list[float]:
    """Return the significance level at which Holm's procedure decides each test.

    Those it rejects were decided one after the other at ``0.05 / (tests still open)``; at the first that it does not
    reject it stops, and all the rest are decided at the level of that step.
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    levels = [SIGNIFICANCE] * len(p_values)
    stopped: float | None = None
    for rank, (p, index) in enumerate(order):
        step = SIGNIFICANCE / (len(order) - rank)
        if stopped is None and not p < step:
            stopped = step
        levels[index] = step if stopped is None else stopped
    return levels


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letter_groups(ranked: Sequence[str], differ: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return the agents of each letter, in the order of ``ranked``; ``differ`` are the pairs told apart."""
    groups = [frozenset(ranked)] if ranked else []
    for first, second in differ:
        parted = [group - {name} for group in groups if {first, second} <= group for name in (first, second)]
        kept = [group for group in groups if not {first, second} <= group]
        for group in parted:
            if not any(group <= other for other in kept):
                kept = [other for other in kept if not other <= group] + [group]
        groups = kept
    places = {name: place for place, name in enumerate(ranked)}
    members = [tuple(sorted(group, key=places.__getitem__)) for group in groups]
    return tuple(sorted(members, key=lambda group: [places[name] for name in group]))


def letters_of(groups: Sequence[Sequence[str]]) -> Mapping[str, str]:
    """Return the letters of each agent, ``a`` for the first group; after ``z`` comes ``a1``."""
    found: dict[str, list[str]] = {}
    for place, group in enumerate(groups):
        turn, letter = divmod(place, len(_ALPHABET))
        for name in group:
            found.setdefault(name, []).append(_ALPHABET[letter] + (str(turn) if turn else ""))
    return {name: " ".join(letters) for name, letters in found.items()}
