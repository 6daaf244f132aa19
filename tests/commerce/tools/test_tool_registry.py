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


def keys_of(schema):
    """Every key of a schema at any depth, names of properties apart."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema), set())
    if not isinstance(schema, dict):
        return set()
    inner = schema.get("properties", {})
    rest = {key: value for key, value in schema.items() if key != "properties"}
    return set(schema) | keys_of(list(rest.values())) | keys_of(list(inner.values()))


@pytest.mark.parametrize("schema", tool_schemas(), ids=list(TOOLS))
def test_schemas_are_plain_at_every_level(schema):
    assert keys_of(schema["function"]["parameters"]) <= {
        "type", "properties", "required", "items", "enum", "description",
    }  # fmt: skip
    json.dumps(schema, allow_nan=False)
    assert str(TOOLS[schema["function"]["name"]].minutes or "rest of the day") in schema["function"]["description"]


def test_limits_are_said_in_words_and_enumerations_are_in_the_schema():
    by_name = {schema["function"]["name"]: schema["function"]["parameters"] for schema in tool_schemas()}
    item = by_name["publish_to_store"]["properties"]["plan"]["items"]
    assert item["required"] == ["product_id", "quantity", "retail_price"]
    assert item["properties"]["quantity"] == {"type": "integer", "description": "whole units; 1 to 1,000,000"}
    assert item["properties"]["retail_price"]["description"].endswith("at most 1,000,000,000, above 0")
    assert by_name["publish_to_store"]["properties"]["plan"]["description"] == "1 to 500 entries"
    assert by_name["chatbox"]["properties"]["content"]["description"].endswith("at most 4,000 characters")
    assert by_name["check_store_status"]["properties"]["store_id"]["type"] == "string"
    speed = by_name["ship_orders"]["properties"]["speed"]
    assert speed == {"type": "string", "enum": ["fast", "standard", "slow"], "description": "left out it is standard"}
    assert by_name["ship_orders"]["required"] == ["action"]
