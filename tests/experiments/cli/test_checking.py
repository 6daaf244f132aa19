"""``terms check``: what a server can do, one question each, and what a suite and a year would ask of it."""

from __future__ import annotations

import json

import pytest

from experiments.fault_server import FaultServer
from experiments.players.costing import forecast_talks, forecast_years


@pytest.fixture
def check(terms, server):
    """Return a function that checks a model of the fault server: exit code, the object printed, standard error."""

    def run(model, *options):
        code, out, err = terms("check", "--agent", f"openai:{model}", "--base-url", server.url, "--json", *options)
        return code, json.loads(out) if out else {}, err

    return run


def graded(found):
    return {one["name"]: one["grade"] for one in found["findings"]}


def test_a_good_server_can_do_everything_and_is_asked_three_questions(check, server):
    code, found, _ = check("bot")
    assert code == 0
    assert graded(found) == {
        "list of models": "yes", "answers": "yes", "latency": "yes", "usage": "yes", "price": "yes",
        "context": "yes", "JSON": "yes", "tools": "yes",
    }  # fmt: skip
    assert server.stats["requests"] == found["calls"] == 3
    assert found["microusd"] == server.stats["microusd"]
    assert found["forecast"]["1,800 talks"]["calls"] == 10_800


@pytest.mark.parametrize(
    ("model", "name", "grade", "says"),
    [
        ("bot/fault:reject_strict_schema", "JSON", "partly", "JSON mode, no schema, kept to"),
        ("bot/fault:reject_response_format", "JSON", "partly", "no JSON mode, kept to"),
        ("bot/fault:no_tools", "tools", "no", "--model tool_mode=json"),
        ("bot/fault:calls_as_text", "tools", "no", "no call but"),
        ("bot/fault:no_cost", "price", "no", "unknown: set prices"),
        ("bot/fault:no_usage", "usage", "no", "states no tokens"),
        ("bot/fault:prose_only", "JSON", "no", "not kept to: 'I will not go"),
        ("bot/fault:reject_temperature", "request", "partly", "asked without: temperature"),
    ],
)
def test_what_a_server_cannot_do_is_named(check, model, name, grade, says):
    code, found, _ = check(model)
    assert code == 0
    (one,) = [one for one in found["findings"] if one["name"] == name]
    assert one["grade"] == grade
    assert says in one["says"]


@pytest.mark.parametrize(
    ("model", "name"),
    [("bot/fault:bad_key", "key"), ("bot/fault:no_model", "model"), ("bot/fault:no_credit", "answers")],
)
def test_a_server_that_cannot_be_used_is_not_asked_further(check, server, model, name):
    code, found, _ = check(model)
    assert (code, found["usable"], found["forecast"]) == (3, False, {})
    assert graded(found)[name] == "no"
    assert server.stats["requests"] == 1


def test_nobody_there(terms):
    with FaultServer() as gone:
        url = gone.url
    code, out, _ = terms("check", "--agent", "openai:bot", "--base-url", url)
    assert code == 3
    assert "Connection refused" in out


def test_an_effort_that_is_refused_is_named_with_the_next_lower_one_that_is_taken(check, monkeypatch, server):
    code, found, _ = check("bot/fault:reject_effort", "--model", "effort=max")
    assert code == 0
    (one,) = [one for one in found["findings"] if one["name"] == "effort"]
    grades = {one["name"]: one["grade"] for one in found["findings"]}
    assert (grades["answers"], grades["JSON"], grades["tools"]) == ("yes", "yes", "yes"), "asked with the lower effort"
    assert one["grade"] == "no"
    assert one["says"].endswith("it takes high")
    assert (
        check("bot/fault:effort_lowered", "--model", "effort=high")[1]["findings"][-4]["says"]
        == "high: minimal was applied"
    )


def test_without_a_model_the_models_are_listed(terms, server):
    code, out, _ = terms("check", "--agent", "openai:", "--base-url", server.url)
    assert (code, out) == (0, "openai:bot  (131,072 tokens)\n")


def test_the_table_for_people_and_the_ceiling(terms, server):
    code, out, _ = terms("check", "--agent", "openai:bot", "--base-url", server.url)
    assert code == 0
    assert "tools           yes     note_number(" in out
    assert "1,800 talks     about 10,800 calls" in out
    code, out, err = terms("check", "--agent", "openai:bot", "--base-url", server.url, "--budget-usd", "0.000001")
    assert code == 3
    assert "stopped" in err


def test_the_forecast_by_hand():
    one, many = forecast_talks(1), forecast_talks(10)
    assert (one.calls, many.calls, many.prompt_tokens) == (6, 60, 10 * one.prompt_tokens)
    # Six calls: 6 r + 21 o + 15 a, answers of 150 tokens; 150 more in each answer are 15 of them in later prompts.
    assert forecast_talks(1, answer=300).prompt_tokens - one.prompt_tokens == 15 * 150
    assert forecast_years(2, 10, 120, 60) == (20, 1800, 20 * 120, None, None)
    assert one.timed(2.0, 4).minutes == 6 * 2 / 4 / 60
