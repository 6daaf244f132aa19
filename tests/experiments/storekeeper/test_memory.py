"""The purchase ledger and the price limits drawn from it, on a real negotiation."""

from __future__ import annotations

import json

import pytest

from experiments.llm.records import ToolCall
from experiments.storekeeper.memory import LARGEST_PRICE, PriceGuard, TradeLedger
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.transcript import Said, Told, TurnRecord
from tests.experiments.llm.scripted import ScriptedClient
from tests.experiments.storekeeper.helpers import WAIT, calls, keeper_of, session_of, world


def told(data=None, notices=(), name="chatbox", day=0):
    envelope = {"notices": list(notices), "ok": True, "data": data or {}, "time": {}}
    return Told(call_id="a", name=name, content=json.dumps(envelope), ok=True, day=day, clock="08:00")


def bought(sku, price, quantity, order, supplier="a@b"):
    outcome = {"sku_id": sku, "decision": "Accept", "price": price,
               "order": {"purchase_order": order, "quantity": quantity, "charged": price * quantity}}  # fmt: skip
    return told({"replies": [{"supplier": supplier, "outcomes": [outcome]}]})


def arrived(order, received):
    return told(name=WAIT, notices=[{"deliveries": [{"purchase_order": order, "received": received}]}], day=4)


def test_purchases_and_arrivals_by_hand():
    ledger = TradeLedger()
    assert ledger.text(9) is None
    for one in (bought("s", 12.0, 10, 1), bought("t", 5.0, 3, 2), arrived(1, 7), bought("s", 11.5, 4, 3, "c@d")):
        ledger.learn(one)
    ledger.learn(arrived(99, 5))  # not ours: told of an order from before
    assert ledger.text(9).splitlines()[2:] == [
        "t | 5.00 | 5.00 on day 0 | 3 | 0 of 0 | a@b 3",
        "s | 11.50 | 11.50 on day 0 | 14 | 7 of 10 | a@b 10, c@d 4",
    ]
    assert ledger.text(1).splitlines()[2:] == ["s | 11.50 | 11.50 on day 0 | 14 | 7 of 10 | a@b 10, c@d 4"]


def moves(*rows):
    return json.dumps(
        {"uids": ["a@b"], "actions": [dict(zip(("action", "sku_id", "price"), row, strict=True)) for row in rows]}
    )


@pytest.mark.parametrize(
    ("limit", "arguments", "field"),
    [
        (100, moves(("offer", "s", 12.0)), None),
        (100, moves(("offer", "s", 12.01)), "actions.0.price"),
        (100, moves(("offer", "t", 99), ("accept", "s", 13)), "actions.1.price"),
        (110, moves(("accept", "s", 13.2)), None),
        (110, moves(("accept", "s", 13.3)), "actions.0.price"),
        (100, moves(("reject", "s", 99)), None),
        (100, '{"actions": [', None),
        (100, '{"actions": [3, {"action": "offer", "sku_id": "s", "price": "99"}]}', None),
    ],
)
def test_limits_by_hand(limit, arguments, field):
    """The lowest price paid is 12.00; at 110 % the limit is 13.20."""
    guard = PriceGuard(limit)
    guard.learn(bought("s", 12.0, 10, 1))
    guard.learn(bought("s", 14.0, 10, 2))
    refusal = guard.refusal("chatbox", arguments)
    assert (refusal.field if refusal else None) == field
    assert guard.refusal("withdraw", arguments) is None


def test_a_dearer_purchase_is_refused_before_it_reaches_the_store():
    """An honest supplier takes three times the reference price; the same again one yuan dearer is not sent."""
    supplier = next(one for one in world().suppliers if one.is_honest)
    sku = next(row for row, category in enumerate(world().skus.category) if category == supplier.category)
    price = 3 * int(world().skus.reference_fen[sku]) / 100

    def buy(at):
        move = {"action": "offer", "sku_id": world().skus.sku_id[sku], "price": at, "quantity": 1}
        return calls(("chatbox", {"uids": [supplier.email], "actions": [move]}))

    chosen, lines = StorekeeperSettings(memory=Memory.PRICE_LIMITS), []
    session = session_of(chosen, lines=lines)
    client = ScriptedClient(buy(price), buy(price + 1), buy(price), calls(WAIT, WAIT, WAIT))
    keeper_of(client, chosen).play(session)
    turns = [line for line in lines if isinstance(line, TurnRecord)]
    assert "order" in turns[0].told[0].envelope["data"]["replies"][0]["outcomes"][0]
    assert (turns[1].told[0].code, turns[1].told[0].clock) == (LARGEST_PRICE, turns[0].told[0].clock)
    assert turns[2].told[0].ok
    assert [entry.tool for entry in session.entries] == ["chatbox", "chatbox", WAIT, WAIT, WAIT]
    assert "Your purchases, kept by the system" in client.requests[1]["messages"][-1]["content"]
    keeper_of(None, chosen).check(session_of(chosen, past=lines))


def test_a_call_that_is_refused_twice_changes_nothing():
    session = session_of()
    said = Said(tool_calls=(ToolCall(id="a", name="chatbox", arguments="{"),))
    before = session.year.time()
    session.act(said)
    assert session.year.time() == before
