"""What an aid changes for an agent, on the worlds both met: the cause that it takes away.

With assets :math:`A` of the plain agent, :math:`A_r` reminded of its own best earlier quote and :math:`A_e` also held
to it, :math:`A_r - A` is what it lost by not remembering and :math:`A_e - A_r` what it lost by remembering and not
acting on it; a negative one says that the limit costs more than it saves. The two add up to :math:`A_e - A`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from commerce.aids import Aid
from experiments.stats.numerals import interval_text, number_text
from experiments.stats.paired import Comparison, Difference

CAUSES = {
    Aid.REMIND: "did not remember its own quote",
    Aid.ENFORCE: "remembered it and did not act on it",
}


class AidGain(NamedTuple):
    """What ``aided`` has more than ``plain``, with the 95 % interval over ``n`` shared worlds, and what that shows."""

    aided: str
    plain: str
    gain: float
    low: float | None
    high: float | None
    n: int
    cause: str | None

    def in_words(self) -> str:
        """Return the gain as a line."""
        why = f"  {self.cause}" if self.cause else ""
        between = interval_text(self.low, self.high)
        return f"{self.aided} - {self.plain}: {number_text(self.gain)} {between} n={self.n}{why}"


def aid_gains(comparison: Comparison) -> list[AidGain]:
    """Return what the aids changed: each against the agent without it, ``enforce`` against ``remind`` where it is."""
    pairs = {(each.first, each.second): each for each in comparison.differences}
    return [_gain(pairs, aided, plain, aid) for aided, plain, aid in _aided_pairs(comparison.ranking)]


def _aided_pairs(agents: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for agent in sorted(agents):
        plain, _, aid = agent.rpartition("+")
        reminded = f"{plain}+{Aid.REMIND}"
        if aid == Aid.ENFORCE and reminded in agents:
            yield agent, reminded, aid
        elif aid in set(Aid) and plain in agents:
            yield agent, plain, aid


def _gain(pairs: dict[tuple[str, str], Difference], aided: str, plain: str, aid: str) -> AidGain:
    cause = CAUSES.get(Aid(aid)) if aid == Aid.REMIND or plain.endswith(f"+{Aid.REMIND}") else None
    if (found := pairs.get((aided, plain))) is not None:
        return AidGain(aided, plain, found.estimate, found.low, found.high, found.n, cause)
    found = pairs[plain, aided]
    low, high = (None if bound is None else -bound for bound in (found.high, found.low))
    return AidGain(aided, plain, -found.estimate, low, high, found.n, cause)
