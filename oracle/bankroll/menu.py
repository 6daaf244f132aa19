r"""The menu of plans in a session, with the joint law of (profit, rounds) of each, estimated by play.

Belief classes count the meetings remembered with a supplier, from stranger to five times or more. Suppliers are drawn
afresh, apart from those of any session. The planner meets each five times and carries its belief along; then it plays
the same new meetings with the memory of none and of each number of these. Each recorded path yields the outcome
of every caution (:mod:`oracle.bankroll.meeting`), so all classes and plans are compared on the same draws. Beside these
stand leaving at once, the fixed concessions, which remember nothing, and, with suppliers met before, the best reply in
money to nearly the hardest type that is believed in.

What is exact and what is not: given these laws the dynamic program is exact. The laws are sample means, the plans are
few, and in later meetings what is remembered is what the planner without caution would have seen. In pool mode the
class of the next supplier is drawn from the law of its count alone (a mean field over the rest of the pool). So the
value is an estimate of a lower bound of the optimum; play of the policy on real chains is the check. A difference of
two such values is no bound: what is known after five meetings still grows, so that the value of memory comes out low,
by 1 % where a pool of 5 is met 50 times and by 2 % where one supplier is (measured with classes up to eight meetings;
with classes up to three it was 9 % and 13 %).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commerce.bankroll import BankrollConfig, SupplierMode, operating_cost_cents
from commerce.economics import ChainConfig, EconomicsConfig, UnitEconomics, build_chain, unit_economics
from oracle.bankroll.known_supplier import identity, stage_of, stage_value
from oracle.bankroll.meeting import Caution, Ending, MeetingPlanners, Path, stop
from oracle.bankroll.problem import RuinProblem, stage_law
from oracle.bankroll.supplier_memory import SupplierMemory
from terms import play
from terms.agents.scripted import FixedConcession
from terms.aliases import Floats, Ints
from terms.scenario import Scenario
from terms.types import Opener

CLASSES = ("stranger", "met once", "met twice", "met 3 times", "met 4 times", "met 5 times or more")
EAGER = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
EXITS = (0.0, 1.0, 3.0, 6.0)
RATES = (0.3, 0.1)
QUANTILES = (0.7, 0.8, 0.9)
LEAVE = "leave at once"
SEED_SHIFT = 1_000_003
"""Laws are drawn with another seed than sessions, so that a policy is never played on what it was fitted to."""


class TalkPlan(NamedTuple):
    """A plan by name; with nothing else it is leaving at once.

    ``caution`` stops the planner, ``rate`` is that of a fixed concession, ``quantile`` that of the supplier's
    reservation which :mod:`oracle.bankroll.near_certain` replies to.
    """

    name: str
    caution: Caution | None = None
    rate: float | None = None
    quantile: float | None = None


PLANS = (
    *(TalkPlan(f"eager {eager:g}, exit {leave:g}", Caution(eager, leave)) for eager in EAGER for leave in EXITS),
    *(TalkPlan(f"fixed {rate:g}", rate=rate) for rate in RATES),
    *(TalkPlan(f"as if sure, {quantile:g}", quantile=quantile) for quantile in QUANTILES),
    TalkPlan(LEAVE),
)


@dataclass(frozen=True, slots=True)
class MenuSettings:
    """How the laws are estimated: number of suppliers, and of meetings each is judged by."""

    num_suppliers: int = 300
    num_judged: int = 2

    def __post_init__(self) -> None:
        if self.num_suppliers < 2 or self.num_judged < 1:
            raise ValueError(
                f"num_suppliers={self.num_suppliers}, num_judged={self.num_judged}; at least 2 and 1 are needed"
            )


STANDARD_MENU = MenuSettings()


@dataclass(frozen=True, slots=True, eq=False)
class PlanOutcomes:
    """Sampled outcomes: ``net_cents`` and ``learnt`` (classes, plans, suppliers, judged meetings).

    ``known_cents`` (suppliers, judged meetings) is what the best reply in money to the known type expects of each.
    """

    net_cents: Ints
    learnt: NDArray[np.bool_]
    known_cents: Floats

    @property
    def num_suppliers(self) -> int:
        """Number of independent draws."""
        return int(self.net_cents.shape[2])

    def take(self, suppliers: NDArray[np.int64]) -> PlanOutcomes:
        """Return the outcomes with some of the suppliers."""
        return PlanOutcomes(self.net_cents[:, :, suppliers], self.learnt[:, :, suppliers], self.known_cents[suppliers])


def sample_outcomes(
    chain: ChainConfig,
    economics: EconomicsConfig,
    rules: BankrollConfig,
    settings: MenuSettings = STANDARD_MENU,
    progress: Callable[[int, int], None] | None = None,
) -> PlanOutcomes:
    """Meet fresh suppliers and return what every plan would have earned."""
    elsewhere = chain.model_copy(update={"seed": chain.seed + SEED_SHIFT})
    meetings = len(CLASSES) - 1 + settings.num_judged
    same = rules.model_copy(update={"supplier_mode": SupplierMode.PERSISTENT, "horizon": meetings})
    table = MeetingPlanners(chain, economics)
    shape = (len(CLASSES), len(PLANS), settings.num_suppliers, settings.num_judged)
    net, learnt, best = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_), np.zeros(shape[2:])
    for number in range(settings.num_suppliers):
        scenarios = build_chain(number, elsewhere, same).scenarios
        memories: list[SupplierMemory | None] = [None]
        for scenario in scenarios[: len(CLASSES) - 1]:
            memories.append(table.play(scenario, unit_economics(scenario, economics), memories[-1]).memory)
        for judged, scenario in enumerate(scenarios[len(CLASSES) - 1 :]):
            money = unit_economics(scenario, economics)
            best[number, judged] = stage_value(stage_of(scenario, money), 0.0, rules, identity)
            for class_, known in enumerate(memories):
                tables = (table, known)
                found = _stopped(table.play(scenario, money, known), scenario, money, rules, tables)
                net[class_, :, number, judged], learnt[class_, :, number, judged] = found
        if progress is not None:
            progress(number + 1, settings.num_suppliers)
    return PlanOutcomes(net, learnt, best)


def _stopped(
    path: Path,
    scenario: Scenario,
    money: UnitEconomics,
    rules: BankrollConfig,
    known: tuple[MeetingPlanners, SupplierMemory | None],
) -> tuple[Ints, Ints]:
    """Return what every plan brings and whether anything is learnt of the supplier, both (plans,)."""
    net, learnt = np.zeros(len(PLANS), dtype=np.int64), np.zeros(len(PLANS), dtype=np.int64)
    for plan, each in enumerate(PLANS):
        if each.rate is not None:
            record = play(scenario, FixedConcession(each.rate))
            ending = Ending(record.price, record.rounds_played)
            learnt[plan] = 1
        elif each.quantile is not None:
            if known[1] is None:
                continue  # no plan for a stranger
            record = known[0].play_as_if_sure(scenario, money, known[1], rules, each.quantile)
            ending = Ending(record.price, record.rounds_played)
            learnt[plan] = 1
        elif each.caution is None:
            ending = Ending(None, 1)
            learnt[plan] = scenario.opener is Opener.COUNTERPART
        else:
            ending = stop(path, each.caution)
            learnt[plan] = path.rounds[ending.rounds - 1].standing is not None or ending.price is not None
        net[plan] = money.profit_cents(ending.price) - operating_cost_cents(ending.rounds, rules)
    return net, learnt


def build_problem(
    outcomes: PlanOutcomes, rules: BankrollConfig, *, step_cents: int = 50, is_remembering: bool = True
) -> RuinProblem:
    """Return the session as a problem for the dynamic program.

    Parameters
    ----------
    is_remembering
        Without memory every supplier is a stranger, whatever the mode.
    """
    classes = len(CLASSES)
    laws = {}
    for m in range(classes):
        for plan, each in enumerate(PLANS):
            if each.quantile is not None and m == 0:
                continue
            posted = np.minimum(m + outcomes.learnt[m, plan].ravel(), classes - 1)
            laws[m, plan] = stage_law(outcomes.net_cents[m, plan].ravel(), step=step_cents, posted=posted)
    follow = class_chain(rules, classes) if is_remembering else _strangers(rules.horizon, classes)
    return RuinProblem(
        plans=tuple(plan.name for plan in PLANS),
        classes=CLASSES,
        laws=laws,
        first=np.eye(classes)[0],
        follow=follow,
        start_cents=rules.initial_cents,
        threshold_cents=rules.ruin_cents,
        step_cents=step_cents,
    )


def class_chain(rules: BankrollConfig, classes: int) -> Floats:
    """Return the law of the next supplier's class by the class the last meeting left (T - 1, classes, classes)."""
    match rules.supplier_mode:
        case SupplierMode.IID:
            return _strangers(rules.horizon, classes)
        case SupplierMode.PERSISTENT:
            return np.repeat(np.eye(classes)[None], rules.horizon - 1, axis=0)
        case SupplierMode.POOL:
            rows = [
                [_pool_row(played, posted, rules.pool_size, classes) for posted in range(classes)]
                for played in range(1, rules.horizon)
            ]
            return np.array(rows).reshape(rules.horizon - 1, classes, classes)


def _strangers(horizon: int, classes: int) -> Floats:
    follow = np.zeros((horizon - 1, classes, classes))
    follow[:, :, 0] = 1.0
    return follow


def _pool_row(played: int, posted: int, size: int, classes: int) -> Floats:
    """Return the next class after ``played`` meetings, the last with a supplier now of class ``posted``.

    The same supplier returns with probability ``1 / size``. Any other was met a binomial number of times among the
    meetings not had with this one; those of the last class are taken at their expected number.
    """
    row = np.zeros(classes)
    row[posted] = 1 / size
    if size == 1:
        return row
    own = posted if posted < classes - 1 else max(posted, round(played / size))
    others, share = max(played - own, 0), 1 / (size - 1)
    for count in range(others + 1):
        prob = math.comb(others, count) * share**count * (1 - share) ** (others - count)
        row[min(count, classes - 1)] += (1 - 1 / size) * prob
    return row
