"""The environment passes Gymnasium's own checker and plays the very year of the store."""

from __future__ import annotations

import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from commerce.config import rules_named
from commerce.merchants import build_merchant, play_year
from commerce.tools import tool_schemas
from commerce.world import generate_world
from commerce.year import Year
from experiments.adapters.gym_env import StoreYearEnv
from experiments.extras import MissingExtraError
from experiments.serving.client import read_result


@pytest.mark.parametrize("world_seed", [None, 5])
def test_gymnasiums_own_checker_has_nothing_to_say(world_seed):
    env = StoreYearEnv(num_days=3, world_seed=world_seed)
    check_env(gymnasium.make("terms/StoreYear-v0", num_days=3, world_seed=world_seed).unwrapped)
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    for _ in range(30):
        assert env.observation_space.contains(observation)
        observation, reward, is_over, _, info = env.step(env.action_space.sample())
        assert isinstance(reward, float)
        assert info["tool"] in StoreYearEnv.tool_names
        if is_over:
            break


def test_a_merchant_earns_in_the_environment_what_it_earns_in_the_store():
    rules = rules_named("fair").model_copy(update={"num_days": 45})
    world = generate_world(4, rules)
    year = play_year(Year(world, rules), build_merchant("rule-based", world, rules))
    env = StoreYearEnv("fair", num_days=45, world_seed=4)
    env.reset(seed=0)
    rewards, ends = [], []

    def call(tool, arguments):
        observation, reward, is_over, is_cut, info = env.step(env.action(tool, **arguments))
        assert env.observation_space.contains(observation)
        assert not is_cut
        rewards.append(reward)
        ends.append(info["end"])
        assert is_over == (info["end"] is not None)
        return read_result(observation["answer"])

    build_merchant("rule-based", world, rules)(call)
    assert ends[-1] == "max_days_reached"
    assert 100_000 + sum(rewards) == pytest.approx(year.final_fen / 100, abs=1e-6)


def test_a_year_is_truncated_after_its_turns_and_rendered():
    env = StoreYearEnv(num_days=5, max_turns=2, world_seed=1, render_mode="ansi")
    env.reset(seed=0)
    assert env.step(env.action("check_balance"))[2:4] == (False, False)
    assert env.step({"tool": np.int64(0), "arguments": "{"})[2:4] == (False, True)
    assert env.render() == "2026-01-01 08:10, assets 100,000.00 yuan"


def test_seeds_choose_worlds():
    def catalogue(env, seed):
        env.reset(seed=seed)
        return json.loads(env.step(env.action("list_products", store_type="beauty"))[0]["answer"])["data"]

    drawn, fixed = StoreYearEnv(num_days=3), StoreYearEnv(num_days=3, world_seed=9)
    assert catalogue(drawn, 1) == catalogue(drawn, 1) != catalogue(drawn, 2)
    assert catalogue(fixed, 1) == catalogue(fixed, 2)


def test_tools_are_those_of_every_agent():
    assert list(StoreYearEnv.tool_names) == [schema["function"]["name"] for schema in tool_schemas()]


@pytest.mark.parametrize(
    ("module", "extra", "library"),
    [
        ("gym_env", "gym", "gymnasium"),
        ("negotiation_env", "gym", "gymnasium"),
        ("negotiation_batch_env", "gym", "gymnasium"),
        ("table_env", "pettingzoo", "pettingzoo"),
        ("inspect_task", "inspect", "inspect_ai"),
        ("openenv_server", "openenv", "openenv"),
    ],
)
def test_an_absent_library_is_named_with_its_extra(module, extra, library):
    code = (
        f"missing = {library!r}\nimport importlib.util as u\nfound = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == missing else found(name, *a)\n"
        f"import experiments.adapters.{module}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert MissingExtraError.__name__ in done.stderr
    assert f'pip install "terms-commerce[{extra}]"' in done.stderr
