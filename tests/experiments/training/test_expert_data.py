"""Exported moves are those of ``bayes``, in words that the project's own reader reads as exactly them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from experiments.adapters.negotiation_env import NegotiationEnv
from experiments.players.reading import read_move
from experiments.players.receipts import Verdict
from experiments.training.expert_data import LEAST_COST, dpo_rows, sft_rows
from oracle.bayes_optimal import fitted_bayes_optimal
from oracle.player_registry import build_player
from terms import fresh_suite, play
from terms.agents import build_scripted
from terms.episode import recorded_moves
from terms.game import Game
from terms.splits import SPLIT_SEEDS, Split, split_of

SEED = SPLIT_SEEDS[Split.TRAIN].start
SMALL = ("--episodes-per-cell", 1, "--family", "candid", "--regime", "overlap", "--regime", "no_deal")


@pytest.fixture(scope="module")
def scenarios():
    return fresh_suite(SEED, n_per_cell=1, regimes=["overlap", "no_deal"], families=["candid"])


def exported(terms, kind, folder, *more):
    code, printed, told = terms("export", kind, *SMALL, "--out", folder, "--json", *more)
    assert code == 0, told
    return json.loads(printed)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_talks_hold_the_moves_of_bayes_as_the_reader_reads_them(terms, tmp_path, scenarios):
    manifest = exported(terms, "sft", tmp_path / "a")
    rows = lines(tmp_path / "a" / "sft.jsonl")
    assert (manifest["rows"], manifest["seed"], manifest["split"]) == (len(rows), SEED, "train")
    assert len(rows) == len(scenarios) == 8
    for scenario, row in zip(scenarios, rows, strict=True):
        assert split_of(row["scenario_id"]) is Split.TRAIN
        moves = recorded_moves(play(scenario, build_player("bayes")))
        replies = [each["content"] for each in row["messages"] if each["role"] == "assistant"]
        roles = [each["role"] for each in row["messages"]]
        assert roles == ["system", *["user", "assistant"] * len(moves)]
        game = Game(scenario)
        for move, reply in zip(moves, replies, strict=True):
            reading = read_move(reply, game.observe(), finish_reason="stop")
            assert reading.verdict is Verdict.OK
            assert (type(reading.action), getattr(reading.action, "price", None)) == (
                type(move), getattr(move, "price", None),
            )  # fmt: skip
            assert sum(reading.action.belief.stance_probs) == pytest.approx(1)
            assert 0 <= reading.action.belief.kappa_hat <= 1
            game.step(reading.action)
        assert game.is_over


def test_pairs_differ_in_the_move_and_cost_something(terms, tmp_path, scenarios):
    manifest = exported(terms, "dpo", tmp_path / "a", "--agent", "patient")
    rows = lines(tmp_path / "a" / "dpo.jsonl")
    assert manifest["agent"] == "patient"
    assert rows
    records = {each.scenario_id: (each, play(each, build_scripted("patient"))) for each in scenarios}
    for row in rows:
        scenario, record = records[row["scenario_id"]]
        game = Game(scenario)
        for move in recorded_moves(record)[: row["round"] - 1]:
            game.step(move)
        (chosen,), (rejected,) = (
            [read_move(one["content"], game.observe()) for one in row[name]] for name in ("chosen", "rejected")
        )
        own = record.turns[row["round"] - 1]
        assert chosen.verdict is rejected.verdict is Verdict.OK
        assert rejected.action.belief == chosen.action.belief
        assert getattr(rejected.action, "price", None) == own.price
        assert chosen.action != rejected.action
        assert LEAST_COST <= row["cost"] <= 1
        assert [each["role"] for each in row["prompt"]] == ["system", *["user", "assistant"] * row["round"]][:-1]


def test_bayes_itself_leaves_nothing_to_prefer(scenarios):
    reference = fitted_bayes_optimal()
    for scenario in scenarios[:3]:
        assert not list(dpo_rows(scenario, play(scenario, build_player("bayes")), reference))


def test_steps_are_those_of_the_environment(terms, tmp_path, scenarios):
    exported(terms, "trajectories", tmp_path / "a")
    rows = lines(tmp_path / "a" / "trajectories.jsonl")
    env = NegotiationEnv(actions="box", credit="info")
    for scenario in scenarios:
        mine = [row for row in rows if row["scenario_id"] == scenario.scenario_id]
        seen, _ = env.reset(options={"scenario": scenario})
        for row in mine:
            np.testing.assert_allclose(row["observation"], seen, atol=1e-6)
            seen, reward, is_over, _, info = env.step(np.array(row["action"]))
            assert (reward, is_over) == (pytest.approx(row["reward"], abs=1e-9), row["is_last"])
        assert mine[-1]["is_last"]
        assert [row["turn_reward"] for row in mine] == pytest.approx(info["turn_rewards"], abs=1e-6)
        paid = sum(row["turn_reward"] for row in mine) + mine[0]["value"]
        assert paid == pytest.approx(mine[-1]["reward"], abs=1e-9)


@pytest.mark.parametrize("kind", ["sft", "dpo", "trajectories"])
def test_the_same_command_writes_the_same_bytes_and_both_forms_hold_the_same(terms, tmp_path, kind):
    for name in "ab":
        exported(terms, kind, tmp_path / name)
    for name in (f"{kind}.jsonl", f"{kind}.parquet", "manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert pq.read_table(tmp_path / "a" / f"{kind}.parquet").to_pylist() == lines(tmp_path / "a" / f"{kind}.jsonl")


def test_seeds_of_other_splits_are_refused_unless_the_split_is_named(terms, tmp_path):
    code, _, told = terms("export", "sft", *SMALL, "--seed", 0, "--out", tmp_path / "x")
    assert (code, told) == (
        2, "error: seed=0 belongs to the test split; with --split train, allowed are 1000000 to 1999999\n",
    )  # fmt: skip
    assert not (tmp_path / "x").exists()
    assert exported(terms, "sft", tmp_path / "x", "--split", "test", "--seed", 0)["split"] == "test"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("sft", "--agent", "patient"), "agent='patient' has no effect on sft"),
        (("dpo", "--agent", "openai:m"), "agent='openai:m' is a language model"),
    ],
)
def test_an_agent_that_cannot_be_exported_is_refused(terms, words, named):
    code, _, told = terms("export", *words)
    assert code == 2
    assert named in told


def test_a_move_of_a_silent_agent_is_no_pair(scenarios):
    def silent(observation):
        return None

    assert not list(dpo_rows(scenarios[0], play(scenarios[0], silent), fitted_bayes_optimal()))


def test_a_chat_says_what_the_talk_was_worth(scenarios):
    record = play(scenarios[0], build_player("bayes"))
    (row,) = sft_rows(scenarios[0], record, fitted_bayes_optimal())
    assert row["share"] == record.utility / scenarios[0].zopa
