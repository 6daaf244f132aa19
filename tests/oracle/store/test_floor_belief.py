"""The posterior of a floor against a slow enumeration of every fen, written from the published formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from commerce.config import FAIR, PAPER
from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.pair import GAME, opening_quote, pair_terms
from commerce.types import Fraud, Personality
from commerce.world import generate_world
from oracle.store.floor_belief import (
    BidAnswer,
    PairTalk,
    believe_floor,
    follow_pair,
    heard_manner,
    pair_prior,
)
from terms.kernel import (
    STANCES,
    accept_prob,
    concession_rate,
    favourability,
    history_features,
    kernel_params,
    walk_prob,
)
from terms.types import Family, Stance

WORLD = generate_world(5)
NORMAL = NormalDist()
FAMILIES = {
    Personality.ENTHUSIASTIC: (Family.EXPRESSIVE, 0.70, Stance.CONCILIATORY),
    Personality.FRIENDLY: (Family.CANDID, 0.65, Stance.NEUTRAL),
    Personality.UNPREDICTABLE: (Family.STOCHASTIC, 0.60, Stance.NEUTRAL),
    Personality.PROFESSIONAL: (Family.TACITURN, 0.60, Stance.AGGRESSIVE),
    Personality.STRATEGIC: (Family.STRATEGIC, 0.55, Stance.AGGRESSIVE),
    Personality.TOUGH: (Family.ADVERSARIAL, 0.50, Stance.AGGRESSIVE),
}
FRAUDS = {
    Fraud.VIP_FEE: (0.15, Stance.AGGRESSIVE),
    Fraud.FUTURE_DISCOUNT: (0.20, Stance.AGGRESSIVE),
    Fraud.FAKE_URGENCY: (0.20, Stance.AGGRESSIVE),
    Fraud.QTY_BAIT: (0.35, Stance.NEUTRAL),
    Fraud.QUALITY_DOWNGRADE: (0.35, Stance.NEUTRAL),
}
UPFRONT = {Fraud.VIP_FEE, Fraud.FUTURE_DISCOUNT, Fraud.FAKE_URGENCY}


def random_talks(rng, rules, reference=None):
    """A random pair of the world and one or two random talks over it, with bids of every sort."""
    world = WORLD
    supplier = int(rng.integers(len(world.suppliers)))
    rows = np.flatnonzero(world.skus.category == world.suppliers[supplier].category)
    sku = int(rng.choice(rows))
    if reference is not None:
        prices = world.skus.reference_fen.copy()
        prices[sku] = reference
        world = replace(world, skus=world.skus._replace(reference_fen=prices))
    terms = pair_terms(world, rules, supplier, sku)
    talks = []
    for _ in range(int(rng.integers(1, 3))):
        opening, answers = opening_quote(terms, rules, rng.random()), []
        standing = opening
        for _ in range(int(rng.integers(1, 7))):
            aim = rng.choice([0.3, 0.8, 0.95, 1.0, 1.02, 1.1], p=[0.3, 0.15, 0.15, 0.2, 0.1, 0.1])
            bid = max(1, round(terms.reservation * aim))
            bids = [answer.bid for answer in answers] + [bid]
            answer = answer_offer(terms, rules, standing, bids, len(bids) + 1, AnswerDraws(*rng.random(3)))
            answers.append(BidAnswer(bid, answer.price, answer.walks))
            if answer.price is None:
                break
            standing = answer.price
        talks.append(PairTalk(opening, tuple(answers)))
    return world, supplier, sku, terms, talks


def cdf(price, centre, sd):
    return NORMAL.cdf((price - centre) / sd)


def chance_of_quote(quote, low, centre, sd, top):
    """P(round(min(top, max(low, centre + sd z))) = quote) from the distribution function of the clipped price."""

    def upto(price):
        if price < low:
            return 0.0
        return 1.0 if price >= top else cdf(price, centre, sd)

    return upto(quote + 0.5) - upto(quote - 0.5)


def chance_of_answer(rules, params, urgency, floor, scale, standing, bids, answer):
    bid, k = bids[-1], len(bids) + 1
    takes = rules.counter_below_bid == "take_bid"
    if takes and bid >= standing:
        return float(answer.quote is None and not answer.is_walk)
    features = history_features([float(x) for x in (bids if rules.history_includes_current else bids[:-1])], 1, params)
    gain = favourability(bid, floor, 1, scale)
    accept, walk = accept_prob(gain, urgency, k, features, params), walk_prob(gain, k, params)
    centre = standing - concession_rate(urgency, features, params) * (standing - floor)
    sd = params.noise_sd
    goes_on = (1 - accept) * (1 - walk)
    if answer.is_walk:
        return (1 - accept) * walk
    below = 0.0
    if bid >= floor:  # P(counter <= bid) where it is taken, P(counter < bid) where it is raised
        edge = bid + 0.5 if takes else bid - 0.5
        below = 1.0 if edge >= standing else cdf(edge, centre, sd) if edge >= floor else 0.0
    if answer.quote is None:
        return accept + (goes_on * below if takes else 0.0)
    quote = answer.quote
    chance = 0.0
    if quote > bid or (quote == bid and not takes):
        chance = chance_of_quote(quote, floor, centre, sd, standing)
    if not takes and quote == min(math.ceil(bid + 0.03 * scale), standing):
        chance += below
    return goes_on * chance


def talks_chance(rules, family, stance, urgency, floor, opening, scale, talks):
    params = kernel_params(GAME, family, stance, scale)
    chance = 1.0
    for talk in talks:
        chance *= chance_of_quote(talk.opening, floor, opening, 0.02 * scale, 1.5 * opening)
        standing, bids = talk.opening, []
        for answer in talk.answers:
            if chance == 0.0:
                return 0.0
            bids.append(answer.bid)
            chance *= chance_of_answer(rules, params, urgency, floor, scale, standing, bids, answer)
            standing = answer.bid if answer.quote is None else answer.quote
    return chance


def enumerate_paper(world, supplier, sku, talks, manner):
    """Exact: there are eleven kinds of supplier."""
    reference, category = int(world.skus.reference_fen[sku]), world.categories[world.suppliers[supplier].category]
    opening, cost = round(reference * category.wholesale_ratio), round(reference * category.floor_ratio)
    cap = round(reference * category.scam_cap_ratio)
    found = {}
    for who in world.suppliers:
        fraud = who.fraud
        if fraud is None:
            family, urgency, stance = FAMILIES[who.personality]
            floor, share = cost, world.frauds.count(manner) / len(world.frauds)
        elif fraud is manner:
            (urgency, stance), family, share = FRAUDS[fraud], Family.ADVERSARIAL, 1.0
            floor = max(cost, min(round(cost * (1.5 if fraud in UPFRONT else 1.0)), cap, opening))
        else:
            continue
        scale = max(100.0, 1.5 * opening - (0 if fraud is None else floor))
        kind = (family, urgency, stance, floor, scale)
        found[kind] = found.get(kind, 0.0) + share
    masses = {}
    for (family, urgency, stance, floor, scale), share in found.items():
        chance = talks_chance(PAPER, family, stance, urgency, floor, opening, scale, talks)
        masses[floor] = masses.get(floor, 0.0) + share * chance
    total = sum(masses.values())
    return {floor: mass / total for floor, mass in masses.items()}


def check_paper(rng):
    world, supplier, sku, _, talks = random_talks(rng, PAPER)
    manner = heard_manner(world, supplier)
    exact = enumerate_paper(world, supplier, sku, talks, manner)
    prior = pair_prior(world, PAPER, world.suppliers[supplier].category, int(world.skus.reference_fen[sku]))
    belief = believe_floor(prior, talks, manner)
    for floor, mass in exact.items():
        assert belief.weights[belief.floor == floor].sum() == pytest.approx(mass, abs=1e-7)
    assert belief.weights.sum() == pytest.approx(1)


def test_paper_posteriors_are_the_enumeration_of_all_kinds():
    rng = np.random.default_rng(1)
    for _ in range(60):
        check_paper(rng)


def every_fen(reference, category, manner):
    """Floor, opening and mass of every pair of a whole cost and a whole opening."""
    cap = round(reference * category.scam_cap_ratio)
    low, high = 0.9 * reference * category.floor_ratio, 1.1 * reference * category.floor_ratio
    rows = []
    for cost in range(round(low), round(high) + 1):
        cost_mass = max(0.0, min(cost + 0.5, high) - max(cost - 0.5, low)) / (high - low)
        first, last = cost + 0.35 * (reference - cost), cost + 0.65 * (reference - cost)
        for opening in range(round(first), round(last) + 1):
            mass = max(0.0, min(opening + 0.5, last) - max(opening - 0.5, first)) / (last - first) * cost_mass
            floor = cost
            if manner in UPFRONT:
                floor = max(cost, min(round(1.5 * cost), cap, opening))
            if mass:
                rows.append((floor, opening, mass))
    return (np.array(column, dtype=float) for column in zip(*rows, strict=True))


def enumerate_fair(world, supplier, sku, talks, manner, num_urgencies=10):
    """Every whole fen of cost and opening, many urgencies; the vectorised twin runs over the openings' cells."""
    reference, category = int(world.skus.reference_fen[sku]), world.categories[world.suppliers[supplier].category]
    honest = world.honest_personalities
    points, weights = np.polynomial.legendre.leggauss(num_urgencies)
    masses = {}
    kinds = {}
    for personality in set(honest):
        family = FAMILIES[personality][0]
        for index, stance in enumerate(STANCES):
            share = GAME.families[family].stance_prior[index] * honest.count(personality) / len(honest)
            params = kernel_params(GAME, family, stance, 1.0)
            kinds[params] = kinds.get(params, 0.0) + share
    floor, opening, mass = every_fen(reference, category, manner)
    scale = np.maximum(100.0, 1.5 * opening)
    phi = np.vectorize(NORMAL.cdf, otypes=[float])
    for talk in talks:
        sd = 0.02 * scale
        upto = phi((talk.opening + 0.5 - opening) / sd)
        lower = np.where(talk.opening - 0.5 < floor, 0.0, phi((talk.opening - 0.5 - opening) / sd))
        mass = mass * np.where(talk.opening < floor, 0.0, upto - lower)
        held = mass > 1e-12 * mass.max()
        floor, opening, scale, mass = floor[held], opening[held], scale[held], mass[held]
    for params, share in kinds.items():
        for point, weight in zip(points, weights, strict=True):
            urgency = 0.5 + 0.3 * point
            here = share * weight / 2 * mass
            for talk in talks:
                standing, bids = talk.opening, []
                for answer in talk.answers:
                    bids.append(float(answer.bid))
                    here = here * vector_answer(params, urgency, floor, scale, standing, bids, answer)
                    standing = answer.bid if answer.quote is None else answer.quote
            for value, part in zip(floor.tolist(), here.tolist(), strict=True):
                masses[value] = masses.get(value, 0.0) + part
    total = sum(masses.values())
    return {value: part / total for value, part in masses.items()}


