"""What is told of the talks of a year: the costliest ones, or one of them move by move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commerce.money import to_yuan
from commerce.procurement import pair_terms
from commerce.year import Year
from experiments.cli.show import out, print_table, text_table
from experiments.years.story import replay_year
from oracle.store.talk_history import StoreTalk
from oracle.store.talk_moves import TalkMove
from oracle.store.talks import TalkCost, TalkCosts, ending_words, talk_costs, told_talk

_LONGEST = 12


def tell_year_talks(folder: Path, talk: str | None, *, as_json: bool = False) -> None:
    """Print the costliest talks of the year in ``folder``, or the one with the number ``talk``."""
    number = None if talk is None else _number(talk)
    year = replay_year(folder).year
    if number is None:
        costs = talk_costs(year)
        if as_json:
            out(json.dumps(costs.to_json_object(), allow_nan=False))
            return
        _print_costs(costs)
        return
    told, moves = told_talk(year, number)
    if as_json:
        out(json.dumps(talk_object(year, told, moves), allow_nan=False))
        return
    _print_talk(year, told, moves)


def _number(talk: str) -> int:
    if not (talk.isdecimal() and talk.isascii() and len(talk) <= _LONGEST):
        raise ValueError(f"episode={talk!r}; talks of a year have numbers, from 1")
    return int(talk)


def talk_object(year: Year, talk: StoreTalk, moves: list[TalkMove]) -> dict[str, Any]:
    """Return one talk with its moves as JSON data: prices and costs in fen a unit, undefined being null."""
    record = talk.record
    world = year.setting.world
    terms = pair_terms(world, year.setting.rules, record.supplier, record.sku)
    return {
        "number": talk.number,
        "supplier": world.suppliers[record.supplier].name,
        "sku": world.skus.sku_id[record.sku],
        "day": record.day_opened,
        "outcome": record.outcome,
        "units": record.quantity,
        "price_fen": record.price_fen,
        "reference_fen": record.reference_fen,
        "opening_fen": record.opening_fen,
        "floor_fen": terms.reservation,
        "urgency": terms.urgency,
        "stance": terms.stance.value,
        "family": terms.family.value,
        "is_honest": record.is_honest,
        "moves": [
            {
                "round": len(move.seat.bids) + 2,
                "standing_fen": move.seat.standing,
                "move": "accept" if move.bid is None else "offer",
                "bid_fen": move.bid,
                "reference_move": "accept" if move.reference_bid is None else "offer",
                "reference_bid_fen": move.reference_bid,
                "floor_mean_fen": move.floor_mean,
                "floor_interval_fen": [move.floor_low, move.floor_high],
                "stances": move.types.stance_probs(),
                "worth_fen": move.worth,
                "reference_worth_fen": move.best,
                "cost_fen": move.cost,
            }
            for move in moves
        ],
    }


def _print_costs(costs: TalkCosts) -> None:
    rows = [_cost_row(row) for row in costs.costliest()]
    print_table(text_table("the costliest talks, costs in yuan at the quantity bought", _COSTS, rows))
    parts = ", ".join(f"{name} {_yuan(fen)}" for name, fen in costs.parts().items())
    share = "-" if costs.pct_oracle is None else f"{costs.pct_oracle:.1%}"
    out(f"{len(costs.rows)} purchases of {costs.num_talks} talks earned {share} of what the reference expected.")
    out(f"Yuan lost to a buyer who knew every floor: {parts}. Loss came from: {costs.fault}.")


_COSTS = (
    "talk", "day", "supplier", "product", "units", "price", "SE+", "%Oracle", "cost", "inference", "control",
    "uncertainty",
)  # fmt: skip


def _cost_row(row: TalkCost) -> tuple[str, ...]:
    share = "-" if row.pct_oracle is None else f"{row.pct_oracle:.1%}"
    money = (row.cost_fen, row.inference_fen, row.control_fen, row.uncertainty_fen)
    place = (str(row.number), str(row.day), row.supplier, row.sku, str(row.units))
    return (*place, _yuan(row.price_fen), f"{row.se_plus:.3f}", share, *map(_yuan, money))


def _print_talk(year: Year, talk: StoreTalk, moves: list[TalkMove]) -> None:
    shown = talk_object(year, talk, moves)
    record = talk.record
    out(
        f"talk {talk.number}, day {record.day_opened}: {shown['sku']} from {shown['supplier']}, reference price "
        f"{_yuan(record.reference_fen)}; opening {_yuan(record.opening_fen)}, {shown['family']}, "
        f"floor {_yuan(shown['floor_fen'])}, urgency {shown['urgency']:.2f}, {shown['stance']}"
    )
    rows = [
        (
            str(len(move.seat.bids) + 2),
            "-" if move.seat.standing is None else _yuan(move.seat.standing),
            f"{_yuan(move.floor_mean)} [{_yuan(move.floor_low)}, {_yuan(move.floor_high)}]",
            _act(move.bid),
            _act(move.reference_bid),
            _yuan(move.cost),
            _yuan(move.cost * record.quantity),
        )
        for move in moves
    ]
    print_table(text_table("moves, yuan", _MOVES, rows))
    paid = "" if record.price_fen is None else f" at {_yuan(record.price_fen)}, {record.quantity} units"
    out(f"ended: {ending_words(talk)}{paid}")


_MOVES = ("round", "standing", "could believe the floor", "move", "oracle's move", "cost a unit", "cost")


def _act(bid: int | None) -> str:
    return "accept" if bid is None else f"offer {_yuan(bid)}"


def _yuan(fen: float) -> str:
    return f"{to_yuan(round(fen)):,.2f}"
