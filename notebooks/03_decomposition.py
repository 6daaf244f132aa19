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
# # Where an agent loses
#
# The same episodes are played again with the same draws: once as they are, once with the exact posterior shown, once
# with the type revealed. What each step changes is a part of the gap to the oracle, and the parts sum to it exactly.

# %%
import os

import matplotlib.pyplot as plt
from IPython.display import display

import terms
from experiments.stats.numerals import needed_text
from oracle import decompose
from oracle.diagnosis import diagnose
from oracle.player_registry import build_player

FAST = bool(os.environ.get("TERMS_FAST"))
FAMILIES = ["candid"] if FAST else list(terms.GameConfig().families)
suite = terms.fresh_suite(seed=21, regimes=["overlap", "no_deal"], families=FAMILIES, n_per_cell=3 if FAST else 6)

# %% [markdown]
# ## A scripted agent
#
# It ignores whatever it is told, so inference and uncertainty are exactly zero: all it loses is control.

# %%
report = decompose(terms.FixedConcession(0.1), suite=suite, reference="oracle")
display(report)

# %%
report.plot()
plt.show()

# %% [markdown]
# How to read it: from the utility as played on the left to the oracle's on the right, one step a part. A step that
# falls is a negative part: `uncertainty` has two halves, the agent's own and what no player can avoid.

# %% [markdown]
# ## Planted faults
#
# Three agents share one planner and have one fault each. The diagnosis must name it, and says how sure it is.

# %%
names = ["faulty-belief", "faulty-planning", "faulty-execution"]
reports = {name: decompose(build_player(name), suite=suite) for name in names}
for name, found in reports.items():
    print(f"{name:18} {diagnose(found).in_words()}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(21, 4))
for ax, found in zip(axes, reports.values(), strict=True):
    found.plot(ax, kind="regime", label="overlap")
plt.show()

# %% [markdown]
# How to read it: the tallest step up is the fault. A wrong belief gains from the posterior, a bad plan from nothing it
# is told, spoilt replies from being repaired.

# %% [markdown]
# ## How many episodes would show it?

# %%
for part in ("gap", "execution", "inference", "uncertainty_own", "control"):
    print(f"{part:18}", {name: needed_text(found.required(1.0)[part]._asdict()) for name, found in reports.items()})

# %% [markdown]
# How to read it: episodes for a 95 % interval of one price unit either side, at the spread seen here.

# %% [markdown]
# ## Against the clairvoyant
#
# Measured against a player that knows the type, control is a true residual and cannot be negative on average.

# %%
clairvoyant = decompose(terms.FixedConcession(0.1), suite=suite, reference="clairvoyant")
print("control:", clairvoyant.row("control"))
clairvoyant.plot()
plt.show()
