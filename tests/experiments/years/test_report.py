"""The report about years: strict HTML, every section, hostile text stays text, a journal that is fast in a browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from commerce.metrics import year_metrics
from commerce.year import Year
from experiments.report.year_journal import ANSWER_LIMIT, journal_payload, shown_journals
from experiments.report.years import build_year_report, group_years, report_years
from experiments.years.spec import YearSpec
from experiments.years.summary import YEAR_HEADLINE, YEAR_METRICS
from tests.experiments.report.cases import HOSTILE
from tests.experiments.report.conftest import ARGUMENTS
from tests.experiments.report.pages import Page, faults_of

SECTIONS = {
    "answer", "talks", "dimensions", "summary", "assets", "stock", "sales", "fraud", "suppliers", "tools", "journal",
    "metrics",
}  # fmt: skip
FIGURES = 7


@pytest.fixture(scope="module")
def html(stories) -> str:
    return build_year_report(stories, title=f"Years {HOSTILE}")


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


def test_page_is_well_formed_safe_and_asks_nothing_of_the_network(page):
    assert faults_of(page) == []


def test_every_section_and_figure_is_there(page, stories):
    assert {section["id"] for section in page.of("section")} == SECTIONS
    assert len(page.of("svg")) == FIGURES * len(stories) + 2  # and the assets of all, wide and small
    assert "Nobody paid a fraudulent supplier." not in page.words
    assert page.words.count("How to read it:") == len(SECTIONS) - 1  # the table of all numbers has definitions instead
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b", page.words)


def test_hostile_text_stays_text(page, html):
    assert page.of("img") == []
    assert html.count("</script>") == 2
    assert "49" not in page.text_of("h1")[0]  # {{ 7*7 }} is not evaluated


def test_metrics_have_words_and_one_column_a_group(stories, page):
    spec = YearSpec(num_days=1)
    assert set(YEAR_METRICS) == set(year_metrics(Year(spec.build_world(), spec.build_rules())))
    assert set(YEAR_HEADLINE) <= set(YEAR_METRICS)
    rule_based, idle, _ = group_years(stories)
    assert (rule_based.num_years, idle.num_years) == (2, 1)
    assert rule_based.metrics["final_assets"].n == 2
    assert rule_based.metrics["final_assets"].low is None  # two worlds say too little
    assert idle.metrics["final_assets"].low is None
    assert f"{idle.metrics['final_assets'].estimate:,.0f}" in page.words


def test_five_runs_in_one_world_say_how_much_they_vary(stories):
    """Values 1,001 to 1,005: variance 2.5, its interval 10 / 11.143 to 10 / 0.4844; the roots stand on the page."""
    idle = stories[2]
    runs = []
    for repeat in range(5):
        metrics = {**idle.result["metrics"], "final_assets": {"value": 1001.0 + repeat, "n": 1}}
        metrics["profit_per_call"] = {"value": 10.0 + repeat, "n": 10}
        spec = idle.header.spec.model_copy(update={"repeat": repeat})
        header = idle.header.model_copy(update={"spec": spec})
        runs.append(replace(idle, header=header, result={**idle.result, "metrics": metrics}))
    (group,) = group_years(runs)
    assert (group.num_worlds, group.num_years) == (1, 5)
    assert group.spread["between"].estimate is None
    assert group.spread["within"] == pytest.approx((2.5**0.5, 0.94731, 4.54347, 5), abs=1e-4)
    assert group.metrics["final_assets"].low is None
    half = 2.776445 * 0.5**0.5  # Student's quantile with 4 degrees, deviation sqrt(2.5), no skewness
    assert group.metrics["profit_per_call"][:3] == pytest.approx((12.0, 12.0 - half, 12.0 + half), abs=1e-5)
    html = build_year_report(runs, title="Runs")
    assert "How much final assets vary" in html
    assert 'title="[0.947, 4.543], n = 5">1.581</data>' in html
    assert "How much final assets vary" not in Page(build_year_report(stories, title="Worlds")).words


def test_the_journal_holds_every_call_in_order(stories, page):
    data = page.data
    assert [len(year["calls"]) for year in data["years"]] == [len(story.calls) for story in stories]
    story, year = stories[-1], data["years"][-1]
    assert [data["strings"][call[2]] for call in year["calls"]] == [call.tool for call in story.calls]
    assert HOSTILE in data["strings"]
    assert [call[3] for call in year["calls"]] == [int(call.is_ok) for call in story.calls]
    assert len(year["mornings"]) == story.header.spec.num_days
    assert max(map(len, data["strings"])) < ANSWER_LIMIT + 40


def test_journals_stop_at_the_limit_and_the_page_says_so(stories, monkeypatch):
    sizes = [len(story.calls) for story in stories]
    assert shown_journals(stories, sizes[0] + sizes[1]) == list(stories[:2])
    assert shown_journals(stories, 0) == [stories[0]]
    assert len(journal_payload([])["years"]) == 0
    monkeypatch.setattr("experiments.report.years.shown_journals", lambda stories: stories[:1])
    assert "journals of the first 1 of 2 years" in Page(build_year_report(stories[2:], title="x")).words


def test_a_year_given_twice_or_a_missing_folder_is_refused(stories, tmp_path):
    with pytest.raises(ValueError, match="twice"):
        build_year_report([stories[0], stories[0]], title="x")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        report_years([], tmp_path / "none" / "report.html", title="x")


@pytest.mark.browser
def test_the_journal_in_a_browser(chromium_path, html, stories, tmp_path):
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
            browse(tab, stories)
            assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
            assert tab.evaluate("window.hacked") is None
        browser.close()
    assert logged == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []


def browse(tab, stories) -> None:
    first = sum(call.day == 0 for call in stories[0].calls)
    assert tab.inner_text("#matches").startswith(f"{first} call")
    assert tab.locator("#calls > li").count() == min(100, first)
    assert tab.locator("#calls pre").count() == 0  # texts are made when a call is opened
    tab.locator("#calls summary").first.click()
    tab.wait_for_selector("#calls pre")
    tab.get_by_label("Next day").click()
    assert tab.inner_text("#morning").startswith("Morning of day 1:")
    tab.select_option("select[name=days]", "all")
    assert tab.inner_text("#matches") == f"{len(stories[0].calls):,} calls on all days"
    tab.locator("#more").click()
    assert tab.locator("#calls > li").count() == min(200, len(stories[0].calls))
    tab.select_option("select[name=year]", str(len(stories) - 1))
    tab.select_option("select[name=outcome]", "refused")
    assert tab.locator("#calls .badge").count() == sum(not call.is_ok for call in stories[-1].calls)
    tab.fill("input[name=words]", "window.hacked")
    tab.press("input[name=words]", "Enter")  # at once: typing alone is waited for, and a rebuilt list swallows a click
    tab.wait_for_function("document.getElementById('matches').textContent.startsWith('1 call ')")
    tab.locator("#calls summary").first.click()
    assert "window.hacked = 2" in tab.locator("#calls pre").first.inner_text()
