"""Every metric by hand on eight constructed episodes; slices, curves, exclusions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import terms
from terms import Accept, Belief
from terms.metrics import (
    METRIC_BY_NAME,
    METRICS,
    PCT_ORACLE,
    belief_error_by_round,
    compute_metrics,
    concession_curve,
    summarize,
)
from terms.types import (
    Decision,
    Family,
    Opener,
    PrivateType,
    Regime,
    ReplyFault,
    Role,
    Stance,
    Termination,
    Turn,
    Violation,
    ViolationKind,
)
from tests.terms.builders import Script, make_scenario

BASE = terms.play(make_scenario(), Script(Accept()))
OFFER, ACCEPT, REJECT = Decision
THIRD = 1 / 3


def turns(*moves):
    """Build turns from (decision, price, belief) rows; standing prices play no part in the metrics."""
    return tuple(
        Turn(index, 65.0, None, "", decision, price, "", belief)
        for index, (decision, price, belief) in enumerate(moves, start=1)
    )


def record(name, **changes):
    return replace(BASE, scenario_id=name, difficulty_bin=None, **changes)


def breach(kind, round_number=1):
    return (Violation(kind, round_number),)


NO_DEAL = {
    "regime": Regime.NO_DEAL,
    "agent_role": Role.SELLER,
    "agent_type": PrivateType(60.0, 0.5, Stance.NEUTRAL),
    "counterpart_type": PrivateType(40.0, 0.5, Stance.AGGRESSIVE),
    "zopa": -20.0,
}
# A buyer with limit 80 against 40 (zopa 40), counterpart urgency 0.5 and neutral, unless said otherwise.
EPISODES = [
    record(
        "closes", family=Family.CANDID, termination=Termination.AGENT_ACCEPT, price=60.0, utility=20.0,
        turns=turns((OFFER, 50.0, Belief(50.0, 0.7, (0.0, 1.0, 0.0))), (ACCEPT, None, None)),
    ),
    record(
        "is accepted", family=Family.TACITURN, termination=Termination.COUNTERPART_ACCEPT, price=70.0, utility=10.0,
        turns=turns(
            (OFFER, 70.0, Belief(40.0, 0.5, (1.0, 0.0, 0.0))),
            (OFFER, 70.0, Belief(60.0, 1.0, (THIRD, THIRD, THIRD))),
        ),
    ),
    record(
        "runs out", family=Family.EXPRESSIVE, termination=Termination.ROUND_LIMIT, price=None, utility=0.0,
        turns=turns((OFFER, 30.0, Belief(r_hat=70.0)), (OFFER, 20.0, None), (OFFER, 40.0, None)),
        violations=(*breach(ViolationKind.REVERSED_CONCESSION, 2), *breach(ViolationKind.TURN_BUDGET, 10)),
    ),
    record(
        "is let in", family=Family.STRATEGIC, termination=Termination.COUNTERPART_ACCEPT, price=44.0, utility=36.0,
        turns=turns((OFFER, 44.0, None)), opener=Opener.AGENT,
    ),
    record(
        "is unreadable", family=Family.EXPRESSIVE, termination=Termination.INVALID_ACTION, price=None, utility=0.0,
        turns=turns((None, None, None)), fault=ReplyFault.UNREADABLE,
        violations=breach(ViolationKind.INVALID_ACTION),
    ),
    record(
        "loses", family=Family.STRATEGIC, termination=Termination.AGENT_ACCEPT, price=50.0, utility=-10.0,
        turns=turns((ACCEPT, None, None)), violations=breach(ViolationKind.IRRATIONAL_ACCEPT), **NO_DEAL,
    ),
    record(
        "leaves", family=Family.CANDID, termination=Termination.AGENT_REJECT, price=None, utility=0.0,
        turns=turns((REJECT, None, None)), **NO_DEAL,
    ),
    record(
        "is lost", family=Family.CANDID, termination=Termination.PROVIDER_FAILURE, price=None, utility=0.0,
        turns=turns((None, None, None)), fault=ReplyFault.PROVIDER,
    ),
]  # fmt: skip

# Seven scored episodes (the eighth was lost to the provider), five of them feasible, four deals, three feasible deals.
EXPECTED = {
    "mean_utility": ((20 + 10 + 36 - 10) / 7, 7),
    "conditional_utility": ((20 + 10 + 36 - 10) / 4, 4),
    "se_plus": ((20 / 40 + 10 / 40 + 36 / 40) / 5, 5),
    "agr_plus": (3 / 5, 5),
    "cse_plus": ((0.5 + 0.25 + 0.9) / 3, 3),
    "fagr_minus": (1 / 2, 2),
    "safe_term_minus": (1 / 2, 2),
    "agent_exit_minus": (1 / 2, 2),
    # Rounds pooled. closes: (0.1 + 0.2 + 0)/3; is accepted: (0 + 0 + 2)/3 and (0.2 + 0.5 + 2/3)/3
    "be_type": ((0.1 + 2 / 3 + (0.7 + 2 / 3) / 3) / 3, 3),
    "be_r": ((0.1 + 0 + 0.2 + 0.3) / 4, 4),  # runs out states r_hat alone: |70 - 40|/100
    "be_kappa": ((0.2 + 0 + 0.5) / 3, 3),
    "brier_eta": ((0 + 2 + 2 / 3) / 3, 3),  # 1 + 1 for the wrong stance; 1/9 + 4/9 + 1/9 for the even one
    "stance_acc": (1 / 3, 3),  # an even belief names no stance
    "crit_viol_pct": (2 / 7, 7),  # is unreadable, loses
    "ir_violation_rate": (1 / 7, 7),
    "reversed_concession_rate": (1 / 7, 7),
    "turn_budget_rate": (1 / 7, 7),
    "alpha_cue": ((0.5 + 0 + 0) / 3 - (0.25 + 0.9) / 2, 5),
    "alpha_inf": ((0.5 + 0.25) / 2 - (0 + 0.9 + 0) / 3, 5),
    "agent_closer_rate": (2 / 4, 4),
    "opening_anchor": ((0.3 + 0.1 + 0.5 + 0.36) / 4, 4),
    "rounds_played": ((2 + 2 + 3 + 1 + 1 + 1 + 1) / 7, 7),
    "unreadable_rate": (1 / 7, 7),
    "empty_rate": (0, 7),
    "refused_rate": (0, 7),
    "truncated_rate": (0, 7),
}


def test_every_metric_has_a_hand_computed_value():
    assert [metric.name for metric in METRICS] == list(EXPECTED)
    assert len({metric.label for metric in METRICS}) == len(METRICS)


@pytest.mark.parametrize("name", EXPECTED)
def test_metric_by_hand(name):
    value, n = EXPECTED[name]
    found = summarize(EPISODES).overall[name]
    assert found.estimate == pytest.approx(value, abs=1e-12)
    assert found.n == n
    # Eight episodes at most say too little of a mean; a share has its exact interval all the same.
    assert (found.low is not None) == (METRIC_BY_NAME[name].unit == "share")
    assert found.low is None or found.low <= found.estimate <= found.high


@pytest.mark.parametrize("name", EXPECTED)
def test_every_metric_is_undefined_without_episodes(name):
    for episodes in ([], EPISODES[-1:]):
        found = summarize(episodes).overall[name]
        assert found == (None, None, None, 0)


def test_metrics_are_defined_where_the_table_says():
    denominators = {"feasible": 0, "feasible deals": 0, "infeasible": 1, "deals": 1, "all": 1}
    found = summarize([episode for episode in EPISODES if episode.scenario_id == "loses"]).overall
    for metric in METRICS:
        if metric.denominator in denominators:
            assert found[metric.name].n == denominators[metric.denominator], metric.name
            assert (found[metric.name].estimate is None) == (found[metric.name].n == 0)


def test_belief_metrics_pool_rounds_as_the_published_ones_do():
    # Published stance accuracy of Claude Opus 4.6 (terms-bench.github.io): by regime 0.494593, 0.459434, 0.399215 and
    # overall 0.4428495. These are 1052/2127, 957/2083 and 1323/3314 rounds, and overall is their pooled share.
    published = [(0.49459332393041844, 2127), (0.45943350936149785, 2083), (0.3992154496077248, 3314)]
    pooled = sum(share * rounds for share, rounds in published) / sum(rounds for _, rounds in published)
    assert pooled == pytest.approx(0.442849548112706, abs=1e-12)
    summary = summarize(EPISODES)
    for name in ("be_type", "be_r", "be_kappa", "brier_eta", "stance_acc"):
        parts = [part[name] for part in summary.families.values() if part[name].estimate is not None]
        pooled = sum(part.estimate * part.n for part in parts) / sum(part.n for part in parts)
        assert summary.overall[name].estimate == pytest.approx(pooled, abs=1e-12)


def test_belief_errors_by_round():
    by_round = summarize(EPISODES).by_round
    assert list(by_round) == ["be_r", "be_kappa", "brier_eta", "stance_acc", "be_type"]
    # Round 1: closes 0.1, is accepted 0, runs out 0.3; round 2: is accepted 0.2; nobody after that.
    assert [value.estimate for value in by_round["be_r"][:3]] == [pytest.approx(0.4 / 3), pytest.approx(0.2), None]
    assert [value.n for value in by_round["stance_acc"][:3]] == [2, 1, 0]


def test_deals_that_never_happened_leave_conditional_metrics_undefined():
    found = summarize([episode for episode in EPISODES if episode.scenario_id in ("runs out", "leaves")]).overall
    for name in ("conditional_utility", "cse_plus", "agent_closer_rate"):
        assert found[name] == (None, None, None, 0)
    assert found["se_plus"].estimate == 0.0
    assert found["fagr_minus"].estimate == 0.0


def test_provider_failures_are_excluded_and_counted():
    summary = summarize(EPISODES)
    assert (summary.num_episodes, summary.num_excluded) == (8, 1)
    assert summary.overall == summarize(EPISODES[:-1]).overall
    assert summarize(EPISODES[-1:]).num_excluded == 1


def test_slices():
    summary = summarize([replace(EPISODES[0], difficulty_bin=3), *EPISODES[1:]])
    # Only groups that occur; the closed order of the game, not of the episodes.
    assert list(summary.regimes) == ["overlap", "no_deal"]
    assert list(summary.families) == ["candid", "taciturn", "expressive", "strategic"]
    assert list(summary.roles) == ["buyer", "seller"]
    assert list(summary.openers) == ["counterpart_opens", "agent_opens"]
    assert list(summary.difficulty) == ["bin_3"]
    assert summary.regimes["no_deal"]["mean_utility"].estimate == -5.0
    assert summary.families["candid"]["mean_utility"].n == 2
    assert summary.roles["seller"]["se_plus"].estimate is None
    assert summary.openers["agent_opens"]["mean_utility"].estimate == 36.0
    assert summary.difficulty["bin_3"]["mean_utility"].estimate == 20.0


def test_the_json_object_has_null_for_undefined_and_no_nan():
    shown = summarize(EPISODES).to_json_object()
    text = json.dumps(shown, allow_nan=False)
    assert json.loads(text) == shown
    assert list(shown) == [
        "overall", "regimes", "families", "roles", "openers", "difficulty", "by_round", "num_episodes",
        "num_excluded",
    ]  # fmt: skip
    assert shown["roles"]["seller"]["se_plus"] == {"estimate": None, "low": None, "high": None, "n": 0}
    assert set(shown["overall"]["agr_plus"]) == {"estimate", "low", "high", "n"}


def test_repeats_of_a_scenario_form_one_cluster():
    episodes = EPISODES[:4]
    once, thrice = summarize(episodes).overall, summarize(episodes * 3).overall
    for name in ("mean_utility", "se_plus", "opening_anchor"):
        assert thrice[name][:3] == pytest.approx(once[name][:3], abs=1e-12)
        assert thrice[name].n == 3 * once[name].n


def test_share_of_the_reference_policy():
    # On the same feasible scenarios the reference takes 0.5, 0.5 and 1 of the zopa: (0.5 + 0.25 + 0)/(0.5 + 0.5 + 1).
    reference = [
        replace(EPISODES[0], utility=20.0, price=60.0),
        replace(EPISODES[1], utility=20.0, price=60.0),
        replace(EPISODES[2], utility=40.0, price=40.0),
        EPISODES[5],
    ]
    overall = summarize(EPISODES, reference).overall
    assert overall["pct_oracle_se"].estimate == pytest.approx(0.75 / 2.0, abs=1e-12)
    assert overall["pct_oracle_se"].n == 3
    # CSE+ is 0.75 over its own two deals, the reference's 2 over three.
    assert overall["pct_oracle_cse"].estimate == pytest.approx((0.75 / 2) / (2 / 3), abs=1e-12)
    assert overall["pct_oracle_cse"].n == 2
    assert not set(PCT_ORACLE) & set(summarize(EPISODES).overall)
    assert [compute_metrics(EPISODES, {})[name] for name in PCT_ORACLE] == [(None, None, None, 0)] * 2


def test_a_reference_trial_lost_to_the_provider_forms_no_pair():
    lost = replace(EPISODES[1], termination=Termination.PROVIDER_FAILURE, price=None, utility=0.0)
    found = summarize(EPISODES, [EPISODES[0], lost]).overall["pct_oracle_se"]
    assert (found.estimate, found.n) == (1.0, 1)


def test_belief_error_by_round():
    curve = belief_error_by_round(EPISODES)
    assert len(curve) == 10
    # Round 1: closes 0.1, is accepted (0 + 0 + 2)/3; round 2: is accepted (0.2 + 0.5 + 2/3)/3; incomplete: left out.
    assert curve[0].estimate == pytest.approx((0.1 + 2 / 3) / 2, abs=1e-12)
    assert curve[0].n == 2
    assert curve[1].estimate == pytest.approx((0.2 + 0.5 + 2 / 3) / 3, abs=1e-12)
    assert curve[2] == (None, None, None, 0)


def test_concession_curve():
    curve = concession_curve(EPISODES)
    # Distances from 80: round 1 of 50, 70, 30, 44; round 2 of 70, 20; round 3 of 40.
    assert curve[0].estimate == pytest.approx((0.3 + 0.1 + 0.5 + 0.36) / 4, abs=1e-12)
    assert curve[1].estimate == pytest.approx((0.1 + 0.6) / 2, abs=1e-12)
    assert (curve[2].estimate, curve[2].n) == (pytest.approx(0.4, abs=1e-12), 1)
    assert concession_curve([]) == []


def test_a_seller_anchors_upwards():
    seller = record(
        "sells", agent_role=Role.SELLER, agent_type=PrivateType(40.0, 0.5, Stance.NEUTRAL),
        counterpart_type=PrivateType(80.0, 0.5, Stance.NEUTRAL), turns=turns((OFFER, 75.0, None)),
    )  # fmt: skip
    assert summarize([seller]).overall["opening_anchor"].estimate == pytest.approx(0.35, abs=1e-12)
    assert concession_curve([seller])[0].estimate == pytest.approx(0.35, abs=1e-12)
