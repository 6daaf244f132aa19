r"""Hidden terms of a (supplier, SKU) pair and of one cycle of talks over it.

With reference price ``v`` and the ratios of the category (opening ``w``, honest floor ``f``, scam cap ``s``):

* ``by_personality``: opening ``I = w v``, honest floor ``c = f v``, urgency and stance constants of the personality or
  the fraud, as published.
* ``drawn``: ``c = f v U(0.90, 1.10)``, ``I = c + (v - c) U(0.35, 0.65)``, urgency ``U(0.2, 0.8)``, stance from the
  prior of the family; a fraudulent supplier has the family of a random honest one. The list price then no longer
  gives the floor away, and manners say nothing about honesty.

The reservation is ``c`` for an honest supplier and ``max(c, min(m c, s v, I))`` for a fraudulent one, ``m = 1.5`` for
frauds in the price and 1 for frauds in the goods. With honest floors ``as_fraudulent`` an honest supplier in the guise
of a price fraud has that same reservation, as its true floor ``c``: it is dear, not deceitful, and a price tells
nothing about honesty. ``R = 1.5 I``, less the reservation for a fraudulent supplier on the published scale. The opening
quote of a cycle is ``clip(I + 0.02 R z, reservation, 1.5 I)``. Prices are in fen.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from commerce.config import Rules
from commerce.procurement.guise import guise, manners
from commerce.streams import keyed_uniform
from commerce.types import Category, Fraud, Personality, Supplier, World
from terms import GameConfig
from terms.types import Family, Stance

GAME = GameConfig()
_NORMAL = NormalDist()
PERSONALITY_TYPES = {
    Personality.ENTHUSIASTIC: (Family.EXPRESSIVE, 0.70, Stance.CONCILIATORY),
    Personality.FRIENDLY: (Family.CANDID, 0.65, Stance.NEUTRAL),
    Personality.UNPREDICTABLE: (Family.STOCHASTIC, 0.60, Stance.NEUTRAL),
    Personality.PROFESSIONAL: (Family.TACITURN, 0.60, Stance.AGGRESSIVE),
    Personality.STRATEGIC: (Family.STRATEGIC, 0.55, Stance.AGGRESSIVE),
    Personality.TOUGH: (Family.ADVERSARIAL, 0.50, Stance.AGGRESSIVE),
}
FRAUD_TYPES = {
    Fraud.VIP_FEE: (0.15, Stance.AGGRESSIVE),
    Fraud.FUTURE_DISCOUNT: (0.20, Stance.AGGRESSIVE),
    Fraud.FAKE_URGENCY: (0.20, Stance.AGGRESSIVE),
    Fraud.QTY_BAIT: (0.35, Stance.NEUTRAL),
    Fraud.QUALITY_DOWNGRADE: (0.35, Stance.NEUTRAL),
}
FLOOR_SPREAD = (0.90, 1.10)
OPENING_SHARE = (0.35, 0.65)
URGENCY = (0.2, 0.8)
_MIN_SCALE_FEN = 100.0
_TERM_RULES = ("kernel_types", "honest_floors", "upfront_floor_factor", "opening_bound_factor", "fraud_price_scale")
"""Fields of the rules that the terms depend on."""
_LAST_RULES = "rules of the last pair terms"


class PairTerms(NamedTuple):
    """Hidden terms of one pair: ``opening`` is the expected quote, ``floor`` what an honest supplier would go to."""

    opening: int
    floor: int
    reservation: int
    family: Family
    urgency: float
    stance: Stance
    price_range: float


def pair_terms(world: World, rules: Rules, supplier: int, sku: int) -> PairTerms:
    """Return the terms of a pair; they hold for every cycle and are worked out once."""
    kept = _kept(world, rules)
    terms = kept.get((supplier, sku))
    if terms is None:
        terms = kept[supplier, sku] = _pair_terms(world, rules, supplier, sku)
    return terms


def _kept(world: World, rules: Rules) -> dict[tuple[int, int], PairTerms]:
    """Return the terms that are known in ``world`` under rules that say the same of them."""
    last: tuple[Rules, dict[tuple[int, int], PairTerms]] | None = world.kept.get(_LAST_RULES)
    if last is None or last[0] is not rules:
        key = tuple(getattr(rules, name) for name in _TERM_RULES)
        last = world.kept[_LAST_RULES] = (rules, world.kept.setdefault(key, {}))
    return last[1]


def _pair_terms(world: World, rules: Rules, supplier: int, sku: int) -> PairTerms:
    who, reference = world.suppliers[supplier], int(world.skus.reference_fen[sku])
    category = world.categories[who.category]
    if rules.kernel_types == "drawn":
        opening, floor, family, urgency, stance = _drawn(world, supplier, sku)
    else:
        opening, floor = round(reference * category.wholesale_ratio), round(reference * category.floor_ratio)
        family, urgency, stance = _by_personality(who)
    opening, floor = max(1, opening), max(1, floor)
    fraud = guise(world, supplier) if rules.honest_floors == "as_fraudulent" else who.fraud
    reservation = floor if fraud is None else _scam_floor(fraud, category, rules, (opening, floor, reference))
    if who.fraud is None:
        floor = reservation
    scale = rules.opening_bound_factor * opening
    if who.fraud is not None and rules.fraud_price_scale == "published":
        scale -= reservation
    return PairTerms(opening, floor, reservation, family, urgency, stance, max(_MIN_SCALE_FEN, scale))


def _by_personality(who: Supplier) -> tuple[Family, float, Stance]:
    if who.fraud is None:
        return PERSONALITY_TYPES.get(who.personality, (Family.CANDID, 0.5, Stance.NEUTRAL))
    return (Family.ADVERSARIAL, *FRAUD_TYPES[who.fraud])


def _drawn(world: World, supplier: int, sku: int) -> tuple[int, int, Family, float, Stance]:
    who, reference = world.suppliers[supplier], int(world.skus.reference_fen[sku])
    category = world.categories[who.category]
    draws = [
        keyed_uniform(world.seed, "pair_terms", who.supplier_id, world.skus.sku_id[sku], index=index)
        for index in range(4)
    ]
    floor = min(reference, round(reference * category.floor_ratio * on_interval(FLOOR_SPREAD, draws[0])))
    opening = round(floor + (reference - floor) * on_interval(OPENING_SHARE, draws[1]))
    family = PERSONALITY_TYPES[manners(world, supplier)][0]
    low, middle, _ = GAME.families[family].stance_prior
    stance = list(Stance)[(draws[3] >= low) + (draws[3] >= low + middle)]
    return opening, floor, family, on_interval(URGENCY, draws[2]), stance


def _scam_floor(fraud: Fraud, category: Category, rules: Rules, prices: tuple[int, int, int]) -> int:
    opening, floor, reference = prices
    factor = rules.upfront_floor_factor if fraud.is_upfront else 1.0
    return max(floor, min(round(floor * factor), round(reference * category.scam_cap_ratio), opening))


def on_interval(bounds: tuple[float, float], uniform: float) -> float:
    """Map a uniform draw to the interval."""
    return bounds[0] + (bounds[1] - bounds[0]) * uniform


def opening_quote(terms: PairTerms, rules: Rules, uniform: float) -> int:
    """Return the opening quote of one cycle."""
    noise = GAME.opening.noise_share * terms.price_range * normal(uniform)
    highest = rules.opening_bound_factor * terms.opening
    return round(min(highest, max(float(terms.reservation), terms.opening + noise)))


def normal(uniform: float) -> float:
    """Map a uniform draw to a standard normal."""
    return _NORMAL.inv_cdf(min(max(uniform, 1e-12), 1 - 1e-12))
