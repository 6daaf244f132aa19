r"""What talks with a supplier tell about the floor of one product: the exact posterior under the store's prior.

Unknown are the floor ``r`` (the lowest price the supplier ever takes), the expected opening ``I``, urgency
:math:`\kappa`, stance :math:`\eta` and family. Their law is that of :mod:`commerce.procurement.pair`: with
``by_personality`` one point for each personality and fraud, with ``drawn``

.. math::
    c = f v\,U(0.9, 1.1), \quad I = c + (v - c)\,U(0.35, 0.65), \quad \kappa \sim U(0.2, 0.8),

and ``r = c``, or ``max(c, min(1.5 c, s v, I))`` for a price fraud and whoever has its floor. Suppliers are a mixture in
the shares of the world, since nobody knows which one is met; its pitch says whose manner it has.

An opening quote ``q`` has the probability that ``clip(I + 0.02 R z, r, 1.5 I)`` rounds to ``q`` fen: a mass at ``r``
(the upper end, 16 standard deviations away or more, is not reached).

An answer to a bid ``x`` against the standing ``b`` has, with acceptance ``a``, walk ``w`` and the counter
``y = clip(b - lambda (b - r) + eps, r, b)``, rounded,

.. math::
    P(taken) = a + (1 - a)(1 - w) P(y \le x), \quad P(walk) = (1 - a) w, \quad P(q) = (1 - a)(1 - w) P(y = q),

the second term of the first only where the rules let a bid at or above the next counter be taken, and otherwise the
mass of ``y < x`` at the raised counter. All of it is summed over whole fen: floors and openings are cut into cells of
whole fen, every bid and every lowest quote is a cut, and a floor equal to a lowest quote is a cell of its own, so no
mass is lost at the floor. Within a cell, and over urgency, the quadrature is the midpoint rule and Gauss-Legendre.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from commerce.config import Rules
from commerce.procurement.guise import guise
from commerce.procurement.pair import FLOOR_SPREAD, FRAUD_TYPES, GAME, OPENING_SHARE, PERSONALITY_TYPES, URGENCY
from commerce.types import Category, Fraud, Personality, World
from terms.aliases import Floats
from terms.kernel import STANCES, KernelParams, kernel_params
from terms.types import Family, Stance

_FLOOR_CELLS, _OPENING_CELLS, _URGENCY_NODES = 14, 18, 5
_NEGLIGIBLE = 1e-9
"""Share of the weight of the likeliest node below which a node is dropped."""
BUMP = 0.03
"""Share of the price range by which a counter below the bid is raised above it."""


class BidAnswer(NamedTuple):
    """A bid and its answer: a ``quote`` in fen, or ``None`` with ``is_walk``, or else the bid was taken."""

    bid: int
    quote: int | None
    is_walk: bool = False


class PairTalk(NamedTuple):
    """One talk as the buyer saw it: the opening quote and the answers in order, all in fen."""

    opening: int
    answers: tuple[BidAnswer, ...]


class SupplierKind(NamedTuple):
    """What a supplier may be: its family, its fixed urgency and stance if it has them, and the factor of its floor."""

    share: float
    family: Family
    urgency: float | None
    stance: Stance | None
    floor_factor: float | None
    is_fraud: bool
    manner: Fraud | None


class PairPrior(NamedTuple):
    """What anybody can know of a pair before a word is said: reference price in fen, ratios, and the kinds."""

    reference: int
    category: Category
    rules: Rules
    kinds: tuple[SupplierKind, ...]


@dataclass(frozen=True)
class FloorBelief:
    """A weighted set of types: flat arrays in the order of the floor, prices in fen; ``params`` holds the constants."""

    rules: Rules
    floor: Floats
    opening: Floats
    price_range: Floats
    urgency: Floats
    params: Floats
    weights: Floats

    @property
    def mean(self) -> float:
        """The expected floor in fen."""
        return float((self.floor * self.weights).sum())

    @property
    def sd(self) -> float:
        """The standard deviation of the floor in fen."""
        return float(np.sqrt((self.weights * (self.floor - self.mean) ** 2).sum()))

    def quantile(self, share: float) -> float:
        """Return the lowest floor (fen) that is not exceeded with probability ``share``."""
        return float(self.floor[quantile_rows(self.weights, np.array([share]))[0]])

    def stance_probs(self) -> dict[str, float]:
        """Return the probability of each stance."""
        return {
            stance.value: float(self.weights[self.params[:, _STANCE] == index].sum())
            for index, stance in enumerate(STANCES)
        }


def quantile_rows(weights: Floats, shares: Floats) -> NDArray[np.intp]:
    """Return the first row at which the running sum of ``weights`` reaches each of ``shares``."""
    return np.minimum(np.searchsorted(np.cumsum(weights), shares), len(weights) - 1)


_FIELDS = ("rho", "xi", "lambda_2", "lambda_shift", "noise_sd")
_STANCE = len(_FIELDS)
RHO, XI, LAMBDA_2, LAMBDA_SHIFT, NOISE = range(len(_FIELDS))
COMMON = kernel_params(GAME, Family.CANDID, Stance.NEUTRAL, 1.0)
"""Constants that all families share, on a price range of 1."""


def pair_prior(world: World, rules: Rules, category: int, reference: int) -> PairPrior:
    """Return the prior of a product of ``reference`` fen with any supplier of its category."""
    return PairPrior(reference, world.categories[category], rules, _kinds(world, rules))


def _kinds(world: World, rules: Rules) -> tuple[SupplierKind, ...]:
    key = ("supplier_kinds", rules.kernel_types, rules.honest_floors, rules.upfront_floor_factor)
    found: tuple[SupplierKind, ...] | None = world.kept.get(key)
    if found is None:
        found = world.kept[key] = tuple(_list_kinds(world, rules))
    return found


def _list_kinds(world: World, rules: Rules) -> Iterator[SupplierKind]:
    """Yield the kinds with their shares; those that differ in nothing are not merged here but in the nodes."""
    num, frauds = len(world.suppliers), world.frauds
    honest = world.honest_personalities
    looks: Sequence[Fraud | None] = sorted(set(frauds)) or [None]
    for look in looks:
        share = frauds.count(look) / len(frauds) if look is not None else 1.0
        own = look if rules.honest_floors == "as_fraudulent" else None
        for personality in sorted(set(honest)):
            kind = _type_of(rules, personality, None)
            here = share * honest.count(personality) / num
            yield SupplierKind(here, *kind, _factor(own, rules), is_fraud=False, manner=look)
        if look is None:
            continue
        shown = honest or tuple(kind for kind in Personality if kind is not Personality.ADVERSARIAL)
        for personality in sorted(set(shown)) if rules.kernel_types == "drawn" else (Personality.ADVERSARIAL,):
            kind = _type_of(rules, personality, look)
            part = shown.count(personality) / len(shown) if rules.kernel_types == "drawn" else 1.0
            here = part * frauds.count(look) / num
            yield SupplierKind(here, *kind, _factor(look, rules), is_fraud=True, manner=look)


def _type_of(rules: Rules, personality: Personality, fraud: Fraud | None) -> tuple[Family, float | None, Stance | None]:
    if rules.kernel_types == "drawn":
        return PERSONALITY_TYPES[personality][0], None, None
    if fraud is None:
        return PERSONALITY_TYPES.get(personality, (Family.CANDID, 0.5, Stance.NEUTRAL))
    return (Family.ADVERSARIAL, *FRAUD_TYPES[fraud])


def _factor(fraud: Fraud | None, rules: Rules) -> float | None:
    return rules.upfront_floor_factor if fraud is not None and fraud.is_upfront else None


def heard_manner(world: World, supplier: int) -> Fraud | None:
    """Return the fraud whose manner of speech a supplier's pitch has, as everybody reads it."""
    return guise(world, supplier)


