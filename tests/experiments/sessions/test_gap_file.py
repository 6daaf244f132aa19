"""``gap.json`` is checked wherever it is read: an altered number, another run's file, and what is not checked."""

from __future__ import annotations

import json
import shutil

import pytest

from experiments.engine.run import load_run, run_task
from experiments.engine.verify import verify_run
from experiments.sessions.folder import GAP
from experiments.sessions.gap import sessions_gap
from experiments.sessions.gap_file import NOT_CHECKED, WORTH, gap_bytes, gap_findings, read_gap, write_gap
from experiments.sessions.session_task import SESSIONS
from oracle.bankroll.menu import MenuSettings, sample_outcomes
from oracle.bankroll.worth import session_worth
from oracle.player_registry import build_player
from terms.agents import build_scripted
from tests.experiments.folders import run_cli
from tests.experiments.sessions.test_gap import CHAIN, RULES, SPEC


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    """A run of an agent whose replies are spoilt at times, and the split of its gap."""
    folder, agent = tmp_path_factory.mktemp("split"), build_player("faulty-execution")
    run = run_task(SESSIONS, agent, SPEC, folder)
    outcomes = sample_outcomes(CHAIN, SPEC.economics, RULES, MenuSettings(num_suppliers=8, num_judged=1))
    worth = session_worth(outcomes, RULES, num_groups=2)
    write_gap(run, sessions_gap(run, agent, worth), worth)
    return folder


@pytest.fixture
def folder(split, tmp_path):
    return shutil.copytree(split, tmp_path / "run")


def altered(folder, path, value):
    """Write ``value`` (or what it makes of the old one) at ``path`` of the file and return what is found wrong."""
    found = json.loads((folder / GAP).read_text())
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    found.pop("checksum", None)
    (folder / GAP).write_bytes(gap_bytes(found))
    return gap_findings(load_run(SESSIONS, folder))


def test_what_was_written_is_read_and_verified(folder):
    parts, worth = read_gap(load_run(SESSIONS, folder))
    written = json.loads((folder / GAP).read_text())
    assert [list(part) for part in parts.values()] == [
        [row[name] for name in ("estimate", "low", "high", "n")] for row in written["rows"]
    ]
    assert set(worth) == set(WORTH)
    assert verify_run(SESSIONS, folder) == []
    code, stdout, _ = run_cli("verify", str(folder))
    assert code == 0
    assert NOT_CHECKED in " ".join(stdout.split())


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("rows", 9, "estimate"), 999.25, "estimate of caution is 999.25"),
        (("rows", 3, "low"), -0.01, "low of execution"),
        (("rows", 3, "n"), 3, "n of execution is 3"),
        (("rows", 0, "part"), "noise", "part of played is noise"),
        (("rows",), lambda rows: rows[:-1], "rows are 10; there are 11 parts"),
        (("required_sessions", "gap", "low"), 1, "required_sessions are not"),
        (("balances", "played", 1), lambda cash: cash + 0.01, "which the log does not give"),
        (("balances", "aware", 0), lambda cash: cash + 1, "estimate of reference"),
        (("sessions",), [0, 2], "are not the sessions with a result"),
        (("excluded",), [1], "are not the sessions with a result"),
        (("digest",), "0" * 64, "digest is not that of the sessions played"),
        (("agent_settings",), {"model": "another"}, "agent_settings is not that"),
        (("spec", "bankroll", "period_cost_cents"), 700, "spec is not that of the sessions played"),
        (("agent",), "somebody", "agent is not that of the sessions played"),
        (("balances", "known"), [1.0], "is not what terms bankroll --gap writes"),
        (("worth",), {}, "is not what terms bankroll --gap writes"),
        (("rows",), None, "is not what terms bankroll --gap writes"),
    ],
)
def test_one_altered_value_is_found(folder, path, value, says):
    found = altered(folder, path, value)
    assert says in found[0]
    assert verify_run(SESSIONS, folder) == found
    with pytest.raises(ValueError, match=GAP):
        read_gap(load_run(SESSIONS, folder))


def test_where_nothing_was_repaired_base_is_as_played(tmp_path):
    """A faultless agent's ``base`` stands in the log: moved together with ``execution`` it is found all the same."""
    agent = build_scripted("fixed-0.30")
    run = run_task(SESSIONS, agent, SPEC, tmp_path)
    outcomes = sample_outcomes(CHAIN, SPEC.economics, RULES, MenuSettings(num_suppliers=8, num_judged=1))
    worth = session_worth(outcomes, RULES, num_groups=2)
    write_gap(run, sessions_gap(run, agent, worth), worth)
    assert gap_findings(run) == []
    assert "balances of base have" in altered(tmp_path, ("balances", "base", 0), lambda cash: cash + 5)[0]


def test_the_gap_of_another_run_of_the_same_agent_is_refused(folder, tmp_path):
    other = SPEC.model_copy(update={"chain": CHAIN.model_copy(update={"seed": 77})})
    run = run_task(SESSIONS, build_player("faulty-execution"), other, tmp_path / "other")
    shutil.copy(folder / GAP, run.folder / GAP)
    found = gap_findings(run)[0]
    assert "digest is not that of the sessions played" in found
    assert "which the log does not give" in found


def test_what_is_no_json_is_a_finding(folder):
    (folder / GAP).write_text('{"agent": NaN')
    assert "is not what terms bankroll --gap writes" in verify_run(SESSIONS, folder)[0]
    (folder / GAP).unlink()
    assert verify_run(SESSIONS, folder) == []
