"""A group of plays on one scenario's own draws, each move paid when it is made: what GRPO-style learners need.

Needs the extra ``gym``.
"""

import gymnasium
import numpy as np

import experiments.adapters.negotiation_env
import terms

assert experiments.adapters.negotiation_env.NegotiationEnv  # registers terms/Negotiation-v0
env = gymnasium.make("terms/Negotiation-v0", regimes=["overlap"], families=["candid"], credit="exact")
scenario = terms.fresh_suite(1_000_000, ["overlap"], ["candid"], n_per_cell=1)[0]

for play in range(4):
    rng = np.random.default_rng(play)  # the policy's own draws; the counterpart's are the scenario's
    seen, info = env.reset(options={"scenario": scenario})
    start, rewards, gain, is_over = info["value"], [], 20, False
    while not is_over:
        gain = max(2, gain - int(rng.integers(1, 6)))  # ask for less and less
        seen, reward, is_over, _, info = env.step(gain)
        rewards.append(float(reward))
    print(f"play {play}: {info['record'].termination.value}, paid {', '.join(f'{each:+.3f}' for each in rewards)}")
    print(f"  {start:.3f} at the start and what was paid is {start + sum(rewards):.3f} of the surplus")
