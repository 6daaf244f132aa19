"""A person at the table: the same observation as any agent, in the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from terms import Accept, Observation, Offer, Reject
from terms.prices import parse_price
from terms.types import Action, Decision
from terms.voice import format_price

HELP = "Type a price to offer it, 'accept', 'reject', or 'quit' to stop (finished negotiations are kept)."


@dataclass(frozen=True)
class Human:
    """Asks for each move on ``source`` and shows the state on ``screen``."""

    source: TextIO = field(default_factory=lambda: sys.stdin)
    screen: TextIO = field(default_factory=lambda: sys.stdout)
    name: str = "human"

    def act(self, observation: Observation) -> Action:
        """Show what is known and ask until a move can be read; whether it is wise is up to the person."""
        self._write(describe(observation))
        while True:
            self.screen.write("your move> ")
            self.screen.flush()
            line = self.source.readline()
            if not line or line.strip().lower() in ("quit", "q"):
                raise KeyboardInterrupt
            action = read_typed_move(line, observation)
            if not isinstance(action, str):
                return action
            self._write(action)

    def _write(self, text: str) -> None:
        self.screen.write(text + "\n")


def read_typed_move(line: str, observation: Observation) -> Action | str:
    """Return the move a line of text says, or what was wrong with it."""
    text = re.sub(r"^offer\b", "", line.strip(), flags=re.IGNORECASE).strip()
    words = text.lower()
    if words in ("accept", "a"):
        if Decision.ACCEPT in observation.legal_decisions:
            return Accept()
        return "There is no price to accept yet."
    if words in ("reject", "r"):
        return Reject()
    price = parse_price(text)
    return HELP if price is None else Offer(price)


def describe(observation: Observation) -> str:
    """Return the observation as a few lines of text."""
    verb = "buy" if observation.role == "buyer" else "sell"
    side = "at most" if observation.role == "buyer" else "at least"
    lines = [
        "",
        f"Round {observation.round} of {observation.horizon}. You {verb}; your reservation price is "
        f"{format_price(observation.reservation_price)} ({side}).",
        f"Prices may lie between {format_price(observation.price_min)} and {format_price(observation.price_max)}.",
    ]
    product = observation.side_info.get("product")
    if product and observation.round == 1:
        low, high = format_price(product["historic_low"]), format_price(product["historic_high"])
        usual = format_price(product["reference_price"])
        lines.append(f"Item: {product['name']} ({product['category']}). Usual price {usual}, so far {low} to {high}.")
    offers = [format_price(turn.price) for turn in observation.history if turn.price is not None]
    asked = [format_price(turn.counterpart_price) for turn in observation.history if turn.counterpart_price is not None]
    if observation.history:
        lines.append(f"So far you offered {', '.join(offers)}; it asked {', '.join(asked) or 'nothing yet'}.")
    if observation.standing_price is None:
        lines.append(f"You open. {HELP}")
    else:
        gain = observation.accept_utility or 0.0
        tone = f" ({observation.cue.sentiment}, {observation.cue.posture})" if observation.cue else ""
        lines.append(f'Counterpart{tone}: "{observation.message}"')
        lines.append(f"Accepting {format_price(observation.standing_price)} would gain you {format_price(gain)}.")
    if observation.rounds_remaining == 0:
        lines.append("Last round: this is your last move.")
    return "\n".join(lines)


def reveal(rows: Sequence[dict[str, Any]], left: int) -> None:
    """Tell a person who the counterpart was and how the finished negotiation ended."""
    for row in rows:
        record = row["record"]
        hidden = record["counterpart_type"]
        deal = "no deal" if record["price"] is None else f"deal at {format_price(record['price'])}"
        reservation, urgency = format_price(hidden["reservation_price"]), hidden["urgency"]
        sys.stdout.write(
            f"\nEnded: {record['termination'].replace('_', ' ')}, {deal}, you gained {format_price(record['utility'])} "
            f"of a zone of {format_price(record['zopa'])}.\nYou faced this counterpart: {hidden['stance']}, "
            f"{record['family']}, with reservation price {reservation} and urgency {urgency:.2f}.\n"
        )
    if left:
        sys.stdout.write(f"{left} to go.\n")
