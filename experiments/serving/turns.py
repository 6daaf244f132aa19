"""A turn between the wire and the transcript: what was asked, what is answered, and when two requests are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from commerce.argument_parser import TOO_DEEP, is_too_deep
from experiments.llm.records import ToolCall
from experiments.llm.texts import whole_characters
from experiments.serving.faults import RequestError
from experiments.serving.wire import MAX_KEY, ActionsAnswer, CallRequest, ToolResponse
from experiments.years.transcript import Outcome, Said, TurnRecord
from terms.strict_json import strict_dumps


class Kept(NamedTuple):
    """A turn that was carried out: its number, a digest of what was asked, and the body of the answer."""

    turn: int
    digest: str
    answer: bytes

    def is_repeated_by(self, said: Said, turn: int | None) -> bool:
        """Whether the same is said again; ``turn`` is ``None`` where the sender does not count."""
        return self.digest == turn_digest(said) and turn in (None, self.turn)


def said_by(calls: Sequence[CallRequest], content: str | None, key: str) -> Said:
    """Return what the agent said in the turn of ``key``. A call without an id is named after its place.

    Raises
    ------
    RequestError
        If two calls have one id, or the key is none.
    """
    if not (1 <= len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise RequestError(422, "invalid_request", f"a key is 1 to {MAX_KEY} printable ASCII characters", field="key")
    made = tuple(_tool_call(call, place) for place, call in enumerate(calls))
    ids = [call.id for call in made]
    for place, one in enumerate(ids):
        if one in ids[:place]:
            message = f"tool_calls.{place}.id={one!r} is that of another call of this turn"
            raise RequestError(422, "invalid_request", message, field=f"tool_calls.{place}.id")
    text = None if content is None else whole_characters(content)
    return Said(content=text, tool_calls=made)


def _tool_call(call: CallRequest, place: int) -> ToolCall:
    text = call.arguments if isinstance(call.arguments, str) else _json(call.arguments)
    own = f"call_{place}" if call.id is None else whole_characters(call.id)
    return ToolCall(id=own, name=whole_characters(call.name), arguments=whole_characters(text))


def _json(arguments: Any) -> str:
    """Return the text of the arguments; left out they are an empty object, as everywhere."""
    if is_too_deep(arguments):
        return TOO_DEEP
    return json.dumps({} if arguments is None else arguments, ensure_ascii=False, separators=(",", ":"))


def turn_digest(said: Said) -> str:
    """Return what tells this turn from another one that is sent with the same key."""
    text = strict_dumps([said.content, [call.model_dump() for call in said.tool_calls]])
    return hashlib.sha256(text.encode()).hexdigest()


def keep(record: TurnRecord, outcome: Outcome | None) -> Kept:
    """Return what is kept of a turn.

    It follows from the transcript alone, so the answer has the same bytes after a restart. ``outcome`` is that of the
    year after the turn.
    """
    answer = ActionsAnswer(
        turn=record.turn + 1,
        tool_responses=[ToolResponse(tool_call_id=told.call_id, content=told.content) for told in record.told],
        nudge=record.nudge,
        done=outcome is not None,
        outcome=outcome,
    )
    body = strict_dumps(answer.model_dump(mode="json")).encode()
    return Kept(record.turn, turn_digest(record.said), body)


def keep_all(records: Sequence[TurnRecord], outcome: Outcome | None) -> dict[str, Kept]:
    """Return what is kept of all turns so far, by key; only the last can have ended the year.

    A turn that was played in this process has no key, and nobody can send it again.
    """
    last = len(records) - 1
    return {
        record.key: keep(record, outcome if place == last else None)
        for place, record in enumerate(records)
        if record.key is not None
    }
