r"""Likelihood of what a buyer sees, given the counterpart's type; readable NumPy, every function elementwise.

A belief is a set of cells ``[low, high]`` of r (uniform inside) times urgency nodes and groups (family, stance), plus
one atom at ``r = b``, the standing price. With ``Phi`` the normal distribution function, ``lambda`` the concession rate
and ``sd`` the price noise, a counter-offer ``b' = clip(b - lambda (b - r) + eps, r, b)`` gives

.. math::
    f(b' \mid r) = \varphi\left(\frac{b' - b + \lambda (b - r)}{sd}\right) / sd, \quad r < b' < b, \\
    P(b' = b \mid r) = \Phi(-\lambda (b - r) / sd), \qquad
    P(b' = r \mid r) = \Phi(-(1 - \lambda)(b - r) / sd).

The last one, times the density of r at ``b'``, is the new atom. An opening is ``b = clip(r + d0 phi S + eps_0, r,
100)`` with ``S = 100 - r`` and ``d0`` uniform: the convolution of a uniform and a normal, with point masses at both
ends.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from oracle.prior import SCALE
from terms.aliases import Floats

_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)


def survival_prob(
    offer: float, low: Floats, high: Floats, shift: Floats, alpha: float, walk: tuple[float, float]
) -> Floats:
    """Return P(neither accepted nor walked away | cell).

    Cells are ``low``, ``high`` (rows, 1, 1); ``shift`` (groups, nodes).

    ``walk = (intercept, slope)`` is the walk-away logit ``intercept + slope * [-D]+``; an intercept of ``-inf`` is no
    hazard. An offer inside a cell splits it: the part at or below the offer may accept, the part above may walk away.
    """
    width = np.maximum(high - low, 1e-300)
    share = np.where(high > low, np.clip((offer - low) / width, 0.0, 1.0), offer >= low)
    below = (offer - (low + np.minimum(offer, high)) / 2) / SCALE
    above = ((np.maximum(offer, low) + high) / 2 - offer) / SCALE
    walks = expit(walk[0] + walk[1] * above) if np.isfinite(walk[0]) else np.zeros_like(above)
    return np.asarray(1.0 - share * expit(alpha * below + shift) - (1.0 - share) * walks)


def log_move(price: float, previous: float, low: Floats, high: Floats, rate: Floats, sd: Floats) -> Floats:
    """Return ``log`` of the density of ``previous -> price < previous`` times the share of the cell at or below it.

    The cell's width is added to the variance, as r is uniform inside it.
    """
    top = np.minimum(high, price)
    width = np.maximum(top - low, 0.0)
    spread = np.sqrt(sd**2 + (rate * width) ** 2 / 12.0)
    error = price - previous + rate * (previous - (low + top) / 2)
    with np.errstate(divide="ignore"):
        share = np.log(width / np.maximum(np.minimum(high, previous) - low, 1e-300))
    return np.asarray(share - 0.5 * (error / spread) ** 2 - np.log(spread) - _LOG_ROOT_2PI)


def log_held(previous: float, low: Floats, high: Floats, rate: Floats, sd: Floats) -> Floats:
    """Return ``log P(b' = b | cell)``, the noise having pushed the candidate to or past the standing price."""
    middle = (low + np.minimum(high, previous)) / 2
    return np.asarray(log_ndtr(-rate * (previous - middle) / sd))


def log_reached(price: float, previous: float, rate: Floats, sd: Floats) -> Floats:
    """Return ``log P(b' = r | r = price)``, the candidate having fallen to or past the reservation."""
    return log_ndtr(-(1.0 - rate) * (previous - price) / sd)


def log_opening(
    price: float, low: Floats, high: Floats, scale: Floats, harshness: tuple[float, float], sd: float
) -> Floats:
    """Return ``log`` of the opening density at ``price < 100``, times the share of the cell at or below ``price``."""
    top = np.minimum(high, price)
    middle = (low + top) / 2
    near, far = (share * scale * (SCALE - middle) for share in harshness)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(np.maximum(top - low, 0.0) / (high - low))
        inside = log_difference((price - middle - far) / sd, (price - middle - near) / sd)
        return np.where(top > low, share + inside - np.log(np.maximum(far - near, 1e-300)), -np.inf)


def log_opening_floor(price: float, scale: Floats, harshness: tuple[float, float], sd: float) -> Floats:
    """Return ``log P(opening = r | r = price)``: the noise outweighs the whole mark-up."""
    near, far = (share * scale * (SCALE - price) / sd for share in harshness)
    return np.log(np.maximum(_mean_ndtr(-far, -near), 1e-300))


def log_opening_ceiling(low: Floats, high: Floats, scale: Floats, harshness: tuple[float, float], sd: float) -> Floats:
    """Return ``log P(opening = 100 | cell)``."""
    slack = SCALE - (low + high) / 2
    near, far = (((share * scale) - 1.0) * slack / sd for share in harshness)
    return np.log(np.maximum(_mean_ndtr(near, far), 1e-300))


def log_difference(lower: Floats, upper: Floats) -> Floats:
    """Return ``log(Phi(upper) - Phi(lower))`` without cancellation, for ``lower < upper``."""
    flip = lower > 0  # the left tail is the accurate one
    low, high = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
    return np.asarray(log_ndtr(high) + np.log1p(-np.exp(np.minimum(log_ndtr(low) - log_ndtr(high), -1e-300))))


def _mean_ndtr(lower: Floats, upper: Floats) -> Floats:
    """Return the mean of ``Phi`` over ``[lower, upper]``, by its antiderivative ``x Phi(x) + phi(x)``."""
    width = upper - lower
    mean = (_integral_ndtr(upper) - _integral_ndtr(lower)) / np.where(width > 1e-9, width, 1.0)
    return np.where(width > 1e-9, mean, ndtr((lower + upper) / 2))


def _integral_ndtr(x: Floats) -> Floats:
    return np.asarray(x * ndtr(x) + np.exp(-0.5 * x**2 - _LOG_ROOT_2PI))
