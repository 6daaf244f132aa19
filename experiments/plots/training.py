"""Learning curves: one line a way of paying moves, the mean over seeds with its spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from experiments.training.reinforce import CurvePoint


def plot_learning(ax: Axes, curves: Mapping[str, Sequence[Sequence[CurvePoint]]]) -> Axes:
    """Draw the mean surplus share over training episodes, by name, with the range over seeds as a band.

    Parameters
    ----------
    curves
        By name one curve a seed, all measured after the same numbers of episodes.
    """
    for name, seeds in curves.items():
        episodes = [point.num_episodes for point in seeds[0]]
        shares = np.array([[point.surplus_share for point in curve] for curve in seeds])
        (line,) = ax.plot(episodes, shares.mean(axis=0), label=f"{name} ({len(seeds)} seeds)")
        ax.fill_between(episodes, shares.min(axis=0), shares.max(axis=0), color=line.get_color(), alpha=0.15)
    ax.set_xlabel("training episodes")
    ax.set_ylabel("surplus share on validation episodes")
    ax.legend()
    return ax
