"""What a run of episodes plays: a suite by its recipe, the game, and what it is worth."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from commerce.economics import EconomicsConfig, Perspective, unit_economics
from experiments.engine.header import Header, Recipe
from terms import GameConfig, Scenario, catalog_suite, fresh_suite, load_catalog, published_suite
from terms.catalog import Catalog, DroppedRow
from terms.catalog_columns import parse_columns
from terms.cells import DEFAULT_REGIMES, choose
from terms.config import Frozen
from terms.strict_json import strict_dumps
from terms.suites import EPISODES_PER_CELL, PUBLISHED_FLAW
from terms.types import Family, Regime

SUITE, DATA = "suite", "data"
"""Names of the digests in a header: of what is drawn, and of a catalogue's files."""
#: A suite is built before it is played; this many take minutes and a few gigabytes.
MAX_PER_CELL = 10_000


class SuiteKind(StrEnum):
    """Where episodes come from."""

    PUBLISHED = "published"
    FRESH = "fresh"
    CATALOG = "catalog"


class SuiteSpec(Frozen, Recipe):
    """A suite by its recipe. The same recipe gives the same episodes in any process."""

    pinned: ClassVar[str] = SUITE

    kind: SuiteKind
    path: str | None = None
    columns: dict[str, str] | None = Field(None, description="column of each field of a catalogue that has others")
    seed: int | None = Field(None, ge=0)
    n_per_cell: int = Field(EPISODES_PER_CELL, ge=1, le=MAX_PER_CELL)
    regimes: tuple[Regime, ...] = DEFAULT_REGIMES
    families: tuple[Family, ...] = tuple(Family)
    sample: int | None = Field(None, ge=1, description="play only this many episodes, drawn from the suite")
    game: GameConfig = GameConfig()
    economics: EconomicsConfig | None = Field(None, description="commerce mode: what the episodes are worth in money")
    perspective: Perspective | None = Field(None, description="only episodes of the merchant, or of the vendor")
    repeats: int = Field(1, ge=1, le=1000, description="plays of each episode; only what the agent draws differs")

    @classmethod
    def parse(  # noqa: PLR0913 - the options of the command line
        cls,
        text: str,
        *,
        n_per_cell: int = EPISODES_PER_CELL,
        seed: int | None = None,
        regimes: list[str] | None = None,
        families: list[str] | None = None,
        game: GameConfig | None = None,
        sample: int | None = None,
        economics: EconomicsConfig | None = None,
        repeats: int = 1,
        columns: str | None = None,
        perspective: Perspective | str | None = None,
    ) -> Self:
        """Read ``published``, ``fresh`` or ``catalog:PATH``; fresh and catalogue suites take seed 0 unless told.

        ``columns`` is read by :func:`terms.catalog_columns.parse_columns`.
        """
        kind, _, path = text.partition(":")
        if kind not in list(SuiteKind) or (kind == SuiteKind.CATALOG) != bool(path):
            raise ValueError(f"suite={text!r}, allowed are published, fresh, catalog:PATH")
        if kind == SuiteKind.PUBLISHED and seed is not None:
            raise ValueError(f"seed={seed}; the published suite has its own seeds, use --suite fresh")
        return cls(
            kind=SuiteKind(kind),
            path=os.path.realpath(path) if path else None,
            columns=None if columns is None else parse_columns(columns),
            perspective=None if perspective is None else Perspective(perspective),
            seed=None if kind == SuiteKind.PUBLISHED else seed or 0,
            n_per_cell=n_per_cell,
            regimes=tuple(choose("regimes", regimes, Regime, DEFAULT_REGIMES)),
            families=tuple(choose("families", families, Family, tuple(Family))),
            game=game or GameConfig(),
            sample=sample,
            economics=economics,
            repeats=repeats,
        )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind is SuiteKind.CATALOG) != (self.path is not None):
            raise ValueError(f"path={self.path!r}; a catalogue suite needs a path and no other has one")
        if self.columns is not None and self.path is None:
            raise ValueError(f"columns={self.columns}; only a catalogue suite has columns")
        return self

    @property
    def label(self) -> str:
        """Short name for tables and folders."""
        seed = "" if self.seed is None else f"-{self.seed}"
        size = f"n{self.n_per_cell}" if self.sample is None else f"sample{self.sample}"
        repeats = f"-x{self.repeats}" if self.repeats > 1 else ""
        return (
            f"{self.kind}{seed}-{size}{repeats}"
            + ("-commerce" if self.economics else "")
            + ("" if self.perspective is None else f"-{self.perspective}")
        )

    @property
    def num_episodes(self) -> int:
        """How many episodes are played, every repeat counted."""
        return len(self.build()) * self.repeats

    @property
    def notices(self) -> tuple[str, ...]:
        """What must be said wherever a result on this suite is shown."""
        if self.kind is SuiteKind.PUBLISHED:
            return (PUBLISHED_FLAW,)
        if self.path is None:
            return ()
        catalog = _catalog_of(self)
        used = f"{catalog.num_read} rows read, {len(catalog.products)} used"
        dropped = ", ".join(f"{count} x {reason}" for reason, count in catalog.dropped_by_reason.items())
        return (f"catalogue: {used}, dropped: {dropped}",) if dropped else ()

    @property
    def dropped_rows(self) -> tuple[DroppedRow, ...]:
        """Rows of the catalogue that could not be used, each with its reason; none for a synthetic suite."""
        return _catalog_of(self).dropped if self.path else ()

    def build(self) -> tuple[Scenario, ...]:
        """Return the episodes; built once per process, and again when the catalogue's files change."""
        return _build(self.model_dump_json(), _stamp(self.path))

    def digest(self) -> str:
        """Return a hash of every drawn quantity of every episode, so that a changed world cannot pass for the same."""
        facts = hashlib.sha256()
        for scenario in self.build():
            facts.update(strict_dumps({**_without_config(scenario), "difficulty": scenario.difficulty}).encode())
            if self.economics is not None:
                facts.update(unit_economics(scenario, self.economics).model_dump_json().encode())
        return facts.hexdigest()

    def data_digest(self) -> str | None:
        """Return a hash of the catalogue's files, ``None`` for a synthetic suite."""
        return _catalog_of(self).digest if self.path else None


