r"""Metrics and curves of bankroll sessions, each with its interval; the independent block is the session.

With ``C_t`` the cash after period t and ``T`` the horizon: terminal balance ``C_T`` (of a ruined session the cash it
was ruined with), mean period profit ``(C_T - C_0) / T``, largest drawdown ``max_s max_{t > s} (C_s - C_t)``. Time to
ruin is censored at T, so what is reported is the mean number of periods survived, ``E[min(T_ruin, T)]`` (the area under
the survival curve, which censoring at T leaves exact), and the median where at least half of the sessions are ruined.
The lower tail is the mean terminal balance of the worst quarter of the sessions, rounded up. Sessions that the provider
lost are left out and counted; the survival rate alone, which is the last point of the Kaplan-Meier curve, follows them
until they were lost. Money is shown in dollars.

Survival is by Kaplan and Meier. With ``d_t`` sessions ruined in period t of ``n_t`` still observed, and Greenwood's
variance,

.. math::
    S(t) = \prod_{s \le t} (1 - d_s / n_s), \qquad V(t) = S(t)^2 \sum_{s \le t} \frac{d_s}{n_s (n_s - d_s)}.

The interval is the exact one of a share with the effective sample size ``S (1 - S) / V`` (Dorey and Korn 1987,
Statistics in Medicine 6, 679-687), and where ``S`` is 0 or 1 the number at risk or ruined before; unlike Greenwood's
own it never leaves [0, 1] and is defined before the first ruin. A session that the provider lost is censored there; one
that lasts to the horizon is censored at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from commerce.bankroll import PeriodRecord, SessionEnd, SessionRecord
from experiments.engine.header import Header
from experiments.episodes.money_metrics import regret_rate
from experiments.episodes.records import too_many_unusable
from experiments.sessions.spec import CHAINS, SessionsSpec
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_mean, estimate_ratios, estimate_share
from terms.intervals import share_bounds
from terms.metric import Metric


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


TAIL_SHARE, MIN_TAIL_SESSIONS = 0.25, 400
"""With fewer sessions the lower tail has no interval: of 80 it holds the true value 86 % of the time."""


# fmt: off
SESSION_METRICS: tuple[Metric[Any], ...] = (
    Metric("terminal_balance", "cash at the end, or at ruin", "higher", "dollars", "sessions"),
    Metric("mean_period_profit", "terminal less initial cash over the horizon", "higher", "dollars", "sessions"),
    Metric("periods_survived", "periods up to ruin or the horizon; no interval if all are alike", "higher",
                  "periods", "sessions"),
    Metric("max_drawdown", "largest fall of cash from an earlier high", "lower", "dollars", "sessions"),
    Metric("survival_rate", "not ruined by the horizon, by Kaplan and Meier", "higher", "share", "sessions"),
    Metric("median_time_to_ruin", "period by which half are ruined", "higher", "periods", "sessions"),
    Metric("lower_tail_mean", f"terminal balance of the worst quarter; interval from {MIN_TAIL_SESSIONS} "
                  "sessions on", "higher", "dollars", "sessions"),
    Metric("se_plus", "surplus share, no deal counts 0", "higher", "share", "feasible periods"),
    Metric("regret_rate", "1 - sum of profits / sum of best feasible profits", "lower", "share",
                  "feasible periods"),
    Metric("deal_profit", "profit of a deal", "higher", "dollars", "deals"),
    Metric("agreement_rate", "deal closed where one is possible", "higher", "share", "feasible periods"),
    Metric("walkaway_correctness", "no deal closed where none is possible", "higher", "share",
                  "infeasible periods"),
    Metric("rounds", "rounds of a negotiation", "neither", "rounds", "periods"),
    Metric("memory_premium", "terminal balance with memory less that without", "higher", "dollars",
                  "sessions of both arms"),
    Metric("memoryless_terminal_balance", "terminal balance without memory", "higher", "dollars",
                  "sessions without memory"),
)
# fmt: on
#: Metrics of a session as a whole, on which agents are paired; each with the direction that is better.
PAIRED_ON_SESSIONS = {metric.name: metric.better for metric in SESSION_METRICS[:4]}


def session_values(session: SessionRecord) -> dict[str, float]:
    """Return the paired metrics of one scored session."""
    return {
        "terminal_balance": session.terminal_cents / 100,
        "mean_period_profit": (session.terminal_cents - session.initial_cents) / 100 / session.horizon,
        "periods_survived": float(len(session.periods)),
        "max_drawdown": session.max_drawdown_cents / 100,
    }


def summarize_sessions(sessions: Sequence[SessionRecord]) -> dict[str, Estimate]:
    """Return every metric of one arm."""
    scored = [session for session in sessions if session.is_scored]
    values = [session_values(session) for session in scored]
    found = {name: estimate_mean([value[name] for value in values]) for name in PAIRED_ON_SESSIONS}
    ruined = [session.time_to_ruin for session in scored if session.time_to_ruin is not None]
    return {
        **found,
        "periods_survived": _periods_survived(scored),
        "survival_rate": _survival(sessions),
        "median_time_to_ruin": _median_time(ruined, len(scored)),
        "lower_tail_mean": lower_tail([value["terminal_balance"] for value in values]),
        **_period_metrics([period for session in scored for period in session.periods]),
    }


def memory_premium(sessions: Sequence[SessionRecord], memoryless: Sequence[SessionRecord]) -> Estimate:
    """Return the terminal balance with memory minus that without, on the same chains; undefined without the arm."""
    without = {session.session: session.terminal_cents for session in memoryless if session.is_scored}
    return estimate_mean(
        [
            (session.terminal_cents - without[session.session]) / 100
            for session in sessions
            if session.is_scored and session.session in without
        ]
    )


def sessions_summary(
    header: Header[SessionsSpec], sessions: Sequence[SessionRecord], memoryless: Sequence[SessionRecord]
) -> dict[str, Any]:
    """Return what ``summary.json`` holds: every metric, and what it was measured on."""
    metrics = summarize_sessions(sessions)
    without = summarize_sessions(memoryless) if memoryless else {}
    metrics["memory_premium"] = memory_premium(sessions, memoryless)
    metrics["memoryless_terminal_balance"] = without.get("terminal_balance", UNDEFINED)
    ends = [session.end.value for session in sessions]
    periods = [period for session in sessions for period in session.periods]
    return {
        "agent": header.agent,
        "suite": header.spec.label,
        "digest": header.digests[CHAINS],
        "versions": header.versions,
        "invalidity": sessions_invalidity(sessions),
        "metrics": {
            each.name: {**metrics[each.name]._asdict(), "sessions": _num_sessions(each, metrics[each.name], sessions)}
            for each in SESSION_METRICS
        },
        "sessions": {end: ends.count(end) for end in ("finished", "ruined", "lost", "open")},
        "memoryless_lost": sum(session.end == "lost" for session in memoryless),
        "periods": {
            "played": len(periods),
            "agreements": sum(period.price is not None for period in periods),
            "feasible": sum(period.is_feasible for period in periods),
        },
    }


def _num_sessions(metric: Metric[Any], found: Estimate, sessions: Sequence[SessionRecord]) -> int:
    """Return how many independent sessions are behind ``n``."""
    if metric.denominator not in _COUNTED:
        return found.n
    counted = _COUNTED[metric.denominator]
    return sum(session.is_scored and any(map(counted, session.periods)) for session in sessions)


_COUNTED: dict[str, Callable[[PeriodRecord], bool]] = {
    "periods": lambda period: True,
    "feasible periods": lambda period: period.is_feasible,
    "infeasible periods": lambda period: not period.is_feasible,
    "deals": lambda period: period.price is not None,
}


def sessions_invalidity(sessions: Sequence[SessionRecord]) -> str | None:
    """Return why the scores of ``sessions`` must not be read, if they must not."""
    periods = [period for session in sessions for period in session.periods]
    if not any(not period.is_lost for period in periods):
        return "nothing was scored"
    return too_many_unusable(sum(period.fault is not None for period in periods) / len(periods))


def _periods_survived(scored: Sequence[SessionRecord]) -> Estimate:
    """Return the mean with Student's interval, cut to what is possible; unknown where every session is alike."""
    lengths = [float(len(session.periods)) for session in scored]
    found = estimate_mean(lengths)
    if found.low is None or found.high is None or len(set(lengths)) == 1:
        return found._replace(low=None, high=None)
    return found._replace(low=max(1.0, found.low), high=min(float(scored[0].horizon), found.high))


