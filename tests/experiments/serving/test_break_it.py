"""What hostile, broken and impatient clients send: a clear answer each time, nothing done, and the server goes on."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from experiments.modes import check_folder
from experiments.serving.client import YearClient
from experiments.serving.guard import MAX_STRANGERS
from experiments.serving.served_year import ServedYear
from experiments.serving.served_years import ServedYears
from experiments.serving.server import MAX_CONNECTIONS
from experiments.serving.settings import MAX_BODY_BYTES, ServeSettings
from experiments.serving.wire import CallRequest, RequestError
from experiments.storage.files import write_atomically
from experiments.years.limits import Limits
from tests.experiments.serving.hosting import SECRET, TOKEN, WAIT, hosted, open_session, send, send_raw, turn

HEAD = f"POST /v1/finish HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SECRET}\r\n".encode()
BALANCE = {"name": "check_balance", "arguments": {}}


def code_of(reply) -> tuple[int, str]:
    return reply[0], reply[1]["error"]["code"]


@pytest.mark.parametrize("secret", [None, "", "x", SECRET[:-1], SECRET + "x", SECRET.upper(), "é" * 20])
@pytest.mark.parametrize("path", ["/v1/session", "/v1/result", "/mcp", "/v1/nothing", "/"])
def test_without_the_token_nothing_is_told(address, secret, path):
    given = {"Authorization": f"Bearer {secret}".encode()} if secret else {}
    status, headers, text = send_raw(address, "GET", path, secret=None, **given)
    assert status == 401
    assert headers["www-authenticate"] == "Bearer"
    assert SECRET not in text.decode()


@pytest.mark.parametrize("scheme", ["Basic", "bearer", "BEARER"])
def test_the_scheme_counts_in_any_case(address, scheme):
    given = {"Authorization": f"{scheme} {SECRET}"}
    status, _ = send(address, "GET", "/v1/session?session=nobody:0", secret=None, **given)
    assert status == (401 if scheme == "Basic" else 404)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"session": "a:0", "turn": 0, "tool_calls": [}', b"\xff\xfe", b"[" * 100_000, b"9" * 10_000],
)
def test_what_is_no_json_is_refused(address, agent, body):
    session = open_session(address, agent)
    status, fault = send(address, "POST", "/v1/actions", body, Idempotency_Key="0")
    assert status in (400, 422)
    assert fault["error"]["code"] in ("malformed_json", "invalid_request")
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"turn": "0"}, "turn"),
        ({"turn": -1}, "turn"),
        ({"turn": 1.5}, "turn"),
        ({"turn": True}, "turn"),
        ({"session": 5}, "session"),
        ({"session": "a" * 101}, "session"),
        ({"tool_calls": "wait"}, "tool_calls"),
        ({"tool_calls": None}, "tool_calls"),
        ({"tool_calls": [WAIT] * 65}, "tool_calls"),
        ({"tool_calls": [{"arguments": {}}]}, "tool_calls.0.name"),
        ({"tool_calls": [{"name": 7}]}, "tool_calls.0.name"),
        ({"tool_calls": [{"name": "w", "id": ""}]}, "tool_calls.0.id"),
        ({"tool_calls": [{"name": "w", "id": "x"}, {"name": "w", "id": "x"}]}, "tool_calls.1.id"),
        ({"tool_calls": [{"name": "w", "extra": 1}]}, "tool_calls.0.extra"),
        ({"content": 3}, "content"),
        ({"content": "x" * 100_001}, "content"),
        ({"more": 1}, "more"),
    ],
)
def test_wrong_fields_are_named(address, change, field, agent):
    session = open_session(address, agent)
    status, fault = send(address, "POST", "/v1/actions", turn(session, 0, WAIT) | change, Idempotency_Key="0")
    assert status == 422
    assert fault["error"]["code"] == "invalid_request"
    assert fault["error"]["field"] == field
    assert len(fault["error"]["message"]) < 400
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 0


@pytest.mark.parametrize("agent", ["", ".", "..", "../x", "a/b", "a b", "ä", "a\n", "a" * 65, None, 5])
def test_an_agents_name_is_a_name(address, settings, agent):
    before = sorted(settings.out.rglob("*"))
    assert send(address, "POST", "/v1/session", {"agent": agent})[0] == 422
    assert sorted(settings.out.rglob("*")) == before


@pytest.mark.parametrize("session", ["nobody:0", "..:0", "a:00", "a", ":", "a:-1", "a:0\n", "../../x:0", "a:99999"])
def test_an_unknown_session_is_unknown(address, session):
    found = send(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="0")
    assert code_of(found) == (404, "unknown_session")
    assert code_of(send(address, "POST", "/v1/finish", {"session": session})) == (404, "unknown_session")


def test_what_a_model_gets_wrong_is_answered_like_any_call(address, agent):
    """Names and arguments are the agent's moves: each is answered, none is a fault of the request."""
    session = open_session(address, agent)
    wrong = [
        {"name": "fly", "arguments": {}},
        {"name": "withdraw", "arguments": "{not json"},
        {"name": "withdraw", "arguments": [1]},
        {"name": "withdraw", "arguments": {"amount": "much"}},
        {"name": "withdraw", "arguments": {"a\ud800": "\ud800"}},
        {"name": "withdraw", "arguments": "[" * 60_000},
        {"name": "\x00", "arguments": None},
    ]
    status, answer = send(address, "POST", "/v1/actions", turn(session, 0, *wrong), Idempotency_Key="0")
    assert status == 200
    codes = [json.loads(one["content"])["error"]["code"] for one in answer["tool_responses"]]
    refused = ["malformed_arguments"] * 2 + ["invalid_arguments"] * 2 + ["malformed_arguments"]
    assert codes == ["unknown_tool", *refused, "unknown_tool"]
    call = '{"name":"withdraw","arguments":{"amount":NaN}}'
    body = f'{{"session":"{session}","turn":1,"tool_calls":[{call}]}}'.encode()
    status, answer = send(address, "POST", "/v1/actions", body, Idempotency_Key="1")
    assert json.loads(answer["tool_responses"][0]["content"])["error"]["code"] == "malformed_arguments"


