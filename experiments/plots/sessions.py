"""Charts of bankroll sessions and of their dynamic program. Each function draws on its axis and returns it.

Colours default to matplotlib's own; the report passes its placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from commerce.bankroll import SessionRecord
from experiments.plots.charts import Curve, chart_name, curve_arrays, name_above
from experiments.sessions.summary import balance_curve, survival_curve
from oracle.bankroll.ruin import cash_law
from oracle.hover import estimate_words, set_hover
from oracle.palette import PLAIN_PALETTE, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from oracle.bankroll.ruin import Valued

MAX_PATHS = 40
"""More single sessions than this would hide the mean behind them."""


def plot_balances(
    ax: Axes,
    sessions: Sequence[SessionRecord],
    *,
    ruin: float = 0.0,
    limits: tuple[float, float] | None = None,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw the mean balance with its interval as a band, single sessions faint behind it, a cross at every ruin.

    A line marks ``ruin``, the dollars below which a session is over.
    """
    for session in sessions[:MAX_PATHS]:
        path = [cents / 100 for cents in session.cash_path_cents]
        ax.plot(range(len(path)), path, color=colors.ghost, linewidth=0.8)
    ruins = [(session.time_to_ruin, session.terminal_cents / 100) for session in sessions if session.time_to_ruin]
    curve = balance_curve(sessions)
    _band(ax, curve, colors)
    if ruins:
        ax.plot(*zip(*ruins, strict=True), linestyle="none", marker="X", markersize=8, color=colors.muted, label="ruin")
    ax.axhline(ruin, color=colors.muted, linewidth=0.8)
    if limits is not None:
        ax.set_ylim(*limits)
    return _over_periods(ax, len(curve), "dollars", colors)


def plot_mean_balances(
    ax: Axes, curves: Mapping[str, Curve], *, ruin: float = 0.0, colors: Palette = PLAIN_PALETTE
) -> Axes:
    """Lay the mean balances of all agents over each other, each with its interval at the end."""
    size = max(map(len, curves.values()), default=1)
    for place, (agent, curve) in enumerate(curves.items()):
        color = colors.series[(place + 1) % len(colors.series)]
        periods, centre, _, _ = curve_arrays(curve, first=0)
        dash = "-" if place < len(colors.series) else "--"
        ax.plot(periods, centre, color=color, linewidth=2.0, linestyle=dash, label=chart_name(agent))
        last = curve[-1]
        if last.estimate is not None:
            at = size - 1 + 0.012 * size * (place + 1)
            if last.low is not None and last.high is not None:
                ax.plot([at, at], [last.low, last.high], color=color, linewidth=2.2, clip_on=False)
            (dot,) = ax.plot([at], [last.estimate], marker="o", markersize=5, color=color, clip_on=False)
            set_hover(dot, estimate_words(f"{agent}, final balance in dollars", last, 2))
    ax.axhline(ruin, color=colors.muted, linewidth=0.8)
    name_above(ax, 3 if len(curves) > 2 else 2, "medium", start=-0.08)
    return _over_periods(ax, size, "mean balance, dollars", colors)


def plot_survival(
    ax: Axes, sessions: Sequence[SessionRecord], *, others: Sequence[Curve] = (), colors: Palette = PLAIN_PALETTE
) -> Axes:
    """Draw the Kaplan-Meier curve with its interval as a band, other agents faint behind it."""
    for other in others:
        periods, centre, _, _ = curve_arrays(other, first=0)
        ax.step(periods, centre, where="post", color=colors.ghost, linewidth=1.0)
    curve = survival_curve(sessions)
    periods, centre, low, high = curve_arrays(curve, first=0)
    ax.fill_between(periods, low, high, step="post", color=colors.accent, alpha=0.22, linewidth=0)
    ax.step(periods, centre, where="post", color=colors.accent, linewidth=2.0)
    ax.set_ylim(-0.03, 1.05)
    return _over_periods(ax, len(curve), "share not ruined", colors)


def _band(ax: Axes, curve: Curve, colors: Palette) -> None:
    periods, centre, low, high = curve_arrays(curve, first=0)
    ax.fill_between(periods, low, high, color=colors.accent, alpha=0.22, linewidth=0)
    ax.plot(periods, centre, color=colors.accent, linewidth=2.0)


def _over_periods(ax: Axes, size: int, label: str, colors: Palette) -> Axes:
    ax.set_xlim(0, max(1, size - 1))
    ax.set_xlabel("period")
    ax.set_ylabel(label)
    ax.grid(visible=True, axis="y", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def plot_dollar_values(ax: Axes, policies: Mapping[str, Valued], *, period: int = 1, most: float = 100.0) -> Axes:
    """Draw what one more dollar adds to the final balance, by cash up to ``most`` dollars; one line a policy."""
    for name, valued in policies.items():
        cash, dollars = valued.dollar_values(period)
        shown = cash <= 100 * most
        ax.plot(cash[shown] / 100, dollars[shown], linewidth=1.6, label=name)
    ax.axhline(1, color="dimgrey", linestyle=":", linewidth=1)
    ax.set_xlabel("cash (dollars)")
    ax.set_ylabel("dollars of final balance a dollar")
    ax.legend(fontsize="small")
    return ax


def plot_cash_laws(ax: Axes, policies: Mapping[str, Valued], *, share: float = 0.8) -> Axes:
    """Draw the mean balance after each period under each policy, and the middle ``share`` of sessions as a band."""
    for name, valued in policies.items():
        law = cash_law(valued)
        periods = np.arange(len(law.survival))
        low, high = law.quantiles((1 - share) / 2) / 100, law.quantiles((1 + share) / 2) / 100
        (line,) = ax.plot(
            periods, law.means() / 100, linewidth=2, label=f"{name}, {100 * law.survival[-1]:.1f} % survive"
        )
        ax.fill_between(periods, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    ax.axhline(0, color="dimgrey", linewidth=0.8)
    ax.set_xlabel("period")
    ax.set_ylabel("balance (dollars)")
    ax.legend(fontsize="small")
    return ax


def plot_plans(ax: Axes, valued: Valued, *, class_: int = 0, most: float = 60.0) -> Axes:
    """Draw which plan is played, by period and cash up to ``most`` dollars; plans that are never played have no row."""
    problem = valued.problem
    nodes = min(int(100 * most) // problem.step_cents + 1, valued.policy.plans.shape[2])
    chosen = valued.policy.plans[:, class_, :nodes]
    used, rows = np.unique(chosen, return_inverse=True)
    grid = rows.reshape(chosen.shape).T
    extent = (0.5, problem.horizon + 0.5, 0.0, nodes * problem.step_cents / 100)
    image = ax.imshow(grid, origin="lower", aspect="auto", extent=extent, cmap="viridis", interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, ticks=range(len(used)))
    bar.ax.set_yticklabels([problem.plans[plan] for plan in used], fontsize="x-small")
    ax.set_xlabel("period")
    ax.set_ylabel("cash (dollars)")
    ax.set_title(f"plan by purse; supplier: {problem.classes[class_]}", fontsize=10)
    return ax