def follow_pair(
    prior: PairPrior, talks: Sequence[PairTalk], manner: Fraud | None = None
) -> Iterator[tuple[int, int, FloorBelief]]:
    """Yield ``(talk, number of answers heard, belief)``: before the talk's first bid, and after each answer.

    The opening of a talk is told with the first answer. ``manner`` is whose pitch the supplier has, where it was read.

    Raises
    ------
    ValueError
        If nobody of the prior could have answered like that.
    """
    belief = start_belief(prior, (), manner)
    is_new = True
    for place, talk in enumerate(talks):
        yield place, 0, belief
        standing, bids = talk.opening, []
        for heard, answer in enumerate(talk.answers, start=1):
            if is_new:
                belief, is_new = start_belief(prior, talks, manner), False
            elif heard == 1:
                belief = _weigh(belief, opening_likelihood(belief, talk.opening))
            bids.append(answer.bid)
            belief = _weigh(belief, answer_likelihood(belief, standing, bids, answer))
            standing = answer.bid if answer.quote is None else answer.quote
            yield place, heard, belief


def believe_floor(prior: PairPrior, talks: Sequence[PairTalk], manner: Fraud | None = None) -> FloorBelief:
    """Return the posterior after all of ``talks``, which may end in the middle of one."""
    return deque(follow_pair(prior, talks, manner), maxlen=1).pop()[2] if talks else start_belief(prior, (), manner)


