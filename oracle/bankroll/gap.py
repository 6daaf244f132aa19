r"""Where an agent loses in a session: the gap of its final balance to the ruin-aware reference, on the same chain.

Every arm plays whole sessions of the same suppliers, regimes, reservations and noise, each with its own cash and
its own ruin:

.. math::
    C(aware) - C(played) = \underbrace{C(base) - C(played)}_{execution}
    + \underbrace{C(post) - C(base)}_{inference} + \underbrace{C(reveal) - C(post)}_{uncertainty}
    + \underbrace{C(neutral) - C(reveal)}_{control} + \underbrace{C(aware) - C(neutral)}_{caution}.

``base``, ``post`` and ``reveal`` are the agent itself, repaired, under the conditions of :mod:`oracle.interventions`;
the posterior shown carries over between meetings with a supplier. ``neutral`` is the honest planner with the policy
that would be best without ruin, ``aware`` with the ruin-aware policy. The identity holds in every session; parts may be
negative and are never floored. Of the uncertainty, ``known - neutral`` is what no player can avoid, ``known`` being the
best reply in money to each supplier's type. ``memory`` is what remembering earns the reference, outside the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from commerce.economics import BankrollChain, ChainConfig, EconomicsConfig, build_chain
from oracle.bankroll.meeting import Table
from oracle.bankroll.sessions import KnownTypes, PlayPeriod, PolicyPlayer, run_session
from oracle.bankroll.worth import SessionWorth
from oracle.bootstrap import bootstrap_means, required_episodes
from oracle.decomposition import OVERALL, Row
from oracle.interventions import Condition
from terms.aliases import Floats
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = ("execution", "inference", "uncertainty", "control", "caution")
STEPS = ("execution", "inference", "uncertainty_own", "uncertainty_unavoidable", "control", "caution")
ARMS = ("played", "base", "posterior", "revealed", "neutral", "aware", "known", "memoryless")
PlayArm = Callable[[int, Condition], float | None]
"""Final balance in dollars of the agent, repaired, in a session under a condition; ``None`` if the provider failed."""


@dataclass(frozen=True, eq=False)
class SessionArms:
    """Final balances in dollars by arm (:data:`ARMS`), each (sessions,); ``excluded`` are sessions a provider lost."""

    sessions: tuple[int, ...]
    balances: Mapping[str, Floats]
    excluded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ARMS:
            shape = self.balances[name].shape
            if shape != (len(self.sessions),):
                raise ValueError(f"balances[{name!r}] has shape {shape}; there are {len(self.sessions)} sessions")


def parts_of(arms: SessionArms) -> dict[str, Floats]:
    """Return every reported quantity per session; :data:`PARTS` sum to ``gap``, ``played + gap = reference``."""
    at = arms.balances
    unavoidable, uncertainty = at["known"] - at["neutral"], at["revealed"] - at["posterior"]
    return {
        "played": at["played"],
        "reference": at["aware"],
        "gap": at["aware"] - at["played"],
        "execution": at["base"] - at["played"],
        "inference": at["posterior"] - at["base"],
        "uncertainty": uncertainty,
        "uncertainty_own": uncertainty - unavoidable,
        "uncertainty_unavoidable": unavoidable,
        "control": at["neutral"] - at["revealed"],
        "caution": at["aware"] - at["neutral"],
        "memory": at["aware"] - at["memoryless"],
    }


@dataclass(frozen=True, eq=False)
class SessionGap:
    """The gap of one agent, its parts with intervals over sessions, and the arms they rest on."""

    agent: str
    arms: SessionArms
    rows: tuple[Row, ...]

    def row(self, part: str) -> Row:
        """Return one part."""
        for row in self.rows:
            if row.part == part:
                return row
        raise ValueError(f"part={part!r}, allowed are {', '.join(row.part for row in self.rows)}")

    def required_sessions(self, half_width: float) -> dict[str, int | None]:
        """Return for each part how many sessions a 95 % interval of ``half_width`` dollars would take."""
        clusters = np.arange(len(self.arms.sessions))
        return {name: required_episodes(part, clusters, half_width) for name, part in parts_of(self.arms).items()}

    def to_json_object(self) -> dict[str, Any]:
        """Return JSON types: every part with its interval, every arm by session."""
        return {
            "agent": self.agent,
            "unit": "dollars of final balance",
            "rows": [row._asdict() for row in self.rows],
            "sessions": list(self.arms.sessions),
            "balances": {name: self.arms.balances[name].tolist() for name in ARMS},
            "excluded": list(self.arms.excluded),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the waterfall from the balance as played to the reference's."""
        from oracle.plotting import plot_waterfall

        parts = {row.part: Estimate(*row[3:]) for row in self.rows}
        title = f"{self.agent}: {len(self.arms.sessions)} sessions"
        ax = plot_waterfall(parts, ax, target="ruin-aware", title=title, steps=STEPS)
        ax.set_ylabel("final balance (dollars)")
        return ax


