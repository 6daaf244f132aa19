"""Charts of bankroll sessions. Each function draws on the axis it is given and returns it.

Colours default to matplotlib's own; the report passes its placeholders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from commerce.bankroll import SessionRecord
from experiments.report.charts import Colors, Curve
from experiments.sessions.survival import balance_curve, survival_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STANDARD = Colors()
MAX_PATHS = 40
"""More single sessions than this would hide the mean behind them."""


def plot_balances(
    ax: Axes, sessions: Sequence[SessionRecord], *, limits: tuple[float, float] | None = None, colors: Colors = STANDARD
) -> Axes:
    """Draw the mean balance with its interval as a band, single sessions faint behind it, a cross at every ruin."""
    for session in sessions[:MAX_PATHS]:
        path = [cents / 100 for cents in session.cash_path_cents]
        ax.plot(range(len(path)), path, color=colors.ghost, linewidth=0.8)
    ruins = [(session.time_to_ruin, session.terminal_cents / 100) for session in sessions if session.time_to_ruin]
    curve = balance_curve(sessions)
    _band(ax, curve, colors)
    if ruins:
        ax.plot(*zip(*ruins, strict=True), linestyle="none", marker="X", markersize=8, color=colors.muted, label="ruin")
    ax.axhline(0, color=colors.muted, linewidth=0.8)
    if limits is not None:
        ax.set_ylim(*limits)
    return _over_periods(ax, len(curve), "dollars", colors)


def plot_survival(
    ax: Axes, sessions: Sequence[SessionRecord], *, others: Sequence[Curve] = (), colors: Colors = STANDARD
) -> Axes:
    """Draw the Kaplan-Meier curve with its interval as a band, other agents faint behind it."""
    for other in others:
        periods, centre, _, _ = _arrays(other)
        ax.step(periods, centre, where="post", color=colors.ghost, linewidth=1.0)
    curve = survival_curve(sessions)
    periods, centre, low, high = _arrays(curve)
    ax.fill_between(periods, low, high, step="post", color=colors.accent, alpha=0.22, linewidth=0)
    ax.step(periods, centre, where="post", color=colors.accent, linewidth=2.0)
    ax.set_ylim(-0.03, 1.05)
    return _over_periods(ax, len(curve), "share not ruined", colors)


def _band(ax: Axes, curve: Curve, colors: Colors) -> None:
    periods, centre, low, high = _arrays(curve)
    ax.fill_between(periods, low, high, color=colors.accent, alpha=0.22, linewidth=0)
    ax.plot(periods, centre, color=colors.accent, linewidth=2.0)


def _over_periods(ax: Axes, size: int, label: str, colors: Colors) -> Axes:
    ax.set_xlim(0, max(1, size - 1))
    ax.set_xlabel("period")
    ax.set_ylabel(label)
    ax.grid(visible=True, axis="y", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def _arrays(curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    table = np.array([[value.estimate, value.low, value.high] for value in curve], dtype=float).reshape(-1, 3)
    return np.arange(len(curve)), table[:, 0], table[:, 1], table[:, 2]
