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
# # The store year
#
# A merchant starts with 100,000 yuan and runs up to four stores for a year. It buys by bargaining with suppliers, some
# of them fraudulent, and every yuan and every unit is accounted for. The year follows from its calls alone, so the
# figures below are read from a stored year by replaying it.

# %%
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from commerce.merchants import MERCHANTS
from commerce.world import DEFAULT_SEED
from experiments.plots import years as year_plots
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import read_story
from experiments.years.summary import years_summary

# %%
FAST = bool(os.environ.get("TERMS_FAST"))
NUM_DAYS, NUM_WORLDS = (45, 2) if FAST else (365, 5)

# %% [markdown]
# ## One year
#
# The rule-based merchant uses nothing but what the tools tell it.

# %%
folder = Path(tempfile.mkdtemp())
spec = YearSpec(world_seed=DEFAULT_SEED, rules="fair", num_days=NUM_DAYS)
played = run_year(folder / "year", spec, "rule-based")
story = read_story(folder / "year")
print(f"{len(story.calls):,} calls, ended by {played.result['end']}")
for number, event in enumerate(story.events, 1):
    print(number, event.name, f"days {event.first_day} to {event.last_day}")

# %%
figure, ax = plt.subplots(figsize=(9, 4))
year_plots.plot_assets(ax, story)
plt.show()

# %% [markdown]
# How to read it: the black line is the score so far, the shade above it money that sits in goods. Numbered bands
# are the events listed above, the bars along the foot are promotions.

# %%
figure, ax = plt.subplots(figsize=(9, 4))
year_plots.plot_cash(ax, story)
plt.show()

# %% [markdown]
# How to read it: only the bank pays bills, and ten mornings in a row below the zero line end the year; escrow becomes
# wallet after nine days, and wallet becomes bank only when the merchant withdraws it.

# %% [markdown]
# ## Stock and sales

# %%
figure, axes = plt.subplots(1, 2, figsize=(13, 4))
year_plots.plot_stock_age(axes[0], story)
year_plots.plot_storage_bill(axes[1], story)
plt.show()

# %% [markdown]
# How to read it: storage grows dearer with the age of a lot, up to nine times after 180 days, so a rising left line
# makes the right one rise faster than the stock does.

# %%
figure, ax = plt.subplots(figsize=(9, 4))
year_plots.plot_sales(ax, story)
plt.show()

# %% [markdown]
# How to read it: each colour is a store, its height its revenue a day, averaged over the last seven days; look for
# steps at the numbered events and at the promotions.

# %% [markdown]
# ## Fraud and time

# %%
figure, ax = plt.subplots(figsize=(9, 3))
year_plots.plot_frauds(ax, story)
plt.show()

# %% [markdown]
# How to read it: blue was paid before the merchant could know, orange after a short delivery, a fee or the return trace
# had shown it; false urgency and promised discounts leave no such evidence, so they are always blue.

# %%
figure, ax = plt.subplots(figsize=(9, 5))
year_plots.plot_tools(ax, story)
plt.show()

# %% [markdown]
# How to read it: a tool whose blue bar is longer than its orange one is slow; waiting for the next day takes whatever
# is left of the day, so a long bar there is time the merchant did not use.

# %% [markdown]
# ## Four merchants
#
# Each merchant plays the same worlds and meets the same demand, events and supplier noise. Intervals are over worlds.

# %%
worlds = range(DEFAULT_SEED, DEFAULT_SEED + NUM_WORLDS)
results = [
    run_year(folder / f"{name}-{seed}", YearSpec(world_seed=seed, rules="fair", num_days=NUM_DAYS), name).result
    for name in MERCHANTS
    for seed in worlds
]
for name in MERCHANTS:
    summary = years_summary([one for one in results if one["agent"] == name])
    for metric in ("final_assets", "is_bankrupt", "se_plus", "bad_spend_pct"):
        print(f"{name:14}{metric:16}", summary[metric])
