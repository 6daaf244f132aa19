"""The Inspect task, run by Inspect with its mock model."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from inspect_ai.tool import ToolDef

from commerce.config import rules_named
from commerce.tools import tool_schemas
from commerce.world import generate_world
from commerce.year import Year
from experiments.adapters.inspect_task.negotiation_solver import negotiate, surplus
from experiments.adapters.inspect_task.store_solver import as_tool, final_assets, run_store
from terms.episode import play
from terms.suites import fresh_suite
from terms.types import Accept, Offer
from tests.experiments.folders import REPOSITORY


@pytest.fixture(scope="module")
def inspected(tmp_path_factory):
    """Return the samples by script, all run in one process."""
    names = ("waits", "idle", "long", "odd", "message_limit", "token_limit", "negotiation")
    folder = tmp_path_factory.mktemp("inspect")
    command = [sys.executable, "-m", "tests.experiments.adapters.inspected", str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    samples = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {name: [one for one in samples if one["script"] == name] for name in names}


def firm(seen):
    """Do what the mock model says in the negotiation."""
    if seen.accept_utility is not None and seen.accept_utility > 0:
        return Accept()
    return Offer(seen.reservation_price)


def test_a_negotiation_is_the_one_that_any_agent_plays(inspected):
    suite = {each.scenario_id: each for each in fresh_suite(1_000_000, ["overlap"], ["candid", "adversarial"], 1)}
    assert len(inspected["negotiation"]) == len(suite) == 8
    for one in inspected["negotiation"]:
        scenario = suite[one["id"]]
        record = play(scenario, firm)
        assert one["score"] == {"share": record.utility / scenario.zopa, "deal": 1.0, "violations": 0}
        assert one["why"] == record.termination.value
        assert one["roles"][:2] == ["system", "user"]
        assert one["roles"][-1] == "assistant"


def test_solvers_and_scorers_take_what_the_tasks_give_them():
    assert callable(negotiate({}, corrections=0))
    assert callable(run_store("paper", 3, 10))
    assert callable(surplus())
    assert callable(final_assets())


def played(world_seed, *, is_opened):
    """Return the assets after the same year in this process, in yuan."""
    rules = rules_named("paper").model_copy(update={"num_days": 6})
    year = Year(generate_world(world_seed, rules), rules)
    if is_opened:
        year.call("open_store", {"store_type": "beauty", "store_name": "B"})
    while not year.call("wait_for_next_day", {}).is_over:
        pass
    return year.final_fen / 100


def test_a_task_runs_each_world_to_its_end(inspected):
    first, second = inspected["waits"]
    assert first["score"]["final_assets"] == played(5, is_opened=True)
    assert second["score"]["final_assets"] == played(6, is_opened=False)  # the mock opens its store once
    assert first["score"]["multiplier"] == first["score"]["final_assets"] / 100_000
    assert first["why"] == "finished: max_days_reached"
    assert first["roles"] == ["system", "user"] + ["assistant", "tool"] * 7
    assert first["tools"] == 18


def test_a_model_that_only_talks_is_stopped_as_everywhere(inspected):
    for one in inspected["idle"]:
        assert one["why"].startswith("agent_stopped: 3 turns in a row")
        assert one["roles"] == ["system", "user"] + ["assistant", "user"] * 3


def test_a_full_context_is_trimmed_and_the_year_goes_on(inspected):
    first, _ = inspected["long"]
    assert first["why"] == "finished: max_days_reached"
    assert len(first["roles"]) <= 10


def test_calls_that_were_not_read_or_not_whole_are_refused(inspected):
    first, _ = inspected["odd"]
    told = [json.loads(text) for text in first["told"]]
    codes = [one["error"]["code"] if "error" in one else None for one in told]
    assert codes == ["malformed_arguments"] * 3 + ["filtered_reply", "truncated_reply", None, None]
    assert (told[-2]["time"]["day"], first["why"][:13]) == (0, "agent_stopped")


@pytest.mark.parametrize("name", ["message_limit", "token_limit"])
def test_a_limit_of_inspects_own_scores_the_year_so_far_as_unfinished(inspected, name):
    for one in inspected[name]:
        assert one["why"] == "unfinished: a limit of Inspect's ended the sample"
        assert 0 < one["score"]["final_assets"] <= 100_000


def test_the_schemas_go_to_inspect_as_they_are():
    for schema in tool_schemas():
        assert ToolDef(as_tool(schema["function"])).name == schema["function"]["name"]


@pytest.mark.doors
def test_the_linter_of_the_public_register_has_nothing_against_it():
    command = [sys.executable, "-m", "inspect_evals_lint", "--root", str(REPOSITORY), "--preset", "single-eval"]
    command += ["--task", "experiments/adapters/inspect_task/tasks.py", "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False, timeout=60)
    found = json.loads(done.stdout)
    assert done.returncode == 0, found["packages"][0]["diagnostics"]
    assert found["passed"]
