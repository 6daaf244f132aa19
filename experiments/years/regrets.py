"""The ledger of a played year: what it earned and spent, and where it stayed behind the year of a reference."""

from __future__ import annotations

from concurrent.futures import Executor
from functools import partial

from commerce.merchants import build_merchant, play_year
from commerce.plan import StorePlan, execute, extract
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


def ledger_of(
    year: Year, agent: str, reference: str = REFERENCES[0], *, executor: Executor | None = None
) -> RegretLedger:
    """Return where ``year`` stayed behind the year of ``reference`` in the same world.

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
        If the year is not over or began from a saved state, if ``reference`` is unknown, or if more of the spending
        of a mixed plan was cut than may be.
    """
    check_reference(reference)
    setting = year.setting
    merchant = build_merchant(reference, setting.world, setting.rules)
    best = play_year(Year(setting.world, setting.rules), merchant)
    return regret_ledger(
        setting,
        NamedPlan(agent, plan_of(year)),
        NamedPlan(reference, extract(best)),
        num_pieces=1 if executor is None else _PIECES,
        spread=partial(map_pieces, executor=executor),
    )


def plan_of(year: Year) -> StorePlan:
    """Return the plan of a year that is over, after carrying it out: it must be that year again, to the last posting.

    Raises
    ------
    ValueError
        If it is not.
    """
    if not year.is_over:
        raise ValueError(f"the year is at day {year.state.day} and not over; only a finished year has a ledger")
    plan = extract(year)
    again = execute(year.setting.world, year.setting.rules, plan).year
    if again.state.ledger.digest != year.state.ledger.digest:
        raise ValueError("the year's decisions, carried out again, are another year; it cannot be taken apart")
    return plan
