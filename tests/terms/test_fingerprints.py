"""Fingerprints against hand-computed trajectories, styles against agents written in a known one."""

from __future__ import annotations

import math

import pytest

import terms
from terms import Offer, Reject
from terms.fingerprints import (
    ACCEPTER_CLOSER_RATE,
    ACCEPTER_SURPLUS,
    ANCHOR_DEMAND,
    CONCEDE_PACE,
    HOLD_PACE,
    REFUSAL_SHARE,
    REFUSER_CLOSER_RATE,
    Style,
    classify_style,
    fingerprint,
)
from terms.types import ReplyFault, Role, Unusable
from tests.terms.builders import make_scenario, scripted_noise

SUITE = terms.fresh_suite(seed=11, n_per_cell=3)
TYPICAL = {"exit_rate": 0.0, "closer_rate": 0.5, "surplus": 0.8, "demand": 2.0, "pace": 1.0}


def moves(*prices: float):
    """Offer the prices, then leave."""
    return [*(Offer(price) for price in prices), Reject()]


def style_of(**changed: float | None):
    return classify_style(**{**TYPICAL, **changed})


@pytest.mark.parametrize(
    ("agent", "style"),
    [
        ("boulware", Style.ANCHOR_AND_HOLD),
        ("exploit", Style.ANCHOR_AND_HOLD),
        ("linear", Style.BALANCED),
        ("tit-for-tat", Style.BALANCED),
        ("patient", Style.BALANCED),
        ("conceder", Style.ANCHOR_AND_CONCEDE),
        ("split-the-difference", Style.ANCHOR_AND_CONCEDE),
        ("accept-any", Style.ACCEPTER),
        ("fixed-0.01", Style.ACCEPTER),
        ("fixed-0.10", Style.ACCEPTER),
        ("fixed-0.30", Style.ACCEPTER),
        ("never-accept", Style.REFUSER),
        ("random", Style.REFUSER),
    ],
)
def test_scripted_agents_have_the_style_they_were_written_in(agent, style):
    player = terms.agents.build_scripted(agent)
    assert fingerprint([terms.play(scenario, player) for scenario in SUITE]).style is style


@pytest.mark.parametrize(
    ("changed", "style"),
    [
        ({"exit_rate": REFUSAL_SHARE}, Style.REFUSER),
        ({"exit_rate": math.nextafter(REFUSAL_SHARE, 0)}, Style.BALANCED),
        ({"closer_rate": math.nextafter(REFUSER_CLOSER_RATE, 0)}, Style.REFUSER),
        ({"closer_rate": REFUSER_CLOSER_RATE}, Style.BALANCED),
        ({"closer_rate": ACCEPTER_CLOSER_RATE, "surplus": 0.4}, Style.ACCEPTER),
        ({"closer_rate": math.nextafter(ACCEPTER_CLOSER_RATE, 0), "surplus": 0.4}, Style.BALANCED),
        ({"closer_rate": 0.9, "surplus": ACCEPTER_SURPLUS, "pace": 0.1}, Style.ANCHOR_AND_HOLD),
        ({"closer_rate": 0.9, "surplus": math.nextafter(ACCEPTER_SURPLUS, 0), "pace": 0.1}, Style.ACCEPTER),
        ({"demand": math.nextafter(ANCHOR_DEMAND, 0), "pace": 0.0}, Style.BALANCED),
        ({"demand": ANCHOR_DEMAND, "pace": 0.0}, Style.ANCHOR_AND_HOLD),
        ({"pace": math.nextafter(HOLD_PACE, 0)}, Style.ANCHOR_AND_HOLD),
        ({"pace": HOLD_PACE}, Style.BALANCED),
        ({"pace": CONCEDE_PACE}, Style.BALANCED),
        ({"pace": math.nextafter(CONCEDE_PACE, 2)}, Style.ANCHOR_AND_CONCEDE),
    ],
)
def test_every_threshold_from_both_sides(changed, style):
    assert style_of(**changed) is style


def test_a_style_is_undefined_where_what_it_rests_on_is():
    assert style_of(exit_rate=None) is None
    assert style_of(demand=None) is None
    assert style_of(pace=None) is None
    assert style_of(pace=None, demand=0.5) is Style.BALANCED  # an opening inside the zopa needs no trajectory
    assert style_of(closer_rate=None, surplus=None) is Style.BALANCED  # no deal yet, but the offers speak
    assert style_of(exit_rate=1.0, closer_rate=None, surplus=None, demand=None, pace=None) is Style.REFUSER


