from __future__ import annotations

import numpy as np
import pytest

from oracle.prior import SCALE, Grid, Knowledge, Seat, build_prior, regime_urgency, urgency_nodes
from terms.config import Beta
from terms.suites import fresh_suite, published_suite
from terms.types import Family, Regime, Role

COARSE = Grid(1.0, 5)


def _mean_and_mass(prior, low, high):
    middle, mass = (prior.low + prior.high) / 2, prior.weights.sum(axis=(1, 2))
    return mass @ middle, mass[(prior.low >= low) & (prior.high <= high)].sum()


def test_overlap_prior_is_uniform_over_the_widths_the_midpoint_allows():
    # own 30: z in [10, 40] and m = 30 - z/2 >= 20 leave z in [10, 20], so r is uniform on [10, 20].
    prior = build_prior(Knowledge.of(["overlap"], ["taciturn"]), 30.0, COARSE)
    assert prior.low[0] == pytest.approx(10.0)
    assert prior.high[-1] == pytest.approx(20.0)
    assert prior.weights.sum(axis=(1, 2)) == pytest.approx(np.full(10, 0.1))
    assert prior.weights.sum(axis=(0, 2)) == pytest.approx([0.3, 0.4, 0.3])


def test_no_deal_prior_has_the_density_of_the_gap():
    # f(q) proportional to 1/(100 - q) on [5, 30]: the mass below 17.5 is log(95/82.5) / log(95/70) = 0.4620.
    prior = build_prior(Knowledge.of(["no_deal"], ["taciturn"]), 40.0, Grid(0.5, 5))
    _, below = _mean_and_mass(prior, 45.0 - 1e-9, 57.5 + 1e-9)
    assert below == pytest.approx(np.log(95 / 82.5) / np.log(95 / 70), abs=1e-12)


def test_own_reservation_weighs_the_regimes():
    # Density of own = 40 under overlap: z in [10, 40] all allowed, 30/(30*60) = 1/60; under no-deal log(95/70)/25.
    prior = build_prior(Knowledge.of(["overlap", "no_deal"], ["taciturn"]), 40.0, COARSE)
    _, feasible = _mean_and_mass(prior, 0.0, 40.0)
    no_deal = np.log(95 / 70) / 25
    assert feasible == pytest.approx((1 / 60) / (1 / 60 + no_deal))


@pytest.mark.parametrize("role", list(Role))
def test_prior_matches_the_suite_it_describes(role):
    # Among fresh episodes whose own reservation lies near 60 (buyer's view), r has the prior's mean and spread.
    knowledge = Knowledge.of(families=["taciturn"])
    seen = []
    for scenario in fresh_suite(5, families=["taciturn"], n_per_cell=500):
        seat = Seat(scenario.agent_role, scenario.agent_type.reservation_price)
        if scenario.agent_role is role and abs(seat.own - 60) < 4:
            seen.append(seat.to_canonical(scenario.counterpart_type.reservation_price) - seat.own)
    prior = build_prior(knowledge, 60.0, COARSE, role)
    mean, _ = _mean_and_mass(prior, 0, 100)
    error = np.std(seen) / np.sqrt(len(seen))
    assert len(seen) > 150
    assert abs(np.mean(seen) - (mean - 60.0)) < 4 * error


def test_tied_geometry_reveals_the_published_overlap_reservation_only_when_asked():
    tied = Knowledge(knowledge_config(), (Regime.OVERLAP,), (Family.CANDID,), geometry="tied")
    for scenario in published_suite(["overlap"], ["candid"], 3):
        seat = Seat(scenario.agent_role, scenario.agent_type.reservation_price)
        other = seat.to_canonical(scenario.counterpart_type.reservation_price)
        prior = build_prior(tied, seat.own, COARSE, scenario.agent_role)
        assert (prior.low[0] + prior.high[0]) / 2 == pytest.approx(other, abs=1e-6)
        assert len(build_prior(Knowledge.of(["overlap"], ["candid"]), seat.own, COARSE, scenario.agent_role).low) > 3


def knowledge_config():
    return Knowledge.of().config


def test_a_frame_outside_the_price_range_is_refused():
    with pytest.raises(ValueError, match=r"frame=\(80.0, 40.0\); low and scale must lay it inside \[0, 100\]"):
        Knowledge(knowledge_config(), frame=(80.0, 40.0))


def test_surplus_efficiency_of_episodes_without_surplus_is_refused():
    with pytest.raises(ValueError, match="objective='se' with regimes no_deal: surplus efficiency needs regimes"):
        Knowledge(knowledge_config(), (Regime.NO_DEAL,), (Family.CANDID,), objective="se")


def test_se_objective_weighs_each_type_by_one_over_zopa():
    plain = build_prior(Knowledge.of(["overlap"], ["candid"]), 60.0, COARSE)
    tilted = build_prior(
        Knowledge(knowledge_config(), (Regime.OVERLAP,), (Family.CANDID,), objective="se"), 60.0, COARSE
    )
    width = 60.0 - (plain.low + plain.high) / 2
    expected = 1 / width / np.sum(1 / width)
    assert tilted.weights.sum(axis=(1, 2)) == pytest.approx(expected, rel=1e-3)
    # E[u/z] = E[1/z] E'[u] for any utility u of the type, here u = z^2 / 40
    before, after = (prior.weights.sum(axis=(1, 2)) for prior in (plain, tilted))
    gain = width**2 / 40
    assert before @ (gain / width) == pytest.approx((before @ (1 / width)) * (after @ gain), rel=1e-3)


def test_impossible_own_reservation_is_named():
    with pytest.raises(ValueError, match=r"own reservation 5 .* overlap"):
        build_prior(Knowledge.of(["overlap"], ["candid"]), 5.0, COARSE)


def test_urgency_nodes_keep_mass_and_mean():
    nodes, masses = urgency_nodes([Beta(a=4, b=2)], 9)
    assert masses[0] == pytest.approx(np.full(9, 1 / 9))
    assert masses[0] @ nodes == pytest.approx(4 / 6)
    nodes, by_regime = regime_urgency(Knowledge.of(["overlap", "urgency_shift"], ["candid"]), Grid(1, 15))
    assert by_regime[Regime.OVERLAP] @ nodes == pytest.approx(0.5, abs=2e-3)
    assert by_regime[Regime.URGENCY_SHIFT] @ nodes == pytest.approx(4 / 6, abs=2e-3)


def test_seat_mirrors_and_scales():
    seller = Seat(Role.SELLER, 30.0, 10.0, 60.0)
    assert seller.own == pytest.approx(60.0)
    assert seller.from_canonical(seller.to_canonical(23.0)) == pytest.approx(23.0)
    assert SCALE == 100.0


def test_grid_refuses_nonsense():
    with pytest.raises(ValueError, match="r_step=0"):
        Grid(0.0, 5)
