"""Arguments: what each kind of bad value is told, with field, value and what is allowed."""

from __future__ import annotations

import pytest

from commerce.refusals import RefusedError
from commerce.tools import TOOLS
from commerce.tools.arguments import validate
from commerce.year import Year
from tests.commerce.builders import default_world

PUBLISH = {"store_id": "store_001", "plan": [{"product_id": "p0", "quantity": 3, "retail_price": 9.5}]}


def refusal(tool, arguments):
    with pytest.raises(RefusedError) as caught:
        validate(TOOLS[tool].arguments, arguments)
    return caught.value.refusal


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("quantity", -3, "greater than or equal to 1"),
        ("quantity", 0, "greater than or equal to 1"),
        ("quantity", 5.7, "valid integer"),
        ("quantity", "3", "valid integer"),
        ("quantity", True, "valid integer"),
        ("quantity", 10**30, "less than or equal to 1000000"),
        ("retail_price", float("nan"), "finite number"),
        ("retail_price", float("inf"), "finite number"),
        ("retail_price", 0, "greater than 0"),
        ("retail_price", -0.0, "greater than 0"),
        ("retail_price", -5, "greater than 0"),
        ("retail_price", 1e12, "less than or equal to"),
        ("retail_price", "$45.00", "valid number"),
        ("retail_price", True, "valid number"),
        ("retail_price", None, "valid number"),
        ("retail_price", [45], "valid number"),
        ("product_id", "", "at least 1 character"),
        ("product_id", 7, "valid string"),
        ("colour", "red", "not permitted"),
    ],
)
def test_a_bad_value_is_named(field, value, says):
    item = {**PUBLISH["plan"][0], field: value}
    found = refusal("publish_to_store", {**PUBLISH, "plan": [item]})
    assert (found.code, found.field) == ("invalid_arguments", f"plan.0.{field}")
    assert says in found.message
    assert f"plan.0.{field}" in found.message


def test_a_missing_field_is_named_and_faults_are_counted():
    found = refusal("publish_to_store", {"plan": [{"product_id": "p0"}]})
    assert found.field == "store_id"
    assert "(2 more faults)" in found.message


def test_a_list_sent_as_text_is_said_to_be_text():
    found = refusal("publish_to_store", {**PUBLISH, "plan": "[]"})
    assert "valid list" in found.message


@pytest.mark.parametrize(
    ("move", "says"),
    [
        ({"action": "offer", "sku_id": "p", "price": 5.0}, "needs quantity"),
        ({"action": "accept", "sku_id": "p", "quantity": 5}, "needs price"),
        ({"action": "reject"}, "needs sku_id"),
        ({"action": "steal"}, "Input should be"),
        ({"action": "offer", "sku_id": "p", "price": float("inf"), "quantity": 1}, "finite"),
    ],
)
def test_incomplete_moves(move, says):
    assert says in refusal("chatbox", {"uids": ["a@b"], "actions": [move]}).message


def test_a_huge_value_is_cut_in_the_message():
    assert len(refusal("open_store", {"store_type": "x" * 5000, "store_name": "S"}).message) < 250
    assert len(refusal("publish_to_store", {**PUBLISH, "plan": 10**6000}).message) < 250


def test_two_moves_for_one_product_are_refused_before_time_is_charged():
    year = Year(default_world())
    sku, email = year.setting.world.skus.sku_id[0], year.setting.world.suppliers[0].email
    offer = {"action": "offer", "sku_id": sku, "price": 5.0, "quantity": 1}
    other = offer | {"sku_id": year.setting.world.skus.sku_id[1]}
    for second in (offer, offer | {"price": 6.0}, offer | {"action": "accept"}, {"action": "reject", "sku_id": sku}):
        result = year.call("chatbox", {"uids": [email], "actions": [offer, other, second]})
        assert (result.error.code, result.error.field) == ("invalid_arguments", "actions")
        assert (
            f"sku_id={sku!r} is in items 0 and 2; one move per product and message is allowed" in result.error.message
        )
        assert result.time["minutes_charged"] == 0
    assert (year.state.minute, year.state.book["records"]) == (480, [])
    assert year.call("chatbox", {"uids": [email], "actions": [offer, other]}).ok
