r"""What the end of a meeting tells about the supplier; the belief of the last move knows nothing of it.

With ``a_k`` and ``omega_k`` the probabilities that the supplier takes the last offer ``b`` and that it walks away from
it (:mod:`oracle.posterior`), the belief is multiplied by

.. math::
    a_k(t) \text{ if it took the offer}, \qquad (1 - a_k(t))\, \omega_k(t) \text{ if it left}, \qquad
    (1 - a_k(t)) (1 - \omega_k(t)) \text{ if the last offer was heard and time ran out}.

Without a deal the agent is paid its outside option. Where that depends on the regime, its cash tells whether a deal was
possible: :math:`r_B < r_A` or not. What the supplier says in closing is not used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracle.planner import BeliefTracker
from oracle.posterior import Posterior, answer_probs
from oracle.prior import SCALE, Seat, column_groups
from terms.aliases import Floats
from terms.records import EpisodeRecord
from terms.types import Decision, Termination

POINT = 1e-6
"""Half the width of the cell of a reservation that was seen: rounding in a price must not contradict it."""


class Closing(NamedTuple):
    """The end of a meeting: the canonical last ``offer`` and how it was answered, if it was the last word.

    ``is_feasible`` says whether a deal was possible, ``None`` where the agent is not shown it.
    """

    offer: float | None = None
    answer: Termination | None = None
    is_feasible: bool | None = None


def closing_of(record: EpisodeRecord, seat: Seat, *, is_last_heard: bool, tells_feasible: bool) -> Closing:
    """Return what the agent saw of the end of ``record``.

    Parameters
    ----------
    is_last_heard
        Whether the offer of the last round is answered before time runs out.
    tells_feasible
        Whether what no deal brings depends on the regime.
    """
    shown = record.is_feasible if tells_feasible and record.price is None else None
    answered = {Termination.COUNTERPART_ACCEPT, Termination.COUNTERPART_WALK}
    if is_last_heard:
        answered.add(Termination.ROUND_LIMIT)
    last = record.turns[-1] if record.turns else None
    if last is None or last.decision is not Decision.OFFER or last.price is None or record.termination not in answered:
        return Closing(is_feasible=shown)
    return Closing(seat.to_canonical(last.price), record.termination, shown)


def close_meeting(tracker: BeliefTracker, closing: Closing) -> tuple[Floats, Floats, Floats]:
    """Return cells ``low``, ``high`` (rows,) and ``weights`` (rows, groups, nodes), the atom as a last, narrow cell.

    What cannot be (rounding, at most) is passed over.
    """
    atom = SCALE if tracker.standing is None else tracker.standing
    low, weights = tracker.low, tracker.weights
    high = np.maximum(low, np.minimum(tracker.high, atom))
    if closing.is_feasible is not None:
        low, high, weights = _possible(low, high, weights, atom, tracker.seat.own, is_feasible=closing.is_feasible)
    heard = closing.offer is not None and closing.answer is not None
    weighed = weights * _likelihood(tracker, low, high, closing) if heard else weights
    low, high = np.append(low, atom - POINT), np.append(high, atom + POINT)
    if heard and closing.offer is not None and weighed.sum() > 0:
        weights = weighed
        if closing.answer is Termination.COUNTERPART_ACCEPT:
            high = np.maximum(low, np.minimum(high, closing.offer + POINT))
        elif closing.answer is Termination.COUNTERPART_WALK:
            low = np.minimum(high, np.maximum(low, closing.offer - POINT))
    return low, high, weights / weights.sum()


def _possible(
    low: Floats, high: Floats, weights: Floats, atom: float, own: float, *, is_feasible: bool
) -> tuple[Floats, Floats, Floats]:
    """Keep what lies below the own reservation if a deal was possible, else what lies above."""
    width = np.maximum(high - low, 1e-300)
    share = np.where(high > low, np.clip((own - low) / width, 0.0, 1.0), low < own)
    share = np.append(share, float(atom < own))
    kept = weights * (share if is_feasible else 1.0 - share)[:, None, None]
    if not kept.sum() > 0:
        return low, high, weights
    if is_feasible:
        return low, np.maximum(low, np.minimum(high, own)), kept
    return np.minimum(high, np.maximum(low, own)), high, kept


def _likelihood(tracker: BeliefTracker, low: Floats, high: Floats, closing: Closing) -> Floats:
    """Return the probability of the answer by (row, group, node), the atom last."""
    offer = closing.offer or 0.0
    nodes, groups = tracker.model.columns.urgency, column_groups(tracker.knowledge)
    belief = Posterior(
        tracker.knowledge, tracker.seat, low, high, nodes, groups, tracker.weights,
        round=tracker.round, standing=tracker.standing, offers=tuple(tracker.offers),
    )  # fmt: skip
    match closing.answer:
        case Termination.COUNTERPART_ACCEPT:
            return answer_probs(belief, offer + POINT)[0]
        case Termination.COUNTERPART_WALK:
            return answer_probs(belief, offer - POINT)[1]
    return answer_probs(belief, offer)[2]
