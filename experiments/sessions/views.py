"""What an agent is told in a period: its money, and with memory the ledger and whom it faces; JSON types only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commerce.bankroll import BankrollConfig, PeriodRecord, SupplierMode
from commerce.economics import ChainSupplier, UnitEconomics
from experiments.players.negotiator import TOLD_ONCE
from terms import Belief, EpisodeRecord
from terms.types import Stance

LEDGER, MET_BEFORE = TOLD_ONCE


def period_side_info(  # noqa: PLR0913 - everything an agent may see, named
    *,
    period: int,
    cash_cents: int,
    economics: UnitEconomics,
    rules: BankrollConfig,
    supplier: ChainSupplier | None,
    ledger: Sequence[str],
    met_before: Sequence[str],
) -> dict[str, Any]:
    """Return the side information of a period, counted from 1; ``supplier`` is ``None`` where it is not told."""
    state: dict[str, Any] = {
        "period": period,
        "periods": rules.horizon,
        "cash": cash_cents / 100,
        "ruined_below": rules.ruin_cents / 100,
        "cost_per_period": rules.period_cost_cents / 100,
        "cost_per_round": rules.round_cost_cents / 100,
    }
    if supplier is not None:
        state["counterpart"] = supplier.name
        state[MET_BEFORE] = list(met_before)
    if ledger:
        state[LEDGER] = list(ledger)
    return {"economics": economics.to_json_object(), "bankroll": state}


def names_supplier(rules: BankrollConfig) -> bool:
    """Whether the agent can meet somebody again, and so is told whom it faces."""
    return rules.supplier_mode is not SupplierMode.IID


def ledger_line(period: PeriodRecord, supplier: ChainSupplier | None) -> str:
    """Return one line of the ledger."""
    who = "" if supplier is None else f" with {supplier.name}"
    end = "no deal" if period.price is None else f"deal at {period.price:.2f}"
    money = f"profit {period.profit_cents / 100:.2f}, cash {period.cash_cents / 100:.2f}"
    return f"period {period.period}{who}: {end} in {period.rounds} rounds, {money}"


def meeting_line(period: PeriodRecord, record: EpisodeRecord) -> str:
    """Return what happened with a supplier in one period: own reservation, its prices in order, the end.

    The belief that the agent stated last is told as well, so that what it thought of a supplier carries over.
    """
    named = ", ".join(_price(turn.counterpart_price) for turn in record.turns)
    end = period.termination if period.price is None else f"deal at {period.price:.2f} ({period.termination})"
    line = (
        f"period {period.period}: your reservation {record.agent_type.reservation_price:.2f}, its prices {named}, {end}"
    )
    stated = next((turn.belief for turn in reversed(record.turns) if turn.belief is not None), None)
    return line if stated is None else f"{line}; you believed {_belief(stated)}"


def _price(price: float | None) -> str:
    return "-" if price is None else f"{price:.2f}"


def _belief(stated: Belief) -> str:
    parts = [f"r_hat {_price(stated.r_hat)}", f"kappa_hat {_price(stated.kappa_hat)}"]
    if stated.stance_probs is not None:
        probs = zip(Stance, stated.stance_probs, strict=True)
        parts.append(", ".join(f"{stance} {prob:.2f}" for stance, prob in probs))
    return ", ".join(parts)
