"""What a session is worth to the Bayes optimum: ruin-aware and risk-neutral, with memory and without.

All numbers are estimates of the dynamic program on sampled laws. Intervals are from the delete-a-group jackknife over
the sampled suppliers: the whole analysis is done again without each group, so what is a difference has the interval of
a difference. They cover the sampling and nothing else.

A value is a lower bound in expectation, being that of a policy that can be played. ``price_of_caution`` and
``value_of_memory`` are differences of such values and bound nothing: both policies fall short of their optimum, by
different amounts (:mod:`oracle.bankroll.menu`). Choosing among plans on the same samples flatters a value; ``held_out``
is the value of policies found on one half of the suppliers under the laws of the other half, and cannot be flattered.
From above the value is held by ``known_types_value``: every type known and no ruin, as if each period were won on
average.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from commerce.bankroll import BankrollConfig
from commerce.economics import ChainConfig, EconomicsConfig
from oracle.bankroll.menu import (
    CLASSES,
    PLANS,
    STANDARD_MENU,
    MenuSettings,
    PlanOutcomes,
    build_problem,
    sample_outcomes,
)
from oracle.bankroll.ruin import Valued, solve_risk_neutral, solve_ruin, value_policy
from oracle.kernels.compiling import SOURCE_DIGEST
from oracle.solution_cache import Arrays, load_or_solve, solution_key
from terms.aliases import Floats
from terms.estimates import Estimate
from terms.intervals import LEVEL

NUM_GROUPS = 10
MENU_VERSION = 4  # raise it when the way plans are played changes


@dataclass(frozen=True, eq=False)
class SessionWorth:
    """Policies and what they are worth.

    ``aware`` and ``neutral`` remember suppliers, ``memoryless`` is ruin-aware without memory. ``measures`` are in
    dollars (survival: probabilities); ``n`` is the number of sampled suppliers.
    """

    rules: BankrollConfig
    outcomes: PlanOutcomes
    aware: Valued
    neutral: Valued
    memoryless: Valued
    measures: dict[str, Estimate]

    def to_json_object(self) -> dict[str, Any]:
        """Return every measure as JSON types."""
        return {name: estimate._asdict() for name, estimate in self.measures.items()}


def load_outcomes(
    chain: ChainConfig,
    economics: EconomicsConfig,
    rules: BankrollConfig,
    settings: MenuSettings = STANDARD_MENU,
    *,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PlanOutcomes:
    """Return sampled outcomes, from the cache or sampled now (a minute); chains of one law share them.

    Only the costs of ``rules`` matter here, not its cash, mode or length.
    """
    key = solution_key(
        {
            "version": MENU_VERSION,
            "plans": [plan.name for plan in PLANS],
            "classes": list(CLASSES),
            "source": SOURCE_DIGEST,
            "chain": json.loads(chain.model_dump_json()),
            "economics": json.loads(economics.model_dump_json()),
            "costs": [rules.period_cost_cents, rules.round_cost_cents],
            "settings": asdict(settings),
        }
    )

    def sample() -> Arrays:
        found = sample_outcomes(chain, economics, rules, settings, progress)
        return {"net_cents": found.net_cents, "learnt": found.learnt, "known_cents": found.known_cents}

    arrays = load_or_solve(key, sample, folder)
    return PlanOutcomes(arrays["net_cents"], arrays["learnt"], arrays["known_cents"])


def session_worth(
    outcomes: PlanOutcomes, rules: BankrollConfig, *, step_cents: int = 50, num_groups: int = NUM_GROUPS
) -> SessionWorth:
    """Solve the session with and without caution and memory, with jackknife intervals.

    Raises
    ------
    ValueError
        If there are fewer suppliers than groups.
    """
    n = outcomes.num_suppliers
    if not 2 <= num_groups <= n:
        raise ValueError(f"num_groups={num_groups}; allowed are 2 to the number of sampled suppliers, {n}")
    aware, neutral, memoryless = policies = _policies(outcomes, rules, step_cents)
    coarse = 2 * step_cents  # enough for a spread
    rows = []
    for group in range(num_groups):
        part = outcomes.take(np.flatnonzero(np.arange(n) % num_groups != group))
        rows.append(list(_measures(part, rules, _policies(part, rules, coarse)).values()))
    measures = {
        name: _within(name, value, float(width), n)
        for (name, value), width in zip(
            _measures(outcomes, rules, policies).items(), _half_widths(np.array(rows)), strict=True
        )
    }
    # As many suppliers stand behind it as behind the value, and nearly the same draws.
    flattered, held_out = measures["value"], _held_out(outcomes, rules, step_cents) / 100
    shift = held_out - (flattered.estimate or 0.0)
    low, high = ((bound or 0.0) + shift for bound in (flattered.low, flattered.high))
    measures["held_out_value"] = Estimate(held_out, low, high, n)
    return SessionWorth(rules, outcomes, aware, neutral, memoryless, measures)


def _policies(outcomes: PlanOutcomes, rules: BankrollConfig, step_cents: int) -> tuple[Valued, Valued, Valued]:
    problem = build_problem(outcomes, rules, step_cents=step_cents)
    forgetful = build_problem(outcomes, rules, step_cents=step_cents, is_remembering=False)
    return solve_ruin(problem), solve_risk_neutral(problem), solve_ruin(forgetful)


def _measures(
    outcomes: PlanOutcomes, rules: BankrollConfig, policies: tuple[Valued, Valued, Valued]
) -> dict[str, float]:
    aware, neutral, memoryless = policies
    return {
        "value": aware.value() / 100,
        "survival": aware.survival_prob(),
        "risk_neutral_value": neutral.value() / 100,
        "risk_neutral_survival": neutral.survival_prob(),
        "price_of_caution": (aware.value() - neutral.value()) / 100,
        "memoryless_value": memoryless.value() / 100,
        "value_of_memory": (aware.value() - memoryless.value()) / 100,
        "known_types_value": (rules.initial_cents + rules.horizon * float(outcomes.known_cents.mean())) / 100,
        "dollar_at_start": (aware.value(aware.problem.start_cents + 100) - aware.value()) / 100,
    }


def _held_out(outcomes: PlanOutcomes, rules: BankrollConfig, step_cents: int) -> float:
    """Return the mean value of policies found on one half of the suppliers, under the laws of the other."""
    n = outcomes.num_suppliers
    halves = [outcomes.take(np.arange(start, n, 2)) for start in (0, 1)]
    problems = [build_problem(half, rules, step_cents=step_cents) for half in halves]
    total = 0.0
    for here, there in ((0, 1), (1, 0)):
        policy = solve_ruin(problems[here]).policy
        total += value_policy(problems[there], policy).value() / 2
    return total


def _within(name: str, value: float, width: float, n: int) -> Estimate:
    """Return the estimate with its interval, cut where the quantity cannot lie."""
    bottom = 0.0 if "survival" in name or name == "price_of_caution" else -math.inf
    top = 1.0 if "survival" in name else math.inf
    return Estimate(value, max(bottom, value - width), min(top, value + width), n)


def _half_widths(rows: Floats) -> Floats:
    """Return half the 95 % interval from values with one group left out each (groups, measures)."""
    groups = len(rows)
    variance = (groups - 1) / groups * np.square(rows - rows.mean(axis=0)).sum(axis=0)
    return np.asarray(float(stdtrit(groups - 1, 0.5 + LEVEL / 2)) * np.sqrt(variance))
