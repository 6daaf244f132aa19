"""The long computations of the oracle cut into pieces that do not know of each other.

A piece is a function of what it is handed: its result is the same here, in another process and on another machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from experiments.engine.pool import map_pieces
from experiments.players.player import Player
from oracle.arms import Arms, ScenarioArms, arms_of_scenario, join_arms
from oracle.interventions import BayesOptimal
from oracle.relaxation import BracketSettings
from oracle.tables import CertifiedCell, Objective, SuiteValue, certificates, certified_cells, certify_cell
from terms import Scenario
from terms.aliases import Progress

if TYPE_CHECKING:
    from oracle.shipped import Check


@lru_cache(maxsize=1)
def _fitted() -> BayesOptimal:
    from oracle.bayes_optimal import fitted_bayes_optimal

    return fitted_bayes_optimal()


def _arms_of(player: Player, is_fitted: bool, scenario: Scenario) -> ScenarioArms | None:
    return arms_of_scenario(player, scenario, _fitted() if is_fitted else BayesOptimal())


def run_arms_on(
    executor: Executor | None, player: Player, suite: Sequence[Scenario], *, is_fitted: bool, progress: Progress
) -> Arms:
    """Play every arm of a decomposition, a scenario a piece; ``is_fitted`` says that the reference has fitted values.

    See :func:`oracle.arms.run_arms`.
    """
    rows = map_pieces(partial(_arms_of, player, is_fitted), suite, executor=executor, progress=progress)
    return join_arms(suite, rows)


def _certify(num_bounds: int, num_dual: int, settings: BracketSettings, cell: CertifiedCell) -> list[SuiteValue]:
    return certify_cell(cell, num_bounds=num_bounds, num_dual=num_dual, settings=settings)


def certificates_on(
    executor: Executor | None,
    suite: Sequence[Scenario],
    *,
    num_dual: int,
    settings: BracketSettings,
    progress: Progress,
    objective: Objective = "utility",
) -> list[SuiteValue]:
    """Return :func:`oracle.tables.certificates`, a row a piece."""
    if executor is None:
        return certificates(suite, num_dual=num_dual, objective=objective, settings=settings, progress=progress)
    cells = certified_cells(suite, objective)
    certify = partial(_certify, sum(cell.num_bounds for cell in cells), num_dual, settings)
    found = map_pieces(certify, cells, executor=executor, progress=progress)
    return [row for rows in found for row in rows]


class StandardFit(NamedTuple):
    """What one fit of standard values left: its file, and what to say of it."""

    path: Path
    lines: tuple[str, ...]


def fit_standard(folder: Path, name: tuple[str, str]) -> StandardFit:
    """StandardFit the standard values ``name`` (family, prior) into ``folder``."""
    from oracle.shipped import retrain

    lines = list[str]()
    (path,) = retrain([name], folder, lines.append)
    return StandardFit(path, tuple(lines))


def check_standard(
    n_per_cell: int, seed: int, folder_of: dict[tuple[str, str], Path], piece: tuple[str, str, bool]
) -> list[Check]:
    """Play fresh episodes with standard values: the shipped ones, or those in the file that ``folder_of`` names."""
    from oracle.shipped import earned_on_fresh_episodes, read_values

    family, prior, show_cues = piece
    path = folder_of.get((family, prior))
    values = None if path is None else read_values(path, family, prior)
    return earned_on_fresh_episodes(family, prior, n_per_cell=n_per_cell, seed=seed, values=values, show_cues=show_cues)
