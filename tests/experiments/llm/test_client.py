"""The client against a real server over HTTP: every fault of the catalogue, retries, money, fall-backs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, local
from typing import NamedTuple

import pytest

from experiments.fault_server import FaultServer
from experiments.fault_server.bad_answers import CALLS
from experiments.fault_server.fault_list import FAULTS
from experiments.llm import errors
from experiments.llm.calls import CallLog, Ended, read_calls
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter

SCHEMA = {"type": "object", "properties": {"price": {"type": "number"}}}
NUM_RETRIES = 2


def reconcile(rows, ledger):
    """Compare each attempt in a call log with what the server billed for it; return the unknown money's true sum."""
    bills = {bill.request_id: bill.microusd for bill in ledger}
    unknown = 0
    for row in rows:
        if isinstance(row, Ended):
            billed = bills.pop(f"{row.call_id}#{row.attempt}", 0)
            if row.state == "unknown":
                unknown += billed
            else:
                assert row.microusd == billed, row
    assert not bills
    return unknown


class Expected(NamedTuple):
    """``outcome`` is an error class or a check of the completion; ``money`` is the state of every attempt."""

    outcome: type[Exception] | Callable
    money: str = "settled"
    num_sent: int = 1


def fails(kind, money="free"):
    return Expected(kind, money, NUM_RETRIES + 1 if getattr(kind, "is_retryable", False) else 1)


def says(text, finish="stop"):
    return Expected(lambda reply: reply.text == text and reply.finish_reason == finish and reply.refusal is None)


def falls_back(*names, num_steps=None):
    steps = num_steps or len(names)
    return Expected(
        lambda reply: reply.text == "pong" and set(reply.applied.refused) == set(names) and len(reply.notices) == steps,
        money="free, then settled",
        num_sent=steps + 1,
    )


def thought(before, after=""):
    return says(f"{before.format(WEIGHED)}{MOVE}{after}")


def stood_for(finish):
    """Return what is expected where an error says what the agent did, or may not say."""
    return Expected(
        lambda reply: reply.text is None and reply.finish_reason == finish and len(reply.notices) == 1, "free"
    )


def shortened(room):
    return Expected(
        lambda reply: reply.text == "pong" and f"again for {room}" in reply.notices[0], "free, then settled", 2
    )


def priced(text):
    return says(MOVE.replace("45", text))


MOVE = '{"decision": "Offer", "price": 45, "message": "pong"}'
WEIGHED = 'Maybe {"decision": "Accept", "price": null, "message": ""}? No.'
EXAMPLE = '```json\n{"decision": "Offer", "price": 99, "message": "an example"}\n```'
UNKNOWN_COST = Expected(lambda reply: reply.text == "pong" and reply.usage.cost_microusd is None, money="unknown")
ODD_TOKENS = Expected(lambda reply: reply.text == "pong" and len(reply.notices) == 1)

