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
# # The store year, and where its money went
#
# A merchant starts with 100,000 yuan and runs up to four stores for a year. It buys by bargaining with suppliers,
# some of them fraudulent, and every yuan and every unit is accounted for. The year follows from its calls alone, so
# it can be replayed, taken over by somebody else in the middle, and taken apart.

# %%
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from commerce.branching import Branches, Repeated
from commerce.merchants import build_merchant
from commerce.metrics import year_metrics
from commerce.money import to_yuan

# %%
from experiments.plots import years as year_plots
from experiments.plots.year_answers import AssetsPath, Ceiling, plot_parts, plot_paths
from experiments.report.year_answers import assets_by_day
from experiments.years.regrets import ledger_of
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import read_story, replay_year

# %%
from oracle.store.bound import year_bound
from oracle.store.regret import STREAM_WORDS
from oracle.store.regret_streams import Stream

# %%
FAST = bool(os.environ.get("TERMS_FAST"))
NUM_DAYS, TAKEN_OVER = (40, 20) if FAST else (120, 40)
SPEC = YearSpec(world_seed=3, rules="fair", num_days=NUM_DAYS)

# %% [markdown]
# ## One year
#
# `rule-based` uses nothing but what the tools tell it, `first-quote` the same and never haggles.

# %%
folder = Path(tempfile.mkdtemp())
for name in ("rule-based", "first-quote"):
    run_year(folder / name, SPEC, name)
story, other = read_story(folder / "rule-based"), read_story(folder / "first-quote")
print(f"{len(story.calls):,} calls, ended by {story.result['end']}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(13, 4))
year_plots.plot_cash(axes[0], story)
year_plots.plot_sales(axes[1], story)
plt.show()

# %% [markdown]
# How to read it: only the bank pays bills, and ten mornings in a row below the zero line end the year; escrow becomes
# wallet after nine days, and wallet becomes bank only when the merchant withdraws it. Right, each colour is a store,
# its height its revenue a day, averaged over the last seven days.

# %% [markdown]
# ## Where the money went
#
# The planner that knows everything hidden plays the same world. The gap between the two years is split into six kinds
# of decisions by carrying out every mixture of them on the same draws: the parts are exact Shapley values, to the
# fen. The statement beside it has every fen of the year in exactly one row and asks nothing that did not happen.

# %%
year = replay_year(folder / "rule-based").year
reference = str(folder / "first-quote") if FAST else "full-knowledge-planner"
ledger = ledger_of(year, "rule-based", reference)
print(ledger.regret.sentence)
for row in ledger.statement.rows:
    if row.fen:
        print(f"{row.name:18}{row.kind:10}{to_yuan(row.fen):14,.2f}")

# %%
parts = {STREAM_WORDS[Stream(row.stream)]: to_yuan(row.part_fen) for row in ledger.regret.rows}
figure, ax = plt.subplots(figsize=(9, 3.5))
plot_parts(ax, {"rule-based": parts}, columns=2)
plt.show()

# %% [markdown]
# How to read it: how many thousand yuan the reference's decisions would have brought in place of the merchant's own;
# a bar to the left says that the merchant decided better. It is no forecast, as all other decisions stay as they
# were.

# %% [markdown]
# ## The costliest talks
#
# A talk cost what its moves gave up against the oracle's, which knew no more of the supplier than the merchant did:
# inference is what a wrong belief cost, control what was moved badly with what was known. The report ranks the same.

# %%
for talk in ledger.talks:
    print(f"day {talk.day:3}  {to_yuan(talk.cost_fen):9,.0f} yuan: {talk.units:4} x {talk.sku} of {talk.supplier}"
          f"{'' if talk.is_honest else ' (fraud)'}, quoted {to_yuan(talk.opening_fen):,.2f}, paid "
          f"{to_yuan(talk.price_fen):,.2f}; inference {to_yuan(talk.inference_fen):,.0f}, "
          f"control {to_yuan(talk.control_fen):,.0f}")  # fmt: skip

# %% [markdown]
# Some buys are dearer than a quote the merchant had itself been given before. `--aid remind` tells it so in each talk
# and `--aid enforce` holds it to that quote, on the same draws: what is gained by the first was not remembered, by
# the second remembered in vain.

# %%
for told in (story, other):
    metrics = told.result["metrics"]
    print(f"{told.header.agent:12} dearer than own quote: {metrics['dearer_buys']['value']:.0%} of "
          f"{metrics['dearer_buys']['n']} buys, {metrics['dearer_paid']['value']:,.0f} yuan")  # fmt: skip

# %% [markdown]
# ## Somebody else takes over
#
# On the morning of a day another merchant goes on with the year of `first-quote`, and meets the draws that the year
# had in store. The same decisions give the same year to the last byte, which is the null of the comparison.

# %%
branches = Branches(replay_year(folder / "first-quote").year)
haggler = build_merchant("rule-based", branches.morning(0).setting.world, branches.morning(0).setting.rules, 0)
taken_over = branches.branch(TAKEN_OVER, haggler)
same = branches.branch(TAKEN_OVER, Repeated(replay_year(folder / "first-quote").year))
played = other.result["metrics"]["final_assets"]["value"]
print(f"first-quote to the end {played:,.0f} yuan, the same again {to_yuan(same.final_fen):,.0f}, "
      f"with rule-based from day {TAKEN_OVER} on {to_yuan(taken_over.final_fen):,.0f}")  # fmt: skip

# %% [markdown]
# ## How far anybody could come
#
# The bound holds for the expected final assets of any merchant, whatever it knows but the draws. What the draws of
# demand and of returns brought beside what was expected of them, which nobody decides, can be taken out of a year:
# what is left has the same mean and usually less spread.

# %%
bound = year_bound(year.setting.world, year.setting.rules)
metrics = year_metrics(year)
print(f"assets {metrics['final_assets'].value:,.0f}, adjusted {metrics['luck_adjusted_assets'].value:,.0f}, "
      f"bound {bound.upper:,.0f} yuan")  # fmt: skip

# %%
paths = [AssetsPath(told.header.agent, tuple(assets_by_day(told))) for told in (story, other)]
best = AssetsPath(ledger.regret.reference, tuple(map(to_yuan, ledger.regret.reference_path_fen)))
figure, ax = plt.subplots(figsize=(10, 4))
plot_paths(ax, paths, Ceiling(best, bound.upper), columns=3)
plt.show()

# %% [markdown]
# How to read it: the dashed line is the reference of the ledger; the shade between its end and the bound is what
# nobody knows how to earn yet, or nobody can.
