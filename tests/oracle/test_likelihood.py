"""Each likelihood term against the game's own kernel, fed with random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from oracle import likelihood
from terms import kernel
from terms.config import GameConfig
from terms.kernel import Features, kernel_params
from terms.types import Family, Stance

N = 200_000
PARAMS = kernel_params(GameConfig(), Family.STOCHASTIC, Stance.AGGRESSIVE, 100.0)


def _cell(low, high):
    return np.array([[[low]]]), np.array([[[high]]])


def _within(observed: float, expected: float, n: int) -> None:
    error = np.sqrt(max(expected * (1 - expected), 1e-6) / n)
    assert abs(observed - expected) < 4.5 * error, (observed, expected, error)


@pytest.mark.parametrize("offer", [41.0, 47.0])
@pytest.mark.parametrize("k", [3, 7])
def test_survival_is_the_share_neither_accepting_nor_walking(offer, k):
    rng, urgency, past = np.random.default_rng(1), 0.4, Features(0.05, 0.06, 1.0)
    r = rng.uniform(44.0, 44.5, N)
    alive = 0
    for reservation, accepts, walks in zip(r[:20_000], rng.random(20_000), rng.random(20_000), strict=True):
        gain = kernel.favourability(offer, reservation, 1, 100.0)
        taken = accepts < kernel.accept_prob(gain, urgency, k, past, PARAMS)
        alive += not taken and not walks < kernel.walk_prob(gain, k, PARAMS)
    clock = 1 - np.sqrt(k / 10)
    shift = np.array([[PARAMS.beta * urgency - PARAMS.gamma * clock + PARAMS.rho * 0.05 + PARAMS.xi]])
    walk = (PARAMS.phi_0 + PARAMS.phi_t * max(0, (k - 5) / 5) if k >= 5 else -np.inf, PARAMS.phi_delta)
    low, high = _cell(44.0, 44.5)
    expected = float(likelihood.survival_prob(offer, low, high, shift, PARAMS.alpha, walk)[0, 0, 0])
    _within(alive / 20_000, expected, 20_000)


def test_offer_inside_a_cell_splits_it():
    low, high = _cell(40.0, 44.0)
    shift = np.zeros((1, 1))
    survived = float(likelihood.survival_prob(41.0, low, high, shift, 6.0, (-4.5, 30.0))[0, 0, 0])
    accepts, walks = 1 / (1 + np.exp(-6 * 0.005)), 1 / (1 + np.exp(4.5 - 30 * 0.015))
    assert survived == pytest.approx(1 - 0.25 * accepts - 0.75 * walks)


def test_counter_offer_has_its_density_and_both_point_masses():
    rng, previous, r = np.random.default_rng(2), 60.0, 50.0
    rate = kernel.concession_rate(0.6, Features(0.0, 0.02, 1.0), PARAMS)
    noise = rng.standard_normal(N) * PARAMS.noise_sd
    prices = np.clip(previous - rate * (previous - r) + noise, r, previous)
    assert prices[:100] == pytest.approx([kernel.counter_offer(previous, r, rate, e, 1) for e in noise[:100]])
    rates, sd = np.array([[rate]]), np.array([[PARAMS.noise_sd]])
    low, high = _cell(r - 1e-6, r + 1e-6)
    _within(np.mean(prices == previous), float(np.exp(likelihood.log_held(previous, low, high, rates, sd)).item()), N)
    _within(np.mean(prices == r), float(np.exp(likelihood.log_reached(r, previous, rates, sd)).item()), N)
    grid = np.linspace(53.0, 55.0, 201)
    density = [np.exp(likelihood.log_move(x, previous, low, high, rates, sd)).item() for x in grid]
    _within(np.mean((prices > 53) & (prices < 55)), float(np.trapezoid(density, grid)), N)


def test_move_density_averages_over_a_wide_cell():
    # Against a fine mixture of points: the cell's width is folded into the variance, good to a part in a thousand here.
    low, high = _cell(48.0, 49.0)
    rates, sd = np.array([[0.4]]), np.array([[1.0]])
    points = np.linspace(48.0, 49.0, 2001)
    for price in (57.0, 55.0, 53.5):
        exact = np.mean(np.exp(-0.5 * (price - 60 + 0.4 * (60 - points)) ** 2) / np.sqrt(2 * np.pi))
        assert np.exp(likelihood.log_move(price, 60.0, low, high, rates, sd)).item() == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("r", [30.0, 97.0])
def test_opening_price_has_its_density_and_both_point_masses(r):
    rng = np.random.default_rng(3)
    scale = np.array([[kernel.opening_scale(0.3, PARAMS)]])
    prices = np.array(
        [
            kernel.opening_price(r, 100.0, harshness, scale.item(), noise, 1)
            for harshness, noise in zip(rng.uniform(0.2, 0.8, 40_000), 2 * rng.standard_normal(40_000), strict=True)
        ]
    )
    law, n = ((0.2, 0.8), 2.0), len(prices)
    low, high = _cell(r - 1e-6, r + 1e-6)
    ceiling = np.exp(likelihood.log_opening_ceiling(low, high, scale, *law)).item()
    floor = np.exp(likelihood.log_opening_floor(r, scale, *law)).item()
    _within(np.mean(prices == 100.0), ceiling, n)
    _within(np.mean(prices == r), floor, n)
    left, right = r + 0.2 * (100 - r), r + 0.6 * (100 - r)
    grid = np.linspace(left, right, 400)
    density = [np.exp(likelihood.log_opening(x, low, high, scale, *law)).item() for x in grid]
    _within(np.mean((prices > left) & (prices < right)), float(np.trapezoid(density, grid)), n)


def test_log_difference_keeps_far_tails():
    exact = ndtr(-8.0) - ndtr(-9.0)
    assert np.exp(likelihood.log_difference(np.array(8.0), np.array(9.0))) == pytest.approx(exact, rel=1e-9)
    assert np.isfinite(likelihood.log_difference(np.array(60.0), np.array(61.0)))
