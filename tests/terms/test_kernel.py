"""Kernel formulas against values worked out by hand; constants from TERMS-Bench (arXiv 2605.13909), Tables 3-6."""

from __future__ import annotations

import math

import pytest

from terms import GameConfig
from terms.config import ConcessionConfig, OpeningConfig, Uniform, WalkConfig
from terms.kernel import (
    NO_HISTORY,
    Features,
    accept_prob,
    concession_rate,
    counter_offer,
    favourability,
    history_features,
    kernel_params,
    opening_price,
    opening_scale,
    sigmoid,
    walk_prob,
)
from terms.payoffs import utility, zopa
from terms.types import Channel, Family, Stance

CON, NEU, AGG = Stance

# Tables 3-4: rho, xi, lambda2 by (conciliatory, neutral, aggressive), sigma_p / R, cue channel, stance prior.
USUAL = (0.3, 0.4, 0.3)
FAMILIES = {
    "candid": ((0, -0.25, -0.75), (0.40, 0, -0.50), (0.30, 0.50, 1.00), 0.01, "informative", USUAL),
    "taciturn": ((0, -0.25, -0.75), (0.40, 0, -0.50), (0.30, 0.50, 1.00), 0.01, "collapsed", USUAL),
    "expressive": ((0, -0.75, -1.50), (0.40, 0, -0.75), (0.45, 0.90, 1.80), 0.03, "informative", USUAL),
    "strategic": ((0, -0.75, -1.50), (0.40, 0, -0.75), (0.45, 0.90, 1.80), 0.03, "collapsed", USUAL),
    "stochastic": ((0, -0.50, -1.10), (0.35, 0, -0.60), (0.35, 0.70, 1.40), 0.08, "noisy", USUAL),
    "adversarial": (
        (-0.25, -1.25, -2.25), (0, -0.50, -1.20), (0.60, 1.40, 2.60), 0.01, "pressuring", (0.05, 0.15, 0.80),
    ),
}  # fmt: skip


def params(family="candid", stance=NEU, price_range=100.0, **config):
    return kernel_params(GameConfig(**config), Family(family), stance, price_range)


def test_every_family_is_tabulated():
    assert set(FAMILIES) == {family.value for family in Family}


@pytest.mark.parametrize("family", FAMILIES)
def test_family_constants(family):
    rho, xi, lambda2, noise, channel, prior = FAMILIES[family]
    preset = GameConfig().families[Family(family)]
    assert preset.channel is Channel(channel)
    assert preset.stance_prior == prior
    for index, stance in enumerate(Stance):
        flat = params(family, stance, price_range=50.0)
        assert (flat.rho, flat.xi, flat.lambda_2) == (rho[index], xi[index], lambda2[index])
        assert flat.noise_sd == noise * 50.0
        assert flat.opening_sd == 0.02 * 50.0


@pytest.mark.parametrize(
    ("price", "reservation", "sign", "gain"),
    [
        (60, 40, 1, 0.2),  # the counterpart sells: (60 - 40) / 100
        (60, 70, -1, 0.1),  # it buys: (70 - 60) / 100
        (60, 70, 1, -0.1),
        (40, 40, 1, 0.0),
    ],
)
def test_favourability(price, reservation, sign, gain):
    assert favourability(price, reservation, sign, 100.0) == pytest.approx(gain, abs=1e-15)


def test_sigmoid_at_known_points_and_extremes():
    assert sigmoid(0.0) == 0.5
    assert sigmoid(math.log(3.0)) == pytest.approx(0.75, abs=1e-15)
    assert sigmoid(-math.log(3.0)) == pytest.approx(0.25, abs=1e-15)
    assert sigmoid(1e6) == 1.0
    assert sigmoid(-1e6) == 0.0


