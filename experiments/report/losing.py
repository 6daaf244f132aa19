"""How the surplus of feasible episodes was lost, from the records alone, and the episodes that cost most, told.

In a feasible episode the share ``u / zopa`` was taken and ``1 - u / zopa`` lost; the loss belongs to the way in which
the episode ended. So the mean losses of all ways and SE+ add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.report.viewer import select_episodes, surplus_lost
from terms.estimates import Estimate, Ratio, estimate_ratios
from terms.records import EpisodeRecord
from terms.types import Role, Termination

TAKEN = "taken"
_EARLY, _LATE = "agreeing with rounds to spare", "agreeing in the last round"
WAYS = (
    _EARLY,
    _LATE,
    "offering more than was needed",
    "leaving where a deal was possible",
    "talks the other side left",
    "running out of rounds",
    "replies that were no move",
)
"""How surplus is lost, in words that follow "the loss is"."""
_ENDINGS = {
    Termination.COUNTERPART_ACCEPT: WAYS[2],
    Termination.AGENT_REJECT: WAYS[3],
    Termination.COUNTERPART_WALK: WAYS[4],
    Termination.ROUND_LIMIT: WAYS[5],
}
_SHARES = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}
_NEAR = 0.02


class ToldEpisode(NamedTuple):
    """One episode in a line: whose and which, what was lost in price units (and dollars, if for money), and how."""

    agent: str
    scenario_id: str
    lost: float
    words: str
    dollars: float | None = None


def way_of(record: EpisodeRecord) -> str:
    """Return the way in which a feasible episode ended."""
    if record.termination is Termination.AGENT_ACCEPT:
        return _EARLY if record.rounds_played < record.horizon else _LATE
    return _ENDINGS.get(record.termination, WAYS[6])


def loss_parts(records: Sequence[EpisodeRecord]) -> dict[str, Estimate]:
    """Return SE+ as :data:`TAKEN` and the mean share of the surplus lost in each of :data:`WAYS`."""
    scored = [record for record in records if record.is_feasible and not record.is_excluded]
    clusters = np.unique([record.scenario_id for record in scored], return_inverse=True)[1].astype(np.intp)
    taken = np.array([record.utility / record.zopa for record in scored])
    ways, one = np.array([way_of(record) for record in scored]), np.ones(len(scored))
    values = {TAKEN: taken, **{way: np.where(ways == way, 1.0 - taken, 0.0) for way in WAYS}}
    return {name: estimate_ratios([Ratio(value, one)], clusters) for name, value in values.items()}


def main_loss(parts: dict[str, Estimate]) -> str:
    """Say what most of the loss was, and how much of it; "" where nothing was lost."""
    losses = {way: parts[way].estimate or 0.0 for way in WAYS}
    whole, worst = sum(losses.values()), max(losses, key=lambda way: losses[way])
    return f"{share_words(losses[worst] / whole)} is {worst}" if whole > 0 else ""


def share_words(share: float) -> str:
    """Return a share as one says it: ``three quarters``, ``88 %``."""
    near = min(_SHARES, key=lambda known: abs(known - share))
    return _SHARES[near] if abs(near - share) <= _NEAR else f"{100 * share:.0f} %"


def costliest(
    records: Sequence[EpisodeRecord], num: int, limit: int, dollars_lost: Mapping[str, float] | None = None
) -> list[ToldEpisode]:
    """Return the ``num`` scored episodes that lost most, among the ``limit`` that a page keeps.

    By dollars where they are given, else by the share of the price range.
    """
    shown = [record for record in select_episodes(records, limit) if not record.is_excluded]
    if dollars_lost:
        shown.sort(key=lambda record: -dollars_lost.get(record.scenario_id, 0.0))
    told = ((record, surplus_lost(record) or 0.0) for record in shown[:num])
    return [ToldEpisode(record.agent, record.scenario_id, lost, _tell(record)) for record, lost in told if lost > 0]


def _tell(record: EpisodeRecord) -> str:
    is_buyer = record.agent_role is Role.BUYER
    what = f" {record.product_name}" if record.product_name else ""
    whom = f"{'bought' if is_buyer else 'sold'}{what}" if record.is_agreement else f"no deal{what and ' on' + what}"
    when = f"round {record.rounds_played} of {record.horizon}"
    other = f"{'an' if record.family[0] in 'aeiou' else 'a'} {record.family} {'seller' if is_buyer else 'buyer'}"
    if record.price is None:
        worth = f"a deal worth {record.zopa:,.2f} was there" if record.is_feasible else ""
        return f"{whom} with {other}, {_ended(record)} in {when}: {worth}"
    hidden = record.counterpart_type.reservation_price
    at = f"{whom} at {record.price:,.2f} {'from' if is_buyer else 'to'} {other}"
    if not record.is_feasible:
        return f"{at}, past its own limit of {record.agent_type.reservation_price:,.2f}, in {when}"
    return f"{at} that would have {'taken' if is_buyer else 'paid'} {hidden:,.2f}, {_ended(record)} in {when}"


def _ended(record: EpisodeRecord) -> str:
    return {
        Termination.AGENT_ACCEPT: "accepted",
        Termination.COUNTERPART_ACCEPT: "its own offer taken",
        Termination.AGENT_REJECT: "left",
        Termination.COUNTERPART_WALK: "left by the other side",
        Termination.ROUND_LIMIT: "ended",
    }.get(record.termination, "no legal move")
