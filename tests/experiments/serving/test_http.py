"""The HTTP service, used as it is meant to be: a year from its opening to its result."""

from __future__ import annotations

import json

from experiments.modes import check_folder
from experiments.serving.openapi import OPENAPI, openapi_text
from experiments.serving.settings import ServeSettings
from experiments.years.transcript import read_transcript
from tests.experiments.serving.hosting import WAIT, hosted, open_session, send, send_raw, turn


def test_health_needs_no_token_and_nothing_may_be_cached(address):
    status, headers, text = send_raw(address, "GET", "/health", secret=None)
    assert status == 200
    assert json.loads(text)["status"] == "ok"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_the_openapi_file_is_what_is_served(address):
    status, _, text = send_raw(address, "GET", "/openapi.json", secret=None)
    assert status == 200
    assert json.loads(text) == json.loads(OPENAPI.read_text(encoding="utf-8"))
    assert OPENAPI.read_text(encoding="utf-8") == openapi_text()
    assert set(json.loads(text)["paths"]) == {"/health", "/v1/session", "/v1/actions", "/v1/result", "/v1/finish"}


def test_a_year_from_opening_to_result(address, settings, agent):
    session = f"{agent}:0"
    status, info = send(address, "POST", "/v1/session", {"agent": agent})
    assert status == 200
    assert (info["session"], info["turn"], info["done"], info["max_turns"]) == (session, 0, False, 40)
    assert [message["role"] for message in info["messages"]] == ["system", "user"]
    assert len(info["tools"]) == 18
    first = {"id": "x", "name": "open_store", "arguments": '{"store_type": "beauty", "store_name": "B"}'}
    status, answer = send(
        address, "POST", "/v1/actions", turn(session, 0, first, WAIT, content="Hello."), Idempotency_Key="0"
    )
    assert status == 200
    assert [one["tool_call_id"] for one in answer["tool_responses"]] == ["x", "call_1"]
    opened, report = (json.loads(one["content"]) for one in answer["tool_responses"])
    assert opened["data"]["store_id"] == "store_001"
    assert report["time"]["day"] == 1
    assert (answer["turn"], answer["done"], answer["outcome"], answer["nudge"]) == (1, False, None, None)
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 1
    assert send(address, "GET", f"/v1/result?session={session}")[0] == 409
    for number in range(1, 10):
        status, answer = send(address, "POST", "/v1/actions", turn(session, number, WAIT), Idempotency_Key=f"{number}")
    assert (answer["done"], answer["outcome"]) == (True, "finished")
    status, result = send(address, "GET", f"/v1/result?session={session}")
    assert status == 200
    assert (result["outcome"], result["day"], result["turns"]) == ("finished", 10, 10)
    # 100,000 yuan less 500 for setting up; then ten days of operations, which differ by type of store
    assert 90_000 < result["final_assets"] < 99_500
    assert result["multiplier"] == result["final_assets"] / 100_000
    assert result["calls"] == {"open_store": 1, "wait_for_next_day": 10}
    folder = settings.folder(agent, 0)
    assert check_folder(folder) == ([], [])
    transcript = read_transcript(folder)
    assert transcript.turns[0].said.content == "Hello."
    assert len(transcript.days) == 10
    assert transcript.outcome is not None
    assert transcript.outcome.is_scored


def test_finish_ends_a_year_early_and_may_be_repeated(address, settings, agent):
    session = open_session(address, agent)
    send(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="0")
    first = send_raw(address, "POST", "/v1/finish", {"session": session})
    assert json.loads(first[2])["outcome"] == "agent_stopped"
    assert send_raw(address, "POST", "/v1/finish", {"session": session})[2] == first[2]
    assert send_raw(address, "GET", f"/v1/result?session={session}")[2] == first[2]
    status, fault = send(address, "POST", "/v1/actions", turn(session, 1, WAIT), Idempotency_Key="1")
    assert (status, fault["error"]["code"]) == (409, "year_over")
    assert check_folder(settings.folder(agent, 0)) == ([], [])


def test_turns_without_calls_end_a_year_and_so_does_the_turn_limit(address):
    session = open_session(address, "idler")
    nudges = []
    for number in range(3):
        _, answer = send(
            address, "POST", "/v1/actions", turn(session, number, content="Hm."), Idempotency_Key=f"{number}"
        )
        nudges.append(answer["nudge"])
    assert all(nudges)
    assert answer["outcome"] == "agent_stopped"
    session = open_session(address, "talker")
    for number in range(40):
        call = {"name": "check_balance", "arguments": {}}
        _, answer = send(address, "POST", "/v1/actions", turn(session, number, call), Idempotency_Key=f"{number}")
        assert answer["done"] == (number == 39)
    assert "40 turns" in send(address, "GET", f"/v1/result?session={session}")[1]["detail"]


def test_runs_of_an_agent_are_worlds_of_their_own_and_agents_meet_the_same(address, settings):
    def catalogue(agent, run):
        call = {"name": "list_products", "arguments": {"store_type": "beauty"}}
        session = open_session(address, agent, run)
        return send_raw(address, "POST", "/v1/actions", turn(session, 0, call), Idempotency_Key="0")[2]

    assert catalogue("a", 0) == catalogue("b", 0) != catalogue("a", 1)
    assert settings.spec("a", 1).world_seed == settings.world_seed + 1


def test_a_server_goes_on_with_what_one_before_it_left(tmp_path):
    settings = ServeSettings(out=tmp_path, num_days=3)
    with hosted(settings) as address:
        session = open_session(address)
        body = turn(session, 0, WAIT)
        before = send_raw(address, "POST", "/v1/actions", body, Idempotency_Key="0")[2]
    with hosted(settings) as address:
        assert send_raw(address, "POST", "/v1/actions", body, Idempotency_Key="0")[2] == before
        assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 1
        for number in (1, 2):
            last = send_raw(address, "POST", "/v1/actions", turn(session, number, WAIT), Idempotency_Key=f"{number}")[2]
        result = send_raw(address, "GET", f"/v1/result?session={session}")[2]
    with hosted(settings) as address:  # a year that is over is found as well
        assert send_raw(address, "GET", f"/v1/result?session={session}")[2] == result
        assert send_raw(address, "POST", "/v1/actions", turn(session, 2, WAIT), Idempotency_Key="2")[2] == last
