"""Pictures of a decomposition. Takes and returns an axis; matplotlib is imported only here, when a picture is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = ("execution", "inference", "uncertainty_own", "uncertainty_unavoidable", "control")
_LABELS = {
    "played": "as played",
    "execution": "execution",
    "inference": "inference",
    "uncertainty_own": "uncertainty\n(own)",
    "uncertainty_unavoidable": "uncertainty\n(unavoidable)",
    "control": "control",
}


class Colors(NamedTuple):
    """Roles of colour in a waterfall: totals, steps up, steps down, the part nobody can avoid, and helping lines."""

    level: str = "#4c566a"
    gain: str = "#2a7f62"
    loss: str = "#b3413a"
    shared: str = "#9aa5b1"
    line: str = "0.6"


STANDARD_COLORS = Colors()


def plot_waterfall(
    rows: Mapping[str, Estimate], ax: Axes | None = None, *, target: str, title: str, colors: Colors = STANDARD_COLORS
) -> Axes:
    """Draw bars from the utility as played to the reference's, one step a part, each with its 95 % interval.

    A step that falls is a negative part: what the agent is told makes it do worse, or the reference does.

    Parameters
    ----------
    rows
        Estimates by part: ``played``, ``reference``, and every step.
    target
        Name of the reference.
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(8, 4))
    level = rows["played"].estimate or 0.0
    ax.bar(0, level, color=colors.level)
    for place, part in enumerate(_STEPS, start=1):
        row = rows[part]
        step = row.estimate or 0.0
        colour = colors.shared if part == "uncertainty_unavoidable" else colors.gain if step >= 0 else colors.loss
        ax.bar(place, step, bottom=level, color=colour)
        ax.hlines(level, place - 1.4, place + 0.4, color=colors.line, linewidth=0.7)
        top = max(level, level + step)
        if row.low is not None and row.high is not None:
            ax.vlines(place, level + row.low, level + row.high, color=colors.level, linewidth=1.2)
            top = max(top, level + row.high)
        level += step
        ax.annotate(f"{step:+.2f}", (place, top), textcoords="offset points", xytext=(0, 3), ha="center", fontsize=9)
    ax.bar(len(_STEPS) + 1, rows["reference"].estimate or 0.0, color=colors.level)
    ax.set_xticks(range(len(_STEPS) + 2), [*(_LABELS[part] for part in ("played", *_STEPS)), target], fontsize=9)
    ax.set_ylabel("mean utility (price units)")
    ax.set_title(title, fontsize=10)
    return ax
