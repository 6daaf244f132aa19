"""How often the intervals we print hold the truth: every kind of interval, n = 4 to 400.

``python -m tests.bench.coverage`` prints the table. Of each kind 2,000 samples of n blocks are drawn, from a stated law
or, with replacement, from what built-in agents did on 1,200 scenarios (then the truth is the mean of all of these, and
the row is the mean over agents or pairs, with the worst of them beside it). A cell is the share of *printed* intervals
that hold the truth, in per cent; in brackets the share of samples of which one is printed, where that is not all. The
rest are "too few to say".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

import terms
from commerce.economics import EconomicsConfig, unit_economics
from experiments.episodes.money_metrics import FEW_LOTS, MIN_SPREAD_SCENARIOS, money_row
from experiments.sessions.summary import MIN_TAIL_SESSIONS, TAIL_SHARE
from experiments.stats.paired import improvement
from experiments.stats.variance import variance_parts
from terms.aliases import Floats
from terms.intervals import FEW, mean_bounds, share_bounds, spread_of
from terms.sample_sizes import deviation_bounds
from tests.bench.few_years import few_table

SIZES = (4, 8, 24, 72, 216, 400)
REPETITIONS = 2_000
MONEY = ("profit, played", "regret rate, played")
AGENTS = (
    "fixed-0.10", "fixed-0.30", "boulware", "linear", "conceder", "tit-for-tat", "split-the-difference", "random",
    "accept-any", "patient", "exploit",
)  # fmt: skip
Bounds = tuple[Floats, Floats]
#: Draws (repetitions, n) and returns the bounds of each repetition; nan is too few to say.
Kind = Callable[[np.random.Generator, int, int], Bounds]


class Covered(NamedTuple):
    """Of all repetitions the share with an interval, and of these the share that hold the truth."""

    printed: float
    held: float


class Row(NamedTuple):
    """One kind of interval; ``worst`` is the agent or pair of the least coverage, by size."""

    kind: str
    cells: tuple[Covered, ...]
    worst: tuple[Covered, ...] | None = None


def cover(bounds: Bounds, truth: float) -> Covered:
    """Count the intervals that hold ``truth``."""
    low, high = bounds
    printed = np.isfinite(low) & np.isfinite(high)
    held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return Covered(float(printed.mean()), float(held[printed].mean()) if printed.any() else float("nan"))


def mean_of_blocks(values: Floats, *, few: int = FEW) -> Bounds:
    """Return the product's interval of each row's mean."""
    return mean_bounds(values.mean(axis=-1), spread_of(values, few=few))


def ratio_of_blocks(top: Floats, bottom: Floats, *, few: int = FEW) -> Bounds:
    """Return the product's interval of each row's ratio of sums (tests compare it with ``estimate_ratios``)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total = bottom.sum(axis=-1, keepdims=True)
        ratio = top.sum(axis=-1, keepdims=True) / total
        influence = ratio + top.shape[-1] * (top - ratio * bottom) / total
    return mean_bounds(ratio[..., 0], spread_of(np.where(np.isfinite(influence), influence, 0.0), few=few))


def lower_tails(values: Floats) -> Bounds:
    """Return the product's interval of the mean of the worst quarter of each row."""
    n = values.shape[-1]
    if n < MIN_TAIL_SESSIONS:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    ordered = np.sort(values, axis=-1)
    worst = int(np.ceil(TAIL_SHARE * n))
    edge = ordered[..., worst : worst + 1]
    return mean_of_blocks(edge + n / worst * np.minimum(ordered - edge, 0.0))


def shares(hits: Floats, n: int) -> Bounds:
    """Return the product's interval of the share of ``hits`` among ``n``."""
    table = np.array([share_bounds(k / n, n) for k in range(n + 1)])
    return table[hits.astype(int), 0], table[hits.astype(int), 1]


def each_row(values: Floats, bounds: Callable[[Floats], tuple[float | None, float | None]]) -> Bounds:
    """Return ``bounds`` of every row, computed one after the other."""
    found = np.array([bounds(row) for row in values], dtype=float)
    return found[:, 0], found[:, 1]


def rarely(share: float, draw: Callable[[np.random.Generator, tuple[int, int]], Floats]) -> Kind:
    """Return the mean of blocks that are 0 but for a ``share`` of them."""

    def kind(rng: np.random.Generator, repetitions: int, n: int) -> Bounds:
        shape = (repetitions, n)
        return mean_of_blocks(np.where(rng.random(shape) < share, draw(rng, shape), 0.0))

    return kind


