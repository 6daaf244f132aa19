"""The page about sessions and the money of commerce played: strict HTML, every figure, hostile names, a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from commerce.bankroll import BankrollConfig
from commerce.economics import EconomicsConfig
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.plots.sessions import plot_balances
from experiments.report import build_report
from experiments.report.reporting import report_run
from experiments.report.sessions_page import (
    SESSION_HEADLINE,
    _view,
    build_sessions_report,
    costliest_periods,
    report_sessions,
)
from experiments.sessions.folder import GAP
from experiments.sessions.gap_file import NOT_CHECKED, WORTH, gap_bytes, write_gap
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from experiments.sessions.summary import SESSION_METRICS
from oracle.bankroll.session_arms import SessionArms, split_gap
from oracle.parts import SUMMANDS
from terms.agents import build_scripted
from tests.experiments.folders import run_cli
from tests.experiments.report.cases import HOSTILE
from tests.experiments.report.conftest import ARGUMENTS
from tests.experiments.report.pages import Page, faults_of
from tests.experiments.report.test_browser import LOW_CONTRAST, OPEN_EVERYTHING, OVERFLOW

POOR = SessionsSpec(bankroll=BankrollConfig(num_sessions=3, horizon=10, initial_cents=2000))
NAMES = ("fixed-0.01", "recall", "fixed-0.30")


class Hostile:
    name = f"agent {HOSTILE}"

    def act(self, observation):
        return {"decision": "Reject"}


class Worth:
    def to_json_object(self):
        return {name: {"estimate": 12.5, "low": 3.0, "high": 20.0, "n": 3} for name in WORTH}


def split(run):
    """Write a ``gap.json`` of ``run`` whose caution is 12 dollars in every session."""
    played = np.array([session.terminal_cents / 100 for session in run.sessions])
    shifts = {"played": 0, "base": 0, "posterior": 5, "revealed": 9, "neutral": 20, "aware": 32, "known": 40}
    balances = {name: played + shift for name, shift in {**shifts, "memoryless": 30}.items()}
    return write_gap(run, split_gap(run.header.agent, SessionArms((0, 1, 2), balances)), Worth())


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sessions")
    for name in NAMES:
        run_task(SESSIONS, build_scripted(name), POOR, folder / name)
    run_task(SESSIONS, Hostile(), POOR, folder / "hostile")
    split(load_run(SESSIONS, folder / "recall"))
    return [load_run(SESSIONS, path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def html(played):
    return build_sessions_report(played, title=f"Sessions {HOSTILE}")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_page_is_well_formed_safe_and_asks_nothing_of_the_network(page, html):
    assert faults_of(page) == []
    assert page.of("img") == []
    assert html.count("</script>") == 2
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b", page.words)


def test_every_section_and_figure_is_there(page, played):
    sections = {section["id"] for section in page.of("section")}
    assert sections == {"answer", "summary", "balances", "survival", "gap", "ledger", "metrics"}
    assert len(page.of("svg")) == 2 + 2 * len(played) + 2  # all over each other, each by itself, the gap twice
    assert page.words.count("How to read it:") == 6
    assert set(SESSION_HEADLINE) <= set(_metrics(played))
    assert all(part in page.words for part in SUMMANDS)
    assert NOT_CHECKED in page.words


def _metrics(played):
    from experiments.sessions.summary import sessions_summary

    return sessions_summary(played[0].header, played[0].sessions, played[0].memoryless)["metrics"]


def test_text_alternatives_say_what_is_drawn(page, played):
    labels = [svg["aria-label"] for svg in page.of("svg")]
    broke = next(run for run in played if run.header.agent == "fixed-0.01")
    ruins = [session.time_to_ruin for session in broke.sessions if session.time_to_ruin]
    balance = next(label for label in labels if label.startswith("Mean balance of fixed-0.01"))
    assert "20 dollars at first" in balance
    assert ruins
    assert f"ruined after period {', '.join(map(str, sorted(ruins)))}" in balance
    survival = next(label for label in labels if label.startswith("Survival of fixed-0.01"))
    assert f"{1 - len(ruins) / 3:.2f} after period 10" in survival
    assert any(label.startswith("Final balance of recall") and "caution 12" in label for label in labels)


def test_the_richest_comes_first_and_the_ledger_is_whole(page, played):
    text = page.words
    assert text.index("recall") < text.index("fixed-0.01")
    ledgers = {run["label"]: run["sessions"] for run in page.data["runs"]}
    for run in played:
        shown = ledgers[f"{run.header.agent}, {run.header.spec.label}"]
        assert [len(one["periods"]) for one in shown] == [len(session.periods) for session in run.sessions]
        assert shown[0]["periods"][-1][-1] == run.sessions[0].terminal_cents / 100


def test_the_answer_is_in_dollars_and_names_the_costliest_periods(page, played):
    lead = page.words.split("Balances laid over each other")[0]
    assert "From 20 dollars recall comes to" in lead
    assert "the most of 4 agents" in lead
    told = costliest_periods([_view(run, "x") for run in played])
    assert len({one.agent for one in told}) == len(told) == 3
    assert [one.dollars for one in told] == sorted((one.dollars for one in told), reverse=True)
    assert "was to be had" in page.words


def test_without_a_gap_its_section_is_left_out(played):
    others = [run for run in played if run.header.agent != "recall"]
    page = Page(build_sessions_report(others, title="x"))
    assert "gap" not in {section["id"] for section in page.of("section")}


def test_the_ruin_line_is_where_a_session_ends(played):
    for ruin in (0.0, 25.0):
        ax = plot_balances(Figure().add_subplot(), played[0].sessions, ruin=ruin)
        assert [list(line.get_ydata()) for line in ax.lines if list(line.get_xdata()) == [0, 1]] == [[ruin, ruin]]


def test_runs_of_one_name_under_other_rules_are_refused(played, tmp_path):
    poorer = POOR.model_copy(update={"bankroll": POOR.bankroll.model_copy(update={"initial_cents": 1000})})
    other = run_task(SESSIONS, build_scripted("patient"), poorer, tmp_path)
    with pytest.raises(ValueError, match="different chains or rules"):
        build_sessions_report([played[0], other], title="x")


def test_every_number_says_what_it_is_taken_over(page):
    for metric in SESSION_METRICS:
        assert metric.definition in page.words
    assert {metric.denominator for metric in SESSION_METRICS} >= {"feasible periods", "sessions"}
    assert "infeasible periods" in page.words


def test_bad_input_is_refused(played, tmp_path):
    with pytest.raises(ValueError, match="twice"):
        build_sessions_report([played[0], played[0]], title="x")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        report_sessions(played, tmp_path / "none" / "report.html", title="x")
    cut = next(run for run in played if run.header.agent == "recall")
    (cut.folder / GAP).write_bytes(gap_bytes(split(cut) | {"agent": "somebody"}))
    with pytest.raises(ValueError, match="agent is not that of the sessions played"):
        build_sessions_report([cut], title="x")
    split(cut)


@pytest.fixture(scope="module")
def commerce_html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commerce")
    spec = SuiteSpec.parse("fresh", n_per_cell=1, seed=2, economics=EconomicsConfig())
    for name in ("fixed-0.30", "patient"):
        run_task(EPISODES, build_scripted(name), spec, folder / name)
    loaded = [load_run(EPISODES, folder / name) for name in ("fixed-0.30", "patient")]
    return build_report([report_run(run, "fresh in money") for run in loaded], title="Money")


def test_commerce_runs_get_a_money_section(commerce_html):
    page = Page(commerce_html)
    assert faults_of(page) == []
    assert "money" in {section["id"] for section in page.of("section")}
    labels = [svg["aria-label"] for svg in page.of("svg")]
    profit = next(label for label in labels if label.startswith("Profit and money left"))
    assert profit.index("patient earned") < profit.index("fixed-0.30 earned")
    assert sum(label.startswith("Regret rate by lot size") for label in labels) == 1
    assert "Total money left" in page.words


def test_other_runs_get_none(mixed_page):
    assert "money" not in {section["id"] for section in mixed_page.of("section")}


def test_the_command_makes_the_page_and_refuses_a_mixture(played, tmp_path):
    code, stdout, _ = run_cli("report", str(played[0].folder), str(played[1].folder), "--out", str(tmp_path / "r.html"))
    assert code == 0
    assert "report:" in stdout
    assert (tmp_path / "r.html").is_file()
    run_task(EPISODES, build_scripted("patient"), SuiteSpec.parse("fresh", sample=1), tmp_path / "episodes")
    mixed = (str(played[0].folder), str(tmp_path / "episodes"))
    code, _, stderr = run_cli("report", *mixed, "--out", str(tmp_path / "m.html"))
    assert code == 2
    assert "folders of sessions alone" in stderr


@pytest.mark.browser
def test_both_pages_in_a_browser(chromium_path, html, commerce_html, tmp_path):
    from playwright.sync_api import sync_playwright

    logged: list[str] = []
    requested: list[str] = []
    pages = {"sessions": html, "commerce": commerce_html}
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        for name in pages:
            for width, scheme in ((1200, "light"), (390, "dark"), (1200, "dark"), (390, "light")):
                tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                tab.on("console", lambda message: logged.append(message.text))
                tab.on("pageerror", lambda error: logged.append(str(error)))
                tab.on("request", lambda request: requested.append(request.url))
                tab.goto((tmp_path / f"{name}.html").as_uri())
                tab.evaluate(OPEN_EVERYTHING)
                if name == "sessions":
                    browse(tab)
                assert tab.evaluate(OVERFLOW) == 0
                contrast = tab.evaluate(LOW_CONTRAST)
                assert contrast["checked"] > 100
                assert contrast["found"] == []
                assert tab.evaluate("window.hacked") is None
                tab.close()
        browser.close()
    assert logged == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []


def browse(tab):
    rows = tab.locator("#periods tr")
    assert tab.inner_text("#matches").startswith(f"{rows.count()} period")
    run = next(
        index for index, text in enumerate(tab.locator("select[name=run] option").all_inner_texts())
        if text.startswith("fixed-0.01")
    )  # fmt: skip
    tab.select_option("select[name=run]", str(run))
    sessions = tab.locator("select[name=session] option").all_inner_texts()
    ruined = next(index for index, text in enumerate(sessions) if text.endswith("ruined"))
    tab.select_option("select[name=session]", str(ruined))
    assert tab.inner_text("#matches").endswith("ruined")
    assert tab.locator("#periods tr").last.locator("td").last.inner_text().startswith("−")
