r"""What the agent sees, as a vector of numbers for learners.

Prices become gains: a price :math:`p` is :math:`s (r_A - p) / R`, what the agent would earn at it as a share of the
public range, so buyers and sellers and all price frames look alike. ``None`` and what has not happened yet are 0, each
with a flag of its own. The history features are those the counterpart's next answer will look at.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from terms.kernel import KernelParams

VECTOR_FIELDS = (
    "round / horizon",
    "agent buys",
    "agent opens",
    "own reservation above the best public price, share of R",
    "a counterpart price stands",
    "gain at the standing price",
    "gain at the counterpart's first price",
    "gain at the counterpart's price before the standing one",
    "an own offer was made",
    "gain at the last own offer",
    "mean step of the last own offers",
    "mean forward step of the last own offers",
    "the last own step was too small",
    "sentiment positive",
    "sentiment neutral",
    "sentiment negative",
    "posture concede",
    "posture hold",
    "posture pressure",
)
"""Entries of the vector in order; a hidden cue leaves its six flags at 0."""
VECTOR_SIZE = len(VECTOR_FIELDS)


def write_vector(  # noqa: PLR0913
    out: MutableSequence[float],
    seat: tuple[int, int, float, float, float],
    k: int,
    quotes: tuple[float, float, float],
    offer: float,
    past: tuple[float, float, float],
    cue: tuple[int, int],
    params: KernelParams,
) -> None:
    """Write what is seen in round ``k`` into ``out``, of length :data:`VECTOR_SIZE`.

    Parameters
    ----------
    out
        Where to write.
    seat
        ``(s, 1 if the agent opens, r_A, p_min, p_max)``.
    k
        Round, from 1.
    quotes
        The counterpart's first price, the one before the standing price, and the standing price; nan for none.
    offer
        The agent's last offer, nan for none.
    past
        Speed, magnitude and rigidity of the agent's offers so far (:func:`terms.kernel.history_features`).
    cue
        Places of sentiment and posture in their enumerations; -1 for a hidden cue.
    params
        Constants of the counterpart; only the public ones are read (R and K).
    """
    sign, agent_opens, own, low, high = seat
    first, previous, standing = quotes
    for i in range(19):  # a literal, because this is compiled as it stands
        out[i] = 0.0
    out[0] = k / params.horizon
    out[1] = 1.0 if sign > 0 else 0.0
    out[2] = agent_opens
    out[3] = (own - low if sign > 0 else high - own) / params.price_range
    if standing == standing:  # not nan
        out[4] = 1.0
        out[5] = sign * (own - standing) / params.price_range
        out[6] = sign * (own - first) / params.price_range
        out[7] = sign * (own - previous) / params.price_range
    if offer == offer:
        out[8] = 1.0
        out[9] = sign * (own - offer) / params.price_range
        out[10] = past[0]
        out[11] = past[1]
        out[12] = past[2]
    if cue[0] >= 0:
        out[13 + cue[0]] = 1.0
        out[16 + cue[1]] = 1.0
