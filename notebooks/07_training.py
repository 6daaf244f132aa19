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
# # Train in it
#
# The counterpart is fully specified, so the value of every moment of a talk can be computed, and a learner can be paid
# for each move when it makes it instead of once at the end. This page shows the environment, what a move is paid, and
# whether such pay makes a small policy learn faster.

# %%
import os

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

# %%
import terms
from experiments.adapters.negotiation_env import NegotiationEnv
from experiments.plots.training import plot_learning
from experiments.training.reinforce import Credit, TrainSettings, episodes_to, train_policy
from oracle.move_credit import credit_record
from terms.splits import SPLIT_SEEDS

# %%
FAST = bool(os.environ.get("TERMS_FAST"))
SEEDS = range(2 if FAST else 3)
UPDATES = 30 if FAST else 60

# %% [markdown]
# ## One talk, many times
#
# `reset(options={"scenario": ...})` plays one scenario on its own draws as often as wanted. What differs inside such a
# group is the policy's doing alone. Training draws from seeds of its own, and refuses the episodes that reports use.

# %%
print({split.value: f"{seeds.start} to {seeds.stop - 1}" for split, seeds in SPLIT_SEEDS.items()})
env = gymnasium.make("terms/Negotiation-v0", regimes=["overlap"], families=["candid"], credit="exact")
scenario = terms.fresh_suite(1_000_000, ["overlap"], ["candid"], n_per_cell=1)[0]
for first_gain in (20, 16, 12):
    seen, info = env.reset(options={"scenario": scenario})
    paid, gain, is_over = [], first_gain, False
    while not is_over:
        seen, reward, is_over, _, info = env.step(gain)
        paid.append(round(float(reward), 3))
        gain = max(2, gain - 2)
    print(f"asks for {first_gain - 2} of 50 first: {info['record'].termination.value}, turn rewards {paid}")

# %% [markdown]
# ## What a move is paid
#
# The value before a move is what the Bayes optimum would expect from there. A move is paid what it changes in that
# value, and the last one the utility besides. The *advantage* is what the move itself did, the rest is the
# counterpart's answer, noise that no move can change. Together they add up to the utility, to rounding.

# %%
record = terms.play(scenario, terms.FixedConcession(0.3))
moves = credit_record(scenario, record, with_hindsight=True)
print("round  value  advantage   noise  turn reward  hindsight regret")
for move in moves:
    print(
        f"{move.round:5} {move.value:6.2f} {move.advantage:10.2f} {move.noise:7.2f} {move.turn_reward:12.2f}"
        f" {move.hindsight_regret:17.2f}"
    )
total = moves[0].value + sum(move.turn_reward for move in moves)
print(f"value at the start and turn rewards: {total:.6f}; utility: {record.utility:.6f}")

# %% [markdown]
# ## Does it help a learner?
#
# A policy of one hidden layer learns by REINFORCE in the compiled game: paid at the end (*terminal*), by exact turn
# rewards added up from the move on (*exact*), by its own turn reward alone (*turn*), and by the values of other
# episodes in the same round (*shuffled*), a placebo with the same numbers in the wrong places. Validation episodes are
# drawn from another split.

# %%
curves = {
    credit.value: [
        [point for _, point in train_policy(TrainSettings(credit=credit, seed=seed, num_updates=UPDATES))]
        for seed in SEEDS
    ]
    for credit in Credit
}

# %%
figure, ax = plt.subplots(figsize=(9, 4.5))
plot_learning(ax, curves)
plt.show()
for credit, found in curves.items():
    ends = [curve[-1].surplus_share for curve in found]
    needed = [episodes_to(curve) for curve in found]
    print(f"{credit:9} ends at {np.mean(ends):.3f} of the surplus; 95 % of the own end after {needed} episodes")

# %% [markdown]
# Few seeds and short runs show the shape only. Four hundred updates of 256 episodes on overlap episodes of the candid
# family, validated on 2,000 others, ended (mean of the last three points, 95 % interval over seeds) at 0.759
# [0.750, 0.769] of the surplus with exact credit (5 seeds) and at 0.743 [0.735, 0.751] paid at the end (8 seeds). 95 %
# of the own end took 66,560 [53,847, 79,273] episodes with exact credit and 58,880 [46,139, 71,621] without. Added up
# from the move on, turn rewards differ from the utility by a baseline alone, and talks are short: they help little.
#
# A move paid its own turn reward alone does far worse, 0.584 [0.572, 0.595], and 0.497 [0.486, 0.508] with a tenth of
# the entropy bonus (5 seeds each). Such pay is right only if the values are right wherever the learner goes. Ours are
# fitted, and a learner that looks one move ahead is free to seek moments that are valued too high; a sum of turn
# rewards pays that back. `python -m tests.bench.learning 8 400` measures it again.

# %% [markdown]
# ## Other doors
#
# The same game is a compiled batch (`terms/NegotiationVec-v0`), a PettingZoo table for two learners, an OpenEnv server
# (`python -m experiments.adapters.openenv_server`), and a task of Inspect (`inspect eval experiments/negotiation`); the
# folder `examples` has thirty lines on each. `terms export` writes the reference's moves as chats, pairs and steps.

# %%
print(NegotiationEnv(credit="info", regimes=["overlap"]).reset(seed=3)[1])
