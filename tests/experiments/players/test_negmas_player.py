"""NegMAS at our table: its own mechanism makes the same deals, nothing irrational is accepted, draws are by seed."""

import warnings

import pytest

import terms
from experiments.players.registry import build_agent
from terms.agents.scripted import FixedConcession
from terms.two_seats import play_match
from terms.types import Opener, Termination

pytestmark = pytest.mark.doors
ANSWERED = terms.GameConfig(final_offer_answered=True)
SUITE = [
    scenario
    for scenario in terms.fresh_suite(5, ["overlap"], ["candid"], 2, config=ANSWERED)
    if scenario.opener is Opener.AGENT  # so both seats have the same number of moves, as NegMAS gives them
]
KINDS = ("BoulwareTBNegotiator", "ConcederTBNegotiator", "NaiveTitForTatNegotiator", "MiCRONegotiator")


def native(scenario, kinds):
    """Let NegMAS play the scenario alone and return the price of the deal, ``None`` without one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import negmas
        from negmas.preferences import LinearUtilityAggregationFunction
        from negmas.preferences.value_fun import AffineFun

        step = scenario.price_range / 200
        issue = negmas.make_issue(values=201, name="price")
        mechanism = negmas.SAOMechanism(issues=[issue], n_steps=2 * scenario.config.horizon, one_offer_per_step=True)
        seats = [
            (kinds[0], scenario.sign, scenario.agent_type.reservation_price),
            (kinds[1], -scenario.sign, scenario.counterpart_type.reservation_price),
        ]
        for kind, sign, own in seats if scenario.opener is Opener.AGENT else reversed(seats):
            width = own - scenario.price_min if sign > 0 else scenario.price_max - own
            gain = AffineFun(-sign * step / width, bias=sign * (own - scenario.price_min) / width)
            worth = LinearUtilityAggregationFunction({"price": gain}, issues=[issue], reserved_value=0.0)
            mechanism.add(getattr(negmas, kind)(), preferences=worth)
        deal = mechanism.run().agreement
    return None if deal is None else scenario.price_min + deal[0] * step


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS[:2])
def test_two_of_them_make_the_deals_that_they_make_at_home(first, second):
    seats = [build_agent(f"negmas:{kind}") for kind in (first, second)]
    assert len(SUITE) == 4
    for scenario in SUITE:
        assert play_match(scenario, *seats).first.price == pytest.approx(native(scenario, (first, second)), abs=1e-9)


def test_it_plays_the_kernel_and_our_agents_in_either_seat():
    agent = build_agent("negmas:LinearTBNegotiator")
    for scenario in terms.fresh_suite(6, n_per_cell=1):
        records = [terms.play(scenario, agent), play_match(scenario, FixedConcession(0.2), agent).second]
        for record in records:
            assert record.agent == "negmas-LinearTB"
            assert record.utility >= -1e-9
            assert record.termination is not Termination.INVALID_ACTION
        assert terms.play(scenario, agent) == records[0]


def test_names_that_negmas_does_not_have_are_refused():
    for name in ("Nobody", "make_issue"):
        with pytest.raises(ValueError, match="is no negotiator of NegMAS"):
            build_agent(f"negmas:{name}")