EXPECTED = {
    "rate_limit_seconds": fails(errors.RateLimited),
    "rate_limit_date": fails(errors.RateLimited),
    "rate_limit_bare": fails(errors.RateLimited),
    "credit_in_flight": fails(errors.RateLimited),
    "server_error_500": fails(errors.ServerFault),
    "server_error_502": fails(errors.ServerFault),
    "server_error_503": fails(errors.ServerFault),
    "slow": fails(errors.TimedOut, "unknown"),
    "slow_with_blanks": fails(errors.TimedOut, "unknown"),
    "drop_before": fails(errors.ConnectionLost, "unknown"),
    "drop_after": fails(errors.ConnectionLost, "unknown"),
    "drop_halfway": fails(errors.ConnectionLost, "unknown"),
    "error_body": fails(errors.ErrorBody, "unknown"),
    "error_in_choice": fails(errors.ErrorBody, "settled"),
    "choices_empty": fails(errors.EmptyCompletion, "settled"),
    "choices_null": fails(errors.EmptyCompletion, "settled"),
    "nothing_generated": fails(errors.EmptyCompletion, "settled"),
    "html": fails(errors.MalformedReply, "unknown"),
    "half_json": fails(errors.MalformedReply, "unknown"),
    "content_wrong_type": fails(errors.MalformedReply, "settled"),
    "fenced": says(f"```json\n{MOVE}\n```"),
    "fenced_capital": says(f"```JSON\n{MOVE}\n```"),
    "fenced_bare": says(f"```\n{MOVE}\n```"),
    "fences_example_first": says(f"{EXAMPLE}\nMy move:\n```json\n{MOVE}\n```"),
    "fences_example_last": says(f"```json\n{MOVE}\n```\nAn example:\n{EXAMPLE}"),
    "thinking_tags": says(f"<think>my limit is 52, I could say 99</think>\n{MOVE}"),
    "thinking_unclosed": says(f"<think>my limit is 52. {MOVE}", "length"),
    "thinking_harmony": thought(
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"
    ),
    "thinking_harmony_bare": thought("analysis{}assistantfinal"),
    "thinking_kimi": thought("◁think▷{}◁/think▷"),
    "thinking_cohere": thought("<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "thinking_apriel": thought("Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n", "\n[END FINAL RESPONSE]"),
    "thinking_openthoughts": thought(
        "<|begin_of_thought|>{}<|end_of_thought|><|begin_of_solution|>", "<|end_of_solution|>"
    ),
    "quoted_in_a_sentence": says('I could answer {"decision": "Accept"} but I refuse.'),
    "prose_around": says(f"Here is my move: {MOVE} Good luck!"),
    "prose_only": says("I will not go to 100. My offer is 42."),
    "no_in_prose": says("Absolutely not."),
    "refusal": Expected(lambda reply: reply.text is None and reply.refusal == "I'm sorry, but I can't help with that."),
    "refusal_in_prose": says("I'm sorry, but I can't help with that."),
    "content_filter": says(None, "content_filter"),
    "empty": says(""),
    "blank": says(" \n"),
    "reasoning_only": Expected(
        lambda reply: (reply.text, reply.finish_reason, reply.usage.reasoning_tokens) == ("", "length", 2048)
        and reply.usage.completion_tokens == 2048
        and "My limit is 52" in reply.reasoning_text
        and "limit" not in repr(reply)
    ),
    "truncated": says('{"decision": "Offer", "price": 4', "length"),
    "duplicate": says(f"{MOVE}\n{MOVE}"),
    "half_character": says('{"decision": "Offer", "price": 45, "message": "ok"}\ufffd'),
    "json_list": says(f"[{MOVE}]"),
    "unknown_decision": says(MOVE.replace("Offer", "Ponder")),
    "price_text": priced('"45"'),
    "price_currency": priced('"$45.00"'),
    "price_grouped": priced('"1,200.51"'),
    "price_locale": priced('"45,50"'),
    "price_locale_grouped": priced('"1.200,51"'),
    "price_arabic_digits": priced('"\\u0664\\u0665"'),
    "price_list": priced("[45]"),
    "price_true": priced("true"),
    "price_null": priced("null"),
    "price_nan": priced("NaN"),
    "price_infinity": priced("Infinity"),
    "price_minus_infinity": priced("-Infinity"),
    "price_overflow": says('{"decision": "Offer", "price": 1e309, "message": ""}'),
    "price_negative": priced("-5"),
    "price_above_cap": says('I could have offered 45. {"decision": "Offer", "price": 500}'),
    **{name: says("pong") for name in CALLS},  # a request without tools gets what it asked for
    "no_cost": UNKNOWN_COST,
    "no_usage": UNKNOWN_COST,
    "cost_negative": UNKNOWN_COST,
    "cost_nan": UNKNOWN_COST,
    "cost_text": UNKNOWN_COST,
    "tokens_negative": ODD_TOKENS,
    "tokens_text": ODD_TOKENS,
    "tokens_cached": Expected(lambda reply: 0 < reply.usage.cached_tokens < reply.usage.prompt_tokens),
    "tokens_cached_beside": Expected(lambda reply: 0 < reply.usage.cached_tokens < reply.usage.prompt_tokens),
    "tokens_cache_write": Expected(lambda reply: reply.usage.cache_write_tokens == 10),
    "provider_change": Expected(lambda reply: reply.applied.provider + reply.applied.fingerprint == "Provider-Bfp-b"),
    "effort_lowered": Expected(lambda reply: reply.text == "pong" and reply.applied.effort == "minimal"),
    "reject_response_format": falls_back("response_format", num_steps=2),
    "reject_temperature": falls_back("temperature"),
    "reject_seed": falls_back("seed"),
    "reject_reasoning": Expected(errors.SettingRefused, "free"),
    "reject_max_tokens": falls_back("max_tokens"),
    "reject_effort": says("pong"),
    "reject_strict_schema": falls_back("response_format.json_schema"),
    "reject_schema_500": falls_back("response_format.json_schema"),
    "reject_schema_field": falls_back("response_format.json_schema"),
    "reject_schema_404": falls_back("response_format", num_steps=2),
    "reject_system_role": says("pong"),  # the request has none
    "reject_attached": says("pong"),
    "reject_schema_ranges": says("pong"),
    "no_room_for_answer": shortened(600),
    "answer_limit_too_high": shortened(1024),
    "reject_all": Expected(errors.SettingRefused, "free", 5),
    "json_thrown_away": stood_for("malformed"),
    "call_thrown_away": stood_for("malformed"),
    "malformed_call": says(None, "malformed"),
    "malformed_call_alone": says(None, "malformed"),
    "prompt_filtered": stood_for("prompt_filter"),
    "moderated": stood_for("prompt_filter"),
    "context_overflow": fails(errors.ContextOverflow),
    "context_overflow_200": fails(errors.ContextOverflow),
    "context_overflow_gemini": fails(errors.ContextOverflow),
    "context_overflow_500": fails(errors.ContextOverflow),
    "context_overflow_413": fails(errors.ContextOverflow),
    "context_overflow_finish": fails(errors.ContextOverflow, "settled"),
    "bad_request": fails(errors.BadRequest),
    "bad_key": fails(errors.AuthenticationFailed),
    "no_credit": fails(errors.OutOfCredit),
    "no_model": fails(errors.ModelNotFound),
    "quota_spent": fails(errors.OutOfCredit),
    "no_path": fails(errors.ModelNotFound),
    "key_repeated": fails(errors.AuthenticationFailed),
    "no_tools": says("pong"),
    "attached_wanted": says("pong"),
    "attached_missing": fails(errors.BadRequest),
    "rate_limit_hours": Expected(errors.RateLimited, "free", 1),
}  # fmt: skip


def test_every_fault_has_a_row():
    assert set(EXPECTED) == set(FAULTS)


@pytest.mark.parametrize("name", EXPECTED)
def test_fault(name, server, connect, ask, tmp_path):
    outcome, money, num_sent = EXPECTED[name]
    meter, log = Meter(), CallLog(tmp_path / "calls.jsonl")
    timeout_s = 0.15 if name.startswith("slow") else 10
    client = connect(
        f"bot/fault:{name}", meter=meter, log=log, max_retries=NUM_RETRIES, seed=3, effort="low", timeout_s=timeout_s
    )
    if isinstance(outcome, type):
        with pytest.raises(outcome) as caught:
            ask(client, schema=SCHEMA)
        assert type(caught.value) is outcome
        assert getattr(caught.value, "attempts", num_sent) == num_sent
    else:
        reply = ask(client, schema=SCHEMA)
        assert outcome(reply), reply
        assert reply.attempts == num_sent
        assert reply.latency_s > 0
    rows = [row for row in read_calls(tmp_path / "calls.jsonl") if isinstance(row, Ended)]
    assert [row.state for row in rows[:-1]] == [money.split(",")[0]] * (num_sent - 1)
    assert rows[-1].state == money.split()[-1]
    assert server.stats["requests"] == num_sent
    reconcile(rows, server.ledger)
    assert meter.spending.num_reserved == 0
    assert CallLog(tmp_path / "calls.jsonl").start == meter.spending


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.group == "transport"])
def test_what_a_retry_heals_is_healed(name, connect, ask):
    timeout_s = 0.8 if name.startswith("slow") else 10
    reply = ask(connect(f"bot/fault:{name}@1", timeout_s=timeout_s))
    assert (reply.text, reply.attempts) == ("pong", 2)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("rate_limit_seconds", 2, 2.125), ("rate_limit_date", 2, 2.125), ("rate_limit_bare", 0.25, 0.5)],
)
def test_the_wait_is_the_one_asked_for(name, low, high, connect, ask, fake_time):
    ask(connect(f"bot/fault:{name}@1"))
    assert low <= fake_time.slept[0] <= high


