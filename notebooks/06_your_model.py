# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your model
#
# A run folder of a language model, read back: what it earned, how its replies could be read, where it loses, and its
# worst talk told. The run that comes along is of a small model that bargains badly. Put your own in its place:
#
#     terms diagnose --agent openai:MODEL --base-url ADDRESS --out run
#     terms decompose --agent openai:MODEL --base-url ADDRESS --out run/split.json
#     export TERMS_RUN=run

# %%
import json
import os
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import display

import experiments
from experiments.engine.run import load_run
from experiments.episodes.folder import suite_summary
from experiments.episodes.suite_task import EPISODES
from experiments.players.costing import reply_rates

# %%
from experiments.plots.charts import plot_intervals
from experiments.plots.negotiation import plot_price_path
from experiments.report.explaining import worst_episodes
from oracle.explain import explain
from oracle.parts import advice
from oracle.plotting import plot_waterfall
from terms.estimates import Estimate

# %%
HERE = Path(experiments.__file__).parent.parent / "notebooks" / "recorded"
FOLDER = Path(os.environ.get("TERMS_RUN", HERE / "local-model"))
run = load_run(EPISODES, FOLDER)
print(run.header.agent, "on", run.header.spec.label, "-", len(run.records), "negotiations")

# %% [markdown]
# ## What it earned

# %%
summary = suite_summary(run.header, run.records)
for name in ("mean_utility", "se_plus", "agr_plus", "crit_viol_pct"):
    found = summary["metrics"]["overall"][name]
    print(f"{name:14}", found)

# %% [markdown]
# ## How its replies were read

# %%
rates = {name: rate for name, rate in reply_rates(run.receipts).items() if rate.estimate}
plot_intervals(plt.figure(figsize=(7, 2.5)).gca(), list(rates), list(rates.values()))
plt.show()

# %% [markdown]
# How to read it: the share of replies with each verdict. A reply that could not be used is answered once with the very
# fault; `corrected` is the share of rounds that needed it. Nothing is guessed: what stays unusable is no move.

# %% [markdown]
# ## Where it loses

# %%
split = json.loads((FOLDER / "split.json").read_text())
rows = {
    row["part"]: Estimate(*[row[key] for key in Estimate._fields]) for row in split["rows"] if row["label"] == "all"
}
plot_waterfall(rows, target=split["reference"], title=f"{split['agent']}, n = {rows['gap'].n}")
plt.show()
print(advice(split["diagnosis"]["fault"]))

# %% [markdown]
# How to read it: from what was played to what the Bayes-optimal player earns, a bar for each cause, with its interval.

# %% [markdown]
# ## Its worst talk

# %%
(worst,) = worst_episodes(run, 1)
scenario = next(each for each in run.header.spec.build() if each.scenario_id == worst.scenario_id)
told = explain(scenario, worst)
display(told)

# %%
plot_price_path(plt.figure(figsize=(7, 4)).gca(), worst)
plt.show()

# %% [markdown]
# How to read it: each move beside the best one, with what it gave up in price units; below, the offers by round between
# the worst prices that the two sides accept.
