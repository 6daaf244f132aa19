"""Talks told again from records, plans against the simulated kernel, and costs that add up and name planted faults."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from commerce.config import FAIR, PAPER
from commerce.merchants import build_merchant
from commerce.money import to_fen
from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.pair import GAME, opening_quote, pair_terms
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.floor_belief import BidAnswer, PairTalk, believe_floor, heard_manner, pair_prior, start_belief
from oracle.store.talk_history import tell_talks
from oracle.store.talk_moves import review_pairs
from oracle.store.talk_plan import TalkSeat, best_next_bid, equal_types, plan_worth
from oracle.store.talks import price_talks, talk_costs, told_talk
from terms.kernel import kernel_params
from tests.oracle.store.planted_buyers import (
    pays_quote,
    play_talks,
    reference,
    stops_early,
    wrong_belief,
    wrong_plan,
)

WORLD = generate_world(4)
DAYS = 40


@pytest.fixture(scope="module", params=["paper", "fair"])
def played(request):
    """A short year of the rule-based merchant, and every answer it heard."""
    rules = {"paper": PAPER, "fair": FAIR}[request.param].model_copy(update={"num_days": DAYS})
    year, heard = Year(WORLD, rules), []

    def call(tool, arguments):
        result = year.call(tool, arguments)
        if tool == "chatbox" and result.ok:
            heard.extend(
                (reply["supplier"], outcome) for reply in result.data["replies"] for outcome in reply["outcomes"]
            )
        return result

    build_merchant("rule-based", WORLD, rules, 0)(call)
    year.stop()
    return year, heard


def test_talks_come_out_with_the_prices_that_were_told(played):
    year, heard = played
    world, rules = year.setting.world, year.setting.rules
    talks = tell_talks(world, rules, year.procurement.records(year.state.book))
    assert len(talks) > 50
    told = {}
    for supplier, outcome in heard:
        if outcome["decision"] == "Offer":
            told.setdefault((supplier, outcome["sku_id"]), []).append(to_fen(outcome["price"]))
    again = {}
    for talk in talks:
        pair = (world.suppliers[talk.record.supplier].email, world.skus.sku_id[talk.record.sku])
        quotes = [answer.quote for answer in talk.heard.answers if answer.quote is not None]
        again.setdefault(pair, []).extend(quotes)
    assert {pair: quotes for pair, quotes in again.items() if quotes} == told


def test_the_gap_of_every_purchase_is_its_parts_to_the_fen(played):
    year, _ = played
    costs = talk_costs(year)
    assert costs.rows
    for row in costs.rows:
        assert row.gap_fen == row.inference_fen + row.uncertainty_fen + row.control_fen - row.noise_fen
        assert row.cost_fen >= -1  # two roundings
        assert row.uncertainty_fen >= 0
    assert sum(costs.parts().values()) == sum(costs.total(f"{part}_fen") for part in costs.parts())
    assert costs.costliest(3) == sorted(costs.rows, key=lambda row: (-row.cost_fen, row.number))[:3]
    assert "<table>" in costs._repr_html_()
    assert len(costs.to_json_object(2)["talks"]) == 2


def test_a_frame_has_every_purchase(played, monkeypatch):
    frames = types.ModuleType("pandas")
    frames.DataFrame = lambda rows, columns: [dict(zip(columns, row, strict=True)) for row in rows]
    monkeypatch.setitem(sys.modules, "pandas", frames)
    costs = talk_costs(played[0])
    assert costs.to_frame() == [row._asdict() for row in costs.rows]


def test_one_talk_is_told_as_in_the_list(played):
    year, _ = played
    row = talk_costs(year).costliest(1)[0]
    talk, moves = told_talk(year, row.number)
    assert talk.number == row.number
    assert abs(row.units * sum(move.cost for move in moves) - row.cost_fen) <= 1
    with pytest.raises(ValueError, match="has talks 1 to"):
        told_talk(year, 10**9)


def test_records_of_another_world_do_not_come_out(played):
    year, _ = played
    other = generate_world(9)
    with pytest.raises((ValueError, IndexError), match="does not come out"):
        tell_talks(other, year.setting.rules, year.procurement.records(year.state.book))


@pytest.mark.parametrize("rules", [PAPER, FAIR])
def test_a_plan_is_worth_what_it_earns(rules):
    """One type, one plan of bids: its worth beside 3,000 talks in the kernel itself."""
    rng = np.random.default_rng(1)
    supplier = next(row for row, who in enumerate(WORLD.suppliers) if who.is_honest)
    sku = int(np.flatnonzero(WORLD.skus.category == WORLD.suppliers[supplier].category)[0])
    terms, value = pair_terms(WORLD, rules, supplier, sku), int(WORLD.skus.reference_fen[sku])
    prior = pair_prior(WORLD, rules, WORLD.suppliers[supplier].category, value)
    belief = start_belief(prior, (), heard_manner(WORLD, supplier))
    stand_ins = equal_types(belief)
    num = len(stand_ins.floor)
    known = kernel_params(GAME, terms.family, terms.stance, 1.0)
    constants = [known.rho, known.xi, known.lambda_2, known.lambda_shift, known.noise_sd, 0.0]
    one = replace(
        stand_ins,
        floor=np.full(num, float(terms.reservation)),
        opening=np.full(num, float(terms.opening)),
        price_range=np.full(num, terms.price_range),
        urgency=np.full(num, terms.urgency),
        params=np.tile(constants, (num, 1)),
    )
    plan = np.array([0.9, 0.9, 1.0, 1.02, 1.02]) * terms.reservation
    bids = [round(bid) for bid in plan]
    standing = terms.opening
    seat = TalkSeat(value, standing, (), len(bids))
    worth = plan_worth(one, seat, np.full(num, float(standing)), np.array(bids, dtype=float)[None, :, None])[0, 0]
    earned = []
    for _ in range(3000):
        price, gain = standing, None
        for place in range(len(bids)):
            answer = answer_offer(terms, rules, price, bids[: place + 1], place + 2, AnswerDraws(*rng.random(3)))
            if answer.price is None:
                gain = 0 if answer.walks else value - bids[place]
                break
            price = answer.price
        earned.append(max(0, value - price) if gain is None else gain)
    error = 3 * np.std(earned) / len(earned) ** 0.5
    assert worth == pytest.approx(np.mean(earned), abs=error + 0.004 * value)


@pytest.mark.parametrize("rules", [PAPER, FAIR])
@pytest.mark.parametrize("is_honest", [True, False])
def test_pressed_often_enough_a_supplier_gives_its_floor_away_and_is_bid_that(rules, is_honest):
    rng = np.random.default_rng(2)
    supplier = next(row for row, who in enumerate(WORLD.suppliers) if who.is_honest is is_honest)
    sku = int(np.flatnonzero(WORLD.skus.category == WORLD.suppliers[supplier].category)[0])
    terms, value = pair_terms(WORLD, rules, supplier, sku), int(WORLD.skus.reference_fen[sku])
    prior = pair_prior(WORLD, rules, WORLD.suppliers[supplier].category, value)
    talks = [press(rules, terms, rng) for _ in range(12)]
    belief = believe_floor(prior, talks, heard_manner(WORLD, supplier))
    assert belief.mean == pytest.approx(terms.reservation, abs=0.012 * value)
    bid, worth = best_next_bid(belief, TalkSeat(value, None, (), 9))
    assert bid == pytest.approx(terms.reservation, abs=0.03 * value)
    assert worth == pytest.approx(value - terms.reservation, abs=0.03 * value)


def press(rules, terms, rng):
    """One talk of bids of one fen, which end with a walk-away at the latest after nine of them."""
    opening, answers = opening_quote(terms, rules, rng.random()), []
    standing = opening
    while len(answers) < 9 and not (answers and answers[-1].is_walk):
        bids = [1] * (len(answers) + 1)
        answer = answer_offer(terms, rules, standing, bids, len(bids) + 1, AnswerDraws(*rng.random(3)))
        answers.append(BidAnswer(1, answer.price, answer.walks))
        standing = answer.price or standing
    return PairTalk(opening, tuple(answers))


FAULTS = {"inference": wrong_belief, "control": wrong_plan, "quote": pays_quote}


def name_fault(world, rules, buyer, num, rng):
    talks = play_talks(world, rules, buyer, num, rng)
    wanted = [talk.number for talk in talks if talk.record.outcome == "agreement"]
    return price_talks(world, talks, list(review_pairs(world, rules, talks, wanted)))


@pytest.mark.parametrize("rules", [PAPER, FAIR])
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_buyers_are_named(rules, fault):
    assert name_fault(WORLD, rules, FAULTS[fault], 25, np.random.default_rng(7)).fault == fault


@pytest.mark.parametrize("rules", [PAPER, FAIR])
def test_the_reference_itself_gives_nothing_up(rules):
    costs = name_fault(WORLD, rules, reference, 12, np.random.default_rng(8))
    assert costs.total("cost_fen") <= 0.005 * costs.total("worth_fen")
    assert name_fault(WORLD, rules, stops_early, 12, np.random.default_rng(8)).total("control_fen") >= 0
