"""The Bayes-optimal player at a table in a session: it remembers suppliers, and only the regime is not told to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from oracle.agents import Planner, known_type_aware
from oracle.bankroll.meeting import MeetingPlanners
from oracle.bankroll.supplier_memory import SupplierMemory, start_meeting
from oracle.bayes_optimal import fitted_planner
from oracle.beliefs import Tracker
from oracle.interventions import BayesOptimal
from oracle.posterior import Posterior, seat_of
from oracle.shipped import values_for
from terms.game import Game
from terms.scenario import Scenario
from terms.types import Family


@dataclass(frozen=True)
class SupplierBayesOptimal(BayesOptimal):
    """The reference for one meeting with a supplier of whom ``memory`` is held; make one for each meeting.

    Its belief is what the *oracle_posterior* condition shows, its planner what stands in for moves that are none.
    """

    table: MeetingPlanners | None = None
    memory: SupplierMemory | None = None
    planners: dict[Family, Planner] = field(default_factory=dict)

    def tracker(self, scenario: Scenario) -> Tracker:
        """Return the posterior at the start of ``scenario``, what is remembered included.

        It is exact up to the cells and nodes that :mod:`oracle.bankroll.supplier_memory` keeps.
        """
        laws = self._table.laws(scenario.family)
        start = start_meeting(laws, seat_of(Game(scenario).observe()), self.memory)
        groups = laws.groups
        belief = Posterior(
            laws.knowledge, start.seat, start.low, start.high, laws.model.columns.urgency, groups, start.weights
        )
        return Tracker(laws.knowledge, laws.grid, belief)

    def shown_tracker(self, scenario: Scenario) -> Tracker:
        """Return the same posterior: what is remembered of a supplier is held on the grid of the planner."""
        return self.tracker(scenario)

    def plan(self, scenario: Scenario) -> Planner:
        """Return the planner for ``scenario``; where a belief is certain, it is the dynamic program."""
        family = scenario.family
        if family not in self.planners:
            values = values_for(self._table.laws(family).knowledge)
            self.planners[family] = known_type_aware(fitted_planner(values))
        return self.planners[family]

    @property
    def _table(self) -> MeetingPlanners:
        if self.table is None:
            raise ValueError("SupplierBayesOptimal needs the table it sits at: give it one")
        return self.table
