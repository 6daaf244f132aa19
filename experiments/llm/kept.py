"""JSON that is sent again and again: written once, not with every request.

A conversation of half a megabyte grows by a few lines a turn. Its messages and tools are kept in both forms in which a
request needs them, so that a body is put together from what is written already: as it is sent, and with sorted keys and
in ASCII, as requests are told apart.
"""

from __future__ import annotations

import hashlib
import json
import operator
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from experiments.llm.texts import whole_copy

_as_sent = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_as_told_apart = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


_GROWS = "messages"


class KeptJson(dict[str, Any]):
    """A JSON object that nobody changes any more, of whole characters and finite numbers; see :func:`keep_json`."""

    @cached_property
    def sent(self) -> bytes:
        """How it is sent."""
        return _as_sent(self).encode()

    @cached_property
    def told_apart(self) -> bytes:
        """How it counts in a digest."""
        return _as_told_apart(self).encode()


def keep_json(message: Mapping[str, Any]) -> KeptJson:
    """Return a copy to be kept.

    Raises
    ------
    ValueError
        If a number in it is not finite.
    """
    return message if isinstance(message, KeptJson) else KeptJson(whole_copy(message))


def sent_body(body: Mapping[str, Any]) -> bytes:
    """Return a request body as it is sent.

    >>> sent_body({"model": "m", "messages": [keep_json({"role": "user"}), {"role": "user", "content": "é"}]}).decode()
    '{"model":"m","messages":[{"role":"user"},{"role":"user","content":"é"}]}'
    """
    parts = []
    for name, value in body.items():
        parts += [b",", _as_sent(name).encode(), b":"]
        if isinstance(value, list):
            before = b"["
            for item in value:
                parts += [before, item.sent if isinstance(item, KeptJson) else _as_sent(item).encode()]
                before = b","
            parts.append(b"]" if value else b"[]")
        else:
            parts.append(_as_sent(value).encode())
    parts[:1] = [b"{"]
    return b"".join([*parts, b"}"])  # put together once: copies of half a megabyte are what takes time


class GrowingDigest(threading.local):
    """Digests of requests: in each thread, the kept messages that the latest one began with are hashed once."""

    def __init__(self) -> None:
        self._front = b""
        self._messages: list[KeptJson] = []
        self._state = hashlib.sha256()

    def of(self, url: str, body: Mapping[str, Any]) -> str:
        """Return the SHA-256 of address and body with sorted keys, in ASCII and without blanks."""
        names = sorted(body)
        fields = {
            name: _as_told_apart(name).encode() + b":" + _told_apart(body[name]) for name in names if name != _GROWS
        }
        front = b'{"body":{' + b"".join(fields[name] + b"," for name in names if name < _GROWS) + b'"messages":['
        self._grow(front, body["messages"])
        found, rest = self._state.copy(), body["messages"][len(self._messages) :]
        back = b"".join(b"," + fields[name] for name in names if name > _GROWS)
        found.update(b",".join(map(_told_apart, rest)) + b"]" + back + b'},"url":' + json.dumps(url).encode() + b"}")
        return found.hexdigest()

    def _grow(self, front: bytes, messages: Sequence[Mapping[str, Any]]) -> None:
        known = self._messages
        if front != self._front or len(known) >= len(messages) or not all(map(operator.is_, known, messages)):
            known, self._state = [], hashlib.sha256(front)
        new = _leading_kept(messages[len(known) : -1])
        self._state.update(b"".join([message.told_apart + b"," for message in new]))
        self._front, self._messages = front, [*known, *new]


def _leading_kept(messages: Sequence[Mapping[str, Any]]) -> list[KeptJson]:
    found = []
    for message in messages:
        if not isinstance(message, KeptJson):
            break
        found.append(message)
    return found


def _told_apart(value: Any) -> bytes:
    if isinstance(value, KeptJson):
        return value.told_apart
    if isinstance(value, list):
        return b"[" + b",".join(map(_told_apart, value)) + b"]"
    return _as_told_apart(value).encode()
