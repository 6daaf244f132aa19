"""Sessions played on real chains: by a policy of the dynamic program, by a known-type player, by anybody else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from commerce.bankroll import BankrollConfig, settle
from commerce.economics import BankrollChain, ChainSupplier, EconomicsConfig, UnitEconomics, unit_economics
from oracle.bankroll.known_supplier import KnownTypePlayer, identity
from oracle.bankroll.meeting import Ending, MeetingPlanners
from oracle.bankroll.menu import CLASSES, PLANS, TalkPlan
from oracle.bankroll.ruin import Valued
from oracle.bankroll.supplier_memory import SupplierMemory
from terms import play
from terms.agents.scripted import FixedConcession
from terms.scenario import Scenario


class Period(NamedTuple):
    """What a player sees before a period: ``number`` from 1, cash, and the rules of the session."""

    number: int
    scenario: Scenario
    supplier: ChainSupplier
    money: UnitEconomics
    cash_cents: int
    rules: BankrollConfig


PlayPeriod = Callable[[Period], Ending]


class SessionPath(NamedTuple):
    """A session's balances before the first period and after each one played, and whether it was ruined."""

    cash_cents: tuple[int, ...]
    is_ruined: bool

    @property
    def terminal_cents(self) -> int:
        """Balance at the end; of a ruined session that of its ruin."""
        return self.cash_cents[-1]


def run_session(
    chain: BankrollChain, economics: EconomicsConfig, rules: BankrollConfig, player: PlayPeriod
) -> SessionPath:
    """Play the periods of ``chain`` in order until the horizon or ruin."""
    cash, path, is_ruined = rules.initial_cents, [rules.initial_cents], False
    for number, (supplier, scenario) in enumerate(zip(chain.who, chain.scenarios, strict=True), 1):
        money = unit_economics(scenario, economics)
        price, rounds = player(Period(number, scenario, supplier, money, cash, rules))
        cash, is_ruined = settle(cash, money.profit_cents(price), rounds, rules)
        path.append(cash)
        if is_ruined:
            break
    return SessionPath(tuple(path), is_ruined)


@dataclass(frozen=True, eq=False)
class PolicyPlayer:
    """Plays a policy of the dynamic program at the real table; make one for each session.

    Without memory each supplier is a stranger; the policy should then be that of a problem without memory.
    """

    valued: Valued
    table: MeetingPlanners
    is_remembering: bool = True
    _known: dict[int, SupplierMemory] = field(default_factory=dict, repr=False)

    def __call__(self, period: Period) -> Ending:
        """Look up the plan for the period, what is known and the cash, and carry it out."""
        memory = self._known.get(period.supplier.number)
        class_ = min(memory.meetings, len(CLASSES) - 1) if memory else 0
        plan = PLANS[self.valued.plan_at(period.number, class_, period.cash_cents)]
        ending, after = self._carry_out(plan, period, memory)
        if self.is_remembering:
            self._known[period.supplier.number] = after
        return ending

    def _carry_out(
        self, plan: TalkPlan, period: Period, memory: SupplierMemory | None
    ) -> tuple[Ending, SupplierMemory]:
        if plan.caution is not None:
            path = self.table.play(period.scenario, period.money, memory, plan.caution)
            return Ending(path.price, len(path.rounds)), path.memory
        if plan.quantile is not None:
            record = self.table.play_as_if_sure(period.scenario, period.money, memory, period.rules, plan.quantile)
            return Ending(record.price, record.rounds_played), self.table.remember(record, period.scenario, memory)
        agent = _leave if plan.rate is None else FixedConcession(plan.rate)
        record = play(period.scenario, agent)
        return Ending(record.price, record.rounds_played), self.table.remember(record, period.scenario, memory)


def _leave(observation: object) -> dict[str, str]:
    del observation
    return {"decision": "Reject"}


@dataclass(frozen=True)
class KnownTypes:
    """The best reply in money to every supplier, with its type known: what nobody can expect to beat without ruin."""

    rules: BankrollConfig

    def __call__(self, period: Period) -> Ending:
        """Play one period."""
        player = KnownTypePlayer(period.scenario, period.money, period.cash_cents, self.rules, identity)
        record = play(period.scenario, player)
        return Ending(record.price, record.rounds_played)
