"""E12: prices the published kernel gives with its own draws, replayed through ours.

Seeds are the first eight hex digits of MD5 of ``supplier|SKU|cycle``. Two generators start from each: NumPy's for the
opening, the price noise and the sentiment, Python's for acceptance and the strategic cue. Candid, Expressive and
Stochastic suppliers draw a sentiment and a cue with every price, the others neither; those draws only move the streams
on. Prices are in micro-yuan here, so that rounding to whole units leaves the six published decimals.
"""

from __future__ import annotations

import hashlib
import random
from statistics import NormalDist

import numpy as np
import pytest

from commerce.config import PAPER
from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.pair import PairTerms, opening_quote
from terms.types import Family, Stance

UNIT = 1_000_000
CUED = (Family.CANDID, Family.EXPRESSIVE, Family.STOCHASTIC)


def pair(opening, floor, family, urgency, stance, reservation=None, is_fraudulent=False):
    held = floor if reservation is None else reservation
    scale = 1.5 * opening - (held if is_fraudulent else 0)
    return PairTerms(*(round(price * UNIT) for price in (opening, floor, held)), family, urgency, stance, scale * UNIT)


MASSAGER, FRIDGE = ("b4af883459aa", 229.41, 143.38), ("5217e60e5fc5", 490.05, 410.27)
CON, NEU, AGG = Stance.CONCILIATORY, Stance.NEUTRAL, Stance.AGGRESSIVE
VECTORS = [
    ("Nexus Solutions", 0, MASSAGER, (Family.CANDID, 0.65, NEU), 958656202, 223.607892,
     [(130, 202.157923), (140, 186.688454), (150, None)]),
    ("Nexus Solutions", 1, MASSAGER, (Family.CANDID, 0.65, NEU), 471001697, 231.335003,
     [(130, 203.111918), (140, 186.607147), (150, 178.107098), (160, None)]),
    ("Metro Wholesale", 0, MASSAGER, (Family.TACITURN, 0.60, AGG), 2732807387, 224.034022,
     [(130, 205.873279), (140, 187.277181), (150, 182.998080), (160, 177.533409), (170, 177.533409), (180, None)]),
    ("Urban Link", 0, MASSAGER, (Family.STRATEGIC, 0.55, AGG), 578348993, 222.521592,
     [(130, 219.677778), (140, 213.483973), (150, 203.807574), (160, 194.004012), (170, 181.603326), (180, None)]),
    ("Polar Solutions", 0, MASSAGER, (Family.ADVERSARIAL, 0.50, AGG), 3929935082, 231.270208,
     [(130, 209.348006), (140, 200.643355), (150, 198.925466), (160, None)]),
    ("Golden Solutions", 0, MASSAGER, (Family.ADVERSARIAL, 0.20, AGG, 191.17, True), 303259570, 233.786063,
     [(130, 229.537087), (140, 227.610538), (195, 227.025666), (196, 227.025666), (197, 227.025666), (200, None)]),
    ("Swift Supply", 0, FRIDGE, (Family.EXPRESSIVE, 0.70, CON), 1599187578, 481.284525,
     [(380, 410.27), (400, 410.27), (415, None)]),
    ("Craft Direct", 0, FRIDGE, (Family.STOCHASTIC, 0.60, NEU), 2134484403, 492.357526,
     [(380, 491.932016), (400, 458.023964), (415, None)]),
    ("Forge Commerce", 0, FRIDGE, (Family.ADVERSARIAL, 0.35, NEU, None, True), 1715945675, 492.347931,
     [(380, 470.863231), (400, 464.618094), (415, None)]),
]  # fmt: skip


class PublishedDraws:
    """The published streams of one cycle."""

    def __init__(self, seed: int, family: Family) -> None:
        self._python, self._numpy, self._is_cued = random.Random(seed), np.random.default_rng(seed), family in CUED

    def price(self) -> float:
        """The uniform whose normal quantile is the published price drawn."""
        noise = self._numpy.normal()
        if self._is_cued:
            self._python.random()
            self._numpy.normal()
        return NormalDist().cdf(noise)

    def decision(self) -> float:
        """The uniform of the accept or of the walk-away draw."""
        return self._python.random()


@pytest.mark.parametrize(("name", "cycle", "goods", "kind", "seed", "opening", "talk"), VECTORS)
def test_e12_published_prices(name, cycle, goods, kind, seed, opening, talk):
    sku, listed, floor = goods
    assert int(hashlib.md5(f"{name}|{sku}|{cycle}".encode()).hexdigest()[:8], 16) == seed
    terms, drawn = pair(listed, floor, *kind), PublishedDraws(seed, kind[0])
    standing = opening_quote(terms, PAPER, drawn.price())
    assert standing / UNIT == pytest.approx(opening, abs=2e-6)
    for number, (_, reply) in enumerate(talk, 1):
        bids = [round(bid * UNIT) for bid, _ in talk[:number]]
        is_drawn = bids[-1] >= terms.reservation or number + 1 >= 5  # no draw for a low bid in an early round
        uniform = drawn.decision() if is_drawn else 1.0
        if reply is None:
            assert answer_offer(terms, PAPER, standing, bids, number + 1, AnswerDraws(uniform, 1.0, 0.5)).accepts
            return
        answer = answer_offer(terms, PAPER, standing, bids, number + 1, AnswerDraws(uniform, uniform, drawn.price()))
        assert answer.price is not None
        assert answer.price / UNIT == pytest.approx(reply, abs=5e-6)
        standing = answer.price
