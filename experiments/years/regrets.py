"""The ledger of a played year: what it earned and spent, and where it stayed behind the year of a reference."""

from __future__ import annotations

from concurrent.futures import Executor
from functools import partial
from typing import Any, NamedTuple

from commerce.merchants import build_merchant, play_year
from commerce.metrics import Statement, statement
from commerce.plan import extract
from commerce.year import Year
from experiments.engine.pool import map_pieces
from oracle.store.regret import NamedPlan, RegretLedger, regret_ledger

REFERENCES = ("privileged",)
"""Merchants that a year is measured against."""
_PIECES = 8
"""Into which the 64 years that are carried out are cut; each takes the world along."""


def check_reference(name: str) -> None:
    """Raise ValueError if ``name`` is no merchant that a year is measured against."""
    if name not in REFERENCES:
        raise ValueError(f"reference={name!r} is none of {', '.join(REFERENCES)}")


class YearLedger(NamedTuple):
    """Both layers: the exact statement of the year, and its regret."""

    statement: Statement
    regret: RegretLedger

    def to_json_object(self) -> dict[str, Any]:
        """Return the object that is stored."""
        return {"statement": self.statement.to_json_object(), "regret": self.regret.to_json_object()}


def ledger_of(
    year: Year, agent: str, reference: str = REFERENCES[0], *, executor: Executor | None = None
) -> YearLedger:
    """Return what ``year`` came to, and where it stayed behind the year of ``reference`` in the same world.

    Parameters
    ----------
    agent
        Whose year it is.
    reference
        One of ``REFERENCES``; its year is played here.
    executor
        Where the mixed plans are carried out; by default here.

    Raises
    ------
    ValueError
        If the year is not over, began from a saved state or is not reproduced by its plan, if ``reference`` is unknown,
        or if more of the spending of a mixed plan was cut than may be.
    """
    check_reference(reference)
    setting, earned = year.setting, statement(year)
    merchant = build_merchant(reference, setting.world, setting.rules)
    best = play_year(Year(setting.world, setting.rules), merchant)
    regret = regret_ledger(
        setting,
        NamedPlan(agent, extract(year)),
        NamedPlan(reference, extract(best)),
        num_pieces=1 if executor is None else _PIECES,
        spread=partial(map_pieces, executor=executor),
    )
    return YearLedger(earned, regret)
