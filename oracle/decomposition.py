r"""Where an agent loses: the gap to a reference as inference, uncertainty, control and execution (paper's eq. 4).

With mean utilities under the conditions of :mod:`oracle.interventions` (repaired) and as played,

.. math::
    U(ref) - U(played) = \underbrace{U(base) - U(played)}_{execution} + \underbrace{U(post) - U(base)}_{inference}
    + \underbrace{U(reveal) - U(post)}_{uncertainty} + \underbrace{U(ref) - U(reveal)}_{control}.

It holds in every episode, so in every slice; parts may be negative and are never floored. Of the uncertainty,
``U(clairvoyant) - U(oracle)`` is what no player can avoid; the rest is the agent's own. The order-free split shares the
gap to the clairvoyant among {belief, type, planning}, planning being the reference's action rule on the agent's stated
belief.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.arms import Arms, run_arms
from oracle.bootstrap import bootstrap_means, required_episodes
from oracle.interventions import Reference
from oracle.shapley import shapley_values
from terms.aliases import Floats, Progress
from terms.episode import AgentLike, agent_name
from terms.estimates import Estimate
from terms.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ReferenceName = Literal["oracle", "clairvoyant"]
ORDERED = ("execution", "inference", "uncertainty", "control")
PLAYERS = ("belief", "type", "planning")
OVERALL = ("overall", "all")


class Row(NamedTuple):
    """One part in one slice: mean utility per episode with its 95 % interval."""

    slice: str
    label: str
    part: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


def parts_of(arms: Arms, reference: ReferenceName) -> dict[str, Floats]:
    """Return every reported quantity per episode, in the order of the table.

    ``played + gap = reference``; ``execution + inference + uncertainty + control = gap``;
    ``uncertainty = uncertainty_own + uncertainty_unavoidable``; ``control_residual`` is control against the
    clairvoyant; ``belief + type + planning = clairvoyant - base``.
    """
    target = arms.oracle if reference == "oracle" else arms.clairvoyant
    unavoidable = arms.clairvoyant - arms.oracle
    uncertainty = arms.revealed - arms.posterior
    parts = {
        "played": arms.played,
        "reference": target,
        "gap": target - arms.played,
        "execution": arms.base - arms.played,
        "inference": arms.posterior - arms.base,
        "uncertainty": uncertainty,
        "uncertainty_own": uncertainty - unavoidable,
        "uncertainty_unavoidable": unavoidable,
        "control": target - arms.revealed,
        "control_residual": arms.clairvoyant - arms.revealed,
    }
    return {**parts, **order_free_parts(arms)}


def order_free_parts(arms: Arms) -> dict[str, Floats]:
    """Return the Shapley split of ``clairvoyant - base`` among belief, type and planning; empty if it was not run.

    Told the type, the posterior adds nothing, so coalitions with the type do not depend on the belief.
    """
    if arms.swapped is None:
        return {}
    worth = {
        frozenset[str](): arms.base,
        frozenset({"belief"}): arms.posterior,
        frozenset({"type"}): arms.revealed,
        frozenset({"belief", "type"}): arms.revealed,
        frozenset({"planning"}): arms.swapped,
        frozenset({"belief", "planning"}): arms.oracle,
        frozenset({"type", "planning"}): arms.clairvoyant,
        frozenset(PLAYERS): arms.clairvoyant,
    }
    return {f"order_free_{name}": part for name, part in shapley_values(PLAYERS, worth).items()}


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The gap of one agent, its parts with intervals, and the arms they rest on."""

    agent: str
    reference: ReferenceName
    arms: Arms
    rows: tuple[Row, ...]

    def table(self, slice_: str | None = None) -> list[Row]:
        """Return the rows, or those of one slice kind: ``overall``, ``regime`` or ``family``."""
        kinds = {row.slice for row in self.rows}
        if slice_ is not None and slice_ not in kinds:
            raise ValueError(f"slice={slice_!r}, allowed are {', '.join(sorted(kinds))}")
        return [row for row in self.rows if slice_ in (None, row.slice)]

    def row(self, part: str, kind: str = OVERALL[0], label: str = OVERALL[1]) -> Row:
        """Return one part of one slice."""
        for row in self.rows:
            if (row.slice, row.label, row.part) == (kind, label, part):
                return row
        known = ", ".join(dict.fromkeys(row.part for row in self.rows))
        raise ValueError(f"no row for part={part!r} in {kind}={label!r}; parts are {known}")

    def required_episodes(self, half_width: float) -> dict[str, int | None]:
        """Return for each part how many episodes a 95 % interval of ``half_width`` (price units) would take."""
        clusters = _clusters(self.arms.scenarios)
        parts = parts_of(self.arms, self.reference)
        return {name: required_episodes(values, clusters, half_width) for name, values in parts.items()}

    def to_json_object(self) -> dict[str, Any]:
        """Return the object printed by ``--json``: undefined numbers are null."""
        return {
            "agent": self.agent,
            "reference": self.reference,
            "rows": [row._asdict() for row in self.rows],
            "num_episodes": len(self.arms.scenarios),
            "num_excluded": len(self.arms.excluded),
            "excluded": list(self.arms.excluded),
        }

    def plot(self, ax: Axes | None = None, *, kind: str = OVERALL[0], label: str = OVERALL[1]) -> Axes:
        """Draw the waterfall of one slice: see :func:`oracle.plotting.plot_waterfall`."""
        from oracle.plotting import plot_waterfall

        rows = {row.part: Estimate(*row[3:]) for row in self.rows if (row.slice, row.label) == (kind, label)}
        title = f"{self.agent}: {label}, n = {self.row('played', kind, label).n}"
        return plot_waterfall(rows, ax, target=self.reference, title=title)


