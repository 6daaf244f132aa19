"""What is kept in view beside the window: titles of notes, summaries, reflections, the ledger of purchases.

The ledger says what was bought, from whom, at what price and how much of it arrived, read from the answers: it knows
only what the agent was told. As a text it is kept in view; as a guard it refuses to pay more for a product than a share
of the lowest price paid before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from commerce.argument_parser import read_text
from commerce.types import Refusal
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.sitting import Answer
from experiments.years.transcript import Eviction, NoteRecord, Said, Told

LARGEST_PRICE = "price_limit"


@dataclass
class Bought:
    """Dealings in one product: prices in yuan, units, and the suppliers with the units each was paid for."""

    best: float
    latest: float
    day: int
    ordered: int = 0
    received: int = 0
    due: int = 0
    suppliers: dict[str, int] = field(default_factory=dict)


class TradeLedger:
    """Purchases so far."""

    def __init__(self) -> None:
        self.products: dict[str, Bought] = {}
        self._orders: dict[int, tuple[str, int]] = {}

    def learn(self, told: Told) -> None:
        """Take in one answer."""
        envelope = told.envelope
        for notice in envelope.get("notices", ()):
            for row in notice.get("deliveries", ()):
                self._receive(row)
        if told.name == "chatbox" and told.ok:
            for reply in envelope["data"]["replies"]:
                for outcome in reply["outcomes"]:
                    if "order" in outcome:
                        self._order(told.day, reply["supplier"], outcome)

    def _order(self, day: int, supplier: str, outcome: Mapping[str, Any]) -> None:
        order, price = outcome["order"], outcome["price"]
        row = self.products.pop(outcome["sku_id"], None) or Bought(price, price, day)
        row.best, row.latest, row.day = min(row.best, price), price, day
        row.ordered += order["quantity"]
        row.suppliers[supplier] = row.suppliers.get(supplier, 0) + order["quantity"]
        self.products[outcome["sku_id"]] = row  # the latest bought stands last
        self._orders[order["purchase_order"]] = (outcome["sku_id"], order["quantity"])

    def _receive(self, row: Mapping[str, Any]) -> None:
        known = self._orders.pop(row["purchase_order"], None)
        if known is not None:
            bought = self.products[known[0]]
            bought.received += row["received"]
            bought.due += known[1]

    def text(self, num_rows: int) -> str | None:
        """Return the latest ``num_rows`` products as a table, ``None`` before the first purchase."""
        if not self.products:
            return None
        rows = [_table_row(sku, row) for sku, row in list(self.products.items())[-num_rows:]]
        head = "product | lowest price | latest price | ordered | arrived of due | units by supplier"
        return "\n".join(["Your purchases, kept by the system:", head, *rows])


def _table_row(sku: str, row: Bought) -> str:
    suppliers = ", ".join(f"{who} {units}" for who, units in row.suppliers.items())
    prices = f"{row.best:.2f} | {row.latest:.2f} on day {row.day}"
    return f"{sku} | {prices} | {row.ordered} | {row.received} of {row.due} | {suppliers}"


class PriceGuard:
    """Refuses an offer or accept above ``limit_pct`` percent of the lowest price paid for the product."""

    def __init__(self, limit_pct: float) -> None:
        self._share = limit_pct / 100
        self._ledger = TradeLedger()

    def learn(self, told: Told) -> None:
        """Take in one answer."""
        self._ledger.learn(told)

    def refusal(self, name: str, arguments: str) -> Refusal | None:
        """Return why the call is not to be made; what cannot be read is left to the store, which refuses it."""
        if name != "chatbox":
            return None
        for place, move in enumerate(_moves(arguments)):
            row = self._ledger.products.get(str(move.get("sku_id")))
            price = move.get("price")
            if move.get("action") not in ("offer", "accept") or row is None or not _is_number(price):
                continue
            most = row.best * self._share
            if price > most + 0.005:
                paid = f"the lowest price you have paid is {row.best:.2f}"
                message = f"price={price} is above your limit of {most:.2f} yuan; {paid}"
                return Refusal(LARGEST_PRICE, f"actions.{place}.price", message)
        return None


def _moves(arguments: str) -> list[Mapping[str, Any]]:
    try:
        actions = read_text(arguments)["actions"]
        return [move for move in actions if isinstance(move, Mapping)]
    except (ValueError, TypeError, KeyError):
        return []


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


SUMMARY_NOTE, REFLECTION = "summary", "reflection"
_LONGEST_ANSWER = 1_500
_LONGEST_WEEK = 60_000
_HAS_LEDGER = (Memory.LEDGER, Memory.PRICE_LIMITS)


class Recollection:
    """The memory of one year, fed with every turn; it draws on nothing but what the agent was told."""

    def __init__(self, settings: StorekeeperSettings) -> None:
        self._settings = settings
        self._ledger = TradeLedger() if settings.memory in _HAS_LEDGER else None
        self._titles: dict[str, None] = {}
        self._gone: Eviction | None = None
        self._shown_titles: tuple[str, ...] = ()
        self._summary: str | None = None
        self._reflections: list[str] = []
        self._told: dict[int, str] = {}
        self._week: list[str] = []
        self._next_reflection = settings.reflect_days

    def learn(self, turn: int, day: int, said: Said, answer: Answer) -> None:
        """Take in a turn."""
        for call, told in zip(said.tool_calls, answer.told, strict=True):
            if told.name == "operate_memory" and told.ok:
                self._note_title(call.arguments)
            if self._ledger is not None:
                self._ledger.learn(told)
        if self._settings.memory is Memory.SUMMARY:
            self._told[turn] = turn_text(day, said, answer)
        elif self._settings.memory is Memory.REFLECTION:
            self._week.append(turn_text(day, said, answer))

    def _note_title(self, arguments: str) -> None:
        given: dict[str, Any] = read_text(arguments)
        title = str(given.get("title"))
        if given["action"] == "add":
            self._titles[title] = None
        elif given["action"] == "delete":
            self._titles.pop(title, None)

    def tail(self) -> str | None:
        """Return what stands at the end of the next request."""
        return None if self._ledger is None else self._ledger.text(self._settings.ledger_rows)

    def evicted(self, gone: Eviction) -> None:
        """Note that turns left the window."""
        first = gone.first_turn if self._gone is None else self._gone.first_turn
        self._gone = gone.model_copy(update={"first_turn": first})
        self._shown_titles = tuple(self._titles)
        for turn in range(gone.first_turn, gone.last_turn + 1):
            self._told.pop(turn, None)

    def take(self, note: NoteRecord) -> None:
        """Take in a text of the model's own."""
        if note.kind == SUMMARY_NOTE:
            self._summary = note.text
            return
        self._reflections = [*self._reflections, note.text][-self._settings.keep_reflections :]
        self._next_reflection = note.day + self._settings.reflect_days
        self._week = []

    def head(self) -> str | None:
        """Return what stands behind the first user message, ``None`` while nothing has to be said."""
        parts = []
        if self._gone is not None:
            parts.append(f"Turns {self._gone.first_turn + 1} to {self._gone.last_turn + 1} left your context.")
            parts.append(f"Titles of your notes: {', '.join(self._shown_titles) or 'none'}.")
        if self._summary is not None:
            parts.append(f"Your summary of what left:\n{self._summary}")
        if self._reflections:
            parts.append("What you resolved to do better:\n" + "\n---\n".join(self._reflections))
        return "\n\n".join(parts) or None

    def wants_summary(self) -> bool:
        """Whether what leaves the window is to be summed up first."""
        return self._settings.memory is Memory.SUMMARY

    def wants_reflection(self, day: int) -> bool:
        """Whether it is time to look back."""
        return self._settings.memory is Memory.REFLECTION and day >= self._next_reflection

    def to_sum_up(self, turns: range) -> str:
        """Return the question that asks for a summary: the one so far and the turns about to leave."""
        before = self._summary or "(none yet)"
        gone = "\n".join(self._told[turn] for turn in turns if turn in self._told)
        return f"Your summary so far:\n{before}\n\nThe turns that are leaving:\n{gone}"

    def to_reflect_on(self) -> str:
        """Return the question that asks for a reflection: what was resolved before, and what happened since."""
        before = "\n---\n".join(self._reflections) or "(none yet)"
        week = "\n".join(self._week)[-_LONGEST_WEEK:]
        return f"What you resolved before:\n{before}\n\nWhat happened since:\n{week}"


def turn_text(day: int, said: Said, answer: Answer) -> str:
    """Return a turn in plain text, long answers cut."""
    lines = [f"Day {day}: {said.content}" if said.content else f"Day {day}:"]
    for call, told in zip(said.tool_calls, answer.told, strict=True):
        lines.append(f"> {call.name} {call.arguments[:_LONGEST_ANSWER]}")
        cut = "" if len(told.content) <= _LONGEST_ANSWER else " ..."
        lines.append(f"< {told.content[:_LONGEST_ANSWER]}{cut}")
    return "\n".join(lines)
