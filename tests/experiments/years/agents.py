"""A year run by a made-up model whose every number is known: what it was sent, said, paid, lost and wrote down."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.llm.errors import ProviderError
from experiments.llm.records import ToolCall, Usage
from experiments.years.run import run_year
from experiments.years.seats import PlainSeat
from experiments.years.sitting import YearSitting
from experiments.years.spec import YearSpec
from experiments.years.transcript import Eviction, NoteRecord, Said, Sent
from tests.experiments.report.cases import HOSTILE

WAIT = "wait_for_next_day"


def call(name, arguments=None, place=0) -> ToolCall:
    return ToolCall(id=f"c{place}", name=name, arguments=json.dumps(arguments or {}))


class Conducted:
    """Six days in eight turns: an idle turn, refused calls, an eviction, a summary, memos, prices known and unknown."""

    name = "made-up"

    def play(self, session: YearSitting) -> None:
        def turn(*calls, cost: int | None = 100, prompt: int | None = 1000, text=None, eviction=None, **more):
            usage = Usage(prompt_tokens=prompt, completion_tokens=10, cached_tokens=400 if prompt else None)
            said = Said(content=text, tool_calls=calls, usage=usage, microusd=cost, **more)
            number = session.num_turns
            notes = (f"harness {HOSTILE}",) if eviction else ()
            sent = Sent(call_id=f"q{number}", digest="0", num_messages=2, tokens=900, eviction=eviction, notes=notes)
            session.act(said, sent)

        memo = {"action": "add", "title": f"plan {HOSTILE}"[:100], "content": HOSTILE}
        turn(text=f"Let me think. {HOSTILE}", reasoning=f"private {HOSTILE}")
        turn(call("open_store", {"store_type": "beauty", "store_name": "B"}), call("fly", place=1), cost=None)
        turn(call("operate_memory", memo), call("withdraw", {"amount": "much"}, 1), call(WAIT, place=2))
        session.note(NoteRecord(kind="summary", turn=3, day=1, call_id="n", text=f"So far {HOSTILE}", microusd=50))
        gone = Eviction(num_groups=2, first_turn=0, last_turn=1, tokens_before=900, tokens_after=300)
        turn(call(WAIT), eviction=gone, prompt=None)
        for _ in range(4):
            turn(call(WAIT))


class Idler(Conducted):
    """An agent that is not a model of ours: nothing is known of what it was sent or paid."""

    name = "outside"

    def play(self, session: YearSitting) -> None:
        while not session.is_over:
            session.act(Said(tool_calls=(call(WAIT),)))


class Lost(Conducted):
    """A model whose provider fails after a turn."""

    name = "lost"

    def play(self, session: YearSitting) -> None:
        session.act(Said(tool_calls=(call(WAIT),)))
        raise ProviderError("nobody answers", status=503)


def play(agent, folder: Path, num_days=6) -> Path:
    """Run the year of ``agent`` into ``folder`` and return it."""
    seat = PlainSeat(agent.name, agent)
    run_year(folder, YearSpec(num_days=num_days), seat)
    return folder
