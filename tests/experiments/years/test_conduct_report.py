"""The report about years that agents ran: strict HTML, every section, hostile text stays text, fast in a browser."""

from __future__ import annotations

import json
import re
import time

import pytest

from experiments.engine.folder import RunError
from experiments.report.year_journal import SAID_LIMIT
from experiments.report.years import build_year_report, report_years
from experiments.years.story import read_excluded, read_story
from experiments.years.transcript import OUTCOME
from tests.experiments.report.cases import HOSTILE
from tests.experiments.report.conftest import ARGUMENTS
from tests.experiments.report.pages import Page, faults_of
from tests.experiments.years.agents import WAIT, Conducted, Idler, Lost, call, play

SECTIONS = {"conduct", "transcript", "knowledge"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("conducts")
    return [play(agent, base / agent.name) for agent in (Conducted(), Idler(), Lost())]


@pytest.fixture(scope="module")
def html(folders, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report_years(folders, path, title="Agents").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


def test_page_is_well_formed_safe_and_asks_nothing_of_the_network(page):
    assert faults_of(page) == []
    assert page.of("img") == []
    assert {section["id"] for section in page.of("section")} > SECTIONS
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b", page.words)


def test_numbers_are_those_of_the_transcript(page):
    """Six cents' worth: 200 + 150 + 4 * 100 = 750 micro-dollars known, one of nine answers without a price."""
    assert "0.0008" in page.words
    assert "1 of 9 unpriced" in page.words
    assert "2 of 10 calls" in page.words
    assert "unknown tool 1" in page.words
    assert "What left the context of made-up, world 20260122, paper rules: 1 evictions" in page.words
    assert len([label for label in (svg.get("aria-label", "") for svg in page.of("svg")) if "known cost" in label]) == 1


def test_a_lost_year_is_counted_loudly_and_is_in_no_number(page, folders):
    assert "1 more year was lost and is in no number" in page.words
    assert "lost, world 20260122, paper rules (provider fault after 1 turns, day 1)" in page.words
    assert [year["label"].partition(",")[0] for year in page.data["years"]] == ["made-up", "outside"]
    assert read_excluded(folders[0]) is None
    assert read_excluded(folders[2]).outcome.detail.endswith("nobody answers")


def test_a_report_on_lost_years_alone_says_so(folders, tmp_path):
    page = Page(report_years(folders[2:], tmp_path / "report.html", title="Lost").read_text(encoding="utf-8"))
    assert faults_of(page) == []
    assert "1 more year was lost and is in no number" in page.words
    assert page.data["years"] == []
    assert not SECTIONS & {section["id"] for section in page.of("section")}


def test_a_year_that_may_still_go_on_is_refused(tmp_path):
    folder = play(Idler(), tmp_path)
    (folder / OUTCOME).unlink()
    with pytest.raises(RunError, match="holds an unfinished year"):
        read_story(folder)


def test_the_payload_holds_every_turn_and_what_was_known(page):
    conduct, strings = page.data["years"][0]["conduct"], page.data["strings"]
    assert [turn[0] for turn in conduct["turns"]] == list(range(8))
    assert [len(turn[6]) for turn in conduct["turns"]] == [0, 2, 3, 1, 1, 1, 1, 1]
    assert strings[conduct["turns"][0][3]] == f"Let me think. {HOSTILE}"
    assert conduct["turns"][3][7] == [2, 0, 1, 900, 300]
    assert [one[2] for one in conduct["knowledge"]] == [0, 2, 2, 2, 2, 2]
    assert page.data["years"][1]["conduct"]["turns"][0][8] is None


def test_a_folder_given_twice_is_refused(folders, tmp_path):
    with pytest.raises(ValueError, match="twice"):
        report_years([folders[0], folders[0]], tmp_path / "report.html", title="Twice")
    assert not (tmp_path / "report.html").exists()


def test_a_page_about_merchants_alone_has_none_of_it(stories):
    plain = Page(build_year_report(stories[2:3], title="x"))
    assert not SECTIONS & {section["id"] for section in plain.of("section")}
    assert "in no number" not in plain.words
    assert plain.data["years"][0]["conduct"] is None


@pytest.mark.browser
def test_the_transcript_in_a_browser(chromium_path, html, folders, tmp_path):
    from playwright.sync_api import sync_playwright

    (tmp_path / "report.html").write_text(html, encoding="utf-8")
    logged: list[str] = []
    requested: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        for width, scheme in ((1200, "light"), (390, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            tab.on("console", lambda message: logged.append(message.text))
            tab.on("pageerror", lambda error: logged.append(str(error)))
            tab.on("request", lambda request: requested.append(request.url))
            tab.goto((tmp_path / "report.html").as_uri())
            browse(tab)
            assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
            assert tab.evaluate("window.hacked") is None
        report_years(folders[2:], tmp_path / "lost.html", title="Lost")
        tab.goto((tmp_path / "lost.html").as_uri())
        assert tab.inner_text("#calls") == "No year to show."
        browser.close()
    assert logged == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []


def browse(tab) -> None:
    turns, drawers = tab.locator("#turns > li"), tab.locator("#turns > li > details")
    assert tab.inner_text("#turn-matches") == "3 turns on day 0"
    assert tab.locator("#turns pre").count() == 0  # texts are made when a turn is opened
    drawers.first.locator("> summary").click()
    tab.wait_for_selector("#turns pre")
    assert HOSTILE.split(">")[0] in drawers.first.locator("pre").first.inner_text()
    drawers.nth(1).locator("> summary").click()
    drawers.nth(1).locator("details summary").nth(1).click()
    drawers.nth(1).locator("pre").last.wait_for()
    assert "unknown_tool" in drawers.nth(1).locator("pre").last.inner_text()
    tab.select_option("#turn-filters select[name=kind]", "evicted")
    assert turns.count() == 0
    tab.select_option("#turn-filters select[name=days]", "all")
    assert tab.inner_text("#turn-matches") == "1 turn on all days"
    tab.locator("#turns > li > details > summary").click()
    tab.wait_for_selector("#turns .facts")
    assert "2 groups left the context (turns 0 to 1)" in turns.first.inner_text()
    knowledge = "#knowledge-filters"
    tab.locator(f"{knowledge} [aria-label='Next day']").click()
    assert "turn 3: its context held turns 2 to 2, from day 0 on; 1 note of its own" in tab.inner_text("#known-context")
    assert tab.locator("#known-notes dt").count() == 2
    tab.select_option(f"{knowledge} select[name=year]", "1")
    assert "its own affair" in tab.inner_text("#known-context")


class Talker(Conducted):
    """Four thousand turns of two calls, with as much to say as the page shows."""

    name = "talker"

    def play(self, session) -> None:
        from experiments.years.transcript import Said

        text = f"Turn {{}} {'words ' * (SAID_LIMIT // 6)}"
        opened = call("open_store", {"store_type": "beauty", "store_name": "B"})  # else an idle year ends in ruin
        session.act(Said(tool_calls=(opened,)))
        while not session.is_over:
            name = WAIT if session.num_turns % 11 == 10 else "check_balance"
            calls = (call("list_products", {"store_type": "beauty"}), call(name, place=1))
            session.act(Said(content=text.format(session.num_turns), tool_calls=calls))


@pytest.mark.slow
@pytest.mark.browser
def test_four_thousand_turns_open_in_three_seconds(chromium_path, tmp_path):
    from playwright.sync_api import sync_playwright

    story = read_story(play(Talker(), tmp_path / "year", num_days=365))
    assert story.transcript is not None
    assert len(story.transcript.turns) == 4000
    path = tmp_path / "report.html"
    path.write_text(build_year_report([story], title="Long"), encoding="utf-8")
    assert len(json.dumps(Page(path.read_text(encoding="utf-8")).data)) > 4_000 * SAID_LIMIT
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        tab = browser.new_page()
        started = time.monotonic()
        tab.goto(path.as_uri())
        tab.wait_for_selector("#turns > li details")
        taken = time.monotonic() - started
        browser.close()
    assert taken < 3
