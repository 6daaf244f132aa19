r"""The reference in a talk with a supplier: what a plan of bids is worth on a belief, and the best plan.

A plan is a bid for every round that is left, after which the standing price is accepted if it is below the reference
price ``v``. Its worth per unit is :math:`E[(v - p) 1\{deal\}]`, type by type: with acceptance, walk and counter as in
:mod:`oracle.store.floor_belief`, the chance of each end is exact given the standing price, which is carried from round
to round as its expected value (so it is exact in the first round). Plans are: one bid in all rounds; or a first bid as
long as nobody walks away, then another. In those first rounds answers tell much, so a first bid is also worth what it
brings to a buyer who has learnt by then in which half of the belief the floor lies, and goes on as is best for that
half. Plans are made anew after every answer (open-loop feedback).

The reference's move is the first of the best plan. A given move is worth the best plan that begins with it, and costs
what it is worth less than the best of all, which is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from oracle.store.floor_belief import BUMP, COMMON, FloorBelief, answer_laws, quantile_rows
from terms.aliases import Floats

_NUM_TYPES = 32
_AIMS = (0.03, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Quantiles of the floor that the reference bids at in the end."""
_PROBES = (0.1, 0.5, 0.8)
"""Those that it may begin with, beside a bid below every floor."""


class TalkSeat(NamedTuple):
    """Where a buyer stands: reference price, standing price (fen; ``None`` before it is told), bids, rounds left."""

    reference: int
    standing: int | None
    bids: tuple[int, ...]
    rounds_left: int


@dataclass(frozen=True)
class PlanTable:
    """Every plan tried at one moment: its first bid and its worth in fen a unit, by type; acceptance comes last.

    Attributes
    ----------
    first : ndarray, shape (plans,)
        The first bid of each plan.
    worth : ndarray, shape (plans, types)
        Types are equally likely, from the lowest floor to the highest.
    told : float or None
        What a buyer who knew the type would be worth, before the first bid of a talk.
    accept : float or None
        What accepting the standing price is worth.
    """

    first: Floats
    worth: Floats
    told: float | None
    accept: float | None

    def best(self, weights: Floats | None = None) -> tuple[float | None, float]:
        """Return the reference's move on a belief (``weights`` of the types) and what it is worth on the exact one.

        The move is a bid in fen, or ``None`` for accepting the standing price.
        """
        means = self.worth.mean(axis=1)
        valued = means if weights is None else self.worth @ weights
        place = int(np.argmax(valued)) if len(valued) else -1
        if place < 0 or (self.accept is not None and self.accept >= valued[place]):
            return None, self.accept or 0.0
        return float(self.first[place]), self.of(self.first[place])

    def of(self, move: float | None) -> float:
        """Return what a move is worth: a first bid that was tried, or ``None`` for accepting."""
        if move is None:
            return self.accept or 0.0
        return float(self.worth[self.first == move].mean(axis=1).max())


def tabulate_plans(belief: FloorBelief, seat: TalkSeat, played: int | None = None) -> PlanTable:
    """Return the plans at one moment, those that begin with the bid ``played`` among them."""
    types = belief if len(belief.floor) == _NUM_TYPES else equal_types(belief)
    standing = np.maximum(types.opening, types.floor) if seat.standing is None else np.full(_NUM_TYPES, seat.standing)
    accept = None if seat.standing is None else float(seat.reference - seat.standing)
    if seat.rounds_left < 1:
        return PlanTable(np.zeros(0), np.zeros((0, _NUM_TYPES)), None, accept)
    plans = _plans(types, seat, played)
    worth = plan_worth(types, seat, standing.astype(float), plans[:, :, None])
    first = plans[:, 0]
    if _free_rounds(seat) > 0:
        first, worth = _told_apart(first, worth)
    if seat.bids:
        return PlanTable(first, worth, None, accept)
    free = min(_free_rounds(seat), seat.rounds_left)
    known = np.stack([_with_presses(types.floor, types.floor - 1, num, seat.rounds_left) for num in (0, free)])
    told = plan_worth(types, seat, standing.astype(float), known).max(axis=0)
    return PlanTable(first, worth, float(told.mean()), accept)


def equal_types(belief: FloorBelief) -> FloorBelief:
    """Return equally likely types that stand for the belief: quantiles in the order of the floor."""
    rows = quantile_rows(belief.weights, (np.arange(_NUM_TYPES) + 0.5) / _NUM_TYPES)
    names = ("floor", "opening", "price_range", "urgency", "params")
    chosen = {name: getattr(belief, name)[rows] for name in names}
    return replace(belief, **chosen, weights=np.full(_NUM_TYPES, 1 / _NUM_TYPES))


def _free_rounds(seat: TalkSeat) -> int:
    """Return how many bids no supplier walks away from."""
    return max(0, COMMON.walk_round - 2 - len(seat.bids))


