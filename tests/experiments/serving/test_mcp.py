"""The MCP server with the official client, in this process; another process is in ``test_reproduction``."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from commerce.tools import tool_schemas
from experiments.serving.mcp_server import KEY_META, TURN_META, briefing_text, build_server
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.years.limits import Limits
from tests.experiments.serving.hosting import SECRET, open_session, send


def played(play, *, mode="auto", **options):
    """Run ``play(client, year)`` against a year in memory."""

    def run(folder):
        async def session():
            with ServedYears(ServeSettings(out=folder, num_days=5, **options)) as sessions:
                year = sessions.open("a", 0)
                server = build_server(lambda context: year, briefing_text(sessions.settings))
                async with Client(server, mode=mode) as client:
                    return await play(client, year)

        return asyncio.run(session())

    return run


def text_of(answer):
    (content,) = answer.content
    return content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_and_the_briefing_are_those_of_every_agent(tmp_path, mode):
    async def play(client, year):
        tools = (await client.list_tools()).tools
        functions = [schema["function"] for schema in tool_schemas()]
        assert [tool.name for tool in tools] == [one["name"] for one in functions]
        assert [tool.input_schema for tool in tools] == [one["parameters"] for one in functions]
        assert [tool.description for tool in tools] == [one["description"] for one in functions]
        (prompt,) = (await client.list_prompts()).prompts
        briefing = await client.get_prompt(prompt.name)
        assert [message.content.text for message in briefing.messages] == [
            one["content"] for one in year.info().messages
        ]
        with pytest.raises(Exception, match="the one prompt is 'brief'"):
            await client.get_prompt("other")
        told = "\n\n".join(message.content.text for message in briefing.messages)
        assert client.instructions == told

    played(play, mode=mode)(tmp_path)


def test_the_briefing_is_the_same_in_every_world_of_a_server(tmp_path):
    settings = ServeSettings(out=tmp_path, num_days=5, limits=Limits(max_turns=77))
    with ServedYears(settings) as sessions:
        for run in (0, 1, 5):
            messages = sessions.open("a", run).info().messages
            assert "\n\n".join(one["content"] for one in messages) == briefing_text(settings)


def test_a_call_is_a_turn_and_a_key_makes_it_one_turn(tmp_path):
    async def play(client, year):
        first = await client.call_tool("wait_for_next_day", {}, meta={KEY_META: "k"})
        again = await client.call_tool("wait_for_next_day", {}, meta={KEY_META: "k"})
        assert text_of(first) == text_of(again)
        assert year.next_turn == 1
        await client.call_tool("wait_for_next_day", {})
        await client.call_tool("wait_for_next_day", {}, meta={KEY_META: "l", TURN_META: 2})
        assert year.next_turn == 3
        return json.loads(text_of(first))

    assert played(play)(tmp_path)["time"]["day"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "meta", "code"),
    [
        ("fly", {}, {}, "unknown_tool"),
        ("withdraw", {"amount": "x"}, {}, "invalid_arguments"),
        ("withdraw", {"amount": 1e300}, {}, None),
        ("withdraw", {}, {KEY_META: 7}, "invalid_request"),
        ("withdraw", {}, {KEY_META: ""}, "invalid_request"),
        ("withdraw", {}, {KEY_META: "k" * 201}, "invalid_request"),
        ("withdraw", {}, {KEY_META: "clé"}, "invalid_request"),
        ("w" * 201, {}, {}, "invalid_request"),
        ("withdraw", {}, {TURN_META: "1"}, "invalid_request"),
        ("withdraw", {}, {TURN_META: 3}, "wrong_turn"),
        ("withdraw", {}, {KEY_META: "used"}, "key_reused"),
    ],
)
def test_what_is_wrong_is_an_answer_a_model_can_read(tmp_path, name, arguments, meta, code):
    async def play(client, year):
        await client.call_tool("check_balance", {}, meta={KEY_META: "used"})
        answer = await client.call_tool(name, arguments, meta=meta or None)
        assert answer.is_error
        found = json.loads(text_of(answer))
        assert not found["ok"]
        assert code is None or found["error"]["code"] == code

    played(play)(tmp_path)


def test_a_call_after_the_end_says_so(tmp_path):
    async def play(client, year):
        for _ in range(5):
            await client.call_tool("wait_for_next_day", {})
        assert year.is_over
        answer = await client.call_tool("wait_for_next_day", {})
        assert json.loads(text_of(answer))["error"]["code"] == "year_over"

    played(play)(tmp_path)


@asynccontextmanager
async def over_http(address, query, secret=SECRET):
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=30) as http,
        Client(streamable_http_client(f"{address}/mcp{query}", http_client=http)) as client,
    ):
        yield client


def test_http_and_mcp_are_two_doors_to_one_year(address, agent):
    async def play():
        async with over_http(address, f"?agent={agent}&run=1") as client:
            await client.call_tool("wait_for_next_day", {})

    asyncio.run(play())
    session = open_session(address, agent, 1)
    assert send(address, "GET", f"/v1/session?session={session}")[1]["turn"] == 1


@pytest.mark.parametrize("query", ["?agent=../x", "?run=x", "?run=-1", "?run=10000", "?agent="])
def test_an_address_that_names_no_year_is_said_to_be_wrong(address, query):
    async def play():
        async with over_http(address, query) as client:
            answer = await client.call_tool("wait_for_next_day", {})
            assert json.loads(text_of(answer))["error"]["code"] == "invalid_request"
            with pytest.raises(Exception, match=r"run|agent"):
                await client.list_tools()

    asyncio.run(play())


def test_the_wrong_token_opens_no_door(address):
    async def play():
        async with over_http(address, "?agent=a", secret="x" * 20) as client:
            await client.list_tools()

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(play())
    assert caught.group_contains(MCPError)


def test_what_goes_wrong_inside_is_logged_and_not_told(tmp_path, monkeypatch, caplog):
    def broken(self):
        raise OSError("no space left on /secret/place")

    async def play(client, year):
        monkeypatch.setattr("experiments.serving.served_year.ServedYear.info", broken)
        monkeypatch.setattr("experiments.serving.served_year.ServedYear.act", lambda *args, **options: broken(None))
        answer = await client.call_tool("wait_for_next_day", {})
        assert json.loads(text_of(answer))["error"]["code"] == "internal_error"
        assert "secret" not in text_of(answer)
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
        assert "secret" not in str(caught.value)

    played(play)(tmp_path)
    assert [str(record.exc_info[1]) for record in caplog.records] == ["no space left on /secret/place"] * 2
