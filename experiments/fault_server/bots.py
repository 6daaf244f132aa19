"""The scripted models: a negotiator simple enough to check by hand, and one that runs a store.

The negotiator concedes evenly towards its own limit and takes what beats its plan. In round k of K it is ready to pay
``p_0 + (r - p_0) k / K``, where ``p_0`` is its own price bound and ``r`` its reservation price; it accepts a standing
price at least that good.

The other turns the decisions of a built-in merchant into tool calls, one a turn. A model called ``shop/MERCHANT/DAYS``
(``shop/rule-based/40``) plays like that merchant. The merchant of a conversation runs in a thread of its own; the
conversation is named by the client's request id, whose last two parts (round and purpose) are left out. Which decision
is due is read from the conversation: the id of each call says which decision it carries, so a request that is sent
again, by a client that was killed for example, gets the same answer. A call that did not reach the store as it was
meant is made again.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from commerce.config import PAPER
from commerce.merchants import build_merchant
from commerce.types import Refusal
from commerce.year import Result

FALLBACK_TEXT = "pong"
_NUMBER = 7
_DECODER = json.JSONDecoder()


def bot_reply(messages: Iterable[Mapping[str, Any]]) -> str:
    """Return the bot's answer, JSON as an agent gives it; without an observation in sight, a plain word or object."""
    told = list(messages)
    observation = find_observation(told)
    if observation is not None:
        return json.dumps(choose_move(observation))
    wants_object = bool(told) and "one JSON object" in str(told[-1].get("content"))
    return json.dumps({"word": FALLBACK_TEXT, "number": _NUMBER}) if wants_object else FALLBACK_TEXT


def single_call(tools: Any) -> tuple[dict[str, Any], ...]:
    """Return a call of the only tool there is, every number 7 and every text a plain word; of several none."""
    if not isinstance(tools, list) or len(tools) != 1 or "function" not in tools[0]:
        return ()
    function = tools[0]["function"]
    properties = function.get("parameters", {}).get("properties", {})
    given = {name: FALLBACK_TEXT if part.get("type") == "string" else _NUMBER for name, part in properties.items()}
    written = {"name": function["name"], "arguments": json.dumps(given)}
    return ({"id": "call_7", "type": "function", "function": written},)


def find_observation(messages: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the observation of the latest user message that holds one."""
    for message in reversed(list(messages)):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str):
            found = _observation_in(content)
            if found is not None:
                return found
    return None


def _observation_in(text: str) -> dict[str, Any] | None:
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except ValueError:
            value = None
        if isinstance(value, dict) and "private_context" in value:
            return value
        start = text.find("{", start + 1)
    return None


def choose_move(observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the move for an observation in the form of ``terms.Observation.to_json_object``."""
    own, state, limits = (observation[part] for part in ("private_context", "protocol_state", "constraints"))
    standing = observation["observation"]["counterpart_price"]
    buyer = own["role"] == "buyer"
    reservation = own["reservation_price"]
    start = limits["price_min"] if buyer else limits["price_max"]
    horizon = state["round"] + state["rounds_remaining"]
    target = round(start + (reservation - start) * state["round"] / horizon, 2)
    # Rounding must not push the price past the limit.
    target = min(target, reservation) if buyer else max(target, reservation)
    good = standing is not None and (standing <= target if buyer else standing >= target)
    return {
        "decision": "Accept" if good and "Accept" in state["legal_decisions"] else "Offer",
        "price": standing if good else target,
        "message": "That works for me." if good else f"I can do {target}.",
        "belief": {
            "r_hat": (start + reservation) / 2 if standing is None else standing,
            "kappa_hat": 0.5,
            "stance_probs": {"conciliatory": 0.3, "neutral": 0.4, "aggressive": 0.3},
        },
    }


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
