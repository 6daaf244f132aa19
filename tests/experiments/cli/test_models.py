"""Language models from the command line, against a fault server: money, resume, ablations, failures, keys."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from experiments.engine.run import load_run
from experiments.episodes.folder import LOG, PARQUET, SUMMARY
from experiments.episodes.suite_task import EPISODES
from experiments.fault_server import FaultPlan, FaultServer
from experiments.llm import pacing
from experiments.llm.calls import MODEL_CALLS, Ended, ReplyCache, Reserved, read_calls, spending_of
from terms.strict_json import strict_loads
from tests.experiments.folders import logged_ids, result_bytes, start_cli, wait_for

SUITE = ("--suite", "fresh", "--seed", "3", "--episodes-per-cell", "1", "--regime", "overlap", "--family", "candid")
RESULTS = (PARQUET, SUMMARY)
KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Try again at once: what is under test is what happens, not when."""
    monkeypatch.setattr(pacing, "_FIRST_WAIT_S", 0.001)


@pytest.fixture
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture
def diagnose(terms, server):
    """Return a function that plays four episodes with the server's bot: exit code, output, errors."""

    def run(out, *options, model="bot", url=None):
        return terms(
            "diagnose", "--agent", f"openai:{model}", "--base-url", url or server.url, *SUITE, "--out", out, *options
        )

    return run


def cost_of(terms, out):
    code, text, err = terms("cost", out, "--json")
    assert (code, err) == (0, "")
    return strict_loads(text)


def billed(server):
    return sum(bill.microusd for bill in server.ledger)


class TestCost:
    def test_the_bill_is_the_servers_own_to_the_micro_dollar(self, terms, diagnose, server):
        assert diagnose("run")[0] == 0
        facts = cost_of(terms, "run")
        assert facts["spending"]["settled_microusd"] == billed(server) > 0
        assert facts["spending"]["num_unknown"] == facts["spending"]["reserved_microusd"] == facts["num_failed"] == 0
        assert facts["num_attempts"] == len(server.ledger) == facts["replies"]["ok"]["n"]
        assert facts["usd_per_episode"]["n"] == 4
        assert facts["usd_per_episode"]["estimate"] == pytest.approx(billed(server) / 4e6, rel=1e-12)
        assert facts["served_by"] == ["bot / Provider-A / fp-a"]
        assert facts["replies"]["ok"]["estimate"] == 1.0
        assert facts["latency_s"]["n"] == len(server.ledger)

    def test_the_text_says_the_same(self, terms, diagnose, server):
        diagnose("run")
        code, text, err = terms("cost", "run")
        assert (code, err) == (0, "")
        assert f"settled        ${billed(server) / 1e6:.6f} in {len(server.ledger)} attempts" in text
        assert "unknown        0 attempts" in text
        assert "served by      bot / Provider-A / fp-a" in text

    def test_unknown_money_is_counted_and_in_no_sum(self, terms, diagnose, server):
        assert diagnose("run", model="bot/fault:no_usage")[0] == 0
        facts = cost_of(terms, "run")
        assert facts["spending"]["settled_microusd"] == 0
        assert facts["spending"]["num_unknown"] == len(server.ledger) > 0

    def test_a_run_without_models_has_no_cost(self, terms):
        terms("diagnose", "--agent", "patient", *SUITE, "--out", "run")
        facts = cost_of(terms, "run")
        assert facts["num_attempts"] == facts["spending"]["settled_microusd"] == 0
        assert facts["usd_per_episode"] == {"estimate": None, "low": None, "high": None, "n": 0}
        assert all(rate["estimate"] is None for rate in facts["replies"].values())
        code, text, _ = terms("cost", "run")
        assert code == 0
        assert "per episode    -  n=0" in text


