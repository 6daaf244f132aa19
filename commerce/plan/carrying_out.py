r"""Carrying a plan out on the draws of a world: no minutes, no talks, no words, and the ledger of the year.

Every day the plan's acts are done in their order, then what its defaults add, then the daily step of the store runs as
in any year. Where the plan was changed, or the money is another, not all of it can be done:

* a purchase takes at most the share of the bank that it took when it was planned, so of less money less is bought;
  then it is cut to :math:`\lfloor bank / price \rfloor` units. What is delivered of it follows in proportion;
* of units to be listed that are not there, those that are there are listed; nothing at all is a void listing;
* a store, a fee or a withdrawal that cannot be had is left out.

What was cut is counted beside the year. A plan carried out as it was read off is cut nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from commerce import shopkeeping
from commerce.config import Rules
from commerce.daily_step import daily_step, finish, start_year
from commerce.decisions import EVERYTHING, LIQUIDATE_STORE, OPEN_STORE
from commerce.ledger import Account, close_batches
from commerce.plan.acts import ActGroup, acts_by_day
from commerce.plan.dispatch import Dispatch
from commerce.plan.planned import ListPrices, ShelfActs, StorePlan, check_plan
from commerce.plan.shelving import Shelves
from commerce.plan.watching import Watch
from commerce.procurement import SupplierDesk
from commerce.receiving import Door
from commerce.refusals import RefusedError
from commerce.setting import Setting
from commerce.shopkeeping import move_to_bank, open_store_of
from commerce.state import YearState, initial_state
from commerce.types import EndReason, PurchaseOrder, World
from commerce.year import Year


class Cuts(NamedTuple):
    """What of a plan could not be done: money in fen, units, and numbers of acts.

    ``scaled_fen`` was not spent because there was less money at hand than when it was planned, ``cut_fen`` because
    there was not even that, or because the year had ended.
    """

    planned_fen: int = 0
    scaled_fen: int = 0
    cut_fen: int = 0
    cut_units: int = 0
    void_listings: int = 0
    void_acts: int = 0

    @property
    def share(self) -> float:
        """Cut spending as a share of the planned."""
        return self.cut_fen / self.planned_fen if self.planned_fen else 0.0

    @property
    def scaled_share(self) -> float:
        """What was left out for want of money, as a share of the planned."""
        return self.scaled_fen / self.planned_fen if self.planned_fen else 0.0


class Executed(NamedTuple):
    """A year that was carried out, and what of the plan was cut."""

    year: Year
    cuts: Cuts


MAX_CUT = 0.02
"""Share of the spending from which what was carried out is another plan, and nothing may be concluded from it."""


def require_feasible(cuts: Cuts, max_cut: float = MAX_CUT) -> None:
    """Raise ValueError if more of the spending was cut than a ledger may rest on."""
    if cuts.share > max_cut:
        raise ValueError(f"{cuts.share:.1%} of the spending was cut ({cuts.cut_fen} fen); at most {max_cut:.0%} may be")


def execute(world: World, rules: Rules, plan: StorePlan, watch: Watch | None = None) -> Executed:
    """Carry ``plan`` out, watched by ``watch``, and return the year with its cuts.

    Raises
    ------
    ValueError
        If the plan is of another world or holds what cannot be.
    """
    setting = Setting(world, rules)
    check_plan(plan, setting)
    run = _Run(setting, plan, watch)
    for day, acts in enumerate(acts_by_day(plan, rules.num_days)):
        if run.state.is_over:
            break
        run.do_day(acts, plan.stop.minute if plan.stop is not None and plan.stop.day == day else None)
    run.count_the_rest()
    return Executed(Year(world, rules, state=run.state), run.cuts)


class _Run:
    """A plan that is being carried out."""

    def __init__(self, setting: Setting, plan: StorePlan, watch: Watch | None) -> None:
        self.setting, self.plan, self._watch = setting, plan, watch
        self.state: YearState = initial_state(setting, SupplierDesk().initial_book())
        start_year(setting, self.state)
        self.cuts = Cuts(planned_fen=int((plan.buys.units * plan.buys.unit_fen).sum()))
        self._door = Door(setting, self.state)
        self._shelves = Shelves(setting, self.state, plan)
        self._dispatch = Dispatch(setting, self.state, plan)
        self._in_wallet_for = self._num_bought = 0
        self._do: dict[str, Callable[[slice], None]] = {
            "stores": self._act_on_store,
            "fees": self._pay_fee,
            "buys": self._buy,
            "withdrawals": self._withdraw,
            "shipments": self._dispatch.ship,
            "promotions": self._join,
            "prices": lambda rows: self._shelves.set_prices(ListPrices(*(column[rows] for column in plan.prices))),
            "shelf": self._act_on_shelf,
        }

    def do_day(self, acts: list[ActGroup], stop_minute: int | None) -> None:
        """Do the acts of one day and go to the next morning; with a minute given, give up then."""
        state, setting = self.state, self.setting
        state.notices.clear()
        for group in acts:
            self._do[group.kind](group.rows)
        if stop_minute is None:
            self._dispatch.ship_the_rest()
            self._shelves.lose_patience()
            self._lose_patience_with_the_wallet()
        if self._watch is not None:
            self._watch.evening(state)
        if stop_minute is None:
            batches = daily_step(setting, state)
        else:
            state.minute = stop_minute
            finish(setting, state, EndReason.STOPPED)
            batches = close_batches(state.ledger)
        if self._watch is not None:
            self._watch.posted(batches)

    def _cut(self, **more: int) -> None:
        self.cuts = self.cuts._replace(**{name: getattr(self.cuts, name) + num for name, num in more.items()})

    def _act_on_store(self, rows: slice) -> None:
        table, row, state = self.plan.stores, rows.start, self.state
        state.minute, act, store_type = int(table.minute[row]), table.act[row], int(table.store_type[row])
        store = open_store_of(state, store_type)
        try:
            if act == OPEN_STORE:
                shopkeeping.open_store(
                    self.setting, state, store_type, self.setting.world.store_types[store_type].title
                )
            elif store is not None:
                shopkeeping.close_store(self.setting, state, store, liquidate=bool(act == LIQUIDATE_STORE))
            else:
                self._cut(void_acts=1)
        except RefusedError:
            self._cut(void_acts=1)

    def _pay_fee(self, rows: slice) -> None:
        table, row = self.plan.fees, rows.start
        self.state.minute = int(table.minute[row])
        if self._door.pay_fee(int(table.supplier[row]), int(table.fen[row])):
            self._cut(void_acts=1)

    def count_the_rest(self) -> None:
        """Count the purchases that the year ended before."""
        rest = slice(self._num_bought, None)
        units, prices = self.plan.buys.units[rest], self.plan.buys.unit_fen[rest]
        self._cut(cut_units=int(units.sum()), cut_fen=int((units * prices).sum()))

    def _buy(self, rows: slice) -> None:
        self._num_bought = rows.stop
        for row in range(rows.start, rows.stop):
            minute, *order, bank_then = (int(column[row]) for column in self.plan.buys[2:])
            self.state.minute = minute
            self._place(PurchaseOrder(*order), bank_then)

    def _place(self, order: PurchaseOrder, bank_then: int) -> None:
        bank = max(0, self.state.bank_fen)
        wanted = order.quantity * bank // bank_then if bank < bank_then else order.quantity
        units = min(wanted, bank // order.unit_price_fen)
        if units < order.quantity:
            self._cut(
                scaled_fen=(order.quantity - wanted) * order.unit_price_fen,
                cut_units=wanted - units,
                cut_fen=(wanted - units) * order.unit_price_fen,
            )
            delivered = max(1, order.delivered * units // order.quantity) if order.delivered else 0
            defective = min(delivered, order.defective * units // order.quantity)
            order = replace(order, quantity=units, delivered=delivered, defective=defective)
        if units:
            self._door.place_order(order)

    def _withdraw(self, rows: slice) -> None:
        table, wallet = self.plan.withdrawals, self.state.ledger.balance(Account.WALLET)
        self.state.minute, wanted = int(table.minute[rows.start]), int(table.fen[rows.start])
        fen = wallet if wanted == EVERYTHING else min(wanted, wallet)
        if fen:
            move_to_bank(self.state, fen)
        else:
            self._cut(void_acts=1)

    def _lose_patience_with_the_wallet(self) -> None:
        wallet = self.state.ledger.balance(Account.WALLET)
        self._in_wallet_for = self._in_wallet_for + 1 if wallet > 0 else 0
        if self._in_wallet_for > self.plan.patience.wallet:
            move_to_bank(self.state, wallet)
            self._in_wallet_for = 0

    def _join(self, rows: slice) -> None:
        table, row = self.plan.promotions, rows.start
        store = open_store_of(self.state, int(table.store_type[row]))
        if store is None:
            self._cut(void_acts=1)
        else:
            store.promotion, store.discount = int(table.promotion[row]), float(table.discount[row])

    def _act_on_shelf(self, rows: slice) -> None:
        void = self._shelves.act(ShelfActs(*(column[rows] for column in self.plan.shelf)))
        self._cut(void_listings=void)
