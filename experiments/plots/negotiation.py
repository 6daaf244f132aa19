"""Plots of the game for notebooks: each draws on the axis it is given and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from terms import EpisodeRecord, GameConfig
from terms.kernel import NO_HISTORY, STANCES, Features, accept_prob, concession_rate, kernel_params, walk_prob
from terms.types import Decision, Family, Stance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STANCE_COLORS = {Stance.CONCILIATORY: "tab:green", Stance.NEUTRAL: "tab:grey", Stance.AGGRESSIVE: "tab:red"}


def plot_response(
    ax: Axes, family: Family | str, *, round_number: int, urgency: float = 0.5, config: GameConfig | None = None
) -> Axes:
    """Draw the acceptance and walk-away probabilities of an offer against what it gives the counterpart, share of R.

    The curves hold for a first offer: without earlier offers the history features are 0, and stances differ only later.
    """
    settings = config or GameConfig()
    params = kernel_params(settings, Family(family), Stance.NEUTRAL, settings.price_max - settings.price_min)
    gains = np.linspace(-0.3, 0.5, 321)
    accept = [accept_prob(float(gain), urgency, round_number, NO_HISTORY, params) for gain in gains]
    walk = [walk_prob(float(gain), round_number, params) for gain in gains]
    ax.plot(gains, accept, label="accepts", color="tab:blue")
    ax.plot(gains, walk, label="walks away", color="tab:orange")
    ax.set_xlabel("offer's gain to the counterpart (share of price range)")
    ax.set_ylabel("probability")
    ax.set_title(f"{family}, round {round_number}, urgency {urgency:g}")
    ax.legend()
    return ax


def plot_concession_rates(ax: Axes, *, config: GameConfig | None = None) -> Axes:
    """Draw how fast each family and stance concedes against how fast the agent has been conceding, at urgency 0.5."""
    settings = config or GameConfig()
    magnitudes = np.linspace(0.0, 0.2, 81)
    styles = dict(zip(settings.families, ("-", "--", "-.", ":", (0, (1, 3)), (0, (5, 1))), strict=True))
    for family in (Family.CANDID, Family.EXPRESSIVE, Family.STOCHASTIC, Family.ADVERSARIAL):
        for stance in STANCES:
            params = kernel_params(settings, family, stance, settings.price_max - settings.price_min)
            rates = [concession_rate(0.5, Features(0.0, float(m), 0.0), params) for m in magnitudes]
            label = f"{family}, {stance}" if family is Family.CANDID or stance is Stance.NEUTRAL else None
            ax.plot(magnitudes, rates, color=STANCE_COLORS[stance], linestyle=styles[family], label=label)
    ax.set_xlabel("agent's recent concession a round (share of price range)")
    ax.set_ylabel("share of its distance the counterpart gives up")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def plot_price_path(ax: Axes, record: EpisodeRecord) -> Axes:
    """Draw both sides' prices by round, both reservations, and the deal."""
    own = [(turn.round, turn.price) for turn in record.turns if turn.decision is Decision.OFFER]
    other = [(turn.round, turn.counterpart_price) for turn in record.turns if turn.counterpart_price is not None]
    for points, label, color in ((own, record.agent, "tab:blue"), (other, "counterpart", "tab:orange")):
        if points:
            ax.plot(*zip(*points, strict=True), marker="o", label=label, color=color)
    ax.axhline(record.agent_type.reservation_price, color="tab:blue", linestyle=":", label="own reservation")
    ax.axhline(record.counterpart_type.reservation_price, color="tab:orange", linestyle=":", label="its reservation")
    if record.price is not None:
        ax.plot([record.rounds_played], [record.price], marker="*", markersize=15, color="black", label="deal")
    ax.set_xticks(range(1, record.rounds_played + 1))
    ax.set_xlabel("round")
    ax.set_ylabel("price")
    ax.set_title(f"{record.agent_role} against {record.counterpart_type.stance} {record.family}")
    ax.legend(fontsize="small")
    return ax
