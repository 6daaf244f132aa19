"""The rows of a statement, what each one is, and the statement as people read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from commerce.money import to_yuan
from commerce.row_tables import data_frame, table_html


class StatementItem(NamedTuple):
    """What a row is: ``earned``, ``needed`` or ``avoidable``, and its definition."""

    kind: str
    label: str
    definition: str


STATEMENT = {
    "ordered": StatementItem("earned", "ordered by customers", "price of every order line that could be shipped"),
    "commission": StatementItem("needed", "commission", "the platform's share of those lines"),
    "goods": StatementItem(
        "needed", "goods", "cost of the goods in those lines, less what was paid above the floors of honest suppliers"
    ),
    "freight": StatementItem("needed", "freight", "of units that stayed with a customer, at the best speed"),
    "storage": StatementItem("needed", "storage", "of units up to the first step of the rates (21 days)"),
    "operations": StatementItem("needed", "operations", "daily fees of open stores"),
    "setup": StatementItem("needed", "setup", "fees for opening stores"),
    "natural_returns": StatementItem(
        "needed",
        "returns nobody could avoid",
        "margin and freight of units that would come back at any price and speed",
    ),
    "overpaid_honest": StatementItem(
        "avoidable", "overpaid to honest suppliers", "above the least each sells for, of goods that were sold"
    ),
    "fraud_fees": StatementItem("avoidable", "fraud: fees", "paid to suppliers that deliver nothing for them"),
    "fraud_short": StatementItem("avoidable", "fraud: short deliveries", "units paid and not delivered"),
    "fraud_overpaid": StatementItem(
        "avoidable", "fraud: overpaid", "above what an honest supplier would go to, of goods that were sold"
    ),
    "fraud_defects": StatementItem("avoidable", "fraud: defects", "margin of units that came back as defective"),
    "fraud_freight": StatementItem("avoidable", "fraud: freight", "of units that came back as defective"),
    "old_storage": StatementItem("avoidable", "storage past 21 days", "of units past the first step of the rates"),
    "dear_freight": StatementItem(
        "avoidable",
        "freight above the best speed",
        "above the freight of the speed at which freight and expected returns cost least",
    ),
    "speed_returns": StatementItem(
        "avoidable", "returns by slow shipping", "margin and freight of units that a faster parcel had kept sold"
    ),
    "price_returns": StatementItem(
        "avoidable", "returns by price", "margin and freight of units that came back because of a price above reference"
    ),
    "never_shipped": StatementItem(
        "avoidable", "margin of cancelled lines", "price less commission and cost of lines that were never shipped"
    ),
    "unsold": StatementItem(
        "avoidable", "unsold stock", "goods in stock, on their way or unshipped at the end, at what they cost"
    ),
    "sold_off": StatementItem("avoidable", "sold off", "cost of liquidated goods, less what they brought"),
    "overdraft": StatementItem(
        "avoidable",
        "overdraft",
        "in a bankrupt year the goods that would else be unsold stock; no rule charges for an overdraft itself",
    ),
    "idle_penalty": StatementItem("avoidable", "idle penalty", "for days without an open store"),
}
"""The rows, in the order they are told."""


class StatementRow(NamedTuple):
    """One row; an expense is negative. Money in fen."""

    name: str
    kind: str
    fen: int


@dataclass(frozen=True, repr=False)
class Statement:
    """The rows of a year; they sum to ``final_fen - initial_fen``."""

    initial_fen: int
    final_fen: int
    rows: tuple[StatementRow, ...]

    @property
    def change_fen(self) -> int:
        """By how much the assets changed."""
        return self.final_fen - self.initial_fen

    def fen(self, name: str) -> int:
        """Return the amount of the row called ``name``, one of ``STATEMENT``."""
        return next(row.fen for row in self.rows if row.name == name)

    def __repr__(self) -> str:
        """Return the change, not every row."""
        return f"<Statement of {to_yuan(self.change_fen):,.2f} yuan in {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        """Return the rows as a table, for notebooks."""
        rows = ((row.kind, STATEMENT[row.name].label, f"{to_yuan(row.fen):,.2f}") for row in self.rows)
        return table_html(repr(self), ("kind", "row", "yuan"), rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame, whose columns are the fields of :class:`StatementRow`."""
        return data_frame(self.rows, StatementRow._fields)

    def to_json_object(self) -> dict[str, Any]:
        """Return the object that is stored."""
        rows = [{**row._asdict(), "label": STATEMENT[row.name].label} for row in self.rows]
        return {"initial_fen": self.initial_fen, "final_fen": self.final_fen, "rows": rows}
