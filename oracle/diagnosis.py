r"""Which part of an agent to mend, how sure that is, and what a sample of this size would have shown.

The advice rests on three losses of each episode, as shares of what the clairvoyant earns: *execution*, what unusable
replies and slips cost; *inference*, what the reference loses that plays on the agent's beliefs; *control*, what the
agent loses that is shown the exact posterior. Where moves were valued these are the luck-free losses of
:mod:`oracle.losses`, elsewhere differences of utilities. What is lost for want of the type alone no agent can mend, so
uncertainty is never named.

A loss is *found* when its mean is at least :data:`THRESHOLD`, its 95 % interval lies above zero, and the agent as it
plays loses as much in all. A fault of execution is a fact once seen: it is found from :data:`LEAST_EXECUTION` on,
whatever its interval. The largest loss found is named; beliefs can cost no more than the agent loses in all.

How sure that is, is told by resampling the scenarios: the share of samples in which the same name comes out. If nothing
is found, a steady fault, whose losses vary over episodes by :data:`STEADY_SPREAD` times their mean, would have been
named in four samples of five had it cost :math:`\delta = \theta / (1 - z_{0.8} v / \sqrt n)`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.arms import FEW_LOSSES, FEW_PARTS, Arms
from oracle.gaps import OVERALL, Decomposition
from oracle.parts import Part
from terms.aliases import Floats
from terms.estimates import Estimate, cluster_sums, estimate_means
from terms.intervals import FEW, normal_quantile

THRESHOLD = 0.03
LEAST_EXECUTION = 0.01
STEADY_SPREAD = 1.3
"""Standard deviation over mean of an episode's loss: 0.4 to 1.3 for steady faults (``tests.bench.planted_faults``)."""
DOCUMENTED_EPISODES = 24
MENDABLE = (Part.EXECUTION, Part.CONTROL, Part.INFERENCE)
"""What can be named; of equal losses the first."""
NUM_SAMPLES = 1000
_POWER = 0.80


class Evidence(NamedTuple):
    """What the advice rests on, shape (episodes,): the losses of :data:`MENDABLE`, all losses, and the clairvoyant's.

    ``clusters`` numbers the scenario of each episode; intervals are told from ``few`` scenarios on.
    """

    execution: Floats
    control: Floats
    inference: Floats
    total: Floats
    ceiling: Floats
    clusters: NDArray[np.intp]
    few: int = FEW_LOSSES

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Evidence:
        """Return the evidence of some of the episodes."""
        losses = (self.execution[chosen], self.control[chosen], self.inference[chosen], self.total[chosen])
        return Evidence(*losses, self.ceiling[chosen], self.clusters[chosen], self.few)


class Diagnosis(NamedTuple):
    """``fault`` is one of :data:`MENDABLE` or ``none``; ``shares`` are losses over the clairvoyant's utility.

    ``bounds`` are their 95 % intervals, ``None`` from too few scenarios. Shares are ``None`` where the clairvoyant
    earns nothing, as in infeasible episodes; ``found`` is largest first. ``sureness`` is the share of resamples with
    the same name, ``detectable`` the least share at which a steady fault would have been named in four samples of five;
    ``None`` is unknown.
    """

    fault: str
    shares: dict[str, float | None]
    bounds: dict[str, tuple[float | None, float | None]]
    found: tuple[str, ...]
    sureness: float | None
    detectable: float | None
    n: int

    def in_words(self) -> str:
        """Return how sure the advice is, in a sentence."""
        if self.fault == "none":
            if self.detectable is None:
                return f"{self.n} scenarios are too few to find anything"
            rare = 1 - 0.05 ** (1 / self.n)
            return (
                f"with {self.n} scenarios a steady fault that costs {self.detectable:.1%} of what the clairvoyant "
                f"earns would be named four times in five, and one that strikes in {rare:.0%} of talks be seen 19 "
                "times in 20"
            )
        share, (low, high) = self.shares[self.fault], self.bounds[self.fault]
        interval = "" if low is None or high is None else f" [{low:.1%}, {high:.1%}]"
        sure = "" if self.sureness is None else f"; {self.sureness:.0%} of resamples say the same"
        return f"{self.fault} costs {share:.1%}{interval} of what the clairvoyant earns, n = {self.n} scenarios{sure}"


