"""Arguments: what each kind of bad value is told, with field, value and what is allowed."""

from __future__ import annotations

import json

import pytest

from commerce.refusals import RefusedError
from commerce.tools import TOOLS
from commerce.tools.arguments import validate
from commerce.year import Year
from tests.commerce.builders import default_world

PUBLISH = {"store_id": "store_001", "plan": [{"product_id": "p0", "quantity": 3, "retail_price": 9.5}]}
UNITS = {"product_id": "p", "quantity": 25.0}
OFFER = {"action": "offer", "sku_id": "p", "price": 9.0, "quantity": 3}


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
        ("quantity", 1e300, "less than or equal to 1000000"),
        ("quantity", float("inf"), "valid integer"),
        ("quantity", -0.0, "greater than or equal to 1"),
        ("colour", "red", "no such argument; allowed are product_id, quantity, retail_price"),
    ],
)
def test_a_bad_value_is_named(field, value, says):
    item = {**PUBLISH["plan"][0], field: value}
    found = refusal("publish_to_store", {**PUBLISH, "plan": [item]})
    assert (found.code, found.field) == ("invalid_arguments", f"plan.0.{field}")
    assert says in found.message
    assert f"plan.0.{field}" in found.message


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("publish_to_store", PUBLISH | {"plan": [{**PUBLISH["plan"][0], "quantity": 25.0}]}, "plan.0.quantity"),
        ("return_to_warehouse", {"store_id": "s", "items": [UNITS]}, "items.0.quantity"),
        ("chatbox", {"uids": ["u"], "actions": [OFFER | {"quantity": 25.0}]}, "actions.0.quantity"),
        ("ship_orders", {"action": "ship", "shipment_ids": [25.0]}, "shipment_ids.0"),
        *((tool, {"action": "list", name: 25.0} if tool == "ship_orders" else {name: 25.0}, name)
          for tool in ("check_store_status", "list_products", "check_warehouse", "supplier_search", "ship_orders",
                       "trace_return_sources") for name in ("page", "page_size")),
    ],
)  # fmt: skip
def test_a_whole_number_may_be_written_with_a_point(tool, arguments, field):
    """The published schemas say integer, and in JSON Schema 25.0 is one; 25.5 is not, and says where."""
    found = validate(TOOLS[tool].arguments, arguments).model_dump()
    for part in field.split("."):
        found = found[int(part) if part.isdigit() else part]
    assert (found, type(found)) == (25, int)
    spoiled = json.loads(json.dumps(arguments).replace("25.0", "25.5"))
    assert refusal(tool, spoiled).message == f"{field}=25.5: Input should be a valid integer"


def test_every_integer_of_every_tool_is_read_so():
    """No count of the eighteen schemas was forgotten above."""
    counts = {(tool, name) for tool in TOOLS for name in integers(TOOLS[tool].arguments.model_json_schema())}
    assert len(counts) == 4 + 12
    assert {name for _, name in counts} == {"quantity", "shipment_ids", "page", "page_size"}


def integers(schema):
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, field in part.get("properties", {}).items():
            if '"integer"' in json.dumps(field):
                yield name


def test_an_item_that_is_no_object_is_told_its_fields():
    message = refusal("publish_to_store", {"store_id": "s", "plan": ["p0"]}).message
    assert message == "plan.0='p0': must be an object with product_id, quantity, retail_price"
    assert refusal("check_balance", {"x": 1}).message == "x=1: no such argument; allowed are none"


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
