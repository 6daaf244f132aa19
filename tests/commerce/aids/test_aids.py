"""Aids beside a merchant: what each adds, that nothing else changes, and that the draws stay the same."""

from __future__ import annotations

import pytest

from commerce.aids import AIDS, AidedYear, check_aids
from commerce.aids.forecast import forecast_cash
from commerce.branching import Branches, Repeated
from commerce.config import FAIR
from commerce.merchants import build_merchant, play_year
from commerce.replay import year_digest
from commerce.world import generate_world
from commerce.year import Year

DAYS = 60
RULES = FAIR.model_copy(update={"num_days": DAYS})
TELLING = [aid for aid in AIDS if aid not in ("enforce", "auto-withdrawal")]


@pytest.fixture(scope="module")
def world():
    return generate_world(3, RULES)


def played(world, *aids, name="rule-based"):
    year = AidedYear(world, RULES, aids=aids)
    heard = []
    merchant = build_merchant(name, world, RULES)

    def call(tool, arguments):
        result = year.call(tool, arguments)
        heard.append((tool, arguments, result))
        return result

    merchant(call)
    year.stop()
    return year, heard


@pytest.fixture(scope="module")
def plain(world):
    return play_year(Year(world, RULES), build_merchant("rule-based", world, RULES))


def test_no_aid_is_the_plain_year(world, plain):
    year, _ = played(world)
    assert year_digest(year) == year_digest(plain)


@pytest.mark.parametrize("aid", TELLING)
def test_who_does_not_listen_plays_the_plain_year(world, plain, aid):
    assert year_digest(played(world, aid)[0]) == year_digest(plain)


def test_aids_are_named_once_and_known():
    assert check_aids(["enforce", "remind"]) == ("remind", "enforce")
    with pytest.raises(ValueError, match="aid='x', allowed are remind"):
        check_aids(["x"])
    with pytest.raises(ValueError, match="aid='remind' is given twice"):
        check_aids(["remind", "remind"])


def talk_of(world):
    """Return a supplier with two of its products, and a product of nobody else."""
    supplier = next(row for row in world.suppliers if row.is_honest)
    skus = [world.skus.sku_id[k] for k, c in enumerate(world.skus.category.tolist()) if c == supplier.category]
    return supplier.email, skus


def offer(year, email, *moves):
    actions = [
        {"action": action, "sku_id": sku, "price": price, "quantity": units} for action, sku, price, units in moves
    ]
    return year.call("chatbox", {"uids": [email], "actions": actions})


def test_remind_tells_the_best_earlier_quote_and_only_that(world):
    email, (sku, other, *_) = talk_of(world)
    year = AidedYear(world, RULES, aids=["remind"])
    first = offer(year, email, ("offer", sku, 0.01, 1)).data["replies"][0]["outcomes"][0]
    assert "your_best_earlier_quote" not in first
    second = offer(year, email, ("offer", sku, 0.01, 1), ("offer", other, 0.01, 1)).data["replies"][0]["outcomes"]
    quote = {"price": min(first["price"], first["opening_price"]), "supplier": email, "day": 0}
    assert second[0]["your_best_earlier_quote"] == quote
    assert "your_best_earlier_quote" not in second[1]
    bare = Year(world, RULES)
    offer(bare, email, ("offer", sku, 0.01, 1))
    told = offer(bare, email, ("offer", sku, 0.01, 1), ("offer", other, 0.01, 1)).data["replies"][0]["outcomes"]
    assert [{**row, "your_best_earlier_quote": quote} if k == 0 else row for k, row in enumerate(told)] == second


def test_enforce_passes_on_what_is_not_dearer(world):
    email, (sku, other, *_) = talk_of(world)
    year = AidedYear(world, RULES, aids=["enforce"])
    quoted = offer(year, email, ("offer", sku, 0.01, 1)).data["replies"][0]["outcomes"][0]["price"]
    before = year.time()["minutes_left"]
    held = offer(year, email, ("offer", sku, quoted + 0.01, 1))
    assert (held.ok, held.error.code, held.error.field) == (False, "above_own_quote", "actions.0.price")
    assert f"{quoted:.2f} yuan, by {email} on day 0" in held.error.message
    assert year.time()["minutes_left"] == before
    both = offer(year, email, ("offer", sku, quoted + 0.01, 1), ("offer", other, 0.01, 1))
    first, second = both.data["replies"][0]["outcomes"]
    assert (first["sku_id"], first["decision"], first["code"]) == (sku, "Error", "above_own_quote")
    assert (second["sku_id"], second["decision"]) == (other, "Offer")
    taken = offer(year, email, ("accept", sku, quoted, 1)).data["replies"][0]["outcomes"][0]
    assert taken["decision"] == "Accept"
    assert year.past.quotes.num_dearer == 0


