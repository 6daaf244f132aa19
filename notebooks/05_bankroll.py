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
# # Money on the line
#
# A session is a chain of negotiations with one purse. Every period costs money, every round a little more, and the
# first time cash falls below zero the session is over. The suppliers keep their types, so remembering them pays.

# %%
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display

# %%
from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, EconomicsConfig, build_chain, unit_economics
from experiments.comparing.rankings import order_agents
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.plots import sessions as session_plots
from experiments.sessions.gap import sessions_gap
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from oracle.bankroll.known_supplier import StageGrid, solve_known_session, stage_of
from oracle.bankroll.menu import CLASSES, PLANS, MenuSettings
from oracle.bankroll.worth import load_outcomes, session_worth
from terms.agents import build_scripted

# %%
FAST = bool(os.environ.get("TERMS_FAST"))
RULES = BankrollConfig(num_sessions=3 if FAST else 12, horizon=12 if FAST else 50, initial_cents=3000)
CHAIN = ChainConfig(families=("taciturn",)) if FAST else ChainConfig()
SETTINGS = MenuSettings(16, 1) if FAST else MenuSettings()
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## Three agents with thirty dollars
#
# `recall` remembers the prices its suppliers named; the other two concede by rule.

# %%
NAMES = ("recall", "fixed-0.30", "fixed-0.01")
spec = SessionsSpec(chain=CHAIN, bankroll=RULES)
runs = {name: run_task(SESSIONS, build_scripted(name), spec, folder / name) for name in NAMES}
figure, axes = plt.subplots(2, 3, figsize=(15, 7), sharey="row")
for column, (name, run) in enumerate(runs.items()):
    session_plots.plot_balances(axes[0, column], run.sessions).set_title(name)
    session_plots.plot_survival(axes[1, column], run.sessions)
plt.show()

# %% [markdown]
# How to read it: above, the mean balance with its interval, faint single sessions, a cross at every ruin; below, the
# share not yet ruined (Kaplan-Meier) with its interval, which stays wide with few sessions even where nobody fell.

# %% [markdown]
# ## Three orders side by side
#
# Single talks in money order agents by SE+ and by regret, sessions by the balance at the end; they need not agree.

# %%
ORDERED = ("fixed-0.30", "fixed-0.10", "fixed-0.01", "recall", "patient")
suite = SuiteSpec.parse("fresh", n_per_cell=1 if FAST else 10, economics=EconomicsConfig())
talks = [run_task(EPISODES, build_scripted(name), suite, folder / "talks" / name) for name in ORDERED]
chained = [runs.get(name) or run_task(SESSIONS, build_scripted(name), spec, folder / name) for name in ORDERED]
table = order_agents(talks, chained)
for ordered in table.rows:
    cells = (f"{cell.rank}. {cell.value.estimate:8.3f}" for cell in ordered.cells)
    print(f"{ordered.agent:12}", *cells)
print(*table.differences, sep="\n")

# %% [markdown]
# How to read it: SE+, regret rate and final balance in dollars, each with its rank. Below stand the pairs that two
# columns order differently, and in which column their paired difference may be chance.

# %% [markdown]
# ## What a meeting brings
#
# The Bayes-optimal planner meets fresh suppliers, with the memory of none to three earlier meetings. Each plan of the
# menu is judged on the same draws: how eagerly to take a price, when to leave, a fixed concession, or leaving at once.

# %%
outcomes = load_outcomes(CHAIN, SESSION_ECONOMICS, RULES, SETTINGS, folder=folder)
means = outcomes.net_cents.mean(axis=(2, 3)) / 100
for class_, name in enumerate(CLASSES):
    best = int(means[class_].argmax())
    print(f"{name:26} best plan {PLANS[best].name:18} {means[class_, best]:6.2f} dollars a period, costs paid")

# %% [markdown]
# ## The ruin-aware optimum
#
# A dynamic program over period, cash and what is known of the supplier. It is exact for the menu and the sampled laws;
# a menu is less than all that can be done, so the value is a lower bound. What memory or caution adds is a difference
# of two such values and bounds nothing.

# %%
worths = {
    dollars: session_worth(outcomes, RULES.model_copy(update={"initial_cents": 100 * dollars}), num_groups=4)
    for dollars in (10, 30, 100)
}
for dollars, worth in worths.items():
    print(f"start with {dollars} dollars")
    for name in ("value", "price_of_caution", "value_of_memory", "dollar_at_start", "survival"):
        found = worth.measures[name]
        print(f"    {name:18}{found.estimate:9.3f}  [{found.low:.3f}, {found.high:.3f}]")

# %% [markdown]
# How to read it: caution is what looking at cash earns over the plan that would be best without ruin. It is worth
# nothing to a rich session and little to a good player, because a good player seldom comes near zero.

# %%
worth = worths[10]
policies = {"ruin-aware": worth.aware, "risk-neutral": worth.neutral, "without memory": worth.memoryless}
figure, axes = plt.subplots(1, 2, figsize=(14, 4.5))
session_plots.plot_dollar_values(axes[0], policies)
session_plots.plot_cash_laws(axes[1], policies)
plt.show()

# %% [markdown]
# How to read it: on the left, far from zero a dollar is worth a dollar; near zero it buys a period that may save the
# session. Jumps sit where one more dollar pays for one more round. On the right, the mean and the middle 80 %.

# %%
figure, axes = plt.subplots(1, 2, figsize=(15, 4.5))
session_plots.plot_plans(axes[0], worth.aware, class_=0)
session_plots.plot_plans(axes[1], worth.aware, class_=len(CLASSES) - 1)
plt.show()

# %% [markdown]
# How to read it: each colour is a plan; the plan at the top of the picture is the one for a safe purse, what changes
# below it is caution.

# %% [markdown]
# ## What memory is worth, by who is met

# %%
for mode in SupplierMode:
    found = session_worth(outcomes, RULES.model_copy(update={"supplier_mode": mode}), num_groups=4)
    print(f"{mode:12} value of memory {found.measures['value_of_memory'].estimate:8.2f} dollars")

# %% [markdown]
# ## A supplier whose type is known
#
# Here the negotiation itself is solved with the worth of cash as its utility, move by move: no menu.

# %%
short = RULES.model_copy(update={"horizon": 4 if FAST else 10, "supplier_mode": SupplierMode.PERSISTENT})
scenarios = build_chain(2, CHAIN, short.model_copy(update={"horizon": 10})).scenarios
stages = [(1 / len(scenarios), stage_of(each, unit_economics(each, SESSION_ECONOMICS))) for each in scenarios]
cash = np.array([0, 300, 600, 900, 1000, 1200, 1500, 2000, 3000, 5000, 9000, 18000.0])
known = solve_known_session(stages, short, cash, StageGrid(5, 16))
for dollars, value in zip(cash / 100, known.values[0] / 100, strict=True):
    print(f"cash {dollars:6.0f}   worth {value:8.2f}   gained {value - dollars:8.2f}")

# %% [markdown]
# ## Where an agent's balance stays behind

# %%
worth = session_worth(outcomes, RULES, num_groups=4)
gap = sessions_gap(runs["fixed-0.30"], build_scripted("fixed-0.30"), worth)
display(gap)
gap.plot()
plt.show()

# %% [markdown]
# How to read it: from the final balance as played to that of the ruin-aware reference on the same chains. An agent that
# ignores what it is told has no inference and no uncertainty of its own; `memory` is what remembering earns the
# reference and stands outside the sum.
