"""The environments pass Gymnasium's own checks and are the very game."""

from __future__ import annotations

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import terms
from experiments.adapters.negotiation_batch_env import NegotiationBatchEnv, ending
from experiments.adapters.negotiation_env import NegotiationEnv
from terms.splits import split_of
from terms.types import Termination

SETTINGS = [
    {},
    {"actions": "box", "reward": "money"},
    {"actions": "text", "view": "text"},
    {"split": "test", "training": False, "regimes": ["no_deal"]},
    {"credit": "exact", "regimes": ["overlap"], "families": ["candid"]},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_gymnasiums_own_checker_has_nothing_to_say(settings):
    check_env(gymnasium.make("terms/Negotiation-v0", **settings).unwrapped)
    env = NegotiationEnv(**settings)
    env.action_space.seed(0)
    for seed in range(20):
        seen, info = env.reset(seed=seed)
        assert split_of(info["scenario_id"]).value == settings.get("split", "train")
        is_over = False
        while not is_over:
            assert env.observation_space.contains(seen)
            seen, _, is_over, is_cut, info = env.step(env.action_space.sample())
            assert not is_cut
        assert env.observation_space.contains(seen)
        assert env.render().startswith("round ")


def test_make_vec_makes_both_kinds():
    readable = gymnasium.make_vec("terms/Negotiation-v0", num_envs=2, vectorization_mode="sync")
    compiled = gymnasium.make_vec("terms/NegotiationVec-v0", num_envs=2)
    for envs in (readable, compiled):
        seen, _ = envs.reset(seed=3)
        assert seen.shape == (2, 19)
        assert envs.observation_space.contains(seen)
        assert envs.step(envs.action_space.sample())[1].shape == (2,)


def test_a_group_differs_by_its_moves_alone():
    scenario = terms.fresh_suite(1_000_003, ["overlap"], ["stochastic"], 1)[0]
    env = NegotiationEnv()

    def play(moves, seed):
        env.reset(seed=seed, options={"scenario": scenario})
        seen = []
        for move in moves:
            seen.append(env.step(move))
            if seen[-1][2]:
                break
        return [(step[0].tolist(), step[1]) for step in seen]

    assert play([20, 18, 16, 14], seed=1) == play([20, 18, 16, 14], seed=2)
    assert play([20, 18], seed=1) != play([40, 38], seed=1)


def test_a_text_agent_plays_the_readable_game():
    scenario = terms.fresh_suite(1_000_000, ["overlap"], ["candid"], 1)[0]
    env = NegotiationEnv(actions="text", view="text", reward="money")
    env.reset(options={"scenario": scenario})
    agent, is_over = terms.FixedConcession(0.2), False
    record = terms.play(scenario, agent)
    for turn in record.turns:
        assert not is_over
        reply = json.dumps({"decision": turn.decision.value, "price": turn.price, "message": ""})
        _, reward, is_over, _, info = env.step(reply)
    assert is_over
    assert reward == record.utility
    assert info["record"].price == record.price


def test_a_broken_reply_ends_the_episode_as_data():
    env = NegotiationEnv(actions="text")
    env.reset(seed=0)
    assert env.step("I think so")[4]["record"].termination is Termination.INVALID_ACTION


def test_batch_and_single_play_the_same_scenarios_alike():
    scenarios = terms.fresh_suite(1_000_002, n_per_cell=1)
    batch, single = NegotiationBatchEnv(len(scenarios)), NegotiationEnv()
    rng = np.random.default_rng(0)
    actions = rng.choice([0, 1, *range(2, 30)], size=(12, len(scenarios)), p=[0.02, 0.02] + [0.96 / 28] * 28)
    seen, _ = batch.reset(options={"scenarios": scenarios})
    firsts, rewards, last, alive = seen.copy(), np.zeros(len(scenarios)), seen.copy(), np.ones(len(scenarios), bool)
    endings = np.full(len(scenarios), -1)
    for row in actions:
        seen, reward, ended, _, info = batch.step(row)
        rewards[alive] += reward[alive]
        last[alive] = seen[alive]
        endings[alive & ended] = info["termination"][alive & ended]
        alive &= ~ended
    assert not alive.any()
    for i, scenario in enumerate(scenarios):
        seen, _ = single.reset(options={"scenario": scenario})
        np.testing.assert_array_equal(seen, firsts[i])
        for row in actions:
            seen, reward, is_over, _, info = single.step(row[i])
            if is_over:
                break
        np.testing.assert_array_equal(seen, last[i])
        assert reward == rewards[i]
        assert ending(endings[i]) == info["record"].termination.value
    assert ending(-1) is None


def test_ended_places_begin_anew_in_the_next_step_and_the_pool_never_ends():
    envs = NegotiationBatchEnv(8, regimes=["overlap"], families=["candid"])
    first, _ = envs.reset(seed=5)
    assert np.array_equal(first, NegotiationBatchEnv(8, regimes=["overlap"], families=["candid"]).reset(seed=5)[0])
    for step in range(300):
        seen, reward, ended, cut, _ = envs.step(np.full(8, 1))
        assert ended.all() == (step % 2 == 0)
        assert not reward.any()
        assert not cut.any()
        assert envs.observation_space.contains(seen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "test"}, "split='test' is not for training"),
        ({"split": "tests"}, "'tests' is not a valid Split"),
        ({"actions": "words"}, "actions='words' is unknown, allowed are ticks, box, text"),
        ({"reward": "points"}, "reward='points'"),
        ({"credit": "some"}, "credit='some' is unknown, allowed are terminal, info, exact"),
        ({"num_ticks": 1}, "num_ticks=1"),
        ({"families": ["polite"]}, "families has 'polite'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    for kind in (NegotiationEnv, NegotiationBatchEnv):
        with pytest.raises(ValueError, match=message):
            kind(**settings)


def test_reported_episodes_are_not_trained_on():
    published = terms.published_suite(["overlap"], ["candid"], 1)[0]
    with pytest.raises(ValueError, match="belongs to the test split"):
        NegotiationEnv().reset(options={"scenario": published})
    with pytest.raises(ValueError, match="belongs to the test split"):
        NegotiationBatchEnv(1).reset(options={"scenarios": [published]})
    NegotiationEnv(training=False).reset(options={"scenario": published})
    with pytest.raises(ValueError, match=r"must be a terms\.Scenario"):
        NegotiationEnv().reset(options={"scenario": "fresh"})
    with pytest.raises(ValueError, match="actions='text'"):
        NegotiationBatchEnv(1, actions="text")
    with pytest.raises(ValueError, match="view='image'"):
        NegotiationEnv(view="image")
    with pytest.raises(ValueError, match="credit='info'"):
        NegotiationBatchEnv(1, credit="info")
    with pytest.raises(ValueError, match="needs one regime and one family"):
        NegotiationBatchEnv(1, credit="exact")


def test_every_move_is_paid_and_the_sum_is_the_terminal_reward():
    rng = np.random.default_rng(3)
    cell = {"regimes": ["overlap"], "families": ["stochastic"]}
    paid, told = (NegotiationEnv(credit=credit, **cell) for credit in ("exact", "info"))
    for seed in range(5):
        (_, start), _ = paid.reset(seed=seed), told.reset(seed=seed)
        total, is_over = 0.0, False
        while not is_over:
            action = int(rng.integers(2, 40))
            _, reward, is_over, _, info = paid.step(action)
            _, terminal, _, _, same = told.step(action)
            total += reward
            assert same["credit"] == info["credit"]
            assert same["value"] == info["value"]
        assert total == pytest.approx(terminal - start["value"], abs=1e-9)
        assert sum(info["turn_rewards"]) == pytest.approx(total, abs=1e-12)
        assert info["value"] == 0.0


def test_the_batch_pays_every_move_and_starts_again_with_a_value():
    scenarios = terms.fresh_suite(1_000_005, ["overlap"], ["candid"], 3)
    n, rng = len(scenarios), np.random.default_rng(0)
    envs = NegotiationBatchEnv(n, regimes=["overlap"], families=["candid"], credit="exact")
    _, info = envs.reset(options={"scenarios": scenarios})
    first, total, alive = info["value"], np.zeros(n), np.ones(n, bool)
    while alive.any():
        _, reward, ended, _, info = envs.step(rng.integers(2, 40, n))
        total[alive] += reward[alive]
        done = alive & ended
        earned = np.array([info["utility"][i] / scenario.zopa for i, scenario in enumerate(scenarios)])
        np.testing.assert_allclose(total[done], (earned - first)[done], atol=1e-9)
        alive &= ~ended
    _, _, _, _, info = envs.step(np.ones(n, int))
    # The scenarios are played in turn, so a place begins another one, which has the value it had at the start.
    assert ended.any()
    assert np.isin(info["value"][ended], first).all()
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="credit='exact' was told"):
        envs.reset(options={"scenarios": terms.fresh_suite(1_000_005, ["overlap"], ["adversarial"], 1)})
