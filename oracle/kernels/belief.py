r"""The belief update, compiled: what :mod:`oracle.likelihood` says, in single loops over (row, group, node).

``weights`` has one row more than there are cells: the atom at ``r = b``. Before the counterpart's first price ``b``
is 100 and ``opened`` is false. A survival factor needs one exponential a row and one a column, as the logit is a sum
of both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.compiling import inline, kernel
from oracle.model import KernelRules, Model
from terms.aliases import Floats

TOP = 100.0
_ROOT_2 = math.sqrt(2.0)
_ROOT_2PI = math.sqrt(2.0 * math.pi)


class OfferFeatures(NamedTuple):
    """History features of the agent's earlier offers, with the two latest steps as shares of R."""

    speed: float
    magnitude: float
    rigidity: float
    last_step: float
    step_before: float


@inline
def past_of(offers: Floats, count: int, rules: KernelRules) -> OfferFeatures:
    """Return the features of the first ``count`` offers; canonical prices, so a concession is a rise."""
    if count < 2:
        return OfferFeatures(0.0, 0.0, 0.0, 0.0, 0.0)
    steps = min(rules.window, count - 1)
    speed, magnitude = 0.0, 0.0
    for i in range(count - steps, count):
        step = (offers[i] - offers[i - 1]) / TOP
        speed += step
        magnitude += max(0.0, step)
    last = (offers[count - 1] - offers[count - 2]) / TOP
    before = (offers[count - 2] - offers[count - 3]) / TOP if count > 2 else 0.0
    rigidity = 1.0 if max(0.0, last) < rules.rigidity_threshold else 0.0
    return OfferFeatures(speed / steps, magnitude / steps, rigidity, last, before)


@inline
def rates(model: Model, magnitude: float, out: Floats) -> None:
    """Write the concession rate of every (group, node)."""
    rules, columns = model
    for g in range(out.shape[0]):
        base = rules.lambda_0 - columns.lambda_2[g] * magnitude + columns.lambda_shift[g]
        for n in range(out.shape[1]):
            out[g, n] = min(1.0, max(0.0, base + rules.lambda_1 * columns.urgency[n]))


@inline
def logit_factors(model: Model, k: int, past: OfferFeatures, out: Floats) -> None:
    """Write ``exp(-shift)`` of every (group, node), the part of the acceptance logit that does not depend on r."""
    rules, columns = model
    clock = rules.gamma * (1.0 - math.sqrt(k / rules.horizon))
    for g in range(out.shape[0]):
        base = clock - columns.rho[g] * past.speed - columns.xi[g] * past.rigidity
        for n in range(out.shape[1]):
            out[g, n] = math.exp(base - rules.beta * columns.urgency[n])


@inline
def walk_given_above(above: float, k: int, rules: KernelRules) -> float:
    """Return the walk-away probability for an offer ``above`` (share of R) past the counterpart's reservation."""
    if k < rules.walk_round:
        return 0.0
    span = rules.horizon - rules.walk_round
    elapsed = min(1.0, max(0.0, (k - rules.walk_round) / span)) if span > 0 else 1.0
    return 1.0 / (1.0 + math.exp(-(rules.phi_0 + rules.phi_delta * above + rules.phi_t * elapsed)))


@inline
def fill(block: Floats, value: float) -> None:
    """Set a (groups, nodes) block. Plain loops here and below: array expressions take seconds to compile."""
    for g in range(block.shape[0]):
        for n in range(block.shape[1]):
            block[g, n] = value


@inline
def total_weight(weights: Floats) -> float:
    """Return the sum of (rows, groups, nodes)."""
    total = 0.0
    for i in range(weights.shape[0]):
        for g in range(weights.shape[1]):
            for n in range(weights.shape[2]):
                total += weights[i, g, n]
    return total


@inline
def row_weight(row: Floats) -> float:
    """Return the sum of (groups, nodes)."""
    total = 0.0
    for g in range(row.shape[0]):
        for n in range(row.shape[1]):
            total += row[g, n]
    return total


