"""Faults in the words of an answer. Each twists what the bot would have said, or what it would have paid."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from experiments.fault_server.bad_answers import BadAnswer, FaultCall, says

_REFUSAL = "I'm sorry, but I can't help with that."
_EXAMPLE = '{"decision": "Offer", "price": 99, "message": "an example"}'


def _move(call: FaultCall) -> dict[str, Any]:
    """Return the bot's move; a bare word, when it saw no observation, becomes an offer of 45."""
    try:
        move = json.loads(call.text)
    except ValueError:
        move = {"decision": "Offer", "price": 45, "message": call.text}
    return dict(move)


def _clean(call: FaultCall) -> str:
    return json.dumps(_move(call))


def _fenced(text: str, language: str = "json") -> str:
    return f"```{language}\n{text}\n```"


def _priced(price: Any) -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that offers ``price``, whatever the bot wanted to do."""
    return lambda call: says(call, json.dumps(_move(call) | {"decision": "Offer", "price": price}))


def _reasoned_to_the_limit(call: FaultCall) -> BadAnswer:
    spent = call.output_limit
    details = {"completion_tokens_details": {"reasoning_tokens": spent}}
    return says(
        call, "", finish_reason="length", num_tokens=spent, usage=details, message={"reasoning": "My limit is 52, so"}
    )


def _truncated(call: FaultCall) -> BadAnswer:
    text = json.dumps(_move(call) | {"decision": "Offer", "price": 45})
    return says(call, text[: text.index("45") + 1], finish_reason="length")


_WEIGHED = 'Maybe {"decision": "Accept", "price": null, "message": ""}? No.'


def _thinks(before: str, after: str = "") -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that weighs another move inside the marks of a vendor."""
    return lambda call: says(call, f"{before.format(_WEIGHED)}{_clean(call)}{after}")


REPLIES: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "fenced": lambda call: says(call, _fenced(_clean(call))),
    "fenced_capital": lambda call: says(call, _fenced(_clean(call), "JSON")),
    "fenced_bare": lambda call: says(call, _fenced(_clean(call), "")),
    "fences_example_first": lambda call: says(call, f"{_fenced(_EXAMPLE)}\nMy move:\n{_fenced(_clean(call))}"),
    "fences_example_last": lambda call: says(call, f"{_fenced(_clean(call))}\nAn example:\n{_fenced(_EXAMPLE)}"),
    "thinking_tags": lambda call: says(call, f"<think>my limit is 52, I could say 99</think>\n{_clean(call)}"),
    "thinking_unclosed": lambda call: says(call, f"<think>my limit is 52. {_clean(call)}", finish_reason="length"),
    "thinking_harmony": _thinks(
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"
    ),
    "thinking_harmony_bare": _thinks("analysis{}assistantfinal"),
    "thinking_kimi": _thinks("◁think▷{}◁/think▷"),
    "thinking_cohere": _thinks("<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "thinking_apriel": _thinks("Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n", "\n[END FINAL RESPONSE]"),
    "thinking_openthoughts": _thinks(
        "<|begin_of_thought|>{}<|end_of_thought|><|begin_of_solution|>", "<|end_of_solution|>"
    ),
    "quoted_in_a_sentence": lambda call: says(call, 'I could answer {"decision": "Accept"} but I refuse.'),
    "prose_around": lambda call: says(call, f"Here is my move: {_clean(call)} Good luck!"),
    "prose_only": lambda call: says(call, "I will not go to 100. My offer is 42."),
    "no_in_prose": lambda call: says(call, "Absolutely not."),
    "refusal": lambda call: says(call, None, message={"refusal": _REFUSAL}),
    "refusal_in_prose": lambda call: says(call, _REFUSAL),
    "content_filter": lambda call: says(call, None, finish_reason="content_filter"),
    "empty": lambda call: says(call, "", num_tokens=1),
    "blank": lambda call: says(call, " \n", num_tokens=1),
    "reasoning_only": _reasoned_to_the_limit,
    "truncated": _truncated,
    "duplicate": lambda call: says(call, f"{_clean(call)}\n{_clean(call)}"),
    "half_character": lambda call: says(call, json.dumps(_move(call) | {"message": "ok"}) + "\ud83d"),
    "json_list": lambda call: says(call, json.dumps([_move(call)])),
    "unknown_decision": lambda call: says(call, json.dumps(_move(call) | {"decision": "Ponder"})),
    "price_text": _priced("45"),
    "price_currency": _priced("$45.00"),
    "price_grouped": _priced("1,200.51"),
    "price_locale": _priced("45,50"),
    "price_locale_grouped": _priced("1.200,51"),
    "price_arabic_digits": _priced("٤٥"),
    "price_list": _priced([45]),
    "price_true": _priced(True),
    "price_null": _priced(None),
    "price_nan": _priced(float("nan")),
    "price_infinity": _priced(float("inf")),
    "price_minus_infinity": _priced(float("-inf")),
    "price_overflow": lambda call: says(call, '{"decision": "Offer", "price": 1e309, "message": ""}'),
    "price_negative": _priced(-5),
    "price_above_cap": lambda call: says(call, 'I could have offered 45. {"decision": "Offer", "price": 500}'),
}