def decompose(
    agent: AgentLike,
    *,
    suite: Sequence[Scenario],
    reference: ReferenceName = "oracle",
    honest: Reference | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Decomposition:
    """Play ``agent`` under every intervention on ``suite`` and split its gap to the reference.

    Parameters
    ----------
    reference
        ``oracle``, the honest optimum, as in the paper: an agent told the type may beat it, which is negative control.
        With ``clairvoyant`` control is a true residual.
    honest
        How the reference believes and plans; by default the honest optimum that comes with the package.
    rng
        Draws the bootstrap; by default a fixed stream, so the same episodes give the same intervals.
    """
    if honest is None:
        from oracle.honest import fitted_reference  # loads the compiled planner, which other references do not need

        honest = fitted_reference()
    arms = run_arms(agent, suite, reference=honest, progress=progress)
    return decompose_arms(agent_name(agent), arms, reference, rng=rng)


def decompose_arms(
    agent: str, arms: Arms, reference: ReferenceName = "oracle", *, rng: np.random.Generator | None = None
) -> Decomposition:
    """Split the gap of arms already run."""
    if reference not in ("oracle", "clairvoyant"):
        raise ValueError(f"reference={reference!r}, allowed are oracle, clairvoyant")
    draws = np.random.default_rng(0) if rng is None else rng
    parts, clusters = parts_of(arms, reference), _clusters(arms.scenarios)
    table = np.stack(list(parts.values()), axis=1)
    rows: list[Row] = []
    for kind, label, chosen in _slices(arms.scenarios):
        estimates = bootstrap_means(table[chosen], clusters[chosen], rng=draws)
        rows.extend(Row(kind, label, part, *estimate) for part, estimate in zip(parts, estimates, strict=True))
    return Decomposition(agent, reference, arms, tuple(rows))


def _clusters(scenarios: Sequence[Scenario]) -> NDArray[np.intp]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(item.scenario_id, len(numbers)) for item in scenarios], dtype=np.intp)


def _slices(scenarios: Sequence[Scenario]) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """Return (kind, label, mask) overall, by regime and by family, in the order of the suite."""
    found = [(*OVERALL, np.ones(len(scenarios), dtype=np.bool_))]
    kinds: dict[str, Callable[[Scenario], str]] = {
        "regime": lambda item: item.regime.value,
        "family": lambda item: item.family.value,
    }
    for kind, key in kinds.items():
        labels = [key(item) for item in scenarios]
        found.extend((kind, label, np.array([each == label for each in labels])) for label in dict.fromkeys(labels))
    return found
