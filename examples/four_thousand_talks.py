"""Four thousand negotiations in step, compiled, each move paid when it is made.

Needs the extra ``gym``.
"""

import time

import gymnasium
import numpy as np

import experiments.adapters.negotiation_batch_env

assert experiments.adapters.negotiation_batch_env.NegotiationBatchEnv  # registers terms/NegotiationVec-v0
envs = gymnasium.make_vec(
    "terms/NegotiationVec-v0", num_envs=4096, regimes=["overlap"], families=["candid"], credit="terminal"
)
rng = np.random.default_rng(0)
seen, _ = envs.reset(seed=0)
start, steps, earned, ended = time.process_time(), 0, 0.0, 0
for _ in range(50):
    gains = rng.integers(7, 22, size=4096)  # ask for 10 to 40 % of the price range
    accept = (seen[:, 5] > 0.15) & (seen[:, 4] > 0)  # take what stands if it gains more than 15 %
    seen, reward, done, _, _ = envs.step(np.where(accept, 0, gains))
    steps, earned, ended = steps + len(seen), earned + reward.sum(), ended + done.sum()
seconds = time.process_time() - start
print(f"{ended} talks ended, {earned / ended:.3f} of the surplus each, {steps / seconds:,.0f} steps a second")