def start_belief(prior: PairPrior, talks: Sequence[PairTalk] = (), manner: Fraud | None = None) -> FloorBelief:
    """Return the belief before the first bid: the prior, or, with ``talks``, after the first opening.

    It is cut where all of ``talks`` need it.
    """
    cuts = _Cuts(set(_telling_bids(talks)), set(_lowest_quotes(talks)))
    kinds = [kind for kind in prior.kinds if manner is None or kind.manner is manner]
    build = _drawn_nodes if prior.rules.kernel_types == "drawn" else _point_nodes
    columns = build(prior, _merged(kinds), cuts, talks[0].opening if talks else None)
    weights = columns[-1]
    kept = weights > _NEGLIGIBLE * weights.max(initial=0.0)
    _check_possible(kept)
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(columns[0][rows], kind="stable")]
    floor, opening, scale, urgency, params = (column[rows] for column in columns[:-1])
    weights = weights[rows]
    return FloorBelief(prior.rules, floor, opening, scale, urgency, params, weights / weights.sum())


class _Cuts(NamedTuple):
    """Where nodes are cut: above each bid, and around each lowest quote."""

    bids: set[int]
    quotes: set[int]


def _lowest_quotes(talks: Iterable[PairTalk]) -> Iterator[int]:
    lowest: int | None = None
    for talk in talks:
        for quote in (talk.opening, *(answer.quote for answer in talk.answers)):
            if quote is not None and (lowest is None or quote < lowest):
                lowest = quote
                yield quote


def _telling_bids(talks: Iterable[PairTalk]) -> Iterator[int]:
    """Yield the bids that a floor might lie above: those below every quote before."""
    lowest: float = np.inf
    for talk in talks:
        for answer in talk.answers:
            if answer.bid < lowest:
                yield answer.bid
            lowest = min(lowest, talk.opening, answer.bid if answer.quote is None else answer.quote)


class _Alike(NamedTuple):
    constants: tuple[tuple[float, ...], ...]
    urgency: float | None
    stance: Stance | None
    floor_factor: float | None
    is_fraud: bool


Kinds = dict[_Alike, float]
"""Shares of the kinds that differ."""


def _merged(kinds: Iterable[SupplierKind]) -> Kinds:
    """Add the shares of kinds that answer alike."""
    found: Kinds = {}
    for kind in kinds:
        alike = _Alike(_numbers(kind.family), kind.urgency, kind.stance, kind.floor_factor, kind.is_fraud)
        found[alike] = found.get(alike, 0.0) + kind.share
    return found


@lru_cache(maxsize=16)
def _numbers(family: Family) -> tuple[tuple[float, ...], ...]:
    """Return for each stance the constants of the family, the stance's number, and its prior probability."""
    prior = GAME.families[family].stance_prior
    rows = [kernel_params(GAME, family, stance, 1.0) for stance in STANCES]
    return tuple((*_constants(row), float(index), prior[index]) for index, row in enumerate(rows))


