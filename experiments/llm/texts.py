"""Text that crosses the border: from a template, without the key, and made of whole characters."""

from __future__ import annotations

import functools
import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

MASK = "[key removed]"
_SHORTEST = 8
"""A shorter placeholder such as ``x`` or ``none`` is no secret, and replacing it would garble every text."""


@functools.cache
def _templates(package: str, written: Callable[[object], object]) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, ""),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=written,
    )


def fill_template(package: str, path: str, facts: Mapping[str, Any], written: Callable[[object], object]) -> str:
    """Return the text of a template in ``package``, each fact as ``written`` puts it; one that is missing raises."""
    return _templates(package, written).get_template(path).render(facts).strip()


def whole_characters(text: str) -> str:
    """Return ``text`` with each half of a broken character replaced; it could be neither sent nor stored otherwise."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_copy(value: Any) -> Any:
    """Return a copy of JSON data, all its texts made of whole characters.

    Raises
    ------
    ValueError
        If a number in it is not finite: it could be neither sent nor stored.
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, Mapping):
        return {whole_characters(str(key)): whole_copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_copy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return value


class Redactor:
    r"""Replaces the key in every spelling that a text may give it. Its own ``repr`` shows nothing.

    Each character may be written as it is, percent-encoded, as ``\\uXXXX`` or ``&#N;`` or behind a backslash, however
    often texts were put inside texts (``\\\\uXXXX``, ``%25XX``, ``&amp;#N;``). The whole may stand in hexadecimal, or
    inside base64 at any of its three offsets, of which the characters that hold nothing else are replaced.
    """

    def __init__(self, key: str | None) -> None:
        known = key is not None and len(key) >= _SHORTEST
        self._spellings = _spellings(key) if known and key else None

    def __call__(self, text: str) -> str:
        """Return ``text`` without the key."""
        return text if self._spellings is None else self._spellings.sub(MASK, text)

    def __repr__(self) -> str:
        return "Redactor()"


def _spellings(key: str) -> re.Pattern[str]:
    in_hex = f"(?i:{key.encode('utf-8', 'surrogatepass').hex()})"
    in_base64 = sorted(_in_base64(key), key=len, reverse=True)
    return re.compile("|".join([*("".join(map(_spelt, text)) for text in (key, *in_base64)), in_hex]))


def _spelt(char: str) -> str:
    code = ord(char)
    named = {"&": "amp", "<": "lt", ">": "gt", '"': "quot"}.get(char)
    escaped = {"\n": "n", "\t": "t", "\r": "r"}.get(char)
    percent = "".join(f"%(?:25)*(?i:{byte:02x})" for byte in char.encode("utf-8", "surrogatepass"))
    ways = [rf"\\+(?i:u{code:04x}|x{code:02x})", percent, rf"&(?:amp;)*#(?i:0*{code}|x0*{code:x});"]
    ways += [f"&(?:amp;)*{named};"] if named else []
    ways += [rf"\\+{escaped}"] if escaped else []
    ways += [rf"\\*{re.escape(char)}"]
    return f"(?:{'|'.join(ways)})"


def _in_base64(key: str) -> set[str]:
    """Return the key inside base64 text at each offset, in both alphabets."""
    data, found = key.encode("utf-8", "surrogatepass"), set()
    for offset in range(3):
        whole = b64encode(b"\0" * offset + data).decode().rstrip("=")
        end = (offset + len(data)) * 8 // 6  # what comes after the key may change the last character
        first = {0: 0, 1: 2, 2: 3}[offset]
        part = whole[first:end]
        found |= {part, part.replace("+", "-").replace("/", "_")}
    return found
