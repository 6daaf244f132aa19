"""The page as a whole: well formed, self-contained, safe with hostile transcripts, honest about what is undefined."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import terms
from experiments.report import ReportRun, SuiteComparison, build_report, write_report
from experiments.report.page import format_number
from tests.experiments.report.cases import CHECK, FRESH, HOSTILE, leaver, lost, played, silent, talker
from tests.experiments.report.pages import Page, faults_of

SECTIONS = ("answer", "validity", "leaderboard", "play", "knowable", "viewer", "appendix")
NO_NUMBER = re.compile(r"\b(nan|NaN|inf|Infinity|None)\b")


def page_of(*runs: ReportRun, **options: object) -> Page:
    return Page(build_report(runs, title="Report", **options))  # type: ignore[arg-type]


def test_page_is_well_formed_safe_and_asks_nothing_of_the_network(mixed_page):
    assert faults_of(mixed_page) == []


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ("<p>", "never closed"),
        ("<p style='color:red'>x</p>", "inline style"),
        ("<b onclick='x()'>x</b>", "inline onclick"),
        ("<img src='http://example.org/x.png'>", "points outside"),
        ("<a href='#nowhere'>x</a>", "not there"),
        ("<svg></svg>", "without a text alternative"),
        ("<th>x</th>", "without scope"),
        ("<p id='answer'>x</p>", "used twice"),
        ("<script>evil()</script>", "scripts"),
    ],
)
def test_the_strict_reader_finds_planted_faults(mixed_html, planted, fault):
    faults = faults_of(Page(mixed_html.replace("<main>", f"<main>{planted}", 1)))
    assert any(fault in found for found in faults), faults


def test_every_section_is_there_and_the_answer_comes_first(mixed_page):
    assert [attributes.get("id") for attributes in mixed_page.of("section")] == list(SECTIONS)
    lead = mixed_page.words.split("How to read it")[0]
    assert "of the surplus it could have had, the most of 4 agents" in lead
    assert "Of what patient loses" in lead
    assert "Claude Opus 4.6" in next(
        svg["aria-label"] for svg in mixed_page.of("svg") if svg["aria-label"].startswith("SE+, best first")
    )


def test_one_chart_a_question_holds_every_agent_and_shows_one(mixed_html):
    charts = re.findall(r'<svg class="chart picked".*?</svg>', mixed_html, re.DOTALL)
    assert len(charts) == 5  # families and concession of two suites, beliefs of one
    keys = [set(re.findall(r'data-series="([^"]*)"', chart)) for chart in charts]
    assert max(map(len, keys)) == 5  # one of six was lost to the provider and has nothing to show
    assert all(len(set(re.findall(r'class="series on" data-series="([^"]*)"', chart))) == 1 for chart in charts)
    assert re.search(r"<title>patient, Candid: 0\.\d+.*?, n = \d+</title>", charts[0])


def test_the_costliest_negotiations_are_told_and_are_in_the_viewer(mixed_page):
    links = [link for link in mixed_page.of("a") if "data-episode" in link]
    assert len(links) == 3
    for link in links:
        (run,) = (
            one for one in mixed_page.data["runs"] if (one["agent"], one["suite"]) == (link["data-agent"], "fresh")
        )
        assert any(mixed_page.data["strings"][episode[0]] == link["data-episode"] for episode in run["episodes"])
    assert mixed_page.words.count(" lost ") >= 3


def test_beliefs_stand_beside_the_posterior_and_the_posterior_is_checked(mixed_page):
    labels = [attributes["aria-label"] for attributes in mixed_page.of("svg") if "chart" in attributes.get("class", "")]
    (curve,) = (label for label in labels if "Of the exact posterior" in label)
    assert "round 9 0.40, round 10 undefined. Of the exact posterior beside" in curve
    assert any(label.startswith("Share of stances that were true: given 0.30 0.31") for label in labels)
    assert "fresh, 321 moments" in mixed_page.words


def test_a_check_needs_a_run_on_its_suite_and_comes_once(runs):
    with pytest.raises(ValueError, match="check of suite='fresh', but no run is on that suite"):
        build_report(runs[6:], title="x", checks=[CHECK])
    with pytest.raises(ValueError, match="checks has suite='fresh' twice"):
        build_report(runs, title="x", checks=[CHECK, CHECK])


def test_a_check_without_stated_beliefs_says_so(runs):
    assert "nothing to hold against the posterior" in page_of(runs[0], checks=[CHECK]).words


def test_hostile_text_stays_text(mixed_page, mixed_html):
    assert mixed_page.of("img") == []
    assert len(mixed_page.of("script")) == 2
    assert HOSTILE.split("\x00")[0] in mixed_page.text_of("h1")[0]
    assert "49" not in mixed_page.text_of("h1")[0]  # {{ 7*7 }} is not evaluated
    assert mixed_html.count("</script>") == 2


def test_no_cell_shows_a_missing_number_as_a_word_or_as_zero(mixed_page):
    assert NO_NUMBER.findall(" ".join(text for tag, text in mixed_page.texts if tag in ("b", "small", "td"))) == []
    dashes = [attributes for attributes in mixed_page.of("span") if attributes.get("class") == "undefined"]
    assert dashes
    assert all(dash["title"] and dash.get("role", "img") == "img" for dash in dashes)


def test_published_and_fresh_stand_side_by_side_with_the_notice(mixed_page, mixed_html):
    assert mixed_page.words.count(terms.PUBLISHED_FLAW) == 1
    section = mixed_html.split('id="suites"')[1].split("</section>")[0]
    assert "patient" in section
    assert "exploit" in section
    assert "accept-any" not in section  # played one suite only


def test_published_models_are_marked_as_such_and_unranked(mixed_html):
    for suite, words in (("fresh", "published, other episodes"), ("published", "published")):
        table = mixed_html.split(f'aria-label="Leaderboard of {suite}"')[1].split("</tbody>")[0]
        rows = re.findall(r'<tr class="published">(.*?)</tr>', table, re.DOTALL)
        assert len(rows) == 12
        assert all(f"<small>{words}</small>" in row and "not ranked" in row for row in rows)
        assert "0.694" in rows[0]


def test_letters_stand_beside_ranks_and_the_uncompared_have_neither(mixed_html):
    section = mixed_html.split('aria-label="Leaderboard of fresh"')[1].split("</tbody>")[0]
    ranks = re.findall(r'<td class="rank">(.*?)</td>', section)
    assert ranks[:4] == [
        f'{place} <small class="letters">{letters}</small>' for place, letters in enumerate(("a", "b", "b c", "c"), 1)
    ]
    assert all("not part of a comparison" in rank for rank in ranks[4:6])
    assert len(ranks) == 6 + 12


def test_unusable_runs_are_flagged_and_the_clean_ones_counted(mixed_html):
    section = mixed_html.split('id="validity"')[1].split("</section>")[0]
    assert "6 of 8 runs are" in section
    rows = section.split('aria-label="Validity gates"')[1].split("</table>")[0].split("<tr>")[2:]
    verdicts = {re.search(r'class="agent">(.*?)<', row).group(1): "badge bad" in row for row in rows}
    assert verdicts == {"silent": True, "lost": True}
    assert "nothing was scored" in next(row for row in rows if ">lost<" in row)


def test_where_all_is_well_validity_is_one_line(runs):
    html = build_report(runs[:2], title="Report")
    assert 'aria-label="Validity gates"' not in html
    assert "every reply could be used and all 144 episodes are scored" in html


def test_the_same_input_gives_the_same_bytes(runs):
    first, second = (build_report(runs[:2], title="Report") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("agent", "episodes"),
    [(leaver, FRESH), (lost, FRESH), (silent, FRESH), (talker, FRESH[:1]), (leaver, FRESH[-1:]), (lost, FRESH[:1])],
    ids=["zero deals", "all excluded", "all unusable", "one episode", "one without a zopa", "one, excluded"],
)
def test_degenerate_runs_render(agent, episodes):
    page = page_of(played(agent, episodes, name="one", label="suite"))
    assert faults_of(page) == []
    assert NO_NUMBER.findall(page.words.replace("alpha inf", "")) == []
    assert len(page.data["runs"][0]["episodes"]) == len(episodes)


def test_a_run_without_any_episode_renders():
    assert faults_of(page_of(ReportRun("nobody", "nothing", ()))) == []


def test_zero_deal_run_shows_conditional_share_as_undefined():
    html = build_report([played(leaver, FRESH, name="leaver", label="suite")], title="Report")
    row = html.split('aria-label="Leaderboard of suite"')[1].split("</tbody>")[0]
    cells = re.findall(r'<td class="num">(.*?)</td>', row, re.DOTALL)
    assert cells[0].startswith('<data class="e" value="0.0"')  # SE+ is 0: nothing was agreed
    assert "undefined, n = 0" in cells[2]  # CSE+ has no deal to speak of


def test_what_a_suite_or_an_agent_lacks_has_no_empty_section(runs):
    run = played(talker, FRESH, name="talker", label="suite")
    plain = replace(run, episodes=tuple(replace(episode, difficulty_bin=None) for episode in run.episodes))
    html = build_report([plain], title="Report")
    assert faults_of(Page(html)) == []
    assert "SE+ by difficulty" not in html
    assert "How wrong its stated belief is" in html
    assert "How wrong its stated belief is" not in build_report(runs[:1], title="Report")


def test_a_run_exactly_at_the_allowed_share_is_valid():
    good, bad = FRESH[:19], FRESH[19:20]
    patient = terms.agents.build_scripted("patient")
    mixed = played(patient, good, name="a", label="s").episodes + played(lost, bad, name="a", label="s").episodes
    run = ReportRun("a", "s", mixed)
    assert "badge bad" not in build_report([run], title="Report", max_unusable_share=0.05)
    assert "badge bad" in build_report([run], title="Report", max_unusable_share=0.049)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda runs: ([], []), "runs is empty"),
        (lambda runs: ([runs[0], runs[0]], []), "agent='patient' on suite='fresh' twice"),
        (lambda runs: (runs, [SuiteComparison("else", ("patient",), {"patient": "a"})]), "no run is on that suite"),
        (lambda runs: (runs, [SuiteComparison("fresh", ("nobody",), {})]), "names agent='nobody'"),
        (lambda runs: (runs, [SuiteComparison("fresh", ("patient", "patient"), {})]), "ranks agent='patient' twice"),
        (lambda runs: (runs, [SuiteComparison("fresh", (), {})] * 2), "suite='fresh' twice"),
    ],
)
def test_inconsistent_input_is_refused_by_name(runs, change, message):
    chosen, comparisons = change(runs)
    with pytest.raises(ValueError, match=re.escape(message)):
        build_report(chosen, title="Report", comparisons=comparisons)


def test_writing_is_whole_or_not_at_all(tmp_path, runs, monkeypatch):
    target = write_report(tmp_path / "report.html", runs[:1], title="First")
    before = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("experiments.storage.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(target, runs[:1], title="Second")
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_writing_into_a_folder_that_is_not_there_names_it(tmp_path, runs):
    with pytest.raises(FileNotFoundError, match="absent"):
        write_report(tmp_path / "absent" / "report.html", runs[:1], title="Report")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.12345, 3, "0.123"), (-0.5, 2, "−0.50"), (-0.0001, 3, "0.000"), (-0.0, 1, "0.0"), (12345.6, 1, "12,345.6")],
)
def test_numbers_have_a_true_minus_and_no_negative_zero(value, digits, text):
    assert format_number(value, digits) == text
