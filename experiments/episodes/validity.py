"""Whether a run's scores may be read: a silent or broken model is not a stubborn bargainer.

The share is of all trials, those lost to the provider included: ``unusable = (no reply + unreadable + lost) / trials``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from terms import EpisodeRecord
from terms.estimates import Estimate, estimate_share

MAX_UNUSABLE_SHARE = 0.05


def share_of_trials(records: Sequence[EpisodeRecord], hits: Sequence[bool]) -> Estimate:
    """Return a share of trials, provider failures included, so not through ``Columns``, which leaves them out."""
    names = np.array([record.scenario_id for record in records], dtype=str)
    clusters = np.unique(names, return_inverse=True)[1].astype(np.intp)
    return estimate_share(np.array(hits, dtype=float), np.ones(len(records)), clusters)


def unusable_share(records: Sequence[EpisodeRecord]) -> Estimate:
    """Return the share of trials that a reply without a move, or the provider, ended."""
    return share_of_trials(records, [record.fault is not None for record in records])


def invalidity(records: Sequence[EpisodeRecord], max_share: float = MAX_UNUSABLE_SHARE) -> str | None:
    """Say why the scores of these trials must not be read, or return ``None`` when they may be."""
    if all(record.is_excluded for record in records):
        return "nothing was scored"
    share = unusable_share(records).estimate
    return None if share is None else too_many_unusable(share, max_share)


def too_many_unusable(share: float, max_share: float = MAX_UNUSABLE_SHARE) -> str | None:
    """Say so when ``share`` of the trials ended without a usable reply and that is too many."""
    if share > max_share:
        return f"{share:.1%} of the trials ended without a usable reply, more than {max_share:.0%}"
    return None
