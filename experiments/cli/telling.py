"""Commands about the oracle's own knowledge: one negotiation explained, and its fitted values made and checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli import options
from experiments.cli.fitting import prepared_bayes_optimal
from experiments.cli.show import count_bar, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.pool import map_pieces
from experiments.engine.run import load_run
from experiments.episodes.folder import Run
from experiments.episodes.suite_task import EPISODES
from experiments.stats.numerals import number_text
from terms.records import EpisodeRecord
from terms.types import Family

if TYPE_CHECKING:
    from oracle.explain import Explanation, MoveReview


def explain(
    run: options.RunFolder,
    episode: Annotated[str, typer.Argument(help="Episode id, or its number in the suite, from 1.")],
    as_json: options.AsJson = False,
) -> None:
    """Tell one negotiation: the counterpart, what could be believed, each move beside the oracle's and its cost."""
    from oracle.explain import explain as explain_record

    loaded = load_run(EPISODES, run)
    record = find_episode(loaded, episode)
    (scenario,) = (each for each in loaded.header.spec.build() if each.scenario_id == record.scenario_id)
    told = explain_record(scenario, record, bayes_optimal=prepared_bayes_optimal([scenario]))
    if as_json:
        out(json.dumps(told.to_json_object(), allow_nan=False))
        return
    for line in _setting(told, record):
        out(line)
    print_table(text_table("moves, costs in price units", _HEADINGS, [_move_row(move) for move in told.moves]))
    for line in _verdict(told, record):
        out(line)


_HEADINGS = (
    "round", "standing", "cue", "could believe r", "believed r", "deal possible", "move", "oracle's move", "cost",
    "in hindsight",
)  # fmt: skip


def find_episode(run: Run, episode: str) -> EpisodeRecord:
    """Return the episode with this id, or with this number in the suite.

    Raises
    ------
    ValueError
        If the run has no such episode.
    """
    ids = [scenario.scenario_id for scenario in run.header.spec.build()]
    wanted = ids[int(episode) - 1] if episode.isdigit() and 1 <= int(episode) <= len(ids) else episode
    for record in run.records:
        if record.scenario_id == wanted:
            return record
    raise ValueError(f"episode={episode!r}; {run.folder} has numbers 1 to {len(ids)} and ids such as {ids[0]!r}")


def _setting(told: Explanation, record: EpisodeRecord) -> list[str]:
    hidden = told.counterpart
    deal = f"zopa {number_text(told.zopa)}" if told.zopa > 0 else "no deal possible"
    return [
        f"{told.scenario_id}, played by {told.agent} as {record.agent_role}",
        f"own reservation {number_text(record.agent_type.reservation_price)}; the counterpart: {told.family}, "
        f"reservation {number_text(hidden['reservation_price'])}, urgency {number_text(hidden['urgency'])}, "
        f"{hidden['stance']}; {deal}",
    ]


def _move_row(move: MoveReview) -> tuple[str, ...]:
    exact, stated = move.exact, move.stated
    low, high = exact["r_interval"]
    cue = "-" if move.cue is None else f"{move.cue.sentiment.value} {move.cue.posture.value}"
    return (
        str(move.round),
        number_text(move.standing_price),
        cue,
        f"{number_text(exact['r_mean'])} [{number_text(low)}, {number_text(high)}]",
        "-" if stated is None else number_text(stated.r_hat),
        f"{100 * exact['feasible_prob']:.0f} %",
        _act(move.decision, move.price),
        _act(move.reference_decision, move.reference_price),
        number_text(move.cost),
        number_text(move.hindsight_cost),
    )


def _act(decision: Any, price: float | None) -> str:
    if decision is None:
        return "no usable reply"
    return decision.value if price is None else f"{decision.value} {number_text(price)}"


def _verdict(told: Explanation, record: EpisodeRecord) -> list[str]:
    costs = ", ".join(f"{name} {number_text(cost)}" for name, cost in told.costs.items())
    where = "" if told.costliest_round is None else f"; the costliest move was in round {told.costliest_round}"
    return [
        f"ended by {record.termination.value.replace('_', ' ')}, utility {number_text(told.utility)}; "
        f"knowing the type it was worth {number_text(told.clairvoyant_value)} at the start, "
        f"noise {number_text(told.noise)}",
        f"expected cost of the moves: {costs}. Loss came from: {told.source}{where}",
    ]


