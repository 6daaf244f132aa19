"""What fraud cost, and whether the merchant learned from what it could see.

The counterfactual loss compares each purchase from a fraudulent supplier with the same purchase at the merchant's own
mean honest price in that category (the opening ratio where it has none): the excess price of the units delivered, the
units not delivered at cost, the fees, and the margin lost to expected returns of defective units. Evidence is visible
from the first short receipt, from the first strong hint of the return trace on a product the supplier delivered, and
from the day a fee was paid; the other two frauds leave none.
"""

from __future__ import annotations

from commerce.metrics.measure import Measure, share
from commerce.setting import Setting
from commerce.state import Inbound, YearState
from commerce.types import Fraud


def fraud_metrics(setting: Setting, state: YearState) -> dict[str, Measure]:
    """Return the fraud metrics of a year; money in yuan."""
    suppliers = setting.world.suppliers
    bad = [row for row in state.purchases if not suppliers[row.supplier].is_honest]
    fees = sum(fee["amount_fen"] for fee in state.fees)
    spend = fees + sum(map(_cost, state.purchases))
    evidence = evidence_days(setting, state)
    after = [row for row in bad if row.placed_day > evidence.get(row.supplier, setting.rules.num_days)]
    short = {row.supplier for row in state.purchases if row.received_day >= 0 and row.delivered < row.quantity}
    kept = {row.supplier for row in after if row.supplier in short}
    n, bad_fen, after_fen = len(state.purchases), sum(map(_cost, bad)), sum(map(_cost, after))
    return {
        "bad_spend_pct": share(100.0 * (fees + bad_fen), spend, n),
        "fraud_loss": Measure(_loss_fen(setting, state, bad) / 100, len(bad)),
        "bad_spend_before_evidence": Measure(
            (sum(map(_cost, bad)) - sum(map(_cost, after))) / 100, len(bad) - len(after)
        ),
        "bad_spend_after_evidence": Measure(after_fen / 100, len(after)),
        "short_deliveries_heeded": share(float(len(short - kept)), len(short), len(short)),
    }


def evidence_days(setting: Setting, state: YearState) -> dict[int, int]:
    """Return the day from which a fraudulent supplier could be known."""
    days: dict[int, int] = {}

    def seen(supplier: int, day: int) -> None:
        days[supplier] = min(day, days.get(supplier, day))

    for fee in state.fees:
        seen(fee["supplier"], fee["day"])
    for row in state.purchases:
        fraud = setting.world.suppliers[row.supplier].fraud
        if fraud is Fraud.QTY_BAIT and row.received_day >= 0 and row.delivered < row.quantity:
            seen(row.supplier, row.received_day)
        elif fraud is Fraud.QUALITY_DOWNGRADE and str(row.sku) in state.hints:
            seen(row.supplier, state.hints[str(row.sku)])
    return days


def _cost(row: Inbound) -> int:
    return row.quantity * row.unit_price_fen


def _loss_fen(setting: Setting, state: YearState, bad: list[Inbound]) -> float:
    honest = honest_ratios(setting, state)
    reference, category = setting.world.skus.reference_fen, setting.world.skus.category
    loss = float(sum(fee["amount_fen"] for fee in state.fees)) + state.totals.defect_loss_fen
    for row in bad:
        fair = honest.get(int(category[row.sku]), setting.world.categories[category[row.sku]].wholesale_ratio)
        loss += row.delivered * max(0.0, row.unit_price_fen - fair * float(reference[row.sku]))
        loss += (row.quantity - row.delivered) * row.unit_price_fen
    return loss


def honest_ratios(setting: Setting, state: YearState) -> dict[int, float]:
    """Return the merchant's mean honest price by category, as a share of the reference, weighted by money."""
    sums: dict[int, list[float]] = {}
    for row in state.purchases:
        if setting.world.suppliers[row.supplier].is_honest:
            pair = sums.setdefault(int(setting.world.skus.category[row.sku]), [0.0, 0.0])
            pair[0] += _cost(row)
            pair[1] += row.quantity * float(setting.world.skus.reference_fen[row.sku])
    return {category: paid / worth for category, (paid, worth) in sums.items()}
