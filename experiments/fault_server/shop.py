"""A scripted model that runs a store: it turns the decisions of a built-in merchant into tool calls, one a turn.

A model called ``shop/MERCHANT/DAYS`` (``shop/rule-based/40``) plays like that merchant. The merchant of a conversation
runs in a thread of its own; the conversation is named by the client's request id, whose last two parts (round and
purpose) are left out. Which decision is due is read from the conversation: the id of each call says which decision it
carries, so a request that is sent again, by a client that was killed for example, gets the same answer. A call that did
not reach the store as it was meant is made again.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from commerce.config import PAPER
from commerce.merchants import build_merchant
from commerce.types import Refusal
from commerce.year import Result

_MODEL = re.compile(r"shop/([a-z-]+)/(\d+)")
_CALL_ID = re.compile(r"d(\d+)n(\d+)")
_LOST = ("truncated_reply",)


class ToolAnswer(NamedTuple):
    """What the model says and the one call it makes, in the form of the protocol; no call once it has finished."""

    text: str
    tool_calls: tuple[dict[str, Any], ...]


class _Decision(NamedTuple):
    tool: str
    arguments: str


class Shops:
    """The conversations of a server."""

    def __init__(self) -> None:
        self._shops: dict[str, _Shop] = {}
        self._lock = threading.Lock()

    def answer(self, body: Mapping[str, Any], request_id: str) -> ToolAnswer | None:
        """Return the model's answer to a request, ``None`` if it is not one for a shop."""
        named = _MODEL.search(str(body.get("model")))
        if named is None or not body.get("tools"):
            return None
        key = request_id.partition("#")[0].rsplit("/", 2)[0]
        with self._lock:
            shop = self._shops.setdefault(key, _Shop(named[1], int(named[2])))
        return shop.answer(body["messages"])


class _Shop:
    """One conversation."""

    def __init__(self, merchant: str, num_days: int) -> None:
        self._decisions: list[_Decision] = []
        self._num_results = 0
        self._results: SimpleQueue[Result] = SimpleQueue()
        self._made: SimpleQueue[_Decision | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._merchant, self._num_days = merchant, num_days
        self._latest = (0, 0)
        self._is_started = self._is_done = False

    def answer(self, messages: Sequence[Mapping[str, Any]]) -> ToolAnswer:
        with self._lock:
            number, attempt = self._latest = self._due(messages)
            self._go_to(number)
            if number >= len(self._decisions):
                return ToolAnswer("The year is over for me.", ())
            decision = self._decisions[number]
        function = {"name": decision.tool, "arguments": decision.arguments}
        call = {"id": f"d{number}n{attempt}", "type": "function", "function": function}
        return ToolAnswer(f"Decision {number}: {decision.tool}.", (call,))

    def _due(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return which decision is to be made now, and how often it was made before; take in the latest result."""
        call, result = _latest(messages)
        found = None if call is None else _CALL_ID.match(call["id"])
        if call is None or result is None or found is None:
            # The beginning, or only turns without a call are left in the context: what was due then is due now.
            is_beginning = all(message.get("role") != "assistant" for message in messages)
            return (0, 0) if is_beginning else self._latest
        number, attempt = int(found[1]), int(found[2])
        if not self._was_made(number, call["function"], result):
            return number, attempt + 1
        if number == self._num_results:
            self._num_results += 1
            self._results.put(_result_of(result))
        return number + 1, 0

    def _was_made(self, number: int, function: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
        if number >= len(self._decisions) or (result.get("error") or {}).get("code") in _LOST:
            return False
        meant = self._decisions[number]
        return bool(function["name"] == meant.tool and function["arguments"] == meant.arguments)

    def _go_to(self, number: int) -> None:
        """Let the merchant decide until decision ``number`` is known."""
        if not self._is_started:
            self._is_started = True
            threading.Thread(target=self._run, daemon=True).start()
        while len(self._decisions) <= number and not self._is_done:
            made = self._made.get()
            if made is None:
                self._is_done = True
            else:
                self._decisions.append(made)

    def _run(self) -> None:
        rules = PAPER.model_copy(update={"num_days": self._num_days})
        no_world: Any = None
        try:
            build_merchant(self._merchant, no_world, rules)(self._decide)
        finally:
            self._made.put(None)

    def _decide(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        self._made.put(_Decision(tool, json.dumps(arguments)))
        return self._results.get()


def _latest(messages: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the latest call in the conversation and the envelope it was answered."""
    told = {message["tool_call_id"]: message["content"] for message in messages if message.get("role") == "tool"}
    for message in reversed(messages):
        for call in reversed(message.get("tool_calls") or ()):
            if call["id"] in told:
                return call, json.loads(told[call["id"]])
    return None, None


def _result_of(envelope: Mapping[str, Any]) -> Result:
    error = envelope.get("error")
    refusal = None if error is None else Refusal(error["code"], error["field"], error["message"])
    return Result(envelope["ok"], envelope["time"], envelope.get("data"), refusal, tuple(envelope["notices"]))
