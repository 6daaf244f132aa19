"""What somebody sees who watches a plan being carried out: the store each evening, and what was posted since."""

from __future__ import annotations

from typing import Protocol

from commerce.ledger import Batch
from commerce.state import YearState


class Watch(Protocol):
    """Watches a year; it changes nothing."""

    def evening(self, state: YearState) -> None:
        """See the store once all acts of a day are done, and before the daily step or the end."""

    def posted(self, batches: list[Batch]) -> None:
        """See all postings since the last time."""
