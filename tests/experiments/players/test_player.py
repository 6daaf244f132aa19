"""One player for every mode: what is wrapped, what is handed out, that nothing of it leads to the scenario."""

from __future__ import annotations

import hashlib
import json
import pickle

import pytest

import terms
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.players.model_options import NegotiatorSettings, Reveal
from experiments.players.model_voice import ModelVoice
from experiments.players.negotiator import ModelAgent
from experiments.players.player import Player, as_player, play_episode
from terms import Reject
from terms.agents import SCRIPTED, build_scripted
from terms.episode import UNSALTED, AgentExitError, Seeds, Starter, as_starter
from tests.experiments.llm.scripted import ScriptedClient, move
from tests.terms.builders import make_scenario

RECIPE = {"n_per_cell": 1, "families": ["candid", "strategic"]}


class Cheat:
    """Knows how suites are made and looks for its episode in everything that it is handed."""

    name = "cheat"

    def __init__(self):
        self.handed = []
        self.found = []

    def for_episode(self, seed):
        self.handed.append(seed)
        for suite_seed in range(4):
            for scenario in terms.fresh_suite(suite_seed, **RECIPE):
                names = (scenario.scenario_id, f"agent/{scenario.scenario_id}", f"agent//0/{scenario.scenario_id}")
                digests = {int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in names}
                if seed in digests | {UNSALTED.of(scenario), Seeds("", 1).of(scenario)}:
                    self.found.append(scenario)
        return self

    def for_meeting(self, seed, past):
        return self.for_episode(seed)

    def act(self, observation):
        assert "fresh" not in repr(observation), "the scenario's id is not handed out"
        return Reject()


def test_an_agent_that_knows_the_recipe_cannot_find_its_scenario_by_its_seed(tmp_path):
    spec = SuiteSpec.parse("fresh", seed=2, n_per_cell=1, families=["candid", "strategic"])
    cheat = Cheat()
    run = run_task(EPISODES, cheat, spec, tmp_path / "run")
    assert len(set(cheat.handed)) == len(spec.build()) == len(run.records)
    assert cheat.found == []
    for scenario in spec.build():
        terms.play(scenario, cheat)
    assert cheat.found == [], "nor where it plays outside of a run"


def test_a_run_goes_on_with_the_seeds_it_began_with_and_another_has_others(tmp_path):
    spec = SuiteSpec.parse("fresh", n_per_cell=1, families=["candid"], regimes=["overlap"])
    first, second, other = Cheat(), Cheat(), Cheat()
    run_task(EPISODES, first, spec, tmp_path / "run")
    salt = run_task(EPISODES, second, spec, tmp_path / "run").header.salt
    assert second.handed == []
    (tmp_path / "run" / "episodes.jsonl").write_bytes(b"")
    run_task(EPISODES, second, spec, tmp_path / "run")
    assert second.handed == first.handed == [Seeds(salt).of(scenario) for scenario in spec.build()]
    run_task(EPISODES, other, spec, tmp_path / "other")
    assert not set(other.handed) & set(first.handed)


def test_repeats_of_one_scenario_have_seeds_of_their_own():
    scenario = make_scenario()
    assert len({Seeds(salt, repeat).of(scenario) for salt in ("", "a", "b") for repeat in range(5)}) == 15
    cheat = Cheat()
    for repeat in range(3):
        as_player(cheat).seeded(Seeds("", repeat)).start(scenario)
    assert len(set(cheat.handed)) == 3


@pytest.mark.parametrize("name", ["patient", "random", "recall"])
def test_our_own_agents_draw_the_same_in_every_folder(name):
    assert as_player(build_scripted(name)).new_salt() == ""


def test_an_agent_that_is_handed_no_seed_needs_no_secret():
    assert as_player(lambda observation: Reject()).new_salt() == ""
    assert len({as_player(Cheat()).new_salt() for _ in range(3)}) == 3


