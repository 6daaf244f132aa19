r"""The menu of plans in a session, with the joint law of (profit, rounds) of each, estimated by play.

Belief classes count the meetings remembered with a supplier: stranger, once, twice, three times or more. Suppliers are
drawn afresh, apart from those of any session, and met several times by the planner, which carries its belief along;
each recorded path then yields the outcome of every caution (:mod:`oracle.bankroll.meeting`) on the same luck. Beside
these stand leaving at once and the fixed concessions.

What is exact and what is not: given these laws the dynamic program is exact. The laws are sample means, the plans are
few, and in later meetings what is remembered is what the planner without caution would have seen. In pool mode the
class of the next supplier is drawn from the law of its count alone (a mean field over the rest of the pool). So the
value is an estimate of a lower bound of the optimum; play of the policy on real chains is the check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commerce.bankroll import BankrollConfig, SupplierMode, operating_cost_cents
from commerce.economics import ChainConfig, EconomicsConfig, UnitEconomics, unit_economics
from commerce.economics.chain import draw_period, draw_supplier
from oracle.bankroll.meeting import Caution, Path, Table, stop
from oracle.bankroll.problem import RuinProblem, stage_law
from oracle.simulate import simulate, to_batch
from terms.agents.scripted import FixedConcession
from terms.scenario import Scenario
from terms.types import Opener

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CLASSES = ("stranger", "met once", "met twice", "met three times or more")
EAGER = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
EXITS = (0.0, 1.0, 3.0, 6.0)
RATES = (0.3, 0.1)
LEAVE = "leave at once"
SEED_SHIFT = 1_000_003
"""Laws are drawn with another seed than sessions, so that a policy is never played on what it was fitted to."""


class Plan(NamedTuple):
    """A plan by name: a caution of the planner, a fixed concession rate, or leaving at once (both ``None``)."""

    name: str
    caution: Caution | None = None
    rate: float | None = None


PLANS = (
    *(Plan(f"eager {eager:g}, exit {leave:g}", Caution(eager, leave)) for eager in EAGER for leave in EXITS),
    *(Plan(f"fixed {rate:g}", rate=rate) for rate in RATES),
    Plan(LEAVE),
)


@dataclass(frozen=True, slots=True)
class MenuSettings:
    """How the laws are estimated: number of suppliers, each met ``len(CLASSES)`` times; lattice in cents."""

    num_suppliers: int = 600
    step_cents: int = 50

    def __post_init__(self) -> None:
        if self.num_suppliers < 2:
            raise ValueError(f"num_suppliers={self.num_suppliers}; at least 2 are needed")


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Sampled outcomes of every plan: ``net_cents`` and ``learnt`` (classes, plans, suppliers)."""

    net_cents: Ints
    learnt: NDArray[np.bool_]

    def take(self, suppliers: NDArray[np.int64]) -> Outcomes:
        """Return the outcomes with some of the suppliers."""
        return Outcomes(self.net_cents[:, :, suppliers], self.learnt[:, :, suppliers])


def sample_outcomes(
    chain: ChainConfig,
    economics: EconomicsConfig,
    rules: BankrollConfig,
    settings: MenuSettings = MenuSettings(),
    progress: Callable[[int, int], None] | None = None,
) -> Outcomes:
    """Meet fresh suppliers and return what every plan would have earned."""
    elsewhere = chain.model_copy(update={"seed": chain.seed + SEED_SHIFT})
    table = Table(chain)
    shape = (len(CLASSES), len(PLANS), settings.num_suppliers)
    net, learnt = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    met: list[list[tuple[Scenario, UnitEconomics]]] = [[] for _ in CLASSES]
    for number in range(settings.num_suppliers):
        supplier, memory = draw_supplier(number, 1, elsewhere), None
        for meeting in range(len(CLASSES)):
            scenario = draw_period(number, meeting, supplier, elsewhere, rules)
            money = unit_economics(scenario, economics)
            path = table.play(scenario, money, memory)
            memory = path.memory
            met[meeting].append((scenario, money))
            net[meeting, :, number], learnt[meeting, :, number] = _stopped(path, scenario, money, rules)
        if progress is not None:
            progress(number + 1, settings.num_suppliers)
    for meeting, row in enumerate(met):
        for plan, each in enumerate(PLANS):
            if each.rate is not None:
                net[meeting, plan] = _scripted(row, each.rate, rules)
                learnt[meeting, plan] = True
    return Outcomes(net, learnt)


def _stopped(path: Path, scenario: Scenario, money: UnitEconomics, rules: BankrollConfig) -> tuple[Ints, Ints]:
    net, learnt = np.zeros(len(PLANS), dtype=np.int64), np.zeros(len(PLANS), dtype=np.int64)
    for plan, each in enumerate(PLANS):
        if each.rate is not None:
            continue
        if each.caution is None:
            net[plan] = money.walkaway_cents - operating_cost_cents(1, rules)
            learnt[plan] = scenario.opener is Opener.COUNTERPART
            continue
        price, rounds = stop(path, each.caution)
        net[plan] = money.profit_cents(price) - operating_cost_cents(rounds, rules)
        learnt[plan] = path.rounds[rounds - 1].standing is not None or rounds > 1
    return net, learnt


def _scripted(row: Sequence[tuple[Scenario, UnitEconomics]], rate: float, rules: BankrollConfig) -> Ints:
    found = simulate(to_batch([scenario for scenario, _ in row]), FixedConcession(rate))
    prices = [None if math.isnan(price) else float(price) for price in found.price]
    return np.array(
        [
            money.profit_cents(price) - operating_cost_cents(int(rounds), rules)
            for (_, money), price, rounds in zip(row, prices, found.rounds, strict=True)
        ],
        dtype=np.int64,
    )


def build_problem(
    outcomes: Outcomes, rules: BankrollConfig, *, step_cents: int = 50, is_remembering: bool = True
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
        for plan in range(len(PLANS)):
            posted = np.minimum(m + outcomes.learnt[m, plan], classes - 1)
            laws[m, plan] = stage_law(outcomes.net_cents[m, plan], step=step_cents, posted=posted)
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
