"""Cells of a suite: (regime, family, role, opener), in the fixed order every suite and seed depends on."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple, TypeVar

from terms.hints import did_you_mean
from terms.types import Family, Opener, Regime, Role

DEFAULT_REGIMES = (Regime.OVERLAP, Regime.URGENCY_SHIFT, Regime.NO_DEAL)
_REGIME_INDEX = {regime: index for index, regime in enumerate(Regime)}
_FAMILY_INDEX = {family: index for index, family in enumerate(Family)}

Choice = TypeVar("Choice", bound=StrEnum)


class Cell(NamedTuple):
    """One cell of a suite."""

    regime: Regime
    family: Family
    role: Role
    opener: Opener

    @property
    def indices(self) -> tuple[int, int, int, int]:
        """Position in the fixed orders; buyer and counterpart-opens come first."""
        seller, agent_opens = int(self.role is Role.SELLER), int(self.opener is Opener.AGENT)
        return _REGIME_INDEX[self.regime], _FAMILY_INDEX[self.family], seller, agent_opens

    @property
    def path(self) -> str:
        """Readable part of a scenario id."""
        return f"{self.regime}/{self.family}/{self.role}/{self.opener}"


def suite_cells(regimes: Sequence[Regime | str] | None, families: Sequence[Family | str] | None) -> list[Cell]:
    """Return the cells of a suite in the fixed order, whatever the order of the arguments; ``None`` means all."""
    chosen_regimes = choose("regimes", regimes, Regime, DEFAULT_REGIMES)
    chosen_families = choose("families", families, Family, tuple(Family))
    return [Cell(*combination) for combination in product(chosen_regimes, chosen_families, Role, Opener)]


def choose(
    field: str, names: Sequence[Choice | str] | None, kind: type[Choice], default: Sequence[Choice]
) -> list[Choice]:
    """Resolve names to members of ``kind``, in its order; an unknown or empty choice raises, naming what is allowed."""
    if names is None:
        return list(default)
    if isinstance(names, str):
        names = [names]
    allowed = [member.value for member in kind]
    for name in names:
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            raise ValueError(f"{field} has {str(name)!r}, allowed are {', '.join(allowed)}{hint}")
    if not names:
        raise ValueError(f"{field} is empty; leave it out for all, or name some of {', '.join(allowed)}")
    return [member for member in kind if member in names]
