"""The eighteen tools over the Model Context Protocol, by standard input and output or by streamable HTTP.

Each tool call is one turn of the year. A client that may repeat a call sends a key of its own in the call's ``_meta``;
without one, each call is a new turn. Over HTTP the year is named by the address, ``/mcp?agent=NAME&run=0``, and nothing
else is remembered, so a client goes on after a restart of the server.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

import terms
from commerce.setting import Setting
from experiments.serving.served_year import ServedYear
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import MAX_NAME, CallRequest, RequestError, SessionInfo, log_error
from terms.strict_json import strict_dumps

KEY_META, TURN_META = "terms-commerce/idempotency-key", "terms-commerce/turn"
DEFAULT_AGENT = "mcp"

Context = ServerRequestContext[Any, Any]
_T = TypeVar("_T")
Find = Callable[[Context], ServedYear]


def briefing_text(settings: ServeSettings) -> str:
    """Return what every agent is told first, as one text; it depends on rules and limits, not on the world's seed."""
    spec, seat = settings.spec(DEFAULT_AGENT, 0), settings.seat(DEFAULT_AGENT)
    setting = Setting(spec.build_world(), spec.build_rules())
    return "\n\n".join(str(message["content"]) for message in seat.opening(setting).messages)


def build_server(find: Find, instructions: str) -> Server[Any]:
    """Return a server of the year that ``find`` names for a request.

    ``instructions`` are the briefing: many clients show them to their model by themselves, and a prompt only on demand.
    """

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        info = await _info(find, context)
        functions = [tool["function"] for tool in info.tools]
        return types.ListToolsResult(
            tools=[
                types.Tool(name=one["name"], description=one["description"], input_schema=one["parameters"])
                for one in functions
            ],
        )

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        def work() -> str:
            return play_call(find(context), params.name, params.arguments, context.meta or {})

        try:
            text = await _in_thread(work)
        except RequestError as fault:  # a model can read this and mend it; an error of the protocol would end it
            text = strict_dumps({"ok": False, **fault.to_json_object()})
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, is_error=not json.loads(text)["ok"])

    async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="brief", description="What every agent is told.")])

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != "brief":
            raise MCPError(types.INVALID_PARAMS, f"name={params.name!r:.80}: the one prompt is 'brief'")
        info = await _info(find, context)
        texts = [types.TextContent(type="text", text=str(one["content"])) for one in info.messages]
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text) for text in texts])

    return Server(
        "terms-commerce",
        version=terms.__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def play_call(year: ServedYear, name: str, arguments: Mapping[str, Any] | None, meta: Mapping[str, Any]) -> str:
    """Play one call as a turn and return its answer; ``meta`` may hold the turn's key and its number."""
    key, turn = meta.get(KEY_META), meta.get(TURN_META)
    if key is None:
        key = secrets.token_hex(16)
    if not isinstance(key, str):
        raise RequestError(422, "invalid_request", f"_meta[{KEY_META!r}]={key!r:.40} must be a string")
    if turn is not None and type(turn) is not int:
        raise RequestError(422, "invalid_request", f"_meta[{TURN_META!r}]={turn!r:.40} must be a number")
    if len(name) > MAX_NAME:
        raise RequestError(422, "invalid_request", f"name={name!r:.40}... has more than {MAX_NAME} characters")
    call = CallRequest(name=name, arguments=dict(arguments or {}))
    (response,) = json.loads(year.act([call], key, turn=turn))["tool_responses"]
    return str(response["content"])


async def _info(find: Find, context: Context) -> SessionInfo:
    """Return what is told of the year; what is wrong with the request becomes an error of the protocol."""
    try:
        return await _in_thread(lambda: find(context).info())
    except RequestError as fault:
        raise MCPError(types.INVALID_REQUEST, fault.message, fault.to_json_object()["error"]) from None


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Run ``work`` beside the event loop; an exception is logged and only its number told."""
    try:
        return await anyio.to_thread.run_sync(work)
    except RequestError:
        raise
    except Exception as error:  # noqa: BLE001 - the fence: the library would send its text to the agent
        raise log_error("MCP", error) from None


async def serve_stdio(sessions: ServedYears, agent: str, run: int) -> None:
    """Serve one year until the input ends."""
    year = sessions.open(agent, run)
    server = build_server(lambda context: year, briefing_text(sessions.settings))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def find_by_address(sessions: ServedYears) -> Find:
    """Return a finder of the year that the address of an HTTP request names."""

    def find(context: Context) -> ServedYear:
        assert context.request is not None  # set for every message that came by HTTP
        query = context.request.query_params
        run = query.get("run", "0")
        if not run.isdecimal() or len(run) > 4:
            raise RequestError(422, "invalid_request", f"run={run!r:.40} must be a number from 0 to 9999", field="run")
        return sessions.open(query.get("agent", DEFAULT_AGENT), int(run))

    return find
