"""Agents compared on the worlds they share, by hand and by the command."""

from __future__ import annotations

import json

import pytest

from experiments.comparing.years import YearOutcomes, compare_years, read_outcomes
from experiments.engine.header import make_header
from experiments.storage.journal import HEADER, encode_line
from experiments.years.spec import YearSpec
from experiments.years.summary import BETTER, YEAR_METRICS
from experiments.years.transcript import OUTCOME, Outcome, OutcomeRecord
from experiments.years.year_mode import RESULT
from terms.strict_json import strict_dumps


def test_paired_by_world_by_hand():
    """Eight worlds, two years of x in each; differences 1 to 8: mean 4.5, error sqrt(6 / 8), t = 5.196, p = 0.00126."""
    worlds = {str(world): 10.0 * world for world in range(1, 9)}
    x = {world: [base + int(world) - 1, base + int(world) + 1] for world, base in worlds.items()}
    outcomes = YearOutcomes({"x": {**x, "alone": [0.0]}, "y": {world: [base] for world, base in worlds.items()}}, {})
    (found,) = compare_years(outcomes, "final_assets").differences
    assert (found.first, found.second, found.n) == ("x", "y", 8)
    assert found.estimate == pytest.approx(4.5)
    assert found.p == pytest.approx(0.00126, abs=1e-5)
    half = 2.364624 * (6 / 8) ** 0.5
    assert (found.low, found.high) == (pytest.approx(4.5 - half), pytest.approx(4.5 + half))
    assert found.pairing.correlation == pytest.approx(1.0, abs=1e-3)


def test_years_of_another_length_are_refused():
    outcomes = YearOutcomes({"x": {"d/paper/60": [1.0]}, "y": {"d/paper/20": [2.0]}}, {})
    with pytest.raises(ValueError, match=r"x and y have nothing in common .*'d/paper/60', y has 'd/paper/20'"):
        compare_years(outcomes, "final_assets")


def test_lower_is_better_where_it_is():
    values = {"x": {str(n): [9.0 + n] for n in range(9)}, "y": {str(n): [1.0] for n in range(9)}}
    groups = {m: compare_years(YearOutcomes(values, {}), m).groups for m in BETTER}
    assert groups["final_assets"] == (("x",), ("y",))
    assert groups["bad_spend_pct"] == (("y",), ("x",))
    assert set(BETTER) <= set(YEAR_METRICS)


def test_the_command_compares_folders_of_years(terms, tmp_path):
    for agent in ("idle", "random-legal"):
        terms("year", "--agent", agent, "--days", 4, "--worlds", 3)
    base = tmp_path / "runs"
    code, printed, told = terms("compare", base / "year-idle-paper", base / "year-random-legal-paper", "--json")
    assert code == 0
    (found,) = json.loads(printed)["differences"]
    assert (found["first"], found["second"], found["n"]) == ("idle", "random-legal", 3)
    code, printed, _ = terms("compare", *base.glob("*/*"), "--metric", "is_bankrupt")
    assert "not enough to say" in printed
    (base / "year-idle-paper" / "world-20260122-days-4" / "result.json").unlink()
    _, _, told = terms("compare", *base.glob("*"))
    assert "EXCLUDED: " in told
    assert "(unfinished)" in told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("runs/year-idle-paper",), "needs at least 2"),
        (("runs/year-idle-paper", "--metric", "beauty"), "metric='beauty', allowed are final_assets"),
        (("runs/year-idle-paper", "elsewhere"), "name years alone"),
        (("runs/year-idle-paper", "--separation"), "leave it out"),
    ],
)
def test_what_cannot_be_compared_is_named(terms, tmp_path, arguments, says):
    terms("year", "--agent", "idle", "--days", 1)
    (tmp_path / "elsewhere").mkdir()
    code, _, told = terms("compare", *arguments)
    assert code == 2
    assert says in told.replace("\n", " ")


def test_a_result_that_lies_beside_an_outcome_without_a_score_is_excluded(tmp_path):
    """A file that was left or copied there is no score; neither is one of a year whose end was not written."""
    folders = []
    for place, outcome in enumerate((Outcome.FINISHED, Outcome.PROVIDER_FAULT, None)):
        folder = tmp_path / str(place)
        folder.mkdir()
        folders.append(folder)
        header = make_header("year", "m", YearSpec(num_days=3, world_seed=place), {"world": "d"}, {"limits": {}})
        (folder / HEADER).write_bytes(encode_line(header.model_dump(mode="json")))
        (folder / RESULT).write_text(strict_dumps({"metrics": {"final_assets": {"value": 7.0}}}))
        if outcome is not None:
            record = OutcomeRecord(outcome=outcome, detail="", is_scored=outcome.is_scored, turns=1, days=1, end=None)
            (folder / OUTCOME).write_text(record.model_dump_json())
    found = read_outcomes(folders, "final_assets")
    assert found.values == {"m": {"d/paper/3": [7.0]}}
    assert found.excluded == {folders[1]: "provider_fault", folders[2]: "unfinished"}
