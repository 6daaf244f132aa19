"""How often the intervals of a decomposition hold the truth: losses, and differences of utilities, of planted faults.

``python -m tests.bench.loss_coverage [--batches B] [--keep FOLDER]`` takes what :mod:`tests.bench.planted_faults`
plays, draws 2,000 samples of n episodes of each fault with replacement, and prints in how many per cent the interval of
their mean holds the mean of all; in brackets the share of samples that have an interval, where that is not all.
``loss`` is the luck-free loss that the advice rests on, ``gap`` the difference of utilities from the reference on the
same draws.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from terms.aliases import Floats
from tests.bench.coverage import Covered, cell_text, cover, mean_of_blocks
from tests.bench.planted_faults import (
    BATCHES,
    HARMLESS,
    PLANTED,
    evidence_of,
    families_of,
    kept_sample,
    read_options,
)
from tests.bench.planted_play import Fault

SIZES = (24, 36, 72, 96, 144)
SAMPLES = 2_000
REFERENCE = Fault("reference", 0)


def pools(batches: int, folder: Path | None) -> Iterator[tuple[str, Floats]]:
    """Yield what each fault loses, and how far its utility lies below the reference's, episode by episode."""
    reference = kept_sample(REFERENCE, batches, folder)
    for kind, (right, doses) in [*PLANTED.items(), *HARMLESS.items()]:
        for dose in doses:
            sample = kept_sample(Fault(kind, dose), batches, folder)
            found = evidence_of(sample, right, np.arange(len(sample.utility)))
            columns = {"execution": found.execution, "control": found.control, "inference": found.inference}
            yield f"{kind} {dose:g}, loss", columns.get(right, found.total)
            if families_of(kind) == families_of(REFERENCE.kind):
                yield f"{kind} {dose:g}, gap", reference.utility - sample.utility


def covered(values: Floats) -> list[Covered]:
    """Return the coverage of one pool at every size."""
    rng = np.random.default_rng(len(values))
    picks = (rng.integers(0, len(values), (SAMPLES, n)) for n in SIZES)
    return [cover(mean_of_blocks(values[picked]), float(values.mean())) for picked in picks]


def main() -> None:
    """Print the table."""
    batches, folder, _ = read_options(sys.argv[1:], BATCHES)
    sys.stdout.write(f"{'fault':34}" + "".join(f"{f'n = {n}':>14}" for n in SIZES) + "\n")
    for name, values in pools(batches, folder):
        if np.ptp(values) > 0:
            sys.stdout.write(f"{name:34}" + "".join(f"{cell_text(each):>14}" for each in covered(values)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
