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
# # The game
#
# An agent and a counterpart bargain over one price in at most ten rounds. The counterpart is a stochastic kernel with a
# hidden type: its reservation price, its urgency and its stance. Nothing it does is decided by a language model, so
# we know the exact probability of everything it may do.

# %%
import os

import matplotlib.pyplot as plt

import terms
from experiments.comparing.wording import PAIR_HEADINGS, pair_row
from experiments.plots.charts import plot_curves, plot_intervals
from experiments.plots.negotiation import plot_concession_rates, plot_price_path, plot_response
from experiments.stats.paired import compare

N_PER_CELL = 2 if os.environ.get("TERMS_FAST") else 25

# %% [markdown]
# ## One episode
#
# A scenario fixes both types and all the noise before anybody moves. The agent sees its own reservation price, the
# protocol, and what the counterpart says; the hidden type is for us only.

# %%
scenario = terms.fresh_suite(seed=11, regimes=["overlap"], families=["candid"], n_per_cell=1)[0]
print("agent:      ", scenario.agent_role, f"reservation {scenario.agent_type.reservation_price:.2f}")
print("counterpart:", scenario.counterpart_type)
print(f"zone of agreement {scenario.zopa:.2f}, difficulty {scenario.difficulty:.2f}")

# %%
record = terms.play(scenario, terms.agents.build_scripted("patient"))
for turn in record.turns:
    print(turn.round, turn.counterpart_message or "(nothing yet)", "->", turn.decision, turn.price or "")
print(record.termination, record.price, f"utility {record.utility:.2f}")

# %%
figure, ax = plt.subplots(figsize=(7, 4))
plot_price_path(ax, record)
plt.show()

# %% [markdown]
# How to read it: dots are offers by round, dotted lines the two reservation prices. The space between the dotted
# lines is the surplus to divide; the star is where it was divided.

# %% [markdown]
# ## Why it answers as it does
#
# An offer that would cost the counterpart money is never accepted, and from round five on it may end the talk. An offer
# that pays is accepted with a probability that grows with the gain, the urgency and the clock.

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
plot_response(axes[0], "candid", round_number=2)
plot_response(axes[1], "candid", round_number=8)
plt.show()

# %% [markdown]
# How to read it: right of zero the offer pays for the counterpart. The same offer is accepted more readily late than
# early, so waiting has value; left of zero the orange curve is the price of asking too much, late.

# %%
figure, ax = plt.subplots(figsize=(8, 4.5))
plot_concession_rates(ax)
plt.show()

# %% [markdown]
# How to read it: the further right, the faster the agent has been conceding. Every curve falls: whoever concedes fast
# meets a counterpart that stops conceding, and the aggressive stance (red) and the adversarial family punish it most.

# %% [markdown]
# ## Many episodes
#
# A suite crosses regimes, families, roles and openers. Every number comes with its interval and the episodes it rests
# on, and an empty denominator is undefined.

# %%
names = ["patient", "conceder", "tit-for-tat", "fixed-0.30", "fixed-0.10", "random"]
suite = terms.fresh_suite(seed=2, n_per_cell=N_PER_CELL)
runs = {name: [terms.play(s, terms.agents.build_scripted(name)) for s in suite] for name in names}
summaries = {name: terms.metrics.summarize(episodes) for name, episodes in runs.items()}
print(len(suite), "episodes each;", "patient:", summaries["patient"].overall["se_plus"])

# %%
figure, ax = plt.subplots(figsize=(7, 3.5))
plot_intervals(ax, names, [summaries[name].overall["se_plus"] for name in names], limits=(0, 1))
ax.set_xlabel("surplus efficiency SE+ on feasible episodes")
plt.show()

# %% [markdown]
# How to read it: SE+ is the share of the zone of agreement the agent took home, 0 without a deal. The bar is the 95 %
# interval.

# %%
curves = [terms.metrics.concession_curve(runs[name]) for name in names]
figure, ax = plt.subplots(figsize=(7, 4))
plot_curves(ax, curves[0], others=curves[1:])
ax.set_xlabel("round")
ax.set_ylabel("distance of the offer from the own reservation")
plt.show()

# %% [markdown]
# How to read it: the blue curve is `patient`, the grey ones the others. It starts far from its reservation and closes
# slowly; agents below it gave the same ground away sooner.

# %% [markdown]
# ## Who is better, and are you sure?
#
# Agents meet the same episodes and the same draws, so differences are paired. Agents that are not told apart share a
# letter.

# %%
comparison = compare(runs)
for rank, name in enumerate(comparison.ranking, 1):
    print(rank, name, comparison.letters[name])
dict(zip(PAIR_HEADINGS, pair_row(comparison.differences[0]), strict=True))

# %% [markdown]
# ## A flaw worth knowing
#
# The published suite draws the width and the midpoint of its overlap episodes from one random number. A script that
# knows this takes nearly everything there and nothing special on fresh episodes; results should rest on fresh ones.

# %%
exploit = terms.agents.build_scripted("exploit")
suites = {
    "published": terms.published_suite(["overlap"], n_per_cell=N_PER_CELL),
    "fresh": terms.fresh_suite(seed=3, regimes=["overlap"], n_per_cell=N_PER_CELL),
}
for label, episodes in suites.items():
    print(label, terms.metrics.summarize([terms.play(s, exploit) for s in episodes]).overall["se_plus"])
