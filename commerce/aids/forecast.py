r"""How long the cash of a store lasts if its merchant does nothing about it.

With bank :math:`b`, wallet :math:`w`, last night's storage bill :math:`s`, the daily costs :math:`o` of the open stores
and what settles into the wallet by day :math:`t`, :math:`m(t)`:

.. math::
    b(t) = b - t (s + o), \qquad w(t) = w + m(t).

The bank runs dry on the first day with :math:`b(t) < 0`. Sales to come, returns, freight and buys are not in it.
"""

from __future__ import annotations

from typing import Any

from commerce.ledger import Account
from commerce.money import to_yuan
from commerce.setting import Setting
from commerce.state import YearState

HORIZONS = (3, 7, 14)
"""Days ahead that are told."""


def forecast_cash(setting: Setting, state: YearState) -> dict[str, Any]:
    """Return the forecast of a morning: its words, and bank and wallet in yuan after each of ``HORIZONS`` days."""
    daily = sum(setting.world.store_types[store.store_type].operations_fen for store in state.open_stores)
    daily += state.history[-1]["storage_fen"] if state.history else 0
    bank, wallet = state.bank_fen, state.ledger.balance(Account.WALLET)
    shipped = state.orders.rows(~state.orders.is_pending)
    rows = [
        {
            "day": state.day + ahead,
            "bank": to_yuan(bank - ahead * daily),
            "wallet": to_yuan(wallet + int(shipped.escrow_fen[shipped.settle_day <= state.day + ahead].sum())),
        }
        for ahead in HORIZONS
    ]
    dry = state.day + max(0, bank // daily + 1) if daily > 0 else None
    when = "lasts" if dry is None or dry >= setting.rules.num_days else f"runs dry on day {dry}"
    text = f"If nothing is bought or withdrawn, the bank {when}: {to_yuan(daily):.2f} yuan of bills a day."
    return {"text": text, "bank_runs_dry": dry, "forecast": rows}
