"""Years of another version of the rules are another game: read as what they are, and put beside no year of today."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from commerce.config import FAIR, PAPER
from experiments.comparing.years import read_outcomes
from experiments.engine.folder import RunError
from experiments.modes import check_folder
from experiments.report.years import report_years
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import RequestError
from experiments.storage.journal import HEADER, encode_line
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import read_excluded
from experiments.years.transcript import OUTCOME, TRANSCRIPT
from experiments.years.year_mode import read_year_header
from tests.experiments.folders import rewrite_log

SPEC = YearSpec(num_days=2)
WHY = rf"rules='paper' of version 1 cannot be played or compared here, where they have version {PAPER.version}"


def age(folder):
    """Take the version of the rules out of a header, as it was stored before the rules had one."""
    header = json.loads((folder / HEADER).read_text())["data"]
    del header["spec"]["rules_version"]
    (folder / HEADER).write_bytes(encode_line(header))
    rewrite_log(folder / TRANSCRIPT, list)


@pytest.fixture
def years(tmp_path):
    """Return a year of today and one of before the rules had versions."""
    run_year(tmp_path / "now", SPEC, "idle")
    shutil.copytree(tmp_path / "now", tmp_path / "before")
    age(tmp_path / "before")
    return tmp_path / "now", tmp_path / "before"


def test_the_version_is_stored_and_what_was_stored_without_one_is_the_first(years):
    assert [read_year_header(folder).spec.rules_version for folder in years] == [PAPER.version, 1]
    assert YearSpec.model_validate({}).rules_version == YearSpec().rules_version == PAPER.version
    assert YearSpec(rules="fair").rules_version == FAIR.version != PAPER.version
    assert json.loads(SPEC.model_dump_json())["rules_version"] == PAPER.version


def test_another_version_is_not_played_or_gone_on_with(years):
    with pytest.raises(ValueError, match=WHY):
        SPEC.model_copy(update={"rules_version": 1}).build_rules()
    with pytest.raises(RunError, match=rf"spec.rules_version: 1 there, {PAPER.version} now"):
        run_year(years[1], SPEC, "idle")
    (finding,) = check_folder(years[1])[0]
    assert re.match(WHY, finding)


def test_no_comparison_and_no_report_holds_another_version(years, tmp_path):
    assert read_outcomes(years[:1], "final_assets").values
    with pytest.raises(RunError, match=rf"before: {WHY}"):
        read_outcomes(years, "final_assets")
    with pytest.raises(RunError, match=rf"before: {WHY}"):
        report_years(years, tmp_path / "page.html", title="t")
    assert not (tmp_path / "page.html").exists()
    outcome = json.loads((years[1] / OUTCOME).read_text())
    (years[1] / OUTCOME).write_text(json.dumps({**outcome, "outcome": "budget", "is_scored": False}))
    with pytest.raises(RunError, match=WHY):
        read_excluded(years[1])


def test_a_server_does_not_go_on_with_a_year_of_another_version(tmp_path):
    settings = ServeSettings(out=tmp_path, num_days=2)
    with ServedYears(settings) as served:
        served.open("me", 0)
    age(settings.folder("me", 0))
    with ServedYears(settings) as served, pytest.raises(RequestError, match="of other settings or of another version"):
        served.open("me", 0)


def test_changed_rules_are_another_game_that_is_recorded(tmp_path):
    spec = SPEC.model_copy(update={"changes": {"ending": "drawn", "price_band": {"low": 0.5, "high": 2.0}}})
    rules = spec.build_rules()
    assert (rules.ending, rules.price_band.high, rules.num_days) == ("drawn", 2.0, 2)
    assert spec.rules_label == 'paper (ending="drawn", price_band={"low": 0.5, "high": 2.0})'
    assert spec.folder_name != SPEC.folder_name
    run_year(tmp_path / "changed", spec, "idle")
    run_year(tmp_path / "usual", SPEC, "idle")
    assert read_year_header(tmp_path / "changed").spec == spec
    values = read_outcomes([tmp_path / "changed", tmp_path / "usual"], "final_assets").values
    assert len(values["idle"]) == 2  # not two runs of one game


@pytest.mark.parametrize(
    ("changes", "why"), [({"endign": 1}, "endign"), ({"ending": "soon"}, "ending"), ({"num_days": 9}, "num_days")]
)
def test_what_is_no_change_of_rules_is_refused(changes, why):
    with pytest.raises(ValueError, match=why):
        SPEC.model_copy(update={"changes": changes}).build_rules()
