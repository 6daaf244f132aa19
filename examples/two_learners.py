"""Two learners at one table, PettingZoo's way.

Needs the extra ``pettingzoo``.
"""

import numpy as np

from experiments.adapters.table_env import NegotiationTable

env = NegotiationTable(regimes=["overlap"])
rng = np.random.default_rng(0)
shares = {"first": [], "second": []}
for seed in range(20):
    env.reset(seed=seed)
    for seat in env.agent_iter():
        seen, reward, is_over, _, info = env.last()
        if is_over:
            shares[seat].append(reward)
            env.step(None)
            continue
        legal = np.flatnonzero(info["action_mask"])
        wanted = max(2, 24 - int(2.4 * 10 * seen[0]))  # ask for less from round to round
        takes = 0 in legal and seen[5] >= 0.05
        env.step(0 if takes else wanted)
for seat, found in shares.items():
    print(f"{seat}: {np.mean(found):.3f} of the surplus over {len(found)} talks")
