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
# # Half a minute
#
# One negotiation, a suite of them, and two agents set beside each other. An agent is a function from what it sees to
# what it does.

# %%
import matplotlib.pyplot as plt

import terms
from experiments.plots.charts import plot_intervals
from experiments.plots.negotiation import plot_price_path
from experiments.stats.paired import compare
from terms.agents import build_scripted

scenario = terms.fresh_suite(seed=11, regimes=["overlap"], families=["candid"], n_per_cell=1)[0]
record = terms.play(scenario, build_scripted("patient"))
plot_price_path(plt.figure(figsize=(7, 4)).gca(), record)
plt.show()

# %% [markdown]
# How to read it: dots are offers by round, the dotted lines the worst prices that the two sides accept. The room
# between the lines is what there is to divide; the star is where it was divided.

# %%
suite = terms.fresh_suite(seed=1, n_per_cell=1)
runs = {name: [terms.play(each, build_scripted(name)) for each in suite] for name in ("patient", "conceder")}
summaries = {name: terms.metrics.summarize(episodes) for name, episodes in runs.items()}
shares = {name: summary.overall["se_plus"] for name, summary in summaries.items()}
for name, share in shares.items():
    print(f"{name:10} takes {share.estimate:.2f} of the surplus [{share.low:.2f}, {share.high:.2f}], n = {share.n}")
plot_intervals(plt.figure(figsize=(7, 2)).gca(), list(shares), list(shares.values()))
plt.show()

# %%
(difference,) = compare(runs).differences
print(f"{difference.first} less {difference.second}: {difference.estimate:.2f}, {difference.verdict}")

# %% [markdown]
# Both met the same scenarios with the same draws, so the difference is theirs. Where the rest of the surplus went tells
# `03_decomposition`, and what a language model makes of it `06_your_model`.