@pytest.mark.parametrize("amount", ["1e400", "-1e400", "[" * 40 + "]" * 40, "[" * 900 + "]" * 900, "9" * 4100])
@pytest.mark.parametrize("is_text", [True, False])
def test_arguments_that_cannot_be_stored_do_not_stop_the_year(tmp_path, amount, is_text):
    settings = ServeSettings(out=tmp_path, num_days=2)
    arguments = f'{{"amount": {amount}}}'
    call = f'{{"name":"withdraw","arguments":{json.dumps(arguments) if is_text else arguments}}}'
    with hosted(settings) as address:
        session = open_session(address, "a")
        body = f'{{"session":"{session}","turn":0,"tool_calls":[{call}]}}'.encode()
        status, answer = send(address, "POST", "/v1/actions", body, Idempotency_Key="0")
        assert status == 200
        assert json.loads(answer["tool_responses"][0]["content"])["error"]["code"] == "malformed_arguments"
        assert send(address, "POST", "/v1/finish", {"session": session})[0] == 200
    assert check_folder(settings.folder("a", 0)) == ([], [])


def test_a_huge_body_is_refused_whether_or_not_it_says_so(address):
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port)) as raw:
        raw.sendall(HEAD + f"Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode())
        assert b" 413 " in raw.recv(1000)
    with socket.create_connection((parts.hostname, parts.port)) as raw:
        raw.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        for _ in range(MAX_BODY_BYTES // 0x10000):
            raw.sendall(chunk)
        raw.sendall(b"1\r\na\r\n")
        assert b" 413 " in raw.recv(1000)
    assert send(address, "GET", "/health")[0] == 200


@pytest.mark.parametrize("secret", [SECRET, "another-token-of-some-length"])
def test_a_sender_in_the_middle_of_a_huge_body_is_answered(address, secret):
    """Two megabytes do not fit the buffers of a socket: closing early would be a broken pipe."""
    status, answer = send(address, "POST", "/v1/session", b"a" * 3 * MAX_BODY_BYTES, secret=secret)
    assert (status, answer["error"]["code"]) in [(413, "too_large"), (401, "unauthorized")]


def test_silent_strangers_block_nobody(address):
    """As many connections as the server takes, none of which says a word: the next request is answered all the same."""
    parts = urlsplit(address)
    silent = [socket.create_connection((parts.hostname, parts.port)) for _ in range(MAX_CONNECTIONS + 20)]
    try:
        started = time.monotonic()
        assert send(address, "GET", "/v1/session?session=a:0")[0] == 404
        assert time.monotonic() - started < 2
    finally:
        for one in silent:
            one.close()


def test_a_connection_that_showed_the_token_keeps_its_place(address):
    parts = urlsplit(address)
    own = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    head = {"Authorization": TOKEN.header()}
    own.request("GET", "/v1/session?session=a:0", headers=head)
    own.getresponse().read()
    kept = own.sock
    silent = [socket.create_connection((parts.hostname, parts.port)) for _ in range(MAX_STRANGERS + 20)]
    own.request("GET", "/v1/session?session=a:0", headers=head)
    assert own.getresponse().status == 404
    assert own.sock is kept
    for one in [*silent, own]:
        one.close()


def test_a_body_that_never_comes_is_not_waited_for(tmp_path):
    with hosted(ServeSettings(out=tmp_path), body_seconds=0.3) as address:
        parts = urlsplit(address)
        with socket.create_connection((parts.hostname, parts.port)) as raw:
            raw.sendall(HEAD + b"Content-Length: 50\r\n\r\n")
            started = time.monotonic()
            assert b" 408 " in raw.recv(1000)
            assert time.monotonic() - started < 5


@pytest.mark.parametrize(("num_whole", "begun"), [(0, b""), (0, b"GET /health HT"), (1, b"GET /health HT")])
def test_a_head_that_never_comes_whole_is_not_waited_for(address, monkeypatch, num_whole, begun):
    monkeypatch.setattr("experiments.serving.guard.HEAD_SECONDS", 0.3)
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as raw:
        for _ in range(num_whole):
            raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200 OK" in raw.recv(1000)
        raw.sendall(begun)
        while raw.recv(1000):  # ends when the server closes
            pass


def test_a_connection_that_asks_now_and_then_stays_open(address, monkeypatch):
    monkeypatch.setattr("experiments.serving.guard.HEAD_SECONDS", 0.2)
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/health")
        assert connection.getresponse().read().startswith(b"{")
        own = connection.sock
        time.sleep(0.4)
    assert connection.sock is own
    connection.close()


def test_a_key_is_needed_and_belongs_to_one_turn(address, agent):
    session = open_session(address, agent)
    body = turn(session, 0, BALANCE)
    status, fault = send(address, "POST", "/v1/actions", body)
    assert (status, fault["error"]["field"]) == (422, "Idempotency-Key")
    assert send(address, "POST", "/v1/actions", body, Idempotency_Key="k" * 201)[0] == 422
    first = send_raw(address, "POST", "/v1/actions", body, Idempotency_Key="k")
    assert first[0] == 200
    for other in (
        turn(session, 0, WAIT),
        turn(session, 1, BALANCE),
        turn(session, 0, BALANCE, content="x"),
        turn(session, 0, BALANCE, BALANCE),
    ):
        assert code_of(send(address, "POST", "/v1/actions", other, Idempotency_Key="k")) == (422, "key_reused")
    spelled_otherwise = json.dumps(dict(reversed(body.items())), indent=3).encode()
    assert send_raw(address, "POST", "/v1/actions", spelled_otherwise, Idempotency_Key="k")[2] == first[2]
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 1


@pytest.mark.parametrize("number", [1, 7, 10**30])
def test_a_turn_that_is_not_the_next_says_which_is(address, number, agent):
    session = open_session(address, agent)
    status, fault = send(address, "POST", "/v1/actions", turn(session, number, WAIT), Idempotency_Key="0")
    assert (status, fault["error"]["code"], fault["error"]["expected_turn"]) == (409, "wrong_turn", 0)


def test_of_concurrent_turns_one_is_carried_out(address, agent):
    session = open_session(address, agent)

    def act(key):
        return send_raw(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key=key)

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(act, [f"k{number}" for number in range(16)]))
        assert sorted(status for status, _, _ in replies) == [200] + [409] * 15
        done = next(place for place, reply in enumerate(replies) if reply[0] == 200)
        again = list(pool.map(act, [f"k{done}"] * 16))
    assert {reply[2] for reply in again} == {replies[done][2]}
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 1


def test_a_year_that_many_open_at_once_is_opened_once(address, agent):
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: send_raw(address, "POST", "/v1/session", {"agent": agent}), range(16)))
    assert {status for status, _, _ in replies} == {200}
    assert len({text for _, _, text in replies}) == 1


