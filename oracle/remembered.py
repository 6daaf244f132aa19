"""Clairvoyant values kept on disk: a suite that was solved once is not solved again.

The key is a digest of everything a value depends on: constants of the kernel and hidden types, standing prices, the
grid, and the source of the modules that compute it, so that a changed line of the solver makes every older file stale.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from oracle import clairvoyant, going_back, known_type
from oracle.clairvoyant import clairvoyant_values, start_of
from oracle.kernels.compiling import SOURCE_DIGEST
from oracle.known_type import STANDARD_RESOLUTION, Resolution
from oracle.solution_cache import load_or_solve, solution_key
from terms.aliases import Floats
from terms.scenario import Scenario

_SOLVER = (clairvoyant, going_back, known_type)


def remembered_values(
    scenarios: Sequence[Scenario],
    *,
    resolution: Resolution = STANDARD_RESOLUTION,
    num_threads: int = 2,
    folder: Path | None = None,
) -> Floats:
    """Return :func:`oracle.clairvoyant.clairvoyant_values`, from ``folder`` if these very problems were solved before.

    ``folder`` is the user's cache folder unless told otherwise. A file that is torn or stale is solved again.
    """
    starts = [start_of(scenario) for scenario in scenarios]
    facts = {
        "what": "clairvoyant values",
        "code": [SOURCE_DIGEST, code_digest(_SOLVER)],
        "grid": [resolution.num_offers, resolution.num_prices],
        "starts": [[list(problem.params), *problem[1:], standing] for problem, standing in starts],
    }

    def solved() -> dict[str, Floats]:
        return {"values": clairvoyant_values(scenarios, resolution=resolution, num_threads=num_threads)}

    return np.asarray(load_or_solve(solution_key(facts), solved, folder)["values"], dtype=np.float64)


@cache
def code_digest(modules: Sequence[ModuleType]) -> str:
    """Return the digest of the source of ``modules``."""
    digest = hashlib.sha256()
    for module in modules:
        digest.update(inspect.getsource(module).encode())
    return digest.hexdigest()
