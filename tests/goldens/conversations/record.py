"""Conversations between the harness and a scripted model; ``python -m tests.goldens.conversations.record`` writes them.

Each file has the system prompt in full and then every request: which messages it held, and what was answered. A change
of the prompts, of the window, of a memory or of the store's words shows in the difference.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.llm.records import Completion
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.transcript import DayRecord
from tests.experiments.llm.scripted import ScriptedClient
from tests.experiments.storekeeper.helpers import BALANCE, WAIT, calls, keeper_of, session_of, used

FOLDER = Path(__file__).parent
_SHOWN = 200
NOTE = Completion(text="Keep prices. Ship daily.", finish_reason="stop")
TIGHT = {"context_tokens": 16_000, "evict_at": 12_000, "evict_to": 9_000}


class Conversation(NamedTuple):
    """What is said by the model, under which settings."""

    settings: StorekeeperSettings
    answer: Callable[[Sequence[Mapping[str, Any]]], Completion]
    num_days: int = 3


def _in_turn(*replies: Completion) -> Callable[[Sequence[Mapping[str, Any]]], Completion]:
    script = iter(replies)
    return lambda messages: next(script)


def _looks_around(messages: Sequence[Mapping[str, Any]]) -> Completion:
    """Look at a page of the catalogue twice a day; answer every other question with a note."""
    if "at most 600 words" in messages[0]["content"]:
        return NOTE
    said = sum(message["role"] == "assistant" for message in messages)
    wait = [WAIT] if said % 2 else []
    memo = [("operate_memory", {"action": "add", "title": f"page {said}", "content": "seen"})] if said < 2 else []
    return calls(("list_products", {"page_size": 8}), *memo, *wait, usage=used(len(json.dumps(messages)) // 4 + 5_000))


def _as_json(*calls_made: tuple[str, dict[str, Any]]) -> Completion:
    text = "\n".join(json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls_made)
    return Completion(text=text, finish_reason="stop")


def conversations() -> dict[str, Conversation]:
    """Return what is recorded, by the name of its file."""
    odd = _in_turn(
        calls(("market_search", {"store_type": "beauty"}), BALANCE, text="I look around first."),
        Completion(text="Let me think about it.", finish_reason="stop"),
        calls((BALANCE, '{"a": '), ("buy_everything", {}), ("withdraw", {"amount": "12"})),
        calls(("withdraw", '{"amount": 12'), finish_reason="length"),
        Completion(text=None, finish_reason="content_filter"),
        calls(("operate_memory", {"action": "add", "title": "plan", "content": "wait"}), WAIT, BALANCE),
        calls(WAIT, WAIT, BALANCE),
    )
    in_text = _in_turn(
        _as_json((BALANCE, {})),
        Completion(text="Shall I wait?", finish_reason="stop"),
        Completion(text='```json\n{"name": "wait_for_next_day", "arguments": {}}\n```', finish_reason="stop"),
        _as_json((WAIT, {}), (WAIT, {})),
    )
    remembering = {
        memory.value: Conversation(StorekeeperSettings(memory=memory, reflect_days=2, **TIGHT), _looks_around, 5)
        for memory in (Memory.PLAIN, Memory.SUMMARY, Memory.REFLECTION)
    }
    return {
        "odd_calls": Conversation(StorekeeperSettings(), odd),
        "calls_in_text": Conversation(StorekeeperSettings(tool_mode="json"), in_text),
        **remembering,
    }


def record(conversation: Conversation) -> str:
    """Hold a conversation and write it down."""
    client, lines = ScriptedClient(answer=conversation.answer), []
    session = session_of(conversation.settings, conversation.num_days, lines=lines)
    keeper_of(client, conversation.settings).play(session)
    parts = [f"# system\n\n{session.opening.messages[0]['content']}\n"]
    turns = [line for line in lines[1:] if not isinstance(line, DayRecord)]
    for request, line in zip(client.requests, turns, strict=True):
        parts.append(f"# {request['call_id']}\n")
        parts += [_shown(message) for message in request["messages"][1:]]
        parts.append(_answer(line))
    return "\n".join(parts) + f"\n# outcome: {session.outcome} ({session.detail})\n"


def _shown(message: Mapping[str, Any]) -> str:
    made = [
        f"{call['id']} {call['function']['name']} {call['function']['arguments']}"
        for call in message.get("tool_calls", ())
    ]
    text = message["content"] or ""
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ... ({len(text)} characters)"
    body = textwrap.indent("\n".join([*([cut] if cut else []), *made]), "    ")
    return f"  {message['role']}\n{body}"


def _answer(line: Any) -> str:
    if line.event == "note":
        return f"-> {line.kind}: {line.text}\n"
    sent, said = line.sent, line.said
    gone = "" if sent.eviction is None else f", turns {sent.eviction.first_turn} to {sent.eviction.last_turn} left"
    codes = [f"{told.name}: {told.code or 'ok'} ({told.clock})" for told in line.told]
    return f"-> {sent.tokens} tokens expected{gone}; {said.finish_reason}; {', '.join(codes) or line.nudge}\n"


def main() -> None:
    """Write every conversation."""
    for name, conversation in conversations().items():
        (FOLDER / f"{name}.txt").write_text(record(conversation), encoding="utf-8")


if __name__ == "__main__":
    main()
