"""terms year with a model: what counts, what is excluded and said aloud, exit codes, many years at once."""

from __future__ import annotations

import json

import pytest

from experiments.fault_server import FaultServer
from experiments.years.transcript import TRANSCRIPT, read_outcome
from experiments.years.year_mode import RESULT

IDLE = "openai:shop/idle/3"


@pytest.fixture(scope="module")
def url():
    with FaultServer() as server:
        yield server.url


def test_a_model_runs_years_in_several_worlds_at_once(terms, url, tmp_path):
    command = ("year", "--agent", IDLE, "--base-url", url, "--days", 3, "--worlds", 2, "--workers", 2, "--seed", 4)
    code, printed, told = terms(*command, "--model", "memory=ledger", "--json")
    assert code == 0
    summary = json.loads(printed)
    assert (summary["final_assets"]["estimate"], summary["final_assets"]["n"]) == (100_000, 2)
    assert summary["excluded"] == []
    assert {one["agent"] for one in summary["years"]} == {f"{IDLE}+ledger"}
    assert told.count(": finished, ") == 2
    folders = list((tmp_path / "runs").glob("*/*"))
    assert {folder.name for folder in folders} == {"world-4-days-3", "world-5-days-3"}
    for folder in folders:
        assert terms("verify", folder)[0] == 0
    code, printed, _ = terms("cost", folders[0])
    assert code == 0
    assert "settled        $" in printed
    spent = [read_outcome(folder).spending for folder in folders]
    dollars, num = sum(one.settled_microusd for one in spent) / 1e6, sum(one.num_settled for one in spent)
    assert dollars > 0
    assert f"cost: ${dollars:.6f} in {num} answers" in told
    assert "WARNING" not in told


def test_a_cost_that_nobody_stated_is_said_aloud(terms, url):
    told = terms("year", "--agent", f"{IDLE}/fault:no_cost", "--base-url", url, "--days", 2)[2]
    assert "cost: $" not in told
    assert "price unknown" in told
    assert "attempts is unknown and in no sum" in told


def test_what_a_provider_lost_is_excluded_aloud_and_taken_up_by_the_same_command(terms, url, tmp_path):
    command = ("year", "--agent", f"{IDLE}/fault:no_credit", "--base-url", url, "--days", 2)
    code, printed, told = terms(*command, "--json")
    assert code == 3
    assert json.loads(printed)["excluded"][0]["outcome"] == "provider_fault"
    assert "EXCLUDED: 1 of 1 years are in no number (provider_fault)" in told
    assert not list(tmp_path.rglob(RESULT))


def test_a_ceiling_ends_with_its_own_code_and_a_higher_one_goes_on(terms, url, tmp_path):
    command = ("year", "--agent", IDLE, "--base-url", url, "--days", 3, "--out", "year")
    code, _, told = terms(*command, "--budget-usd", "0.03")
    assert code == 4
    assert "spending ceiling" in told
    (before,) = tmp_path.rglob(TRANSCRIPT)
    done = b"".join(before.read_bytes().splitlines(keepends=True)[:-1])  # without the end of the sitting
    assert terms(*command, "--budget-usd", "1")[0] == 0
    assert before.read_bytes().startswith(done)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--agent", "rule-based", "--model", "memory=ledger"), "not a language model"),
        (("--agent", "rule-based", "--budget-usd", "1"), "not a language model"),
        (("--agent", "openai:m"), "needs --base-url"),
        (("--agent", "openrouter:a/b"), "OPENROUTER_API_KEY"),
        (("--agent", "local", "--model", "effort=low"), "one fixed way"),
        (("--agent", "nobody"), "agent='nobody', allowed are idle"),
    ],
)
def test_bad_input_is_named(terms, tmp_path, monkeypatch, options, says):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    code, printed, told = terms("year", *options, "--days", 2)
    assert code == 2
    assert says in told.replace("\n", " ")
    assert printed == ""
    assert not list(tmp_path.rglob(TRANSCRIPT))


def test_merchants_run_in_processes(terms, tmp_path):
    code, printed, _ = terms("year", "--agent", "idle", "--days", 2, "--worlds", 2, "--workers", 2, "--json")
    assert code == 0
    assert json.loads(printed)["final_assets"]["n"] == 2


@pytest.mark.parametrize(
    ("fault", "code", "outcome", "says"),
    [
        ("attached_wanted", 0, "finished", ""),
        ("call_whole_floats", 0, "finished", ""),
        ("reject_schema_ranges", 0, "finished", ""),
        ("reject_system_role", 0, "finished", ""),
        ("reject_attached", 0, "finished", ""),
        ("malformed_call", 0, "agent_stopped", ""),
        ("call_thrown_away", 0, "agent_stopped", ""),
        ("prompt_filtered", 0, "agent_stopped", ""),
        ("context_overflow_gemini", 0, "agent_fault", ""),
        ("no_tools", 3, "provider_fault", "--model tool_mode=json"),
        ("calls_as_text", 3, "provider_fault", "--model tool_mode=json"),
        ("attached_missing", 3, "provider_fault", "reasoning_content is missing"),
        ("bad_key", 3, "provider_fault", "No auth credentials found"),
        ("no_path", 3, "provider_fault", "Not Found"),
        ("quota_spent", 3, "provider_fault", "insufficient_quota"),
    ],
)
def test_what_becomes_of_a_year_whose_server_has_a_fault(terms, url, fault, code, outcome, says):
    agent = f"{IDLE}/fault:{fault}"
    ended, _, told = terms("year", "--agent", agent, "--base-url", url, "--days", 3, "--out", "out")
    assert ended == code
    assert f": {outcome}" in told.replace("\n", " ")
    assert says in told