def test_sessions_do_not_disturb_each_other(address, agent):
    def whole_year(place):
        session = open_session(address, f"{agent}-{place}")
        bodies = [turn(session, number, WAIT) for number in range(10)]
        return [send_raw(address, "POST", "/v1/actions", one, Idempotency_Key=f"{one['turn']}")[2] for one in bodies]

    with ThreadPoolExecutor(8) as pool:
        years = list(pool.map(whole_year, range(8)))
    assert all(year == years[0] for year in years)


def test_only_named_agents_may_play_where_some_are_named(tmp_path):
    """A name of its own would let an agent look at a world before it is scored there."""
    with hosted(ServeSettings(out=tmp_path, num_days=2, agents=("a", "b"))) as address:
        assert open_session(address, "a") == "a:0"
        for name in ("c", "A", "a.b"):
            assert code_of(send(address, "POST", "/v1/session", {"agent": name})) == (403, "unknown_agent")
        assert send(address, "GET", "/v1/result?session=c:0")[0] == 404
    with hosted(ServeSettings(out=tmp_path, num_days=2, agents=("b",))) as address:
        assert code_of(send(address, "POST", "/v1/finish", {"session": "a:0"})) == (403, "unknown_agent")
    assert not list(tmp_path.glob("year-c*"))


def test_too_many_years_are_refused_until_one_is_over(tmp_path):
    with hosted(ServeSettings(out=tmp_path, num_days=2, max_sessions=2)) as address:
        first, _ = open_session(address, "a"), open_session(address, "b")
        assert code_of(send(address, "POST", "/v1/session", {"agent": "c"})) == (429, "too_many_sessions")
        assert send(address, "POST", "/v1/session", {"agent": "b"})[0] == 200
        send(address, "POST", "/v1/finish", {"session": first})
        assert open_session(address, "c") == "c:0"
        assert send(address, "GET", f"/v1/result?session={first}")[0] == 429  # on disk, but there is no room to read it


