"""The compiled batch against the readable game: same moves, same draws, the same episode to the last bit."""

import numpy as np
import pytest

import terms
from oracle.batch_game import BATCH_ENDINGS, BatchGame, draw_pool, pool_of
from terms.cells import suite_cells
from terms.config import GameConfig
from terms.kernel import history_features, kernel_params
from terms.types import Accept, Offer, Opener, Posture, Reject, Sentiment
from terms.vectors import VECTOR_FIELDS, VECTOR_SIZE, write_vector

WIDE = GameConfig(price_min=-50.0, price_max=350.0, horizon=4, final_offer_answered=True)


class Readable:
    """One episode in the readable game, with the vector put together from what the agent is shown."""

    def __init__(self, scenario):
        self.scenario, self.game = scenario, terms.Game(scenario)
        self.offers, self.quotes = [], []
        self.look()

    def look(self):
        seen = self.game.observe()
        if seen.standing_price is not None and not self.game.is_over and len(self.quotes) < self._num_quotes(seen):
            self.quotes.append(seen.standing_price)
        return seen

    def _num_quotes(self, seen):
        return seen.round - (self.scenario.opener is Opener.AGENT)

    def step(self, move):
        if isinstance(move, Offer) and self.scenario.price_min <= move.price <= self.scenario.price_max:
            self.offers.append(move.price)
        self.game.step(move)
        self.look()

    def vector(self):
        at, seen = self.scenario, self.game.observe()
        params = kernel_params(at.config, at.family, at.counterpart_type.stance, at.price_range)
        quotes = (self.quotes[0], [self.quotes[0], *self.quotes][-2], self.quotes[-1]) if self.quotes else [np.nan] * 3
        cue = (-1, -1)
        if seen.cue:
            cue = (list(Sentiment).index(seen.cue.sentiment), list(Posture).index(seen.cue.posture))
        seat = (at.sign, int(at.opener is Opener.AGENT), at.agent_type.reservation_price, at.price_min, at.price_max)
        out = np.zeros(VECTOR_SIZE, dtype=np.float32)
        last = self.offers[-1] if self.offers else np.nan
        write_vector(out, seat, seen.round, quotes, last, history_features(self.offers, at.sign, params), cue, params)
        return out


def assert_equal_in_step(scenarios, rng):
    """Play random moves, some illegal and some going back, on both."""
    n = len(scenarios)
    batch, readable = BatchGame(pool_of(scenarios), n), [Readable(scenario) for scenario in scenarios]
    batch.begin(np.arange(n), np.arange(n))
    greed = rng.uniform(0.0, 0.7, n)
    while batch.running.any():
        running = np.flatnonzero(batch.running)
        for i in running:
            np.testing.assert_array_equal(readable[i].vector(), batch.seen[i])
        decision = rng.choice(3, size=n, p=[0.97, 0.02, 0.01])
        at = batch.episodes
        price = at.own - at.sign * (greed + rng.uniform(-0.1, 0.1, n)) * (at.price_max - at.price_min)
        bounded = np.clip(price, at.price_min, at.price_max)
        price = np.where(rng.random(n) < 0.98, bounded, price)
        batch.step(decision, price)
        for i in running:
            readable[i].step((Offer(price[i]), Accept(), Reject())[decision[i]])
    ends = set()
    for i, one in enumerate(readable):
        record = one.game.record("random")
        ends.add(record.termination)
        assert BATCH_ENDINGS[batch.termination[i]] is record.termination
        assert batch.utility[i] == record.utility
        np.testing.assert_array_equal(one.vector(), batch.seen[i])
    return ends


def test_every_cell_is_equal_draw_for_draw():
    assert assert_equal_in_step(terms.fresh_suite(1_000_000, n_per_cell=4), np.random.default_rng(1)) == set(
        BATCH_ENDINGS
    )


@pytest.mark.parametrize("config", [WIDE, GameConfig(show_cues=False), GameConfig(horizon=1)])
def test_other_settings_are_equal(config):
    assert_equal_in_step(terms.fresh_suite(3, n_per_cell=1, config=config), np.random.default_rng(2))


@pytest.mark.slow
def test_ten_thousand_episodes_are_equal():
    assert_equal_in_step(terms.fresh_suite(1_000_001, n_per_cell=139), np.random.default_rng(3))


def test_a_place_can_be_used_again_and_ended_places_stay():
    scenarios = terms.fresh_suite(2, ["overlap"], ["candid"], 2)
    batch = BatchGame(pool_of(scenarios), 2)
    batch.begin(np.arange(2), np.array([0, 1]))
    first = batch.seen.copy()
    batch.step(np.array([2, 2]), np.zeros(2))
    batch.begin(np.array([1]), np.array([1]))
    np.testing.assert_array_equal(batch.seen[1], first[1])
    ended = batch.seen[0].copy()
    batch.step(np.array([0, 2]), np.full(2, 50.0))
    assert batch.termination.tolist() == [2, 2]
    np.testing.assert_array_equal(batch.seen[0], ended)


def test_drawn_pools_follow_the_laws_of_a_fresh_suite():
    cells = suite_cells(["overlap"], ["candid", "adversarial"])
    pool = draw_pool(cells, 20_000, rng=np.random.default_rng(4))
    suite = pool_of(terms.fresh_suite(6, ["overlap"], ["candid", "adversarial"], 250))
    seen = []
    for each in (pool, suite):
        n = each.num_episodes
        batch = BatchGame(each, n)
        batch.begin(np.arange(n), np.arange(n))
        for _ in range(3):
            at = batch.episodes
            batch.step(np.zeros(n, dtype=np.int64), at.own - at.sign * 0.3 * (at.price_max - at.price_min))
        seen.append((batch.seen.mean(axis=0), batch.seen.std(axis=0) / np.sqrt(n), np.mean(batch.running)))
    (drawn, error, running), (suited, other_error, also_running) = seen
    assert np.all(np.abs(drawn - suited) <= 4.5 * np.hypot(error, other_error) + 1e-6)
    assert running == pytest.approx(also_running, abs=0.04)


def test_bad_pools_are_refused():
    with pytest.raises(ValueError, match="n=0"):
        BatchGame(pool_of(terms.fresh_suite(1, ["overlap"], ["candid"], 1)), 0)
    with pytest.raises(ValueError, match="at least one of each"):
        draw_pool([], 3, rng=np.random.default_rng(0))
    configs = [GameConfig(show_cues=shown) for shown in (True, False)]
    mixed = [terms.fresh_suite(1, ["overlap"], ["candid"], 1, config=config)[0] for config in configs]
    with pytest.raises(ValueError, match="show_cues"):
        pool_of(mixed)


def test_every_field_has_its_place():
    assert len(VECTOR_FIELDS) == VECTOR_SIZE == len(set(VECTOR_FIELDS)) == 19
