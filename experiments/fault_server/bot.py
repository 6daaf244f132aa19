"""A negotiator simple enough to check by hand: it concedes evenly towards its own limit and takes what beats its plan.

In round k of K it is ready to pay ``p_0 + (r - p_0) k / K``, where ``p_0`` is its own price bound and ``r`` its
reservation price; it accepts a standing price at least that good.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

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
