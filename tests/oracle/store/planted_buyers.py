"""Buyers whose fault is known, in talks with random pairs of a world: their records as a year would hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.pair import opening_quote, pair_terms
from commerce.types import NegotiationRecord
from oracle.store.floor_belief import BidAnswer, PairTalk, believe_floor, heard_manner, pair_prior
from oracle.store.talk_history import StoreTalk
from oracle.store.talk_plan import TalkSeat, equal_types, tabulate_plans

ROUNDS = 9
SHIFT = 0.4


def wrong_belief(belief, seat):
    """The reference's rule on a belief whose floors lie 40 % of the way up to the price at hand."""
    types = equal_types(belief)
    top = float(types.opening.mean()) if seat.standing is None else float(seat.standing)
    floors = np.minimum(types.floor + SHIFT * np.maximum(0.0, top - types.floor), top)
    return tabulate_plans(replace(types, floor=floors), seat).best()[0]


def wrong_plan(belief, seat):
    """Three bids below every floor, then the standing price, whatever could be believed."""
    return None if len(seat.bids) == 3 else 0.1 * seat.reference


def stops_early(belief, seat):
    """The reference's first two bids, then the standing price."""
    return None if len(seat.bids) == 2 else tabulate_plans(belief, seat).best()[0]


def pays_quote(belief, seat):
    """One bid to hear a price, which is then paid."""
    return None if seat.bids else 0.1 * seat.reference


def reference(belief, seat):
    """The reference itself."""
    return tabulate_plans(belief, seat).best()[0]


def play_talks(world, rules, buyer, num, rng):
    """Return ``num`` talks of one buyer with random pairs that all end in what the buyer wants, or in a walk-away."""
    return [play_talk(world, rules, buyer, number, rng) for number in range(1, num + 1)]


def play_talk(world, rules, buyer, number, rng):
    supplier = int(rng.integers(len(world.suppliers)))
    sku = int(rng.choice(np.flatnonzero(world.skus.category == world.suppliers[supplier].category)))
    value = int(world.skus.reference_fen[sku])
    terms, manner = pair_terms(world, rules, supplier, sku), heard_manner(world, supplier)
    prior = pair_prior(world, rules, world.suppliers[supplier].category, value)
    opening, answers, standing, price, took = opening_quote(terms, rules, rng.random()), [], None, None, False
    for left in range(ROUNDS, -1, -1):
        seat = TalkSeat(value, standing, tuple(answer.bid for answer in answers), left)
        heard = [PairTalk(opening, tuple(answers))] if answers else []
        move = buyer(believe_floor(prior, heard, manner), seat)
        if move is None or left == 0:
            price, took = standing, True
            break
        bid = max(1, round(move))
        bids = [*seat.bids, bid]
        draws = AnswerDraws(*rng.random(3))
        answer = answer_offer(terms, rules, opening if standing is None else standing, bids, len(bids) + 1, draws)
        answers.append(BidAnswer(bid, answer.price, answer.walks))
        if answer.price is None:
            price = None if answer.walks else bid
            break
        standing = answer.price
    units = int(rng.integers(1, 40))
    record = NegotiationRecord(
        supplier, sku, 0, number, number, "supplier_walk" if price is None else "agreement", price,
        0 if price is None else units, tuple(answer.bid for answer in answers), opening, terms.floor, value,
        world.suppliers[supplier].is_honest,
    )  # fmt: skip
    left = tuple(ROUNDS - place for place in range(len(answers) + 1))
    return StoreTalk(number, record, PairTalk(opening, tuple(answers)), (number,) * len(answers), left, took)