def test_whatever_a_user_gives_is_wrapped_once():
    def leave(observation):
        return Reject()

    player = as_player(leave)
    assert isinstance(player, Player)
    assert as_player(player) is player
    assert as_starter(player) is player
    assert (player.name, player.settings, player.concurrency) == ("leave", {}, 1)
    with player.sit(None) as seated:
        assert seated is player
    assert pickle.loads(pickle.dumps(as_player(build_scripted("random")))).name == "random"


def test_an_agent_may_say_how_many_episodes_it_plays_at_once():
    class Slow(Cheat):
        concurrency = 7

    assert as_player(Slow()).concurrency == 7


def test_an_object_that_says_it_begins_episodes_is_handed_none():
    class Liar(Cheat):
        __class__ = Starter

        def start(self, scenario, past=None):
            raise AssertionError("a scenario holds the hidden type")

    terms.play(make_scenario(), Liar())
    assert as_player(Liar()).has_secret_seeds


@pytest.mark.parametrize("where", ["act", "for_episode", "for_meeting"])
@pytest.mark.parametrize("code", [0, 1, None, "done"])
def test_an_agent_that_exits_is_named_like_one_that_raises(where, code):
    class Quitter(Cheat):
        pass

    def leave(*_):
        raise SystemExit(code)

    setattr(Quitter, where, leave)
    with pytest.raises(AgentExitError, match=r"agent 'cheat' called sys.exit"):
        as_player(Quitter()).start(make_scenario(), () if where == "for_meeting" else None).act(None)


def test_an_exit_in_the_middle_of_a_run_says_where(tmp_path):
    def quitter(observation):
        raise SystemExit(0)

    spec = SuiteSpec.parse("fresh", n_per_cell=1, families=["candid"], regimes=["overlap"])
    with pytest.raises(AgentExitError) as caught:
        run_task(EPISODES, quitter, spec, tmp_path)
    assert "round 1 of fresh-0/overlap" in caught.value.__notes__[0]


@pytest.mark.parametrize("name", sorted(SCRIPTED))
def test_an_agent_that_is_no_model_plays_as_before(name):
    played = play_episode(make_scenario(), build_scripted(name))
    assert played.record == terms.play(make_scenario(), build_scripted(name))
    assert played.receipts == ()
    assert played.voice_outcomes == {}


def test_a_model_leaves_one_receipt_a_round_under_its_own_name():
    client = ScriptedClient(move(price=41), "what?", move("Reject"))
    played = play_episode(make_scenario(), ModelAgent(client, "stub", NegotiatorSettings(show_cues=False)))
    assert played.record.agent == "stub+no-cues"
    assert [len(receipt["attempts"]) for receipt in played.receipts] == [1, 2]
    assert [receipt["verdict"] for receipt in json.loads(json.dumps(played.receipts))] == ["ok", "ok"]


@pytest.mark.parametrize(("level", "is_told"), [(Reveal.NOTHING, False), (Reveal.KERNEL, False), (Reveal.TYPE, True)])
def test_the_reveal_level_reaches_the_model(level, is_told):
    client = ScriptedClient(move("Reject"))
    play_episode(make_scenario(other=40.0625), ModelAgent(client, "stub", NegotiatorSettings(reveal=level)))
    assert ("40.0625" in client.sent) is is_told
    assert ("counterpart_rules" in client.sent) is (level is not Reveal.NOTHING)


@pytest.mark.parametrize(
    ("line", "outcome"), [("I am at 65.50, friend.", "model"), ("Pay 99.00, friend.", "template_unfaithful")]
)
def test_a_narrator_words_and_is_counted(line, outcome):
    narrator = ModelVoice(ScriptedClient(line))
    played = play_episode(make_scenario(), ModelAgent(ScriptedClient(move("Reject")), "stub", narrator=narrator))
    assert played.voice_outcomes == {outcome: 1}
    assert ("friend" in played.record.turns[0].counterpart_message) is (outcome == "model")
