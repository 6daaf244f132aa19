r"""The reference with one planted fault, played compiled on many episodes at once, each move reviewed as it is made.

Every arm that the diagnosis looks at is the play of one such agent: shown the posterior, an agent whose fault is in its
belief plays the reference; so does the planner on the beliefs of an agent whose fault is elsewhere. A fault of belief
is a tilt of the reservation's law, so what :func:`oracle.beliefs.tilt` makes of the means it states is that belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from oracle.batch_game import BatchGame, pool_of
from oracle.batch_values import BatchValues, from_canonical, to_canonical
from oracle.beliefs import tilt
from oracle.interventions import told_regime_and_family
from oracle.kernels.paths import decide_once
from oracle.kernels.planning import CompiledPlanner, State, offer_values
from oracle.planner import ACCEPT, OFFER, REFUSE, FittedAgent
from oracle.posterior import Posterior, stated_belief
from oracle.prior import SCALE, Knowledge, Seat, TypeGroup, column_groups
from oracle.shipped import values_for
from terms.aliases import Floats
from terms.scenario import Scenario
from terms.types import Family, Role

_DECISIONS = {ACCEPT: 1, OFFER: 0, REFUSE: 2}
"""What :class:`oracle.batch_game.BatchGame` calls the planner's moves."""


class Fault(NamedTuple):
    """A kind of :data:`tests.bench.planted_faults.PLANTED` and its dose."""

    kind: str
    dose: float


class Played(NamedTuple):
    """What an agent did on n episodes: its moves (rows of :class:`oracle.losses.MoveTable`), and what it earned."""

    moves: Floats
    utility: Floats


def play_planted(scenarios: Sequence[Scenario], fault: Fault, *, is_swapped: bool = False, seed: int = 0) -> Played:
    """Play ``scenarios``, all of one regime and family; ``is_swapped`` plays the reference on the agent's beliefs."""
    knowledge = told_regime_and_family(scenarios[0])
    fitted = values_for(knowledge)
    planner = FittedAgent(fitted).planner()
    n = len(scenarios)
    game, everyone = BatchGame(pool_of(scenarios), n), np.arange(n)
    exact = BatchValues(game, fitted)
    misled = BatchValues(_Misread(game, fault, seed), fitted) if fault.kind.startswith("cues") else None  # type: ignore[arg-type]
    rng = np.random.default_rng([seed, list(Family).index(scenarios[0].family)])
    agent = _Agent(fault, planner, n, rng, knowledge, is_swapped)
    game.begin(everyone, everyone)
    for beliefs in filter(None, (exact, misled)):
        beliefs.begin(everyone)
    rows: list[tuple[float, ...]] = []
    while game.running.any():
        live = np.flatnonzero(game.running)
        decision, price = np.zeros(n, dtype=np.int64), np.zeros(n)
        for i in live:
            state = exact.state(i)
            scale = (int(game.episodes.sign[i]), float(game.episodes.price_min[i]), float(game.episodes.price_max[i]))
            kind, offer, row = agent.move(i, state, state if misled is None else misled.state(i), scale)
            rows.append((i, state.round, *row))
            decision[i], price[i] = _DECISIONS[kind], float(from_canonical(offer, *scale))
        game.step(decision, price)
        for beliefs in filter(None, (exact, misled)):
            beliefs.step(live)
    return Played(np.array(rows, dtype=np.float64), game.utility.copy())


@dataclass(eq=False)
class _Agent:
    """Moves in every episode of a batch, and says of each move what it cost."""

    fault: Fault
    planner: CompiledPlanner
    num: int
    rng: np.random.Generator
    knowledge: Knowledge
    is_swapped: bool

    def __post_init__(self) -> None:
        kind, dose = self.fault
        self._anchors = np.full(self.num, np.nan)
        self._is_wrong_role = self.rng.random(self.num) < (dose if kind == "wrong role" else 0.0)
        nets = self.planner.nets
        self._mine = self.planner
        if kind == "hasty":
            self._mine = self.planner._replace(nets=nets._replace(w3=nets.w3 * dose, b3=nets.b3 * dose))

    def move(
        self, i: int, exact: State, misled: State, scale: tuple[int, float, float]
    ) -> tuple[int, float, tuple[float, float, bool, bool]]:
        """Return the move at place ``i`` (kind, canonical price), and what of its review follows its round."""
        kind, price, value = decide_once(exact, self.planner)
        believed = self._believes(i, exact, misled, scale)
        mine = (kind, price, value)
        if believed is not exact or self._mine is not self.planner:
            mine = decide_once(self._clock(believed), self._mine)
        elif self.fault.kind in ("short horizon", "patient") and not self.is_swapped:
            mine = decide_once(self._clock(exact), self.planner)
        done = mine if self.is_swapped else self._writes(i, exact, mine, scale)
        cost = 0.0 if done[:2] == (kind, price) else max(value, 0.0) - self._worth(exact, done)
        belief_cost = cost if believed is not exact else 0.0
        return done[0], done[1], (cost / SCALE, belief_cost / SCALE, _is_blunder(done, exact), True)

    def _worth(self, state: State, move: tuple[int, float, float]) -> float:
        kind, price, _ = move
        if kind == ACCEPT:
            return state.own - state.standing
        if kind == REFUSE:
            return 0.0
        out = np.empty(1)
        offer_values(np.array([price]), state, self.planner, out)
        return float(out[0])

    def _believes(self, i: int, exact: State, misled: State, scale: tuple[int, float, float]) -> State:
        kind, dose = self.fault
        if kind in ("too strong", "too weak"):
            return tilted(exact, mean_of(exact) + (dose if kind == "too strong" else -dose))
        if kind == "anchored" and exact.opened:
            if np.isnan(self._anchors[i]):
                self._anchors[i] = mean_of(exact)
            return tilted(exact, (1 - dose) * mean_of(exact) + dose * self._anchors[i])
        if kind.startswith("cues"):
            return self._as_stated(exact, misled, scale) if self.is_swapped else misled
        return exact

    def _as_stated(self, exact: State, misled: State, scale: tuple[int, float, float]) -> State:
        """Return what the diagnosis takes the agent to believe, which has stated the means of ``misled``."""
        stated = stated_belief(_posterior(misled, self.knowledge, self.planner, scale))
        weights = tilt(_posterior(exact, self.knowledge, self.planner, scale), stated).weights
        return exact._replace(weights=np.ascontiguousarray(weights))

    def _clock(self, state: State) -> State:
        kind, dose = self.fault
        last = self.planner.model.rules.last_answered
        if kind == "patient":
            return state._replace(round=max(1, min(state.round, last) - int(dose)))
        if kind != "short horizon":
            return state
        return state._replace(round=max(state.round, last - int(dose) + 1))

    def _writes(
        self, i: int, state: State, move: tuple[int, float, float], scale: tuple[int, float, float]
    ) -> tuple[int, float, float]:
        kind, price, value = move
        if self._is_wrong_role[i]:
            if state.opened and state.standing >= state.own:
                return ACCEPT, state.standing, value
            return OFFER, min(SCALE, 2 * state.own - (price if kind == OFFER else state.own - 5)), value
        if self.fault.kind == "tremble" and kind == OFFER:
            return OFFER, min(state.own, max(0.0, price + self.fault.dose * self.rng.standard_normal())), value
        if self.fault.kind == "misread numbers" and self.rng.random() < self.fault.dose:
            if kind == OFFER and self.rng.random() < 0.5:
                return OFFER, float(to_canonical(_swapped_digits(from_canonical(price, *scale)), *scale)), value
            if state.opened:
                read = float(to_canonical(_swapped_digits(from_canonical(state.standing, *scale)), *scale))
                if state.own - read >= max(value, 0.0):
                    return ACCEPT, state.standing, value
        return move