@inline
def survive(weights: Floats, low: Floats, top: Floats, offer: float, k: int, factors: Floats, rules: KernelRules, out: Floats) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Write ``weights`` times the chance of neither acceptance nor walking away; return the mass that accepts.

    ``top`` are the upper cell bounds cut at the standing price, with the atom as a last cell of width zero.
    """
    accepted = 0.0
    for i in range(weights.shape[0]):
        lo, hi = low[i], top[i]
        at_or_past = 1.0 if offer >= lo else 0.0
        share = min(1.0, max(0.0, (offer - lo) / (hi - lo))) if hi > lo else at_or_past
        walks = (1.0 - share) * walk_given_above(((max(offer, lo) + hi) / 2 - offer) / TOP, k, rules)
        slope = math.exp(-rules.alpha * (offer - (lo + min(offer, hi)) / 2) / TOP)
        for g in range(weights.shape[1]):
            for n in range(weights.shape[2]):
                weight = weights[i, g, n]
                takes = share / (1.0 + slope * factors[g, n])
                accepted += weight * takes
                out[i, g, n] = weight * (1.0 - takes - walks)
    return accepted


@inline
def cut_cells(low: Floats, high: Floats, standing: float, low_out: Floats, top_out: Floats) -> None:
    """Write cell bounds cut at ``standing``, with the atom as a last cell of width zero."""
    rows = low.shape[0]
    for i in range(rows):
        low_out[i] = low[i]
        top_out[i] = max(low[i], min(high[i], standing))
    low_out[rows] = top_out[rows] = standing


@inline
def normal_cdf(x: float) -> float:
    """Return the normal distribution function, accurate in the left tail."""
    return 0.5 * math.erfc(-x / _ROOT_2)


@inline
def _log_cdf(x: float) -> float:
    if x > -8.0:
        return math.log(normal_cdf(x))
    inverse = 1.0 / (x * x)
    return -0.5 * x * x - math.log(-x * _ROOT_2PI) + math.log1p(-inverse * (1.0 - 3.0 * inverse))


@inline
def _mean_cdf(lower: float, upper: float) -> float:
    if upper - lower < 1e-9:
        return normal_cdf(lower)
    high = upper * normal_cdf(upper) + math.exp(-0.5 * upper * upper) / _ROOT_2PI
    low = lower * normal_cdf(lower) + math.exp(-0.5 * lower * lower) / _ROOT_2PI
    return (high - low) / (upper - lower)


@inline
def source_row(low: Floats, top: Floats, price: float) -> int:
    """Return the cell that holds ``price`` and feeds a new atom there, or -1."""
    for i in range(low.shape[0] - 1):
        if low[i] < price <= top[i]:
            return i
    return -1


@inline
def move_law(price: float, standing: float, low: Floats, top: Floats, rate: Floats, sds: Floats, offset: float, out: Floats) -> int:  # fmt: skip  # noqa: PLR0913, E501
    """Write the density of a move to ``price``, times ``exp(offset)``; return the row that feeds the new atom.

    The last row is the factor on that row's weights: P(reached r) over the cell's width.
    """
    rows = low.shape[0] - 1
    for i in range(rows):
        width = min(top[i], price) - low[i]
        if width <= 0.0:
            fill(out[i], 0.0)
            continue
        share = width / (top[i] - low[i]) / _ROOT_2PI
        middle = low[i] + width / 2
        for g in range(rate.shape[0]):
            variance = sds[g] * sds[g]
            for n in range(rate.shape[1]):
                spread = variance + (rate[g, n] * width) ** 2 / 12.0
                error = price - standing + rate[g, n] * (standing - middle)
                out[i, g, n] = share * math.exp(offset - 0.5 * error * error / spread) / math.sqrt(spread)
    source = source_row(low, top, price)
    fill(out[rows], 0.0)
    if source >= 0:
        for g in range(rate.shape[0]):
            for n in range(rate.shape[1]):
                reached = _log_cdf(-(1.0 - rate[g, n]) * (standing - price) / sds[g])
                out[rows, g, n] = math.exp(offset + reached) / (top[source] - low[source])
    return source


@inline
def held_law(standing: float, low: Floats, top: Floats, rate: Floats, sds: Floats, out: Floats) -> None:
    """Write the probability that the standing price is held; the atom holds for certain."""
    rows = low.shape[0] - 1
    for i in range(rows):
        distance = standing - (low[i] + top[i]) / 2
        for g in range(rate.shape[0]):
            for n in range(rate.shape[1]):
                out[i, g, n] = normal_cdf(-rate[g, n] * distance / sds[g])
    fill(out[rows], 1.0)


@inline
def opening_law(price: float, low: Floats, top: Floats, model: Model, out: Floats) -> int:
    """Write the density of an opening below 100; return the row that feeds the new atom (see :func:`move_law`)."""
    rules, columns = model
    rows, sd = low.shape[0] - 1, rules.opening_sd
    for i in range(rows):
        width = min(top[i], price) - low[i]
        if width <= 0.0:
            fill(out[i], 0.0)
            continue
        share, middle = width / (top[i] - low[i]), low[i] + width / 2
        for g in range(out.shape[1]):
            for n in range(out.shape[2]):
                mark_up = columns.opening_scale[g, n] * (TOP - middle)
                near, far = rules.harshness_low * mark_up, max(rules.harshness_high * mark_up, 1e-9)
                lower, upper = (price - middle - far) / sd, (price - middle - near) / sd
                if lower > 0.0:  # the left tail is the accurate one
                    lower, upper = -upper, -lower
                inside = max(normal_cdf(upper) - normal_cdf(lower), 0.0) / max(far - near, 1e-9)
                out[i, g, n] = share * inside
    source = source_row(low, top, price)
    fill(out[rows], 0.0)
    if source >= 0:
        for g in range(out.shape[1]):
            for n in range(out.shape[2]):
                slack = columns.opening_scale[g, n] * (TOP - price) / sd
                floor = _mean_cdf(-rules.harshness_high * slack, -rules.harshness_low * slack)
                out[rows, g, n] = floor / (top[source] - low[source])
    return source


@inline
def ceiling_law(low: Floats, top: Floats, model: Model, out: Floats) -> None:
    """Write the probability of an opening at 100."""
    rules, columns = model
    rows = low.shape[0] - 1
    for i in range(rows):
        slack = (TOP - (low[i] + top[i]) / 2) / rules.opening_sd
        for g in range(out.shape[1]):
            for n in range(out.shape[2]):
                scale = columns.opening_scale[g, n]
                near, far = rules.harshness_low * scale - 1.0, rules.harshness_high * scale - 1.0
                out[i, g, n] = _mean_cdf(near * slack, far * slack)
    fill(out[rows], 0.0)


@inline
def posture_law(share: float, elapsed: float, g: int, model: Model, out: Floats) -> None:
    """Write the probabilities of (Concede, Hold, Pressure) of group ``g``; ``share`` is the distance conceded."""
    rules, columns = model
    bias, temperature = columns.posture_bias[g], columns.temperature[g]
    if temperature == 0.0:
        for i in range(3):
            out[i] = bias[i]
        return
    first = bias[0] + rules.concede_slope * (share - rules.concede_reference)
    third = bias[2] + rules.pressure_slope * (elapsed - rules.pressure_reference) - share
    out[0] = math.exp(first / temperature)
    out[1] = math.exp(bias[1] / temperature)
    out[2] = math.exp(third / temperature)
    total = out[0] + out[1] + out[2]
    for i in range(3):
        out[i] /= total


@inline
def conceded(price: float, standing: float, opened: bool, r: float) -> float:
    """Return the share of the distance to ``r`` that the quote has just closed; 0 for an opening."""
    return min(1.0, (standing - price) / (standing - r + 1e-6)) if opened else 0.0


@inline
def weigh_cue(weights: Floats, low: Floats, top: Floats, quote: tuple[float, float, bool], elapsed: float, cue: tuple[int, int], model: Model) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Multiply ``weights`` by P(cue), ``cue`` = (sentiment, posture), ``quote`` = (price, standing, opened)."""
    price, standing, opened = quote
    law = np.empty(3)
    for i in range(weights.shape[0]):
        # A cell above the price is empty; without the cut its share could be infinite, and 0 times infinity is nan.
        r = price if i == weights.shape[0] - 1 else min(price, (low[i] + min(top[i], price)) / 2)
        share = conceded(price, standing, opened, r)
        for g in range(weights.shape[1]):
            posture_law(share, elapsed, g, model, law)
            factor = model.columns.sentiment[g, cue[0]] * law[cue[1]]
            for n in range(weights.shape[2]):
                weights[i, g, n] *= factor


