"""Values on the items of a catalogue: one net for every frame, and a player no item of which it has seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from oracle.agents import BELIEF_AGENTS
from oracle.convergence import ConvergenceError
from oracle.fitted import TrainingSettings, empty_nets, net_of, store_net
from oracle.framed import NUM_INPUTS, SMALLEST, fit_frames, inputs_of, on_frame
from oracle.interventions import informed
from oracle.kernels.value import NUM_FEATURES
from oracle.player_registry import build_player
from oracle.prior import Grid, Knowledge
from oracle.regression import initial_net, predict

TINY = TrainingSettings(num_paths=60, hidden=4, steps=4, num_nodes=4, offer_step=5.0, grid=Grid(4.0, 3), tolerance=30.0)
CANDID = Knowledge.of(None, ["candid"])


@given(st.floats(SMALLEST / 100, 1.0), st.integers(0, 2**32 - 1))
def test_the_net_of_a_frame_is_the_net_of_all_read_on_that_frame(unit, seed):
    rng = np.random.default_rng(seed)
    nets = empty_nets(3, 5, NUM_INPUTS)
    for k in range(1, 4):
        store_net(nets, k, initial_net(NUM_INPUTS, 5, rng))
    x = rng.normal(0.0, 0.2, (7, NUM_FEATURES))
    for k in range(1, 4):
        here = predict(net_of(on_frame(nets, unit), k), x)
        assert here == pytest.approx(unit * predict(net_of(nets, k), inputs_of(x, unit)), rel=1e-9, abs=1e-9)


def test_a_fit_repeats_exactly_whatever_the_threads():
    first = fit_frames(CANDID, TINY, num_frames=6, rng=np.random.default_rng(3))
    second = fit_frames(CANDID, replace(TINY, threads=1), num_frames=6, rng=np.random.default_rng(3))
    assert np.nanmax(first.rmse) < 30
    for one, other in zip(first.nets, second.nets, strict=True):
        assert (one == other).all()
    with pytest.raises(ConvergenceError, match="on frames did not converge"):
        fit_frames(CANDID, replace(TINY, tolerance=1e-6), num_frames=2, rng=np.random.default_rng(3), passes=1)


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    """Return a catalogue whose items have between 1 and 90 percent of their category's range."""
    rows = ["name,category,reference_price,low_price,high_price,category_low,category_high"]
    for i, share in enumerate((1, 4, 15, 90)):
        low = 40 + i
        rows.append(f"item {i},a,{low + 2 * share},{low},{low + 4 * share},10,500")
    path = tmp_path_factory.mktemp("catalogue") / "items.csv"
    path.write_text("\n".join(rows))
    return path


def test_on_a_catalogue_the_optimum_earns_more_than_the_rule_of_thumb(items):
    suite = terms.catalog_suite(items, ["overlap"], ["strategic", "adversarial"], n_per_cell=60, seed=5)
    assert {(each.price_min, each.price_max) for each in suite} == {(10.0, 500.0)}
    bayes, ramp = build_player("bayes"), informed(BELIEF_AGENTS["ramp"])
    spreads = np.array([each.frame.scale for each in suite])
    gains = np.array([terms.play(each, bayes).utility - terms.play(each, ramp).utility for each in suite]) / spreads
    assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))


def test_where_nothing_can_be_won_it_ends_the_talk_at_once(items):
    suite = terms.catalog_suite(items, ["no_deal"], ["candid"], n_per_cell=3)
    played = [terms.play(each, build_player("bayes")) for each in suite]
    assert {(each.rounds_played, each.termination.value) for each in played} == {(1, "agent_reject")}
