"""What suppliers say: the five pitches, shared by honest suppliers, and no number that the engine did not decide."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from commerce.config import FAIR, PAPER
from commerce.procurement import pair_terms
from commerce.procurement.dialogue import PITCHES
from commerce.procurement.guise import guise, manners
from commerce.types import Fraud, Personality
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import default_world, ok, world_with

BASE = world_with([("Pet Supplies", 100.0, "Small", 0.01)])
WORDS = {
    Fraud.VIP_FEE: "1000.00 yuan", Fraud.FUTURE_DISCOUNT: "next", Fraud.FAKE_URGENCY: "last batch|only a few units",
    Fraud.QTY_BAIT: "large orders|any quantity",
}  # fmt: skip


def year_of(fraud, number=0, rules=PAPER):
    """A year with one supplier, whose own fraud it is."""
    who = replace(
        BASE.suppliers[number], category=BASE.category_index["Pet Supplies"], fraud=fraud,
        personality=Personality.FRIENDLY if fraud is None else Personality.ADVERSARIAL,
    )  # fmt: skip
    return Year(replace(BASE, suppliers=(who,)), rules)


def message(year, *actions):
    (reply,) = ok(year, "chatbox", uids=[year.setting.world.suppliers[0].email], actions=list(actions))["replies"]
    return reply["message"]


@pytest.mark.parametrize("fraud", WORDS)
@pytest.mark.parametrize("number", range(4))
def test_each_fraud_makes_its_pitch(fraud, number):
    text = message(year_of(fraud, number))
    assert re.search(WORDS[fraud], text, re.IGNORECASE)
    assert any(text.endswith(pitch.format(fee=1000.0)) for pitch in PITCHES[fraud])


@pytest.mark.parametrize("fraud", [Fraud.QUALITY_DOWNGRADE, None])
def test_downgraders_and_worlds_without_fraud_speak_plainly(fraud):
    assert message(year_of(fraud)) == "Thank you for your message."


def test_the_fee_is_that_of_the_rules_and_is_not_asked_twice():
    year = year_of(Fraud.VIP_FEE, rules=PAPER.model_copy(update={"vip_fee_fen": 12_345}))
    assert "123.45 yuan" in message(year)
    assert message(year, {"action": "pay_vip_fee"}) == "Thank you, we have received your fee."
    assert message(year) == "Thank you for your message."


def test_the_words_repeat_the_decision():
    year = year_of(Fraud.QUALITY_DOWNGRADE)
    bid = {"action": "offer", "sku_id": "p0", "price": 10.0, "quantity": 2}
    (reply,) = ok(year, "chatbox", uids=[year.setting.world.suppliers[0].email], actions=[bid])["replies"]
    price = reply["outcomes"][0]["price"]
    assert reply["message"] == f"We can offer {price:.2f} yuan a unit."
    assert message(year, bid | {"action": "accept", "price": price}) == f"Agreed at {price:.2f} yuan a unit."
    assert "no talk about this product is running" in message(year, bid | {"action": "reject"})
    assert message(year, bid).startswith("We can offer")
    assert "the standing price is" in message(year, bid | {"action": "accept"})
    assert message(year, bid | {"action": "reject"}) == "Then we end our talks about this product here."
    assert message(year, bid, {"action": "pay_vip_fee"}) == "Please see our answer to each of your points."


def test_honest_suppliers_look_like_fraudulent_ones_equally_often():
    """1,700 honest suppliers of four worlds, each guise with the frequency of its fraud (chi-square, 4 degrees)."""
    counts: Counter[Fraud | None] = Counter()
    expected: Counter[Fraud] = Counter()
    for seed in (1, 2, 3, 4):
        world = generate_world(seed)
        honest = [row for row, who in enumerate(world.suppliers) if who.is_honest]
        counts.update(guise(world, row) for row in honest)
        for fraud, num in Counter(world.frauds).items():
            expected[fraud] += num * len(honest) / len(world.frauds)
        for row, who in enumerate(world.suppliers):
            assert who.is_honest or guise(world, row) is who.fraud
    assert sum((counts[fraud] - mean) ** 2 / mean for fraud, mean in expected.items()) < 18.5  # 0.999 quantile


def test_a_fraudulent_supplier_shows_the_manners_of_some_honest_one():
    world = default_world()
    for row, who in enumerate(world.suppliers):
        assert manners(world, row) is (who.personality if who.is_honest else manners(world, row))
        assert manners(world, row) is not Personality.ADVERSARIAL


def test_fair_honest_suppliers_in_the_guise_of_a_price_fraud_have_its_floor_as_their_own():
    world = default_world()
    dear = 0
    for row, who in enumerate(world.suppliers):
        if not who.is_honest:
            continue
        sku = next(i for i, category in enumerate(world.skus.category.tolist()) if category == who.category)
        terms = pair_terms(world, FAIR, row, sku)
        cheap = pair_terms(world, FAIR.model_copy(update={"honest_floors": "published"}), row, sku)
        assert terms.floor == terms.reservation >= cheap.reservation
        assert guise(world, row).is_upfront or terms == cheap
        dear += terms.floor > cheap.floor
    assert dear > 150


def test_an_empty_bank_cannot_ask_who_takes_a_fee():
    """What costs nothing tells nobody who wants a fee: neither paying it nor an order beyond the bank's means."""
    for action in ({"action": "pay_vip_fee"}, {"action": "accept", "sku_id": "p0", "quantity": 1_000_000}):
        codes = set()
        for fraud in (None, Fraud.VIP_FEE):
            year = year_of(fraud, rules=PAPER.model_copy(update={"initial_fen": 90_000}))
            email = year.setting.world.suppliers[0].email
            probe = {"action": "offer", "sku_id": "p0", "price": 1.0, "quantity": 1}
            (reply,) = ok(year, "chatbox", uids=[email], actions=[probe])["replies"]
            price = {"price": reply["outcomes"][0]["price"]} if action["action"] == "accept" else {}
            (reply,) = ok(year, "chatbox", uids=[email], actions=[action | price])["replies"]
            codes.add(reply["outcomes"][0]["code"])
        assert codes == {"insufficient_funds"}