def _without_config(scenario: Scenario) -> dict[str, Any]:
    return {
        "id": scenario.scenario_id,
        "agent": asdict(scenario.agent_type),
        "counterpart": asdict(scenario.counterpart_type),
        "harshness": scenario.harshness,
        "bounds": [scenario.price_min, scenario.price_max],
        "luck": scenario.noise,
    }


def _stamp(path: str | None) -> tuple[tuple[str, int, int], ...]:
    if path is None:
        return ()
    files = sorted(Path(path).iterdir()) if Path(path).is_dir() else [Path(path)]
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.exists())


def _catalog_of(spec: SuiteSpec) -> Catalog:
    return _catalog(spec.path or "", tuple((spec.columns or {}).items()), _stamp(spec.path))


@lru_cache(maxsize=8)
def _catalog(path: str, columns: tuple[tuple[str, str], ...], stamp: tuple[tuple[str, int, int], ...]) -> Catalog:
    """Read a catalogue once for all that is asked of it; ``stamp`` makes a changed one be read again."""
    return load_catalog(path, dict(columns))


@lru_cache(maxsize=8)
def _build(spec_json: str, _files: tuple[tuple[str, int, int], ...]) -> tuple[Scenario, ...]:
    spec = SuiteSpec.model_validate_json(spec_json)
    role = None if spec.perspective is None else spec.perspective.role
    scenarios = tuple(one for one in _all_scenarios(spec) if role in (None, one.agent_role))
    if spec.sample is None or spec.sample >= len(scenarios):
        return scenarios
    picked = np.random.default_rng([spec.seed or 0, len(scenarios)]).permutation(len(scenarios))[: spec.sample]
    return tuple(scenarios[index] for index in sorted(picked))


def _all_scenarios(spec: SuiteSpec) -> tuple[Scenario, ...]:
    chosen: dict[str, Any] = {"regimes": spec.regimes, "families": spec.families, "n_per_cell": spec.n_per_cell}
    if spec.kind is SuiteKind.PUBLISHED:
        return published_suite(**chosen, config=spec.game)
    if spec.kind is SuiteKind.FRESH:
        return fresh_suite(spec.seed or 0, **chosen, config=spec.game)
    return catalog_suite(_catalog_of(spec), **chosen, seed=spec.seed or 0, config=spec.game)


def check_same_suite(headers: Sequence[Header[SuiteSpec]]) -> None:
    """Make sure that runs differ in the agent and in nothing else.

    The digest pins what is drawn; the settings of the game and of the money decide what comes of it.

    Raises
    ------
    ValueError
        If episodes, game or economics differ, or an agent comes twice.
    """
    if len({header.digests[SUITE] for header in headers}) > 1:
        labels = ", ".join(sorted({header.spec.label for header in headers}))
        raise ValueError(f"runs are on different suites ({labels}); agents can only be compared on the same episodes")
    for field in ("game", "economics"):
        if any(getattr(header.spec, field) != getattr(headers[0].spec, field) for header in headers):
            raise ValueError(f"runs have different settings of {field}; agents can only be compared under the same")
    agents = [header.agent for header in headers]
    for name in agents:
        if agents.count(name) > 1:
            raise ValueError(f"runs has agent={name!r} twice; name each agent once")


class CommerceSettings(Frozen):
    """The game that is played and what it is worth."""

    game: GameConfig = GameConfig()
    economics: EconomicsConfig = EconomicsConfig()
