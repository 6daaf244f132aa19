r"""How far the honest optimum can lie from what the planner earns.

With the fitted value ``U``, its lookahead ``Q`` and the one-step errors ``z_t = U(I_{t+1}) - Q_t(I_t, a_t)``, on
every path

.. math:: payoff - \sum_t z_t = U_1 + \sum_t [Q_t(I_t, a_t) - U_t(I_t)].

Three statements follow, and they are not of one kind:

* ``lower`` is a statistical certificate: the raw mean utility of the planner in the true game minus two standard
errors. It needs no property of ``U``.
* ``ceiling`` is proven: nobody earns more than the whole zopa. A caller may pass the clairvoyant's mean for a nearer
one. * ``dual_estimate`` is an **estimate** of the information relaxation dual ``E[U_1 + F_1]`` with type, price noise
and cues revealed,

  .. math:: F_k = \max_a [Q_k(I, a) - U_k(I) + s(a) F_{k+1}(I')],

  not a bound: the inner maximum is searched with a beam (which finds too little), offers lie on a grid, and ``E[z] =
  0`` holds up to quadrature and the belief grid. ``penalty_mean`` measures the last of these and must be zero within
  its error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.fitted import FittedValues
from oracle.kernels.planning import Planner, state_value
from oracle.planner import ACCEPT, OFFER, BayesAgent, BeliefTracker, Decision, decide, offer_value
from oracle.posterior import seat_of
from oracle.prior import build_prior
from terms import kernel
from terms.cues import concession_share, draw_cue
from terms.game import Game
from terms.kernel import STANCES, kernel_params
from terms.scenario import Scenario
from terms.types import Accept, Cue, Offer, Reject
from terms.types import Decision as Move

Floats = NDArray[np.float64]


class Mean(NamedTuple):
    """A mean over ``n`` independent episodes with its standard error."""

    value: float
    se: float
    n: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """The honest optimum of one slice, every number a share of the mean zopa.

    The module says what each one is: certificate, proven or estimate.

    ``value`` is the fitted value at the first decision, ``loss`` the policy's summed lookahead minus fitted value,
    ``inner`` the searched maximum of the same sum in the dual.
    """

    lower: float
    policy: Mean
    ceiling: float
    value: Mean
    loss: Mean
    inner: Mean
    dual_estimate: Mean
    penalty_mean: Mean
    mean_zopa: float

    @property
    def estimated_width(self) -> float:
        """Dual estimate minus ``value + loss``: the estimated distance between optimum and policy."""
        return self.inner.value - self.loss.value

    def width_parts(self) -> dict[str, float]:
        """Return what separates ``lower`` from ``dual_estimate``."""
        return {
            "sampling of the policy (two standard errors)": 2 * self.policy.se,
            "searched off-path errors of the fitted value": self.inner.value,
            "the policy's own lookahead losses": -self.loss.value,
            "mean penalty (luck, quadrature, belief grid)": -self.penalty_mean.value,
        }


class PathTerms(NamedTuple):
    """Terms of one episode in percent of R: utility, ``U_1``, summed ``Q - U`` on the policy's path."""

    utility: float
    value: float
    loss: float


def bracket(
    values: FittedValues,
    scenarios: Sequence[Scenario],
    *,
    num_dual: int = 0,
    beam: int = 12,
    ceiling: float | None = None,
) -> Bracket:
    """Bracket the honest optimum on ``scenarios``, independent draws of one slice of the fitted game.

    The first ``num_dual`` episodes also run the dual's inner search, with ``beam`` histories a round. ``ceiling`` is
    the clairvoyant's mean utility over the mean zopa, if known.
    """
    if not scenarios or num_dual > len(scenarios):
        raise ValueError(f"num_dual={num_dual} of {len(scenarios)} scenarios; allowed are 0 to all of at least one")
    planner = BayesAgent(values).planner()
    zopas = np.array([100 * max(each.zopa, 0.0) / each.price_range for each in scenarios])
    expected = np.array([_expected_zopa(values, each) for each in scenarios])
    scale = float(expected.mean())
    terms = np.array([policy_terms(values, planner, each) for each in scenarios])
    utility, value, loss = terms.T
    searched = np.array([dual_inner(values, planner, each, beam) for each in scenarios[:num_dual]])
    policy = _ratio(utility, zopas)
    return Bracket(
        lower=policy.value - 2 * policy.se,
        policy=policy,
        ceiling=1.0 if ceiling is None else ceiling,
        value=_ratio(value, expected),
        loss=_mean(loss / scale),
        inner=_mean(searched / scale),
        dual_estimate=_sum(_ratio(value, expected), _mean(searched / scale)),
        # The zopa's own luck is taken out: it has mean zero given the own reservation and is most of the noise.
        penalty_mean=_mean((utility - value - loss - policy.value * (zopas - expected)) / scale),
        mean_zopa=scale,
    )


