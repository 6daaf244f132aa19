"""The page about agents at one table: strict HTML, shares that add up, ties, and what is refused."""

import pytest

from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.matches.match_task import MATCHES
from experiments.matches.rivals import Rivals
from experiments.matches.tournament import find_matches, run_tournament
from experiments.players.player import as_player
from experiments.report.matches_page import LOST, build_matches_report, matches_headline
from terms.agents import build_scripted
from tests.experiments.folders import run_cli
from tests.experiments.report.pages import Page, faults_of

SPEC = SuiteSpec.parse("fresh", n_per_cell=1, seed=5, regimes=["overlap"], families=["candid"])
NAMES = ("patient", "conceder", "fixed-0.30")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tournament")
    run_tournament([as_player(build_scripted(name)) for name in NAMES], SPEC, path)
    return path


@pytest.fixture(scope="module")
def runs(folder):
    return [load_run(MATCHES, table) for table in find_matches([folder])]


def test_a_tournament_is_told_with_ratings_splits_and_every_pair(runs):
    html = build_matches_report(runs, title="Tables <b>")
    page = Page(html)
    assert faults_of(page) == []
    assert {section["id"] for section in page.of("section")} == {"answer", "ratings", "pairs"}
    assert "Of 3 agents " in page.words
    assert html.split('aria-label="Every pair"')[1].split("</table>")[0].count("<tr>") == 1 + 6
    assert any(svg["aria-label"].startswith("How the surplus is split") for svg in page.of("svg"))


def test_a_single_match_has_no_ratings(runs):
    page = Page(build_matches_report(runs[:1], title="x"))
    assert faults_of(page) == []
    assert "ratings" not in {section["id"] for section in page.of("section")}
    assert " make " in page.words


def test_shares_and_what_was_lost_add_up(runs):
    from experiments.report.matches_page import _tables

    tables = _tables(runs)
    for table in tables:
        assert sum(part.estimate for part in table.parts.values()) == pytest.approx(1)
        assert table.parts[LOST].estimate >= -1e-9
    assert matches_headline(None, tables).startswith(f"{tables[0].first} and {tables[0].second} make ")


def test_what_does_not_belong_together_is_refused(runs, tmp_path):
    with pytest.raises(ValueError, match="runs is empty"):
        build_matches_report([], title="x")
    with pytest.raises(ValueError, match="twice; name each match once"):
        build_matches_report([runs[0], runs[0]], title="x")
    other = SPEC.model_copy(update={"seed": 6})
    rivals = Rivals(*(as_player(build_scripted(name)) for name in ("boulware", "patient")))
    stranger = run_task(MATCHES, rivals, other, tmp_path)
    with pytest.raises(ValueError, match="on another suite"):
        build_matches_report([runs[0], stranger], title="x")


def test_the_command_takes_a_tournament_and_its_tables(folder, tmp_path):
    code, stdout, _ = run_cli("report", str(folder), "--out", str(tmp_path / "t.html"))
    assert (code, "report:" in stdout) == (0, True)
    assert "Of 3 agents" in (tmp_path / "t.html").read_text()
    code, _, stderr = run_cli("report", str(folder), "--beliefs", "--out", str(tmp_path / "m.html"))
    assert code == 2
    assert "folders of matches and tournaments alone" in stderr
