from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import pytest

from experiments.players.model_options import ModelOptions
from experiments.players.player import play_episode
from experiments.players.registry import agent_of_run, build_agent, list_agents
from oracle.player_registry import PLAYERS
from terms import GameConfig, Reject, fresh_suite, play
from terms.agents import SCRIPTED
from terms.episode import agent_name
from terms.types import Termination
from tests.experiments.folders import REPOSITORY
from tests.terms.builders import make_scenario

MODULE = "python:tests.experiments.agents:"


def test_every_built_in_agent_is_listed_with_a_description_and_plays():
    listed = list_agents()
    assert [info.name for info in listed] == [*SCRIPTED, *PLAYERS]
    assert all(info.description[-1] in ".]" for info in listed)
    scenario = fresh_suite(2, ["overlap"], ["candid"], 1)[0]
    for name in SCRIPTED:
        assert play(scenario, build_agent(name)).agent == name


def test_the_oracles_players_are_listed_without_loading_them():
    code = "from experiments.players.registry import list_agents; list_agents(); import sys; "
    code += "sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)


@pytest.mark.parametrize("name", ["ramp", "clairvoyant", "faulty-execution"])
def test_the_oracles_players_are_told_about_their_episode_and_survive_a_journey(name):
    scenario = fresh_suite(2, ["no_deal"], ["candid"], 1)[0]
    player = pickle.loads(pickle.dumps(build_agent(name)))
    record = play_episode(scenario, player).record
    assert record.agent == name
    assert record == play_episode(scenario, build_agent(name)).record


def test_nobody_else_is_told_about_the_episode():
    class Curious:
        name = "curious"

        def for_scenario(self, scenario):
            raise AssertionError("a scenario holds the hidden type and the noise")

        def act(self, observation):
            assert not observation.side_info
            return Reject()

    scenario = fresh_suite(2, ["no_deal"], ["candid"], 1)[0]
    assert play_episode(scenario, Curious()).record.termination is Termination.AGENT_REJECT


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("patient:gap=0.2,rate=0.1", "patient:gap=0.2,rate=0.1"),
        ("fixed-0.10:rate=0.25", "fixed-0.25"),
        ("fixed-0.10:rate=0.104", "fixed-0.104"),
        ("fixed-0.10:rate=0.1", "fixed-0.10"),
        ("random:seed=5", "random:seed=5"),
    ],
)
def test_settings_show_in_the_name(spec, name):
    assert agent_name(build_agent(spec)) == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("clairvoyent", "allowed are fixed-.*did you mean 'clairvoyant'"),
        ("bayes:gap=1", "bayes takes no settings"),
        ("patiant", "agent='patiant', allowed are .*did you mean 'patient'"),
        ("", "agent='', allowed are"),
        ("patient:", None),
        ("patient:gap", "gap=''.*is not a number"),
        ("patient:gap=x", "gap='x'.*is not a number"),
        ("patient:gab=0.2", "option='gab' of Patient, allowed are gap, rate"),
        ("patient:gap=2", "gap=2.0; it must lie in"),
        ("patient:gap=nan", "gap=nan; it must lie in"),
        ("accept-any:gap=1", "allowed are none"),
        ("python:", "needed is python:MODULE:NAME"),
        ("python:math", "needed is python:MODULE:NAME"),
        ("python:no_such_module:Agent", "No module named 'no_such_module'"),
        (MODULE + "Nobody", "Nobody"),
        (MODULE + "NOT_AN_AGENT", "is a int; it needs act"),
        (MODULE + "NeedsArguments", "cannot be made without arguments.*model"),
    ],
)
def test_a_spec_that_names_no_agent_is_refused_with_what_is_allowed(spec, message):
    if message is None:
        assert agent_name(build_agent(spec)) == "patient"
        return
    with pytest.raises(ValueError, match=message):
        build_agent(spec)


def test_functions_classes_and_objects_are_agents():
    scenario = fresh_suite(2, ["overlap"], ["candid"], 1)[0]
    assert play(scenario, build_agent(MODULE + "accepts")).agent == "accepts"
    assert play(scenario, build_agent(MODULE + "Slow")).agent == "slow"
    assert play(scenario, build_agent(MODULE + "PATIENT")).agent == "patient"


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Return a module of a newcomer in the current directory, which is not on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(tmp_path))])
    monkeypatch.delitem(sys.modules, "newcomers_agent", raising=False)
    path = tmp_path / "newcomers_agent.py"
    path.write_text("from terms import Reject\ndef leave(observation):\n    return Reject()\n")
    yield path
    sys.modules.pop("newcomers_agent", None)


