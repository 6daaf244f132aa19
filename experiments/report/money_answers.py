"""The answer of a report about money, in dollars: earned, left on the table, and what the model cost beside it."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.report.page import format_number
from experiments.report.sections import RunView, SuiteView
from terms.estimates import Estimate


def money_headline(suite: SuiteView) -> str:
    """Say in a sentence who earned most on a suite, what it left on the table, and what its model cost."""
    valid = [view for view in suite.earners if view.gate.is_valid and _part(view, "total_profit").estimate is not None]
    if not valid:
        return "No run on this suite has a valid profit."
    best, last = valid[0], valid[-1]
    profit, left, regret = (_part(best, name) for name in ("total_profit", "total_money_left", "regret_rate"))
    text = f"{best.run.agent} earned {dollars(profit)} in {profit.n:,} negotiations"
    if len(valid) > 1:
        text += f", the most of {len(valid)} agents; {last.run.agent} the least, {dollars(_part(last, 'total_profit'))}"
    if left.estimate is not None and regret.estimate is not None:
        text += (
            f". {best.run.agent} left {dollars(left)} on the table, {100 * regret.estimate:.0f} % of what could be had"
        )
    return f"{text}{model_cost(best)}."


def model_cost(view: RunView) -> str:
    """Say what the model of a run cost beside its profit; "" of an agent that is no model."""
    if view.run.model is None:
        return ""
    if not view.run.model.is_money_known:
        return "; what its model cost nobody told"
    spent, profit = view.run.model.settled_microusd / 1e6, _part(view, "total_profit").estimate or 0.0
    share = f", {100 * spent / profit:.2f} % of its profit" if profit > 0 else ""
    return f"; its model cost {spent:,.2f} dollars{share}"


def product_rows(views: Sequence[RunView], kind: str) -> list[tuple[str, list[Estimate]]]:
    """Return the groups of ``kind``, most profit of all runs first, each with the total profit of every run."""
    found = [view.run.money_groups.get(kind, {}) for view in views]
    labels = dict.fromkeys(label for groups in found for label in groups)
    empty = Estimate(None, None, None, 0)
    rows = [
        (label, [groups[label]["total_profit"] if label in groups else empty for groups in found]) for label in labels
    ]
    return sorted(rows, key=lambda row: -sum(value.estimate or 0.0 for value in row[1]))


def dollars(value: Estimate) -> str:
    """Return an amount with its interval."""
    low, high = (None if bound is None else format_number(bound, 0) for bound in (value.low, value.high))
    bounds = "" if low is None or high is None else f" [{low}, {high}]"
    return f"{format_number(value.estimate or 0.0, 0)} dollars{bounds}"


def _part(view: RunView, name: str) -> Estimate:
    return (view.run.money or {})["overall"][name]
