"""The command that lets somebody else go on with a year, and says what that is worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from commerce.money import to_fen, to_yuan
from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.planning import DryRun, tell_free_plan, tell_years_plan
from experiments.cli.seating import kept_if_played
from experiments.cli.show import count_bar, note, out
from experiments.cli.year import tell_cost, tell_lost
from experiments.players.model_options import ModelOptions
from experiments.players.seat import is_model
from experiments.storage.files import folder_name
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.years.run import YearRun, read_played, run_year
from experiments.years.seats import YearSeat, merchant_seat
from experiments.years.spec import year_label
from experiments.years.taking_over import Origin, branch_seat, read_origin


def branch(  # noqa: PLR0913 - one parameter an option
    year: Annotated[Path, typer.Argument(help="Folder of a year that has ended.")],
    day: Annotated[int, typer.Option(min=0, max=options.MOST, help="The morning on which the other takes over.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent", "--merchant", help="Who takes over: a merchant or a model, as `terms year` names them."
        ),
    ],
    out_dir: options.Out = None,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Let another go on with a year from the morning of a day, on the same draws; says what that is worth."""
    asked = ModelOptions.read(model or (), StorekeeperSettings.model_fields)
    if is_model(agent):
        from experiments.storekeeper.connect import connected, plan_seat

        planned = plan_seat(agent, asked)
        origin = read_origin(year, day)
        folder = _folder(origin, planned, out_dir)
        tell_years_plan(planned, 1, is_dry=dry_run)
        num_days = origin.header.spec.num_days
        with (
            kept_if_played(folder),
            connected(planned, asked, [folder]) as seat,
            count_bar(num_days, f"{planned.name}, days") as progress,
        ):
            played = run_year(
                folder, origin.header.spec, branch_seat(origin, seat), lambda spec, at: progress(at.day, num_days)
            )
        tell_cost([played.outcome.spending])
    else:
        if asked != ModelOptions():
            raise ValueError(f"agent={agent!r} is not a language model; model options have no effect on it")
        merchant, origin = merchant_seat(agent), read_origin(year, day)
        folder = _folder(origin, merchant, out_dir)
        tell_free_plan("1 year", is_dry=dry_run)
        with kept_if_played(folder):
            played = run_year(folder, origin.header.spec, branch_seat(origin, merchant))
    _show(read_played(year), played, as_json=as_json)


def _folder(origin: Origin, seat: YearSeat, given: Path | None) -> Path:
    spec, name = origin.header.spec, branch_seat(origin, seat).name
    return (given or Path("runs") / f"year-{folder_name(name)}-{spec.rules}" / spec.folder_name).absolute()


def _show(before: YearRun, after: YearRun, *, as_json: bool) -> None:
    """Print both years and what the second ended with more, or that it has no score."""
    if after.result is None:
        tell_lost([after], 1)
        raise typer.Exit(NOTHING_SCORED)
    note(f"{year_label(after.header.agent, after.header.spec)}: {after.outcome.outcome}, {after.folder}")
    worth = to_yuan(to_fen(_assets(after)) - to_fen(_assets(before)))
    if as_json:
        found = {name: _row(one) for name, one in (("year", before), ("branch", after))}
        out(json.dumps({**found, "worth": worth}, allow_nan=False))
        return
    for one in (before, after):
        out(f"{_assets(one):>16,.2f} yuan  {one.header.agent} ({one.outcome.outcome})")
    out(f"{worth:>+16,.2f} yuan  is the branch worth, on the same draws")


def _assets(run: YearRun) -> float:
    assert run.result is not None
    return float(run.result["metrics"]["final_assets"]["value"])


def _row(run: YearRun) -> dict[str, Any]:
    outcome = run.outcome.outcome.value
    return {"folder": str(run.folder), "agent": run.header.agent, "final_assets": _assets(run), "outcome": outcome}