class _Misread(SimpleNamespace):
    """A game whose cues are hidden from the belief, or read backwards in that share of rounds."""

    def __init__(self, game: BatchGame, fault: Fault, seed: int) -> None:
        self._game, self._fault = game, fault
        self._is_backwards = np.random.default_rng([seed, 1]).random((game.pool.arrays.horizon + 2,)) < fault.dose
        self.pool = replace(game.pool, shows_cues=game.pool.shows_cues and fault.kind != "cues ignored")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    @property
    def talks(self) -> Any:
        talks = self._game.talks
        turned = (talks.cues >= 0) & self._is_backwards[talks.round][:, None] & bool(self.pool.cue_rules[0, 0])
        return talks._replace(cues=np.where(turned, 2 - talks.cues, talks.cues))


def middles_of(state: State) -> Floats:
    """Return the middle of every reservation cell, the atom's last."""
    return np.append((state.low + np.maximum(state.low, np.minimum(state.high, state.standing))) / 2, state.standing)


def mean_of(state: State) -> float:
    """Return the mean of the counterpart's reservation, canonical."""
    return float(state.weights.sum(axis=(1, 2)) @ middles_of(state) / state.weights.sum())


def tilted(state: State, goal: float) -> State:
    """Return the belief closest to the state's whose mean reservation is ``goal``, by Newton steps inside a bracket."""
    by_row = state.weights.sum(axis=(1, 2))
    held = by_row > 0
    x, logs = middles_of(state)[held], np.log(by_row[held])
    low, width = x.min(), np.ptp(x)
    if width < 1e-9:
        return state
    z, target = (x - low) / width, float(np.clip((goal - low) / width, 1e-6, 1 - 1e-6))
    t, bracket, probs = 0.0, [-1e7, 1e7], by_row[held]
    for _ in range(100):
        tilt_logs = logs + t * z
        probs = np.exp(tilt_logs - tilt_logs.max())
        probs /= probs.sum()
        mean = float(probs @ z)
        if abs(mean - target) < 1e-11:
            break
        bracket[int(mean > target)] = t
        step = t + (target - mean) / max(float(probs @ z**2) - mean**2, 1e-9)
        t = step if bracket[0] < step < bracket[1] else sum(bracket) / 2
    factors = np.zeros(len(by_row))
    factors[held] = probs / by_row[held]
    return state._replace(weights=state.weights * factors[:, None, None])


def _swapped_digits(price: Floats) -> Floats:
    whole = np.clip(np.rint(price), 0, 99)
    return np.asarray(whole % 10 * 10 + whole // 10)


def _is_blunder(move: tuple[int, float, float], state: State) -> bool:
    kind, price, _ = move
    if kind == REFUSE or (kind == OFFER and not state.opened):
        return bool(kind == OFFER and price > state.own + 1e-9)
    dearest = max([state.standing, *state.offers[-1:]])
    return bool(price > state.own + 1e-9 or (kind == OFFER and price > dearest + 1e-9))


def _posterior(
    state: State, knowledge: Knowledge, planner: CompiledPlanner, scale: tuple[int, float, float]
) -> Posterior:
    sign, low, high = scale
    seat = Seat(Role.BUYER if sign > 0 else Role.SELLER, float(from_canonical(state.own, *scale)), low, high)
    standing = state.standing if state.opened else None
    groups = tuple(TypeGroup(*each) for each in column_groups(knowledge))
    urgency = planner.model.columns.urgency
    return Posterior(
        knowledge,
        seat,
        state.low,
        state.high,
        urgency,
        groups,
        state.weights,
        state.round,
        standing,
        tuple(state.offers),
    )
