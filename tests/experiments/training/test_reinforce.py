"""The learner's gradient, its three credits, and that it learns at all."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.training.reinforce import (
    Credit,
    CurvePoint,
    PlayedBatch,
    SoftmaxPolicy,
    TrainSettings,
    allowed_actions,
    episodes_to,
    gradient,
    new_policy,
    play_batch,
    probabilities,
    returns,
    train_policy,
)
from oracle.batch_game import draw_pool
from terms.cells import suite_cells
from terms.vectors import VECTOR_SIZE

SMALL = TrainSettings(num_updates=40, batch=128, hidden=8, num_gains=9, validate_every=40, num_validation=400)


def some_play(seed=0):
    rng = np.random.default_rng(seed)
    pool = draw_pool(suite_cells(["overlap"], ["candid"]), 60, rng=rng)
    policy = new_policy(SMALL, rng)
    return policy._replace(w2=rng.standard_normal(policy.w2.shape)), pool, rng


def test_the_gradient_is_that_of_the_objective():
    policy, pool, rng = some_play()
    played = play_batch(policy, pool, SMALL, rng)
    paid = rng.standard_normal(len(played.action))

    def objective(candidate):
        _, law = probabilities(candidate, played.x, played.allowed)
        logs = np.log(np.maximum(law, 1e-300))
        chosen = logs[np.arange(len(paid)), played.action]
        return float(np.mean(chosen * paid - 0.3 * (law * logs).sum(axis=1)))

    slope = gradient(policy, played, paid, 0.3)
    for name in SoftmaxPolicy._fields:
        part = getattr(policy, name)
        place = tuple(int(rng.integers(size)) for size in part.shape)
        bumped = []
        for step in (1e-6, -1e-6):
            moved = part.copy()
            moved[place] += step
            bumped.append(objective(policy._replace(**{name: moved})))
        assert getattr(slope, name)[place] == pytest.approx((bumped[0] - bumped[1]) / 2e-6, rel=1e-4, abs=1e-8)


def test_only_moves_that_the_rules_allow_are_made():
    policy, pool, rng = some_play(1)
    played = play_batch(policy, pool, SMALL, rng)
    assert played.allowed[np.arange(len(played.action)), played.action].all()
    gains = np.linspace(0, SMALL.highest_gain, SMALL.num_gains)
    assert np.array_equal(allowed_actions(played.x, gains), played.allowed)
    for episode in range(10):
        offers = [gains[a - 2] for a, e in zip(played.action, played.episode, strict=True) if e == episode and a >= 2]
        assert offers == sorted(offers, reverse=True)


def by_hand(round_, potential, earned, episode):
    n = len(round_)
    empty = np.zeros((n, VECTOR_SIZE))
    return PlayedBatch(
        empty, np.zeros(n, dtype=int), np.array(episode), np.array(round_), np.array(potential),
        np.ones((n, 1), bool), np.array(earned), np.array(earned),
    )  # fmt: skip


def test_credits_by_hand():
    played = by_hand([1, 1, 2], [0.2, 0.4, 0.1], [0.5, 0.3], [0, 1, 0])
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(returns(played, Credit.TERMINAL, rng), [0.1, -0.1, 0.0])
    np.testing.assert_allclose(returns(played, Credit.EXACT, rng), [0.2, -0.2, 0.0])
    shuffled = {tuple(np.round(returns(played, Credit.SHUFFLED, rng), 6)) for _ in range(20)}
    later = by_hand([1, 1, 2], [0.2, 0.4, 0.3], [0.5, 0.3], [0, 1, 0])  # 0.3 - 0.2 and 0.3 - 0.4 in round 1
    np.testing.assert_allclose(returns(later, Credit.TURN, rng), [0.1, -0.1, 0.0], atol=1e-12)
    later.x[1, 2] = 1.0  # the agent opens there: another baseline
    np.testing.assert_allclose(returns(later, Credit.TURN, rng), [0.0, 0.0, 0.0], atol=1e-12)
    assert shuffled == {(0.2, -0.2, 0.0), (0.0, -0.0, 0.0)} or len(shuffled) == 2


@pytest.mark.parametrize("credit", list(Credit))
def test_it_learns_and_repeats_itself(credit):
    settings = SMALL.model_copy(update={"credit": credit})
    first, last = [point for _, point in train_policy(settings)]
    assert (first.num_episodes, last.num_episodes) == (0, 40 * 128)
    assert last.surplus_share > first.surplus_share + 0.1
    again = [point for _, point in train_policy(settings)]
    assert again == [first, last]


def test_how_long_it_took_is_read_off_the_curve():
    curve = [CurvePoint(i * 10, share, 0.0) for i, share in enumerate([0.1, 0.96, 0.5, 0.97, 1.0, 1.0, 1.0])]
    assert episodes_to(curve) == 30
    assert episodes_to(curve[:1]) == 0
