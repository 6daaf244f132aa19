"""The order of agents by what they get of the surplus, by money left in single talks, and by cash after a session.

Commerce runs give SE+ and the regret rate, bankroll runs the terminal balance. Agents are ranked by point estimates;
the intervals stand beside them, and pairs whose order differs between two columns are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from experiments.money.metrics import summarize_money
from experiments.runs.folder import load_run, run_money
from experiments.sessions.folder import is_sessions, load_sessions
from experiments.sessions.summary import summarize_sessions
from terms.estimates import UNDEFINED, Estimate
from terms.metrics import summarize

#: Column, with +1 where more is better and -1 where less is.
COLUMNS = {"se_plus": 1, "regret_rate": -1, "terminal_balance": 1}


class Cell(NamedTuple):
    """A value and its rank from 1, ``None`` where the value is undefined."""

    value: Estimate
    rank: int | None


class OrderRow(NamedTuple):
    """One agent."""

    agent: str
    cells: tuple[Cell, ...]


class OrderTable(NamedTuple):
    """Agents in the order of the first column that ranks them, and the pairs that other columns order otherwise."""

    columns: tuple[str, ...]
    rows: tuple[OrderRow, ...]
    differences: tuple[str, ...]

    def to_json_object(self) -> dict[str, Any]:
        """Return the table as JSON types."""
        return {
            "columns": list(self.columns),
            "agents": {
                row.agent: {
                    column: {**cell.value._asdict(), "rank": cell.rank}
                    for column, cell in zip(self.columns, row.cells, strict=True)
                }
                for row in self.rows
            },
            "differences": list(self.differences),
        }


def order_agents(folders: Sequence[Path]) -> OrderTable:
    """Read commerce and bankroll folders and order their agents.

    Raises
    ------
    ValueError
        If two folders of one kind are on different scenarios, or one agent comes twice.
    """
    values: dict[str, dict[str, Estimate]] = {}
    pinned: dict[str, str] = {}
    for folder in folders:
        kind, digest, agent, found = _read(folder)
        if pinned.setdefault(kind, digest) != digest:
            raise ValueError(f"runs: {folder} is on other {kind} scenarios than the runs before it")
        if set(found) & set(values.get(agent, {})):
            raise ValueError(f"runs has agent={agent!r} twice in {kind}; name each once")
        values.setdefault(agent, {}).update(found)
    return order_values(values)


def _read(folder: Path) -> tuple[str, str, str, dict[str, Estimate]]:
    if is_sessions(folder):
        sessions = load_sessions(folder)
        found = {"terminal_balance": summarize_sessions(sessions.sessions)["terminal_balance"]}
        return "bankroll", sessions.header.digest, sessions.header.agent, found
    run = load_run(folder)
    regret = summarize_money(run_money(run.header, run.records))["regret_rate"]
    found = {"se_plus": summarize(run.records).overall["se_plus"], "regret_rate": regret}
    return "commerce", run.header.suite_digest, run.header.agent, found


def order_values(values: Mapping[str, Mapping[str, Estimate]]) -> OrderTable:
    """Rank agents in each column; ``values`` are by agent and column."""
    ranks = {column: _ranks(values, column, sign) for column, sign in COLUMNS.items()}
    agents = sorted(values, key=lambda agent: [ranks[column].get(agent, len(values) + 1) for column in COLUMNS])
    rows = tuple(
        OrderRow(agent, tuple(Cell(values[agent].get(c, UNDEFINED), ranks[c].get(agent)) for c in COLUMNS))
        for agent in agents
    )
    return OrderTable(tuple(COLUMNS), rows, tuple(_differences(agents, ranks)))


def _ranks(values: Mapping[str, Mapping[str, Estimate]], column: str, sign: int) -> dict[str, int]:
    scored = {agent: found[column].estimate for agent, found in values.items() if column in found}
    known = sorted((-sign * value, agent) for agent, value in scored.items() if value is not None)
    return {agent: 1 + sum(other < value for other, _ in known) for value, agent in known}


def _differences(agents: Sequence[str], ranks: Mapping[str, Mapping[str, int]]) -> list[str]:
    found = []
    for first, second in combinations(COLUMNS, 2):
        both = [agent for agent in agents if agent in ranks[first] and agent in ranks[second]]
        for a, b in combinations(both, 2):
            if (ranks[first][a] - ranks[first][b]) * (ranks[second][a] - ranks[second][b]) < 0:
                upper, lower = (a, b) if ranks[first][a] < ranks[first][b] else (b, a)
                found.append(f"{upper} is ahead of {lower} by {first}, behind it by {second}")
    return found
