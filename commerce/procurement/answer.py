"""How a supplier answers one offer: accept, walk away, or counter, by the formulas of the bargaining kernel.

Round 1 is the opening; the first offer is answered in round 2. What the rule sets differ in is named where it acts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from commerce.config import Rules
from commerce.procurement.pair import GAME, PairTerms, normal
from terms import kernel
from terms.types import Family, Stance

_NO_UNDERCUT_SHARE = 0.03  # of the price range, above the buyer's bid


class AnswerDraws(NamedTuple):
    """Uniform draws of one answer."""

    accept: float
    walk: float
    price: float


class SupplierAnswer(NamedTuple):
    """``price`` is the counter-offer of a supplier that neither accepts nor walks away."""

    accepts: bool = False
    walks: bool = False
    price: int | None = None


def answer_offer(
    terms: PairTerms, rules: Rules, standing: int, offers: Sequence[int], round_number: int, draws: AnswerDraws
) -> SupplierAnswer:
    """Answer the last of ``offers`` (fen), the supplier's own price being ``standing``."""
    bid = offers[-1]
    params = _params(terms.family, terms.stance, terms.price_range)
    counted = offers if rules.history_includes_current else offers[:-1]
    features = kernel.history_features([float(price) for price in counted], 1, params)
    gain = kernel.favourability(bid, terms.reservation, 1, terms.price_range)
    takes_bid = rules.counter_below_bid == "take_bid"
    if takes_bid and bid >= standing:
        return SupplierAnswer(accepts=True)
    if draws.accept < kernel.accept_prob(gain, terms.urgency, round_number, features, params):
        return SupplierAnswer(accepts=True)
    if draws.walk < kernel.walk_prob(gain, round_number, params):
        return SupplierAnswer(walks=True)
    rate = kernel.concession_rate(terms.urgency, features, params)
    noise = normal(draws.price) * params.noise_sd
    counter = round(kernel.counter_offer(float(standing), float(terms.reservation), rate, noise, 1))
    if takes_bid and counter <= bid:
        return SupplierAnswer(accepts=True)
    if counter >= bid:  # published: only a counter below the bid is raised
        return SupplierAnswer(price=counter)
    return SupplierAnswer(price=min(math.ceil(bid + _NO_UNDERCUT_SHARE * terms.price_range), standing))


@lru_cache(maxsize=2**16)
def _params(family: Family, stance: Stance, price_range: float) -> kernel.KernelParams:
    return kernel.kernel_params(GAME, family, stance, price_range)
