"""Fresh draws follow the laws of section 1.1; streams are independent of one another and of their neighbours.

Every check uses fixed seeds, so none can fail by chance; thresholds are p-values a right sampler passes easily.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import terms
from terms import GameConfig
from terms.cells import Cell
from terms.config import PriorConfig, Uniform
from terms.draws import Draws, between, pick, reservations
from terms.kernel import STANCES
from terms.noise import CueDraw, Noise, keyed_noise, released_noise
from terms.suites import difficulty_edges, fresh_suite
from terms.types import Family, Opener, Regime, Role, Stance

P_VALUE = 1e-3


@cache
def suite(regime):
    return fresh_suite(2024, regimes=[regime], n_per_cell=25)


def p_value(sample, law):
    from scipy import stats  # slow to import, and only these checks need it

    return stats.kstest(sample, law).pvalue


def uniform(low, high):
    from scipy import stats

    return stats.uniform(low, high - low).cdf


def beta(a, b):
    from scipy import stats

    return stats.beta(a, b).cdf


def middle(scenario):
    return (scenario.agent_type.reservation_price + scenario.counterpart_type.reservation_price) / 2


@pytest.mark.parametrize("regime", ["overlap", "urgency_shift", "urgency_shift_reverse"])
def test_feasible_geometry(regime):
    widths = [scenario.zopa for scenario in suite(regime)]
    middles = [middle(scenario) for scenario in suite(regime)]
    assert p_value(widths, uniform(10, 40)) > P_VALUE
    assert p_value(middles, uniform(20, 80)) > P_VALUE
    assert abs(np.corrcoef(widths, middles)[0, 1]) < 3 / np.sqrt(len(widths))


def test_no_deal_geometry():
    gaps = np.array([-scenario.zopa for scenario in suite("no_deal")])
    middles = np.array([middle(scenario) for scenario in suite("no_deal")])
    assert p_value(gaps, uniform(5, 30)) > P_VALUE
    assert p_value((middles - gaps / 2) / (100 - gaps), uniform(0, 1)) > P_VALUE  # m ~ U[q/2, 100 - q/2]
    assert abs(np.corrcoef(gaps, (middles - gaps / 2) / (100 - gaps))[0, 1]) < 3 / np.sqrt(len(gaps))


@pytest.mark.parametrize(
    ("regime", "shape"),
    [("overlap", (2, 2)), ("urgency_shift", (4, 2)), ("urgency_shift_reverse", (2, 4)), ("no_deal", (2, 2))],
)
def test_urgency_laws(regime, shape):
    assert p_value([scenario.counterpart_type.urgency for scenario in suite(regime)], beta(*shape)) > P_VALUE
    assert p_value([scenario.agent_type.urgency for scenario in suite(regime)], beta(2, 2)) > P_VALUE
    other = [law for law in ((2, 2), (4, 2), (2, 4)) if law != shape]
    for wrong in other:  # the check has the power to tell the laws apart
        assert p_value([scenario.counterpart_type.urgency for scenario in suite(regime)], beta(*wrong)) < 1e-6


@pytest.mark.slow
def test_laws_on_twelve_thousand_episodes():
    overlap = fresh_suite(77, regimes=["overlap"], n_per_cell=500)
    widths, middles = [s.zopa for s in overlap], [middle(s) for s in overlap]
    assert p_value(widths, uniform(10, 40)) > P_VALUE
    assert p_value(middles, uniform(20, 80)) > P_VALUE
    assert p_value([s.harshness for s in overlap], uniform(0.2, 0.8)) > P_VALUE
    assert p_value([s.counterpart_type.urgency for s in overlap], beta(2, 2)) > P_VALUE
    assert p_value([draw.price for s in overlap for draw in s.noise.responses[:3]], "norm") > P_VALUE
    assert abs(np.corrcoef(widths, middles)[0, 1]) < 3 / np.sqrt(len(widths))


def test_harshness_law():
    assert p_value([scenario.harshness for scenario in suite("overlap")], uniform(0.2, 0.8)) > P_VALUE


@pytest.mark.parametrize("family", Family)
def test_stance_laws(family):
    chosen = [s for regime in ("overlap", "no_deal", "urgency_shift") for s in suite(regime) if s.family is family]
    prior = (0.05, 0.15, 0.80) if family is Family.ADVERSARIAL else (0.3, 0.4, 0.3)
    for stance, prob, usual in zip(Stance, prior, (0.3, 0.4, 0.3), strict=True):
        share = np.mean([scenario.counterpart_type.stance is stance for scenario in chosen])
        own = np.mean([scenario.agent_type.stance is stance for scenario in chosen])
        for frequency, expected in ((share, prob), (own, usual)):
            assert abs(frequency - expected) < 4 * np.sqrt(expected * (1 - expected) / len(chosen))


def test_noise_laws():
    noises = [scenario.noise for scenario in suite("overlap")[:200]]
    draws = [draw for noise in noises for draw in noise.responses]
    for sample in (
        [draw.accept for draw in draws],
        [draw.walk for draw in draws],
        [draw.cue.posture for draw in draws],
        [draw.cue.noisy_posture for draw in draws],
        [noise.opening_cue.posture for noise in noises],
    ):
        assert p_value(sample, uniform(0, 1)) > P_VALUE
    for sample in (
        [draw.price for draw in draws],
        [draw.cue.sentiment for draw in draws],
        [draw.cue.noisy_sentiment for draw in draws],
        [noise.opening_noise for noise in noises],
    ):
        assert p_value(sample, "norm") > P_VALUE


def quantities(scenario):
    """Return one number for each quantity of an episode that has a stream of its own."""
    first = scenario.noise.responses[0]
    return (
        scenario.zopa, middle(scenario), scenario.agent_type.urgency, scenario.counterpart_type.urgency,
        scenario.harshness, scenario.noise.opening_noise, first.accept, first.walk, first.price, first.cue.posture,
        first.cue.sentiment, STANCES.index(scenario.agent_type.stance), STANCES.index(scenario.counterpart_type.stance),
    )  # fmt: skip


def test_quantities_are_uncorrelated_within_an_episode():
    table = np.array([quantities(scenario) for scenario in suite("overlap") if scenario.family != "adversarial"])
    correlations = np.corrcoef(table.T) - np.eye(table.shape[1])
    assert np.abs(correlations).max() < 4 / np.sqrt(len(table))


def test_adjacent_seeds_episodes_and_cells_are_uncorrelated():
    def sample(seed):
        return np.array([quantities(s) for s in fresh_suite(seed, regimes=["overlap"], families=["candid"])])

    one, two = sample(1), sample(2)
    bound = 4 / np.sqrt(len(one))
    for column in range(one.shape[1]):
        assert abs(np.corrcoef(one[:, column], two[:, column])[0, 1]) < bound
        assert abs(np.corrcoef(one[1:, column], one[:-1, column])[0, 1]) < bound
        assert abs(np.corrcoef(one[25:, column], one[:-25, column])[0, 1]) < bound


def draws(**values):
    noise = Noise(0.0, CueDraw(0.5, 0.0), ())
    return Draws(**({name: 0.5 for name in Draws._fields} | {"noise": noise} | values))


@pytest.mark.parametrize(
    ("regime", "width", "position", "buyer", "seller"),
    [
        # z = 10 + 30 x 0.5 = 25, m = 20 + 60 x 0.25 = 35
        (Regime.OVERLAP, 0.5, 0.25, 47.5, 22.5),
        (Regime.URGENCY_SHIFT, 0.0, 1.0, 85.0, 75.0),
        # q = 5 + 25 x 0.6 = 20, r_buyer = 0.25 x 80
        (Regime.NO_DEAL, 0.6, 0.25, 20.0, 40.0),
    ],
)
def test_reservations_by_hand(regime, width, position, buyer, seller):
    found = reservations(regime, draws(width=width, position=position), PriorConfig(), 0.0, 100.0)
    assert found == pytest.approx((buyer, seller), abs=1e-12)
    scaled = reservations(regime, draws(width=width, position=position), PriorConfig(), 10.0, 50.0)
    assert scaled == pytest.approx((10 + buyer / 2, 10 + seller / 2), abs=1e-12)


def test_between_and_pick():
    assert between(Uniform(low=2, high=4), 0.25) == 2.5
    probs = (0.3, 0.4, 0.3)
    assert [pick(probs, u) for u in (0.0, 0.2999, 0.3, 0.6999, 0.7001, 0.9999)] == [0, 0, 1, 1, 2, 2]
    assert pick((0.3, 0.3, 0.3), 0.95) == 2  # the last one absorbs what rounding leaves


@pytest.mark.parametrize("counterpart_opens", [True, False])
@pytest.mark.parametrize("is_noisy", [True, False])
def test_released_order_of_draws(counterpart_opens, is_noisy):
    """Accept, walk, price, posture, sentiment, then the noisy pair; an opening takes the cue draws only."""
    rng = np.random.default_rng(9)

    def cue():
        head = (rng.random(), rng.standard_normal())
        return CueDraw(*head, rng.standard_normal(), rng.random()) if is_noisy else CueDraw(*head)

    opening = cue() if counterpart_opens else CueDraw(0.0, 0.0)
    expected = []
    for index in range(3):
        accept, walk = rng.random(), rng.random()
        price = 0.0 if index == 0 and not counterpart_opens else rng.standard_normal()
        expected.append((accept, walk, price, cue()))
    found = released_noise(1.5, 3, counterpart_opens=counterpart_opens, is_noisy=is_noisy, rng=np.random.default_rng(9))
    assert found.opening_noise == 1.5
    assert found.opening_cue == opening
    assert found.responses == tuple(expected)


def test_keyed_noise_takes_each_purpose_from_its_own_stream():
    asked = []

    def stream(name):
        asked.append(name)
        return np.random.default_rng(len(asked))

    noise = keyed_noise(stream, 4)
    assert asked == [
        "posture", "sentiment", "noisy_sentiment", "noisy_posture", "accept", "walk", "price", "opening_noise",
    ]  # fmt: skip
    assert len(noise.responses) == 4
    draws = [np.random.default_rng(number) for number in range(1, 9)]
    posture, noisy_posture = draws[0].random(5), draws[3].random(5)
    sentiment, noisy_sentiment = draws[1].standard_normal(5), draws[2].standard_normal(5)
    accept, walk, price = draws[4].random(4), draws[5].random(4), draws[6].standard_normal(4)
    assert noise.opening_noise == draws[7].standard_normal()
    assert noise.opening_cue == CueDraw(posture[0], sentiment[0], noisy_sentiment[0], noisy_posture[0])
    assert noise.responses[3] == (
        accept[3], walk[3], price[3], CueDraw(posture[4], sentiment[4], noisy_sentiment[4], noisy_posture[4])
    )  # fmt: skip


def test_difficulty_by_hand():
    from tests.terms.builders import make_scenario

    feasible = make_scenario(own=80, other=40, urgencies=(0.6, 0.2), stance=Stance.AGGRESSIVE)
    # (0.45 (1 - 0.4) + 0.25 x 0.4/(0.8 + 1e-6) + 0.20 x 1)/0.90
    assert feasible.difficulty == pytest.approx((0.27 + 0.25 * 0.4 / 0.800001 + 0.20) / 0.90, abs=1e-14)
    calm = make_scenario(own=80, other=40, urgencies=(0.2, 0.6), stance=Stance.CONCILIATORY)
    assert calm.difficulty == pytest.approx(0.27 / 0.90, abs=1e-14)
    # 0.60 exp(-20/(100 + 1e-6)) + 0.25 x cue + 0.15 (1 - s)
    for family, cue in (("candid", 0.0), ("taciturn", 0.5), ("stochastic", 0.75), ("adversarial", 1.0)):
        for stance, weight in zip(Stance, (1.0, 0.5, 0.0), strict=True):
            shut = make_scenario(
                own=40, other=60, stance=stance, family=Family(family), regime=Regime.NO_DEAL, urgencies=(0.9, 0.1)
            )
            expected = 0.60 * np.exp(-20 / 100.000001) + 0.25 * cue + 0.15 * weight
            assert shut.difficulty == pytest.approx(expected, abs=1e-14)


def test_difficulty_edges_are_order_statistics():
    assert difficulty_edges(range(11)) == [2.0, 4.0, 6.0, 8.0]
    assert difficulty_edges([3.0]) == [3.0] * 4


def test_cells_are_in_the_fixed_order():
    cells = terms.cells.suite_cells(None, None)
    assert len(cells) == 72
    assert cells[0] == Cell(Regime.OVERLAP, Family.CANDID, Role.BUYER, Opener.COUNTERPART)
    assert cells[-1].indices == (2, 5, 1, 1)
    assert cells[1].path == "overlap/candid/buyer/agent_opens"


def test_a_wider_frame_only_scales_the_reservations():
    wide = GameConfig(price_min=-100.0, price_max=300.0)
    for base, scaled in zip(fresh_suite(4, n_per_cell=1), fresh_suite(4, n_per_cell=1, config=wide), strict=True):
        assert scaled.agent_type.reservation_price == pytest.approx(
            -100 + 4 * base.agent_type.reservation_price, abs=1e-9
        )
        assert scaled.zopa == pytest.approx(4 * base.zopa, abs=1e-9)
