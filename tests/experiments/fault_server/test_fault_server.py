"""The fault server is a tool for others too: its plan, its pages, its bot and its command line."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import openai
import pytest

from experiments.fault_server import FaultPlan, FaultServer
from experiments.fault_server.__main__ import main
from experiments.fault_server.bad_answers import FaultCall, good, token_count
from experiments.fault_server.bots import bot_reply, choose_move, find_observation
from experiments.fault_server.fault_list import FAULTS, GROUPS, Chooser
from terms import fresh_suite, play
from terms.types import Termination

ROOT = Path(__file__).resolve().parents[3]


def body(text="hello", model="bot"):
    return {"model": model, "messages": [{"role": "user", "content": text}]}


def fetch(address, data=None):
    request = urllib.request.Request(address, None if data is None else json.dumps(data).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
        return json.loads(response.read())


def test_the_bill_by_hand():
    call = FaultCall({"model": "m", "messages": [{"role": "user", "content": "x" * 60}]}, "y" * 9, serial=1, slow_s=0)
    # [{"role": "user", "content": ""}] is 33 bytes: 93 bytes are 24 tokens of four, plus 7; 9 bytes are 3 tokens.
    assert (call.prompt_tokens, token_count(call.text)) == (31, 3)
    made = good(call)
    assert made.microusd == 31 * 3 + 3 * 15
    assert json.loads(made.body)["usage"]["cost"] == made.microusd / 1e6


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_makes_an_answer_for_every_kind_of_prompt(name):
    for text in ("pong", json.dumps({"decision": "Accept", "price": 3, "message": ""})):
        made = FAULTS[name].make(FaultCall(body() | {"temperature": 0}, text, serial=1, slow_s=0.1))
        assert made.microusd >= 0
        assert made.microusd == 0 or made.status == 200


def test_the_plan_keeps_its_rates_and_repeats_itself():
    plan = FaultPlan({"html": 0.05, "slow": 0.2}, seed=3)
    drawn = [plan.draw(body(str(number)), 0) for number in range(4000)]
    counts = Counter(drawn)
    # Five standard deviations of a binomial: 69 for 200 expected, 127 for 800.
    assert abs(counts["html"] - 200) < 69
    assert abs(counts["slow"] - 800) < 127
    assert drawn == [FaultPlan({"html": 0.05, "slow": 0.2}, seed=3).draw(body(str(n)), 0) for n in range(4000)]
    assert drawn != [FaultPlan({"html": 0.05, "slow": 0.2}, seed=4).draw(body(str(n)), 0) for n in range(4000)]
    assert {plan.draw(body("1"), attempt) for attempt in range(200)} == {None, "html", "slow"}


def test_a_group_stands_for_its_members():
    members = {fault.name for fault in FAULTS.values() if fault.group == "rejection"}
    plan = FaultPlan({"rejection": 1 / len(members)})
    assert {plan.draw(body(str(number)), 0) for number in range(300)} == members
    assert {fault.group for fault in FAULTS.values()} == set(GROUPS)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"htmll": 0.1}, "fault='htmll' is unknown; allowed are transport"),
        ({"html": 1.5}, r"rate of html=1\.5 must lie in \[0, 1\]"),
        ({"html": float("nan")}, "rate of html=nan"),
        ({"transport": 0.5}, "more than 1"),
    ],
)
def test_bad_plans_are_refused(rates, message):
    with pytest.raises(ValueError, match=message):
        FaultPlan(rates)


def test_the_model_name_comes_before_the_script_and_the_script_before_the_plan():
    chooser = Chooser(FaultPlan({"html": 1.0}))
    chooser.script(["slow", "ok"])
    assert chooser.choose(body(model="x/fault:empty"), {})[0] == "empty"
    assert [chooser.choose(body(), {})[0] for _ in range(3)] == ["slow", None, "html"]


def test_the_number_of_the_try():
    chooser = Chooser(FaultPlan())
    assert chooser.choose(body("a"), {"x-client-request-id": "call#3"})[1] == 3
    assert chooser.choose(body("a"), {"x-stainless-retry-count": "2"})[1] == 2
    assert [chooser.choose(body("b"), {"x-stainless-retry-count": "0"})[1] for _ in range(3)] == [0, 1, 2]
    faults = [chooser.choose(body("c", "m/fault:html@2"), {})[0] for _ in range(3)]
    assert faults == ["html", "html", None]


def test_an_unknown_fault_is_a_clear_error():
    with FaultServer() as server, openai.OpenAI(base_url=server.url, api_key="x", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError, match="fault='nope' is unknown"):
            client.chat.completions.create(**body(model="m/fault:nope"))
        with pytest.raises(urllib.error.HTTPError, match="400"):
            fetch(server.origin + "/script", ["nope"])
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(server.origin + "/nowhere")


def test_a_foreign_client_with_its_own_retries_gets_through():
    with FaultServer() as server, openai.OpenAI(base_url=server.url, api_key="x", max_retries=1) as client:
        reply = client.chat.completions.create(**body(model="m/fault:server_error_500@1"))
        assert reply.choices[0].message.content == "pong"
        assert [bill.attempt for bill in server.ledger] == [0, 1]


def test_the_pages_over_http():
    with FaultServer(key="sk-secret-of-the-test") as server:
        with openai.OpenAI(base_url=server.url, api_key="sk-secret-of-the-test", max_retries=0) as client:
            assert fetch(server.origin + "/script", ["prose_only"]) == {"scripted": 1}
            client.chat.completions.create(**body())
            assert [model.id for model in client.models.list()] == ["bot"]
        ledger = fetch(server.origin + "/ledger")
        assert ledger["microusd"] == ledger["bills"][0]["microusd"] > 0
        assert ledger["bills"][0]["fault"] == "prose_only"
        requests = fetch(server.origin + "/requests")
        assert requests[0]["body"]["messages"] == body()["messages"]
        assert "sk-secret" not in json.dumps(requests)
        assert {fault["name"] for fault in fetch(server.origin + "/faults")} == set(FAULTS)
        assert fetch(server.origin + "/stats")["requests"] == 1


def test_the_bot_finds_the_latest_observation():
    observation = {"private_context": {}, "n": 1}
    messages = [
        {"role": "user", "content": "Round 1 {braces} " + json.dumps(observation)},
        {"role": "user", "content": "```json\n" + json.dumps(observation | {"n": 2}) + "\n```"},
        {"role": "assistant", "content": json.dumps(observation | {"n": 3})},
        {"role": "user", "content": 'That was {"not": "valid"}; answer again.'},
    ]
    assert find_observation(messages)["n"] == 2
    assert bot_reply([{"role": "user", "content": "ping {"}]) == "pong"


def test_the_bot_plays_every_kind_of_episode_without_a_breach():
    def act(observation):
        return choose_move(observation.to_json_object())

    records = [play(scenario, act) for scenario in fresh_suite(seed=2, n_per_cell=1)]
    assert all(not record.violations or record.termination is Termination.ROUND_LIMIT for record in records)
    assert not [record for record in records if record.termination is Termination.INVALID_ACTION]
    assert sum(record.is_agreement for record in records) > len(records) / 4


def test_the_command_prints_its_address_and_serves():
    command = [sys.executable, "-m", "experiments.fault_server", "--port", "0", "--rate", "html=1", "--seed", "2"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
            assert "Sign in" in str(client.chat.completions.create(**body()))
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def test_the_command_refuses_bad_rates(capsys):
    for rate, message in (("html", "must read NAME=PROBABILITY"), ("htmll=0.1", "'htmll' is unknown")):
        with pytest.raises(SystemExit):
            main(["--rate", rate])
        assert message in capsys.readouterr().err


def test_the_latest_requests_are_shown_as_far_as_they_fit(monkeypatch):
    monkeypatch.setattr("experiments.fault_server.fault_http._KEPT_BYTES", 3_000)
    with FaultServer() as server:
        for number in range(5):
            fetch(server.url + "/chat/completions", body(f"{number}" + "x" * 1_000))
        assert [row["body"]["messages"][0]["content"][0] for row in server.requests] == ["3", "4"]
        fetch(server.url + "/chat/completions", body("y" * 9_000))
        assert len(server.requests) == 1