@pytest.mark.parametrize(
    ("family", "stance", "k", "gain", "urgency", "features", "logit"),
    [
        # 6 x 0.2 + 0.5 - 2 (1 - sqrt(16/16)) = 1.7
        ("candid", NEU, 16, 0.2, 0.5, NO_HISTORY, 1.7),
        # 6 x 0 + 0.25 - 2 (1 - sqrt(4/16)) = 0.25 - 1
        ("candid", NEU, 4, 0.0, 0.25, NO_HISTORY, -0.75),
        # 6 x 0.1 + 1 - 2 (1 - 1/4) - 0.75 x 0.04 - 0.50 x 1 = 0.6 + 1 - 1.5 - 0.03 - 0.5
        ("candid", AGG, 1, 0.1, 1.0, Features(0.04, 0.9, 1.0), -0.43),
        # 6 x 0.1 + 0 - 2 (1 - 3/4) + 0 x 0.04 + 0.40 x 1 = 0.6 - 0.5 + 0.4
        ("expressive", CON, 9, 0.1, 0.0, Features(0.04, 0.9, 1.0), 0.5),
        # 6 x 0.1 + 0 - 2 (1 - 3/4) - 2.25 x (-0.1) - 1.20 x 0 = 0.6 - 0.5 + 0.225
        ("adversarial", AGG, 9, 0.1, 0.0, Features(-0.1, 0.9, 0.0), 0.325),
    ],
)
def test_accept_prob(family, stance, k, gain, urgency, features, logit):
    found = accept_prob(gain, urgency, k, features, params(family, stance, horizon=16))
    assert found == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-14)


def test_a_losing_offer_is_never_accepted():
    assert accept_prob(-1e-12, 1.0, 10, Features(0, 0, 1), params("candid", CON)) == 0.0
    assert accept_prob(0.0, 1.0, 10, Features(0, 0, 1), params("candid", CON)) > 0.5


@pytest.mark.parametrize(
    ("k", "gain", "prob"),
    [
        (4, -0.1, 0.0),  # before ceil(10 / 2)
        (5, -0.1, 0.18242552380635635),  # sigma(-4.5 + 30 x 0.1 + 0) = sigma(-1.5)
        (7, -0.1, 0.2890504973749960),  # sigma(-4.5 + 3 + 1.5 x 2/5) = sigma(-0.9)
        (10, -0.1, 0.5),  # sigma(-4.5 + 3 + 1.5) = sigma(0)
        (10, -0.2, 0.9525741268224334),  # sigma(-4.5 + 6 + 1.5) = sigma(3)
        (10, 0.0, 0.0),
        (10, 0.1, 0.0),
    ],
)
def test_walk_prob(k, gain, prob):
    assert walk_prob(gain, k, params()) == pytest.approx(prob, abs=1e-15)


@pytest.mark.parametrize(
    ("horizon", "grace", "first"), [(10, 0.5, 5), (9, 0.5, 5), (1, 0.5, 1), (10, 0.0, 0), (10, 1.0, 10)]
)
def test_grace_period_rounds_up(horizon, grace, first):
    flat = params(horizon=horizon, walk=WalkConfig(grace=grace))
    assert flat.walk_round == first
    assert walk_prob(-0.1, first, flat) > 0
    assert walk_prob(-0.1, first - 1, flat) == 0


def test_walk_clock_has_run_out_when_no_round_follows_the_grace_period():
    # K = 1: ceil(1/2) = 1 = K, so tau = 1: sigma(-4.5 + 3 + 1.5).
    assert walk_prob(-0.1, 1, params(horizon=1)) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(
    ("offers", "sign", "features"),
    [
        ([], 1, (0, 0, 0)),
        ([50], 1, (0, 0, 0)),
        ([50, 55], 1, (0.05, 0.05, 1)),  # 5/100, below 0.10: rigid
        ([50, 62.5], 1, (0.125, 0.125, 0)),
        ([50, 55, 58], 1, (0.04, 0.04, 1)),  # (0.05 + 0.03) / 2
        ([90, 85, 82], -1, (0.04, 0.04, 1)),  # the same seen by a seller
        ([50, 62.5, 56.25], 1, (0.03125, 0.0625, 1)),  # (0.125 - 0.0625)/2 and (0.125 + 0)/2; last gain 0
        ([0, 50, 62.5, 75, 87.5], 1, (0.125, 0.125, 0)),  # only the last three differences count
        ([50, 50, 62.5], 1, (0.0625, 0.0625, 0)),  # rigidity looks at the last difference alone
    ],
)
def test_history_features(offers, sign, features):
    assert history_features(offers, sign, params()) == pytest.approx(features, abs=1e-15)