def _survival(sessions: Sequence[SessionRecord]) -> Estimate:
    """Return the Kaplan-Meier curve at the horizon; undefined where no session was seen to get there or be ruined."""
    ended = [session for session in sessions if session.end is not SessionEnd.OPEN]
    curve, n = survival_curve(ended), sum(session.is_scored for session in ended)
    return curve[-1]._replace(n=n) if n and len(curve) > ended[0].horizon else UNDEFINED._replace(n=n)


def _median_time(ruined: Sequence[int], num_sessions: int) -> Estimate:
    """Return the first period by which half of the sessions are ruined, with the binomial interval of its rank.

    A bound that would be a session that survived is undefined, because its time is not known.
    """
    if 2 * len(ruined) < num_sessions or num_sessions == 0:
        return UNDEFINED._replace(n=num_sessions)
    times, middle = sorted(ruined), math.ceil(num_sessions / 2)
    half = 1.959964 * math.sqrt(num_sessions) / 2
    low, high = math.floor(num_sessions / 2 - half), math.ceil(num_sessions / 2 + half) + 1
    bounds = [float(times[rank - 1]) if 1 <= rank <= len(times) else None for rank in (low, high)]
    return Estimate(float(times[middle - 1]), bounds[0], bounds[1], num_sessions)


def lower_tail(balances: Sequence[float]) -> Estimate:
    """Return the mean of the worst quarter, rounded up.

    With ``q`` the one after the worst ``k``, it is the mean over all ``n`` of ``q + (n / k) min(x - q, 0)``,
    whose interval it gets: that ``q`` itself varies falls out to first order.
    """
    n, ordered = len(balances), np.sort(np.array(balances, dtype=np.float64))
    if n == 0:
        return UNDEFINED
    num_worst = math.ceil(TAIL_SHARE * n)
    edge = ordered[min(num_worst, n - 1)]
    found = estimate_mean(edge + n / num_worst * np.minimum(ordered - edge, 0.0), few=MIN_TAIL_SESSIONS)
    return found._replace(estimate=float(ordered[:num_worst].mean()))


def _period_metrics(periods: Sequence[PeriodRecord]) -> dict[str, Estimate]:
    """Return what the single negotiations came to, clustered by session."""
    clusters = np.array([period.session for period in periods], dtype=np.intp)
    feasible = np.array([period.is_feasible for period in periods], dtype=float)
    deal = np.array([period.price is not None for period in periods], dtype=float)
    surplus = np.array([period.surplus_share or 0.0 for period in periods])
    rounds = np.array([period.rounds for period in periods], dtype=float)
    profit = np.array([period.profit_cents for period in periods], dtype=float)
    best = np.array([period.best_cents or 0 for period in periods], dtype=float)
    return {
        "se_plus": estimate_ratios([Ratio(surplus * feasible, feasible)], clusters),
        "regret_rate": regret_rate(profit, best, feasible, clusters),
        "deal_profit": estimate_ratios([Ratio(profit * deal / 100, deal)], clusters),
        "agreement_rate": estimate_share(deal, feasible, clusters),
        "walkaway_correctness": estimate_share(1 - deal, 1 - feasible, clusters),
        "rounds": estimate_ratios([Ratio(rounds, np.ones(len(periods)))], clusters),
    }
