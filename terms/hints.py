"""The hint that every refusal of an unknown name ends with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'closest'?"``, or nothing if no allowed name is close.

    >>> did_you_mean("patiant", ["patient", "random"])
    "; did you mean 'patient'?"
    """
    close = difflib.get_close_matches(str(name), allowed, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
