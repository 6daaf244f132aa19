"""The moves of one talk beside the reference's: what could be believed before each, and what each was worth.

``worth``, ``best`` and ``told`` are fen a unit, on the exact belief before the move: of the move, of the reference's,
and before the first bid, of a
buyer who knew the supplier's type. A talk that was left or ran out gave up nothing by that, as far as this
talk can tell, because the goods may be had elsewhere; so its last entry is its last bid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from commerce.config import Rules
from commerce.types import World
from oracle.store.floor_belief import FloorBelief, follow_pair, heard_manner, pair_prior
from oracle.store.talk_history import StoreTalk
from oracle.store.talk_plan import TalkSeat, equal_types, tabulate_plans


class TalkMove(NamedTuple):
    """One move: a bid in fen, or ``None`` for accepting the standing price; ``standing`` is ``None`` before a quote.

    ``types`` stand for the belief (mean, the 5 % and 95 % quantiles of the floor in fen beside it).
    """

    seat: TalkSeat
    bid: int | None
    reference_bid: int | None
    worth: float
    best: float
    told: float
    floor_mean: float
    floor_low: float
    floor_high: float
    types: FloorBelief

    @property
    def cost(self) -> float:
        """What the move gave up, fen a unit."""
        return self.best - self.worth


def review_pairs(
    world: World, rules: Rules, talks: Sequence[StoreTalk], wanted: Iterable[int]
) -> Iterator[tuple[StoreTalk, list[TalkMove]]]:
    """Yield the moves of the talks whose numbers are ``wanted``; all of ``talks`` count as evidence."""
    chosen, pairs = set(wanted), defaultdict(list)
    for talk in talks:
        pairs[talk.record.supplier, talk.record.sku].append(talk)
    for (supplier, sku), told in pairs.items():
        last = max((place for place, talk in enumerate(told) if talk.number in chosen), default=-1)
        if last < 0:
            continue
        prior = pair_prior(world, rules, int(world.skus.category[sku]), int(world.skus.reference_fen[sku]))
        steps = follow_pair(prior, [talk.heard for talk in told[: last + 1]], heard_manner(world, supplier))
        for talk in told[: last + 1]:
            beliefs = [next(steps)[2] for _ in range(len(talk.heard.answers) + 1)]
            if talk.number in chosen:
                yield talk, _moves(talk, prior.reference, beliefs)


def _moves(talk: StoreTalk, reference: int, beliefs: Sequence[FloorBelief]) -> list[TalkMove]:
    standing: int | None = None
    bids: tuple[int, ...] = ()
    moves = []
    for place, answer in enumerate(talk.heard.answers):
        seat = TalkSeat(reference, standing, bids, talk.rounds_left[place])
        moves.append(_review(seat, beliefs[place], answer.bid))
        bids = (*bids, answer.bid)
        standing = answer.bid if answer.quote is None else answer.quote
    if talk.took_standing:
        seat = TalkSeat(reference, standing, bids, talk.rounds_left[-1])
        moves.append(_review(seat, beliefs[-1], None))
    return moves


def _review(seat: TalkSeat, belief: FloorBelief, bid: int | None) -> TalkMove:
    types = equal_types(belief)
    table = tabulate_plans(types, seat, bid)
    move, best = table.best()
    worth = table.of(None if bid is None else float(bid))
    low, high = belief.quantile(0.05), belief.quantile(0.95)
    reference_bid = None if move is None else int(move)
    told = best if table.told is None else max(best, table.told)
    return TalkMove(seat, bid, reference_bid, worth, best, told, belief.mean, low, high, types)
