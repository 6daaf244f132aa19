"""A client that answers from a script and remembers what it was asked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.llm.records import Completion, Usage

Reply = str | Completion | Exception


class ScriptedClient:
    """Gives the replies in order; a function may answer each request instead."""

    def __init__(self, *replies: Reply, answer: Callable[[Sequence[Mapping[str, Any]]], Reply] | None = None) -> None:
        self.replies, self.answer = list(replies), answer
        self.requests: list[dict[str, Any]] = []

    def complete(
        self, messages, *, call_id, schema=None, schema_name="reply", max_output_tokens=None, tools=()
    ) -> Completion:
        self.requests.append(
            {
                "messages": copy.deepcopy(list(messages)),
                "call_id": call_id,
                "schema": schema,
                "max_output_tokens": max_output_tokens,
                "tools": tools,
            }
        )
        reply = self.answer(messages) if self.answer else self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return Completion(text=reply, finish_reason="stop", call_id=call_id)
        return reply.model_copy(update={"call_id": call_id})

    @property
    def sent(self) -> str:
        """Everything that was ever sent, as one text."""
        return json.dumps([request["messages"] for request in self.requests])


def move(decision: str = "Offer", price: object = None, message: str = "", **more: object) -> str:
    """Return a reply in the schema."""
    return json.dumps({"decision": decision, "price": price, "message": message, **more})


def spent_on_reasoning() -> Completion:
    """Return the reply of a model whose reasoning used the output limit up."""
    usage = Usage(prompt_tokens=900, completion_tokens=800, reasoning_tokens=800)
    return Completion(text="", finish_reason="length", usage=usage)