def _constants(params: KernelParams) -> tuple[float, ...]:
    return tuple(float(getattr(params, name)) for name in _FIELDS)


def _point_nodes(prior: PairPrior, kinds: Kinds, cuts: _Cuts, quote: int | None) -> tuple[Floats, ...]:
    v, category, rules = prior.reference, prior.category, prior.rules
    opening, floor = max(1, round(v * category.wholesale_ratio)), max(1, round(v * category.floor_ratio))
    rows = []
    for kind, share in kinds.items():
        r = _raised_floor(np.array(float(floor)), np.array(float(opening)), kind.floor_factor, prior)
        scale = _scale(np.array(float(opening)), r, kind.is_fraud, rules)
        constants = kind.constants[STANCES.index(kind.stance)][:-1]
        seen = 1.0 if quote is None else float(_opening_chance(r, np.array(float(opening)), scale, quote))
        rows.append((float(r), opening, float(scale), kind.urgency, constants, share * seen))
    return tuple(np.array(column, dtype=float) for column in zip(*rows, strict=True))


def _drawn_nodes(prior: PairPrior, kinds: Kinds, cuts: _Cuts, quote: int | None) -> tuple[Floats, ...]:
    points, gauss = np.polynomial.legendre.leggauss(_URGENCY_NODES)
    kappa, kappa_mass = URGENCY[0] + (URGENCY[1] - URGENCY[0]) * (points + 1) / 2, gauss / 2
    parts: list[tuple[Floats, ...]] = []
    by_floor: dict[tuple[float | None, bool], list[tuple[tuple[float, ...], float]]] = {}
    for kind, share in kinds.items():
        rows = by_floor.setdefault((kind.floor_factor, kind.is_fraud and _has_own_scale(prior.rules)), [])
        rows.extend((row[:-1], share * row[-1]) for row in kind.constants)
    for (factor, is_fraud), rows in by_floor.items():
        floor, opening, mass = _price_cells(prior, factor, cuts)
        scale = _scale(opening, floor, is_fraud, prior.rules)
        if quote is not None:
            mass = mass * _opening_chance(floor, opening, scale, quote)
            kept = mass > _NEGLIGIBLE * mass.max(initial=0.0)
            floor, opening, scale, mass = floor[kept], opening[kept], scale[kept], mass[kept]
        constants, shares = np.array([row for row, _ in rows]), np.array([share for _, share in rows])
        num, others = len(floor), len(shares) * len(kappa)
        parts.append(
            (
                np.repeat(floor, others),
                np.repeat(opening, others),
                np.repeat(scale, others),
                np.tile(kappa, num * len(shares)),
                np.tile(np.repeat(constants, len(kappa), axis=0), (num, 1)),
                np.outer(mass, np.outer(shares, kappa_mass)).ravel(),
            )
        )
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _has_own_scale(rules: Rules) -> bool:
    return rules.fraud_price_scale == "published"


def _price_cells(prior: PairPrior, factor: float | None, cuts: _Cuts) -> tuple[Floats, Floats, Floats]:
    """Return floors, expected openings and masses of the joint law of both, as flat arrays."""
    v, category = prior.reference, prior.category
    low, high = (v * category.floor_ratio * bound for bound in FLOOR_SPREAD)
    edges = _edges(low, high, _FLOOR_CELLS, cuts if factor is None else _raised_cuts(cuts, factor, prior))
    c, c_mass = _centres(edges[:-1], edges[1:]), np.diff(edges) / max(high - low, 1e-12)
    c = np.minimum(np.maximum(c, 1.0), v)
    first, last = (c + (v - c) * share for share in OPENING_SHARE)
    cap = round(v * category.scam_cap_ratio)
    can_bind = factor is not None and float((first - np.maximum(c, np.minimum(factor * c, cap))).min()) < 1
    across = _edges(float(first.min()), float(last.max()), _OPENING_CELLS, cuts if can_bind else _Cuts(set(), set()))
    lower = np.clip(across[None, :-1], first[:, None], last[:, None])
    upper = np.clip(across[None, 1:], first[:, None], last[:, None])
    width = np.maximum(last - first, 1e-12)[:, None]
    is_wide = (last - first > 1e-9)[:, None]
    mass = np.where(is_wide, (upper - lower) / width, 1.0 / lower.shape[1]) * c_mass[:, None]
    inside = _centres(np.broadcast_to(across[None, :-1], mass.shape), np.broadcast_to(across[None, 1:], mass.shape))
    is_single = (np.diff(across) <= 1.0)[None, :]
    opening = np.where(is_single, inside, (lower + upper) / 2)
    floor = _raised_floor(np.broadcast_to(c[:, None], mass.shape), opening, factor, prior)
    held = mass > 0
    return floor[held], np.maximum(opening[held], 1.0), mass[held]


