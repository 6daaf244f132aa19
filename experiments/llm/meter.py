"""The spending meter: refuses a call before it is sent if it could pass the ceiling. States: :mod:`.spending`."""

from __future__ import annotations

import threading

from experiments.llm.errors import BudgetExceeded
from experiments.llm.spending import Settlement, Spending

FIRST_GUESS_MICROUSD = 10_000
"""One cent: what a call is taken to cost before any price has been seen."""


class Meter:
    """Counts spending for any number of threads and refuses what could pass the ceiling.

    Parameters
    ----------
    ceiling_microusd
        ``None`` for no ceiling.
    start
        What an earlier part of the run spent, read from its call logs.
    first_guess_microusd
        Reserved for a call while neither a price list nor an earlier call tells what one costs.

    Notes
    -----
    With a price list every reservation is an upper bound and the ceiling cannot be passed. Without one a call is taken
    to cost what the dearest call so far did; the calls in flight can then pass the ceiling, each by no more than it is
    dearer than that.
    """

    def __init__(
        self,
        ceiling_microusd: int | None = None,
        *,
        start: Spending | None = None,
        first_guess_microusd: int = FIRST_GUESS_MICROUSD,
    ) -> None:
        if ceiling_microusd is not None and ceiling_microusd < 0:
            raise ValueError(f"ceiling_microusd={ceiling_microusd} must not be negative; None is no ceiling")
        self._ceiling = ceiling_microusd
        self._first_guess = first_guess_microusd
        self._spending = start or Spending()
        self._changed = threading.Condition()

    @property
    def spending(self) -> Spending:
        """Totals at this moment."""
        with self._changed:
            return self._spending

    def reserve(self, upper_bound: int | None = None) -> int:
        """Set money aside for one attempt and return how much.

        While only attempts in flight stand in the way, wait for them: most cost less than was reserved.

        Raises
        ------
        BudgetExceeded
            If the attempt could pass the ceiling.
        """
        with self._changed:
            while True:
                held = upper_bound if upper_bound is not None else self._guess()
                if self._ceiling is None or self._spending.committed_microusd + held <= self._ceiling:
                    self._spending = self._spending.reserve(held)
                    return held
                if self._spending.num_reserved == 0:
                    raise BudgetExceeded(self._refusal(held))
                self._changed.wait()

    def settle(self, held: int, ended: Settlement) -> None:
        """Replace a reservation by how its attempt ended."""
        with self._changed:
            self._spending = self._spending.settle(held, ended)
            self._changed.notify_all()

    def _guess(self) -> int:
        return self._spending.largest_microusd if self._spending.num_settled else self._first_guess

    def _refusal(self, held: int) -> str:
        spent = self._spending
        return (
            f"the spending ceiling of {_dollars(self._ceiling or 0)} is reached: "
            f"{_dollars(spent.settled_microusd)} spent, "
            f"{_dollars(spent.unknown_held_microusd)} set aside for {spent.num_unknown} attempts of unknown cost, "
            f"and the next call may cost {_dollars(held)}"
        )


def _dollars(microusd: int) -> str:
    return f"${microusd // 1_000_000}.{microusd % 1_000_000:06d}"
