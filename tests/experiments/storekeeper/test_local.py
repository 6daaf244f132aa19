"""The small local model runs a store: badly, but every turn is one the loop can handle, and the year verifies."""

from __future__ import annotations

import pytest

from commerce.tools import TOOLS
from experiments.modes import check_folder
from experiments.players.model_options import ModelOptions
from experiments.storekeeper.connect import connected, plan_seat
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.transcript import Outcome, read_transcript


@pytest.mark.real_llm
def test_two_turns_of_a_real_model(tmp_path):
    options = ModelOptions.of(**{"max_turns": 2})
    planned = plan_seat("local", options)
    spec = YearSpec(num_days=10)
    with connected(planned, options, []) as seat:
        ended = run_year(tmp_path, spec, seat).outcome
    assert ended.outcome in (Outcome.AGENT_STOPPED, Outcome.FINISHED)
    turns = read_transcript(tmp_path).turns
    assert [call.name in TOOLS for turn in turns for call in turn.said.tool_calls] == [True] * len(turns)
    assert check_folder(tmp_path) == ([], [])
