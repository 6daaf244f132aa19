"""The command that lets a person negotiate."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.cli import options
from experiments.cli.diagnose import show_run
from experiments.cli.seating import default_folder, run_folder
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.players.player import as_player


def play(
    suite: options.Suite = "fresh",
    episodes: Annotated[int, typer.Option(min=1, max=options.MOST, help="How many negotiations to play.")] = 1,
    seed: options.Seed = None,
    cells: options.Cells = None,
    out_dir: options.Out = None,
) -> None:
    """Negotiate yourself, on the same episodes as any agent; who you faced is revealed at the end."""
    from experiments.players.human import Human, reveal

    spec = SuiteSpec.parse(suite, seed=seed, sample=episodes, **options.split_cells(cells))
    player = as_player(Human())
    folder = run_folder(out_dir or default_folder(player, spec))
    run = run_task(EPISODES, player, spec, folder, progress=reveal)
    show_run(run, as_json=False)
