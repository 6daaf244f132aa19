"""Eighteen tools with closed schemas, and the minutes of the published table."""

from __future__ import annotations

import json

import pytest

from commerce.tools import TOOLS, WAIT, tool_schemas

MINUTES = {
    "open_store": 60, "close_store": 30, "check_store_status": 10, "list_products": 10, "publish_to_store": 20,
    "set_prices": 10, "return_to_warehouse": 15, "join_promotion": 10, "check_balance": 10, "check_warehouse": 10,
    "withdraw": 10, WAIT: None, "chatbox": 30, "operate_memory": 10, "market_search": 30, "supplier_search": 10,
    "ship_orders": 20, "trace_return_sources": 10,
}  # fmt: skip


def test_names_order_and_minutes():
    assert {name: tool.minutes for name, tool in TOOLS.items()} == MINUTES
    assert list(TOOLS) == list(MINUTES)


def objects(schema):
    """Every object schema inside ``schema``."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("schema", tool_schemas(), ids=list(TOOLS))
def test_schemas_are_closed_at_every_level(schema):
    parameters = schema["function"]["parameters"]
    found = list(objects(parameters))
    assert found
    assert all(part["additionalProperties"] is False for part in found)
    json.dumps(schema, allow_nan=False)
    assert str(TOOLS[schema["function"]["name"]].minutes or "rest of the day") in schema["function"]["description"]


def test_ranges_and_enumerations_are_in_the_schema():
    by_name = {schema["function"]["name"]: schema["function"]["parameters"] for schema in tool_schemas()}
    item = by_name["publish_to_store"]["$defs"]["PlanItem"]["properties"]
    assert (item["quantity"]["minimum"], item["quantity"]["maximum"]) == (1, 1_000_000)
    assert item["retail_price"]["exclusiveMinimum"] == 0
    assert by_name["ship_orders"]["properties"]["speed"]["enum"] == ["fast", "standard", "slow"]
    assert by_name["ship_orders"]["required"] == ["action"]
