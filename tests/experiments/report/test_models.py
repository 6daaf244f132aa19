"""What a report says of language models: replies, money, settings; and that it says nothing where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.report import ReportRun, build_report
from experiments.report.sections import REPLY_FAULTS
from experiments.report.viewer import REPLY_LIMIT, Encoder
from terms.estimates import UNDEFINED, Estimate
from tests.experiments.report.cases import FRESH, HOSTILE, model_facts, model_run, played, talker
from tests.experiments.report.pages import Page, faults_of
from tests.experiments.report.test_browser import DESKTOP, LOW_CONTRAST, OPEN_EVERYTHING, OVERFLOW, PHONE, opened

HIGH = model_run()
LOW = replace(
    HIGH,
    agent="openai:bot@low",
    model=model_facts(settings={"model": "vendor/model", "effort": "low"}, num_unknown=0, served_by=("vendor/model",)),
)


def page_of(*runs: ReportRun) -> Page:
    return Page(build_report(runs, title="Models"))


def row_of(html: str, section: str, agent: str) -> str:
    part = html.split(f'id="{section}"')[1].split("</section>")[0]
    return next(row for row in part.split("<tr") if agent in row)


@pytest.fixture(scope="module")
def html():
    return build_report([HIGH, LOW], title="Models")


def test_the_page_is_sound_with_hostile_models_and_replies(html):
    page = Page(html)
    assert faults_of(page) == []
    assert html.count("</script>") == 2
    assert page.of("img") == []


def test_every_rate_stands_beside_the_score_with_interval_and_n(html):
    part = html.split('aria-label="Verdicts on the models')[1].split("</table>")[0]
    for heading in ("SE+", "Repaired", "Corrected", "Illegal", "Blank", "Unreadable", "Refused", "Truncated"):
        assert heading in part
    assert "Provider failed" in part
    row = next(row for row in part.split("<tr") if "openai:bot@low" in row)
    assert row.count('title="[0.01, 0.04], n = 400"') == len(REPLY_FAULTS) - 1


def test_trouble_is_named_at_the_leaderboard(html):
    assert "of 400 replies repaired 2.0 %" in row_of(html, "leaderboard", "openai:bot@low")


def test_two_efforts_stand_side_by_side_with_money_tokens_and_time(html):
    for agent, effort in ((HIGH.agent[:10], "high"), (LOW.agent, "low")):
        assert f"<td>{effort}</td>" in row_of(html, "models", agent + ("@high" if effort == "high" else ""))
    row = row_of(html, "models", LOW.agent)
    for text in (
        "0.0123",
        "[0.0100, 0.0200]",
        "n = 72",
        "$0.888840",
        "398 attempts",
        "11 from the cache",
        "7 not billed",
    ):
        assert text in row
    for text in ("400,000", "cached 1,000", "cache written 20", "9,000", "4,321", "[1.25, 1.75]", "n = 398"):
        assert text in row
    assert "none" in row, "nothing unknown"
    assert "<b>3</b> attempts" in row_of(html, "models", "@high")


def test_settings_are_in_the_appendix(html):
    assert "<dt>effort</dt><dd>low</dd>" in html.split('id="appendix"')[1]


def test_undefined_money_is_a_dash_not_zero():
    facts = model_facts(usd_per_episode=UNDEFINED, latency_s=UNDEFINED, served_by=())
    row = row_of(build_report([replace(LOW, model=facts)], title="x"), "models", LOW.agent)
    assert row.count('class="undefined"') == 3


def test_what_no_server_stated_is_a_dash_not_zero():
    facts = model_facts(settled_microusd=0, num_settled=0, num_unknown=25, num_without_tokens=25)
    row = row_of(build_report([replace(LOW, model=facts)], title="x"), "models", LOW.agent)
    assert row.count('class="undefined"') == 4  # the money, and tokens of three kinds
    assert "$0" not in row


@pytest.mark.parametrize(("share", "valid"), [(0.02, True), (0.04, False)])
def test_blank_replies_invalidate_a_run_even_when_every_second_try_helped(share, valid):
    rate = Estimate(share, 0.0, 1.0, 400)
    facts = model_facts(replies={**model_facts().replies, "empty": rate, "truncated": rate})
    html = build_report([replace(LOW, model=facts)], title="x")
    assert ('class="badge bad"' in html) is not valid
    assert ("8.0 % of the replies were blank or cut off; 5 % is allowed" in html) is not valid


def test_without_a_model_nothing_is_said_of_models():
    html = build_report([played(talker, FRESH, name="talker", label="fresh")], title="x")
    assert 'id="models"' not in html
    assert "Verdicts on the models" not in html
    assert '<a href="#models">' not in html


def test_penalties_of_cues_and_inference_are_shown_for_each_agent_with_intervals(html):
    part = html.split('aria-label="SE+ by family on fresh"')[1].split("</table>")[0]
    assert "alpha cue" in part
    assert "alpha inf" in part
    assert part.count('title="[') == 2 * 8  # an interval for each agent, family and penalty


def test_receipts_reach_the_viewer_cut_to_what_a_page_can_carry():
    payload = Encoder().payload([HIGH], 5)
    strings, episode = payload["strings"], payload["runs"][0]["episodes"][0]
    (first, second), (long,), (lost,) = (attempts for _, attempts in episode[-2])
    assert [strings[index] for index in first[:3]] == ["first", "illegal", ""]
    assert [strings[index] for index in second[:3]] == ["correction", "repaired", "fence_removed, prose_ignored"]
    assert strings[second[4]] == HOSTILE
    assert strings[long[4]] == "x" * REPLY_LIMIT + "\n[5 more characters]"
    assert strings[lost[1]] == "provider_fault"


@pytest.fixture(scope="module")
def address(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


@pytest.mark.browser
def test_replies_are_closed_and_open_as_text(browser, address):
    with opened(browser, address) as page:
        drawers = page.locator("#episode details.reply")
        assert drawers.count() == 4
        assert not page.locator("#episode pre").first.is_visible()
        assert drawers.nth(0).locator("summary").inner_text() == "Reply: illegal"
        assert drawers.nth(1).locator("summary").inner_text() == "correction: repaired (fence removed, prose ignored)"
        drawers.nth(1).locator("summary").click()
        assert page.locator("#episode pre").nth(1).text_content() == HOSTILE
        assert "provider fault" in page.locator("#episode .rounds").inner_text()
        assert page.locator("#episode img").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_fits_and_stands_out_in_every_dress(browser, address, width, scheme):
    with opened(browser, address, width=width, scheme=scheme) as page:
        page.evaluate(OPEN_EVERYTHING)
        assert page.evaluate(OVERFLOW) <= 0
        assert page.evaluate(LOW_CONTRAST)["found"] == []
