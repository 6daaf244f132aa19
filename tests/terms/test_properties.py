"""What holds for every episode: the mirror, the projection of quotes, the life of an offer, the split of SE+."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import terms
from terms import Accept, Game, Offer
from terms.agents import SCRIPTED, build_scripted
from terms.episode import Seeds, as_starter, recorded_moves
from terms.types import Decision, Opener, ReplyFault, Role, Termination, Unusable, ViolationKind
from tests.terms import strategies
from tests.terms.builders import SYMMETRIC, Script, make_scenario, mirror_price, mirrored, seeded_noise

FEW = settings(deadline=None, max_examples=60)
MANY = settings(deadline=None, max_examples=3_000)
MIRRORING = sorted(set(SCRIPTED) - {"exploit"})  # exploit multiplies a price by 0.6, which has no mirror image


def negated(price):
    return None if price is None else -price


def reflection(record):
    """Return what a mirrored episode on bounds around zero must show, prices negated and words left out."""
    return {
        "turns": [
            (turn.round, negated(turn.counterpart_price), turn.cue, turn.decision, negated(turn.price), turn.belief)
            for turn in record.turns
        ],
        "violations": [(v.kind, v.round, negated(v.value)) for v in record.violations],
        "price": negated(record.price),
        **outcome(record),
    }


def shown(record):
    """Return the same facts of an episode as it is."""
    return {
        "turns": [
            (turn.round, turn.counterpart_price, turn.cue, turn.decision, turn.price, turn.belief)
            for turn in record.turns
        ],
        "violations": [(v.kind, v.round, v.value) for v in record.violations],
        "price": record.price,
        **outcome(record),
    }


def outcome(record):
    return {
        "utility": record.utility,
        "termination": record.termination,
        "cue": record.closing_cue,
        "zopa": record.zopa,
        "difficulty": record.difficulty,
    }


def check_mirror(scenario, moves):
    reflected = [Offer(-move.price) if isinstance(move, Offer) else move for move in moves]
    assert shown(terms.play(mirrored(scenario), Script(*reflected))) == reflection(terms.play(scenario, Script(*moves)))


@given(strategies.scenarios(SYMMETRIC), strategies.moves)
@FEW
def test_roles_are_mirror_images_exactly(scenario, moves):
    check_mirror(scenario, moves)


@pytest.mark.slow
@given(strategies.scenarios(SYMMETRIC), strategies.moves)
@MANY
def test_roles_are_mirror_images_exactly_at_length(scenario, moves):
    check_mirror(scenario, moves)


@given(strategies.scenarios(SYMMETRIC), st.sampled_from(MIRRORING))
@FEW
def test_scripted_agents_do_not_favour_a_role(scenario, name):
    agent = as_starter(build_scripted(name)).seeded(Seeds("the same draws for both"))
    assert shown(terms.play(mirrored(scenario), agent)) == reflection(terms.play(scenario, agent))


def test_the_mirror_holds_on_the_released_bounds_up_to_rounding():
    for scenario in terms.published_suite(n_per_cell=1):
        image = mirrored(scenario)
        assert image.zopa == pytest.approx(scenario.zopa, abs=1e-12)
        record, other = (terms.play(side, build_scripted("patient")) for side in (scenario, image))
        assert other.utility == pytest.approx(record.utility, abs=1e-9)
        assert other.termination is record.termination
        for turn, twin in zip(record.turns, other.turns, strict=True):
            if turn.price is not None:
                assert twin.price == pytest.approx(mirror_price(scenario, turn.price), abs=1e-9)


def check_quotes(scenario, moves):
    record = terms.play(scenario, Script(*moves))
    quotes = [turn.counterpart_price for turn in record.turns if turn.counterpart_price is not None]
    towards = [scenario.sign * (before - after) for before, after in pairwise(quotes)]
    limit = scenario.counterpart_type.reservation_price
    assert all(step >= 0 for step in towards)
    assert all(scenario.sign * (quote - limit) >= 0 for quote in quotes)
    assert all(scenario.price_min <= quote <= scenario.price_max for quote in quotes)


@given(strategies.scenarios(), strategies.moves)
@FEW
def test_quotes_are_monotone_and_never_past_the_reservation(scenario, moves):
    check_quotes(scenario, moves)


@pytest.mark.slow
@given(strategies.scenarios(), strategies.moves)
@MANY
def test_quotes_are_monotone_and_never_past_the_reservation_at_length(scenario, moves):
    check_quotes(scenario, moves)


@given(strategies.scenarios(), strategies.moves)
@FEW
def test_a_deal_closes_at_a_price_that_stood(scenario, moves):
    record = terms.play(scenario, Script(*moves))
    last = record.turns[-1]
    if record.termination is Termination.AGENT_ACCEPT:
        assert record.price == last.counterpart_price
    elif record.termination is Termination.COUNTERPART_ACCEPT:
        assert record.price == last.price
        assert scenario.sign * (record.price - scenario.counterpart_type.reservation_price) >= 0
    else:
        assert record.price is None
        assert record.utility == 0.0
    if last.counterpart_price is None and last.decision is Decision.ACCEPT:
        assert record.termination is Termination.INVALID_ACTION
    assert 1 <= record.rounds_played <= scenario.config.horizon
    assert [turn.round for turn in record.turns] == list(range(1, record.rounds_played + 1))


@given(strategies.scenarios(), strategies.moves)
@FEW
def test_violations_are_exactly_the_breaches_of_the_recorded_moves(scenario, moves):
    record = terms.play(scenario, Script(*moves))
    own, sign, previous, expected = scenario.agent_type.reservation_price, scenario.sign, None, []
    for turn in record.turns:
        if turn.decision is Decision.OFFER:
            if not scenario.price_min <= turn.price <= scenario.price_max:
                expected.append((ViolationKind.OUT_OF_BOUNDS, turn.round))
            if sign * (own - turn.price) < 0:
                expected.append((ViolationKind.IRRATIONAL_OFFER, turn.round))
            if previous is not None and sign * (turn.price - previous) < 0:
                expected.append((ViolationKind.REVERSED_CONCESSION, turn.round))
            previous = turn.price
        elif turn.decision is Decision.ACCEPT:
            if turn.counterpart_price is None:
                expected.append((ViolationKind.INVALID_ACTION, turn.round))
            elif sign * (own - turn.counterpart_price) < 0:
                expected.append((ViolationKind.IRRATIONAL_ACCEPT, turn.round))
    if record.termination is Termination.ROUND_LIMIT:
        expected.append((ViolationKind.TURN_BUDGET, record.rounds_played))
    assert [(violation.kind, violation.round) for violation in record.violations] == expected


@given(strategies.scenarios(), strategies.moves)
@FEW
def test_a_record_replays_to_itself(scenario, moves):
    record = terms.play(scenario, Script(*moves))
    assert terms.replay(scenario, recorded_moves(record), agent=record.agent) == record


@given(strategies.scenarios())
@FEW
def test_an_agent_that_saw_nothing_standing_cannot_accept(scenario):
    game = Game(replace(scenario, opener=Opener.AGENT))
    assert Decision.ACCEPT not in game.observe().legal_decisions
    game.step(Accept())
    assert game.record("x").termination is Termination.INVALID_ACTION


@given(st.integers(0, 10_000), st.lists(st.floats(-1, 2), min_size=1, max_size=8), st.sampled_from(Role))
@FEW
def test_se_plus_is_agr_plus_times_cse_plus(seed, boldness, role):
    episodes = []
    for index, share in enumerate(boldness):
        base = make_scenario(role=role, noise=seeded_noise(seed + index), scenario_id=f"made/{index}")
        scenario = strategies.feasible(base)
        own, other = scenario.agent_type.reservation_price, scenario.counterpart_type.reservation_price
        offer = min(100.0, max(0.0, other + share * (own - other)))
        episodes.append(terms.play(scenario, Script(*[offer] * 9)))
    found = terms.metrics.summarize(episodes).overall
    se, agr, cse = (found[name].estimate for name in ("se_plus", "agr_plus", "cse_plus"))
    assert found["se_plus"].n == len(boldness)
    if agr == 0:
        assert se == 0
        assert cse is None
    else:
        assert se == pytest.approx(agr * cse, abs=1e-12)


class WatchedDraws(tuple):
    """Responses of an episode that note which of them the game looked at."""

    def __getitem__(self, index):
        self.looked.append(index)
        return super().__getitem__(index)


@given(strategies.scenarios(SYMMETRIC), strategies.offers)
@FEW
def test_the_answer_of_round_k_uses_the_draws_of_round_k_whatever_was_done_before(scenario, offers):
    draws = WatchedDraws(scenario.noise.responses)
    draws.looked = []
    watched = replace(scenario, noise=scenario.noise._replace(responses=draws))
    record = terms.play(watched, Script(*offers))
    assert draws.looked == list(range(len(draws.looked)))
    answered = [turn for turn in record.turns if turn.decision is Decision.OFFER]
    assert len(answered) - len(draws.looked) in (0, 1)  # the last offer may go without an answer
    assert tuple(draws) == scenario.noise.responses


@given(st.integers(0, 10_000), strategies.offers, strategies.offers)
@FEW
def test_two_very_different_agents_hear_the_same_tone(seed, offers, others):
    """Sentiment depends on stance and noise alone, so both agents hear it in every round both reach."""
    scenario = make_scenario(config=SYMMETRIC, own=30.0, other=-10.0, noise=seeded_noise(seed))
    first, second = (terms.play(scenario, Script(*moves)) for moves in (offers, others))
    for mine, theirs in zip(first.turns, second.turns, strict=False):
        assert mine.cue.sentiment is theirs.cue.sentiment


@pytest.mark.parametrize("fault", ReplyFault)
def test_a_faulty_end_replays(fault):
    scenario = make_scenario()
    record = terms.play(scenario, Script(10.0, Unusable(fault, "why")))
    assert record.fault is fault
    again = terms.replay(scenario, recorded_moves(record), agent=record.agent)
    assert asdict(again) == asdict(record)
