"""The one reader of tool arguments. What it accepts depends on the text alone.

The interpreter's own reader gives up at a depth that depends on how deep its caller is, and reads ``1e400`` as an
infinity that nothing can write down again: a year that was recorded so could not be replayed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from commerce.refusals import RefusedError

MAX_DEPTH = 32
"""Objects and lists inside one another; the deepest schema of a tool has three."""
MAX_DIGITS = 4_000
TOO_DEEP = "[" * (MAX_DEPTH + 1)
"""A text that is refused as arguments that are nested too deeply are."""
_SCALARS = frozenset((str, int, float, bool, type(None)))
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def read_text(text: str) -> Any:
    """Return the JSON value that ``text`` is.

    Raises
    ------
    ValueError
        If it is not JSON, has a number that is not finite, or is nested deeper than ``MAX_DEPTH``.
    """
    if _depth_of_text(text) > MAX_DEPTH:
        raise ValueError(f"they are nested deeper than {MAX_DEPTH}")
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)


def read_arguments(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """Return the arguments of a call; left out they are an empty object.

    Raises
    ------
    RefusedError
        If they are no object, or no JSON.
    """
    given: Any = arguments
    try:
        if isinstance(given, str):
            given = read_text(given)
        elif is_too_deep(given):
            given = read_text(TOO_DEEP)
    except ValueError as error:
        raise RefusedError("malformed_arguments", None, f"the arguments are not JSON: {error}") from None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise RefusedError("malformed_arguments", None, f"the arguments are a {kind}; an object is needed")
    return given


def is_too_deep(value: Any) -> bool:
    """Whether objects and lists are nested deeper than ``MAX_DEPTH`` in ``value``."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [one for one in level if type(one) not in _SCALARS and isinstance(one, Mapping | list | tuple)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, Mapping) else one)]
    return True


def _depth_of_text(text: str) -> int:
    depth = deepest = 0
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits; at most {MAX_DIGITS} are allowed")
    return int(digits)
