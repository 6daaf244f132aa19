r"""One meeting by the Bayes optimum, and every way of stopping it early.

The planner of :mod:`oracle.planner` values continuing at ``Q_k`` (percent of R, no cost of time). A *caution* ``(d,
e)`` stops its path: it takes a standing price as soon as the gain and ``d`` reach ``Q_k``, and leaves as soon as
``Q_k < e``. Offers do not depend on caution, so one recorded path tells what every caution would have earned on the
same draws. The planner maximises money: a deal at the own reservation still leaves the margin floor, which counts as a
part of the gain. It never trades past the reservation, as the game forbids it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from commerce.bankroll import BankrollConfig
from commerce.economics import SESSION_ECONOMICS, ChainConfig, EconomicsConfig, UnitEconomics
from oracle.bankroll.closing import closing_of
from oracle.bankroll.near_certain import NearCertainPlayer
from oracle.bankroll.supplier_memory import Laws, SupplierMemory, end_meeting, start_meeting
from oracle.kernels.planning import CompiledPlanner, best_offer
from oracle.planner import BeliefTracker, FittedAgent
from oracle.posterior import seat_of
from oracle.prior import SCALE, Knowledge
from oracle.shipped import values_for
from terms.episode import play, recorded_moves
from terms.game import Game
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Family, Offer, Reject, Termination


class Caution(NamedTuple):
    """When a path is stopped, in percent of R: ``eager`` takes less than the planner hopes for, ``exit`` leaves."""

    eager: float = 0.0
    exit: float = 0.0

    def takes(self, view: Round) -> bool:
        """Whether the standing price is taken."""
        return view.gain is not None and view.gain >= 0 and view.gain + self.eager >= view.value

    def leaves(self, view: Round) -> bool:
        """Whether the table is left."""
        return max(view.value, view.gain or 0.0) < self.exit


NO_CAUTION = Caution()


@dataclass(frozen=True, slots=True)
class Round:
    """The planner's view at a move.

    ``gain`` of the standing price (``None``: none that may be taken) and ``value`` of its best offer, both with the
    margin and in percent of R; ``standing`` in the scenario's units.
    """

    gain: float | None
    value: float
    standing: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A meeting played to its end by the planner; ``price`` in the scenario's units."""

    rounds: tuple[Round, ...]
    price: float | None
    memory: SupplierMemory


class Ending(NamedTuple):
    """How a meeting ended: price in the scenario's units or ``None``, and rounds played."""

    price: float | None
    rounds: int


@dataclass(frozen=True, eq=False)
class MeetingPlanners:
    """The planner for the suppliers of a chain; what it needs for a family is loaded when one is met.

    ``economics`` decide what no deal brings, and with it what the agent learns from its cash.
    """

    chain: ChainConfig
    economics: EconomicsConfig = SESSION_ECONOMICS
    _families: dict[Family, tuple[Laws, CompiledPlanner]] = field(default_factory=dict, repr=False)

    def play(
        self, scenario: Scenario, money: UnitEconomics, memory: SupplierMemory | None, caution: Caution = NO_CAUTION
    ) -> Path:
        """Play ``scenario`` with ``caution`` and record the planner's view in every round."""
        laws, planner = self._family(scenario.family)
        game = Game(scenario)
        tracker = start_meeting(laws, seat_of(game.observe()), memory)
        margin = SCALE * money.margin_floor_cents / (100 * scenario.price_range)
        views = []
        while not game.is_over:
            tracker.see(game.observe())
            view, move = _decide(tracker, planner, margin)
            views.append(view)
            game.step(Accept() if caution.takes(view) else Reject() if caution.leaves(view) else move)
        record = game.record("planner")
        return Path(tuple(views), record.price, self._after(tracker, record, memory))

    def play_as_if_sure(
        self,
        scenario: Scenario,
        money: UnitEconomics,
        memory: SupplierMemory | None,
        rules: BankrollConfig,
        quantile: float,
    ) -> EpisodeRecord:
        """Play ``scenario`` against nearly the hardest type believed in (:mod:`oracle.bankroll.near_certain`)."""
        tracker = start_meeting(self.laws(scenario.family), seat_of(Game(scenario).observe()), memory)
        return play(scenario, NearCertainPlayer(scenario, money, rules, tracker, quantile))

    def remember(self, record: EpisodeRecord, scenario: Scenario, memory: SupplierMemory | None) -> SupplierMemory:
        """Return what is remembered after the talk of ``record``, whoever had it."""
        laws, _ = self._family(scenario.family)
        game = Game(scenario)
        tracker = start_meeting(laws, seat_of(game.observe()), memory)
        for move in recorded_moves(record):
            tracker.see(game.observe())
            game.step(move)
        return self._after(tracker, record, memory)

    def laws(self, family: Family) -> Laws:
        """Return the laws of suppliers of ``family``."""
        return self._family(family)[0]

    def _after(self, tracker: BeliefTracker, record: EpisodeRecord, memory: SupplierMemory | None) -> SupplierMemory:
        """Return what is remembered of a meeting that ``tracker`` followed up to the last move."""
        settings = self.economics
        closing = closing_of(
            record,
            tracker.seat,
            is_last_heard=self.chain.game.final_offer_answered,
            tells_feasible=settings.outside_cents(True, 1.0) != settings.outside_cents(False, 1.0),
        )
        is_seen = tracker.standing is not None or record.termination is Termination.COUNTERPART_ACCEPT
        return end_meeting(tracker, closing, (memory.meetings if memory else 0) + is_seen)

    def _family(self, family: Family) -> tuple[Laws, CompiledPlanner]:
        """Return the laws of suppliers of ``family`` and the planner with every regime possible."""
        if family not in self._families:
            knowledge = Knowledge.of(None, [family], self.chain.game)
            values = values_for(knowledge)
            planner = FittedAgent(values).planner()
            self._families[family] = Laws(knowledge, planner.model, values.grid, self.chain), planner
        return self._families[family]


def stop(path: Path, caution: Caution) -> Ending:
    """Return how the meeting of ``path``, played without caution, ends with ``caution``."""
    for number, view in enumerate(path.rounds, 1):
        if caution.takes(view):
            return Ending(view.standing, number)
        if caution.leaves(view):
            return Ending(None, number)
    return Ending(path.price, len(path.rounds))


def _decide(tracker: BeliefTracker, planner: CompiledPlanner, margin: float) -> tuple[Round, Accept | Offer | Reject]:
    """Return the view, and the move in the scenario's units."""
    own, seat = tracker.seat.own, tracker.seat
    price, value = best_offer(tracker.state()._replace(own=own + margin), planner)
    value = 0.0 if math.isnan(price) else value
    standing = tracker.standing
    gain = own - standing + margin if standing is not None and standing <= own else None
    view = Round(gain, value, None if standing is None else seat.from_canonical(standing))
    if gain is not None and gain >= value:
        return view, Accept()
    if math.isnan(price) or value <= 1e-9:
        return view, Reject()
    price = max(min(price, own), tracker.offers[-1] if tracker.offers else -np.inf)
    return view, Offer(_legal(seat.from_canonical(price), tracker))


def _legal(price: float, tracker: BeliefTracker) -> float:
    """Return the price inside bounds and reservation: the mirror rounds in the last digit."""
    seat = tracker.seat
    bound = min if seat.role.sign > 0 else max
    price = bound(price, seat.reservation_price)
    return min(seat.price_max, max(seat.price_min, price))
