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
from commerce.config import PAPER, Rules
from commerce.ledger import Account
from commerce.money import to_fen, to_yuan
from commerce.quotes import Quote
from commerce.state import YearState
from commerce.supplier_protocol import Procurement
from commerce.tools.arguments import Chatbox, NegotiationMove, Withdraw
from commerce.types import Refusal, World
from commerce.year import Made, Past, Result, Year

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
        self,
        world: World,
        rules: Rules = PAPER,
        *,
        aids: Sequence[str],
        procurement: Procurement | None = None,
        state: YearState | None = None,
        past: Past | None = None,
    ) -> None:
        super().__init__(world, rules, procurement=procurement, state=state, past=past)
        self.aids = check_aids(aids)
        self._dealings = Dealings(self.setting, self.state)

    def anew(self, state: YearState | None = None, past: Past | None = None) -> AidedYear:
        """Return this year with its aids at its first morning, or at a saved moment."""
        world, rules = self.setting.world, self.setting.rules
        return AidedYear(world, rules, aids=self.aids, procurement=self._procurement, state=state, past=past)

    def _make(self, made: Made) -> Result:
        """Carry out what was asked, with what the aids add; what they do themselves is no call of anybody."""
        day = self.state.day
        result = self._talk(made.given) if isinstance(made.given, Chatbox) else super()._make(made)
        if self.state.day == day or self.is_over:
            return result
        return replace(result, notices=(*result.notices, *self._morning()))

    def _talk(self, given: Chatbox) -> Result:
        """Send a message without the moves that are held back, and add to the answers what is to be remembered."""
        moves, known = given.actions, dict[str, Quote]()
        for product in {str(move.sku_id) for move in moves}:
            if (best := self._best(product)) is not None:
                known[product] = best
        held = {place: fault for place, move in enumerate(moves) if (fault := self._fault(move, known)) is not None}
        if held and len(held) == len(moves):
            place, fault = next(iter(held.items()))
            return super()._make(Made(_TALK, Refusal(ABOVE_QUOTE, f"actions.{place}.price", fault)))
        kept = [move for place, move in enumerate(moves) if place not in held]
        result = super()._make(Made(_TALK, given.model_copy(update={"actions": kept})))
        if result.data is None:
            return result
        replies = [self._reply(reply, moves, held, known) for reply in result.data["replies"]]
        return replace(result, answer={**result.data, "replies": replies})

    def _best(self, product_id: str) -> Quote | None:
        return None if self.past is None else self.past.quotes.best(product_id)

    def _fault(self, move: NegotiationMove, known: Mapping[str, Quote]) -> str | None:
        """Return why a move is held back."""
        best, price = known.get(str(move.sku_id)), move.price
        if Aid.ENFORCE not in self.aids or best is None or price is None or move.action not in _BUYING:
            return None
        if to_fen(price) <= best.price_fen:
            return None
        told = f"{to_yuan(best.price_fen):.2f} yuan, by {best.supplier} on day {best.day}"
        return f"price={price} is above your best earlier quote of {told}"

    def _reply(
        self,
        reply: Mapping[str, Any],
        moves: Sequence[NegotiationMove],
        held: Mapping[int, str],
        known: Mapping[str, Quote],
    ) -> dict[str, Any]:
        num_told = len(reply["outcomes"])
        num_in_words = max(0, num_told - (len(moves) - len(held)))  # a fee that words agreed to comes first
        told = iter(reply["outcomes"][num_in_words:])
        outcomes = [
            *reply["outcomes"][:num_in_words],
            *(
                self._outcome(_held_back(move, held[place]) if place in held else next(told), known)
                for place, move in enumerate(moves if num_told else ())
            ),
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
            done = super()._make(Made("withdraw", Withdraw()))
            if done.data is not None:
                yield {**day, "text": f"{done.data['withdrawn']:.2f} yuan were withdrawn for you.", **done.data}
        if Aid.SCRATCH_FILE in self.aids and self.state.memos:
            yield {**day, "text": "Your notes.", "memos": dict(self.state.memos)}
        if Aid.CASH_FORECAST in self.aids:
            yield {**day, **forecast_cash(self.setting, self.state)}
        if Aid.DELIVERY_CHECK in self.aids and (rows := short_deliveries(self.setting, self.state)):
            yield {**day, "text": f"{len(rows)} deliveries of today fell short of their orders.", "short": rows}


def _held_back(move: NegotiationMove, fault: str) -> dict[str, Any]:
    return {"sku_id": move.sku_id, "decision": "Error", "code": ABOVE_QUOTE, "message": fault}