def test_a_year_that_is_left_alone_makes_room_and_is_taken_up_again(tmp_path, monkeypatch):
    settings = ServeSettings(out=tmp_path, num_days=9, max_sessions=2)
    with ServedYears(settings) as sessions:
        first, second = sessions.open("a", 0), sessions.open("b", 0)
        first.act([CallRequest(name="wait_for_next_day")], "0")
        monkeypatch.setattr("experiments.serving.served_years.IDLE_SECONDS", 0.0)
        third = sessions.open("c", 0)  # b was used last before a was
        with pytest.raises(RequestError, match="making room"):
            second.info()
        assert sessions.get("a:0") is first
        with third._alone(), first._alone(), pytest.raises(RequestError, match="2 years are going on"):
            sessions.open("b", 0)
        assert sessions.get("b:0").act([CallRequest(name="wait_for_next_day")], "0")
        again = sessions.get("a:0")
        assert (again is first, again.next_turn) == (False, 1)
        assert len(sessions._years) == 2
        assert sessions._coming == set()


def test_more_agents_than_there_is_room_for_all_finish(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.serving.served_years.IDLE_SECONDS", 0.0)
    settings = ServeSettings(out=tmp_path, num_days=4, max_sessions=2)

    def whole_year(place):
        with YearClient(address, TOKEN, agent=f"a{place}") as client:
            while not client.call("wait_for_next_day").is_over:
                pass
            return client.result()["outcome"]

    with hosted(settings) as address, ThreadPoolExecutor(5) as pool:
        assert list(pool.map(whole_year, range(5))) == ["finished"] * 5
    for place in range(5):
        assert check_folder(settings.folder(f"a{place}", 0)) == ([], [])


def test_a_folder_in_use_is_a_clear_answer(address, settings, agent):
    year = ServedYear(settings, agent, 0)
    assert code_of(send(address, "POST", "/v1/session", {"agent": agent})) == (409, "in_use")
    year.close()


def test_a_folder_with_another_year_is_left_alone_and_its_settings_are_not_told(tmp_path, caplog):
    settings = ServeSettings(out=tmp_path, num_days=3)
    with hosted(settings) as address:
        open_session(address, "a")
    with hosted(settings.model_copy(update={"limits": Limits(max_turns=7)})) as address:
        status, fault = send(address, "POST", "/v1/session", {"agent": "a"})
    assert (status, fault["error"]["code"]) == (409, "other_year")
    assert "7" not in fault["error"]["message"]
    assert "settings.limits.max_turns: 4000 there, 7 now" in caplog.text


@pytest.mark.parametrize("failing", ["append", "model_dump"])
def test_what_goes_wrong_inside_is_logged_and_not_told(address, settings, monkeypatch, caplog, failing, agent):
    """A turn that could not be written was not done; the same turn goes through once the disk is well again."""
    session = open_session(address, agent)

    def broken(*args, **kwargs):
        raise OSError("no space left on /secret/place")

    places = {
        "append": "experiments.serving.served_year.JournalWriter.append",
        "model_dump": "experiments.years.transcript.TurnRecord.model_dump",
    }
    body = turn(session, 0, WAIT)
    with monkeypatch.context() as patch:
        patch.setattr(places[failing], broken)
        status, fault = send(address, "POST", "/v1/actions", body, Idempotency_Key="0")
    assert (status, fault["error"]["code"]) == (500, "internal_error")
    assert "secret" not in json.dumps(fault)
    number = fault["error"]["message"].rsplit(" ", 1)[-1]
    assert f"error {number} in POST /v1/actions" in caplog.text
    assert "no space left" in caplog.text
    assert SECRET not in caplog.text
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 0
    status, answer = send(address, "POST", "/v1/actions", body, Idempotency_Key="0")
    assert (status, answer["turn"]) == (200, 1)
    assert (
        len((settings.folder(agent, 0) / "transcript.jsonl").read_bytes().splitlines()) == 3
    )  # opening, turn, morning


@pytest.mark.parametrize("num_written", [0, 1, 2])
def test_an_end_whose_files_could_not_be_written_is_written_out_later(
    address, settings, monkeypatch, agent, num_written
):
    session = open_session(address, agent)
    written = []

    def full(path, data):
        if len(written) == num_written:
            raise OSError("no space left")
        written.append(path)
        write_atomically(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("experiments.engine.run.write_atomically", full)
        assert send(address, "POST", "/v1/finish", {"session": session})[0] == 500
    late = send(address, "POST", "/v1/actions", turn(session, 0, BALANCE), Idempotency_Key="0")
    assert code_of(late) == (409, "year_over")
    assert send(address, "POST", "/v1/finish", {"session": session})[1]["outcome"] == "agent_stopped"
    assert check_folder(settings.folder(agent, 0)) == ([], [])


def test_a_busy_session_is_said_to_be_busy(address, agent, monkeypatch):
    monkeypatch.setattr("experiments.serving.served_year.BUSY_SECONDS", 0.1)
    entered, leave = threading.Event(), threading.Event()
    original = ServedYear._carry_out

    def slow(self, *args):
        entered.set()
        assert leave.wait(10)
        return original(self, *args)

    monkeypatch.setattr(ServedYear, "_carry_out", slow)
    with ThreadPoolExecutor(1) as pool:
        session = open_session(address, agent)
        first = pool.submit(send, address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="0")
        assert entered.wait(10)
        second = send(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="1")
        assert code_of(second) == (503, "busy")
        leave.set()
        assert first.result()[0] == 200


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/nothing", 404), ("DELETE", "/v1/session", 405)])
def test_other_paths_and_methods(address, method, path, status):
    assert send(address, method, path)[0] == status


def test_a_token_shows_itself_nowhere():
    assert SECRET not in repr(TOKEN)
    assert SECRET not in str(TOKEN)
