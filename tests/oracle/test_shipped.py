from __future__ import annotations

from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from oracle import shipped
from oracle.fitted import TrainingSettings
from oracle.prior import Grid, Knowledge
from oracle.shipped import (
    CATALOGUE,
    STANDARD_PRIORS,
    earned_on_fresh_episodes,
    read_values,
    retrain,
    settings_for,
    standard_knowledge,
    standard_names,
    values_digest,
    values_for,
    values_key,
)
from oracle.solution_cache import from_bytes
from terms.config import GameConfig, WalkConfig
from terms.types import Family, Regime

TINY = TrainingSettings(num_paths=90, hidden=4, steps=3, num_nodes=4, offer_step=5.0, grid=Grid(4.0, 3), tolerance=9.0)


ON_CATALOGUES = [(family.value, CATALOGUE) for family in Family]


@pytest.mark.parametrize(("family", "prior"), [*standard_names(), *ON_CATALOGUES])
def test_every_standard_prior_has_a_sound_file(family, prior):
    knowledge = standard_knowledge(family, prior)
    key = values_key(knowledge, settings_for(knowledge))
    file = resources.files("oracle") / "data" / f"{key[:16]}.npz"
    arrays = from_bytes(key, file.read_bytes())
    assert arrays is not None
    assert np.nanmax(arrays["rmse"]) < settings_for(knowledge).tolerance
    assert all(np.isfinite(arrays[name]).all() for name in arrays if name != "rmse")


def test_no_stray_files():
    knowns = [standard_knowledge(*name) for name in [*standard_names(), *ON_CATALOGUES]]
    expected = {values_key(knowledge, settings_for(knowledge))[:16] for knowledge in knowns}
    found = {each.name for each in (resources.files("oracle") / "data").iterdir() if each.name.endswith(".npz")}
    assert found == {f"{key}.npz" for key in expected}


def test_key_follows_the_rules_and_not_the_words():
    base = standard_knowledge("candid", "overlap")
    key = values_key(base, shipped.SETTINGS)
    mute = Knowledge(GameConfig(show_messages=False), base.regimes, base.families)
    harsher = Knowledge(GameConfig(walk=WalkConfig(phi_0=-3.0)), base.regimes, base.families)
    assert values_key(mute, shipped.SETTINGS) == key
    assert values_key(harsher, shipped.SETTINGS) != key
    assert values_key(standard_knowledge("candid", "unknown"), shipped.SETTINGS) != key


def test_other_games_are_fitted_once_and_cached(tmp_path):
    knowledge = Knowledge(GameConfig(walk=WalkConfig(phi_0=-3.0)), STANDARD_PRIORS["overlap"], (Family.TACITURN,))
    first = values_for(knowledge, folder=tmp_path, settings=TINY)
    files = list(tmp_path.iterdir())
    assert len(files) == 1
    stamp = files[0].stat().st_mtime_ns
    second = values_for(knowledge, folder=tmp_path, settings=TINY)
    assert files[0].stat().st_mtime_ns == stamp
    assert (first.nets.w1 == second.nets.w1).all()


def test_more_work_goes_where_it_pays():
    thorough = standard_knowledge("taciturn", "overlap")
    assert settings_for(thorough) is shipped.THOROUGH
    for knowledge in (
        standard_knowledge("taciturn", "unknown"),
        standard_knowledge("candid", "overlap"),
        replace(thorough, objective="se"),
        replace(thorough, families=tuple(Family)),
    ):
        assert settings_for(knowledge) is shipped.SETTINGS


def test_one_file_serves_every_item_and_prior_of_a_catalogue():
    item = standard_knowledge("candid", CATALOGUE)
    others = [
        replace(item, frame=(1.0, 3.0)),
        replace(item, regimes=STANDARD_PRIORS["overlap"]),
        replace(item, regimes=STANDARD_PRIORS["overlap"], objective="se"),
    ]
    assert {values_key(each, settings_for(each)) for each in [item, *others]} == {values_key(item, shipped.FRAMED)}
    narrow, wide = values_for(others[0]), values_for(item)
    assert np.nanmax(narrow.rmse) == pytest.approx(np.nanmax(wide.rmse) * 3 / 25)
    nothing = replace(item, regimes=(Regime.NO_DEAL,))
    assert values_key(nothing, shipped.FRAMED) != values_key(item, shipped.FRAMED)
    assert not values_for(nothing).nets.w3.any()


def test_unknown_prior_is_named():
    with pytest.raises(ValueError, match="prior='overlapp', allowed are overlap, urgency_shift, unknown, catalogue"):
        standard_knowledge("candid", "overlapp")


def test_retrained_file_is_the_one_that_would_be_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "SETTINGS", TINY)
    lines = []
    (path,) = retrain([("strategic", "overlap")], tmp_path, lines.append)
    key = values_key(standard_knowledge("strategic", "overlap"), TINY)
    assert path.name == f"{key[:16]}.npz"
    assert from_bytes(key, path.read_bytes()) is not None
    assert lines[0].startswith("strategic overlap: residual ")
    values = read_values(path, "strategic", "overlap")
    again = values_for(values.knowledge, folder=tmp_path, settings=TINY)
    assert values_digest(values) == values_digest(again)
    moved = replace(values, nets=values.nets._replace(b3=values.nets.b3 + 1e-9))
    assert values_digest(moved) != values_digest(values)
    with pytest.raises(ValueError, match="holds no sound values of candid overlap"):
        read_values(path, "candid", "overlap")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("family", list(Family))
def test_policy_reaches_the_prototype(family):
    """Raw U/E[zopa] of the prototype (overlap, regime known), counterpart and agent opening, three standard errors."""
    bars = {
        "taciturn": (0.888, 0.873), "strategic": (0.878, 0.860), "stochastic": (0.906, 0.892),
        "adversarial": (0.816, 0.791), "candid": (0.890, 0.883), "expressive": (0.882, 0.872),
    }  # fmt: skip
    for check, bar in zip(
        earned_on_fresh_episodes(family, "overlap", n_per_cell=400, seed=12), bars[family], strict=True
    ):
        assert check.utility_share > bar - 3 * np.hypot(check.utility_share_se, 0.006)
