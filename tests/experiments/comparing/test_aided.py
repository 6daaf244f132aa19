"""What an aid changes, by hand: against the agent without it, and the second step against the first."""

from __future__ import annotations

import json

import pytest

from experiments.comparing.aided import aid_gains
from experiments.comparing.years import YearOutcomes, compare_years


def outcomes(**by_agent):
    return YearOutcomes(
        {name: {str(w): [float(v)] for w, v in enumerate(values)} for name, values in by_agent.items()}, {}
    )


def gains(values):
    return {(gain.aided, gain.plain): gain for gain in aid_gains(compare_years(values, "final_assets"))}


def test_the_two_steps_of_memory_add_up():
    plain, told, held = [10, 12, 9, 14] * 2, [13, 15, 13, 18] * 2, [12, 14, 13, 16] * 2
    values = outcomes(**{"x": plain, "x+remind": told, "x+enforce": held, "y": plain})
    found = gains(values)
    assert set(found) == {("x+remind", "x"), ("x+enforce", "x+remind")}
    first, second = found["x+remind", "x"], found["x+enforce", "x+remind"]
    assert first.gain == pytest.approx(3.5)
    assert second.gain == pytest.approx(-1.0)
    assert first.gain + second.gain == pytest.approx((sum(held) - sum(plain)) / 8)
    assert first.low < first.gain < first.high
    assert (first.cause, second.cause) == ("did not remember its own quote", "remembered it and did not act on it")
    assert first.in_words().startswith("x+remind - x: 3.500 [")


def test_an_aid_alone_is_measured_against_the_agent_without_it():
    found = gains(outcomes(**{"z": [1, 2, 3, 4], "z+ledger": [2, 3, 4, 9], "z+delivery-check": [4, 4, 4, 4]}))
    assert set(found) == {("z+delivery-check", "z")}
    assert found["z+delivery-check", "z"].cause is None
    held = gains(outcomes(**{"z": [1, 2, 3, 4], "z+enforce": [2, 3, 4, 9]}))
    assert held["z+enforce", "z"].cause is None
    assert not gains(outcomes(a=[1, 2, 3], b=[1, 2, 4]))


def test_years_with_aids_are_played_verified_and_compared(terms, tmp_path):
    play = ("year", "--agent", "rule-based", "--rules", "fair", "--days", 40)
    for aids in ((), ("--aid", "remind"), ("--aid", "enforce", "--aid", "auto-withdrawal")):
        assert terms(*play, *aids)[0] == 0
    base = tmp_path / "runs"
    folders = sorted(path.name for path in base.iterdir())
    assert folders == [
        "year-rule-based+enforce+auto-withdrawal-fair",
        "year-rule-based+remind-fair",
        "year-rule-based-fair",
    ]
    for folder in base.glob("*/*"):
        assert terms("verify", folder)[0] == 0
    plain, told = (
        json.loads((next((base / f"year-rule-based{aid}-fair").iterdir()) / "result.json").read_text())
        for aid in ("", "+remind")
    )
    assert plain["state_digest"] == told["state_digest"]
    assert "aids" not in plain["spec"]
    assert told["spec"]["aids"] == ["remind"]
    code, printed, _ = terms("compare", *base.glob("*"), "--json")
    assert code == 0
    found = json.loads(printed)
    assert [row["aided"] for row in found["aids"]] == ["rule-based+remind"]
    assert {row["agent"] for row in found["dimensions"]} == {
        "rule-based", "rule-based+remind", "rule-based+enforce+auto-withdrawal",
    }  # fmt: skip
    _, printed, _ = terms("compare", *base.glob("*"))
    assert "did not remember its own quote" in printed
    assert "Among the first 5 in all seven" in printed


@pytest.mark.parametrize(("aid", "says"), [("luck", "aid='luck', allowed are remind"), ("remind", "given twice")])
def test_an_unknown_aid_is_named(terms, aid, says):
    code, _, told = terms("year", "--agent", "idle", "--days", 1, "--aid", aid, "--aid", aid)
    assert code == 2
    assert says in told
