"""State to and from plain JSON data, exactly: arrays, dataclasses, named tuples and enumerations keep their types.

Mostly empty arrays are stored by their non-zero places. Floats survive because JSON prints the shortest digits that
read back as the same number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

_TYPE, _ARRAY = "!type", "!array"
_PLAIN = frozenset((int, float, str, bool, type(None)))


def encode(value: Any) -> Any:
    """Return ``value`` as JSON data."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {_TYPE: type(value).__name__} | {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        names: tuple[str, ...] = value._fields
        return {_TYPE: type(value).__name__} | {name: encode(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {str(key): part if type(part) in _PLAIN else encode(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [part if type(part) in _PLAIN else encode(part) for part in value]
    return value


def decode(data: Any, types: Iterable[type]) -> Any:
    """Return what :func:`encode` was given; ``types`` are the classes that may occur in it."""
    return _decode(data, {kind.__name__: kind for kind in types})


def _decode(data: Any, types: dict[str, type]) -> Any:
    if isinstance(data, list):
        return [_decode(part, types) for part in data]
    if not isinstance(data, dict):
        return data
    if _ARRAY in data:
        return _decode_array(data)
    parts = {key: _decode(part, types) for key, part in data.items() if key != _TYPE}
    return types[data[_TYPE]](**parts) if _TYPE in data else parts


def _encode_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    places = np.flatnonzero(array)
    head: dict[str, Any] = {_ARRAY: array.dtype.name, "size": array.size}
    if 2 * len(places) > array.size:
        return head | {"values": array.tolist()}
    return head | {"places": places.tolist(), "values": array[places].tolist()}


def _decode_array(data: dict[str, Any]) -> np.ndarray[Any, Any]:
    if "places" not in data:
        return np.array(data["values"], dtype=data[_ARRAY])
    array = np.zeros(data["size"], dtype=data[_ARRAY])
    array[np.array(data["places"], dtype=np.int64)] = data["values"]
    return array
