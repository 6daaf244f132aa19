"""What a server can do with a model, found out by one question each and half a minute's patience.

Asked are the list of models, a word, an object of a schema, and a tool call. Everything else is read off the answers:
usage, price, latency, the effort that was applied, the context.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from experiments.llm.client import ChatClient
from experiments.llm.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    ModelCallError,
    ModelNotFound,
    SettingRefused,
    ToolsUnavailable,
)
from experiments.llm.free_text import blank_thinking
from experiments.llm.records import Completion
from experiments.llm.settings import Effort, ModelSettings, Prices
from experiments.llm.spending import Meter, dollars_text
from experiments.llm.transport import ListedModel

Grade = Literal["yes", "partly", "no", "unknown"]
SECONDS, OUTPUT_TOKENS = 30.0, 1024
"""Longest wait for an answer, and its limit where none is given; reasoning has to fit it."""
WORD = "pong"
_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}, "number": {"type": "number"}},
    "required": ["word", "number"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "note_number",
        "description": "Take a number down.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer", "description": "the number"}},
            "required": ["number"],
        },
    },
}


class Capability(NamedTuple):
    """One thing that was found out about a server."""

    name: str
    grade: Grade
    says: str


@dataclass
class Probe:
    """What was found out so far; ``prices`` and ``context_tokens`` as far as the server says them."""

    settings: ModelSettings
    findings: list[Capability] = field(default_factory=list)
    models: tuple[ListedModel, ...] = ()
    answer: Completion | None = None
    taken_effort: Effort | None = None
    """The next lower effort that the server takes, where it refuses the one asked for; the rest is asked with it."""
    num_calls: int = 0
    microusd: int | None = 0

    @property
    def is_usable(self) -> bool:
        """Whether the model answers at all."""
        return self.answer is not None

    @property
    def listed(self) -> ListedModel | None:
        """What the list of models says about this one."""
        return next((one for one in self.models if one.id == self.settings.model), None)

    @property
    def prices(self) -> Prices | None:
        """The price list: that of the settings, else that of the server, else one made of the answer's cost."""
        if self.settings.prices is not None:
            return self.settings.prices
        if self.listed is not None and self.listed.prices is not None:
            return self.listed.prices
        usage = self.answer.usage if self.answer else None
        if usage is None or not usage.cost_microusd or not usage.prompt_tokens:
            return None
        per_million = usage.cost_microusd * 1_000_000 // (usage.prompt_tokens + (usage.completion_tokens or 0))
        return Prices(prompt=per_million, completion=per_million)

    def add(self, name: str, grade: Grade, says: str) -> None:
        """Take a finding down."""
        self.findings.append(Capability(name, grade, says))

    def to_json_object(self) -> dict[str, Any]:
        """Return the findings as JSON types."""
        return {
            "model": self.settings.model,
            "url": self.settings.url,
            "usable": self.is_usable,
            "findings": [one._asdict() for one in self.findings],
            "models": [one.id for one in self.models],
            "calls": self.num_calls,
            "microusd": self.microusd,
        }


def probe(settings: ModelSettings, meter: Meter) -> Iterator[Probe]:
    """Ask the server, yielding what is known after every question.

    Raises
    ------
    BudgetExceeded
        If a question could pass the ceiling of ``meter``; what was found out until then was yielded.
    """
    patient: dict[str, Any] = {"timeout_s": min(settings.timeout_s, SECONDS), "max_retries": 1, "max_wait_s": 5.0}
    found = Probe(settings.model_copy(update=patient))
    client = ChatClient(found.settings, meter=meter)
    try:
        for question in (_ask_models, _ask_word, _ask_schema, _ask_tools):
            question(client if found.taken_effort is None else _with_effort(client, found, found.taken_effort), found)
            spent = meter.spending
            found.num_calls, found.microusd = spent.num_settled + spent.num_unknown, spent.settled_microusd
            yield found
            if question is _ask_word and not found.is_usable:
                return
    finally:
        client.close()


def _ask_models(client: ChatClient, found: Probe) -> None:
    try:
        found.models = client.models()
    except ModelCallError as error:
        found.add("list of models", "unknown", _line(error))
        return
    if found.listed is not None:
        found.add("list of models", "yes", f"{found.settings.model} is one of {len(found.models)}")
    else:
        names = ", ".join(one.id for one in found.models[:5])
        found.add("list of models", "partly", f"{found.settings.model} is not among {len(found.models)}: {names}")


def _ask(client: ChatClient, what: str, text: str, **how: Any) -> Completion:
    return client.complete([{"role": "user", "content": text}], call_id=f"check/{what}", **how)