def vector_answer(params, urgency, floor, scale, standing, bids, answer):
    bid, k = bids[-1], len(bids) + 1
    if bid >= standing:
        return np.full_like(floor, float(answer.quote is None and not answer.is_walk))
    earlier = np.array(bids[:-1])[-4:]
    speed = magnitude = 0.0
    rigidity = np.zeros_like(floor)
    if len(earlier) > 1:
        steps = np.diff(earlier)
        speed, magnitude = steps.mean() / scale, np.maximum(steps, 0).mean() / scale
        rigidity = (max(0.0, steps[-1]) / scale < 0.1).astype(float)
    gain = (bid - floor) / scale
    logit = 6 * gain + urgency - 2 * (1 - math.sqrt(k / 10)) + params.rho * speed + params.xi * rigidity
    accept = np.where(gain >= 0, 1 / (1 + np.exp(-logit)), 0.0)
    hazard = 1 / (1 + np.exp(4.5 + 30 * gain - 1.5 * max(0, (k - 5) / 5)))
    walk = np.where((gain < 0) & (k >= 5), hazard, 0.0)
    rate = np.clip(0.12 + 0.28 * urgency - params.lambda_2 * magnitude + params.lambda_shift, 0, 1)
    centre, sd = standing - rate * (standing - floor), params.noise_sd * scale
    erf = np.vectorize(NORMAL.cdf, otypes=[float])
    taken = np.where(bid >= floor, erf((bid + 0.5 - centre) / sd), 0.0)
    if answer.is_walk:
        return (1 - accept) * walk
    if answer.quote is None:
        return accept + (1 - accept) * (1 - walk) * taken
    quote = answer.quote
    upto = 1.0 if quote + 0.5 > standing else erf((quote + 0.5 - centre) / sd)
    lower = np.where(quote - 0.5 < floor, 0.0, erf((quote - 0.5 - centre) / sd))
    return (1 - accept) * (1 - walk) * np.where((quote < floor) | (quote <= bid), 0.0, upto - lower)


