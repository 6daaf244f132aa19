r"""How often the diagnosis names a planted fault rightly, against what the fault costs: nine kinds in doses, and none.

``python -m tests.bench.planted_faults [--batches B] [--keep FOLDER] [KIND ...]`` plays every fault on fresh overlap
episodes of all families, cuts them into ``B`` batches of 72 and again into three times as many of 24, and lets
:func:`oracle.diagnosis.name_fault` say what it finds in each. With ``--keep`` what was played is stored there and used
again.

The agents are the reference with one fault. What they believe may be wrong (``too strong``, ``too weak``: the mean of
the counterpart's reservation is off by so many percent of the price range; ``anchored``: by this share it stays what
the first quote made it, beyond 1 it moves away from what came later; ``cues ignored``; ``cues backwards``: read the
wrong way round in that share of rounds), how they plan (``short horizon``: as if at most so many offers were left;
``patient``: as if it were so many rounds earlier; ``hasty``: what comes later counts that much of its worth), or what
they do (``misread numbers``: in that share of moves a number has its two digits swapped, the own or the standing one;
``wrong role``: in that share of talks it bargains for the other side). ``reference``, ``tremble`` (its offers have
noise of so many percent of the price range) and small doses have nothing to mend.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import terms
from oracle.diagnosis import Evidence, name_fault
from oracle.losses import MoveTable, pool_losses
from oracle.remembered import remembered_values
from terms.aliases import Floats
from terms.intervals import share_bounds
from terms.scenario import Scenario
from terms.types import Family
from tests.bench.planted_play import Fault, play_planted

BATCHES = 120
SIZES = (24, 72)
SEED = 7_141
CEILING_EPISODES = 48
PRICE_RANGE = 100.0
TELLING = (Family.CANDID, Family.EXPRESSIVE)
"""Where cues matter: elsewhere no reading of them costs as much as 1 %."""

#: What is right to say of each kind, and its doses.
PLANTED: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "too strong": ("inference", (3, 5, 8)),
    "too weak": ("inference", (2, 3, 4.5)),
    "anchored": ("inference", (0.7, 1.0, 1.3)),
    "cues backwards": ("inference", (0.5, 1.0)),
    "short horizon": ("control", (4, 3, 2)),
    "hasty": ("control", (0.7, 0.55, 0.4)),
    "patient": ("control", (1, 2)),
    "misread numbers": ("execution", (0.02, 0.04, 0.06)),
    "wrong role": ("execution", (0.03, 0.05, 0.08)),
}
HARMLESS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "reference": ("none", (0,)),
    "tremble": ("none", (0.5, 1.0)),
    "cues ignored": ("none", (1,)),
    "too strong": ("none", (1,)),
    "hasty": ("none", (0.9,)),
}
_MISSTATED = {"cues backwards"}
"""Faults of belief that are no tilt, so that the planner on the stated means plays otherwise than the agent."""


class Sample(NamedTuple):
    """What was played of one fault: moves of the agent and of the planner on its beliefs, and what each could earn."""

    base: Floats
    swapped: Floats
    utility: Floats
    ceiling: Floats


class Named(NamedTuple):
    """What was said of the batches of one fault and size; ``cost`` is what the fault costs of the clairvoyant's."""

    right: int
    batches: int
    cost: float
    said: dict[str, int]
    sure: float


def families_of(kind: str) -> Sequence[Family]:
    """Return the families that a kind is played on."""
    return TELLING if kind.startswith("cues") else tuple(Family)