def _raised_cuts(cuts: _Cuts, factor: float, prior: PairPrior) -> _Cuts:
    """Return where costs are cut if the floor may be ``factor`` times them, or the cap."""
    cap = round(prior.reference * prior.category.scam_cap_ratio)
    around = ((cut, round(cut / factor) + step) for cut in (*cuts.quotes, cap) for step in (-1, 0, 1))
    near = {cost for cut, cost in around if round(factor * cost) == cut}
    beyond = {int(bid // factor) for bid in cuts.bids}
    return _Cuts(cuts.bids | beyond, cuts.quotes | near | {cap})


def _edges(low: float, high: float, num: int, cuts: _Cuts) -> Floats:
    """Return edges of cells of whole fen from ``low`` to ``high``; the last fen before a cut ends a cell."""
    inner = np.floor(np.linspace(low, high, num + 1)[1:-1]) + 0.5
    around = [quote + side for quote in cuts.quotes for side in (-0.5, 0.5)]
    around += [bid + 0.5 for bid in cuts.bids]
    found = np.unique(np.concatenate([inner, np.array(around, dtype=float)]))
    return np.concatenate([[low], found[(found > low) & (found < high)], [max(high, low + 1e-9)]])


def _centres(low: Floats, high: Floats) -> Floats:
    """Return the middle of each cell, which of a cell within one fen is that fen."""
    middle = (low + high) / 2
    fen = np.round(middle)
    return np.where((low >= fen - 0.5) & (high <= fen + 0.5), fen, middle)


def _raised_floor(c: Floats, opening: Floats, factor: float | None, prior: PairPrior) -> Floats:
    if factor is None:
        return np.array(c, dtype=float)
    cap = float(round(prior.reference * prior.category.scam_cap_ratio))
    raised = np.where(c == np.round(c), np.round(factor * c), factor * c)
    return np.maximum(c, np.minimum(np.minimum(raised, cap), opening))


def _scale(opening: Floats, floor: Floats, is_fraud: bool, rules: Rules) -> Floats:
    scale = rules.opening_bound_factor * opening
    if is_fraud and _has_own_scale(rules):
        scale = scale - floor
    return np.maximum(100.0, scale)


def _weigh(belief: FloorBelief, likelihood: Floats) -> FloorBelief:
    weights = belief.weights * likelihood
    kept = weights > _NEGLIGIBLE * weights.max(initial=0.0)
    _check_possible(kept)
    if kept.all():
        return replace(belief, weights=weights / weights.sum())
    weights = weights[kept]
    return FloorBelief(
        belief.rules,
        belief.floor[kept],
        belief.opening[kept],
        belief.price_range[kept],
        belief.urgency[kept],
        belief.params[kept],
        weights / weights.sum(),
    )


def _check_possible(kept: NDArray[np.bool_]) -> None:
    if not kept.any():
        raise ValueError("no supplier of the prior answers like this one; are the rules and the category its own?")


def opening_likelihood(belief: FloorBelief, quote: int) -> Floats:
    """Return the probability of an opening quote (fen), type by type."""
    return _opening_chance(belief.floor, belief.opening, belief.price_range, quote)


def _opening_chance(floor: Floats, opening: Floats, scale: Floats, quote: int) -> Floats:
    sd = GAME.opening.noise_share * scale
    upto = ndtr((quote + 0.5 - opening) / sd)
    below = np.where(quote > floor, ndtr((quote - 0.5 - opening) / sd), 0.0)
    return np.where(quote >= floor, upto - below, 0.0)


def answer_likelihood(belief: FloorBelief, standing: int, bids: Sequence[int], answer: BidAnswer) -> Floats:
    """Return the probability of the answer to the last of ``bids``, type by type."""
    bid, takes = bids[-1], belief.rules.counter_below_bid == "take_bid"
    if takes and bid >= standing:
        return np.full(len(belief.floor), float(answer.quote is None and not answer.is_walk))
    accept, walk, rate, noise = answer_laws(belief, np.array(bids, dtype=float)[:, None])
    if answer.is_walk:
        return (1 - accept) * walk
    counter = _Counter(belief.floor, float(standing), standing - rate * (standing - belief.floor), noise)
    goes_on = (1 - accept) * (1 - walk)
    if answer.quote is None:
        return accept + goes_on * counter.at_most(bid) if takes else accept
    quote = answer.quote
    if takes:
        return goes_on * counter.equal(quote) if quote > bid else np.zeros_like(accept)
    chance = counter.equal(quote) if quote >= bid else np.zeros_like(accept)
    raised = np.minimum(np.ceil(bid + BUMP * belief.price_range), standing)
    return goes_on * (chance + np.where(raised == quote, counter.at_most(bid - 1), 0.0))


class _Counter(NamedTuple):
    """The law of ``round(clip(centre + noise z, floor, standing))``."""

    floor: Floats
    standing: float
    centre: Floats
    noise: Floats

    def at_most(self, price: float) -> Floats:
        if price >= self.standing:
            return np.ones_like(self.floor)
        return np.where(price >= self.floor, ndtr((price + 0.5 - self.centre) / self.noise), 0.0)

    def equal(self, price: float) -> Floats:
        if price > self.standing:
            return np.zeros_like(self.floor)
        upto = 1.0 if price == self.standing else ndtr((price + 0.5 - self.centre) / self.noise)
        below = np.where(price > self.floor, ndtr((price - 0.5 - self.centre) / self.noise), 0.0)
        return np.where(price >= self.floor, upto - below, 0.0)


def answer_laws(belief: FloorBelief, bids: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return acceptance, walk, concession rate and noise of the answer to the last of ``bids`` (bids first, fen).

    Vectorised twin of :mod:`terms.kernel`; the first bid is answered in round 2.
    """
    scale, params, round_number = belief.price_range, belief.params, bids.shape[0] + 1
    counted = bids if belief.rules.history_includes_current else bids[:-1]
    tail = counted[-COMMON.window - 1 :]
    speed = magnitude = rigid = np.zeros(1)
    if len(tail) > 1:
        steps = np.diff(tail, axis=0) / scale
        gains = np.maximum(0.0, steps)
        speed, magnitude = steps.mean(axis=0), gains.mean(axis=0)
        rigid = (gains[-1] < COMMON.rigidity_threshold).astype(float)
    gain = (bids[-1] - belief.floor) / scale
    clock = 1.0 - np.sqrt(round_number / COMMON.horizon)
    logit = COMMON.alpha * gain + COMMON.beta * belief.urgency - COMMON.gamma * clock
    accept = np.where(gain >= 0, expit(logit + params[:, RHO] * speed + params[:, XI] * rigid), 0.0)
    walk = np.zeros_like(accept)
    if round_number >= COMMON.walk_round:
        late = min(1.0, (round_number - COMMON.walk_round) / (COMMON.horizon - COMMON.walk_round))
        hazard = expit(COMMON.phi_0 - COMMON.phi_delta * gain + COMMON.phi_t * late)
        walk = np.where(gain < 0, hazard, 0.0)
    rate = COMMON.lambda_0 + COMMON.lambda_1 * belief.urgency - params[:, LAMBDA_2] * magnitude
    rate = np.clip(rate + params[:, LAMBDA_SHIFT], 0.0, 1.0)
    return accept, walk, rate, params[:, NOISE] * scale