class TestResume:
    def test_a_run_that_is_done_asks_nothing(self, diagnose, server):
        diagnose("run")
        asked, before = len(server.ledger), result_bytes("run", RESULTS)
        code, _, err = diagnose("run")
        assert code == 0
        assert "4 of 4 episodes were already in run" in err
        assert len(server.ledger) == asked
        assert result_bytes("run", RESULTS) == before

    def test_a_budget_stops_cleanly_and_a_higher_one_goes_on(self, terms, diagnose, server):
        diagnose("whole", "--workers", "1")
        whole = billed(server)
        budget = f"{whole / 2e6:.6f}"
        code, out, err = diagnose("run", "--workers", "1", "--budget-usd", budget)
        assert (code, out) == (4, "")
        assert "the spending ceiling" in err
        assert "higher --budget-usd" in err
        assert billed(server) - whole <= whole / 2
        kept = len(load_run(EPISODES, "run").records)
        assert 0 < kept < 4
        code, _, err = diagnose("run", "--workers", "2", "--budget-usd", "5")
        assert code == 0
        assert f"{kept} of 4 episodes were already" in err
        assert result_bytes("run", RESULTS) == result_bytes("whole", RESULTS)
        assert billed(server) == 2 * whole, "nothing was asked or paid for twice"
        assert cost_of(terms, "run")["spending"]["settled_microusd"] == whole

    def test_a_cache_makes_the_same_run_free(self, terms, diagnose, server):
        diagnose("first", "--model", "cache=kept")
        asked = len(server.ledger)
        assert diagnose("second", "--model", "cache=kept")[0] == 0
        assert len(server.ledger) == asked
        assert result_bytes("first", RESULTS) == result_bytes("second", RESULTS)
        facts = cost_of(terms, "second")
        assert (facts["num_recalled"], facts["num_attempts"]) == (asked, 0)

    @pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow)])
    def test_killed_during_calls_it_ends_as_if_unbroken(self, terms, diagnose, tmp_path, kills):
        with FaultServer(latency_s=0.04) as slow:
            assert diagnose("whole", url=slow.url)[0] == 0
            whole = len(slow.ledger)
            for kill in range(kills):
                kill_during_calls(slow, tmp_path / "run", whole * (kill + 1) // (kills + 1))
            assert diagnose("run", url=slow.url)[0] == 0
            assert result_bytes("run", RESULTS) == result_bytes("whole", RESULTS)
            reconcile(slow, "run", start=whole)
        assert terms("verify", "run")[0] == 0

    def test_a_damaged_call_log_is_found_and_nothing_is_asked_again(self, terms, diagnose, server, tmp_path):
        diagnose("run")
        asked, log = len(server.ledger), tmp_path / "run" / MODEL_CALLS
        whole = log.read_bytes()
        log.write_bytes(whole.replace(b"0.", b"1.", 1))
        for command in (["verify", "run"], ["cost", "run"], ["report", "run"]):
            code, _, err = terms(*command)
            assert code != 0
            assert "the checksum does not match" in err
        assert diagnose("run")[0] == 2
        log.write_bytes(whole[:-30])
        assert terms("verify", "run")[0] == 1
        assert diagnose("run")[0] == terms("verify", "run")[0] == 0
        assert cost_of(terms, "run")["spending"]["num_unknown"] == 1, "the answer whose line was torn"
        assert len(server.ledger) == asked

    @pytest.mark.slow
    def test_an_interruption_with_many_in_flight_waits_for_no_more_than_their_calls(self, diagnose, tmp_path):
        with FaultServer(latency_s=1.0) as slow:
            process = started(slow, tmp_path / "run", "--workers", "4")
            wait_for(lambda: len(read_calls(tmp_path / "run" / MODEL_CALLS)) > 8)
            process.send_signal(signal.SIGINT)
            sent = len(slow.ledger)
            assert process.wait(timeout=4) == 130, "an episode takes eight seconds"
            process.communicate()
            assert len(slow.ledger) <= sent + 4
            reserved = [row for row in read_calls(tmp_path / "run" / MODEL_CALLS) if isinstance(row, Reserved)]
        assert spending_of(read_calls(tmp_path / "run" / MODEL_CALLS)).num_unknown == 0, (
            "answers on their way were taken"
        )
        assert len(reserved) == len({row.call_id for row in reserved})

    @pytest.mark.slow
    def test_an_interruption_during_calls_keeps_what_is_finished(self, diagnose, tmp_path):
        with FaultServer(latency_s=0.05) as slow:
            process = started(slow, tmp_path / "run", "--workers", "1")
            wait_for(lambda: len(logged_ids(tmp_path / "run")) == 1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            assert process.returncode == 130
            assert "everything finished is kept" in err
            kept = logged_ids(tmp_path / "run")
            assert 1 <= len(kept) < 4
            assert diagnose("run", "--workers", "1", url=slow.url)[0] == 0
            assert logged_ids(tmp_path / "run")[: len(kept)] == kept
            reconcile(slow, "run")


def started(server, out, *options):
    return start_cli(
        "diagnose", "--agent", "openai:bot", "--base-url", server.url, *SUITE, "--out", out, *options, cwd=out.parent
    )


def kill_during_calls(server, out, answered):
    process = started(server, out, "--workers", "4")
    wait_for(lambda: sum(isinstance(row, Ended) for row in read_calls(out / MODEL_CALLS)) >= answered)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)


def reconcile(server, out, start=0):
    """Compare the call log with the server's ledger line by line; only lost answers may be unknown."""
    rows = read_calls(load_run(EPISODES, out).folder / MODEL_CALLS)
    ended = {f"{row.call_id}#{row.attempt}": row for row in rows if isinstance(row, Ended)}
    assert len(ended) == sum(isinstance(row, Ended) for row in rows), "no call was answered twice"
    bills = server.ledger[start:]
    assert {bill.request_id for bill in bills} == set(ended)
    assert all(bill.microusd == ended[bill.request_id].microusd for bill in bills)  # the bot bills a repeat the same
    spent, lost = spending_of(rows), len(bills) - len(ended)
    assert spent.settled_microusd == sum(row.microusd for row in ended.values())
    assert lost <= spent.num_unknown == sum(isinstance(row, Reserved) for row in rows) - len(ended)


def page():
    return Path("report.html").read_text(encoding="utf-8")


class TestRows:
    def test_two_efforts_are_two_rows_side_by_side(self, terms, diagnose):
        for effort in ("low", "high"):
            assert diagnose(effort, "--model", f"effort={effort}")[0] == 0
        assert terms("report", "low", "high")[0] == 0
        html = page()
        table = html.split('id="models"')[1].split("</table>")[0]
        for effort in ("low", "high"):
            assert f"openai:bot@{effort}" in table
            assert f"<td>{effort}</td>" in table
        assert "pair" in terms("compare", "low", "high")[1]

    def test_every_level_of_the_reveal_ladder_is_a_row_and_tells_more(self, terms, diagnose, server):
        lengths = []
        for level in ("nothing", "family", "kernel", "type"):
            start = len(server.ledger)
            assert diagnose(level, "--model", f"reveal={level}", "--workers", "1")[0] == 0
            lengths.append(len(json.dumps(server.requests[start]["body"])))
        assert lengths == sorted(set(lengths))
        out = terms("compare", "nothing", "family", "kernel", "type", "--json")[1]
        names = {name for group in strict_loads(out)["groups"] for name in group}
        assert names == {"openai:bot", *(f"openai:bot+reveal-{level}" for level in ("family", "kernel", "type"))}

    @pytest.mark.parametrize(
        ("options", "suffix"),
        [
            (["--model", "show_cues=false"], "+no-cues"),
            (["--model", "show_messages=false"], "+no-words"),
            (["--model", "ask_belief=false"], "+no-belief"),
            (["--model", "guidance=false"], "+no-guidance"),
            (["--model", "history=2"], "+history-2"),
            (["--model", "show_cues=false", "--model", "ask_belief=false"], "+no-cues+no-belief"),
        ],
    )
    def test_an_ablation_is_a_row_of_its_own(self, diagnose, options, suffix):
        assert diagnose("run", *options)[0] == 0
        run = load_run(EPISODES, "run")
        assert run.header.agent == f"openai:bot{suffix}"
        assert {record.agent for record in run.records} == {run.header.agent}

    def test_belief_error_by_round_is_drawn_for_a_model(self, terms, diagnose):
        diagnose("run")
        terms("report", "run")
        html = page()
        assert re.search(r"Belief error on [^:<]+: openai:bot: round 1 0\.", html)


def narrate(messages):
    """Answer as the bot, or word the act of the counterpart with its exact price."""
    from experiments.fault_server.bots import bot_reply

    act = json.loads(messages[-1]["content"]) if '"said_before"' in messages[-1]["content"] else None
    if act is None:
        return bot_reply(messages)
    return f"My dear friend, {act['price']} it is." if act["price"] else "Farewell then."


class TestVoice:
    def test_a_model_voice_words_the_counterpart_and_the_run_verifies(self, terms, diagnose, server, monkeypatch):
        diagnose("plain")
        monkeypatch.setattr("experiments.fault_server.fault_http.bot_reply", narrate)
        assert diagnose("run", "--model", "voice=openai:storyteller")[0] == 0
        run, plain = load_run(EPISODES, "run"), load_run(EPISODES, "plain")
        assert run.header.agent == "openai:bot+voice-storyteller"
        assert {record.agent for record in run.records} == {run.header.agent}
        spoken = [
            turn.counterpart_message for record in run.records for turn in record.turns if turn.counterpart_message
        ]
        assert any(message.startswith("My dear friend") for message in spoken)
        prices = [[turn.counterpart_price for turn in record.turns] for record in run.records]
        assert prices == [[turn.counterpart_price for turn in record.turns] for record in plain.records]
        assert {bill.model for bill in server.ledger} == {"bot", "storyteller"}
        assert terms("verify", "run")[0] == 0
        facts = cost_of(terms, "run")
        assert facts["served_by"] == ["bot / Provider-A / fp-a"], "the voice is no second back-end of the agent"
        assert facts["spending"]["num_settled"] > facts["latency_s"]["n"]

    def test_one_altered_word_of_a_voice_is_found_in_the_log(self, terms, diagnose, monkeypatch, tmp_path):
        monkeypatch.setattr("experiments.fault_server.fault_http.bot_reply", narrate)
        diagnose("run", "--model", "voice=openai:storyteller")
        log = tmp_path / "run" / LOG
        log.write_bytes(log.read_bytes().replace(b"dear friend", b"dear fiend.", 1))
        assert terms("verify", "run")[0] == 1


class TestFailures:
    def test_a_provider_that_answers_nothing_scores_nothing_and_is_tried_again(self, terms, diagnose, server):
        server.script(["bad_request"] * 4)
        code, out, err = diagnose("run", "--json")
        assert code == 3
        result = strict_loads(out)
        assert (result["num_episodes"], result["num_excluded"]) == (4, 4)
        assert result["overall"]["se_plus"] == {"estimate": None, "low": None, "high": None, "n": 0}
        assert "4 of 4 trials were lost to the provider and excluded" in err
        assert all(record.fault_detail for record in load_run(EPISODES, "run").records), "the row carries the cause"
        assert cost_of(terms, "run")["replies"]["provider_fault"]["estimate"] == 1.0
        code, out, _ = diagnose("run", "--json")
        assert code == 0
        assert strict_loads(out)["num_excluded"] == 0
        assert terms("verify", "run")[0] == 0

    def test_a_provider_that_is_not_there_ends_the_run_in_one_line_and_the_same_command_goes_on(self, terms, diagnose):
        with FaultServer() as gone:
            url, port = gone.url, int(gone.origin.rpartition(":")[2])
        code, out, err = diagnose("run", "--json", url=url)
        assert (code, out) == (3, "")
        plan, unpriced, first, *_ = err.splitlines()
        asked, price = "about 24 calls, 0.05 M tokens in, 0.00 M out", "price unknown, about 1 min at 3 s an answer"
        assert plan == f"plan: 4 negotiations at most, {asked}, {price}"
        assert unpriced.startswith("note: no price of bot is known")
        assert "Connection refused" in first, "shown at once"
        assert f"error: bot at {url} cannot be used: NobodyThere" in err
        with FaultServer(port=port):
            assert diagnose("run", "--json", url=url)[0] == 0
        assert terms("verify", "run")[0] == 0

    @pytest.mark.parametrize("key", ["sk-line\nbreak-0123", 'sk-"quoted"-0123', "sk-ключ-0123"])
    def test_a_key_that_is_none_is_refused_before_anything_is_opened(self, terms, diagnose, monkeypatch, server, key):
        monkeypatch.setenv("MY_KEY", key)
        for code, out, err in (
            diagnose("run", "--model", "api_key_env=MY_KEY"),
            terms(
                "year", "--agent", "openai:m", "--base-url", server.url, "--model", "api_key_env=MY_KEY", "--out", "run"
            ),
            terms("check", "--agent", "openai:m", "--base-url", server.url, "--model", "api_key_env=MY_KEY"),
        ):
            assert (code, out) == (2, "")
            assert "MY_KEY" in err
            assert "0123" not in err
            assert len(err.splitlines()) == 1
        assert not Path("run").exists()
        assert server.requests == []

    def test_no_file_and_no_message_holds_a_key_that_a_server_repeats(self, terms, diagnose, monkeypatch):
        key = "sk-0123456789+/abcdef"
        monkeypatch.setenv("MY_KEY", key)
        code, _, err = diagnose("run", "--model", "api_key_env=MY_KEY", model="bot/fault:key_repeated")
        assert code == 3
        files = [path for path in Path("run").rglob("*") if path.is_file()]
        for text in (err, *(path.read_bytes().decode(errors="replace") for path in files)):
            assert "0123456789" not in text
            assert "abcdef" not in text
        assert "[key removed]" in err

    def test_an_effort_that_is_refused_stops_the_run_in_one_line(self, terms, diagnose):
        code, out, err = diagnose("run", "--model", "effort=max", model="bot/fault:reject_effort")
        assert (code, out) == (2, "")
        assert err.splitlines()[2].startswith("error: bot/fault:reject_effort refuses effort=max")
        assert "Traceback" not in err
        assert diagnose("lower", "--model", "effort=high", model="bot/fault:reject_effort")[0] == 0

    def test_a_cache_that_fails_in_the_middle_ends_the_run_in_one_line_and_loses_nothing(
        self, terms, diagnose, server, monkeypatch
    ):
        diagnose("whole")
        put, whole = ReplyCache.put, len(server.ledger)

        def fail_later(cache, request, completion):
            if len(server.ledger) > whole + 6:
                cache._db.execute("PRAGMA query_only = ON")
            put(cache, request, completion)

        with monkeypatch.context() as patch:
            patch.setattr(ReplyCache, "put", fail_later)
            code, out, err = diagnose("run", "--model", "cache=kept")
        assert (code, out) == (2, "")
        assert err.splitlines()[2].startswith("error: the reply cache kept/replies.sqlite cannot be used")
        assert err.count("\n") == 3
        assert diagnose("run")[0] == 0
        assert result_bytes("run", RESULTS) == result_bytes("whole", RESULTS)
        assert len(server.ledger) == 2 * whole

    def test_another_backend_and_a_rejected_parameter_are_notices_of_the_report(self, terms, diagnose, server):
        server.script(["provider_change"])
        diagnose("run")
        diagnose("plain", model="bot/fault:reject_response_format")
        assert cost_of(terms, "run")["served_by"] == ["bot / Provider-A / fp-a", "bot / Provider-B / fp-b"]
        terms("report", "run", "plain")
        html = page()
        assert "2 back-ends served openai:bot: bot / Provider-A / fp-a; bot / Provider-B / fp-b" in html
        assert (
            "the server of openai:bot/fault:reject_response_format rejects response_format; it was asked without"
            in html
        )
        assert "asked without  response_format" in terms("cost", "plain")[1]

    def test_silent_models_are_flagged(self, terms, diagnose):
        assert diagnose("run", model="bot/fault:empty")[0] == 0
        terms("report", "run")
        html = page()
        assert 'class="badge bad">invalid' in html
        assert "blank 100.0 %" in html

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--agent", "patient", "--model", "effort=low"], "is not a language model"),
            (["--agent", "patient", "--budget-usd", "1"], "is not a language model"),
            (["--agent", "patient", "--model", "show_cues=false"], "is not a language model"),
            (["--agent", "openai:bot"], "needs --base-url"),
            (["--agent", "openai:"], "allowed are openrouter:VENDOR/MODEL"),
            (["--agent", "openrouter:a/b", "--base-url", "http://127.0.0.1:1/v1"], "goes to OpenRouter"),
            (["--agent", "local", "--model", "effort=low"], "one fixed way"),
            (["--agent", "local", "--base-url", "http://127.0.0.1:1/v1"], "one fixed way"),
            (["--agent", "openai:bot", "--base-url", "ftp://x"], "must start with http"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "effort=extreme"], "effort"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "reveal=all"], "reveal"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--budget-usd", "lots"], "amount of dollars"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--budget-usd", "-1"], "at least 0"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "voice=local"], "voice='local'"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "voice=parrot"], "parrot"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--scheduler", "tcp://x"], "--scheduler"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "efort=low"], "did you mean 'effort'"),
            (["--agent", "openai:bot", "--base-url", "http://x", "--effort"], "--effort needs a value"),
            (["--agent", "openai:bot", "--memory", "ledger"], "model='memory', allowed are"),
            (
                ["--agent", "openai:bot", "--base-url", "http://x", "--model", "nowhere.json"],
                "neither KEY=VALUE nor",
            ),
            (
                ["--agent", "openai:bot", "--base-url", "http://x", "--model", "prices.promt=1"],
                "'promt', allowed are prompt",
            ),
            (["--agent", "openai:bot", "--base-url", "http://x", "--model", "temperature=hot"], "temperature"),
        ],
    )
    def test_bad_input_is_refused_in_one_line_that_names_it(self, terms, tmp_path, arguments, message):
        code, out, err = terms("diagnose", *arguments, *SUITE)
        assert (code, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
        assert list(tmp_path.iterdir()) == []


class TestKey:
    def test_a_missing_key_is_named_and_nothing_was_played(self, terms, diagnose, monkeypatch):
        monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
        for agent, name in ((["--agent", "openrouter:a/b"], "OPENROUTER_API_KEY"), (None, "MY_KEY")):
            if agent:
                code, _, err = terms("diagnose", *agent, *SUITE, "--out", "one")
            else:
                code, _, err = diagnose("two", "--model", "api_key_env=MY_KEY")
            assert code == 2
            assert f"set the environment variable {name}" in err

    @pytest.mark.parametrize("right", [True, False])
    def test_no_file_and_no_output_ever_holds_it(self, terms, diagnose, monkeypatch, tmp_path, right):
        monkeypatch.setenv("MY_KEY", KEY)
        options = ("--model", "api_key_env=MY_KEY", "--model", "cache=kept", "--model", "voice=openai:bot")
        with FaultServer(FaultPlan({"error_body": 0.2}, 1), key=KEY if right else "another") as locked:
            code, out, err = diagnose("run", *options, url=locked.url)
        assert code == (0 if right else 3), "a wrong key is a provider's failure, and the server repeats the key"
        shown = [out, err, *(text for command in ("cost", "verify", "report") for text in terms(command, "run"))]
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert {"run.json", MODEL_CALLS, "episodes.jsonl", "replies.sqlite", "report.html"} <= {f.name for f in files}
        assert KEY not in " ".join(map(str, shown))
        assert [path for path in files if KEY.encode() in path.read_bytes()] == []