def test_a_module_in_the_current_directory_can_be_imported(own_module):
    assert build_agent("python:newcomers_agent:leave").start(make_scenario()).act(None) == Reject()


def test_a_file_in_the_current_directory_does_not_stand_in_for_ours(own_module):
    own_module.with_name("statistics.py").write_text("raise SystemExit('shadowed')")
    build_agent("python:newcomers_agent:leave")
    sys.modules.pop("statistics", None)
    assert __import__("statistics").mean([1, 3]) == 2


def settings_of(spec):
    return build_agent(spec).settings


def test_an_edited_agent_is_another_agent(own_module):
    before = settings_of("python:newcomers_agent:leave")
    assert before["imported"] == "python:newcomers_agent:leave"
    own_module.write_text("from terms import Accept\ndef leave(observation):\n    return Accept()\n")
    assert settings_of("python:newcomers_agent:leave")["source_sha256"] != before["source_sha256"]


def test_a_built_in_agent_is_pinned_by_its_name_alone():
    assert settings_of("patient:gap=0.2") == {}


def test_an_error_inside_the_module_is_not_hidden(own_module):
    own_module.write_text("1 / 0")
    with pytest.raises(ValueError, match=r"ZeroDivisionError: division by zero \(.*newcomers_agent.py, line 1\)"):
        build_agent("python:newcomers_agent:leave")


def test_a_folder_of_ones_own_with_the_name_of_a_package_of_ours_is_told_so(own_module):
    own_module.with_name("experiments").mkdir()
    own_module.write_text("import experiments.mine\n")
    with pytest.raises(ValueError, match=r"experiments is a package of terms-commerce.*another name"):
        build_agent("python:newcomers_agent:leave")


def _again(seat, **asked):
    settings = json.loads(json.dumps(seat.settings))  # as a header holds them
    return agent_of_run(seat.name, settings, ModelOptions.of(**asked), seat.config)


def test_a_model_plays_again_as_its_run_says():
    for spec, options in (
        ("openai:small", {"base_url": "http://127.0.0.1:1/v1", "effort": "low", "show_cues": False, "seed": 3}),
        ("openrouter:a/b", {"temperature": 0.7, "max_output_tokens": 99, "provider": {"only": ["x"]}}),
        ("local", {}),
    ):
        before = build_agent(spec, ModelOptions.of(**options), GameConfig())
        assert _again(before) == before
        assert _again(before, budget_usd="2").budget_microusd == 2_000_000
    before = build_agent("openrouter:a/b", ModelOptions.of(concurrency=3))
    assert _again(before, concurrency=5, timeout_s=9.0).concurrency == 5
    assert _again(before, temperature=0.0) == replace(before, model=_again(before).model)
    with pytest.raises(ValueError, match=r"temperature=1.0, but the run of 'openrouter:a/b' was played with 0.0"):
        _again(before, temperature=1.0)
    with pytest.raises(ValueError, match="says who words the counterpart"):
        _again(before, voice="openrouter:c/d")


def test_an_agent_plays_again_only_if_it_is_the_same():
    assert agent_of_run("fixed-0.30", {}, ModelOptions(), GameConfig()) == build_agent("fixed-0.30")
    own = build_agent(f"{MODULE}Slow")
    assert agent_of_run(own.name, own.settings, ModelOptions(), GameConfig()).settings == own.settings
    with pytest.raises(ValueError, match="by now has another source_sha256"):
        agent_of_run(own.name, {**own.settings, "source_sha256": "0"}, ModelOptions(), GameConfig())
    for name, settings, says in (
        ("mine", {}, "cannot be built again"),
        ("mine", {"imported": "terms.agents:build_scripted"}, "cannot be built again"),
        ("patient", {"imported": "fixed-0.30"}, "another name, 'fixed-0.30'"),
    ):
        with pytest.raises(ValueError, match=says):
            agent_of_run(name, settings, ModelOptions(), GameConfig())