def test_anchor_demand_and_pace_by_hand():
    # Buyer, limit 80 against 40: zopa 40, R 100, K 10. Offers 30 and 50: distances 50 and 30.
    # anchor 50/100; demand 50/40; pace 9 x (50 - 30)/50 in one round = 3.6.
    found = fingerprint([terms.replay(make_scenario(noise=scripted_noise()), moves(30.0, 50.0))])
    assert found.opening_anchor.estimate == pytest.approx(0.5, abs=1e-12)
    assert found.opening_demand.estimate == pytest.approx(1.25, abs=1e-12)
    assert found.concession_pace.estimate == pytest.approx(3.6, abs=1e-12)
    assert [point.estimate for point in found.concession_curve[:3]] == [pytest.approx(0.5), pytest.approx(0.3), None]
    assert found.feasible_exit_rate[::3] == (1.0, 1)
    assert found.agent_closer_rate.n == 0
    assert found.agent_closer_rate.estimate is None


def test_pace_spans_the_rounds_between_first_and_last_offer():
    # Distances 50, 45, 40, 30 in rounds 1 to 4: 9 x (50 - 30)/(50 x 3) = 1.2.
    found = fingerprint([terms.replay(make_scenario(noise=scripted_noise()), moves(30.0, 35.0, 40.0, 50.0))])
    assert found.concession_pace.estimate == pytest.approx(1.2, abs=1e-12)


def test_seller_mirrors_buyer():
    # Seller, limit 40 against 80: offers 90 and 70 have distances 50 and 30, as above.
    scenario = make_scenario(own=40.0, other=80.0, role=Role.SELLER, noise=scripted_noise())
    found = fingerprint([terms.replay(scenario, moves(90.0, 70.0))])
    assert found.opening_demand.estimate == pytest.approx(1.25, abs=1e-12)
    assert found.concession_pace.estimate == pytest.approx(3.6, abs=1e-12)


def test_demand_is_a_ratio_of_sums_so_a_thin_zopa_does_not_dominate():
    # zopas 40 and 1, distances 50 and 50: (50 + 50)/(40 + 1), not the mean of 1.25 and 50.
    wide = terms.replay(make_scenario(noise=scripted_noise()), moves(30.0))
    thin = terms.replay(make_scenario(other=79.0, noise=scripted_noise(), scenario_id="made/1"), moves(30.0))
    assert fingerprint([wide, thin]).opening_demand.estimate == pytest.approx(100 / 41, abs=1e-12)


def test_an_opening_at_the_own_limit_has_no_distance_to_give_up():
    found = fingerprint([terms.replay(make_scenario(noise=scripted_noise()), moves(80.0, 80.0))])
    assert found.concession_pace.estimate is None
    assert found.concession_pace.n == 0
    assert found.opening_demand.estimate == 0.0


def test_linear_agent_is_on_the_even_pace_exactly():
    player = terms.agents.build_scripted("linear")
    pace = fingerprint([terms.play(scenario, player) for scenario in SUITE]).concession_pace
    assert pace.estimate == pytest.approx(1.0, abs=1e-9)


def test_dynamics_use_feasible_and_self_constraint_infeasible_episodes():
    infeasible = make_scenario(own=40.0, other=80.0, noise=scripted_noise(), scenario_id="made/none")
    found = fingerprint(
        [
            terms.replay(make_scenario(noise=scripted_noise()), moves(30.0)),
            terms.replay(infeasible, moves(45.0)),  # past its own limit of 40
        ]
    )
    assert found.opening_anchor.n == 1
    assert (found.ir_violation_rate.estimate, found.ir_violation_rate.n) == (1.0, 1)
    assert (found.agent_exit_minus.estimate, found.agent_exit_minus.n) == (1.0, 1)


def test_nothing_played_and_nothing_scored_is_undefined_not_zero():
    lost = terms.replay(make_scenario(noise=scripted_noise()), [Unusable(ReplyFault.PROVIDER, "HTTP 503")])
    for episodes in ([], [lost]):
        found = fingerprint(episodes)
        assert found.style is None
        assert found.concession_curve == ()
        for name in ("opening_anchor", "opening_demand", "concession_pace", "agent_closer_rate", "feasible_exit_rate"):
            assert getattr(found, name).estimate is None, name
