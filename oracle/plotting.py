"""Pictures of beliefs, bounds and decompositions, each drawn on an axis. Only here matplotlib is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from oracle.hover import estimate_words, set_hover, signed_text
from oracle.palette import PLAIN_PALETTE, Palette
from oracle.parts import Part, in_words, steps_between
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from oracle.explain import Explanation
    from oracle.tables import SuiteValue


def plot_waterfall(
    rows: Mapping[str, Estimate],
    ax: Axes | None = None,
    *,
    target: str,
    title: str,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw the way from what was played, on top, to the reference: one bar a step, with its 95 % interval.

    The axis begins near what was played, so that the gap fills the picture; levels are marks and no bars for that
    reason. A step to the left is a negative part: what the agent is told makes it do worse, or the reference does.

    Parameters
    ----------
    rows
        Estimates by part: ``played``, ``reference``, and the steps between.
    target
        Name of the reference.
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(8, 3))
    steps = steps_between(rows)
    level = start = rows[Part.PLAYED].estimate or 0.0
    _mark_level(ax, rows[Part.PLAYED], 0, "as played", colors)
    ends = [level]
    for place, (part, row) in enumerate(steps.items(), start=1):
        step = row.estimate or 0.0
        bar = ax.barh(place, step, left=level, color=colors.gain if step >= 0 else colors.loss, height=0.62)
        set_hover(bar[0], estimate_words(in_words([part])[part], row, 2))
        ax.vlines(level, place - 1.31, place + 0.31, color=colors.line, linewidth=0.8)
        ends += [level, level + step]
        if row.low is not None and row.high is not None:
            ax.hlines(place, level + row.low, level + row.high, color=colors.level, linewidth=1.4)
            ends += [level + row.low, level + row.high]
        right = max(level, level + step, level + (row.high if row.high is not None else step))
        level += step
        ax.annotate(signed_text(step), (right, place), textcoords="offset points", xytext=(5, 0), va="center")
    _mark_level(ax, rows[Part.REFERENCE], len(steps) + 1, target, colors)
    ends.append(rows[Part.REFERENCE].estimate or 0.0)
    ax.vlines(level, len(steps) - 0.31, len(steps) + 1.3, color=colors.line, linewidth=0.8)
    room = 0.16 * ((max(ends) - min(ends)) or 1.0)
    ax.set_xlim(min(min(ends), start) - room, max(ends) + 1.6 * room)
    labels = ["as played", *in_words(steps).values(), target]
    ax.set_yticks(range(len(labels)), [label.replace(" and ", "\nand ") for label in labels], parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel("mean utility (price units)")
    ax.locator_params(axis="x", nbins=6)
    ax.set_title(title, fontsize=10)
    return ax


def _mark_level(ax: Axes, row: Estimate, place: int, label: str, colors: Palette) -> None:
    level = row.estimate or 0.0
    (mark,) = ax.plot([level], [place], marker="D", markersize=7, color=colors.level, linestyle="none")
    set_hover(mark, estimate_words(label, row, 2))
    ax.annotate(f"{level:,.2f}", (level, place), textcoords="offset points", xytext=(9, 0), va="center")


def plot_calibration(shares: Sequence[Estimate], ax: Axes, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the share of truths in each equal part of the posterior; calibrated is a flat row at the dashed line."""
    width = 1 / len(shares)
    for place, share in enumerate(shares):
        middle = (place + 0.5) * width
        ax.bar(middle, share.estimate or 0.0, width=0.9 * width, color=colors.shared)
        if share.low is not None and share.high is not None:
            ax.vlines(middle, share.low, share.high, color=colors.level, linewidth=1.2)
    ax.axhline(width, color=colors.loss, linestyle="--", linewidth=1)
    ax.set_xlim(0, 1)
    ax.set_xlabel("where the true reservation falls")
    ax.set_ylabel("share of moments")
    return ax


def plot_frequencies(
    frequencies: Sequence[tuple[Estimate, Estimate]], ax: Axes, *, colors: Palette = PLAIN_PALETTE
) -> Axes:
    """Draw how often a stance was true against the probability it had; calibrated lies on the dashed diagonal."""
    ax.plot([0, 1], [0, 1], color=colors.loss, linestyle="--", linewidth=1)
    for stated, true in frequencies:
        if stated.estimate is None or true.estimate is None:
            continue
        if true.low is not None and true.high is not None:
            ax.vlines(stated.estimate, true.low, true.high, color=colors.level, linewidth=1.2)
        ax.plot(stated.estimate, true.estimate, "o", markersize=5, color=colors.gain)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("probability of a stance")
    ax.set_ylabel("share true")
    return ax


def plot_belief_path(told: Explanation, ax: Axes) -> Axes:
    """Draw what could be believed of the counterpart's reservation by round, with 90 % of the mass, and the truth."""
    rounds = [move.round for move in told.moves]
    low, high = ([move.exact["r_interval"][end] for move in told.moves] for end in (0, 1))
    ax.fill_between(rounds, low, high, color=PLAIN_PALETTE.shared, alpha=0.4, label="90 % of the posterior")
    ax.plot(rounds, [move.exact["r_mean"] for move in told.moves], color=PLAIN_PALETTE.level, label="its mean")
    prices = [(move.round, move.standing_price) for move in told.moves if move.standing_price is not None]
    ax.plot(*zip(*prices, strict=True), "o", color=PLAIN_PALETTE.gain, label="counterpart's price")
    truth = told.counterpart["reservation_price"]
    ax.axhline(truth, color=PLAIN_PALETTE.loss, linestyle="--", label="true reservation")
    ax.set_xlabel("round")
    ax.set_ylabel("price")
    ax.legend(fontsize="small")
    return ax


def plot_move_costs(told: Explanation, ax: Axes) -> Axes:
    """Draw what each move gave up: in expectation, and with the type known."""
    rounds = [move.round for move in told.moves]
    ax.bar([number - 0.2 for number in rounds], [move.cost for move in told.moves], width=0.4, label="expected")
    hindsight = [move.hindsight_cost for move in told.moves]
    ax.bar([number + 0.2 for number in rounds], hindsight, width=0.4, label="with the type known")
    ax.set_xlabel("round")
    ax.set_ylabel("cost of the move (price units)")
    ax.legend(fontsize="small")
    return ax


def plot_suite_values(rows: Sequence[SuiteValue], ax: Axes, *, kind: str = "family") -> Axes:
    """Draw each slice's bounds of the Bayes optimum as a bar, and the reference's share as a dot."""
    labels = list(dict.fromkeys(row.label for row in rows if row.slice == kind))
    found = {(row.label, row.quantity): row for row in rows if row.slice == kind}
    for place, label in enumerate(labels):
        lower, upper, share = (found[label, name] for name in ("lower", "upper", "oracle_share"))
        if lower.estimate is None or upper.estimate is None or share.estimate is None:
            continue  # no deal is possible in this slice
        ax.barh(place, upper.estimate - lower.estimate, left=lower.estimate, color=PLAIN_PALETTE.shared, height=0.5)
        ax.plot(share.estimate, place, "o", color=PLAIN_PALETTE.level)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlabel("share of the mean zopa")
    return ax