def _ask_word(client: ChatClient, found: Probe) -> None:
    try:
        reply = found.answer = _ask(client, "word", f"Answer with the one word {WORD}.")
    except SettingRefused as error:
        lower = _ask_lower(client, found)
        found.add("effort", "no", f"{_line(error)}; it takes {found.taken_effort or 'none of the lower ones'}")
        if lower is None:
            return
        reply = found.answer = lower
    except BudgetExceeded:
        raise
    except ModelCallError as error:
        is_key, is_model = isinstance(error, AuthenticationFailed), isinstance(error, ModelNotFound)
        found.add("key" if is_key else "model" if is_model else "answers", "no", _line(error))
        return
    text = blank_thinking(reply.text or "").strip()
    served = " / ".join(filter(None, (reply.applied.model, reply.applied.provider)))
    found.add("answers", "yes" if text else "partly", f"{text[:40]!r} from {served or 'an unnamed model'}")
    _read_off(reply, found)


def _read_off(reply: Completion, found: Probe) -> None:
    """Take down what an ordinary answer tells beside its words."""
    usage, asked = reply.usage, found.settings.effort
    found.add("latency", "yes", f"{reply.latency_s:.2f} s")
    if usage.prompt_tokens is None:
        found.add("usage", "no", "the server states no tokens; the context is measured in characters")
    else:
        thought = f", {usage.reasoning_tokens} of them reasoning" if usage.reasoning_tokens else ""
        found.add("usage", "yes", f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out{thought}")
    if usage.cost_microusd is not None:
        found.add("price", "yes", f"stated with each answer; this one {dollars_text(usage.cost_microusd)}")
    elif found.prices is not None:
        found.add("price", "yes", "by a price list")
    else:
        found.add("price", "no", "unknown: set prices, else costs stay unknown and a budget counts guesses")
    if asked is not None and found.taken_effort is None:
        applied = reply.applied.effort
        said = "nothing is said about it" if applied is None else f"{applied} was applied"
        found.add("effort", "yes" if applied == asked else "unknown" if applied is None else "no", f"{asked}: {said}")
    context = found.listed.context_tokens if found.listed else None
    said = "not said" if context is None else f"{context:,} tokens"
    found.add("context", "unknown" if context is None else "yes", said)
    if reply.applied.refused:
        found.add("request", "partly", f"refused and asked without: {', '.join(reply.applied.refused)}")


def _with_effort(client: ChatClient, found: Probe, effort: Effort) -> ChatClient:
    return client.asked_with(found.settings.model_copy(update={"effort": effort}))


def _ask_lower(client: ChatClient, found: Probe) -> Completion | None:
    """Ask with the next lower effort that the server takes, one question each; ``None`` where none is answered."""
    efforts: list[Effort] = list(get_args(Effort))
    asked = efforts.index(found.settings.effort) if found.settings.effort else 0
    for effort in reversed(efforts[1:asked]):
        try:
            reply = _ask(_with_effort(client, found, effort), f"effort-{effort}", f"Answer with the one word {WORD}.")
        except SettingRefused:
            continue
        except ModelCallError:
            return None
        found.taken_effort = effort
        return reply
    return None


def _ask_schema(client: ChatClient, found: Probe) -> None:
    def judge() -> Capability:
        text = f'Answer with one JSON object whose "word" is "{WORD}" and whose "number" is 7.'
        reply = _ask(client, "schema", text, schema=_SCHEMA, schema_name="word")
        try:
            is_right = set(json.loads(blank_thinking(reply.text or ""))) == {"word", "number"}
        except (ValueError, TypeError):
            is_right = False
        refused = reply.applied.refused
        how = "no JSON mode" if "response_format" in refused else "JSON mode, no schema" if refused else "JSON schema"
        kept = "kept to" if is_right else f"not kept to: {(reply.text or '')[:40]!r}"
        return Capability(
            "JSON", "yes" if is_right and not refused else "partly" if is_right else "no", f"{how}, {kept}"
        )

    _take(found, "JSON", judge)


def _ask_tools(client: ChatClient, found: Probe) -> None:
    def judge() -> Capability:
        try:
            reply = _ask(client, "tools", "Take down the number 7 with the tool.", tools=[_TOOL])
        except ToolsUnavailable as error:
            return Capability("tools", "no", f"{_line(error)}; years need --model tool_mode=json")
        if reply.tool_calls:
            call = reply.tool_calls[0]
            return Capability("tools", "yes", f"{call.name}({call.arguments[:40]})")
        return Capability("tools", "no", f"no call but {(reply.text or '')[:60]!r}; years need --model tool_mode=json")

    _take(found, "tools", judge)


def _take(found: Probe, name: str, judge: Callable[[], Capability]) -> None:
    try:
        found.findings.append(judge())
    except BudgetExceeded:
        raise
    except ModelCallError as error:
        found.add(name, "no", _line(error))


def _line(error: ModelCallError) -> str:
    return str(error)[:300]
