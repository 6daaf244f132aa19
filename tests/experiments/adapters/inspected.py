"""Runs the Inspect task with Inspect's mock model, in a process of its own: Inspect warns about its own libraries.

Prints one JSON object a sample, script by script.
"""

from __future__ import annotations

import json
import re
import sys

from inspect_ai import eval as run_eval
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.model._call_tools import parse_tool_call

from experiments.adapters.inspect_task import negotiation, store_year

USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)


def said(output: ModelOutput) -> ModelOutput:
    """Give the output a usage, else the mock model would count tokens with a vocabulary from the network."""
    output.usage = USAGE
    return output


def odd(turn: int) -> ModelOutput:
    """Return calls that must not run, each of which would bring the clock or the wallet on if it did."""
    if turn >= len(ODD):
        return ModelOutput.from_content("mockllm", "done")
    calls, reason = ODD[turn]
    message = ChatMessageAssistant(content="", tool_calls=calls)
    return ModelOutput(model="mockllm", choices=[ChatCompletionChoice(message=message, stop_reason=reason)])


ODD = [
    (
        [parse_tool_call("a", "wait_for_next_day", '{"x": 5'), parse_tool_call("b", "withdraw", '{"amount": ')],
        "tool_calls",
    ),
    ([parse_tool_call("a", "withdraw", '{"amount": 1e400}')], "tool_calls"),
    ([parse_tool_call("a", "wait_for_next_day", "{}")], "content_filter"),
    ([parse_tool_call("a", "wait_for_next_day", "{}")], "max_tokens"),
    ([parse_tool_call("a", "check_balance", "{}"), parse_tool_call("a", "check_warehouse", "{}")], "tool_calls"),
]


def script(name: str):
    """Return what the mock model answers, by its place in the year."""
    opened = False

    def answer(messages, tools, choice, config):
        nonlocal opened
        if name == "idle":
            return said(ModelOutput.from_content("mockllm", "I would rather talk."))
        if name == "long" and len(messages) > 8:
            return said(ModelOutput.from_content("mockllm", "", stop_reason="model_length"))
        if name == "odd":
            return said(odd(sum(message.role == "assistant" for message in messages)))
        if not opened:
            opened = True
            arguments = {"store_type": "beauty", "store_name": "B"}
            return said(ModelOutput.for_tool_call("mockllm", "open_store", arguments))
        return said(ModelOutput.for_tool_call("mockllm", "wait_for_next_day", {}))

    return answer


def bargain(turn: str) -> str:
    """Answer a prompt: babble first, then take any price that loses nothing, else offer the own limit."""
    if "I need one JSON object" not in turn and '"round": 1,' in turn and '"history": []' in turn and BABBLE:
        return BABBLE.pop()
    gain = re.search(r'"utility_of_accepting": (-?[0-9.]+)', turn)
    if gain and float(gain[1]) > 0:
        return json.dumps({"decision": "Accept", "price": None, "message": "Fine."})
    price = float(re.findall(r'"reservation_price": ([0-9.]+)', turn)[-1])
    return json.dumps({"decision": "Offer", "price": price, "message": "My last word."})


BABBLE = ["Well, let me think."]


def run_negotiation(folder: str) -> None:
    def answer(messages, tools, choice, config):
        shown = [message.text for message in messages if message.role == "user" and "reservation_price" in message.text]
        return said(ModelOutput.from_content("mockllm", bargain(shown[-1])))

    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = run_eval(
        negotiation(families="candid,adversarial", seed=1_000_000), model=model, log_dir=folder, display="none",
        max_samples=1,
    )  # fmt: skip
    assert log.status == "success", log.error
    for sample in log.samples or []:
        (score,) = (sample.scores or {}).values()
        found = {
            "script": "negotiation",
            "id": sample.id,
            "score": score.value,
            "why": score.explanation,
            "roles": [message.role for message in sample.messages],
        }
        sys.stdout.write(json.dumps(found) + "\n")


def main(folder: str, *names: str) -> None:
    for name in names:
        if name == "negotiation":
            run_negotiation(folder)
        else:
            run(name, folder)


def run(name: str, folder: str) -> None:
    model = get_model("mockllm/model", custom_outputs=script(name))
    limits = {"message_limit": {"message_limit": 7}, "token_limit": {"token_limit": 5}}.get(name, {})
    (log,) = run_eval(
        store_year(num_worlds=2, first_world=5, num_days=6),
        model=model,
        log_dir=folder,
        display="none",
        max_samples=1,
        **limits,
    )
    assert log.status == "success", log.error
    for sample in log.samples or []:
        (score,) = (sample.scores or {}).values()
        found = {
            "script": name,
            "told": [message.text for message in sample.messages if message.role == "tool"],
            "roles": [message.role for message in sample.messages],
            "score": score.value,
            "why": score.explanation,
            "tools": len(next(event for event in sample.events if event.event == "model").tools),
        }
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
