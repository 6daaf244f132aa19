"""What a suite is worth: the clairvoyant's value and what the honest reference earns, by slice, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.clairvoyant import clairvoyant_values
from oracle.interventions import Reference, run_reference
from terms.columns import Columns
from terms.estimates import Estimate, Ratio, estimate_ratios
from terms.scenario import Scenario

Floats = NDArray[np.float64]


class SuiteValue(NamedTuple):
    """One quantity of one slice.

    ``clairvoyant_value`` and ``oracle_utility`` are means in price units over all episodes; ``clairvoyant_share`` and
    ``oracle_share`` the same sums over the sum of the zopa of the feasible ones; ``oracle_se_plus`` the mean of the
    reference's ``utility / zopa`` over them.
    """

    slice: str
    label: str
    quantity: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


def suite_values(
    scenarios: Sequence[Scenario], *, reference: Reference | None = None, num_threads: int = 2
) -> list[SuiteValue]:
    """Return the table of a suite overall and by regime, family, role and opener."""
    if not scenarios:
        raise ValueError("scenarios is empty; there is no value to report")
    values = clairvoyant_values(scenarios, num_threads=num_threads)
    columns = Columns.of(run_reference(scenarios, reference or Reference()))
    width = np.array([max(item.zopa, 0.0) for item in scenarios])
    rows = []
    for kind, label, mask in _slices(scenarios):
        for quantity, ratio in _quantities(values, columns, width, mask).items():
            estimate: Estimate = estimate_ratios([ratio], columns.clusters)
            rows.append(SuiteValue(kind, label, quantity, *estimate))
    return rows


def _quantities(values: Floats, columns: Columns, width: Floats, mask: Floats) -> dict[str, Ratio]:
    feasible = columns.feasible * mask
    return {
        "clairvoyant_value": Ratio(values * mask, mask),
        "clairvoyant_share": Ratio(values * feasible, width * mask),
        "oracle_utility": Ratio(columns.utility * mask, mask),
        "oracle_share": Ratio(columns.utility * feasible, width * mask),
        "oracle_se_plus": Ratio(columns.surplus_share * mask, feasible),
    }


def _slices(scenarios: Sequence[Scenario]) -> list[tuple[str, str, Floats]]:
    found = [("overall", "all", np.ones(len(scenarios)))]
    for kind, labels in (
        ("regime", [item.regime.value for item in scenarios]),
        ("family", [item.family.value for item in scenarios]),
        ("role", [item.agent_role.value for item in scenarios]),
        ("opener", [item.opener.value for item in scenarios]),
    ):
        found.extend(
            (kind, label, np.array([float(each == label) for each in labels])) for label in dict.fromkeys(labels)
        )
    return found