def test_a_fall_back_is_remembered_and_told_once(server, connect, ask):
    client = connect("bot/fault:reject_response_format")
    first, second = ask(client, schema=SCHEMA), ask(client, "again", schema=SCHEMA)
    assert "rejects response_format" in first.notices[0]
    assert len(first.notices) == 2  # a schema, then plain JSON mode
    assert second.notices == ()
    assert second.attempts == 1
    assert second.applied.refused == ("response_format",)
    assert ask(client, "no schema").applied.refused == ()
    assert ["response_format" in request["body"] for request in server.requests] == [True, True, False, False, False]


@pytest.mark.parametrize("fault", ["reject_system_role", "reject_strict_schema", "reject_response_format"])
def test_calls_in_flight_together_all_fall_back(fault, connect, ask, monkeypatch):
    """All are sent in full before the first refusal comes back; each then goes without what was refused."""
    client, gate = connect(f"bot/fault:{fault}"), Barrier(3)
    send, waited = client._transport.send, local()

    def send_together(*request):
        reply = _outcome(send, *request)
        if not hasattr(waited, "once"):
            waited.once = True
            gate.wait(5)
        if isinstance(reply, Exception):
            raise reply
        return reply

    monkeypatch.setattr(client._transport, "send", send_together)
    messages = [{"role": "system", "content": "rules"}, {"role": "user", "content": "hello"}]
    with ThreadPoolExecutor(3) as pool:
        made = [pool.submit(client.complete, messages, call_id=str(n), schema=SCHEMA) for n in range(3)]
    assert [one.result().text for one in made] == ["pong"] * 3


