"""Two agents at one table: the kernel in the second seat is the game itself, and the seats mirror each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from terms.agents import SCRIPTED, build_scripted
from terms.agents.kernel_agent import KernelAgent
from terms.counterparts import CounterpartMove
from terms.game import Game
from terms.two_seats import Match, SecondSeat, mirrored, play_match, replay_match
from terms.types import Accept, Belief, Decision, Offer, Opener, Reject, ReplyFault, Role, Termination, Unusable
from tests.terms.builders import make_scenario

PLAIN = [name for name in SCRIPTED if name not in ("exploit", "never-accept")]


class Says:
    """Makes the moves it is given and keeps what it saw."""

    def __init__(self, *moves):
        self.moves, self.seen = list(moves), []

    def act(self, observation):
        self.seen.append(observation)
        return self.moves.pop(0)


@pytest.mark.parametrize("name", ["patient", "fixed-0.10", "random", "tit-for-tat", "never-accept"])
def test_the_kernel_in_the_second_seat_is_the_game_byte_for_byte(name):
    for scenario in terms.fresh_suite(21, n_per_cell=1):
        agent = build_scripted(name)
        assert play_match(scenario, agent, KernelAgent()).first == terms.play(scenario, agent)


@pytest.mark.parametrize("answered", [True, False])
def test_the_kernel_is_the_game_whether_or_not_the_last_offer_is_answered(answered):
    config = terms.GameConfig(final_offer_answered=answered, horizon=3)
    for scenario in terms.fresh_suite(2, ["overlap", "no_deal"], ["stochastic"], 5, config=config):
        agent = terms.FixedConcession(0.1)
        assert play_match(scenario, agent, KernelAgent()).first == terms.play(scenario, agent)


def test_both_seats_have_a_record_of_one_talk():
    scenario = make_scenario(opener=Opener.COUNTERPART)
    belief = Belief(r_hat=50.0)
    own = scenario.agent_type.reservation_price
    buyer, seller = (
        Says(Offer(20.0, "low"), Offer(own, "more")),
        Says(Offer(90.0, "high", belief), Offer(80.0, "less"), Accept("done")),
    )
    match = play_match(scenario, buyer, seller)
    assert match.first.termination is Termination.COUNTERPART_ACCEPT
    assert match.second.termination is Termination.AGENT_ACCEPT
    assert match.first.price == match.second.price == own
    assert match.first.utility + match.second.utility == pytest.approx(scenario.zopa)
    assert [turn.counterpart_price for turn in match.first.turns] == [90.0, 80.0]
    assert [turn.counterpart_message for turn in match.first.turns] == ["high", "less"]
    assert [(turn.round, turn.counterpart_price, turn.counterpart_message) for turn in match.second.turns] == [
        (1, None, ""), (2, 20.0, "low"), (3, own, "more"),
    ]  # fmt: skip
    assert match.second.turns[0].belief == belief
    assert match.first.closing_message == "done"
    assert match.second.agent_role is Role.SELLER
    assert match.second.opener is Opener.AGENT
    first, last = seller.seen[0], seller.seen[-1]
    assert (first.role, first.reservation_price, first.round, first.horizon) == (Role.SELLER, 40.0, 1, 10)
    assert first.standing_price is None
    assert not first.can_accept
    assert last.accept_utility == pytest.approx(own - 40.0)
    assert last.last_own_offer == 80.0


@pytest.mark.parametrize(
    ("opener", "answered", "moves"),
    [
        (Opener.COUNTERPART, False, (3, 3)),
        (Opener.COUNTERPART, True, (3, 4)),
        (Opener.AGENT, False, (3, 2)),
        (Opener.AGENT, True, (3, 3)),
    ],
)
def test_each_seat_is_told_how_many_moves_it_has(opener, answered, moves):
    scenario = make_scenario(opener=opener, config=terms.GameConfig(horizon=3, final_offer_answered=answered))
    first, second = Says(*[Offer(20.0)] * 3), Says(*[Offer(90.0)] * 4)
    match = play_match(scenario, first, second)
    assert (len(first.seen), len(second.seen)) == moves
    assert first.seen[-1].rounds_remaining == second.seen[-1].rounds_remaining == 0
    assert match.first.termination is match.second.termination is Termination.ROUND_LIMIT


@pytest.mark.parametrize(
    ("bad", "termination", "fault"),
    [
        (Offer(900.0), Termination.INVALID_ACTION, None),
        ("nonsense", Termination.INVALID_ACTION, ReplyFault.UNREADABLE),
        (None, Termination.NO_REPLY, ReplyFault.EMPTY),
        (Unusable(ReplyFault.REFUSED), Termination.NO_REPLY, ReplyFault.REFUSED),
    ],
)
def test_a_fault_belongs_to_the_seat_that_made_it(bad, termination, fault):
    scenario = make_scenario(opener=Opener.AGENT)
    match = play_match(scenario, Says(Offer(20.0)), Says(bad))
    assert match.first.termination is Termination.COUNTERPART_FAULT
    assert match.first.violations == ()
    assert (match.second.termination, match.second.fault) == (termination, fault)
    assert match.first.utility == match.second.utility == 0.0
    match = play_match(scenario, Says(bad), Says())
    assert match.second.termination is Termination.COUNTERPART_FAULT
    assert (match.first.termination, match.first.fault) == (termination, fault)
    assert match.second.violations == ()


def test_an_accept_without_a_price_is_the_second_seats_own_fault():
    match = play_match(make_scenario(opener=Opener.COUNTERPART), Says(), Says(Accept()))
    assert match.first.termination is Termination.COUNTERPART_FAULT
    assert match.second.termination is Termination.INVALID_ACTION
    assert match.second.fault_detail == "Accept without a standing price"


def test_a_provider_that_fails_spoils_the_talk_for_both():
    scenario = make_scenario(opener=Opener.AGENT)
    for agents in (
        (Says(Offer(20.0)), Says(Unusable(ReplyFault.PROVIDER))),
        (Says(Unusable(ReplyFault.PROVIDER)), Says()),
    ):
        assert all(record.is_excluded for record in play_match(scenario, *agents))


def test_leaving_is_seen_from_both_sides():
    scenario = make_scenario(opener=Opener.COUNTERPART)
    match = play_match(scenario, Says(Reject("no")), Says(Offer(90.0)))
    assert (match.first.termination, match.second.termination) == (
        Termination.AGENT_REJECT,
        Termination.COUNTERPART_WALK,
    )
    assert match.second.closing_message == "no"
    match = play_match(scenario, Says(), Says(Reject("never")))
    assert (match.first.termination, match.second.termination) == (
        Termination.COUNTERPART_WALK,
        Termination.AGENT_REJECT,
    )
    assert match.first.turns == ()


AROUND_ZERO = terms.GameConfig(price_min=-50.0, price_max=50.0)


def reflected(scenario):
    """Buyer and seller exchanged by turning the price axis round, which is exact where it lies around 0."""
    types = [
        replace(kind, reservation_price=-kind.reservation_price)
        for kind in (scenario.agent_type, scenario.counterpart_type)
    ]
    role = Role.SELLER if scenario.agent_role is Role.BUYER else Role.BUYER
    return replace(scenario, agent_role=role, agent_type=types[0], counterpart_type=types[1])


@given(st.sampled_from(PLAIN), st.sampled_from(PLAIN), st.integers(0, 10**6))
def test_buyer_and_seller_mirror_exactly(first, second, seed):
    if "random" in (first, second):
        first = second = "linear"
    for scenario in terms.fresh_suite(seed, ["overlap"], ["candid"], 1, config=AROUND_ZERO):
        agents = build_scripted(first), build_scripted(second)
        match, other = play_match(scenario, *agents), play_match(reflected(scenario), *agents)
        for one, twin in zip(match, other, strict=True):
            assert one.termination is twin.termination
            assert one.utility == twin.utility
            assert one.price == (None if twin.price is None else -twin.price)


@given(st.sampled_from(PLAIN), st.sampled_from(PLAIN), st.integers(0, 10**6))
def test_a_deal_divides_the_zopa_and_records_agree(first, second, seed):
    for scenario in terms.fresh_suite(seed, ["overlap", "no_deal"], ["candid"], 1):
        match = play_match(scenario, build_scripted(first), build_scripted(second))
        assert match.first.price == match.second.price
        if match.first.price is not None:
            assert match.first.utility + match.second.utility == pytest.approx(scenario.zopa)
        assert mirrored(mirrored(scenario)) == replace(scenario, scenario_id=f"{scenario.scenario_id}/other/other")


def test_a_counterpart_of_ones_own_plays():
    class Stubborn:
        def open(self):
            return CounterpartMove(Decision.OFFER, 70.0, message="70 it is")

        def answer(self, offer, k):
            return CounterpartMove(Decision.ACCEPT) if offer.price >= 60 else CounterpartMove(Decision.OFFER, 70.0 - k)

    scenario = make_scenario(opener=Opener.COUNTERPART)
    game = Game(scenario, counterpart=Stubborn())
    assert game.observe().message == "70 it is"
    game.step(Offer(30.0))
    assert game.observe().standing_price == 69.0
    game.step(Offer(60.0))
    assert game.record("a").termination is Termination.COUNTERPART_ACCEPT


@pytest.mark.parametrize("price", [None, float("nan"), 1e9, "70"])
def test_a_price_that_cannot_be_one_is_the_counterparts_fault(price):
    class Broken:
        def open(self):
            return CounterpartMove(Decision.OFFER, price)

    game = Game(make_scenario(opener=Opener.COUNTERPART), counterpart=Broken())
    assert game.record("a").termination is Termination.COUNTERPART_FAULT


def test_an_agent_that_raises_is_named():
    def broken(observation):
        raise KeyError("price")

    with pytest.raises(KeyError) as error:
        play_match(make_scenario(opener=Opener.COUNTERPART), terms.FixedConcession(0.1), broken)
    assert "raised by agent 'broken' in round 1" in error.value.__notes__[0]


def test_words_and_history_are_hidden_where_the_game_hides_them():
    config = terms.GameConfig(show_messages=False, history_window=1)
    scenario = make_scenario(opener=Opener.COUNTERPART, config=config)
    second = Says(Offer(90.0), Offer(80.0), Offer(70.0), Reject())
    play_match(scenario, Says(Offer(1.0, "a"), Offer(2.0, "b"), Offer(3.0, "c")), second)
    assert [seen.message for seen in second.seen] == [""] * 4
    assert [len(seen.history) for seen in second.seen] == [0, 1, 1, 1]
    assert second.seen[3].history[0].counterpart_message == ""


def test_seats_are_told_their_own_side_information():
    scenario = make_scenario(opener=Opener.COUNTERPART)
    first, second = Says(Reject()), Says(Offer(90.0))
    play_match(scenario, first, second, side_info=({"mine": 1}, lambda seen: {"round": seen.round}))
    assert first.seen[0].side_info == {"mine": 1}
    assert second.seen[0].side_info == {"round": 1}


def test_a_seat_is_made_for_a_game():
    scenario = make_scenario(opener=Opener.AGENT)
    seat = SecondSeat(scenario, Says(Accept("yes")))
    game = Game(scenario, counterpart=seat)
    game.step(Offer(45.0))
    assert Match(game.record("a"), seat.record(game.record("a"))).second.utility == pytest.approx(5.0)


@pytest.mark.parametrize("second", ["kernel", "random", "patient"])
def test_a_match_can_be_replayed_from_its_records(second):
    agent = KernelAgent() if second == "kernel" else build_scripted(second)
    for scenario in terms.fresh_suite(8, n_per_cell=1):
        match = play_match(scenario, build_scripted("random"), agent)
        assert replay_match(scenario, match) == match


def test_moves_that_are_not_the_match_are_refused():
    scenario = make_scenario(opener=Opener.COUNTERPART)
    match = play_match(scenario, Says(Offer(20.0), Accept()), Says(Offer(90.0), Offer(45.0)))
    short = match.second.turns[:-1]
    with pytest.raises(ValueError, match="end before round 2 while the talk is open"):
        replay_match(scenario, match._replace(second=replace(match.second, turns=short)))
    longer = (*match.first.turns, match.first.turns[-1])
    with pytest.raises(ValueError, match="come after the end"):
        replay_match(scenario, match._replace(first=replace(match.first, turns=longer)))


def test_a_seat_without_a_move_is_refused():
    scenario = make_scenario(opener=Opener.AGENT, config=terms.GameConfig(horizon=1))
    with pytest.raises(ValueError, match="horizon=1 leaves the second seat no move"):
        play_match(scenario, Says(), Says())
