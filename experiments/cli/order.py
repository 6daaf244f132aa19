"""The command that sets orders of agents side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from experiments.cli import options
from experiments.cli.compare import load_all_sessions, note_gaps
from experiments.cli.show import estimate, out, print_table, text_table
from experiments.engine.run import load_run
from experiments.episodes.suite_task import EPISODES
from experiments.sessions.folder import is_sessions

if TYPE_CHECKING:
    from experiments.comparing.rankings import RankCell


def order(runs: options.Runs, as_json: options.AsJson = False) -> None:
    """Order agents by SE+, by regret and by terminal balance, side by side: commerce and bankroll folders together."""
    from experiments.comparing.rankings import order_agents

    talks = [load_run(EPISODES, folder) for folder in runs if not is_sessions(folder)]
    note_gaps(talks)
    table = order_agents(talks, load_all_sessions(list(filter(is_sessions, runs))))
    if as_json:
        out(json.dumps(table.to_json_object(), allow_nan=False))
        return
    rows = [(row.agent, *map(_ranked, row.cells)) for row in table.rows]
    print_table(text_table("orders of agents, 95 % intervals", ("agent", *table.columns), rows))
    for column, found in table.paired.items():
        shown = ", ".join(f"{name} ({found.letters[name]})" for name in found.ranking)
        out(f"{column}: {shown}; those that share a letter are not told apart")
    for line in table.differences:
        out(line)


def _ranked(cell: RankCell) -> str:
    return "-" if cell.rank is None else f"{cell.rank}. {estimate(cell.value._asdict())}"