def train_oracle(  # noqa: PLR0913 - one parameter an option
    family: Annotated[list[str] | None, typer.Option(help="Only this family; repeat for more.")] = None,
    prior: Annotated[list[str] | None, typer.Option(help="Only overlap, urgency_shift or unknown.")] = None,
    out_dir: Annotated[Path | None, typer.Option("--out", help="Also fit anew, into this folder, and compare.")] = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    hide_cues: Annotated[bool, typer.Option("--hide-cues", help="Also play the same draws without any cue.")] = False,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
) -> None:
    """Check the shipped fitted values by playing fresh episodes; with --out, fit them anew and check the new ones."""
    from experiments.engine.oracle_work import check_standard
    from oracle.shipped import standard_names

    families, priors = family or list(Family), prior or list(dict.fromkeys(name for _, name in standard_names()))
    names = [(one, two) for one in families for two in priors]
    unknown = [name for name in names if name not in standard_names()]
    if unknown:
        raise ValueError(
            f"family, prior = {', '.join(unknown[0])}; allowed are families with overlap, urgency_shift, unknown"
        )
    if out_dir is not None:
        out_dir.mkdir(parents=True, exist_ok=True)
        out_dir = out_dir.absolute()
    cues = (True, False) if hide_cues else (True,)
    pieces = [(one, two, shown) for one, two in names for shown in cues]
    with open_executor(workers or 1, scheduler) as executor:
        fitted = _fit(names, out_dir, executor) if out_dir else {}
        check = partial(check_standard, episodes_per_cell, seed or 0, fitted)
        with count_bar(len(pieces), "checking") as progress:
            found = map_pieces(check, pieces, executor=executor, progress=progress)
    checks = [row for rows in found for row in rows]
    if as_json:
        from dataclasses import asdict

        out(json.dumps([asdict(check) for check in checks], allow_nan=False))
        return
    rows = [
        (f"{c.family} {c.prior} {c.opener}{'' if c.has_cues else ' no cues'}",
         f"{c.utility_share:.4f} +- {c.utility_share_se:.4f}", str(c.n),
         f"{c.surplus_efficiency:.4f} +- {c.surplus_efficiency_se:.4f}", str(c.n_feasible), number_text(c.residual))
        for c in checks
    ]  # fmt: skip
    headings = ("values", "U / E[zopa]", "n", "SE+", "n feasible", "residual, % of R")
    print_table(text_table("what the fitted values earn on fresh episodes, with standard errors", headings, rows))


def _fit(names: Sequence[tuple[str, str]], folder: Path, executor: Executor | None) -> dict[tuple[str, str], Path]:
    """Fit every one of ``names`` (family, prior) into ``folder`` and say how far each is from the shipped one."""
    from experiments.engine.oracle_work import fit_standard

    with count_bar(len(names), "fitting") as progress:
        fits = map_pieces(partial(fit_standard, folder), names, executor=executor, progress=progress)
    for fit in fits:
        for line in fit.lines:
            note(line)
        note(f"largest difference to the shipped file: {_difference_to_shipped(fit.path)}")
    return {name: fit.path for name, fit in zip(names, fits, strict=True)}


def _difference_to_shipped(path: Path) -> str:
    from importlib import resources

    import numpy as np

    shipped = resources.files("oracle") / "data" / path.name
    if not shipped.is_file():
        return "none is shipped"
    new, old = (_arrays(data) for data in (path.read_bytes(), shipped.read_bytes()))
    names = [name for name in new if name not in ("key", "seconds")]  # how long it took is no part of the result
    return f"{max(float(np.nanmax(np.abs(new[name] - old[name]))) for name in names):.3g}"


def _arrays(data: bytes) -> dict[str, Any]:
    import io

    import numpy as np

    with np.load(io.BytesIO(data.partition(b"\n")[2]), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
