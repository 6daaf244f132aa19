"""The reveal ladder: each level adds its facts, and the rules told are the rules played."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from experiments.players.negotiator_settings import Reveal
from experiments.players.reveal import kernel_rules, reveal_side_info
from terms import Game, GameConfig
from terms.config import Uniform
from terms.types import Channel, Family, Opener, Role
from tests.terms.builders import make_scenario


def test_each_level_includes_the_ones_before():
    levels = [reveal_side_info(make_scenario(), level) for level in Reveal]
    assert levels[0] == {}
    assert [len(level) for level in levels] == [0, 1, 2, 3]
    assert all(before.items() <= after.items() for before, after in pairwise(levels))
    assert levels[3]["counterpart_type"] == {"reservation_price": 40.0, "urgency": 0.5, "stance": "neutral"}
    assert levels[1]["counterpart_family"]["name"] == "candid"


@pytest.mark.parametrize("level", [Reveal.NOTHING, Reveal.FAMILY, Reveal.KERNEL])
def test_nothing_below_the_top_tells_the_hidden_type(level):
    one, other = (
        make_scenario(other=price, urgencies=(0.5, urgency)) for price, urgency in ((40.0, 0.25), (77.0, 0.9))
    )
    assert reveal_side_info(one, level) == reveal_side_info(other, level)


def test_side_info_reaches_the_observation():
    scenario = make_scenario()
    info = reveal_side_info(scenario, Reveal.TYPE)
    assert Game(scenario).observe(info).to_json_object()["side_info"] == info


CONSTANTS = [
    *(("acceptance", name) for name in ("alpha", "beta", "gamma")),
    *(("walk", name) for name in ("phi_0", "phi_delta", "phi_t", "grace")),
    *(
        ("concession", name)
        for name in ("lambda_0", "lambda_1", "lambda_3", "lambda_4", "rigidity_threshold", "window")
    ),
    *(("opening", name) for name in ("urgency_weight", "stance_weight", "noise_share")),
]


@pytest.mark.parametrize(("part", "name"), CONSTANTS)
def test_every_constant_of_the_kernel_is_told_from_the_config(part, name):
    default = GameConfig()
    value = 29 if name == "window" else 0.4375
    changed = default.model_copy(update={part: getattr(default, part).model_copy(update={name: value})})
    shown = "43.75" if name == "noise_share" else f"{value:g}"
    assert shown not in kernel_rules(make_scenario())
    assert shown in kernel_rules(make_scenario(config=changed))


@pytest.mark.parametrize("name", ["rho", "xi", "lambda2", "stance_prior"])
def test_the_familys_own_constants_are_told(name):
    default = GameConfig()
    family = default.families[Family.CANDID].model_copy(update={name: (0.125, 0.25, 0.625)})
    config = default.model_copy(update={"families": {**default.families, Family.CANDID: family}})
    assert "(0.125, 0.25, 0.625)" in kernel_rules(make_scenario(config=config))


def test_horizon_bounds_and_opening_laws_are_told():
    opening = GameConfig().opening.model_copy(
        update={"harshness": Uniform(low=0.31, high=0.77), "phi_bounds": Uniform(low=0.43, high=1.71)}
    )
    text = kernel_rules(make_scenario(config=GameConfig(horizon=13, price_max=250.0, opening=opening)))
    assert all(part in text for part in ("K = 13", "R = 250", "0.31 to 0.77", "0.43 and 1.71"))
    assert "s = -1" in kernel_rules(make_scenario(role=Role.SELLER, own=40.0, other=80.0, opener=Opener.AGENT))


@pytest.mark.parametrize("family", list(Family))
def test_every_family_has_words_and_its_channel(family):
    scenario = make_scenario(family=family)
    assert reveal_side_info(scenario, Reveal.FAMILY)["counterpart_family"]["description"]
    is_constant = scenario.config.families[family].channel in (Channel.COLLAPSED, Channel.PRESSURING)
    assert bool(re.search(r"posture are always", kernel_rules(scenario))) is is_constant
