# inspect-evals-lint: ignore-file[external_dependencies] -- commerce and terms are packages of this repository
"""The store year under Inspect: who runs it and how it is scored.

A sample is a year in a world of its own, under the rules of every agent: answers, turn
limits and idle turns are those of :class:`experiments.years.sitting.YearSitting`. Retries, costs and logs are
Inspect's; when a context is full, Inspect's own trimming takes out the oldest messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commerce.config import rules_named
from commerce.money import to_yuan
from commerce.replay import recordable
from commerce.world import generate_world
from commerce.year import Year
from experiments.extras import need
from experiments.llm.records import ToolCall
from experiments.llm.replies import common_finish
from experiments.llm.texts import whole_characters
from experiments.years.briefing import make_opening
from experiments.years.limits import Limits
from experiments.years.sitting import YearSitting
from experiments.years.transcript import Said
from terms.strict_json import strict_dumps

need("inspect", "inspect_ai")

from inspect_ai.model import (  # noqa: E402 - only after its absence was named
    ChatMessage,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    trim_messages,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, solver  # noqa: E402
from inspect_ai.tool import Tool, ToolDef, ToolParams  # noqa: E402
from inspect_ai.tool import ToolCall as InspectCall  # noqa: E402
from inspect_ai.util import JSONSchema  # noqa: E402

AGENT = "inspect"
SCORE_KEY = "store_year"


@solver
def run_store(rules: str, num_days: int, max_turns: int) -> Solver:
    """Return the solver that runs a sample's year with the model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = open_year(state.metadata["world_seed"], rules, num_days, Limits(max_turns=max_turns))
        state.tools = [as_tool(schema["function"]) for schema in session.tools]
        system, user = (str(message["content"]) for message in session.opening.messages)
        state.messages = [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
        while not session.is_over:
            state.store.set(SCORE_KEY, unfinished(session))  # a limit of Inspect's ends the sample from outside
            state = await generate(state, tool_calls="none")
            if state.output.stop_reason == "model_length" and len(state.messages) > 3:
                state.messages = await trim_messages(state.messages[:-1])
                continue
            state.messages += answers(session, state.output)
        state.store.set(SCORE_KEY, score_year(session))
        state.completed = True
        return state

    return solve


@scorer(metrics={"final_assets": [mean(), stderr()], "multiplier": [mean(), stderr()]})
def final_assets() -> Scorer:
    """Return the scorer: bank, wallet and escrow at the end in yuan, and over the initial balance."""

    async def score(state: TaskState, target: Target) -> Score:
        result: dict[str, Any] = state.store.get(SCORE_KEY)
        value = {name: result[name] for name in ("final_assets", "multiplier")}
        return Score(value=value, explanation=f"{result['outcome']}: {result['detail']}", metadata=result)

    return score


def open_year(world_seed: int, rules: str, num_days: int, limits: Limits) -> YearSitting:
    """Return a year at its first morning."""
    rule_set = rules_named(rules).model_copy(update={"num_days": num_days})
    year = Year(generate_world(world_seed, rule_set), rule_set)
    return YearSitting(year, make_opening(AGENT, year.setting, limits), limits)


def answers(session: YearSitting, output: ModelOutput) -> list[ChatMessage]:
    """Carry out what the model said and return the messages that answer it."""
    message = output.message
    asked = message.tool_calls or []
    calls = tuple(
        ToolCall(id=f"call_{place}", name=whole_characters(call.function), arguments=arguments_of(call))
        for place, call in enumerate(asked)
    )
    said = Said(
        content=whole_characters(message.text), tool_calls=calls, finish_reason=common_finish(output.stop_reason)
    )
    answer = session.act(said)
    if answer.nudge is not None:
        return [ChatMessageUser(content=answer.nudge)]
    return [
        ChatMessageTool(content=told.content, tool_call_id=call.id, function=told.name)
        for call, told in zip(asked, answer.told, strict=True)
    ]


def arguments_of(call: InspectCall) -> str:
    """Return the arguments as text. Those that Inspect could not read it replaces by none at all, a sound call."""
    if call.parse_error:
        return f"unreadable: {whole_characters(call.parse_error)}"
    stored = recordable(call.arguments)
    return stored if isinstance(stored, str) else strict_dumps(stored)


def unfinished(session: YearSitting) -> dict[str, Any]:
    """Return the numbers of a year that goes on: what stands if a message or token limit of Inspect's ends it now."""
    return {**numbers(session), "outcome": "unfinished", "detail": "a limit of Inspect's ended the sample"}


def score_year(session: YearSitting) -> dict[str, Any]:
    """End the year of a session that is over and return its numbers."""
    outcome, detail = session.outcome, session.detail
    session.year.stop()
    return {**numbers(session), "outcome": outcome, "detail": detail}


def numbers(session: YearSitting) -> dict[str, Any]:
    """Return assets, turns and days of a year so far."""
    year = session.year
    return {
        "final_assets": to_yuan(year.final_fen),
        "multiplier": year.final_fen / year.setting.rules.initial_fen,
        "turns": session.num_turns,
        "days": year.state.day,
    }


def as_tool(function: Mapping[str, Any]) -> Tool:
    """Return a tool that only describes itself to a model; the year carries its calls out."""

    async def execute() -> str:
        raise RuntimeError("the solver carries out the calls")

    schema = function["parameters"]
    properties = {
        name: JSONSchema.model_validate({"description": name.replace("_", " "), **part})
        for name, part in schema["properties"].items()
    }
    parameters = ToolParams(properties=properties, required=list(schema.get("required", [])))
    return ToolDef(execute, name=function["name"], description=function["description"], parameters=parameters).as_tool()