def _with_presses(aim: Floats, press: Floats, num: int, rounds: int) -> Floats:
    return np.stack([press] * num + [aim] * (rounds - num))


def _plans(types: FloorBelief, seat: TalkSeat, played: int | None) -> Floats:
    floors, rounds = types.floor, seat.rounds_left  # ascending
    aims = _quantiles(floors, _AIMS)
    first = {max(1.0, float(np.floor(floors[0]) - 1)), *_quantiles(floors, _PROBES)}
    if played is not None:
        first.add(float(played))
    rows = [np.full(rounds, aim) for aim in aims]
    num = min(max(1, _free_rounds(seat)), rounds)
    for bid in first:
        rows += [_with_presses(aim, np.full_like(aim, bid), num, rounds) for aim in aims]
    return np.unique(np.stack(rows), axis=0)


def _quantiles(floors: Floats, shares: Sequence[float]) -> Floats:
    return np.unique(np.ceil(floors[[min(_NUM_TYPES - 1, int(share * _NUM_TYPES)) for share in shares]]))


def _told_apart(first: Floats, worth: Floats) -> tuple[Floats, Floats]:
    """Add for each first bid the plan that goes on as best for the half the floor turned out to lie in."""
    half = _NUM_TYPES // 2
    rows, bids = [], np.unique(first)
    for bid in bids:
        own = worth[first == bid]
        low, high = own[:, :half], own[:, half:]
        rows.append(np.concatenate([low[np.argmax(low.mean(axis=1))], high[np.argmax(high.mean(axis=1))]]))
    return np.concatenate([first, bids]), np.concatenate([worth, np.stack(rows)])


def plan_worth(types: FloorBelief, seat: TalkSeat, standing: Floats, plans: Floats) -> Floats:
    """Return what each plan is worth to each type, fen a unit.

    Parameters
    ----------
    types
        N types; their weights are not used.
    standing : ndarray, shape (N,)
        The standing price by type.
    plans : ndarray, shape (P, T, N) or (P, T, 1)
        A bid for each of the T rounds that are left.

    Returns
    -------
    ndarray, shape (P, N)
    """
    v, takes = float(seat.reference), types.rules.counter_below_bid == "take_bid"
    num_plans, rounds = plans.shape[:2]
    past = np.array(seat.bids, dtype=float)[:, None, None]
    ahead = np.moveaxis(plans, 1, 0)
    said = np.concatenate([np.broadcast_to(past, (len(seat.bids), *ahead.shape[1:])), ahead])
    price = np.broadcast_to(standing, (num_plans, len(standing)))
    alive: Floats = np.ones_like(price)
    worth: Floats = np.zeros_like(price)
    for step in range(rounds):
        so_far = said[: len(seat.bids) + step + 1]
        bid = so_far[-1]
        accept, walk, rate, noise = answer_laws(types, so_far)
        centre = price - rate * (price - types.floor)
        low = np.maximum(types.floor, bid)
        upto = np.where(bid >= types.floor, ndtr((bid - centre) / noise), 0.0)
        upto = np.where(bid >= price, 1.0, upto)
        above = np.where(bid >= price, 0.0, _excess(low, price, centre, noise))  # E[(y - low)+], y the counter
        if takes:
            taken = np.where(bid >= price, 1.0, accept + (1 - accept) * (1 - walk) * upto)
            after = (1 - accept) * (1 - walk) * (1 - upto)
            after = np.where(bid >= price, 0.0, after)
            counter = low + above / np.maximum(np.where(bid >= types.floor, 1 - upto, 1.0), 1e-12)
        else:
            taken, after = accept, (1 - accept) * (1 - walk)
            counter = upto * np.minimum(bid + BUMP * types.price_range, price) + (1 - upto) * low + above
        worth = worth + alive * taken * (v - bid)
        alive, price = alive * after, np.minimum(counter, price)
    at_the_end: Floats = alive * np.maximum(v - price, 0.0)
    worth += at_the_end
    return worth


def _excess(low: Floats, high: Floats, centre: Floats, noise: Floats) -> Floats:
    """Return ``E[clip(Z, low, high) - low]`` for a normal ``Z``."""
    return noise * (_loss((low - centre) / noise) - _loss((high - centre) / noise))


def _loss(t: Floats) -> Floats:
    """Return ``E[(T - t)+]`` for a standard normal ``T``."""
    loss: Floats = np.exp(-t * t / 2) / np.sqrt(2 * np.pi) - t * ndtr(-t)
    return loss


def best_next_bid(belief: FloorBelief, seat: TalkSeat) -> tuple[int | None, float]:
    """Return the reference's move (a bid in fen, ``None`` to accept the standing price) and its worth a unit in fen."""
    move, worth = tabulate_plans(belief, seat).best()
    return None if move is None else int(move), worth
