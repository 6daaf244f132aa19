"""Years in memory and models that follow a script."""

from __future__ import annotations

import functools
import itertools
import json

from commerce.config import PAPER
from commerce.year import Year
from experiments.llm.records import Completion, ToolCall, Usage
from experiments.llm.settings import ModelSettings
from experiments.storekeeper.keeper import Storekeeper
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.years.sitting import YearSitting
from experiments.years.spec import YearSpec

WAIT, BALANCE = "wait_for_next_day", "check_balance"


@functools.cache
def world():
    return YearSpec().build_world()


def new_year(num_days=3) -> Year:
    return Year(world(), PAPER.model_copy(update={"num_days": num_days}))


def calls(*named, text=None, **more) -> Completion:
    """Return a reply with calls: names, or pairs of a name and its arguments."""
    made = []
    for place, one in enumerate(named):
        name, arguments = one if isinstance(one, tuple) else (one, {})
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        made.append(ToolCall(id=f"c{place}", name=name, arguments=written))
    return Completion(text=text, tool_calls=tuple(made), **{"finish_reason": "tool_calls", **more})


def used(prompt_tokens: int) -> Usage:
    return Usage(prompt_tokens=prompt_tokens, completion_tokens=1, cost_microusd=prompt_tokens)


def session_of(settings=None, num_days=3, past=(), lines=None) -> YearSitting:
    seat = StorekeeperSeat("m", ModelSettings(model="m"), settings or StorekeeperSettings())
    year = new_year(num_days)
    opening = seat.opening(year.setting)
    kept = [] if lines is None else lines
    return YearSitting(year, opening, seat.limits, lambda *new: kept.extend(new), past, seat.guard())


def keeper_of(client, settings=None, **more) -> Storekeeper:
    return Storekeeper(client, "m", 7, settings or StorekeeperSettings(), **more)


def assert_paired(messages) -> None:
    """Every call is answered right behind its message, in order, and no answer stands alone."""
    rest = iter(messages)
    roles = []
    for message in rest:
        roles.append(message["role"])
        assert message["role"] != "tool", "an answer without its call"
        ids = [call["id"] for call in message.get("tool_calls", ())]
        answers = list(itertools.islice(rest, len(ids)))
        assert [answer.get("tool_call_id") for answer in answers] == ids
        assert all(answer["role"] == "tool" for answer in answers)
        if ids:
            roles.append("tool")
    assert roles[:2] == ["system", "user"]
    assert all(pair != ("user", "user") for pair in itertools.pairwise(roles))
