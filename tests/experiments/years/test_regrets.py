"""The command that says where a year's money went: both layers, on any finished year, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commerce.merchants import build_merchant, play_year
from commerce.year import Year
from experiments.engine.folder import RunError
from experiments.engine.pool import worker_processes
from experiments.years.regrets import ledger_of
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import replay_year
from experiments.years.transcript import OUTCOME
from experiments.years.year_mode import read_year_result
from tests.experiments.years.test_rules_version import age

SPEC = YearSpec(world_seed=3, rules="fair", num_days=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    run_year(folder, SPEC, "rule-based")
    return folder


def played(name: str) -> Year:
    world, rules = SPEC.build_world(), SPEC.build_rules()
    return play_year(Year(world, rules), build_merchant(name, world, rules))


def test_the_command_shows_both_layers_to_the_fen(terms, folder):
    code, printed, _ = terms("ledger", folder, "--reference", "first-quote", "--json", "--workers", 1)
    found = json.loads(printed)
    statement, regret = found["statement"], found["regret"]
    assert code == 0
    assert sum(row["fen"] for row in statement["rows"]) == statement["final_fen"] - statement["initial_fen"]
    assert sum(row["part_fen"] for row in regret["rows"]) == regret["gap_fen"]
    assert regret["played_fen"] == statement["final_fen"]
    assert (regret["agent"], regret["reference"]) == ("rule-based", "first-quote")
    code, printed, _ = terms("ledger", folder, "--reference", "first-quote", "--workers", 1)
    assert (code, regret["sentence"] in printed) == (0, True)
    assert f"{(statement['final_fen'] - statement['initial_fen']) / 100:,.2f}" in printed
    adjusted = read_year_result(folder)["metrics"]["luck_adjusted_assets"]["value"]
    assert f"It ended with {statement['final_fen'] / 100:,.2f} yuan, {adjusted:,.2f} less what its draws" in printed


def test_a_year_in_memory_and_in_processes_has_the_ledger_of_its_folder(folder):
    header, year, _ = replay_year(folder)
    here = ledger_of(year, header.agent, "first-quote")
    with worker_processes(2) as executor:
        there = ledger_of(played("rule-based"), "rule-based", "first-quote", executor=executor)
    assert there.to_json_object() == here.to_json_object()


def test_the_reference_against_itself_lost_nothing():
    regret = ledger_of(played("first-quote"), "first-quote", "first-quote").regret
    assert [row[1:] for row in regret.rows] == [(0, 0, 0)] * 6


def test_the_reference_may_be_the_year_in_a_folder(folder, tmp_path):
    regret = ledger_of(played("rule-based"), "again", str(folder)).regret
    assert (regret.agent, regret.reference, regret.gap_fen) == ("again", "rule-based", 0)
    run_year(tmp_path / "other", YearSpec(num_days=2), "idle")
    with pytest.raises(ValueError, match="another world or by other rules"):
        ledger_of(played("rule-based"), "again", str(tmp_path / "other"))


def test_what_has_no_ledger(terms, folder, tmp_path):
    with pytest.raises(ValueError, match="reference='best' is no folder of a year and none of"):
        ledger_of(played("idle"), "idle", "best")
    with pytest.raises(ValueError, match="day 0 and not over"):
        ledger_of(Year(SPEC.build_world(), SPEC.build_rules()), "nobody")
    code, _, told = terms("ledger", tmp_path / "nowhere")
    assert (code, "nowhere" in told) == (2, True)


def test_an_unfinished_year_and_one_of_other_rules(tmp_path):
    for name in ("open", "old"):
        run_year(tmp_path / name, YearSpec(num_days=2), "idle")
    (tmp_path / "open" / OUTCOME).unlink()
    with pytest.raises(RunError, match="unfinished year"):
        replay_year(tmp_path / "open")
    age(tmp_path / "old")
    with pytest.raises(RunError, match="of version 1 cannot be played"):
        replay_year(tmp_path / "old")


def test_the_price_paid_is_divided_by_what_the_talks_cost():
    found = ledger_of(played("rule-based"), "rule-based", "first-quote")
    (part,) = (row.part_fen for row in found.regret.rows if row.stream == "price_paid")
    if part > 0:
        assert found.price_paid is not None
        assert sum(found.price_paid.values()) == part
        assert set(found.price_paid) == {"inference", "uncertainty", "control"}
    else:
        assert found.price_paid is None
