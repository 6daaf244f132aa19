from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracle.convergence import ConvergenceError
from oracle.fitted import TrainingSettings, draw_owns, empty_nets, in_threads, make_planner, sample_paths, train
from oracle.kernels.paths import draw_type
from oracle.model import build_model, build_priors
from oracle.prior import Grid, Knowledge

TINY = TrainingSettings(num_paths=150, hidden=6, steps=8, num_nodes=5, offer_step=4.0, grid=Grid(3.0, 3), tolerance=5.0)
OVERLAP = Knowledge.of(["overlap"], ["strategic"])


def test_own_reservations_follow_the_regimes():
    owns = draw_owns(OVERLAP, 4000, np.random.default_rng(0))
    assert owns.mean() == pytest.approx(62.5, abs=1.2)  # E[m] + E[z]/2 = 50 + 12.5
    assert owns.min() >= 25
    assert owns.max() <= 100


def test_sampled_paths_obey_the_rules():
    rng, model = np.random.default_rng(1), build_model(OVERLAP, TINY.grid)
    planner = make_planner(model, empty_nets(10, 6), num_nodes=5, step=4.0, halvings=0)
    priors = build_priors(OVERLAP, draw_owns(OVERLAP, 60, rng), TINY.grid)
    paths = sample_paths(priors, planner, TINY, greedy_share=0.3, rng=rng)
    offers, quotes = paths.offers[:, :9], paths.quotes
    assert (np.diff(offers, axis=1) >= -1e-9).all()
    assert (offers <= priors.own[:, None] + 1e-9).all()
    assert not (np.diff(quotes, axis=1) > 1e-9).any()
    assert 10 < np.isnan(quotes[:, 0]).sum() < 50
    assert np.isfinite(quotes[:, 1:]).all()


def test_drawn_types_have_the_law_of_the_weights():
    rng = np.random.default_rng(2)
    weights = rng.random((3, 2, 2))
    low, top = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 2.0])
    counts = np.zeros((3, 2, 2))
    for uniform in rng.random(4000):
        r, g, n = draw_type(weights, low, top, uniform, 0.5)
        counts[min(int(r), 2), g, n] += 1
    expected = weights / weights.sum()
    assert np.abs(counts / 4000 - expected).max() < 4 * np.sqrt(0.25 / 4000)


def test_tiny_training_learns_a_value_and_repeats_exactly():
    first = train(OVERLAP, TINY, rng=np.random.default_rng(3))
    second = train(OVERLAP, replace(TINY, threads=1), rng=np.random.default_rng(3))
    assert np.nanmax(first.rmse) < 5.0
    for one, other in zip(first.nets, second.nets, strict=True):
        assert (one == other).all()


def test_training_that_did_not_converge_raises():
    with pytest.raises(ConvergenceError, match="fitted value iteration did not converge"):
        train(OVERLAP, replace(TINY, tolerance=1e-6), rng=np.random.default_rng(3), passes=1)


def test_threads_cover_every_index_once():
    seen = np.zeros(101, dtype=int)

    def mark(span):
        seen[span[0] : span[1]] += 1

    in_threads(mark, 101, 3)
    assert (seen == 1).all()
