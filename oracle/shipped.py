"""Fitted values that come with the package, and those fitted on demand.

Every family has values for three standard priors: ``overlap``, ``urgency_shift`` and ``unknown`` (the three released
regimes, equally likely). In a game known to have no deal nothing can be earned, so its values are zero and need no
file. On the items of a catalogue one file a family serves every item and prior (:mod:`oracle.framed`). Any other
knowledge is fitted once and kept in the cache (:mod:`oracle.solution_cache`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from oracle.fitted import FittedValues, TrainingSettings, empty_nets, train
from oracle.framed import NUM_INPUTS, FramedFit, fit_frames, on_frame
from oracle.kernels.value import NUM_FEATURES, Nets
from oracle.planner import FittedAgent
from oracle.prior import RELEASED_REGIMES, SCALE, Knowledge, is_framed, unit_of
from oracle.solution_cache import Arrays, from_bytes, load_or_solve, solution_key, store, to_bytes
from terms.aliases import Floats
from terms.config import GameConfig
from terms.episode import play
from terms.suites import fresh_suite
from terms.types import Family, Opener, Regime

STANDARD_PRIORS: dict[str, tuple[Regime, ...]] = {
    "overlap": (Regime.OVERLAP,),
    "urgency_shift": (Regime.URGENCY_SHIFT,),
    "unknown": RELEASED_REGIMES,
}
CATALOGUE = "catalogue"
SETTINGS = TrainingSettings()
THOROUGH = replace(SETTINGS, num_paths=9000, steps=25, num_nodes=10, halvings=1)
"""Three times the work, where it pays: against taciturn counterparts the policy then earns 0.5 to 0.9 % of the mean
zopa more (two samples of 4,000 fresh episodes, standard error 0.13 each), against adversarial ones 0.4 % less."""
FRAMED = replace(SETTINGS, num_paths=8000, hidden=20, steps=25, tolerance=1.0)
NUM_FRAMES = 160
"""Frames of one fit; its tolerance is in percent of the frame."""
THOROUGH_FOR = frozenset({("taciturn", "overlap")})
VALUES_VERSION = 1  # raise it when the meaning of a feature or a parameter changes
TRAINING_SEED = 20_260_513


@dataclass(frozen=True, slots=True)
class Check:
    """What one (family, prior, opener) earns on fresh episodes, with standard errors, and the training residual.

    ``utility_share`` is the mean utility over the mean zopa, episodes without a deal included with their losses and 0;
    ``surplus_efficiency`` the mean of ``utility / zopa`` over the ``n_feasible`` that have one.
    """

    family: str
    prior: str
    opener: str
    has_cues: bool
    n: int
    n_feasible: int
    utility_share: float
    utility_share_se: float
    surplus_efficiency: float
    surplus_efficiency_se: float
    residual: float
    seconds: float


def values_key(knowledge: Knowledge, settings: TrainingSettings) -> str:
    """Return the digest of everything fitted values depend on; words and shown history do not count.

    Those of a catalogue depend neither on the item nor on the prior.
    """
    config = knowledge.config.model_dump(mode="json", exclude={"show_messages", "history_window"})
    sizes = {name: value for name, value in asdict(settings).items() if name != "threads"}
    if not settings.goes_back:
        del sizes["falling_share"]
    prior = (
        {"frames": NUM_FRAMES, "inputs": NUM_INPUTS}
        if is_framed(knowledge) and knowledge.regimes != (Regime.NO_DEAL,)
        else {
            "regimes": list(knowledge.regimes),
            "geometry": knowledge.geometry,
            "objective": knowledge.objective,
        }
    )
    return solution_key(
        {
            "version": VALUES_VERSION,
            "features": NUM_FEATURES,
            "config": config,
            "families": list(knowledge.families),
            "settings": sizes,
            **prior,
        }
    )


def standard_knowledge(family: Family | str, prior: str) -> Knowledge:
    """Return what an agent knows that is told the family and one of the standard priors.

    ``catalogue`` stands for all of them on any item: the item here is one like any other.
    """
    if prior == CATALOGUE:
        return Knowledge(GameConfig(), RELEASED_REGIMES, (Family(family),), frame=(SCALE / 4, SCALE / 4))
    if prior not in STANDARD_PRIORS:
        raise ValueError(f"prior={prior!r}, allowed are {', '.join([*STANDARD_PRIORS, CATALOGUE])}")
    return Knowledge(GameConfig(), STANDARD_PRIORS[prior], (Family(family),))


def settings_for(knowledge: Knowledge) -> TrainingSettings:
    """Return how values for ``knowledge`` are fitted."""
    if is_framed(knowledge):
        return FRAMED
    priors = [name for name, regimes in STANDARD_PRIORS.items() if regimes == knowledge.regimes]
    names = {(family.value, prior) for family in knowledge.families for prior in priors}
    is_standard = len(knowledge.families) == 1 and knowledge.objective == "utility"
    return THOROUGH if is_standard and names & THOROUGH_FOR else SETTINGS


def values_for(
    knowledge: Knowledge, *, folder: Path | None = None, settings: TrainingSettings | None = None
) -> FittedValues:
    """Return fitted values for ``knowledge``: shipped, else from the cache, else fitted now (a minute or two)."""
    settings = settings or settings_for(knowledge)
    if knowledge.regimes == (Regime.NO_DEAL,):
        horizon = knowledge.config.horizon
        return FittedValues(knowledge, settings.grid, empty_nets(horizon, 1), np.zeros(horizon + 1), 0.0)
    key = values_key(knowledge, settings)
    arrays = _shipped(key)
    if arrays is None:
        arrays = load_or_solve(key, lambda: _to_arrays(_fit(knowledge, settings)), folder)
    return _from_arrays(arrays, knowledge, settings)


def retrain(
    names: Iterable[tuple[str, str]], folder: Path, tell: Callable[[str], None] = lambda line: None
) -> list[Path]:
    """Fit the standard values ``names`` (family, prior) again and write them to ``folder`` as they are shipped."""
    paths = []
    for family, prior in names:
        knowledge = standard_knowledge(family, prior)
        values = _fit(knowledge, settings_for(knowledge))
        key = values_key(knowledge, settings_for(knowledge))
        path = folder / f"{key[:16]}.npz"
        store(path, to_bytes(key, _to_arrays(values)))
        paths.append(path)
        tell(f"{family} {prior}: residual {np.nanmax(values.rmse):.3f}, {values.seconds:.0f} s, {path.name}")
    return paths


def read_values(path: Path, family: str, prior: str) -> FittedValues:
    """Return the values that :func:`retrain` wrote to ``path``.

    Raises
    ------
    ValueError
        If the file is torn, or was made for another family, prior or version.
    """
    knowledge = standard_knowledge(family, prior)
    arrays = from_bytes(values_key(knowledge, settings_for(knowledge)), path.read_bytes())
    if arrays is None:
        raise ValueError(f"path={str(path)!r} holds no sound values of {family} {prior}")
    return _from_arrays(arrays, knowledge, settings_for(knowledge))


def values_digest(values: FittedValues) -> str:
    """Return the digest of what is played with: the nets, not how long they took to fit."""
    digest = hashlib.sha256()
    for name, part in values.nets._asdict().items():
        digest.update(f"{name} {part.shape} ".encode() + np.ascontiguousarray(part, dtype="<f8").tobytes())
    return digest.hexdigest()


def earned_on_fresh_episodes(
    family: str,
    prior: str,
    *,
    n_per_cell: int,
    seed: int,
    values: FittedValues | None = None,
    show_cues: bool = True,
) -> list[Check]:
    """Play fresh episodes of the prior's regimes and return what is earned, by opener.

    ``values`` are those that come with the package unless others are given. With ``show_cues=False`` the same draws are
    played with hidden cues: the belief goes without them, the continuation values stay those fitted with cues.
    """
    values = values or values_for(standard_knowledge(family, prior))
    config = values.knowledge.config.model_copy(update={"show_cues": show_cues})
    agent = FittedAgent(replace(values, knowledge=replace(values.knowledge, config=config)))
    begin = time.perf_counter()
    earned: dict[Opener, list[tuple[float, float]]] = {opener: [] for opener in Opener}
    for scenario in fresh_suite(seed, STANDARD_PRIORS[prior], [family], n_per_cell, config=config):
        earned[scenario.opener].append((play(scenario, agent).utility, max(scenario.zopa, 0.0)))
    seconds, residual = time.perf_counter() - begin, float(np.nanmax(values.rmse))
    return [
        Check(
            family=family,
            prior=prior,
            opener=opener.value,
            has_cues=show_cues,
            residual=residual,
            seconds=seconds,
            **_earnings(np.array(rows)),
        )
        for opener, rows in earned.items()
    ]


def _earnings(rows: Floats) -> dict[str, Any]:
    utility, width = rows[:, 0], rows[:, 1]
    feasible = width > 0
    share = float(utility.mean() / width.mean())
    errors = (utility - share * width) / width.mean()
    ratios = utility[feasible] / width[feasible]
    return {
        "n": len(rows),
        "n_feasible": len(ratios),
        "utility_share": share,
        "utility_share_se": float(errors.std(ddof=1) / np.sqrt(len(rows))),
        "surplus_efficiency": float(ratios.mean()),
        "surplus_efficiency_se": float(ratios.std(ddof=1) / np.sqrt(len(ratios))),
    }


def _fit(knowledge: Knowledge, settings: TrainingSettings) -> FittedValues | FramedFit:
    rng = np.random.default_rng(TRAINING_SEED)
    if is_framed(knowledge):
        return fit_frames(knowledge, settings, num_frames=NUM_FRAMES, rng=rng)
    return train(knowledge, settings, rng=rng)


@lru_cache(maxsize=32)
def _shipped(key: str) -> Arrays | None:
    file = resources.files("oracle") / "data" / f"{key[:16]}.npz"
    return from_bytes(key, file.read_bytes()) if file.is_file() else None


def _to_arrays(values: FittedValues | FramedFit) -> Arrays:
    nets = {name: part.astype(np.float32) for name, part in values.nets._asdict().items()}
    return {**nets, "rmse": values.rmse, "seconds": np.array(values.seconds)}


def _from_arrays(arrays: Arrays, knowledge: Knowledge, settings: TrainingSettings) -> FittedValues:
    nets = Nets(*(np.ascontiguousarray(arrays[name], dtype=np.float64) for name in Nets._fields))
    rmse, seconds = arrays["rmse"], float(arrays["seconds"])
    if is_framed(knowledge):
        unit = unit_of(knowledge)
        nets, rmse = on_frame(nets, unit), rmse * unit
    return FittedValues(knowledge, settings.grid, nets, rmse, seconds, settings.goes_back)


def standard_names() -> list[tuple[str, str]]:
    """Return every shipped (family, prior) of the game without a catalogue."""
    return [(family.value, prior) for family in Family for prior in STANDARD_PRIORS]
