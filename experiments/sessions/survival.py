r"""Curves over the periods of sessions: survival by Kaplan and Meier, and the mean balance.

With ``d_t`` sessions ruined in period t of ``n_t`` still observed, and Greenwood's variance,

.. math::
    S(t) = \prod_{s \le t} (1 - d_s / n_s), \qquad V(t) = S(t)^2 \sum_{s \le t} \frac{d_s}{n_s (n_s - d_s)}.

The interval is the exact one of a share with the effective sample size ``S (1 - S) / V`` (Dorey and Korn 1987,
Statistics in Medicine 6, 679-687), and where ``S`` is 0 or 1 the number at risk or ruined before; unlike Greenwood's
own it never leaves [0, 1] and is defined before the first ruin. A session that the provider lost is censored there; one
that lasts to the horizon is censored at it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commerce.bankroll import SessionEnd, SessionRecord
from terms.estimates import Estimate, estimate_mean
from terms.intervals import share_bounds


def survival_curve(sessions: Sequence[SessionRecord]) -> tuple[Estimate, ...]:
    """Return the share not ruined after each period, index 0 before the first; ``n`` is the number at risk.

    A period of which nothing was observed ends the curve.
    """
    horizon = max((session.horizon for session in sessions), default=0)
    lengths = np.array([_observed(session) for session in sessions])
    ruined = np.array([session.end is SessionEnd.RUINED for session in sessions])
    curve, share, spread, dead = [_point(1.0, 0.0, len(sessions))] if sessions else [], 1.0, 0.0, 0
    for period in range(1, horizon + 1):
        at_risk = int((lengths >= period).sum())
        if at_risk == 0:
            # Everybody was ruined, and stays so; or everybody was lost, and nothing more is known.
            curve += [curve[-1]] * (horizon - period + 1) if share == 0 else []
            break
        deaths = int((ruined & (lengths == period)).sum())
        share *= 1 - deaths / at_risk
        spread += deaths / (at_risk * (at_risk - deaths)) if deaths < at_risk else 0.0
        curve.append(_point(share, share**2 * spread, at_risk, dead))
        dead += deaths
    return tuple(curve)


def _observed(session: SessionRecord) -> int:
    """Return how many periods of a session were seen to their end."""
    return sum(not period.is_lost for period in session.periods)


def _point(share: float, variance: float, at_risk: int, dead: int = 0) -> Estimate:
    effective = share * (1 - share) / variance if variance > 0 else float(at_risk + dead)
    low, high = share_bounds(share, effective)
    return Estimate(share, low, high, at_risk)


def balance_curve(sessions: Sequence[SessionRecord]) -> tuple[Estimate, ...]:
    """Return the mean balance in dollars after each period, index 0 before the first, over scored sessions.

    A ruined session stays where it was ruined, so the last point is the terminal balance.
    """
    scored = [session for session in sessions if session.is_scored]
    if not scored:
        return ()
    paths = np.array([padded_path(session) for session in scored])
    return tuple(estimate_mean(column) for column in paths.T)


def padded_path(session: SessionRecord) -> list[float]:
    """Return the balance in dollars before the first period and after each one up to the horizon."""
    path = [cents / 100 for cents in session.cash_path_cents]
    return path + [path[-1]] * (session.horizon + 1 - len(path))