def diagnose(report: Decomposition[Arms], *, kind: str = OVERALL[0], label: str = OVERALL[1]) -> Diagnosis:
    """Name the part of the agent that loses most, in one slice of its decomposition.

    Raises
    ------
    ValueError
        If there is no such slice.
    """
    report.row(Part.GAP, kind, label)
    (chosen,) = (mask for name, each, mask in report.arms.slices() if (name, each) == (kind, label))
    return name_fault(evidence_of(report.arms).take(chosen))


def evidence_of(arms: Arms) -> Evidence:
    """Return what the advice rests on, episode by episode, in price units."""
    replies, clusters = arms.base - arms.played, arms.clusters
    if arms.losses is None:
        total = arms.oracle - arms.played
        control, inference = arms.oracle - arms.posterior, arms.posterior - arms.base
        return Evidence(replies, control, inference, total, arms.clairvoyant, clusters, FEW_PARTS)
    width = np.array([item.price_range for item in arms.scenarios])
    slips, belief, planning, total = (column * width for column in arms.losses[:4])
    return Evidence(replies + slips, planning, belief, replies + total, arms.clairvoyant, clusters)


def name_fault(evidence: Evidence, *, num_samples: int = NUM_SAMPLES) -> Diagnosis:
    """Apply the rule of the module; ``num_samples`` resamples say how sure it is, none with 0."""
    losses = np.stack(evidence[:5], axis=1)
    n = len(np.unique(evidence.clusters))
    means, ceiling = losses.mean(axis=0), float(evidence.ceiling.mean())
    estimates = dict(zip(MENDABLE, estimate_means(losses[:, : len(MENDABLE)], evidence.clusters), strict=True))
    if not ceiling > 0:
        nothing: dict[str, float | None] = dict.fromkeys(MENDABLE)
        return Diagnosis("none", nothing, dict.fromkeys(MENDABLE, (None, None)), (), None, None, n)
    _, found = _rule(means[None, :])
    is_clear = [_is_clear(part, estimates[part]) for part in MENDABLE]
    order = [MENDABLE[i] for i in np.argsort(-found[0], kind="stable") if found[0, i] > 0 and is_clear[i]]
    fault = order[0] if order else "none"
    sums = np.stack([cluster_sums(column, evidence.clusters) for column in losses.T], axis=1)
    return Diagnosis(
        fault,
        {part: each.estimate / ceiling if each.estimate is not None else None for part, each in estimates.items()},
        {part: _over(each, ceiling) if n >= evidence.few else (None, None) for part, each in estimates.items()},
        tuple(order),
        _sureness(sums, fault, num_samples) if num_samples and n >= FEW else None,
        detectable_share(n),
        n,
    )


def _rule(means: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return which of :data:`MENDABLE` each row of means (rows, 5) names, -1 for none, and the shares found."""
    execution, control, inference, total, ceiling = means.T
    inference = np.minimum(inference, total)
    shares = np.stack([execution, control, inference], axis=1) / ceiling[:, None]
    least = np.array([LEAST_EXECUTION, THRESHOLD, THRESHOLD])
    is_found = (shares >= least) & (total >= least[0] * ceiling)[:, None]
    is_found[:, 1:] &= (total >= THRESHOLD * ceiling)[:, None]
    found: Floats = np.where(is_found, shares, 0.0)
    return np.where(is_found.any(axis=1), found.argmax(axis=1), -1), found


def _is_clear(part: str, found: Estimate) -> bool:
    return part == Part.EXECUTION or (found.low is not None and found.low > 0)


def _over(found: Estimate, ceiling: float) -> tuple[float | None, float | None]:
    return (None, None) if found.low is None or found.high is None else (found.low / ceiling, found.high / ceiling)


def _sureness(sums: Floats, fault: str, num_samples: int) -> float:
    """Return the share of resamples of the scenarios, whose losses are ``sums``, that name ``fault``."""
    rng = np.random.default_rng(len(sums))
    counts = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=num_samples)
    means = counts @ sums
    means = means[means[:, -1] > 0]
    named, _ = _rule(means)
    wanted = -1 if fault == "none" else MENDABLE.index(Part(fault))
    return float((named == wanted).mean()) if len(named) else 0.0


def detectable_share(n: int) -> float | None:
    """Return the least share of the clairvoyant's utility at which a steady fault is named four times in five.

    ``None`` where ``n`` scenarios are too few for any: its interval would not lie above zero.
    """
    error = STEADY_SPREAD / math.sqrt(n) if n else math.inf
    if (normal_quantile(0.975) + normal_quantile(_POWER)) * error >= 1:
        return None
    return THRESHOLD / (1 - normal_quantile(_POWER) * error)