def play_sample(fault: Fault, num_episodes: int) -> Sample:
    """Play one fault on fresh episodes of its families, evenly over roles and openers, numbered over all families."""
    families = families_of(fault.kind)
    parts, first = list[Sample](), 0
    for family in families:
        suite = terms.fresh_suite(SEED, ["overlap"], [family], num_episodes // (4 * len(families)))
        base = play_planted(suite, fault)
        swapped = play_planted(suite, fault, is_swapped=True) if fault.kind in _MISSTATED else base
        shifted = [np.column_stack([rows[:, 0] + first, rows[:, 1:]]) for rows in (base.moves, swapped.moves)]
        parts.append(Sample(*shifted, base.utility, clairvoyant_part(suite)))
        first += len(suite)
    return Sample(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def clairvoyant_part(suite: Sequence[Scenario]) -> Floats:
    """Return what the clairvoyant earns in each episode: the share of the zopa it earns in some of them."""
    zopa = np.array([item.zopa for item in suite])
    some = np.arange(0, len(suite), max(1, len(suite) // CEILING_EPISODES))
    return zopa * float(remembered_values([suite[i] for i in some]).sum() / zopa[some].sum())


def kept_sample(fault: Fault, batches: int, folder: Path | None) -> Sample:
    """Return the sample of a fault, from ``folder`` if it is there."""
    path = None if folder is None else folder / f"{fault.kind.replace(' ', '-')}-{fault.dose:g}-{batches}.npz"
    if path is not None and path.exists():
        with np.load(path) as found:
            return Sample(*(found[name] for name in Sample._fields))
    sample = play_sample(fault, batches * max(SIZES))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **sample._asdict())
    return sample


def evidence_of(sample: Sample, right: str, chosen: np.ndarray) -> Evidence:
    """Return the evidence of the ``chosen`` episodes of a sample, as :mod:`oracle.arms` would find it.

    Shown the posterior, or with the planner in its place, an agent whose fault is elsewhere plays the reference.
    """
    place = np.full(len(sample.utility), -1)
    place[chosen] = np.arange(len(chosen))
    base, swapped = (_chosen_moves(rows, place) for rows in (sample.base, sample.swapped))
    nothing = MoveTable.from_rows(np.zeros((0, 6)))
    is_belief = right == "inference" or (right == "none" and bool(base.belief_cost.any()))
    found = pool_losses(*((base, nothing, swapped) if is_belief else (base, base, nothing)), num=len(chosen))
    columns = (PRICE_RANGE * column for column in (found.slips, found.planning, found.belief, found.total))
    return Evidence(*columns, sample.ceiling[chosen], np.arange(len(chosen)))


def _chosen_moves(rows: Floats, place: np.ndarray) -> MoveTable:
    mine = rows[place[rows[:, 0].astype(np.intp)] >= 0]
    return MoveTable.from_rows(np.column_stack([place[mine[:, 0].astype(np.intp)], mine[:, 1:]]))


def batches_of(kind: str, total: int, size: int) -> Iterator[np.ndarray]:
    """Yield the episodes of each batch, no two alike: ``size`` of them, evenly over families, roles and openers."""
    cells = 4 * len(families_of(kind))
    per_batch, per_cell = size // cells, total // cells
    starts = np.arange(cells)[:, None] * per_cell
    for first in range(0, per_cell - per_batch + 1, per_batch):
        yield (starts + first + np.arange(per_batch)).ravel()


def ask(fault: Fault, right: str, sample: Sample, size: int, *, num_samples: int = 0) -> Named:
    """Let the diagnosis speak about every batch of ``size`` episodes."""
    said: dict[str, int] = {}
    sure, count = [], 0
    for chosen in batches_of(fault.kind, len(sample.utility), size):
        found = name_fault(evidence_of(sample, right, chosen), num_samples=num_samples)
        said[found.fault] = said.get(found.fault, 0) + 1
        count += 1
        sure.append(found.sureness or 0.0)
    cost = PRICE_RANGE * float(sample.base[:, 2].sum()) / float(sample.ceiling.sum())
    return Named(said.get(right, 0), count, cost, said, float(np.mean(sure)))


def read_options(words: Sequence[str], batches: int) -> tuple[int, Path | None, list[str]]:
    """Return the batches, the folder and the kinds that were asked for."""
    rest = list(words)
    given = {name: rest.pop(rest.index(name) + 1) for name in ("--batches", "--keep") if name in rest}
    kinds = [word for word in rest if word not in given]
    return int(given.get("--batches", batches)), Path(given["--keep"]) if "--keep" in given else None, kinds


def main() -> None:
    """Print the table."""
    batches, folder, kinds = read_options(sys.argv[1:], BATCHES)
    sys.stdout.write(f"{'fault':24}{'right':12}{'cost':>8}" + "".join(f"{f'n = {n}':>24}" for n in SIZES) + "\n")
    for table in (PLANTED, HARMLESS):
        for kind, (right, doses) in table.items():
            for dose in doses if not kinds or kind in kinds else ():
                fault = Fault(kind, dose)
                sample = kept_sample(fault, batches, folder)
                found = [ask(fault, right, sample, size) for size in SIZES]
                cells = "".join(f"{_cell(each):>24}" for each in found)
                sys.stdout.write(f"{kind + f' {dose:g}':24}{right:12}{found[0].cost:8.1%}{cells}  {found[-1].said}\n")
                sys.stdout.flush()


def _cell(found: Named) -> str:
    low, high = share_bounds(found.right / found.batches, found.batches)
    return f"{found.right / found.batches:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