def _outcome(function, *arguments):
    try:
        return function(*arguments)
    except errors.ModelCallError as error:
        return error


def test_a_rejected_token_limit_goes_by_its_newer_name(server, connect, ask):
    ask(connect("bot/fault:reject_max_tokens", max_output_tokens=99))
    assert server.requests[-1]["body"]["max_completion_tokens"] == 99


def test_the_callers_messages_and_schema_stay_as_they_are(connect):
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    schema = copy.deepcopy(SCHEMA)
    before = copy.deepcopy(messages)
    connect("bot/fault:server_error_500@2").complete(messages, schema=schema, call_id="a")
    assert (messages, schema) == (before, SCHEMA)


def test_half_a_character_in_a_prompt_is_sent_as_a_replacement(server, connect, ask):
    ask(connect(), "half \ud83d, whole \ud83d\ude00")
    assert server.requests[-1]["body"]["messages"][0]["content"] == "half \ufffd, whole \U0001f600"


def test_a_longer_limit_for_one_call(server, connect, ask):
    ask(connect(), max_output_tokens=9000)
    assert server.requests[-1]["body"]["max_tokens"] == 9000


def test_the_ceiling_stops_before_the_call_and_after_what_it_allows(server, connect, ask):
    meter = Meter(100, first_guess_microusd=1)
    client = connect(meter=meter)
    with pytest.raises(errors.BudgetExceeded):
        [ask(client, f"call {number}") for number in range(100)]
    assert server.stats["requests"] == meter.spending.num_settled
    assert server.stats["microusd"] == meter.spending.settled_microusd <= 100


def test_retries_count_towards_the_ceiling(server, connect, ask):
    meter = Meter(70, first_guess_microusd=1)
    with pytest.raises(errors.BudgetExceeded):
        ask(connect("bot/fault:error_in_choice", meter=meter, max_retries=50))
    assert server.stats["microusd"] == meter.spending.settled_microusd > 0
    assert server.stats["requests"] < 10


def test_no_server_at_all_is_not_billed(connect, ask):
    with FaultServer() as gone:
        url = gone.url
    meter = Meter()
    with pytest.raises(errors.ConnectionLost) as caught:
        ask(connect(base_url=url, meter=meter, max_retries=1))
    assert caught.value.attempts == 2
    assert (meter.spending.num_free, meter.spending.num_unknown) == (2, 0)


def test_a_programmers_mistake_leaves_no_reservation(connect):
    meter = Meter()
    with pytest.raises(TypeError):
        connect(meter=meter).complete([{"role": "user", "content": object()}], call_id="a")
    assert meter.spending.num_reserved == 0


def test_an_interrupted_call_is_unknown_money(connect, ask, monkeypatch):
    meter = Meter()
    client = connect(meter=meter)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "_send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(client)
    assert (meter.spending.num_unknown, meter.spending.num_reserved) == (1, 0)


def test_a_full_disk_sends_nothing(connect, ask, server, tmp_path, monkeypatch):
    log, meter = CallLog(tmp_path / "calls.jsonl"), Meter()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "reserved", full)
    with pytest.raises(OSError, match="No space"):
        ask(connect(log=log, meter=meter))
    assert server.stats["requests"] == 0
    assert meter.spending.num_unknown == 0


def test_the_repr_shows_model_and_address_only():
    client = ChatClient(ModelSettings(model="bot", base_url="http://127.0.0.1:9/v1"), meter=Meter())
    assert repr(client) == "ChatClient('bot' at http://127.0.0.1:9/v1)"
    client.close()