@pytest.mark.parametrize(
    "arguments",
    [None, "[", "{}", {"actions": 3}, {"actions": [3]}, {"uids": [], "actions": [{"action": "offer", "price": "x"}]},
     {"uids": ["a"], "actions": [{"action": "offer", "sku_id": "P", "price": True}]}],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_as_without_aids(world, arguments):
    aided, bare = AidedYear(world, RULES, aids=["enforce", "retrieval"]), Year(world, RULES)
    assert aided.call("chatbox", arguments) == bare.call("chatbox", arguments)


def test_a_fee_that_words_agree_to_is_answered_before_the_moves(world):
    rules = RULES.model_copy(update={"fee_consent": "words"})
    email, (sku, *_) = talk_of(world)
    move = {"action": "offer", "sku_id": sku, "price": 0.01, "quantity": 1}
    for actions in ([], [move]):
        told = {"uids": [email], "content": "Yes, we pay the membership fee.", "actions": actions}
        aided, bare = (
            year.call("chatbox", told) for year in (AidedYear(world, rules, aids=["enforce"]), Year(world, rules))
        )
        assert aided.data == bare.data
        assert len(aided.data["replies"][0]["outcomes"]) == 1 + len(actions)


def test_with_enforce_no_buy_is_dearer(world, plain):
    year, _ = played(world, "enforce")
    assert plain.past.quotes.num_dearer > 0
    assert year.past.quotes.num_dearer == 0


def test_retrieval_tells_the_latest_own_orders(world):
    _, heard = played(world, "retrieval")
    told = [reply for tool, _, result in heard if tool == "chatbox" for reply in result.data["replies"]]
    with_past = next(reply for reply in reversed(told) if reply["your_dealings"])
    assert len(with_past["your_dealings"]) <= 5
    assert {row["supplier"] for row in with_past["your_dealings"]} == {with_past["supplier"]}
    for outcome in with_past["outcomes"]:
        assert {row["product_id"] for row in outcome["your_dealings"]} <= {outcome["sku_id"]}


def aid_notices(heard):
    return [notice for _, _, result in heard for notice in result.notices if notice["kind"] == "aid"]


def test_the_wallet_is_withdrawn_each_morning(world):
    _, heard = played(world, "auto-withdrawal")
    told = aid_notices(heard)
    assert told
    assert all(notice["platform_wallet"] == 0 for notice in told)


def test_notes_lie_open_each_morning(world):
    year = AidedYear(world, RULES, aids=["scratch-file"])
    assert not [n for n in year.call("wait_for_next_day").notices if n["kind"] == "aid"]
    year.call("operate_memory", {"action": "add", "title": "t", "content": "c"})
    (notice,) = [n for n in year.call("wait_for_next_day").notices if n["kind"] == "aid"]
    assert notice["memos"] == {"t": "c"}


def test_short_deliveries_are_named(world):
    year, heard = played(world, "delivery-check")
    short = {row["purchase_order"] for notice in aid_notices(heard) for row in notice["short"]}
    found = {
        row.order_id for row in year.state.purchases if 0 <= row.received_day < DAYS and row.delivered < row.quantity
    }
    assert short == found


def test_a_forecast_by_hand(world):
    year = Year(world, RULES)
    assert forecast_cash(year.setting, year.state)["bank_runs_dry"] is None
    kind = world.store_types[0]
    year.call("open_store", {"store_type": kind.name, "store_name": "s"})
    bank = year.state.bank_fen
    told = forecast_cash(year.setting, year.state)
    assert told["bank_runs_dry"] == next(t for t in range(10**6) if bank - t * kind.operations_fen < 0)
    assert told["forecast"][1] == {"day": 7, "bank": (bank - 7 * kind.operations_fen) / 100, "wallet": 0.0}


@pytest.mark.parametrize("aids", [("enforce",), ("auto-withdrawal", "cash-forecast")])
def test_a_year_with_aids_can_be_branched(world, aids):
    year, _ = played(world, *aids)
    again = Branches(year).branch(17, Repeated(year))
    assert year_digest(again) == year_digest(year)


def test_draws_do_not_depend_on_aids(world):
    """The same talk on the same day meets the same quote with and without aids, whatever was done before."""
    email, (sku, other, *_) = talk_of(world)
    quotes = set()
    for aids in ((), ("enforce", "auto-withdrawal", "retrieval")):
        year = AidedYear(world, RULES, aids=aids)
        if aids:
            offer(year, email, ("offer", sku, 0.01, 1))
        for _ in range(3):
            year.call("wait_for_next_day")
        if aids:
            year.call("check_balance")
        told = offer(year, email, ("offer", other, 0.01, 1)).data["replies"][0]["outcomes"][0]
        quotes.add((told["opening_price"], told["price"]))
    assert len(quotes) == 1