def check_fair(rng):
    """The mean of the floor to 0.2 % of the reference price, and its distribution to 0.03 at every fen."""
    world, supplier, sku, _, talks = random_talks(rng, FAIR, int(rng.integers(300, 700)))
    manner = heard_manner(world, supplier)
    reference = int(world.skus.reference_fen[sku])
    exact = enumerate_fair(world, supplier, sku, talks, manner)
    prior = pair_prior(world, FAIR, world.suppliers[supplier].category, reference)
    belief = believe_floor(prior, talks, manner)
    mean = sum(floor * mass for floor, mass in exact.items())
    spread = math.sqrt(sum(mass * (floor - mean) ** 2 for floor, mass in exact.items()))
    lowest = min(min(talk.opening, *(a.quote or talk.opening for a in talk.answers)) for talk in talks)
    at_lowest = belief.weights[belief.floor == lowest].sum() - exact.get(float(lowest), 0.0)
    return (belief.mean - mean) / reference, (belief.sd - spread) / reference, at_lowest


def test_fair_posteriors_are_the_enumeration_of_every_fen():
    rng = np.random.default_rng(2)
    for _ in range(4):
        mean, spread, at_lowest = check_fair(rng)
        assert abs(mean) < 0.002
        assert abs(spread) < 0.002
        assert abs(at_lowest) < 0.02


