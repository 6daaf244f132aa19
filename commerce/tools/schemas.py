"""Schemas as every server takes them: type, properties, enumerations and words, and nothing else.

Some servers refuse a tool whose schema holds a reference, a range, a default or a closed object. The limits are the
tools' own (:mod:`commerce.tools.arguments`), checked on this side of the wire, and here they are said in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain_schema(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a JSON schema with references put in, optional values by their type, and limits in its description."""
    top = schema if root is None else root
    if "$ref" in schema:
        named = top["$defs"][schema["$ref"].rpartition("/")[2]]
        return plain_schema({**named, **{key: value for key, value in schema.items() if key != "$ref"}}, top)
    branches = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(branches) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return plain_schema({**branches[0], **rest}, top)
    plain = {key: schema[key] for key in ("type", "enum", "required") if key in schema}
    if "properties" in schema:
        plain["properties"] = {name: plain_schema(part, top) for name, part in schema["properties"].items()}
    if "items" in schema:
        plain["items"] = plain_schema(schema["items"], top)
    words = "; ".join(filter(None, (schema.get("description"), _limits(schema), _default(schema))))
    is_top = root is None  # what a tool is for stands beside its parameters
    return {**plain, "description": words} if words and not is_top and plain.get("type") != "object" else plain


def _limits(schema: Mapping[str, Any]) -> str:
    """Return the ranges of a schema in words."""
    found = [
        _range(schema, "minimum", "maximum", ""),
        _range(schema, "minLength", "maxLength", " characters"),
        _range(schema, "minItems", "maxItems", " entries"),
        f"above {_number(schema['exclusiveMinimum'])}" if "exclusiveMinimum" in schema else "",
        f"below {_number(schema['exclusiveMaximum'])}" if "exclusiveMaximum" in schema else "",
    ]
    return ", ".join(filter(None, found))


def _range(schema: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    if low in schema and high in schema:
        return f"{_number(schema[low])} to {_number(schema[high])}{unit}"
    if high in schema:
        return f"at most {_number(schema[high])}{unit}"
    return f"at least {_number(schema[low])}{unit}" if low in schema else ""


def _number(value: float) -> str:
    return f"{value:,.12g}"


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None or value in ("", []) else f"left out it is {value}"