def split_gap(agent: str, arms: SessionArms, *, rng: np.random.Generator | None = None) -> SessionGap:
    """Split the gap of arms already played; the bootstrap draws sessions, all parts from the same draws."""
    draws = np.random.default_rng(0) if rng is None else rng
    parts = parts_of(arms)
    table = np.stack(list(parts.values()), axis=1)
    estimates = bootstrap_means(table, np.arange(len(arms.sessions)), rng=draws)
    kind, label = OVERALL
    rows = [Row(kind, label, part, *each) for part, each in zip(parts, estimates, strict=True)]
    return SessionGap(agent, arms, tuple(rows))


def play_references(
    session: int, chain: ChainConfig, economics: EconomicsConfig, worth: SessionWorth, table: Table
) -> dict[str, float]:
    """Return the final balance in dollars of every reference arm in one session."""
    drawn: BankrollChain = build_chain(session, chain, worth.rules)
    players: dict[str, PlayPeriod] = {
        "neutral": PolicyPlayer(worth.neutral, table),
        "aware": PolicyPlayer(worth.aware, table),
        "known": KnownTypes(worth.rules),
        "memoryless": PolicyPlayer(worth.memoryless, table, is_remembering=False),
    }
    return {
        name: run_session(drawn, economics, worth.rules, player).terminal_cents / 100
        for name, player in players.items()
    }


def run_arms(
    played: Mapping[int, float],
    play_arm: PlayArm,
    play_reference: Callable[[int], dict[str, float]],
    progress: Callable[[int, int], None] | None = None,
) -> SessionArms:
    """Play every arm of the sessions in ``played`` (final balances in dollars by session, as they were played).

    Raises
    ------
    ValueError
        If there is no session, or the provider failed in all.
    """
    rows: list[dict[str, float]] = []
    kept, excluded = [], []
    for number, (session, balance) in enumerate(sorted(played.items()), 1):
        row = _agent_arms(session, balance, play_arm)
        if row is None:
            excluded.append(session)
        else:
            kept.append(session)
            rows.append({**row, **play_reference(session)})
        if progress is not None:
            progress(number, len(played))
    if not kept:
        raise ValueError(f"none of {len(played)} sessions has a result in every arm; there is nothing to split")
    return SessionArms(tuple(kept), {name: np.array([row[name] for row in rows]) for name in ARMS}, tuple(excluded))


def _agent_arms(session: int, played: float, play_arm: PlayArm) -> dict[str, float] | None:
    row = {"played": played}
    names = {
        Condition.BASE: "base",
        Condition.ORACLE_POSTERIOR: "posterior",
        Condition.REVEALED_TYPE: "revealed",
    }
    for condition, name in names.items():
        balance = play_arm(session, condition)
        if balance is None:
            return None  # a session lost in one arm is lost in all, or the arms would not be paired
        row[name] = balance
    return row
