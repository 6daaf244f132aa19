"""What a model wrote as text: private reasoning blanked out, and the JSON objects that are left, each with its place.

Private reasoning is overwritten with spaces, so that every position stays.

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

An object that does not parse is reported as broken together with all it encloses, so nothing inside a truncated or
malformed object is ever taken for an object of its own. An object that a sentence only speaks of is found like any
other; :func:`spoken_as` tells it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

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


SpokenAs = Literal["own", "example", "inside"]

_OPENING = re.compile(r"\{|\[(?=\s*\{)")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_FENCE = re.compile(r"(?:```|~~~)[^\S\n]*[\w+-]*|`")
_CLAUSE = re.compile(r"[.!?;\n。！？；]|,\s*(?:so|hence|thus|therefore|here|my)\b|\bbut\b", re.IGNORECASE)
"""Where a clause starts: what is denied or weighed before it says nothing of what follows."""
_EXAMPLE = re.compile(
    r"\be\.g\.|\b(?:examples?|for instance|hypothetical\w*|could|might|considered|tempted|instead of|rather than|"
    r"refuse|decline|if|unless|until|maybe|perhaps|options?|fool|foolish|mistake|unwise|wrong|bad|premature|hesitate|later|"
    r"too (?:early|soon|hasty|risky)|next (?:round|turn|time)|(?:hope|want|wish|expect)(?:s|es) (?:me|that|my|for)|"
    r"they (?:hope|want|wish|expect)|(?:their|his|her|(?:opponent|counterpart|seller|buyer|supplier|side)['’]s)\s+"
    r"(?:likely |next )?(?:reply|answer|move)|(?:likely|expected) (?:reply|answer|move)|"
    r"instructions? says?|wenn|falls|würde|könnte|si|pourrais|podría)\b|如果|假如|要是|不(?:会|能|应|该|要)|"
    r"^\W*(?:thoughts?|thinking|reasoning|analysis|rationale|reflection|plan|(?:the )?(?:required |expected )?"
    r"(?:format|schema|template|syntax))\b(?:\s+is)?\W*:|"
    r"^\W*(?:the )?(?:required |expected )?(?:format|schema|template|syntax) is\b|"
    r"(?:\b(?:not|cannot|never|nobody|no (?:way|reason|need|point|sense)|nicht|nie|kein\w*|pas|no voy)|n['’]t)"
    r"(?:\s+[\w'’]+){0,6}\s*[:：,-]?$|~~$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:[:=>]|(?:\b|_)(?:answer|move|reply|response|decision|choice|offer|choose|with|final|finally|then|so|therefore|is|"
    r"send|here|call|tool|action|json|object|output|result|box))\W*$",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\s*\?|\W*(?:but|however|yet|though|although|except|unless|is not|is too|is wrong|would|was|were|no|not|hmm|wait|"
    r"i(?:['’]m| am) not sure)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[\s\"')*]*,?\s*[a-z]")
_LEAD = 200
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


def find_objects(text: str) -> list[FoundObject]:
    """Return the outermost JSON objects of ``text``, in order, sound and broken."""
    found: list[FoundObject] = []
    opening = _OPENING.search(text)
    while opening:
        found.append(_read_at(text, opening.start()))
        opening = _OPENING.search(text, found[-1].end)
    return found


def spoken_as(text: str, found: Sequence[FoundObject], place: int) -> SpokenAs:
    """Return how the sentence of object number ``place`` speaks of it.

    The sentence is what stands on its own line since the object before it, and up to the one after it: it may call the
    object an ``example`` or take it back, hold it ``inside``, or leave it on its ``own``.
    """
    item = found[place]
    before = found[place - 1].end if place else 0
    after = found[place + 1].start if place + 1 < len(found) else len(text)
    lead = _FENCE.sub("", text[max(before, item.start - _LEAD) : item.start]).strip()
    trail = _FENCE.sub("", text[item.end : after]).partition("\n")[0]
    if _EXAMPLE.search(_CLAUSE.split(lead)[-1]) or _TAKES_BACK.match(trail):
        return "example"
    sentence = re.split(r"[.!?\n]", text[before : item.start])[-1].strip(" \t*_>-`\"'(#")
    if sentence.endswith((":", "：")) or not any(map(str.isalpha, sentence)):
        return "own"
    return "inside" if _GOES_ON.match(trail) or not _ANNOUNCES.search(sentence) else "own"


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
