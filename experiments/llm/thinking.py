"""Private reasoning inside a reply's text, overwritten with spaces so that every position stays.

Each family of models has marks of its own, and a server without the right parser passes them on as text. A mark that
opens hides all up to the mark of its family that closes, or to the end. One that closes without an opening one hides
all before it, because some servers send the reasoning without its first mark.

==============  ===================================================  ==============================================
family          opens                                                closes
==============  ===================================================  ==============================================
tag             ``<think>``, ``<seed:think>``, ``<reasoning ...>``   ``</think>``
special         ``<|START_THINKING|>``, ``<|begin_of_thought|>``     ``<|END_THINKING|>``, ``<|end_of_thought|>``
bracket         ``[THINK]``                                          ``[/THINK]``
triangle        ``◁think▷``                                          ``◁/think▷``
channel         ``<|channel|>analysis<|message|>``, any but final    ``<|channel|>final<|message|>``, ``<|end|>``
bare channel    ``analysis`` at the start, its marks left out        ``assistantfinal``
steps           ``Here are my reasoning steps:`` at the start        ``[BEGIN FINAL RESPONSE]``
process         ``Here is my thought process:`` at the start         ``Here is my response:``
unused          ``<unused94>``                                       ``<unused95>``
==============  ===================================================  ==============================================

A fenced block whose language is ``thinking`` or the like is hidden whole, and so are the marks around an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_WORD = (
    r"(?:\w{1,20}[:_-])?(?:think|thinking|thoughts?|reasoning|reflection|scratch_?pad|analysis|rationale|monologue|cot)"
)
_FAMILIES = {
    "tag": (rf"<{_WORD}\b[^<>|]{{0,64}}>", rf"</{_WORD}\b[^<>|]{{0,64}}>"),
    "special": (rf"<\|(?!end)(?:start_|begin_of_|begin_)?{_WORD}\|>", rf"<\|(?:/|end_of_|end_){_WORD}\|>"),
    "bracket": (r"\[THINK\]", r"\[/THINK\]"),
    "triangle": (rf"◁{_WORD}▷", rf"◁/{_WORD}▷"),
    "channel": (
        r"(?:<\|start\|>\w*)?<\|channel\|?>(?!\s*final)\s*\w*(?:(?:[^<\n]|<\|constrain\|>){0,100}<\|message\|>)?",
        r"(?:<\|start\|>\w*)?<\|channel\|?>\s*final(?:[^<]|<\|constrain\|>){0,100}<\|message\|>|<channel\|>",
    ),
    "bare channel": (r"\A\s*analysis(?=[A-Z])|\A\s*analysis(?=.*assistantfinal)", r"assistantfinal"),
    "steps": (r"\A\s*Here are my reasoning steps:", r"\[BEGIN FINAL RESPONSE\]"),
    "process": (r"\A\s*Here is my thought process:", r"Here is my response:"),
    "unused": (r"<unused94>", r"<unused95>"),
}
_NEEDS_OPENING = ("process", "bare channel")
"""Closed by words that may stand in any reply."""
_WHOLE = r"```(?:think|thinking|thoughts?|reasoning|analysis)[^\S\n]*\n.*?(?:```|\Z)"
_END_OF_TURN = r"<\|(?:end|return|call)\|>"
_AROUND = r"<\|(?:start|end)_response\|>|<\|(?:begin|end)_of_solution\|>|\[END FINAL RESPONSE\]|<\|start\|>\w*"
_PLACES = list(_FAMILIES)
_MARKS = re.compile(
    "|".join(
        [f"(?P<whole>{_WHOLE})"]
        + [
            f"(?P<{kind}{place}>{pattern})"
            for place, name in enumerate(_PLACES)
            for kind, pattern in zip(("open", "close"), _FAMILIES[name], strict=True)
        ]
        + [f"(?P<turn>{_END_OF_TURN})", f"(?P<around>{_AROUND})"]
    ),
    re.IGNORECASE | re.DOTALL,
)


class _Mark(NamedTuple):
    """A mark at ``text[start:end]``: it opens or closes its family, or is hidden for itself."""

    kind: str
    family: str
    start: int
    end: int


def blank_thinking(text: str) -> str:
    """Overwrite reasoning with spaces, its marks included; the length stays."""
    hidden: list[tuple[int, int]] = []
    opened: _Mark | None = None
    for mark in _marks(text):
        if opened is not None and mark.kind == "close" and mark.family == opened.family:
            hidden.append((opened.start, mark.end))
            opened = None
        elif opened is None and mark.kind == "open":
            opened = mark
        elif opened is None and mark.kind == "close" and mark.family not in _NEEDS_OPENING:
            hidden = [(0, mark.end)]
        elif opened is None and mark.kind == "alone":
            hidden.append((mark.start, mark.end))
    if opened is not None:
        hidden.append((opened.start, len(text)))
    pieces, at = [], 0
    for start, end in hidden:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _marks(text: str) -> Iterator[_Mark]:
    is_channel = False
    for found in _MARKS.finditer(text):
        name = found.lastgroup or ""
        kind = name.rstrip("0123456789")
        family = _PLACES[int(name[len(kind) :])] if kind in ("open", "close") else ""
        if kind == "turn":
            kind, family = ("close", "channel") if is_channel else ("alone", "")
        is_channel = kind == "open" and family == "channel" if kind in ("open", "close") else is_channel
        yield _Mark(kind if kind in ("open", "close") else "alone", family, *found.span())
