"""What one model call costs the harness beside the bare ``openai`` client: ``python -m tests.bench.model_calls``.

A server in a process of its own answers at once. Shown is the processor time of this process for a call, the median of
many, each with one turn more in the window than the one before: small, and around the published context of 480 KB.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import openai

from commerce.tools import tool_schemas
from experiments.fault_server import FaultServer
from experiments.llm.calls import CallLog
from experiments.llm.client import ChatClient
from experiments.llm.kept import keep_json
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.storekeeper.window import Gauge, Window

MODEL = "shop/rule-based/365"
CALLS = 40
SIZES = (2_000, 480_000)
TURN = 2_000
"""Characters of one turn."""


def _turn(number: int) -> tuple[dict[str, object], ...]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "check_balance", "arguments": "{}"}}
    rows = [{"product_id": f"SKU-{number}-{row}", "price": 12.5 + row, "title": "Café “set”"} for row in range(24)]
    told = json.dumps(rows, ensure_ascii=False)[:TURN]
    assistant: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": [call]}
    return assistant, {"role": "tool", "tool_call_id": f"c{number}", "content": told}


def _median_ms(call: Callable[[int], object]) -> float:
    spent = []
    for number in range(CALLS):
        start = time.process_time()
        call(number)
        spent.append(time.process_time() - start)
    return 1e3 * statistics.median(spent[CALLS // 10 :])


def bare(url: str) -> float:
    """Return the milliseconds of a small request through the client that everybody has."""
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "x" * SIZES[0]}]
    return _median_ms(lambda number: client.chat.completions.create(model=MODEL, messages=messages))


def harness(url: str, size: int) -> float:
    """Return the milliseconds of one call through ours, window and call log included, at about ``size`` characters."""
    tools = [keep_json(tool) for tool in tool_schemas()]
    opening = ({"role": "system", "content": "You run a store."}, {"role": "user", "content": "Begin."})
    window = Window(Gauge(), opening, json.dumps(tools))
    for number in range(max(0, size // TURN - CALLS // 2)):
        window.add(number, _turn(number))
    with tempfile.TemporaryDirectory() as folder:
        log = CallLog(Path(folder) / "calls.jsonl")
        client = ChatClient(ModelSettings(model=MODEL, base_url=url), meter=Meter(), log=log)

        def call(number: int) -> None:
            window.digest()
            client.complete(window.messages(), call_id=f"bench/{number}", tools=tools)
            window.add(number, _turn(10_000 + number))

        try:
            return _median_ms(call)
        finally:
            client.close()
            log.close()


def main() -> None:
    """Measure and print."""
    if len(sys.argv) == 2:
        small = bare(sys.argv[1])
        sys.stdout.write(f"bare client, {SIZES[0] / 1e3:.0f} KB   {small:6.2f} ms of processor a call\n")
        for size in SIZES:
            found = harness(sys.argv[1], size)
            sys.stdout.write(f"harness, {size / 1e3:5.0f} KB   {found:6.2f} ms, {found - small:+.2f} beside it\n")
        return
    with FaultServer() as server:
        subprocess.run([sys.executable, "-m", "tests.bench.model_calls", server.url], check=True)


if __name__ == "__main__":
    main()
