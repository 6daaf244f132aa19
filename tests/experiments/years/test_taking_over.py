"""Branches on disk: whoever decides the same gets the same year, whoever else goes on leaves a year like any other."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from commerce.branching import View
from commerce.merchants import MERCHANTS
from commerce.merchants.simple import IdleMerchant
from commerce.replay import DivergedError
from experiments.fault_server import FaultServer
from experiments.llm.records import ToolCall
from experiments.modes import check_folder
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import CallRequest
from experiments.storage.journal import HEADER
from experiments.years.run import run_year
from experiments.years.seats import MerchantSeat, PlainSeat, merchant_seat
from experiments.years.sitting import YearSitting
from experiments.years.spec import YearSpec
from experiments.years.story import read_story
from experiments.years.taking_over import branch_seat, read_origin
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Said, read_transcript
from experiments.years.year_mode import RESULT, STORE_CALLS, read_store_calls, read_year_result

DAYS = 24
SPEC = YearSpec(rules="fair", num_days=DAYS)
FILES = (HEADER, TRANSCRIPT, STORE_CALLS, RESULT, OUTCOME)
WAIT = ToolCall(id="w", name="wait_for_next_day", arguments="{}")


class Same(IdleMerchant):
    """Goes on as another did, calls that are refused included."""

    def __init__(self, folder: Path) -> None:
        self._calls = read_store_calls(folder)

    def take_over(self, view: View) -> None:
        for entry in self._calls[view.num_calls :]:
            view.call(entry.tool, entry.arguments)


class Waiting:
    """An agent that speaks: it waits until the year is over."""

    name = "waiting"

    def play(self, session: YearSitting) -> None:
        while not session.is_over:
            session.act(Said(tool_calls=(WAIT,)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run_year(folder, SPEC, "rule-based")
    return folder


def branched(whole: Path, day: int, seat, folder: Path, spec: YearSpec = SPEC) -> Path:
    run_year(folder, spec, branch_seat(read_origin(whole, day), seat))
    return folder


def test_the_same_decisions_give_the_same_year_on_any_of_twenty_days(whole, tmp_path):
    before, calls = read_year_result(whole), read_store_calls(whole)
    for day in random.Random(1).sample(range(DAYS + 1), 20):
        found = branched(whole, day, MerchantSeat("same", Same(whole)), tmp_path / str(day))
        after = read_year_result(found)
        assert {name for name in before if after[name] != before[name]} == {"agent"}
        assert read_store_calls(found) == calls


def test_taking_over_on_the_last_day_changes_nothing(whole, tmp_path):
    for name in MERCHANTS:
        found = read_year_result(branched(whole, DAYS, merchant_seat(name), tmp_path / name))
        assert found["state_digest"] == read_year_result(whole)["state_digest"]


def test_a_branch_is_checked_and_read_like_any_year(whole, tmp_path):
    found = branched(whole, 9, merchant_seat("idle"), tmp_path / "year")
    assert check_folder(found) == ([], [])
    story = read_story(found)
    assert story.header.agent == "idle from day 9 of rule-based"
    assert story.transcript is None
    assert {call.tool for call in story.calls if call.day >= 10} == {"wait_for_next_day"}
    again = tmp_path / "again"
    run_year(again, SPEC, branch_seat(read_origin(found, 15), merchant_seat("first-quote")))
    assert check_folder(again) == ([], [])
    assert read_story(again).header.agent == "first-quote from day 15 of idle from day 9 of rule-based"


def test_what_went_before_is_pinned(whole, tmp_path):
    origin = read_origin(whole, 9)
    seat = branch_seat(origin, merchant_seat("idle"))
    other = seat.point.model_copy(update={"digest": "0" * 16})
    found = tmp_path / "year"
    run_year(found, SPEC, type(seat)(seat.successor, other, seat.calls))
    (finding,) = check_folder(found)[0]
    assert finding == f"the first {len(origin.calls)} calls are not those of rule-based before the branch"
    changed = origin.calls[5]._replace(result="0" * 16)
    with pytest.raises(DivergedError, match="call 5"):
        run_year(tmp_path / "new", SPEC, type(seat)(seat.successor, seat.point, (*origin.calls[:5], changed)))


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.6, 0.95])
def test_a_branch_that_was_interrupted_is_finished_to_the_same_bytes(whole, tmp_path, kept):
    assert_finished_alike(whole, SPEC, tmp_path, kept)


@pytest.mark.parametrize("aid", ["enforce", "auto-withdrawal"])
def test_the_branch_of_a_year_with_aids_has_them(tmp_path, aid):
    bare, aided, draws = tmp_path / "bare", tmp_path / "aided", random.Random(aid)
    spec = YearSpec(rules="fair", num_days=45, aids=(aid,))  # within these days a move is held back
    run_year(bare, spec.model_copy(update={"aids": ()}), "rule-based")
    run_year(aided, spec, "rule-based")
    result, calls = read_year_result(aided), read_store_calls(aided)
    assert result["state_digest"] != read_year_result(bare)["state_digest"]
    for day in draws.sample(range(1, spec.num_days), 2):
        found = branched(aided, day, MerchantSeat("same", Same(aided)), tmp_path / f"same-{day}", spec)
        assert read_year_result(found) == {**result, "agent": f"same from day {day} of rule-based"}
        assert read_store_calls(found) == calls
    assert_finished_alike(aided, spec, tmp_path, 0.7)
    assert check_folder(tmp_path / "torn") == ([], [])


def assert_finished_alike(whole: Path, spec: YearSpec, tmp_path: Path, kept: float) -> None:
    """A branch of which a share was kept is taken up again, and ends as the unbroken one."""
    found = branched(whole, 9, merchant_seat("first-quote"), tmp_path / "whole", spec)
    there = {name: (found / name).read_bytes() for name in FILES}
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / HEADER).write_bytes(there[HEADER])
    (torn / TRANSCRIPT).write_bytes(there[TRANSCRIPT][: int(kept * len(there[TRANSCRIPT]))])
    branched(whole, 9, merchant_seat("first-quote"), torn, spec)
    assert {name: (torn / name).read_bytes() for name in FILES} == there


def test_another_merchant_cannot_go_on_with_a_branch(whole, tmp_path):
    found = branched(whole, 9, merchant_seat("idle"), tmp_path / "year")
    (found / OUTCOME).unlink()
    lines = (found / TRANSCRIPT).read_bytes().splitlines(keepends=True)
    (found / TRANSCRIPT).write_bytes(b"".join(lines[:-1]))
    with pytest.raises(DivergedError, match="the journal says"):
        branched(whole, 9, MerchantSeat("idle", Same(whole)), found)
    with pytest.raises(ValueError, match="plain cannot take over a year"):
        branched(whole, 9, MerchantSeat("plain", lambda call: None), tmp_path / "plain")


def test_an_agent_that_speaks_is_told_what_it_takes_over(whole, tmp_path):
    found = branched(whole, 20, PlainSeat("waiting", Waiting()), tmp_path / "year")
    assert check_folder(found) == ([], [])
    told = read_transcript(found)
    assert len(told.turns) == DAYS - 20
    assert told.opening.agent == "waiting from day 20 of rule-based"
    assert "on 2026-01-21, day 20. Until this morning others ran the business" in told.opening.messages[-1]["content"]
    run_year(tmp_path / "next", SPEC, branch_seat(read_origin(found, 22), merchant_seat("rule-based")))
    assert check_folder(tmp_path / "next") == ([], [])


def test_an_agent_outside_takes_over_and_goes_on_after_a_restart(whole, tmp_path):
    settings = ServeSettings(out=tmp_path, origin=(whole, 21))
    with ServedYears(settings) as sessions:
        year = sessions.open("guest", 0)
        assert "day 21. Until this morning" in year.info().messages[-1]["content"]
        first = year.act([CallRequest(name="wait_for_next_day")], "0", turn=0)
        assert json.loads(json.loads(first)["tool_responses"][0]["content"])["time"]["day"] == 22
    with ServedYears(settings) as sessions:
        year = sessions.open("guest", 0)
        assert year.act([CallRequest(name="wait_for_next_day")], "0", turn=0) == first
        for turn in (1, 2):
            year.act([CallRequest(name="wait_for_next_day")], str(turn), turn=turn)
        assert year.is_over
        other = sessions.open("guest", 1)
        other.finish()
    for run in (0, 1):
        assert check_folder(settings.folder("guest", run)) == ([], [])


def test_the_command_says_what_the_branch_is_worth(terms, whole, tmp_path):
    code, printed, told = terms("branch", whole, "--day", 9, "--merchant", "idle", "--json")
    assert code == 0
    found = json.loads(printed)
    assert "finished" in told
    assets = {name: found[name]["final_assets"] for name in ("year", "branch")}
    assert assets["year"] == read_year_result(whole)["metrics"]["final_assets"]["value"]
    assert found["worth"] == pytest.approx(assets["branch"] - assets["year"], abs=1e-9)
    folder = tmp_path / "runs/year-idle-from-day-9-of-rule-based-fair" / SPEC.folder_name
    assert Path(found["branch"]["folder"]) == folder
    for command in (("verify", folder), ("report", folder, whole, "--out", "page.html"), ("compare", folder, whole)):
        assert terms(*command)[0] == 0
    code, printed, _ = terms("branch", whole, "--day", DAYS, "--agent", "first-quote", "--out", "last")
    assert (code, "+0.00 yuan  is the branch worth" in printed) == (0, True)


def test_a_model_takes_over(terms, whole, tmp_path):
    with FaultServer() as server:
        agent = ("--agent", f"openai:shop/idle/{DAYS}", "--base-url", server.url)
        code, printed, told = terms("branch", whole, "--day", 22, *agent, "--out", "model")
        assert code == 0
        assert f"openai:shop/idle/{DAYS} from day 22 of rule-based (finished)" in printed
        assert "cost: $" in told
        lost = ("--agent", f"openai:shop/idle/{DAYS}/fault:no_credit", "--base-url", server.url)
        code, _, told = terms("branch", whole, "--day", 22, *lost)
        assert (code, "EXCLUDED: 1 of 1" in told) == (3, True)
    assert terms("verify", tmp_path / "model")[0] == 0
    assert len(read_transcript(tmp_path / "model").turns) == 2
    assert read_story(tmp_path / "model").transcript is not None


@pytest.mark.parametrize(
    ("day", "options", "says"),
    [
        (9, ("--agent", "nobody"), "agent='nobody', allowed are idle"),
        (9, ("--agent", "idle", "--memory", "ledger"), "not a language model"),
        (DAYS + 1, ("--agent", "idle"), f"has the mornings of days 0 to {DAYS}"),
        (-1, ("--agent", "idle"), "--day"),
    ],
)
def test_bad_input_is_named(terms, whole, tmp_path, day, options, says):
    code, printed, told = terms("branch", whole, "--day", day, *options)
    assert code == 2
    assert says in told.replace("\n", " ")
    assert (printed, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize(
    ("outcome", "says"), [(None, "unfinished year"), ("provider_fault", "a year without a score (provider_fault)")]
)
def test_a_year_that_has_not_ended_cannot_be_branched(terms, whole, tmp_path, outcome, says):
    shutil.copytree(whole, tmp_path / "year")
    row = json.loads((whole / OUTCOME).read_text()) | {"outcome": outcome, "is_scored": False}
    (tmp_path / "year" / OUTCOME).unlink()
    if outcome is not None:
        (tmp_path / "year" / OUTCOME).write_text(json.dumps(row))
    code, _, told = terms("branch", "year", "--day", 3, "--agent", "idle")
    assert (code, says in told) == (2, True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--from", "nowhere"), "YEAR@DAY"),
        (("--from", "year@x"), "YEAR@DAY"),
        (("--from", "year@9", "--seed", "3"), "leave out --seed"),
        (("--from", "year@99"), f"has the mornings of days 0 to {DAYS}"),
    ],
)
def test_what_cannot_be_served_is_named(terms, whole, tmp_path, options, says):
    shutil.copytree(whole, tmp_path / "year")
    code, printed, told = terms("serve", "--http", *options)
    assert (code, printed, says in told) == (2, "", True)
