"""Another merchant takes over a played year on the morning of a day, on the same draws.

The calls of the year are made again up to the one that brings the morning (if that call acts as well, because closing
time came first, it is carried out), and then somebody else goes on. All draws are keyed by what they are for, so the
successor meets the customers, returns and delays that the year had in store, and one that decides the same gets the
same year to the last byte. States are kept every two weeks on the way, so that the next branch need not begin at the
start; they change nothing else.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from commerce.decisions import Decisions
from commerce.money import to_yuan
from commerce.tools import TOOLS
from commerce.tools.arguments import validate
from commerce.tools.handling import Desk
from commerce.tools.pages import told
from commerce.year import Made, Past, Result, Year

SNAPSHOT_DAYS = 14
LOOKS = (
    "list_products", "market_search", "supplier_search", "check_balance", "check_store_status", "check_warehouse",
    "trace_return_sources",
)  # fmt: skip
"""Tools that only look."""


class View:
    """What somebody finds who takes over: everything an agent could know at that moment, and the store itself.

    Looking takes no minutes: the books are handed over, and the markets described in them.

    Parameters
    ----------
    year
        The year as it is at that moment.
    again
        Makes the calls so far once more, in a year of their own.
    call
        Makes a call of ``year``; one that writes it down, for example. The default is the year's own.
    """

    def __init__(
        self,
        year: Year,
        again: Callable[[], Iterator[tuple[Made, Result]]],
        call: Callable[[str, Mapping[str, Any]], Result] | None = None,
    ) -> None:
        self._year, self._again, self._call = year, again, call or year.call
        self._desk = Desk(year.setting, year.state, year.procurement, Decisions(year.setting.num_skus))

    @property
    def call(self) -> Callable[[str, Mapping[str, Any]], Result]:
        """Makes a call of the year, as for any merchant."""
        return self._call

    @property
    def time(self) -> dict[str, Any]:
        """The moment, as every answer tells it."""
        return self._year.time()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be done."""
        return self._year.is_over

    @property
    def num_calls(self) -> int:
        """Calls that were made before this moment."""
        return _num_made(self._year)

    def repeat(self, made: Made) -> Result:
        """Make a call that somebody made in another branch; it is not told to whoever writes calls down."""
        return self._year.repeat(made)

    def look(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return what one of ``LOOKS`` shows now; nothing is counted and no time passes."""
        if tool not in LOOKS:
            raise ValueError(f"tool={tool!r} does more than look; choose one of {', '.join(LOOKS)}")
        found = TOOLS[tool]
        if found.handler is None:
            raise AssertionError(f"{tool} shows nothing")
        shown: dict[str, Any] = told(found.handler(self._desk, validate(found.arguments, arguments)))
        return shown

    def past(self) -> Iterator[tuple[Made, Result]]:
        """Yield every call so far with its answer; the year is played again for it."""
        return self._again()

    def purchases(self) -> list[dict[str, Any]]:
        """Return every purchase order so far; ``received`` is ``None`` while it is on its way."""
        world = self._year.setting.world
        return [
            {
                "purchase_order": row.order_id,
                "product_id": world.skus.sku_id[row.sku],
                "supplier": world.suppliers[row.supplier].email,
                "quantity": row.quantity,
                "unit_price": to_yuan(row.unit_price_fen),
                "day": row.placed_day,
                "received": row.delivered if row.received_day >= 0 else None,
            }
            for row in self._year.state.purchases
        ]


@runtime_checkable
class Successor(Protocol):
    """Somebody who can go on with a year that others began."""

    def take_over(self, view: View) -> None:
        """Play from the moment of ``view`` until the year is over."""


class Branches:
    """The branches of one played year.

    Raises
    ------
    ValueError
        If the year began from a saved state: its first calls are not known.
    """

    def __init__(self, year: Year) -> None:
        if year.past is None:
            raise ValueError("this year began from a saved state, so its first calls are not known")
        self._origin, self._made = year, tuple(year.past.made)
        self._snapshots: dict[int, bytes] = {}

    def morning(self, day: int) -> Year:
        """Return the year as it was on the morning of ``day``, or at its end if it ended before.

        Raises
        ------
        ValueError
            If the year has no such day.
        """
        if not 0 <= day <= self._origin.setting.rules.num_days:
            raise ValueError(f"day={day} is outside [0, {self._origin.setting.rules.num_days}]")
        year = self._restored(max((kept for kept in self._snapshots if kept <= day), default=0))
        for made in self._made[_num_made(year) :]:
            if year.state.day >= day:
                break
            before = year.state.day
            year.repeat(made)
            if year.state.day // SNAPSHOT_DAYS > before // SNAPSHOT_DAYS:
                self._keep(year)
        if year.state.day < day and not year.is_over:
            if not self._origin.is_over:
                raise ValueError(f"day={day} has not come yet: the year is at day {year.state.day}")
            year.stop()  # its merchant gave up before that day
        return year

    def branch(self, day: int, merchant: Successor) -> Year:
        """Return the year with ``merchant`` taking over on the morning of ``day``."""
        year = self.morning(day)
        merchant.take_over(View(year, lambda: self._again(day)))
        year.stop()
        return year

    def _keep(self, year: Year) -> None:
        if year.past is not None and year.state.day not in self._snapshots:
            past = year.past
            kept = (year.state, past.decisions, past.quotes, len(past.made))  # the calls are here already
            self._snapshots[year.state.day] = pickle.dumps(kept, protocol=pickle.HIGHEST_PROTOCOL)

    def _restored(self, day: int) -> Year:
        if day not in self._snapshots:
            return self._origin.anew()
        state, decisions, quotes, num = pickle.loads(self._snapshots[day])
        return self._origin.anew(state, Past(list(self._made[:num]), decisions, quotes))

    def _again(self, day: int) -> Iterator[tuple[Made, Result]]:
        year = self._restored(0)
        for made in self._made:
            if year.state.day >= day:
                return
            yield made, year.repeat(made)


def branch(year: Year, day: int, merchant: Successor) -> Year:
    """Return ``year`` with ``merchant`` taking over on the morning of ``day``; see :class:`Branches` for many."""
    return Branches(year).branch(day, merchant)


def _num_made(year: Year) -> int:
    return len(year.past.made) if year.past else 0


class Repeated:
    """Goes on with a year exactly as another did: the null against which a branch is compared."""

    def __init__(self, year: Year) -> None:
        if year.past is None:
            raise ValueError("this year began from a saved state, so its calls are not known")
        self._made = tuple(year.past.made)

    def take_over(self, view: View) -> None:
        """Make the calls that the other made after this moment."""
        for made in self._made[view.num_calls :]:
            if view.is_over:
                return
            view.repeat(made)
