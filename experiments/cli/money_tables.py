"""Tables of negotiations in dollars."""

from __future__ import annotations

from experiments.cli.show import estimate, out, print_table, text_table
from experiments.episodes.folder import Run
from experiments.episodes.money_fit import REGRET_RATES


def print_money(run: Run) -> None:
    """Print every metric in money, overall and by side."""
    from experiments.episodes.folder import run_money
    from experiments.episodes.money_metrics import MONEY_METRICS, money_object

    found = money_object(run_money(run.header, run.records))
    parts = {"overall": found["overall"], **found["perspectives"]}
    rows = [
        (metric.name.replace("_", " "), metric.better, metric.unit,
         *(f"{estimate(part[metric.name])}  n={part[metric.name]['n']}" for part in parts.values()))
        for metric in MONEY_METRICS
    ]  # fmt: skip
    title = f"{run.header.agent} on {run.header.spec.label}, in money; 95 % intervals, - is undefined"
    print_table(text_table(title, ("metric", "better", "unit", *parts), rows))
    if run.header.agent in REGRET_RATES:
        out(f"published regret rate (144 episodes): {REGRET_RATES[run.header.agent]:.3f}")
