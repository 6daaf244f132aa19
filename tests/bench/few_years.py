"""How often an interval holds the truth with 3 to 8 years or sessions, on years and sessions that were really played.

Four pools: rule-based years of 60 days in 200 worlds; the same in one world, with prices off by 5 % so that its runs
differ; random-legal in one world, which is bankrupt in 30 % of its years; and 400 sessions of three agents. From each
20,000 samples of n are drawn with replacement. A cell is the share of intervals that hold the mean of the pool, in per
cent: of Student's, then of the product's without its least number. A number gets an interval from the least n at which
Student's keeps within two points of 95 % in every pool. Playing takes some minutes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import terms
from commerce.bankroll import BankrollConfig
from commerce.merchants import build_merchant
from commerce.metrics import Measure, year_metrics
from experiments.engine.run import run_task
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from experiments.sessions.summary import session_values
from experiments.years.spec import YearSpec
from experiments.years.summary import POOLED
from terms.aliases import Floats
from terms.intervals import LEVEL, mean_bounds, spread_of, student_quantile

SIZES = (3, 4, 5, 6, 7, 8)
SAMPLES, NUM_YEARS, NUM_SESSIONS, NUM_DAYS = 20_000, 200, 400, 60
YEARLY = (
    "final_assets", "profit_per_call", "peak_drawdown", "se_plus", "cse_plus", "agr_plus", "surplus_lift",
    "agreement_lift", "anchor_ratio", "natural_return_rate", "controllable_return_rate", "storage_cost", "fraud_loss",
)  # fmt: skip
SESSION_AGENTS = ("boulware", "linear", "tit-for-tat")


def play(spec: YearSpec, name: str, slip: float = 0.0) -> Mapping[str, Measure]:
    """Return the metrics of one year; every price asked for is off by a factor with log-deviation ``slip``."""
    year, rng = spec.build_year(), random.Random(spec.agent_seed)

    def slipped(given: Any, key: str = "") -> Any:
        if isinstance(given, Mapping):
            return {key: slipped(value, key) for key, value in given.items()}
        if isinstance(given, list | tuple):
            return [slipped(value) for value in given]
        return round(given * rng.lognormvariate(0, slip), 2) if key in ("price", "retail_price") else given

    def call(tool: str, asked: Any) -> Any:
        return year.call(tool, asked if slip == 0 or tool == "chatbox" else slipped(asked))

    build_merchant(name, year.setting.world, year.setting.rules, spec.agent_seed)(call)
    year.stop()
    return year_metrics(year)


def year_pools() -> Iterator[tuple[str, list[Mapping[str, Measure]]]]:
    """Play and yield the pools of years."""
    worlds = [YearSpec(world_seed=1000 + n, num_days=NUM_DAYS) for n in range(NUM_YEARS)]
    runs = [YearSpec(num_days=NUM_DAYS, repeat=n) for n in range(NUM_YEARS)]
    yield "rule-based, worlds", [play(spec, "rule-based") for spec in worlds]
    yield "rule-based, one world", [play(spec, "rule-based", 0.05) for spec in runs]
    yield "random-legal, one world", [play(spec, "random-legal") for spec in runs]


def sessions_of(name: str) -> list[dict[str, float]]:
    """Return the numbers of each session of an agent."""
    spec = SessionsSpec(bankroll=BankrollConfig(num_sessions=NUM_SESSIONS))
    with tempfile.TemporaryDirectory() as folder:
        run = run_task(SESSIONS, terms.agents.build_scripted(name), spec, Path(folder) / "run")
    return [session_values(session) for session in run.sessions]


def held(blocks: Floats, truth: float) -> tuple[float, float]:
    """Return how often Student's and the product's interval of each row hold ``truth``, of those that there are."""
    n, mean = blocks.shape[-1], blocks.mean(axis=-1)
    half = student_quantile(0.5 + LEVEL / 2, n - 1) * blocks.std(axis=-1, ddof=1) / np.sqrt(n)
    low, high = mean_bounds(mean, spread_of(blocks, few=2))
    slack, is_there = 1e-9 * abs(truth), np.isfinite(low)
    hits = (low <= truth + slack) & (truth - slack <= high)
    student = float((np.abs(mean - truth) <= half + slack).mean())
    return student, float(hits[is_there].mean()) if is_there.any() else float("nan")


def row_text(name: str, top: Floats, bottom: Floats | None = None, samples: int = SAMPLES) -> str:
    """Return one row; with ``bottom`` the number is the ratio of the sums, by its influences."""
    cells = []
    for n in SIZES:
        picked = np.random.default_rng(n).integers(0, len(top), (samples, n))
        if bottom is None:
            found = held(top[picked], float(top.mean()))
        else:
            sums = bottom[picked].sum(axis=-1, keepdims=True)
            ratio = top[picked].sum(axis=-1, keepdims=True) / sums
            found = held(ratio + n * (top[picked] - ratio * bottom[picked]) / sums, float(top.sum() / bottom.sum()))
        cells.append(f"{100 * found[0]:.1f} / {100 * found[1]:.1f}")
    return f"{name:46}" + "".join(f"{cell:>14}" for cell in cells) + "\n"


def few_table() -> Iterator[str]:
    """Yield the table, line by line."""
    yield f"{'Student / ours':46}" + "".join(f"{f'n = {n}':>14}" for n in SIZES) + "\n"
    for pool, years in year_pools():
        for name in YEARLY:
            kept = [year[name] for year in years if year[name].value is not None]
            values, weights = np.array([one.value for one in kept]), np.array([float(one.n) for one in kept])
            if len(kept) < NUM_YEARS // 4 or np.ptp(values) == 0:
                continue
            parts = (values * weights, weights) if name in POOLED else (values, None)
            yield row_text(f"{name}, {pool}", *parts)
    for agent in SESSION_AGENTS:
        sessions = sessions_of(agent)
        for name in ("terminal_balance", "mean_period_profit"):
            yield row_text(f"{name}, {agent}", np.array([one[name] for one in sessions]))