def test_history_features_scale_with_the_price_range_and_the_window():
    assert history_features([50, 55], 1, params(price_range=20.0)) == pytest.approx((0.25, 0.25, 0))
    short = params(concession=ConcessionConfig(window=1))
    assert history_features([0, 50, 62.5], 1, short) == pytest.approx((0.125, 0.125, 0))
    # At the threshold exactly the offer is not rigid.
    assert history_features([0, 25], 1, params(concession=ConcessionConfig(rigidity_threshold=0.25))).rigidity == 0


@pytest.mark.parametrize(
    ("stance", "urgency", "magnitude", "rate"),
    [
        (CON, 0.5, 0.05, 0.345),  # 0.12 + 0.28 x 0.5 - 0.30 x 0.05 + 0.10
        (NEU, 0.5, 0.04, 0.24),  # 0.12 + 0.14 - 0.50 x 0.04
        (AGG, 0.5, 0.05, 0.11),  # 0.12 + 0.14 - 1.00 x 0.05 - 0.10
        (AGG, 0.0, 0.5, 0.0),  # 0.12 - 0.5 - 0.1 < 0
    ],
)
def test_concession_rate(stance, urgency, magnitude, rate):
    found = concession_rate(urgency, Features(9.0, magnitude, 1.0), params("candid", stance))
    assert found == pytest.approx(rate, abs=1e-15)


def test_concession_rate_is_cut_at_one():
    assert concession_rate(0.5, NO_HISTORY, params(concession=ConcessionConfig(lambda_0=3.0))) == 1.0


@pytest.mark.parametrize(
    ("previous", "reservation", "noise", "sign", "price"),
    [
        (80, 40, 0, 1, 70),  # 80 - 0.25 x 40
        (80, 40, 4, 1, 74),
        (80, 40, 15, 1, 80),  # 85 would go back
        (80, 40, -50, 1, 40),  # 20 is past the reservation
        (20, 60, 0, -1, 30),  # 20 + 0.25 x 40
        (20, 60, -15, -1, 20),
        (20, 60, 50, -1, 60),
    ],
)
def test_counter_offer(previous, reservation, noise, sign, price):
    assert counter_offer(previous, reservation, 0.25, noise, sign) == price


@pytest.mark.parametrize(
    ("stance", "urgency", "scale"),
    [
        (NEU, 0.5, 0.85),  # 1 - 0.30 x 0.5
        (AGG, 0.0, 1.15),  # 1 + 0.15
        (CON, 1.0, 0.55),  # 1 - 0.30 - 0.15
    ],
)
def test_opening_scale(stance, urgency, scale):
    assert opening_scale(urgency, params("candid", stance)) == pytest.approx(scale, abs=1e-15)


def test_opening_scale_is_cut():
    bounds = OpeningConfig(phi_bounds=Uniform(low=0.9, high=1.1))
    assert opening_scale(1.0, params("candid", CON, opening=bounds)) == 0.9
    assert opening_scale(0.0, params("candid", AGG, opening=bounds)) == 1.1


@pytest.mark.parametrize(
    ("reservation", "bound", "noise", "sign", "price"),
    [
        (40, 100, 1, 1, 66.5),  # 40 + 0.5 x 0.85 x 60 + 1
        (60, 0, 1, -1, 35.5),  # 60 - 0.5 x 0.85 x 60 + 1
        (40, 100, 100, 1, 100),
        (40, 100, -100, 1, 40),
        (60, 0, -100, -1, 0),
        (60, 0, 100, -1, 60),
    ],
)
def test_opening_price(reservation, bound, noise, sign, price):
    assert opening_price(reservation, bound, 0.5, 0.85, noise, sign) == pytest.approx(price, abs=1e-13)


def test_payoffs():
    assert utility(30.0, 50.0, 1) == 20.0
    assert utility(30.0, 50.0, -1) == -20.0
    assert zopa(80.0, 50.0, 1) == 30.0
    assert zopa(50.0, 80.0, -1) == 30.0
    assert zopa(50.0, 80.0, 1) == -30.0
