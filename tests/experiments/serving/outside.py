"""Agents outside: programs that know an address and a token, run in a process of their own by the tests.

``python -m tests.experiments.serving.outside http ADDRESS AGENT DAYS`` plays with our client, ``mcp`` and ``stdio``
with the official MCP client. The token is in the environment.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

from commerce.merchants.advice import PublicAdvice
from commerce.merchants.trading import TradingMerchant
from commerce.world import DEFAULT_SEED
from commerce.year import Result
from experiments.serving.client import YearClient, read_result
from experiments.serving.settings import TOKEN_VARIABLE, read_token

KEY_META = "terms-commerce/idempotency-key"


def merchant(num_days: int) -> TradingMerchant:
    """Return the rule-based merchant, which knows nothing that is not told."""
    return TradingMerchant(PublicAdvice(), num_days)


def play_http(address: str, agent: str, num_days: int) -> None:
    """Play a year over HTTP with our client."""
    with YearClient(address, read_token(), agent=agent) as client:
        merchant(num_days)(client.call)
        assert client.result()["outcome"] in ("finished", "bankrupt")


async def play_mcp(transport: Any, num_days: int) -> None:
    """Play a year with the MCP client; the merchant runs in a thread and its calls come back to the event loop."""
    from mcp import Client

    loop = asyncio.get_running_loop()
    async with Client(transport) as client:
        listed = await client.list_tools()
        assert len(listed.tools) == 18
        numbers = iter(range(10**9))

        async def call_tool(tool: str, arguments: Mapping[str, Any]) -> Result:
            meta: Any = {KEY_META: f"{next(numbers)}"}
            answer = await client.call_tool(tool, dict(arguments), meta=meta)
            (content,) = answer.content
            result = read_result(content.text)  # type: ignore[union-attr]
            assert answer.is_error == (not result.ok)
            return result

        def call(tool: str, arguments: Mapping[str, Any]) -> Result:
            return asyncio.run_coroutine_threadsafe(call_tool(tool, arguments), loop).result()

        await asyncio.to_thread(merchant(num_days), call)


async def play_mcp_http(address: str, agent: str, num_days: int) -> None:
    """Play a year over streamable HTTP."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {os.environ[TOKEN_VARIABLE]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
        await play_mcp(streamable_http_client(f"{address}/mcp?agent={agent}", http_client=client), num_days)


def over_stdio(folder: str, agent: str, num_days: int) -> Any:
    """Return the transport of a server that the client starts itself."""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    options = ["--mcp", "--out", folder, "--agent", agent, "--days", str(num_days), "--max-turns", "100000"]
    options += ["--seed", str(DEFAULT_SEED)]
    start = "from experiments.cli import main; main()"
    environment = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", start, "serve", *options], env=environment, cwd=os.getcwd()
    )
    return stdio_client(parameters, errlog=open(os.devnull, "w"))


def main(door: str, where: str, agent: str, days: str) -> None:
    """Play one year."""
    if door == "http":
        play_http(where, agent, int(days))
    elif door == "mcp":
        asyncio.run(play_mcp_http(where, agent, int(days)))
    else:
        asyncio.run(play_mcp(over_stdio(where, agent, int(days)), int(days)))


if __name__ == "__main__":
    main(*sys.argv[1:])
