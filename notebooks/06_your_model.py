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
#     export TERMS_RUN=$PWD/run

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import display

import experiments
from experiments.engine.run import load_run
from experiments.episodes.suite_task import EPISODES
from experiments.players.costing import reply_rates

# %%
from experiments.plots.charts import plot_intervals
from experiments.plots.negotiation import plot_price_path
from experiments.report.explaining import worst_episodes
from oracle.explain import explain
from terms.estimates import estimate_mean
from terms.metrics import summarize

# %%
HERE = Path(experiments.__file__).parent.parent / "notebooks" / "recorded"
FOLDER = Path(os.environ.get("TERMS_RUN", HERE / "local-model"))
run = load_run(EPISODES, FOLDER)
print(run.header.agent, "on", run.header.spec.label, "-", len(run.records), "negotiations")

# %% [markdown]
# ## What it earned

# %%
display(summarize(run.records))

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
#
# Every move is set beside the reference's at the exact posterior of its moment. What it gives up is split by cause; no
# model is asked again for that. `terms decompose` plays the episodes again, with the truth shown, and needs the model.

# %%
scenarios = {scenario.scenario_id: scenario for scenario in run.header.spec.build()}
told = {record.scenario_id: explain(scenarios[record.scenario_id], record) for record in run.records}
causes = list(next(iter(told.values())).costs)
losses = [estimate_mean([each.costs[cause] for each in told.values()]) for cause in causes]
top = max(loss.high or loss.estimate for loss in losses)
plot_intervals(plt.figure(figsize=(7, 2)).gca(), causes, losses, limits=(0.0, 1.1 * top))
plt.show()

# %% [markdown]
# How to read it: price units a negotiation, with intervals where there are enough negotiations to say.

# %% [markdown]
# ## Its worst talk

# %%
(worst,) = worst_episodes(run, 1)
display(told[worst.scenario_id])

# %%
plot_price_path(plt.figure(figsize=(7, 4)).gca(), worst)
plt.show()

# %% [markdown]
# How to read it: each move beside the best one, with what it gave up in price units; below, the offers by round between
# the worst prices that the two sides accept.
