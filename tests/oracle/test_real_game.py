"""Bounds of the game as it is played: what they are made of, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from oracle import real_game
from oracle.bounds import Mean
from oracle.legal_play import legal_play_bound
from oracle.planner import FittedAgent
from oracle.prior import Knowledge
from oracle.real_game import RealBracket, real_bracket
from oracle.relaxation import BracketSettings
from oracle.shipped import standard_knowledge, values_for
from terms.episode import play
from terms.suites import fresh_suite
from terms.types import Opener, Role

FEW = BracketSettings(num_bayes=4, num_told=4)


def _earned(values, seed):
    """What ``bayes`` earns in two episodes of each regime and role, with their zopas."""
    knowledge, agent = values.knowledge, FittedAgent(values)
    suite = fresh_suite(seed, knowledge.regimes, ["taciturn"], 2)
    suite = [each for each in suite if each.opener is Opener.AGENT]
    return np.array([play(each, agent).utility for each in suite]), np.array([max(each.zopa, 0) for each in suite])


@pytest.mark.parametrize(("prior", "mean"), [("overlap", 25.0), ("unknown", 50.0 / 3)])
def test_the_lower_bound_is_what_bayes_earns_in_fresh_episodes(prior, mean, tmp_path):
    """Less zopa, whose mean is known: over three regimes, of which one has none, 25 times two thirds."""
    values = values_for(standard_knowledge("taciturn", prior))
    utility, zopa = _earned(values, 3)
    found = real_bracket(values, Opener.AGENT, settings=FEW, seed=3, folder=tmp_path)
    expected = 1 + (utility - zopa) / mean
    assert found.bayes.value == pytest.approx(expected.mean())
    assert found.bayes.se == pytest.approx(expected.std(ddof=1) / np.sqrt(len(expected)))
    assert found.lower == pytest.approx(found.bayes.value - 2 * found.bayes.se)
    assert found.bayes.value < found.told.value
    assert real_bracket(values, Opener.AGENT, settings=FEW, seed=3, folder=tmp_path) == found


def test_of_efficiency_the_bounds_are_means_over_episodes(tmp_path):
    values = values_for(standard_knowledge("taciturn", "overlap"))
    se = replace(values, knowledge=replace(values.knowledge, objective="se"))
    utility, zopa = _earned(se, 3)
    found = real_bracket(se, Opener.AGENT, settings=FEW, seed=3, folder=tmp_path)
    assert found.bayes.value == pytest.approx((utility / zopa).mean())
    assert found.told.value <= 1


def test_nobody_earns_more_than_the_whole():
    assert RealBracket(Mean(0.8, 0.01, 9), Mean(0.99, 0.01, 9), 3.0).upper == 1.0
    found = RealBracket(Mean(0.8, 0.01, 9), Mean(0.9, 0.01, 9), 3.0)
    assert (found.lower, found.upper, found.width) == pytest.approx((0.77, 0.93, 0.16))


def test_episodes_of_both_roles_and_every_regime_are_drawn():
    knowledge = Knowledge.of(["overlap", "no_deal"], ["candid"])
    drawn = real_game._episodes(knowledge, Opener.COUNTERPART, 9, 1)
    assert len(drawn) == 12
    assert {each.opener for each in drawn} == {Opener.COUNTERPART}
    assert sum(each.agent_role is Role.BUYER for each in drawn) == 6
    assert sum(each.zopa > 0 for each in drawn) == 6


@pytest.mark.parametrize("regimes", [["no_deal"], ["overlap"]])
def test_what_has_no_bracket_is_refused(regimes):
    values = values_for(standard_knowledge("candid", "overlap"))
    families = ["candid"] if regimes == ["no_deal"] else ["candid", "taciturn"]
    with pytest.raises(ValueError, match="a bracket needs one family"):
        real_bracket(replace(values, knowledge=Knowledge.of(regimes, families)), Opener.AGENT)


def test_a_type_that_leaves_nothing_is_worth_nothing():
    from tests.oracle.twins import tiny_problem

    assert legal_play_bound(tiny_problem(np.random.default_rng(0))._replace(zopa=-1.0), None) == 0.0