def _ruin(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return final balances: a fifth ruined at a little below 0, the rest spread around 200."""
    return np.where(rng.random(shape) < 0.2, -5 * rng.random(shape), rng.normal(200, 60, shape))


def _calls(rng: np.random.Generator, repetitions: int, n: int) -> Bounds:
    """Return the interval of profit per call: a tenth of the years end early and broke."""
    is_bankrupt = rng.random((repetitions, n)) < 0.1
    calls = np.where(is_bankrupt, rng.uniform(100, 800, (repetitions, n)), rng.uniform(1500, 2500, (repetitions, n)))
    profit = np.where(is_bankrupt, -100_000.0, calls * rng.normal(250, 60, (repetitions, n)))
    return ratio_of_blocks(profit, calls)


def _improvements(place: int) -> Kind:
    def kind(rng: np.random.Generator, repetitions: int, n: int) -> Bounds:
        def bounds(seed: Floats) -> tuple[float | None, float | None]:
            own = np.random.default_rng(int(seed[0]))
            luck, names = own.normal(size=n), list(map(str, range(n)))
            sides = (0.5 + luck + own.normal(size=n), luck + own.normal(size=n))
            a, b = (dict(zip(names, side[:, None], strict=True)) for side in sides)
            return improvement(a, b, "higher")[place][1:3]

        return each_row(rng.integers(0, 2**31, (repetitions, 1)).astype(float), bounds)

    return kind


def _variances(place: int) -> Kind:
    def kind(rng: np.random.Generator, repetitions: int, n: int) -> Bounds:
        values = rng.normal(size=(repetitions, n, 1)) + rng.normal(size=(repetitions, n, 5))
        names = list(map(str, range(n)))
        return each_row(values, lambda row: variance_parts(dict(zip(names, row, strict=True)))[place][1:3])

    return kind


def _true_calls() -> float:
    return (0.1 * -100_000 + 0.9 * 2000 * 250) / (0.1 * 450 + 0.9 * 2000)


def _tail_truth() -> float:
    """Return the mean of the worst quarter of :func:`_ruin`, by a large sample."""
    values = np.sort(_ruin(np.random.default_rng(1), (1, 4_000_000))[0])
    return float(values[: len(values) // 4].mean())


#: Laws that are stated: the kind, how it is drawn, and the truth.
LAWS: Mapping[str, tuple[Kind, Callable[[], float]]] = {
    "mean, normal": (lambda rng, r, n: mean_of_blocks(rng.normal(size=(r, n))), lambda: 0.0),
    "mean, exponential": (lambda rng, r, n: mean_of_blocks(rng.exponential(size=(r, n))), lambda: 1.0),
    "mean, 30 % nothing": (rarely(0.7, lambda rng, shape: rng.beta(5, 3, shape)), lambda: 0.7 * 5 / 8),
    "difference, 70 % alike": (rarely(0.3, lambda rng, shape: rng.beta(5, 3, shape)), lambda: 0.3 * 5 / 8),
    "difference, 90 % alike": (rarely(0.1, lambda rng, shape: rng.normal(0.3, 0.3, shape)), lambda: 0.03),
    "share 2 %": (lambda rng, r, n: shares(rng.binomial(n, 0.02, r), n), lambda: 0.02),
    "share 10 %": (lambda rng, r, n: shares(rng.binomial(n, 0.1, r), n), lambda: 0.1),
    "share 50 %": (lambda rng, r, n: shares(rng.binomial(n, 0.5, r), n), lambda: 0.5),
    "survival 80 %": (lambda rng, r, n: shares(rng.binomial(n, 0.8, r), n), lambda: 0.8),
    "final balance, 20 % ruined": (lambda rng, r, n: mean_of_blocks(_ruin(rng, (r, n))), lambda: 0.2 * -2.5 + 160),
    "periods survived": (
        lambda rng, r, n: mean_of_blocks(np.minimum(rng.geometric(0.05, (r, n)), 20.0)),
        lambda: sum(0.95**t for t in range(20)),
    ),
    "lower tail of balances": (lambda rng, r, n: lower_tails(_ruin(rng, (r, n))), _tail_truth),
    "years, lognormal 0.5": (lambda rng, r, n: mean_of_blocks(rng.lognormal(0, 0.5, (r, n))), lambda: np.exp(0.125)),
    "years, profit per call": (_calls, _true_calls),
    "better, paired": (_improvements(0), lambda: 0.6381631950841185),  # Phi(0.5 / sqrt 2)
    "better, unpaired": (_improvements(1), lambda: 0.5987063256829237),  # Phi(0.5 / 2)
    "variance between": (_variances(0), lambda: 1.0),
    "variance within": (_variances(1), lambda: 1.0),
}


class Pool(NamedTuple):
    """What one agent did on every scenario, shape (scenarios,); money in dollars."""

    feasible: Floats
    utility: Floats
    surplus: Floats
    agreed: Floats
    profit: Floats
    best: Floats


@cache
def pools() -> Mapping[str, Pool]:
    """Play the built-in agents on fresh scenarios, with money."""
    suite = terms.fresh_suite(1207, n_per_cell=25)
    economics = [unit_economics(scenario, EconomicsConfig()) for scenario in suite]
    found = {}
    for name in AGENTS:
        agent = terms.agents.build_scripted(name)
        records = [terms.play(scenario, agent) for scenario in suite]
        prices = [record.price for record in records]
        money = [money_row(*each) for each in zip(suite, prices, economics, strict=True)]
        columns = [
            [float(each.is_feasible) for each in records],
            [each.utility for each in records],
            [each.utility / each.zopa if each.is_feasible else 0.0 for each in records],
            [float(each.is_agreement) for each in records],
            [each.profit_cents / 100 for each in money],
            [(each.best_cents or 0) / 100 for each in money],
        ]
        found[name] = Pool(*map(np.array, columns))
    return found


def played_kinds() -> Iterator[tuple[str, list[tuple[Floats, Floats | None]]]]:
    """Yield a kind and, by agent or pair, its blocks: values, or the two parts of a ratio."""
    played = pools()
    feasible = next(iter(played.values())).feasible > 0
    pairs = list(combinations(played.values(), 2))
    yield "SE+, played", [(pool.surplus[feasible], None) for pool in played.values()]
    yield "utility, played", [(pool.utility, None) for pool in played.values()]
    yield "CSE+, played", [((pool.surplus * pool.agreed)[feasible], pool.agreed[feasible]) for pool in played.values()]
    yield "profit, played", [(pool.profit, None) for pool in played.values()]
    yield "regret rate, played", [((p.best - p.profit)[feasible], p.best[feasible]) for p in played.values()]
    yield "paired SE+, played", [((a.surplus - b.surplus)[feasible], None) for a, b in pairs]
    yield "paired profit, played", [(a.profit - b.profit, None) for a, b in pairs]
    yield "paired agreement, played", [((a.agreed - b.agreed)[feasible], None) for a, b in pairs]
    best = np.maximum.reduce([pool.utility for pool in played.values()])
    yield "part of a gap, played", [(best - pool.utility, None) for pool in played.values()]


def standard_errors(values: Floats) -> Bounds:
    """Return the product's interval of the standard error of each row's mean."""
    n = values.shape[-1]
    if n < MIN_SPREAD_SCENARIOS:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    low, high = each_row(values, deviation_bounds)
    return low / np.sqrt(n), high / np.sqrt(n)


def played_row(name: str, blocks: list[tuple[Floats, Floats | None]], repetitions: int) -> Row:
    """Cover the truth of every agent or pair, by resampling its scenarios."""
    cells, worst = [], []
    for n in SIZES:
        rng = np.random.default_rng([n, len(name)])
        found = []
        for top, bottom in blocks:
            if np.ptp(top) == 0:
                continue
            picked = rng.integers(0, len(top), (repetitions, n))
            few = FEW_LOTS if name in MONEY else FEW
            if bottom is None:
                found.append(cover(mean_of_blocks(top[picked], few=few), float(top.mean())))
            else:
                found.append(
                    cover(ratio_of_blocks(top[picked], bottom[picked], few=few), float(top.sum() / bottom.sum()))
                )
        shown = [each for each in found if each.printed > 0.05]
        printed = float(np.mean([each.printed for each in found]))
        cells.append(Covered(printed, float(np.mean([each.held for each in shown])) if shown else float("nan")))
        worst.append(min(shown, key=lambda each: each.held) if shown else Covered(0.0, float("nan")))
    return Row(name, tuple(cells), tuple(worst))


def coverage_table(repetitions: int = REPETITIONS) -> list[Row]:
    """Return the whole table."""
    rows = []
    for name, (kind, truth) in LAWS.items():
        target = truth()
        cells = [cover(kind(np.random.default_rng([n, len(name)]), repetitions, n), target) for n in SIZES]
        rows.append(Row(name, tuple(cells)))
    rows += [played_row(name, blocks, max(100, repetitions // 4)) for name, blocks in played_kinds()]
    profit = next(iter(pools().values())).profit
    cells = []
    for n in SIZES:
        picked = np.random.default_rng(n).integers(0, len(profit), (repetitions, n))
        cells.append(cover(standard_errors(profit[picked]), float(profit.std()) / np.sqrt(n)))
    return [*rows, Row("standard error of profit", tuple(cells))]


def cell_text(found: Covered) -> str:
    """Return ``held (printed)`` in per cent."""
    if found.printed < 0.005 or np.isnan(found.held):
        return "too few"
    return f"{100 * found.held:.1f}" + (f" ({100 * found.printed:.0f})" if found.printed < 0.995 else "")


def main() -> None:
    """Print the table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    out = sys.stdout.write
    out(f"{'kind':30}" + "".join(f"{f'n = {n}':>14}" for n in SIZES) + "\n")
    for row in coverage_table(repetitions):
        out(f"{row.kind:30}" + "".join(f"{cell_text(cell):>14}" for cell in row.cells) + "\n")
        if row.worst:
            out(f"{'  the worst of them':30}" + "".join(f"{cell_text(cell):>14}" for cell in row.worst) + "\n")
    out("\nFew years and few sessions, see tests/bench/few_years.py\n")
    for line in few_table():
        out(line)


if __name__ == "__main__":
    main()
