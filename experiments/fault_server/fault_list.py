"""The catalogue of faults, from a request to the faulty answer, and which request meets which.

Groups: ``transport`` may be healed by asking again; ``reply`` is a whole answer with words a reader must judge;
``calls`` is a whole answer whose tool calls are odd; ``metering`` is a good answer with odd numbers beside it;
``rejection`` is an HTTP error for a part that the request holds; ``own`` says what the agent itself did, or may not
say; ``fatal`` no retry can heal.

Which one is met says, in order, the model's name (``anything/fault:NAME``, with ``@N`` only for the first N tries), a
script of names, and a seeded plan. The plan's draw for a request depends on the seed, the content and the number of the
try alone, so that a run meets the same faults whatever the order or the number of threads.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from email.utils import formatdate
from typing import Any, NamedTuple
from urllib.parse import quote

from experiments.fault_server.bad_answers import (
    CALLS,
    REPLIES,
    BadAnswer,
    FaultCall,
    changed,
    completion,
    delivered,
    good,
    refused,
    says,
    served,
)
from experiments.fault_server.denials import AGENTS_OWN, REJECTION, wants_attached

GROUPS = ("transport", "reply", "calls", "metering", "rejection", "own", "fatal")
_RATE_LIMIT_MESSAGE = "Rate limit exceeded"


class Fault(NamedTuple):
    """One entry of the catalogue."""

    name: str
    group: str
    make: Callable[[FaultCall], BadAnswer]


def _rate_limited(call: FaultCall, **headers: str) -> BadAnswer:
    return refused(429, _RATE_LIMIT_MESSAGE, headers={name.replace("_", "-"): text for name, text in headers.items()})


def _rate_limited_until(call: FaultCall) -> BadAnswer:
    # Both dates are on one fixed clock: a client must not compare the second with its own.
    return _rate_limited(call, Date=formatdate(1e9, usegmt=True), Retry_After=formatdate(1e9 + 2, usegmt=True))


def _error_body(call: FaultCall) -> BadAnswer:
    error = {"code": 502, "message": "Provider returned error", "metadata": {"error_type": "provider_unavailable"}}
    return served({"id": f"gen-{call.serial}", "error": error}, 0)


def _error_in_choice(call: FaultCall) -> BadAnswer:
    body, bill = completion(call, call.text[: len(call.text) // 2], finish_reason="error")
    body["choices"][0]["error"] = {"code": 502, "message": "Upstream closed the stream"}
    return served(body, bill)


TRANSPORT: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "rate_limit_seconds": lambda call: _rate_limited(call, Retry_After="2"),
    "rate_limit_date": _rate_limited_until,
    "rate_limit_bare": _rate_limited,
    "credit_in_flight": lambda call: refused(402, "Too much credit in flight", headers={"Retry-After": "1"}),
    "server_error_500": lambda call: refused(500, "Internal server error"),
    "server_error_502": lambda call: BadAnswer("<html><h1>502 Bad Gateway</h1></html>", 502, content_type="text/html"),
    "server_error_503": lambda call: refused(503, "No instances available"),
    "slow": lambda call: replace(good(call), delay_s=call.slow_s),
    "slow_with_blanks": lambda call: replace(delivered(good(call), "blanks first"), delay_s=call.slow_s),
    "drop_before": lambda call: BadAnswer("", delivery="nothing"),
    "drop_after": lambda call: delivered(good(call), "nothing"),
    "drop_halfway": lambda call: delivered(good(call), "half"),
    "error_body": _error_body,
    "error_in_choice": _error_in_choice,
    "choices_empty": lambda call: changed(call, None, choices=[]),
    "choices_null": lambda call: changed(call, None, choices=None),
    "nothing_generated": lambda call: replace(says(call, "", usage={"cost": 0}), microusd=0),
    "html": lambda call: BadAnswer("<!doctype html><title>Sign in</title>", content_type="text/html"),
    "half_json": lambda call: replace(good(call), body=good(call).body[:-20]),
    "content_wrong_type": lambda call: says(call, None, message={"content": {"decision": "Accept"}}),
}


def _usage(**numbers: Any) -> Callable[[FaultCall], BadAnswer]:
    return lambda call: says(call, call.text, usage=numbers)


def _no_usage(call: FaultCall) -> BadAnswer:
    body, bill = completion(call, call.text)
    del body["usage"]
    return served(body, bill)


def _cached(call: FaultCall, *, is_beside: bool = False) -> BadAnswer:
    cached = call.prompt_tokens * 9 // 10
    prompt = call.prompt_tokens - cached * is_beside
    return says(call, call.text, usage={"prompt_tokens": prompt, "prompt_tokens_details": {"cached_tokens": cached}})


METERING: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "no_cost": _usage(cost=None),
    "no_usage": _no_usage,
    "cost_negative": _usage(cost=-0.01),
    "cost_nan": _usage(cost=float("nan")),
    "cost_text": _usage(cost="free"),
    "tokens_negative": _usage(prompt_tokens=-5),
    "tokens_text": _usage(completion_tokens="many"),
    "tokens_cached": _cached,
    "tokens_cached_beside": lambda call: _cached(call, is_beside=True),
    "tokens_cache_write": _usage(prompt_tokens_details={"cached_tokens": 0, "cache_write_tokens": 10}),
    "provider_change": lambda call: changed(call, call.text, provider="Provider-B", system_fingerprint="fp-b"),
    "effort_lowered": lambda call: changed(call, call.text, reasoning_effort="minimal"),
}


def _repeats_key(call: FaultCall) -> BadAnswer:
    """Repeat the key as it is, escaped, quoted and encoded."""
    key = call.key
    encoded = base64.b64encode(f"user:{key}".encode()).decode()
    escaped = "".join(f"\\u{ord(char):04x}" for char in key)
    return refused(401, f"bad key {key}, {quote(key, safe='')}, {key!r}, {escaped}, {encoded}")


FATAL: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "bad_request": lambda call: refused(400, "messages[0].role is not one of system, user, assistant"),
    "bad_key": lambda call: refused(401, "No auth credentials found"),
    "no_credit": lambda call: refused(402, "Insufficient credits"),
    "no_model": lambda call: refused(404, f"No endpoints found for {call.body['model']}"),
    "quota_spent": lambda call: refused(
        429, "You exceeded your current quota, please check your plan.", code="insufficient_quota"
    ),
    "no_path": lambda call: BadAnswer('{"detail": "Not Found"}', 404),
    "key_repeated": _repeats_key,
    "no_tools": lambda call: (
        refused(400, f"{call.body['model']} does not support tools") if "tools" in call.body else good(call)
    ),
    "attached_wanted": wants_attached,
    "attached_missing": lambda call: refused(400, "thinking is enabled but reasoning_content is missing"),
    "rate_limit_hours": lambda call: _rate_limited(call, Retry_After="7200"),
}

FAULTS: dict[str, Fault] = {
    name: Fault(name, group, make)
    for group, members in zip(GROUPS, (TRANSPORT, REPLIES, CALLS, METERING, REJECTION, AGENTS_OWN, FATAL), strict=True)
    for name, make in members.items()
}


def answer(call: FaultCall, fault: str | None) -> BadAnswer:
    """Return the answer to ``call``; ``None`` is no fault."""
    return good(call) if fault is None else FAULTS[fault].make(call)


NO_FAULT = "ok"
_IN_MODEL_NAME = re.compile(r"fault:([a-z0-9_]+)(?:@(\d+))?$")
_TRY_IN_REQUEST_ID = re.compile(r"#(\d+)$")


class FaultPlan:
    """Draws faults at given rates.

    Parameters
    ----------
    rates
        Probability by fault or by group; a group's rate is that of each of its faults.
    seed
        Of the draws.

    Raises
    ------
    ValueError
        If a name is unknown, a rate is outside [0, 1], or the rates sum to more than 1.
    """

    def __init__(self, rates: Mapping[str, float] | None = None, seed: int = 0) -> None:
        self._rates: dict[str, float] = {}
        for name, rate in (rates or {}).items():
            if not 0 <= rate <= 1:
                raise ValueError(f"rate of {name}={rate} must lie in [0, 1]")
            members = [fault.name for fault in FAULTS.values() if name in (fault.name, fault.group)]
            if not members:
                raise ValueError(f"fault={name!r} is unknown; allowed are {', '.join((*GROUPS, *FAULTS))}")
            self._rates.update(dict.fromkeys(members, rate))
        if sum(self._rates.values()) > 1 + 1e-9:
            raise ValueError(f"the rates of {len(self._rates)} faults sum to {sum(self._rates.values())}, more than 1")
        self._seed = seed

    def draw(self, body: Mapping[str, Any], attempt: int) -> str | None:
        """Return the fault of a request's try number ``attempt``, counted from 0."""
        text = json.dumps([self._seed, body["messages"], attempt], sort_keys=True)
        point = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
        for name, rate in self._rates.items():
            if point < rate:
                return name
            point -= rate
        return None