def policy_terms(values: FittedValues, planner: Planner, scenario: Scenario) -> PathTerms:
    """Play the planner in the true game and add up its terms."""
    game = Game(scenario)
    tracker = _start(values, planner, game)
    first, loss = 0.0, 0.0
    while True:
        tracker.see(game.observe())
        decision = decide(tracker, planner)
        fitted = _fitted_value(tracker, planner, decision)
        first = fitted if tracker.round == 1 else first
        loss += _lookahead_of(decision, tracker, planner) - fitted
        game.step(_action(decision, tracker))
        if game.is_over:
            break
    unit = 100 / scenario.price_range
    return PathTerms(game.record("bayes").utility * unit, first, loss)


def dual_inner(values: FittedValues, planner: Planner, scenario: Scenario, beam: int) -> float:
    """Return ``F_1`` found by a beam search over the agent's offers, in percent of R.

    Type, price noise and cues are those of the scenario; acceptance and walk-away enter through survival.
    """
    game = Game(scenario)
    tracker = _start(values, planner, game)
    tracker.see(game.observe())
    world = _World(scenario)
    nodes = [_Node(tracker, 0.0, 1.0)]
    best = -math.inf
    for k in range(1, planner.model.rules.horizon + 1):
        children: list[tuple[float, _Node, float, float]] = []
        for node in nodes:
            stop, offers = _terms(node.tracker, planner)
            best = max(best, node.gain + node.survival * stop)
            for price, term in offers:
                gain = node.gain + node.survival * term
                children.append((gain, node, price, node.survival * world.survival(price, node.tracker.offers, k)))
        children.sort(key=lambda child: -child[0])
        nodes = [
            _Node(world.respond(node.tracker, price, k), gain, survival)
            for gain, node, price, survival in children[:beam]
        ]
        # A path that has all but ended is worth its gain so far; what comes later has no weight.
        best = max([best, *(node.gain for node in nodes if node.survival < 1e-9)])
        nodes = [node for node in nodes if node.survival >= 1e-9]
    return best


class _Node(NamedTuple):
    tracker: BeliefTracker
    gain: float
    survival: float


def _terms(tracker: BeliefTracker, planner: Planner) -> tuple[float, list[tuple[float, float]]]:
    """Return the term of stopping now, and (price, term) of every offer on the grid."""
    decision = decide(tracker, planner)
    fitted = _fitted_value(tracker, planner, decision)
    gain = tracker.seat.own - tracker.standing if tracker.standing is not None else 0.0
    stop = max(gain, 0.0) - fitted
    if tracker.round > planner.model.rules.last_answered:
        return stop, []
    last = tracker.offers[-1] if tracker.offers else max(0.0, float(tracker.low[0]) - planner.step)
    ceiling = max(last, min(tracker.seat.own, tracker.standing or tracker.seat.own))
    count = int((tracker.seat.own - last) / planner.step)
    grid = tracker.seat.own - planner.step * np.arange(count, -1, -1.0)
    extra = [last] if decision.kind != OFFER else [last, decision.price]
    prices = np.unique(np.concatenate([grid[(grid >= last) & (grid <= ceiling)], extra]))
    return stop, list(zip(prices.tolist(), (offer_value(tracker, planner, prices) - fitted).tolist(), strict=True))


def _fitted_value(tracker: BeliefTracker, planner: Planner, decision: Decision) -> float:
    """Return ``U`` of the state. Before any price stands there is no net, and ``U`` is the lookahead itself."""
    if tracker.standing is None:
        return decision.value
    return float(state_value(tracker.state(), planner))


