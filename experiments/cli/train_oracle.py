"""The command that checks the oracle's fitted values, or makes them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.cli import options
from experiments.cli.show import count_bar, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.pool import map_pieces
from experiments.stats.numerals import number_text
from terms.types import Family

ValueNames = Annotated[
    list[str] | None,
    typer.Option(
        "--family", "--prior", metavar="NAME", help="Only this family or prior (overlap, urgency_shift, unknown)."
    ),
]


def train_oracle(
    values: ValueNames = None,
    out_dir: Annotated[Path | None, typer.Option("--out", help="Also fit anew, into this folder, and compare.")] = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
) -> None:
    """Check the shipped fitted values by playing fresh episodes; with --out, fit them anew and check the new ones."""
    from experiments.engine.oracle_work import check_standard
    from oracle.shipped import standard_names

    all_priors = list(dict.fromkeys(name for _, name in standard_names()))
    unknown = [name for name in values or () if name not in (*Family, *all_priors)]
    if unknown:
        raise ValueError(f"family or prior={unknown[0]!r}, allowed are {', '.join([*Family, *all_priors])}")
    families = [name for name in values or () if name in list(Family)] or list(Family)
    priors = [name for name in values or () if name in all_priors] or all_priors
    names = [(one, two) for one in families for two in priors]
    if out_dir is not None:
        out_dir.mkdir(parents=True, exist_ok=True)
        out_dir = out_dir.absolute()
    pieces = [(one, two, has_cues) for one, two in names for has_cues in (True, False)]
    with open_executor(where.workers or 1, where.scheduler) as executor:
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
