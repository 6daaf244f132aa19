"""The answer before the detail: sentences by hand, paths of years that ended early, colours, talks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commerce.metrics import STATEMENT
from experiments.plots.year_answers import AssetsPath, Ceiling, plot_parts, plot_paths
from experiments.report.year_answers import answer_years, assets_by_day, mean_path, yuan_words
from experiments.report.years import group_years, named_groups
from experiments.years.ledger_file import StoredLedger
from experiments.years.story import FraudRow, TalkRow
from oracle.store.regret_streams import Stream


def answers_of(stories):
    parts, _ = named_groups(stories)
    groups = {group.label: group.metrics for group in group_years(stories)}
    return answer_years(parts, groups)


def ledger(story, prices, suppliers, shipping):
    final = round(100 * story.result["metrics"]["final_assets"]["value"])
    parts = dict.fromkeys(Stream, 0) | {
        Stream.PRICE_PAID: prices, Stream.SUPPLIER: suppliers, Stream.SHIPPING: shipping,
    }  # fmt: skip
    gap, rows = sum(parts.values()), dict.fromkeys(STATEMENT, 0) | {"ordered": 5_00, "unsold": -2_00}
    path = tuple(range(1, story.header.spec.num_days + 1))
    return StoredLedger("best", final + gap, gap, parts, parts, parts, rows, path, 7_000_00, {})


@pytest.mark.parametrize(
    ("yuan", "words"),
    [(0.4, "0 yuan"), (12_345.6, "12,346 yuan"), (412_499, "412,000 yuan"), (2_414_000, "2.41 million yuan")],
)
def test_amounts_are_said_as_one_says_them(yuan, words):
    assert yuan_words(yuan) == words


def test_the_largest_parts_are_told_and_gains_are_not(stories):
    story = replace(stories[0], ledger=ledger(stories[0], 300_00, 1_000_00, -50_00))
    (one,) = answers_of([story]).agents
    assert one.account == "1,250 yuan behind best: 1,000 yuan by suppliers, 300 yuan by prices paid"
    assert [line.label for line in one.statement] == ["ordered by customers", "unsold stock"]
    assert [line.yuan.estimate for line in one.statement] == [5.0, -2.0]
    ahead = replace(stories[0], ledger=ledger(stories[0], 0, -20_00, 0))
    assert answers_of([ahead]).agents[0].account == "20 yuan ahead of best"


def test_years_of_one_agent_are_told_by_their_mean(stories):
    pair = [
        replace(story, ledger=ledger(story, fen, 0, 0))
        for story, fen in zip(stories[:2], (100_00, 300_00), strict=True)
    ]
    found = answers_of(pair)
    (one,) = found.agents
    assert (one.num_years, one.num_measured, one.gap.estimate, one.gap.n) == (2, 2, 200.0, 2)
    assert "on average over 2 years" in one.sentence
    assert found.lead == f"{one.label} {one.sentence}."
    assert found.ceiling.bound == 7000.0
    assert found.ceiling.reference == AssetsPath("best", tuple(day / 100 for day in range(1, 46)))
    half = answers_of([pair[0], stories[1]]).agents[0]
    assert (half.num_years, half.num_measured, half.gap.n) == (2, 1, 1)


def test_the_lead_compares_all(stories):
    told = answers_of([replace(stories[0], ledger=ledger(stories[0], 300_00, 0, 0)), stories[2]])
    assert told.lead.startswith("Of 2 agents ")
    assert told.lead.endswith("; what they leave behind best goes mostly by prices paid.")
    assert [one.label for one in told.agents] == [path.label for path in told.paths]
    plain = answers_of([stories[0], stories[2]])
    assert plain.ceiling == Ceiling()
    assert plain.lead.endswith("yuan.")
    assert "paid nobody more than the least" in next(one for one in plain.agents if "idle" in one.label).account


def test_a_year_that_ended_early_stays_where_it_was(stories):
    story = stories[2]
    days = assets_by_day(story)
    assert days == [100_000.0] * 5
    spec = story.header.spec.model_copy(update={"num_days": 7})
    longer = replace(story, header=story.header.model_copy(update={"spec": spec}))
    assert assets_by_day(longer) == [100_000.0] * 7
    assert mean_path([[1.0, 2.0], [3.0, 6.0]]) == (2.0, 4.0)


def test_talks_are_what_was_paid_above_honest_floors(stories):
    for story in stories[:2]:
        assert all(talk.lost == pytest.approx(talk.units * (talk.price - talk.floor)) for talk in story.talks)
        assert [talk.lost for talk in story.talks] == sorted((talk.lost for talk in story.talks), reverse=True)


def test_what_a_fraud_was_paid_is_counted_once(stories):
    honest, fraud = TalkRow(1, "a", True, "x", 9, 1, 8, 6, 10, 20), TalkRow(2, "b", False, "x", 9, 1, 8, 5, 10, 30)
    paid = FraudRow(2, "b", "price_gouging", "x", 10, 10, 0, 80, None)
    (one,) = answers_of([replace(stories[0], talks=[fraud, honest], frauds=[paid])]).agents
    assert one.account == "and paid 20 yuan above the least its honest suppliers would take and 80 yuan to frauds"
    assert [told.talk.lost for told in one.talks] == [30, 20]


def test_wide_gaps_have_a_logarithmic_axis():
    from matplotlib.figure import Figure

    low, high = AssetsPath("x", (100.0, 150.0)), AssetsPath("best", (100.0, 9_000_000.0))
    axis = plot_paths(Figure().add_subplot(), [low], Ceiling(high, 12_000_000.0))
    assert axis.get_yscale() == "log"
    assert axis.get_ylabel() == "million yuan"
    ruined = AssetsPath("y", (100.0, -5.0))
    assert plot_paths(Figure().add_subplot(), [low, ruined], Ceiling(high)).get_yscale() == "linear"
    own = plot_paths(Figure().add_subplot(), [high], Ceiling(high))
    assert len(own.lines) == 1  # the reference is there already
    bars = plot_parts(Figure().add_subplot(), {"x": {"a": 1000.0, "b": -500.0}}, agents=["w", "x"])
    assert [bar.get_width() for bar in bars.patches] == [1.0, -0.5]


def test_a_bound_far_above_is_told_and_flattens_nothing():
    from matplotlib.figure import Figure

    paths = [AssetsPath("x", (100_000.0, 5_000.0, 120_000.0))]
    ax = plot_paths(Figure().add_subplot(), paths, Ceiling(AssetsPath("best", (100_000.0, 140_000.0)), 2_400_000.0))
    assert ax.get_ylim() == (0.0, pytest.approx(161.0))
    assert "bound: 2,400, above" in [text.get_text() for text in ax.get_legend().get_texts()]
    near = plot_paths(Figure().add_subplot(), paths, Ceiling(None, 300_000.0))
    assert "bound" in [text.get_text() for text in near.get_legend().get_texts()]