@inline
def _offset(weights: Floats, price: float, standing: float, low: Floats, top: Floats, rate: Floats, sds: Floats) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Return half the smallest squared error of any cell that has weight; added back, nothing underflows."""
    best = 1e300
    for i in range(low.shape[0] - 1):
        if min(top[i], price) <= low[i]:
            continue
        middle = (low[i] + min(top[i], price)) / 2
        for g in range(rate.shape[0]):
            for n in range(rate.shape[1]):
                if weights[i, g, n] > 0.0:
                    error = (price - standing + rate[g, n] * (standing - middle)) / sds[g]
                    best = min(best, 0.5 * error * error)
    return best if best < 1e300 else 0.0


@inline
def take_quote(weights: Floats, low: Floats, top: Floats, quote: tuple[float, float, bool], rate: Floats, model: Model) -> None:  # fmt: skip  # noqa: E501
    """Multiply ``weights`` by the likelihood of the quote (price, standing, opened), not normalised."""
    price, standing, opened = quote
    rows = low.shape[0] - 1
    law = np.empty(weights.shape)
    source = rows
    if not opened and price >= TOP:
        ceiling_law(low, top, model, law)
    elif not opened:
        source = opening_law(price, low, top, model, law)
    elif price >= standing:
        held_law(standing, low, top, rate, model.columns.noise_sd, law)
    else:
        sds = model.columns.noise_sd
        offset = _offset(weights, price, standing, low, top, rate, sds)
        source = move_law(price, standing, low, top, rate, sds, offset, law)
    for g in range(weights.shape[1]):
        for n in range(weights.shape[2]):
            if source < rows:
                weights[rows, g, n] = weights[source, g, n] if source >= 0 else 0.0
            for i in range(rows + 1):
                weights[i, g, n] *= law[i, g, n]


@kernel
def update_belief(weights: Floats, low: Floats, high: Floats, offers: Floats, k: int, quote: tuple[float, float, bool], cue: tuple[int, int], model: Model) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Update ``weights`` in place after the answer to the offer of round ``k`` and return the evidence factor.

    ``offers`` are the agent's offers so far, the last one being answered (none at an opening by the counterpart).
    ``quote`` is (new price, standing price or 100, whether a price stood). A sentiment of -1 is a hidden cue. Returns
    0 and leaves the weights unnormalised if the observation is impossible.
    """
    rows, count = low.shape[0], offers.shape[0]
    lows, tops = np.empty(rows + 1), np.empty(rows + 1)
    cut_cells(low, high, quote[1], lows, tops)
    rate = np.empty((weights.shape[1], weights.shape[2]))
    past = past_of(offers, max(count - 1, 0), model.rules)
    if count > 0:
        logit_factors(model, k, past, rate)
        survive(weights, lows, tops, offers[count - 1], k, rate, model.rules, weights)
    rates(model, past.magnitude, rate)
    take_quote(weights, lows, tops, quote, rate, model)
    if cue[0] >= 0:
        weigh_cue(weights, lows, tops, quote, math.sqrt(k / model.rules.horizon), cue, model)
    total = total_weight(weights)
    if total > 0.0:
        for i in range(rows + 1):
            for g in range(rate.shape[0]):
                for n in range(rate.shape[1]):
                    weights[i, g, n] /= total
    return total