def _lookahead_of(decision: Decision, tracker: BeliefTracker, planner: Planner) -> float:
    if decision.kind != OFFER:
        return decision.value
    # The search may have stopped before weighing cues; the term needs the full lookahead.
    return float(offer_value(tracker, planner, np.array([decision.price]))[0]) if tracker.standing else decision.value


def _action(decision: Decision, tracker: BeliefTracker) -> Accept | Offer | Reject:
    if decision.kind == ACCEPT:
        return Accept()
    if decision.kind == OFFER:
        return Offer(tracker.seat.from_canonical(decision.price))
    return Reject()


def _start(values: FittedValues, planner: Planner, game: Game) -> BeliefTracker:
    return BeliefTracker.start(values.knowledge, planner.model, seat_of(game.observe()), values.grid)


class _World:
    """The revealed counterpart of one scenario, in canonical prices."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.params = kernel_params(scenario.config, scenario.family, scenario.counterpart_type.stance, 100.0)
        self.seat = seat_of(Game(scenario).observe())
        self.reservation = self.seat.to_canonical(scenario.counterpart_type.reservation_price)

    def survival(self, offer: float, earlier: Sequence[float], k: int) -> float:
        """Return the probability that the talk goes on after ``offer``."""
        features = kernel.history_features(earlier, 1, self.params)
        gain = kernel.favourability(offer, self.reservation, 1, 100.0)
        accepts = kernel.accept_prob(gain, self.scenario.counterpart_type.urgency, k, features, self.params)
        return (1 - accepts) * (1 - kernel.walk_prob(gain, k, self.params))

    def respond(self, tracker: BeliefTracker, offer: float, k: int) -> BeliefTracker:
        """Return the tracker after ``offer`` has survived and the revealed luck has answered."""
        price = self._price(tracker, k)
        after = tracker.copy()
        after.take_answer(offer, price, self._cue(price, tracker, k))
        return after

    def _price(self, tracker: BeliefTracker, k: int) -> float:
        scenario, hidden = self.scenario, self.scenario.counterpart_type
        if tracker.standing is None:
            noise = scenario.sign * scenario.luck.opening_noise * self.params.opening_sd
            scale = kernel.opening_scale(hidden.urgency, self.params)
            return kernel.opening_price(self.reservation, 100.0, scenario.harshness, scale, noise, 1)
        rate = kernel.concession_rate(
            hidden.urgency, kernel.history_features(tracker.offers, 1, self.params), self.params
        )
        noise = scenario.sign * scenario.luck.responses[k - 1].price * self.params.noise_sd
        return kernel.counter_offer(tracker.standing, self.reservation, rate, noise, 1)

    def _cue(self, price: float, tracker: BeliefTracker, k: int) -> Cue:
        scenario = self.scenario
        return draw_cue(
            Move.OFFER,
            concession_share(price, tracker.standing, self.reservation),
            math.sqrt(k / scenario.config.horizon),
            STANCES.index(scenario.counterpart_type.stance),
            channel=scenario.config.families[scenario.family].channel,
            config=scenario.config.cues,
            draw=scenario.luck.responses[k - 1].cue,
        )


def _mean(values: Floats) -> Mean:
    n = len(values)
    if n == 0:
        return Mean(math.nan, math.nan, 0)
    se = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return Mean(float(values.mean()), se, n)


def _ratio(numerator: Floats, denominator: Floats) -> Mean:
    share = float(numerator.mean() / denominator.mean())
    return _mean((numerator - share * denominator) / denominator.mean())._replace(value=share)


def _expected_zopa(values: FittedValues, scenario: Scenario) -> float:
    """Return ``E[(r_A - r)^+]`` given the own reservation, in percent of R."""
    seat = seat_of(Game(scenario).observe())
    prior = build_prior(values.knowledge, seat.own, values.grid, seat.role)
    return float(prior.weights.sum(axis=(1, 2)) @ np.maximum(seat.own - (prior.low + prior.high) / 2, 0.0))


def _sum(first: Mean, second: Mean) -> Mean:
    """Add two independent means; ``n`` is that of the second, the smaller sample."""
    return Mean(first.value + second.value, math.hypot(first.se, second.se), second.n)
