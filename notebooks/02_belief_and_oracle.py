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
# # Belief and oracle
#
# The counterpart is fully specified, so Bayes' rule on everything an agent saw gives the one right belief, and the best
# reply to that belief can be computed. This notebook shows both, and how far the optimum is pinned down.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

import terms
from oracle import posterior
from oracle.bayes_optimal import fitted_bayes_optimal
from oracle.calibration import calibrate
from oracle.explain import explain
from oracle.interventions import BayesOptimal, told_regime_and_family
from oracle.plotting import plot_belief_path, plot_calibration, plot_frequencies, plot_move_costs, plot_suite_values
from oracle.tables import suite_values

FAST = bool(os.environ.get("TERMS_FAST"))

# %% [markdown]
# ## What could be believed
#
# Before the first price the belief is the prior of the regime, given the own reservation. Each price, cue and refusal
# narrows it.

# %%
scenario = terms.fresh_suite(seed=11, regimes=["overlap"], families=["candid"], n_per_cell=1)[0]
record = terms.play(scenario, terms.agents.build_scripted("patient"))
bayes_optimal = fitted_bayes_optimal()
told = explain(scenario, record, bayes_optimal=bayes_optimal)
prior = posterior.start(told_regime_and_family(scenario), posterior.seat_of(terms.Game(scenario).observe()))
print("before any price:", posterior.summary(prior))

# %%
figure, ax = plt.subplots(figsize=(7, 4))
plot_belief_path(told, ax)
plt.show()

# %% [markdown]
# How to read it: the band holds nine tenths of the belief about the hidden reservation. The dashed line is the truth,
# which no agent sees.

# %% [markdown]
# ## Is it right?
#
# A belief is calibrated if the truth falls in its lowest tenth a tenth of the time, and so in every other tenth.

# %%
suite = terms.fresh_suite(seed=12, regimes=["overlap"], n_per_cell=2 if FAST else 25)
patient = terms.agents.build_scripted("patient")
found = calibrate(suite, patient, bayes_optimal=BayesOptimal(), rng=np.random.default_rng(0))
figure, ax = plt.subplots(figsize=(7, 3.5))
plot_calibration(found.shares(), ax)
plt.show()

# %% [markdown]
# How to read it: bars near the dashed line. Lines are 95 % intervals, clustered by episode, as the rounds of one talk
# share one truth.

# %%
figure, ax = plt.subplots(figsize=(5, 3.5))
plot_frequencies(found.frequencies(), ax)
plt.show()

# %% [markdown]
# How to read it: among moments where a stance had 30 %, it was the true one in 30 %. `terms report --beliefs` draws
# both for recorded runs, and every stated belief beside the exact one.

# %% [markdown]
# ## What the oracle would have done
#
# The Bayes optimum plays fitted values on the exact belief. A move's cost is the expected utility it gives up against
# the oracle's move at the same belief.

# %%
for move in told.moves:
    own = f"{move.decision} {move.price or 0:.2f}"
    print(
        move.round, own, "| oracle:", move.reference_decision, f"{move.reference_price or 0:.2f} | cost {move.cost:.3f}"
    )
print("costs:", told.costs, "noise:", round(told.noise, 3))

# %%
figure, ax = plt.subplots(figsize=(7, 3.5))
plot_move_costs(told, ax)
plt.show()

# %% [markdown]
# How to read it: a move can be right at what was known (no blue) and still cost something with the type known (orange).

# %% [markdown]
# ## What a suite is worth
#
# `clairvoyant` knows the type and bounds everyone from above. What the Bayes-optimal player earned, minus two standard
# errors, bounds the optimum from below.

# %%
families = ["candid"] if FAST else list(terms.GameConfig().families)
suite = terms.fresh_suite(seed=13, regimes=["overlap"], families=families, n_per_cell=4 if FAST else 25)
rows = suite_values(suite, bayes_optimal=bayes_optimal)
figure, ax = plt.subplots(figsize=(7, 3))
plot_suite_values(rows, ax)
plt.show()

# %% [markdown]
# How to read it: the optimum of a player who is not told the type lies inside the bar; the dot is what the reference
# earned. Much of the bar is the price of not knowing the type, which no player can avoid.