def test_the_floor_never_changes_so_talks_add_up():
    rng = np.random.default_rng(3)
    world, supplier, sku, _, talks = random_talks(rng, FAIR)
    prior = pair_prior(world, FAIR, world.suppliers[supplier].category, int(world.skus.reference_fen[sku]))
    once, twice = believe_floor(prior, talks[:1]), believe_floor(prior, [talks[0], talks[0]])
    assert twice.sd < once.sd


@pytest.mark.parametrize("rules", [PAPER, FAIR])
def test_a_bid_above_the_floor_that_is_refused_says_little_and_one_below_it_cannot_be_taken(rules):
    rng = np.random.default_rng(4)
    world, supplier, sku, terms, _ = random_talks(rng, rules)
    prior = pair_prior(world, rules, world.suppliers[supplier].category, int(world.skus.reference_fen[sku]))
    taken = PairTalk(terms.opening, (BidAnswer(terms.reservation, None),))
    assert believe_floor(prior, [taken]).quantile(1.0) <= terms.reservation


def test_an_answer_that_no_supplier_gives_is_refused():
    rng = np.random.default_rng(5)
    world, supplier, sku, terms, _ = random_talks(rng, FAIR)
    prior = pair_prior(world, FAIR, world.suppliers[supplier].category, int(world.skus.reference_fen[sku]))
    with pytest.raises(ValueError, match="no supplier of the prior"):
        believe_floor(prior, [PairTalk(terms.opening, (BidAnswer(1, None),))])


def test_the_true_floor_lies_where_the_belief_says():
    """Of random pairs the 80 % interval of the floor holds the true one about as often, also for frauds."""
    rng, inside = np.random.default_rng(6), []
    for _ in range(100):
        world, supplier, sku, terms, talks = random_talks(rng, FAIR)
        prior = pair_prior(world, FAIR, world.suppliers[supplier].category, int(world.skus.reference_fen[sku]))
        belief = next(follow_pair(prior, talks[:1], heard_manner(world, supplier)))[2]
        inside.append(belief.quantile(0.1) <= terms.reservation <= belief.quantile(0.9))
    assert 0.70 < np.mean(inside) < 0.92
