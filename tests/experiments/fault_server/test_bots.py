"""The scripted shopkeeper: the same answer to the same conversation, one decision at a time."""

from __future__ import annotations

import json
import re

import pytest

from commerce.config import PAPER
from commerce.merchants import build_merchant
from commerce.year import Year
from experiments.fault_server.bad_answers import CALLS, FaultCall
from experiments.fault_server.bots import Shops
from tests.commerce.builders import default_world
from tests.experiments.folders import REPOSITORY

GUIDE = (REPOSITORY / "notebooks" / "store.md").read_text(encoding="utf-8")
TOOLS = [{"type": "function"}]
START = [{"role": "system", "content": "rules"}, {"role": "user", "content": "begin"}]


def asked(shops, messages, key="run/7", turn=0, model="shop/rule-based/5"):
    return shops.answer({"model": model, "messages": messages, "tools": TOOLS}, f"{key}/r{turn}/turn#0")


def answered(call, result):
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result.to_json_object())},
    ]


def play(shops, num_turns, year, key="run/7"):
    """Play turns and return the calls made; the conversation keeps its two newest turns only."""
    turns, made = [], []
    for turn in range(num_turns):
        messages = [*START, *(message for one in turns[-2:] for message in one)]
        (call,) = asked(shops, messages, key, turn).tool_calls
        again = asked(shops, messages, key, turn)
        assert again.tool_calls == (call,)
        function = call["function"]
        made.append((function["name"], json.loads(function["arguments"])))
        turns.append(answered(call, year.call(function["name"], function["arguments"])))
    return made


def test_the_shop_of_the_guide_negotiates():
    """A shorter year ends before goods ordered in it would arrive, so that nobody would buy anything."""
    (model, days) = re.search(r"(shop/[a-z-]+/(\d+))", GUIDE).groups()
    year, shops, turns = Year(default_world(), PAPER.model_copy(update={"num_days": int(days)})), Shops(), []
    for turn in range(200):
        (call,) = asked(shops, [*START, *turns], turn=turn, model=model).tool_calls
        function = call["function"]
        if function["name"] == "chatbox":
            break
        turns = answered(call, year.call(function["name"], function["arguments"]))
    assert json.loads(function["arguments"])["actions"][0]["action"] == "offer"


def small_year():
    return Year(default_world(), PAPER.model_copy(update={"num_days": 5}))


def test_it_makes_the_decisions_of_the_merchant():
    year, wanted = small_year(), []

    def call(tool, arguments):
        wanted.append((tool, json.loads(json.dumps(arguments))))
        return year.call(tool, arguments)

    build_merchant("rule-based", default_world(), year.setting.rules)(call)
    assert play(Shops(), len(wanted), small_year()) == wanted


def test_a_year_that_is_over_gets_words_alone():
    shops = Shops()
    year = Year(default_world(), PAPER.model_copy(update={"num_days": 1}))
    turns, answer = [], asked(shops, START, model="shop/idle/1")
    while answer.tool_calls:
        (call,) = answer.tool_calls
        turns = answered(call, year.call(call["function"]["name"], call["function"]["arguments"]))
        answer = asked(shops, [*START, *turns], model="shop/idle/1")
    assert answer.text == "The year is over for me."


@pytest.mark.parametrize("change", ["name", "arguments", "cut off"])
def test_a_decision_that_did_not_reach_the_store_is_made_again(change):
    shops = Shops()
    (call,) = asked(shops, START).tool_calls
    result = small_year().call(call["function"]["name"], call["function"]["arguments"]).to_json_object()
    if change == "cut off":
        result |= {"ok": False, "error": {"code": "truncated_reply", "field": None, "message": "m"}}
    else:
        call = {**call, "function": {**call["function"], change: '{"x": 1}'}}
    told = {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
    (again,) = asked(shops, [*START, {"role": "assistant", "tool_calls": [call]}, told]).tool_calls
    assert again["function"] == asked(shops, START).tool_calls[0]["function"]
    assert (call["id"], again["id"]) == ("d0n0", "d0n1")


def test_words_between_do_not_lose_its_place():
    shops, year = Shops(), small_year()
    play(shops, 3, year)
    prose = [{"role": "assistant", "content": "Hm."}, {"role": "user", "content": "Nothing happened."}]
    (call,) = asked(shops, [*START, *prose, *prose]).tool_calls
    assert call["id"] == "d2n0"


def test_conversations_do_not_meet():
    shops = Shops()
    assert play(shops, 4, small_year(), "a/1") == play(shops, 4, small_year(), "b/1")


def test_other_models_and_requests_without_tools_are_not_for_it():
    assert asked(Shops(), START, model="bot") is None
    assert Shops().answer({"model": "shop/idle/1", "messages": START}, "x") is None


@pytest.mark.parametrize("name", CALLS)
def test_every_odd_call_is_one_only_where_there_are_calls(name):
    (call,) = asked(Shops(), START).tool_calls
    call = {**call, "function": {**call["function"], "arguments": '{"amount": 25}'}}
    with_tools = {"model": "m", "messages": START, "tools": TOOLS}
    acting = CALLS[name](FaultCall(with_tools, "Decision 0.", 1, 0.0, (call,)))
    talking = CALLS[name](FaultCall(with_tools, "Decision 0.", 1, 0.0))
    good = {"role": "assistant", "content": "Decision 0.", "refusal": None, "tool_calls": [call]}
    choice = json.loads(acting.body)["choices"][0]
    assert choice["message"] != good or choice["finish_reason"] == "length"
    assert "tool_calls" not in json.loads(talking.body)["choices"][0]["message"]
