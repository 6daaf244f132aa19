"""A year with aids: every call goes through them, and what they add is part of its answer.

What the aids say and do follows from the calls, so a year with aids is replayed from its calls like any other; the year
that is carried out below them is a plain one. A move that ``enforce`` holds back never reaches the store: it is
answered by an error and takes no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commerce.aids.aid_list import Aid, check_aids
from commerce.aids.dealings import Dealings, short_deliveries
from commerce.aids.forecast import forecast_cash
from commerce.argument_parser import read_arguments
from commerce.config import PAPER, Rules
from commerce.ledger import Account
from commerce.money import to_fen, to_yuan
from commerce.quotes import Quote
from commerce.refusals import RefusedError
from commerce.supplier_protocol import Procurement
from commerce.types import Refusal, World
from commerce.year import Made, Result, Year

ABOVE_QUOTE = "above_own_quote"
NOTICE = "aid"
_TALK = "chatbox"
_BUYING = ("offer", "accept")


class AidedYear(Year):
    """A year of ``world`` with ``aids`` beside whoever calls.

    Raises
    ------
    ValueError
        If an aid has no such name or is given twice.
    """

    def __init__(
        self, world: World, rules: Rules = PAPER, *, aids: Sequence[str], procurement: Procurement | None = None
    ) -> None:
        super().__init__(world, rules, procurement=procurement)
        self.aids = check_aids(aids)
        self._dealings = Dealings(self.setting, self.state)

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Run one tool call with what the aids add; nothing an agent can send raises."""
        if self.is_over:
            return super().call(name, arguments)
        day = self.state.day
        result = self._talk(arguments) if name == _TALK else super().call(name, arguments)
        if self.state.day == day or self.is_over:
            return result
        return replace(result, notices=(*result.notices, *self._morning()))

    def _talk(self, arguments: Any) -> Result:
        """Send a message without the moves that are held back, and add to the answers what is to be remembered."""
        moves, known = _moves_of(arguments), dict[str, Quote]()
        for product in {str(move.get("sku_id")) for move in moves}:
            if (best := self._best(product)) is not None:
                known[product] = best
        held = {place: fault for place, move in enumerate(moves) if (fault := self._fault(move, known)) is not None}
        if held and len(held) == len(moves):
            place, fault = next(iter(held.items()))
            return self.repeat(Made(_TALK, Refusal(ABOVE_QUOTE, f"actions.{place}.price", fault)))
        if held:
            kept = [move for place, move in enumerate(moves) if place not in held]
            arguments = {**read_arguments(arguments), "actions": kept}
        result = super().call(_TALK, arguments)
        if result.data is None:
            return result
        replies = [self._reply(reply, moves, held, known) for reply in result.data["replies"]]
        return replace(result, answer={**result.data, "replies": replies})

    def _best(self, product_id: str) -> Quote | None:
        return None if self.past is None else self.past.quotes.best(product_id)

    def _fault(self, move: Mapping[str, Any], known: Mapping[str, Quote]) -> str | None:
        """Return why a move is held back; what cannot be read is left to the store, which refuses it."""
        best, price = known.get(str(move.get("sku_id"))), move.get("price")
        if Aid.ENFORCE not in self.aids or best is None or move.get("action") not in _BUYING:
            return None
        if not isinstance(price, int | float) or isinstance(price, bool) or not 0 < price < 1e12:
            return None
        if to_fen(price) <= best.price_fen:
            return None
        told = f"{to_yuan(best.price_fen):.2f} yuan, by {best.supplier} on day {best.day}"
        return f"price={price} is above your best earlier quote of {told}"

    def _reply(
        self,
        reply: Mapping[str, Any],
        moves: Sequence[Mapping[str, Any]],
        held: Mapping[int, str],
        known: Mapping[str, Quote],
    ) -> dict[str, Any]:
        told = iter(reply["outcomes"])
        outcomes = [
            self._outcome(_held_back(move, held[place]) if place in held else next(told), known)
            for place, move in enumerate(moves if reply["outcomes"] else ())
        ]
        more = {"your_dealings": self._dealings.with_supplier(reply["supplier"])} if self._retrieves else {}
        return {**reply, "outcomes": outcomes, **more}

    def _outcome(self, outcome: Mapping[str, Any], known: Mapping[str, Quote]) -> dict[str, Any]:
        product, added = str(outcome.get("sku_id")), dict[str, Any]()
        if product in known and not {Aid.REMIND, Aid.ENFORCE}.isdisjoint(self.aids):
            best = known[product]
            added["your_best_earlier_quote"] = {
                "price": to_yuan(best.price_fen), "supplier": best.supplier, "day": best.day,
            }  # fmt: skip
        if "sku_id" in outcome and self._retrieves:
            added["your_dealings"] = self._dealings.in_product(product)
        return {**outcome, **added}

    @property
    def _retrieves(self) -> bool:
        return Aid.RETRIEVAL in self.aids

    def _morning(self) -> Iterator[dict[str, Any]]:
        """Yield what the aids say at the start of a day; the withdrawal is made first, so that a forecast knows it."""
        day = {"day": self.state.day, "date": self.setting.iso_date(self.state.day), "kind": NOTICE}
        if Aid.AUTO_WITHDRAWAL in self.aids and self.state.ledger.balance(Account.WALLET) > 0:
            done = super().call("withdraw")
            if done.data is not None:
                yield {**day, "text": f"{done.data['withdrawn']:.2f} yuan were withdrawn for you.", **done.data}
        if Aid.SCRATCH_FILE in self.aids and self.state.memos:
            yield {**day, "text": "Your notes.", "memos": dict(self.state.memos)}
        if Aid.CASH_FORECAST in self.aids:
            yield {**day, **forecast_cash(self.setting, self.state)}
        if Aid.DELIVERY_CHECK in self.aids and (rows := short_deliveries(self.setting, self.state)):
            yield {**day, "text": f"{len(rows)} deliveries of today fell short of their orders.", "short": rows}


def _held_back(move: Mapping[str, Any], fault: str) -> dict[str, Any]:
    return {"sku_id": move["sku_id"], "decision": "Error", "code": ABOVE_QUOTE, "message": fault}


def _moves_of(arguments: Any) -> list[Mapping[str, Any]]:
    """Return the moves of a message, none if one of them cannot be read."""
    try:
        moves = read_arguments(arguments).get("actions")
    except RefusedError:
        return []
    if not isinstance(moves, list | tuple) or not all(isinstance(move, Mapping) for move in moves):
        return []
    return list(moves)
