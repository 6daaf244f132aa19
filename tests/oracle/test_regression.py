from __future__ import annotations

import numpy as np
import pytest

from oracle.regression import _pack, _residual_and_jacobian, _unpack, fit, initial_net, predict, standardised


def _sample(n, rng):
    x = rng.normal(size=(n, 4))
    return x, 3.0 + np.maximum(x[:, 0], 0.2 * x[:, 1]) + np.sin(x[:, 2])


def test_fits_a_kinked_function_far_below_its_spread():
    rng = np.random.default_rng(0)
    x, y = _sample(1500, rng)
    result = fit(x, y, initial_net(4, 10, rng), steps=40, rng=rng)
    fresh_x, fresh_y = _sample(1000, rng)
    assert np.sqrt(np.mean((predict(result.net, fresh_x) - fresh_y) ** 2)) < 0.08 * y.std()
    assert result.held_out_rmse < 0.08 * y.std()


def test_jacobian_equals_finite_differences():
    rng = np.random.default_rng(1)
    x, y = _sample(5, rng)
    net = initial_net(4, 3, rng)
    _, jacobian = _residual_and_jacobian(net, x, y)
    theta = _pack(net)
    for j in range(0, len(theta), 5):
        step = np.zeros_like(theta)
        step[j] = 1e-5
        slope = (predict(_unpack(theta + step, net), x) - predict(_unpack(theta - step, net), x)) / 2e-5
        assert jacobian[:, j] == pytest.approx(slope, abs=1e-5)


def test_constant_features_and_restarts_do_no_harm():
    rng = np.random.default_rng(2)
    x, y = _sample(400, rng)
    x[:, 3] = 7.0
    first = fit(x, y, initial_net(4, 6, rng), steps=10, rng=rng)
    again = standardised(first.net, x, y)
    second = fit(x, y, again, steps=5, rng=np.random.default_rng(3))
    assert np.isfinite(predict(second.net, x)).all()
    assert second.held_out_rmse < 1.5 * first.held_out_rmse