class Chooser:
    """Picks the fault of each request; safe for many threads."""

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan
        self._script: deque[str] = deque()
        self._seen: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def script(self, names: Iterable[str]) -> None:
        """Append faults for the next requests, one each; ``ok`` is none."""
        names = list(names)
        unknown = [name for name in names if name not in FAULTS and name != NO_FAULT]
        if unknown:
            raise ValueError(f"fault={unknown[0]!r} is unknown; allowed are {', '.join((NO_FAULT, *FAULTS))}")
        with self._lock:
            self._script.extend(names)

    def choose(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[str | None, int]:
        """Return the fault, or ``None``, and the number of the try; header names are in lower case."""
        attempt = self._attempt(body, headers)
        named = _IN_MODEL_NAME.search(str(body["model"]))
        if named is not None:
            name, tries = named[1], named[2]
            if name not in FAULTS:
                raise ValueError(f"fault={name!r} is unknown; allowed are {', '.join(FAULTS)}")
            return (None if tries is not None and attempt >= int(tries) else name), attempt
        with self._lock:
            scripted = self._script.popleft() if self._script else None
        if scripted is not None:
            return (None if scripted == NO_FAULT else scripted), attempt
        return self._plan.draw(body, attempt), attempt

    def _attempt(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> int:
        """Return the number of the try: by `X-Client-Request-Id: id#n`, the SDK's retry count, or earlier requests."""
        digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).digest()
        with self._lock:
            seen = self._seen[digest]
            self._seen[digest] += 1
        numbered = _TRY_IN_REQUEST_ID.search(headers.get("x-client-request-id") or "")
        if numbered is not None:
            return int(numbered[1])
        retry_count = headers.get("x-stainless-retry-count") or "0"
        return int(retry_count) if retry_count.isdecimal() and int(retry_count) > 0 else seen
