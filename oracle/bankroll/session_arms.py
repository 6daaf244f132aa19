r"""Where an agent loses in a session: the gap of its final balance to the ruin-aware reference, on the same chain.

Every arm plays whole sessions of the same suppliers, regimes, reservations and noise, each with its own cash and
its own ruin:

.. math::
    C(aware) - C(played) = \underbrace{C(base) - C(played)}_{execution}
    + \underbrace{C(post) - C(base)}_{inference} + \underbrace{C(reveal) - C(post)}_{uncertainty}
    + \underbrace{C(neutral) - C(reveal)}_{control} + \underbrace{C(aware) - C(neutral)}_{caution}.

``base``, ``post`` and ``reveal`` are the agent itself, repaired, under the conditions of :mod:`oracle.interventions`;
the posterior shown carries over between meetings with a supplier. ``neutral`` is the Bayes-optimal planner with the
policy that would be best without ruin, ``aware`` with the ruin-aware policy. The identity holds in every session; parts
may be negative and are never floored. Of the uncertainty, ``known - neutral`` is what no player can avoid, ``known``
being the best reply in money to each supplier's type. ``memory`` is what remembering earns the reference, outside the
sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commerce.economics import BankrollChain, ChainConfig, EconomicsConfig, build_chain
from oracle.bankroll.meeting import MeetingPlanners
from oracle.bankroll.session_play import KnownTypes, PlayPeriod, PolicyPlayer, run_session
from oracle.bankroll.worth import SessionWorth
from oracle.gaps import OVERALL, Decomposition, Slice, split
from oracle.interventions import Condition
from oracle.parts import Part
from terms.aliases import Floats, Progress
from terms.intervals import FEW

ARMS = ("played", "base", "posterior", "revealed", "neutral", "aware", "known", "memoryless")
RUIN_AWARE = "ruin-aware"
"""The name of the reference."""
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

    @property
    def unit(self) -> str:
        """What is measured, for an axis."""
        return "final balance (dollars)"

    @property
    def clusters(self) -> NDArray[np.intp]:
        """Every session is a block of its own."""
        return np.arange(len(self.sessions))

    def slices(self) -> list[Slice]:
        """Return the whole; sessions have no slices."""
        return [(*OVERALL, np.ones(len(self.sessions), dtype=np.bool_))]

    def parts(self, reference: str = RUIN_AWARE) -> dict[str, Floats]:
        """Return every reported quantity per session; the summands add up to ``gap``, ``played + gap = reference``."""
        del reference  # there is one
        at = self.balances
        unavoidable, uncertainty = at["known"] - at["neutral"], at["revealed"] - at["posterior"]
        return {
            Part.PLAYED: at["played"],
            Part.REFERENCE: at["aware"],
            Part.GAP: at["aware"] - at["played"],
            Part.EXECUTION: at["base"] - at["played"],
            Part.INFERENCE: at["posterior"] - at["base"],
            Part.UNCERTAINTY: uncertainty,
            Part.UNCERTAINTY_OWN: uncertainty - unavoidable,
            Part.UNCERTAINTY_UNAVOIDABLE: unavoidable,
            Part.CONTROL: at["neutral"] - at["revealed"],
            Part.CAUTION: at["aware"] - at["neutral"],
            Part.MEMORY: at["aware"] - at["memoryless"],
        }

    def few(self, part: str) -> int:
        """Return from how many sessions on a part has an interval."""
        del part
        return FEW

    def facts(self, reference: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a stored split says before and after its rows: every arm by session."""
        del reference
        after = {
            "sessions": list(self.sessions),
            "balances": {name: self.balances[name].tolist() for name in ARMS},
            "excluded": list(self.excluded),
        }
        return {"unit": "dollars of final balance"}, after


def split_gap(agent: str, arms: SessionArms) -> Decomposition[SessionArms]:
    """Split the gap of arms already played."""
    return split(agent, RUIN_AWARE, arms)


def play_references(
    session: int, chain: ChainConfig, economics: EconomicsConfig, worth: SessionWorth, table: MeetingPlanners
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


def run_session_arms(
    played: Mapping[int, float],
    play_arm: PlayArm,
    play_reference: Callable[[int], dict[str, float]],
    progress: Progress | None = None,
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
