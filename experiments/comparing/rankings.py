"""The order of agents by what they get of the surplus, by money left in single talks, and by cash after a session.

Commerce runs give SE+ and the regret rate, bankroll runs the terminal balance. Agents are ranked by point estimates
with the intervals beside them. Pairs whose order differs between two columns are named, and where their paired
difference in a column may be chance (Holm-corrected within the column) that is said. Regret is paired by money left in
a scenario, of which it is the sum over one and the same best profit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from experiments.comparing.sessions import check_comparable, compare_sessions
from experiments.episodes.config import check_same_suite
from experiments.episodes.folder import Run, run_money
from experiments.episodes.money_metrics import summarize_money
from experiments.sessions.folder import SessionsRun
from experiments.sessions.summary import summarize_sessions
from experiments.stats.paired import Comparison, Difference, compare, compare_outcomes
from terms.estimates import UNDEFINED, Estimate
from terms.metrics import summarize

#: Column, with +1 where more is better and -1 where less is.
COLUMNS = {"se_plus": 1, "regret_rate": -1, "terminal_balance": 1}


class RankCell(NamedTuple):
    """A value and its rank from 1, ``None`` where the value is undefined."""

    value: Estimate
    rank: int | None


class OrderRow(NamedTuple):
    """One agent."""

    agent: str
    cells: tuple[RankCell, ...]


class OrderTable(NamedTuple):
    """Agents in the order of the first column that ranks them, and the pairs that other columns order otherwise.

    ``paired`` compares by column every two agents, regret by money left in dollars, and groups those not told apart.
    """

    columns: tuple[str, ...]
    rows: tuple[OrderRow, ...]
    differences: tuple[str, ...]
    paired: Mapping[str, Comparison]

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
            "paired": {column: found.to_json_object() for column, found in self.paired.items()},
        }


def order_agents(runs: Sequence[Run], sessions: Sequence[SessionsRun]) -> OrderTable:
    """Order the agents of commerce ``runs`` and of bankroll ``sessions``; either may be empty.

    Raises
    ------
    ValueError
        If runs of one kind are unfinished or on different scenarios, games or rules, or one agent comes twice.
    """
    for run in runs:
        if not run.is_complete:
            raise ValueError(
                f"runs: {run.folder} holds {len(run.records)} of {run.header.spec.num_episodes} episodes; "
                "resume it by giving its command again"
            )
    check_same_suite([run.header for run in runs])
    check_comparable(sessions)
    values: dict[str, dict[str, Estimate]] = {}
    for run in runs:
        regret = summarize_money(run_money(run.header, run.records))["regret_rate"]
        values[run.header.agent] = {"se_plus": summarize(run.records).overall["se_plus"], "regret_rate": regret}
    for each in sessions:
        balance = summarize_sessions(each.sessions)["terminal_balance"]
        values.setdefault(each.header.agent, {})["terminal_balance"] = balance
    return order_values(values, {**_paired_talks(runs), **_paired_balances(sessions)})


def _paired_talks(runs: Sequence[Run]) -> dict[str, Comparison]:
    scored = [run for run in runs if any(not each.is_excluded for each in run.records)]
    if len(scored) < 2:
        return {}
    left = {
        run.header.agent: {
            row.scenario_id: [(row.best_cents - row.profit_cents) / 100]
            for row in run_money(run.header, run.records)
            if row.best_cents is not None
        }
        for run in scored
    }
    return {
        "se_plus": compare({run.header.agent: run.records for run in scored}, "se_plus"),
        "regret_rate": compare_outcomes(left, "money_left", "lower"),
    }


def _paired_balances(sessions: Sequence[SessionsRun]) -> dict[str, Comparison]:
    scored = [run for run in sessions if any(each.is_scored for each in run.sessions)]
    if len(scored) < 2:
        return {}
    return {"terminal_balance": compare_sessions(scored, "terminal_balance")}


def order_values(values: Mapping[str, Mapping[str, Estimate]], paired: Mapping[str, Comparison]) -> OrderTable:
    """Rank agents in each column; ``values`` are by agent and column, ``paired`` compares them in a column."""
    ranks = {column: _ranks(values, column, sign) for column, sign in COLUMNS.items()}
    agents = sorted(values, key=lambda agent: [ranks[column].get(agent, len(values) + 1) for column in COLUMNS])
    rows = tuple(
        OrderRow(agent, tuple(RankCell(values[agent].get(c, UNDEFINED), ranks[c].get(agent)) for c in COLUMNS))
        for agent in agents
    )
    found = {column: comparison.differences for column, comparison in paired.items()}
    return OrderTable(tuple(COLUMNS), rows, tuple(_differences(agents, ranks, found)), paired)


def _ranks(values: Mapping[str, Mapping[str, Estimate]], column: str, sign: int) -> dict[str, int]:
    scored = {agent: found[column].estimate for agent, found in values.items() if column in found}
    known = sorted((-sign * value, agent) for agent, value in scored.items() if value is not None)
    return {agent: 1 + sum(other < value for other, _ in known) for value, agent in known}


def _differences(
    agents: Sequence[str], ranks: Mapping[str, Mapping[str, int]], paired: Mapping[str, Sequence[Difference]]
) -> list[str]:
    found = []
    for first, second in combinations(COLUMNS, 2):
        both = [agent for agent in agents if agent in ranks[first] and agent in ranks[second]]
        for a, b in combinations(both, 2):
            if (ranks[first][a] - ranks[first][b]) * (ranks[second][a] - ranks[second][b]) < 0:
                upper, lower = (a, b) if ranks[first][a] < ranks[first][b] else (b, a)
                chance = [column for column in (first, second) if not _is_told_apart(a, b, paired.get(column, ()))]
                doubt = f" (may be chance by {' and by '.join(chance)})" if chance else ""
                found.append(f"{upper} is ahead of {lower} by {first}, behind it by {second}{doubt}")
    return found


def _is_told_apart(a: str, b: str, paired: Sequence[Difference]) -> bool:
    return any({a, b} == {each.first, each.second} and each.is_significant for each in paired)
