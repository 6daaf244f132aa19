"""JSON objects inside free text, with the position of each object and of each of its values.

Two passes over the text, both of which keep every position: :func:`blank_thinking` overwrites private reasoning with
spaces, :func:`find_objects` then walks the braces. An object that does not parse is reported as broken together with
all it encloses, so nothing inside a truncated or malformed object is ever taken for an object of its own.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_TAG = re.compile(
    r"<(?P<close>/?)(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)\b[^<>]{0,64}>|\[(?P<end>/?)THINK\]",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\{|\[(?=\s*\{)")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")


class Value(NamedTuple):
    """A JSON value written at ``text[start:end]``; numbers are floats."""

    value: Any
    start: int
    end: int


class FoundObject(NamedTuple):
    """An object at ``text[start:end]``. ``fields`` is ``None`` where it is broken, and ``problem`` says how."""

    fields: dict[str, Value] | None
    start: int
    end: int
    is_lenient: bool = False
    """Whether a string in it holds a raw control character, such as a line break, which JSON forbids."""
    problem: str = ""


def blank_thinking(text: str) -> str:
    """Overwrite reasoning between thinking tags with spaces, tags included; the length stays.

    An unclosed tag hides the rest of the text. A closing tag without an opening one hides all before it, because some
    servers send the reasoning without its first tag.
    """
    hidden: list[tuple[int, int]] = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag["close"] or tag["end"]:
            if opened is None:
                hidden.clear()
            hidden.append((opened or 0, tag.end()))
            opened = None
        elif opened is None:
            opened = tag.start()
    if opened is not None:
        hidden.append((opened, len(text)))
    pieces, at = [], 0
    for start, end in hidden:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def find_objects(text: str) -> list[FoundObject]:
    """Return the outermost JSON objects of ``text``, in order, sound and broken."""
    found: list[FoundObject] = []
    opening = _OPENING.search(text)
    while opening:
        found.append(_read_at(text, opening.start()))
        opening = _OPENING.search(text, found[-1].end)
    return found


def _read_at(text: str, start: int) -> FoundObject:
    problem = "a list stands where one object is expected"
    if text[start] == "{":
        for is_strict in (True, False):
            try:
                fields, end = _read_object(text, start, is_strict)
            except (ValueError, RecursionError) as error:
                problem = str(error)
            else:
                return FoundObject(fields, start, end, is_lenient=not is_strict)
    end_of_broken = _closing(text, start)
    if end_of_broken is None:
        return FoundObject(None, start, len(text), problem="it is never closed")
    return FoundObject(None, start, end_of_broken, problem=problem)


def _read_object(text: str, start: int, is_strict: bool) -> tuple[dict[str, Value], int]:
    """Read the object that opens at ``start``; return its fields and its end."""
    decoder = json.JSONDecoder(strict=is_strict, parse_float=float, parse_int=float, parse_constant=float)
    fields: dict[str, Value] = {}
    at = _skip_space(text, start + 1)
    if text.startswith("}", at):
        return fields, at + 1
    while True:
        if not text.startswith('"', at):
            raise ValueError(f"a key in double quotes is missing at character {at}")
        key, at = decoder.raw_decode(text, at)
        at = _expect(text, _skip_space(text, at), ":")
        value_start = _skip_space(text, at)
        value, at = decoder.raw_decode(text, value_start)
        if key in fields:
            raise ValueError(f"the key {key[:40]!r} occurs twice")
        fields[key] = Value(value, value_start, at)
        at = _skip_space(text, at)
        if text.startswith("}", at):
            return fields, at + 1
        at = _skip_space(text, _expect(text, at, ","))


def _expect(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise ValueError(f"{mark!r} is missing at character {at}")
    return at + 1


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _closing(text: str, start: int) -> int | None:
    """Return the position after the bracket that closes the one at ``start``, ``None`` if none does."""
    depth = 0
    for token in _BRACKETS.finditer(text, start):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None
