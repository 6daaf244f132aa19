"""How the surplus was lost: parts that add up to what was there, and episodes told in a line."""

import pytest

from experiments.report.losing import TAKEN, costliest, loss_parts, main_loss, share_words, way_of
from experiments.report.published import PUBLISHED_MODELS, place_among
from terms.agents import build_scripted
from terms.metrics import summarize
from terms.types import Role
from tests.experiments.report.cases import FRESH, leaver, lost, played, silent


@pytest.mark.parametrize("name", ["patient", "random", "accept-any", "boulware"])
def test_taken_is_se_plus_and_the_losses_are_the_rest(name):
    records = played(build_scripted(name), FRESH, name=name, label="x").episodes
    parts = loss_parts(records)
    assert parts[TAKEN] == pytest.approx(summarize(records).overall["se_plus"])
    assert sum(part.estimate for part in parts.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("agent", "way"),
    [
        (leaver, "leaving where a deal was possible"),
        (silent, "replies that were no move"),
        (build_scripted("accept-any"), "agreeing with rounds to spare"),
    ],
)
def test_the_way_of_a_plain_fault_is_named(agent, way):
    run = played(agent, [each for each in FRESH if each.zopa > 0], name="x", label="x")
    scored = [record for record in run.episodes if not record.is_excluded]
    assert {way_of(record) for record in scored} <= {way, "talks the other side left", "offering more than was needed"}
    assert main_loss(loss_parts(run.episodes)).endswith(f"is {way}")


def test_nothing_scored_is_undefined_and_says_nothing():
    parts = loss_parts(played(lost, FRESH, name="x", label="x").episodes)
    assert all(part.estimate is None for part in parts.values())
    assert main_loss(parts) == ""
    assert costliest(played(lost, FRESH, name="x", label="x").episodes, 3, 99) == []


def test_shares_are_said_as_one_says_them():
    said = [share_words(share) for share in (0.25, 0.34, 0.49, 0.66, 0.76, 0.88, 1.0)]
    assert said == ["a quarter", "a third", "half", "two thirds", "three quarters", "88 %", "100 %"]


def test_the_costliest_are_told_with_what_was_to_be_had():
    records = played(build_scripted("accept-any"), FRESH, name="x", label="x").episodes
    told = costliest(records, 3, len(records))
    by_id = {record.scenario_id: record for record in records}
    for one in told:
        record = by_id[one.scenario_id]
        assert one.lost == pytest.approx(max(record.zopa - record.utility, -record.utility * (not record.is_feasible)))
        assert f"{record.price:,.2f}" in one.words
        assert ("seller" in one.words) is (record.agent_role == Role.BUYER)
    (left,) = costliest(played(leaver, FRESH, name="x", label="x").episodes, 1, 99)
    assert left.words.startswith("no deal with a")
    assert f"a deal worth {left.lost:,.2f} was there" in left.words


def test_published_models_are_in_order_and_place_a_score():
    scores = [model.se_plus for model in PUBLISHED_MODELS]
    assert scores == sorted(scores, reverse=True)
    assert all(model.se_plus == pytest.approx(model.agr_plus * model.cse_plus, abs=2e-3) for model in PUBLISHED_MODELS)
    assert place_among(0.9) == "above all 12 published models"
    assert place_among(0.1) == "below all 12 published models"
    assert place_among(0.65) == "between Claude Opus 4.7 and Gemma 4 31B"
