"""``gap.json``, the split of a run's gap that ``terms bankroll --gap`` writes; whoever reads it checks it.

Derived again are the sessions, the rules and the balances as played, from the log; the balances of ``base`` where the
log has nothing to repair; and from the stored balances every part, its interval and the sessions it would take. The
other arms need the agent or the dynamic program: their balances, and what a session is worth, stand as they were
written (:data:`NOT_CHECKED`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from commerce.bankroll import SessionRecord
from experiments.sessions.folder import GAP, SessionsRun
from experiments.sessions.spec import CHAINS
from experiments.storage.files import read_whole, write_atomically
from terms.estimates import Estimate
from terms.strict_json import strict_dumps, strict_loads

if TYPE_CHECKING:
    from oracle.bankroll.session_arms import SessionArms
    from oracle.bankroll.worth import SessionWorth
    from oracle.gaps import Decomposition

HALF_WIDTH = 25.0
WORTH = {
    "value": "Ruin-aware optimum of the menu",
    "held_out_value": "The same, valued on other suppliers",
    "known_types_value": "Every type known, no ruin",
    "risk_neutral_value": "Risk-neutral policy under ruin",
    "price_of_caution": "Price of caution",
    "memoryless_value": "Ruin-aware, without memory",
    "value_of_memory": "Value of memory",
    "dollar_at_start": "One more dollar at the start",
    "survival": "Survival, ruin-aware",
    "risk_neutral_survival": "Survival, risk-neutral",
}
"""What a session is worth, and how each number is named to a reader."""
NOT_CHECKED = "the balances of arms other than as played, and what a session is worth, are not derived again"


def write_gap(run: SessionsRun, gap: Decomposition[SessionArms], worth: SessionWorth) -> dict[str, Any]:
    """Write ``gap.json`` into the folder of ``run`` and return what it holds."""
    found = {
        **_facts(run),
        **gap.to_json_object(),
        "worth": worth.to_json_object(),
        "half_width": HALF_WIDTH,
        "required_sessions": _required(gap, HALF_WIDTH),
    }
    write_atomically(run.folder / GAP, gap_bytes(found))
    return found


def _required(gap: Decomposition[SessionArms], half_width: float) -> dict[str, Any]:
    return {name: needed._asdict() for name, needed in gap.required(half_width).items()}


def gap_bytes(found: Mapping[str, Any]) -> bytes:
    """Return the content of the file: ``found`` and a checksum over it, as not all of it can be derived again."""
    checksum = hashlib.sha256(strict_dumps(found).encode()).hexdigest()[:16]
    return (json.dumps({**found, "checksum": checksum}, allow_nan=False, indent=1) + "\n").encode()


def _facts(run: SessionsRun) -> dict[str, Any]:
    header = run.header
    return {
        "agent": header.agent,
        "agent_settings": header.settings,
        "digest": header.digests[CHAINS],
        "spec": json.loads(header.spec.model_dump_json()),
    }


def read_gap(run: SessionsRun) -> tuple[dict[str, Estimate] | None, dict[str, Estimate] | None]:
    """Return the parts of the gap and the worth of a session that the folder of ``run`` holds, if it does.

    Raises
    ------
    ValueError
        If the file is of other sessions, was altered, or is not what ``terms bankroll --gap`` writes.
    """
    path = run.folder / GAP
    if not path.exists() and not path.is_symlink():
        return None, None
    try:
        data = read_whole(path)
        found = strict_loads(data)
        found.pop("checksum")
        if gap_bytes(found) != data:
            raise ValueError("the checksum does not match what is written")
        wrong = list(_findings(run, found))
        parts = {row["part"]: Estimate(row["estimate"], row["low"], row["high"], row["n"]) for row in found["rows"]}
        worth = {name: Estimate(**found["worth"][name]) for name in WORTH}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not what terms bankroll --gap writes: {error!r}") from error
    if wrong:
        raise ValueError(f"{path}: {'; '.join(wrong)}; run terms bankroll --gap again")
    return parts, worth


def gap_findings(run: SessionsRun) -> list[str]:
    """Return what is wrong with ``gap.json`` of ``run``; nothing if there is none."""
    try:
        read_gap(run)
    except ValueError as error:
        return [str(error)]
    return []


def has_nothing_to_repair(session: SessionRecord) -> bool:
    """Whether no reply of ``session`` was at fault or illegal, so that ``base`` is the session as it was played."""
    return not any(period.fault or period.termination == "invalid_action" for period in session.periods)


def _findings(run: SessionsRun, found: Mapping[str, Any]) -> Iterator[str]:
    for name, value in _facts(run).items():
        if found[name] != value:
            yield f"{name} is not that of the sessions played"
    played = {each.session: each for each in run.sessions if each.is_scored}
    if sorted([*found["sessions"], *found["excluded"]]) != sorted(played) or not found["sessions"]:
        yield "sessions and excluded are not the sessions with a result"
        return
    for name in ("played", "base"):
        for session, balance in zip(found["sessions"], found["balances"][name], strict=True):
            is_logged = name == "played" or has_nothing_to_repair(played[session])
            if is_logged and balance != played[session].terminal_cents / 100:
                yield f"balances of {name} have {balance} for session {session}, which the log does not give"
    yield from _split_findings(found)


def _split_findings(found: Mapping[str, Any]) -> Iterator[str]:
    from oracle.bankroll.session_arms import ARMS, SessionArms, split_gap

    balances = {name: np.array(found["balances"][name], dtype=np.float64) for name in ARMS}
    again = split_gap(found["agent"], SessionArms(tuple(found["sessions"]), balances, tuple(found["excluded"])))
    if len(found["rows"]) != len(again.rows):
        yield f"rows are {len(found['rows'])}; there are {len(again.rows)} parts"
    for row, derived in zip(found["rows"], again.rows, strict=False):
        for name, value in derived._asdict().items():
            if not _agree(row[name], value):
                yield f"{name} of {derived.part} is {row[name]}; the balances give {value}"
    if found["required_sessions"] != _required(again, found["half_width"]):
        yield "required_sessions are not what the balances give"


def _agree(stored: object, derived: object) -> bool:
    """Whether values are the same; sums of another machine may differ in the last digits."""
    if isinstance(derived, float) and isinstance(stored, int | float):
        return math.isclose(stored, derived, rel_tol=1e-9, abs_tol=1e-9)
    return stored == derived
