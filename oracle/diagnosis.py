"""Which part of an agent to mend: a stated rule over a decomposition.

A part is *found* when its 95 % interval lies above zero and its mean is at least :data:`THRESHOLD` of what the
clairvoyant earns. The diagnosis names the largest part found; none if nothing is found or if the agent earns within the
same threshold of the Bayes optimum, whatever it would do with more information. On agents with one planted fault the
rule names the fault in at least 95 % of batches of :data:`DOCUMENTED_EPISODES` feasible episodes, four in each family
(measured by the slow tests).
"""

from __future__ import annotations

from typing import NamedTuple

from oracle.arms import Arms
from oracle.gaps import OVERALL, Decomposition
from oracle.parts import Part

THRESHOLD = 0.05
DOCUMENTED_EPISODES = 24
PART_OF_FAULT = {
    "execution": Part.EXECUTION,
    "inference": Part.INFERENCE,
    "uncertainty": Part.UNCERTAINTY_OWN,
    "control": Part.CONTROL_RESIDUAL,
}


class Diagnosis(NamedTuple):
    """``fault`` is a key of :data:`PART_OF_FAULT` or ``none``; ``shares`` are the parts over the clairvoyant's utility.

    Shares are ``None`` where the clairvoyant earns nothing, as in infeasible episodes; ``found`` is largest first.
    """

    fault: str
    shares: dict[str, float | None]
    found: tuple[str, ...]
    n: int


def diagnose(
    report: Decomposition[Arms], *, threshold: float = THRESHOLD, kind: str = OVERALL[0], label: str = OVERALL[1]
) -> Diagnosis:
    """Name the part of the agent that loses most, in one slice of its decomposition."""
    if not threshold >= 0:
        raise ValueError(f"threshold={threshold}; it must not be negative")
    rows = {fault: report.row(part, kind, label) for fault, part in PART_OF_FAULT.items()}
    # Against the clairvoyant whatever the report's reference: the two targets differ by the unavoidable part.
    known = report.row(Part.REFERENCE, kind, label).estimate or 0.0
    unavoidable = report.row(Part.UNCERTAINTY_UNAVOIDABLE, kind, label).estimate or 0.0
    target = known + unavoidable if report.reference == "oracle" else known
    bayes_gap = target - unavoidable - (report.row(Part.PLAYED, kind, label).estimate or 0.0)
    shares = {
        fault: row.estimate / target if row.estimate is not None and target > 0 else None for fault, row in rows.items()
    }
    found = [
        fault
        for fault, row in rows.items()
        if row.low is not None
        and row.low > 0
        and (shares[fault] or 0.0) >= threshold
        and bayes_gap >= threshold * target
    ]
    found.sort(key=lambda fault: -(shares[fault] or 0.0))
    return Diagnosis(found[0] if found else "none", shares, tuple(found), rows["execution"].n)
