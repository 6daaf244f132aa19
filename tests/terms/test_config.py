"""Every key of the config reaches some output; unknown keys and impossible values are refused by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from pydantic import BaseModel, ValidationError

import terms
from terms import GameConfig, Offer
from terms.agents import build_scripted
from terms.config import Beta, FamilyConfig, PriorConfig, Uniform
from terms.suites import fresh_suite
from terms.types import Family, Regime
from tests.terms.builders import ALWAYS, NEVER


def leaves(value, path=()) -> Iterator[tuple[tuple, object]]:
    """Yield (path, value) of every setting, walking models, tables and tuples; a law over stances is one setting."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from leaves(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, str(key)))
    elif isinstance(value, tuple) and path[-1] not in ("stance_prior", "agent_stance"):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


LEAVES = dict(leaves(GameConfig()))


def changed(path, value) -> GameConfig:
    """Return the default config with one leaf replaced; raises ValidationError if that is impossible."""
    tree = json.loads(GameConfig().model_dump_json())
    spot = tree
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    return GameConfig.model_validate(tree)


def other_values(value) -> list[object]:
    """Return values to try, from bold to mild; those the config refuses are passed over."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [name for name in ("noisy", "pressuring", "informative") if name != value]
    if isinstance(value, tuple):
        return [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    if isinstance(value, int):
        return [value // 2, value + 3]
    return [value + 50, value - 50, value + 3, value - 3, value * 1.5 + 0.05, value * 0.5, value * 0.9, value * 1.1]


class Reader:
    """An agent whose moves and words depend on everything it is shown, and which never closes."""

    name = "reader"

    def act(self, observation):
        """Offer halfway to the reservation and say a digest of the observation."""
        shown = json.dumps(observation.to_json_object(), sort_keys=True)
        start = observation.price_min if observation.role == "buyer" else observation.price_max
        reach = 0.5 + 0.05 * observation.round
        price = start + reach * (observation.reservation_price - start)
        return Offer(price, hashlib.sha256(shown.encode()).hexdigest())


AGENTS = (Reader(), build_scripted("conceder"), build_scripted("never-accept"), build_scripted("patient"))


def undecided(scenario):
    """Return the episode with noise under which nobody accepts or walks before the last round, and then at once."""
    *early, last = scenario.noise.responses
    responses = [
        *(draw._replace(accept=NEVER, walk=NEVER) for draw in early),
        last._replace(accept=ALWAYS, walk=ALWAYS),
    ]
    return replace(scenario, noise=scenario.noise._replace(responses=tuple(responses)))


@cache
def digest(config_json, families):
    """Play a small suite with a few agents and return a digest of everything recorded."""
    config = GameConfig.model_validate_json(config_json)
    digester = hashlib.sha256()
    episodes = 4 if len(families) == 1 else 1
    suite = fresh_suite(1, regimes=list(Regime), families=families, n_per_cell=episodes, config=config)
    for scenario in suite:
        for agent in AGENTS:
            digester.update(repr(terms.play(scenario, agent)).encode())
        digester.update(repr(terms.play(undecided(scenario), AGENTS[0])).encode())
    return digester.hexdigest()


def test_the_walk_reaches_every_part_of_the_config():
    assert len(LEAVES) > 120
    tops = {path[0] for path in LEAVES}
    assert tops == set(GameConfig.model_fields)
    assert {path[1] for path in LEAVES if path[0] == "families"} == {family.value for family in Family}
    assert {path[2] for path in LEAVES if path[0] == "families"} == set(FamilyConfig.model_fields)


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_every_key_changes_some_output(path):
    families = (path[1],) if path[0] == "families" else ("candid", "stochastic")
    baseline = digest(GameConfig().model_dump_json(), families)
    tried = []
    for value in other_values(LEAVES[path]):
        try:
            config = changed(path, value)
        except ValidationError:
            continue
        tried.append(value)
        if digest(config.model_dump_json(), families) != baseline:
            return
    pytest.fail(f"no output changed for {'.'.join(map(str, path))} in {tried}")


def models(value, path=()) -> Iterator[tuple[tuple, BaseModel]]:
    """Yield every model of the config with its path."""
    if isinstance(value, BaseModel):
        yield path, value
        for name in type(value).model_fields:
            yield from models(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from models(item, (*path, str(key)))


@pytest.mark.parametrize("path", [path for path, _ in models(GameConfig())], ids=lambda path: ".".join(path) or "top")
def test_unknown_keys_are_refused_by_name_at_every_level(path):
    with pytest.raises(ValidationError) as caught:
        changed((*path, "horizn"), 7)
    error = caught.value.errors()[0]
    assert error["loc"] == path
    assert "unknown key 'horizn', allowed are " in error["msg"]
    assert path or "did you mean 'horizon'?" in error["msg"]


@pytest.mark.parametrize("path", [path for path, _ in models(GameConfig())], ids=lambda path: ".".join(path) or "top")
def test_no_part_of_the_config_can_be_changed_in_place(path):
    part = dict(models(GameConfig()))[path]
    name = next(iter(type(part).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(part, name, 1)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("horizon",), 0, ["horizon", "greater than or equal to 1", "input_value=0"]),
        (("horizon",), 2.5, ["horizon", "input_value=2.5"]),
        (("horizon",), "ten", ["horizon", "input_value='ten'"]),
        (("price_min",), 100.0, ["price_min=100.0", "below price_max=100.0"]),
        (("price_max",), float("inf"), ["price_max", "finite"]),
        (("history_window",), -1, ["history_window", "greater than or equal to 0", "input_value=-1"]),
        (("walk", "grace"), 1.5, ["walk.grace", "less than or equal to 1", "input_value=1.5"]),
        (("concession", "window"), 0, ["concession.window", "greater than or equal to 1", "input_value=0"]),
        (("opening", "noise_share"), -0.1, ["opening.noise_share", "greater than or equal to 0"]),
        (("opening", "harshness", "low"), 0.9, ["low=0.9 exceeds high=0.8"]),
        (("cues", "noisy_temperature"), 0, ["cues.noisy_temperature", "greater than 0", "input_value=0"]),
        (("cues", "sentiment_sd"), -1, ["cues.sentiment_sd", "greater than or equal to 0"]),
        (("cues", "sentiment_mean"), [1, 0], ["cues.sentiment_mean", "required"]),
        (("prior", "urgency", "a"), 0, ["prior.urgency.a", "greater than 0", "input_value=0"]),
        (("prior", "agent_stance"), [0.5, 0.5, 0.5], ["agent_stance=(0.5, 0.5, 0.5)", "sums to 1.5", "must sum to 1"]),
        (("prior", "zopa_share", "high"), 0.5, ["zopa_share.high=0.5", "[0.25, 0.75]"]),
        (("prior", "gap_share", "high"), 1.0, ["gap_share [0.05, 1.0]", "[0, 1)"]),
        (("prior", "zopa_share", "low"), -0.1, ["zopa_share.low=-0.1", "must not be negative"]),
        (("families", "candid", "stance_prior"), [0.3, 0.3, 0.3], ["stance_prior=(0.3, 0.3, 0.3)", "must sum to 1"]),
        (("families", "candid", "stance_prior"), [1.5, -0.5, 0], ["families.candid.stance_prior", "input_value=1.5"]),
        (("families", "candid", "channel"), "loud", ["channel", "'informative', 'collapsed', 'noisy'", "'loud'"]),
        (("families", "candid", "noise_share"), -1, ["families.candid.noise_share", "greater than or equal to 0"]),
        (("families", "friendly"), {}, ["families", "'friendly'", "'candid', 'taciturn'"]),
    ],
)
def test_impossible_values_are_refused_with_field_value_and_what_is_allowed(path, value, said):
    with pytest.raises(ValidationError) as caught:
        changed(path, value)
    for part in said:
        assert part in str(caught.value)


def test_a_missing_family_is_named():
    families = {family: preset for family, preset in GameConfig().families.items() if family is not Family.CANDID}
    with pytest.raises(ValidationError, match="candid"):
        GameConfig(families=families)


def test_defaults_are_the_released_game():
    config = GameConfig()
    assert (config.horizon, config.price_min, config.price_max) == (10, 0.0, 100.0)
    assert not config.final_offer_answered
    prior = config.prior
    assert prior.counterpart_urgency(Regime.OVERLAP) == prior.counterpart_urgency(Regime.NO_DEAL) == Beta(a=2, b=2)
    assert prior.counterpart_urgency(Regime.URGENCY_SHIFT) == Beta(a=4, b=2)
    assert prior.counterpart_urgency(Regime.URGENCY_SHIFT_REVERSE) == Beta(a=2, b=4)


def test_the_config_survives_its_own_json():
    config = changed(("families", "candid", "noise_share"), 0.05)
    assert GameConfig.model_validate_json(config.model_dump_json()) == config


def test_reservations_stay_on_the_frame_at_the_edges_of_what_is_allowed():
    PriorConfig(zopa_share=Uniform(low=0, high=0.4), midpoint_share=Uniform(low=0.2, high=0.8))
    with pytest.raises(ValidationError, match="midpoint_share"):
        PriorConfig(midpoint_share=Uniform(low=0.19, high=0.8))
    with pytest.raises(ValidationError, match="midpoint_share"):
        PriorConfig(midpoint_share=Uniform(low=0.2, high=0.81))
