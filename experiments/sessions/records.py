"""Periods: settled from an episode, stored as rows, and turned back into the episode by replaying their moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import TypeAdapter, field_validator

from commerce.bankroll import BankrollConfig, PeriodRecord, operating_cost_cents, settle
from commerce.economics import UnitEconomics
from experiments.players.receipts import check_receipts
from experiments.sessions.spec import Arm, SessionsSpec
from terms import Accept, EpisodeRecord, Offer, Reject, Scenario, Unusable, replay
from terms.config import Frozen
from terms.protocol import read_belief, read_decision
from terms.strict_json import strict_dumps
from terms.types import Action, Belief, Decision, ReplyFault, Turn

_PERIOD = TypeAdapter(PeriodRecord)


class Place(NamedTuple):
    """Where a period stands: session from 0, period and supplier from 1."""

    session: int
    period: int
    supplier: int


def settled_period(
    place: Place, record: EpisodeRecord, economics: UnitEconomics, cash_cents: int, rules: BankrollConfig
) -> PeriodRecord:
    """Return the period that ``record`` came to, from ``cash_cents`` before it.

    A period that the provider lost moves no money: it has no result.
    """
    rounds = record.rounds_played
    profit = 0 if record.is_excluded else economics.profit_cents(record.price)
    cost = 0 if record.is_excluded else operating_cost_cents(rounds, rules)
    cash = cash_cents if record.is_excluded else settle(cash_cents, profit, rounds, rules).cash_cents
    return PeriodRecord(
        session=place.session,
        period=place.period,
        supplier=place.supplier,
        scenario_id=record.scenario_id,
        regime=record.regime.value,
        is_feasible=record.is_feasible,
        termination=record.termination.value,
        price=record.price,
        rounds=rounds,
        profit_cents=profit,
        best_cents=economics.best_cents(record.counterpart_type.reservation_price),
        cost_cents=cost,
        cash_cents=cash,
        surplus_share=record.utility / record.zopa if record.is_feasible else None,
        moves=tuple(_move_object(turn) for turn in record.turns),
        fault=record.fault.value if record.fault else None,
        fault_detail=record.fault_detail,
    )


def period_row(period: PeriodRecord) -> dict[str, Any]:
    """Return the period as JSON types, every field kept."""
    return {name: getattr(period, name) for name in PeriodRecord.__slots__}


def period_from_row(row: Mapping[str, Any]) -> PeriodRecord:
    """Return the period a row was made from.

    Raises
    ------
    ValueError
        If a field is missing, unknown or of the wrong type.
    """
    unknown = sorted(set(row) - set(PeriodRecord.__slots__))
    if unknown:
        raise ValueError(f"period has unknown fields {', '.join(unknown)}")
    return _PERIOD.validate_json(strict_dumps(row), strict=True)  # from JSON a list may be a tuple, and 5 is no "5"


class LoggedRow(Frozen):
    """A row of the log: the arm, the period as :func:`period_row` has it, and the receipts of a model's replies."""

    arm: Arm
    period: dict[str, Any]
    receipts: list[dict[str, Any]] | None = None

    @field_validator("receipts")
    @classmethod
    def _readable(cls, receipts: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        return None if receipts is None else check_receipts(receipts)


def read_logged(row: Any, spec: SessionsSpec) -> tuple[Arm, PeriodRecord, list[dict[str, Any]] | None]:
    """Return what a row of the log holds, which must belong to ``spec``.

    Raises
    ------
    ValueError
        If the row is not one that is written, or its arm or session is not played under ``spec``.
    """
    logged = LoggedRow.model_validate(row)
    period, count = period_from_row(logged.period), spec.bankroll.num_sessions
    if logged.arm not in spec.arms:
        raise ValueError(f"arm={logged.arm.value!r} is not played; allowed are {', '.join(spec.arms)}")
    if not 0 <= period.session < count:
        raise ValueError(f"session={period.session} is not played; allowed are 0 to {count - 1}")
    return logged.arm, period, logged.receipts


def episode_of(scenario: Scenario, period: PeriodRecord, agent: str = "replay") -> EpisodeRecord:
    """Replay the moves of ``period`` on its scenario: the whole talk with prices, cues and words.

    Raises
    ------
    ValueError
        If the moves do not fit the scenario.
    """
    if scenario.scenario_id != period.scenario_id:
        raise ValueError(f"scenario_id={scenario.scenario_id!r} is not that of the period, {period.scenario_id!r}")
    return replay(scenario, [_action(move, period) for move in period.moves], agent=agent)


def _move_object(turn: Turn) -> dict[str, Any]:
    move: dict[str, Any] = {"decision": turn.decision.value if turn.decision else None}
    if turn.price is not None:
        move["price"] = turn.price
    if turn.message:
        move["message"] = turn.message
    if turn.belief is not None:
        stated = turn.belief
        probs = None if stated.stance_probs is None else list(stated.stance_probs)
        move["belief"] = {"r_hat": stated.r_hat, "kappa_hat": stated.kappa_hat, "stance_probs": probs}
    return move


def _action(move: Any, period: PeriodRecord) -> Action:
    belief: Belief | None = read_belief(move.get("belief"))
    message = move.get("message", "")
    match read_decision(move["decision"]):
        case Decision.OFFER:
            return Offer(move["price"], message, belief)
        case Decision.ACCEPT:
            return Accept(message, belief)
        case Decision.REJECT:
            return Reject(message, belief)
    if period.fault is None:
        raise ValueError(f"{period.scenario_id}: a move has neither a decision nor a fault")
    return Unusable(ReplyFault(period.fault), period.fault_detail, belief)
