"""One player for every mode: what is wrapped, what is handed out, and that nothing of it leads to the scenario."""

from __future__ import annotations

import hashlib
import pickle

import pytest

import terms
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.players.player import Player, as_player
from terms import Reject
from terms.agents import build_scripted
from terms.episode import UNSALTED, AgentExitError, Seeds, Starter, as_starter
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
