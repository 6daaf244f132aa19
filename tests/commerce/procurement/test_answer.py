"""Answers to offers against the published worked examples E2-E9 (reference 100, floor 55, opening 78, R = 117).

The examples use unrounded quotes; ours are whole fen before they are used again, hence a tolerance of two fen.
"""

from __future__ import annotations

import pytest

from commerce.config import FAIR, PAPER
from commerce.procurement.answer import AnswerDraws, SupplierAnswer, answer_offer
from commerce.procurement.pair import PairTerms
from terms.types import Family, Stance

CANDID = PairTerms(7800, 5500, 5500, Family.CANDID, 0.65, Stance.NEUTRAL, 11700.0)
TOUGH = CANDID._replace(family=Family.ADVERSARIAL, urgency=0.50, stance=Stance.AGGRESSIVE)
STRATEGIC = CANDID._replace(family=Family.STRATEGIC, urgency=0.55, stance=Stance.AGGRESSIVE)
EXPRESSIVE = CANDID._replace(family=Family.EXPRESSIVE, urgency=0.70, stance=Stance.CONCILIATORY)
VIP = PairTerms(7800, 5500, 7000, Family.ADVERSARIAL, 0.15, Stance.AGGRESSIVE, 4700.0)
NEVER = AnswerDraws(1.0, 1.0, 0.5)  # no acceptance, no walk-away, no noise


def talk(terms, bids, draws=NEVER, standing=7800, rules=PAPER):
    """The supplier's prices after each bid, first answered in round 2."""
    prices = []
    for number in range(1, len(bids) + 1):
        answer = answer_offer(terms, rules, standing, bids[:number], number + 1, draws)
        assert answer.price is not None
        standing = answer.price
        prices.append(standing)
    return prices


def last(terms, bids, round_number, standing=7800, rules=PAPER, **draws):
    return answer_offer(terms, rules, standing, bids, round_number, NEVER._replace(**draws))


def accepts_below(terms, bids, round_number, probability):
    """The acceptance probability lies within 1e-4 of ``probability``."""
    below = last(terms, bids, round_number, accept=probability - 1e-4)
    above = last(terms, bids, round_number, accept=probability + 1e-4)
    return below.accepts and not above.accepts


def test_e2_candid():
    assert talk(CANDID, [5000, 5400, 6000]) == pytest.approx([7105.4, 6648.0, 6325.8], abs=2)
    assert accepts_below(CANDID, [5000, 5400, 6000], 4, 0.540073)
    assert last(CANDID, [5000], 2, accept=0.0).accepts is False  # below the floor there is no draw


def test_e3_tough():
    assert talk(TOUGH, [5000, 5400, 6000, 6400]) == pytest.approx([7432.0, 7294.6, 7206.9, 7110.8], abs=2)
    assert accepts_below(TOUGH, [5000, 5400, 6000], 4, 0.218431)
    assert accepts_below(TOUGH, [5000, 5400, 6000, 6400], 5, 0.286184)


def test_e4_a_jump_freezes_the_strategic():
    assert talk(STRATEGIC, [5000, 7000]) == [7400, 7400]
    assert accepts_below(STRATEGIC, [5000, 7000], 3, 0.539484)


@pytest.mark.parametrize(
    ("round_number", "bid", "probability"),
    [(7, 5000, 0.067992), (7, 4000, 0.486542), (5, 5000, 0.038496), (4, 4000, 0.0)],
)
def test_e5_walking_away(round_number, bid, probability):
    assert not last(CANDID, [bid], round_number, walk=probability + 1e-4).walks
    assert last(CANDID, [bid], round_number, walk=max(0.0, probability - 1e-4)).walks == (probability > 0)


@pytest.mark.parametrize(
    ("terms", "standing", "bid", "published", "fair"),
    [
        (EXPRESSIVE, 7000, 6400, SupplierAnswer(price=6751), SupplierAnswer(accepts=True)),
        (EXPRESSIVE, 6200, 6100, SupplierAnswer(price=6200), SupplierAnswer(accepts=True)),
        (CANDID, 7200, 7500, SupplierAnswer(price=7200), SupplierAnswer(accepts=True)),
        (CANDID, 7200, 6000, SupplierAnswer(price=6687), SupplierAnswer(price=6687)),
    ],
)
def test_e6_a_counter_below_the_bid(terms, standing, bid, published, fair):
    """Published: the bid plus 3 % of R, at most the last quote. Fair: the supplier takes the bid."""
    assert last(terms, [bid], 2, standing) == published
    assert last(terms, [bid], 2, standing, rules=FAIR) == fair


def test_e6_the_rule_in_numbers():
    """Targets 63.76 and 59.088 lie below the bids 64 and 61; a bid of 75 over a quote of 72 is declined 36 %."""
    # 70 less 0.416 of the gap of 15 is 63.76
    assert last(EXPRESSIVE, [6377], 2, 7000).price == 6377 + 351
    assert last(EXPRESSIVE, [6376], 2, 7000).price == 6376  # a target at the bid stands
    assert last(EXPRESSIVE, [6375], 2, 7000).price == 6376
    assert last(EXPRESSIVE, [5909], 2, 6200).price == 5909
    assert last(EXPRESSIVE, [5910], 2, 6200).price == 6200  # 59.10 + 3.51 is more than the last quote
    assert accepts_below(CANDID, [7500], 2, 0.638779)


def test_a_bid_at_the_floor_is_countered_at_the_floor():
    """From a quote at the floor no lower counter is possible: the bid stands there, it is not raised by 3 % of R."""
    assert last(CANDID, [5500], 2, 5500) == SupplierAnswer(price=5500)
    assert last(CANDID, [5500], 2, 5501, price=1e-12) == SupplierAnswer(
        price=5500
    )  # noise far down, clipped at the floor
    assert last(CANDID, [5500], 2, 5501, price=1e-12, rules=FAIR) == SupplierAnswer(accepts=True)  # fair: taken


def test_e7_a_price_fraud():
    assert talk(VIP, [7200, 7300]) == pytest.approx([7750.4, 7745.4], abs=2)
    assert accepts_below(VIP, [7200], 2, 0.331756)
    assert accepts_below(VIP, [7200, 7300], 3, 0.165281)


def test_e9_retraction():
    assert accepts_below(CANDID, [6000, 5000, 5600], 4, 0.492617)
    # lambda 0.289179 on a gap of 2000
    assert last(CANDID, [6000, 5000, 5600], 4, 7500).price == pytest.approx(7500 - 0.289179 * 2000, abs=1)


def test_the_fair_history_leaves_the_current_offer_out():
    """With the jump to 70 not yet counted the price still moves: 0.174 of the gap."""
    assert talk(STRATEGIC, [5000, 7000], rules=FAIR) == pytest.approx([7399.8, 7399.8 - 0.174 * 1899.8], abs=2)
