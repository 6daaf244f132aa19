"""The glossary is kept: its rows are whole, and no name of the code uses a word that it rules out."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from tests.test_architecture import ROOT, Sources, read_sources

GLOSSARY = ROOT / "notebooks" / "glossary.md"
ALLOWED = {
    "bot": "the stand-in for a model inside the fault server",
    "bot_reply": "likewise",
    "reward": "the word of Gymnasium's interface",
    "turn_reward": "the word of those who train, for what one move is paid",
    "turn_rewards": "likewise",
    "news_content": "a column of the published files",
}
"""Names that hold a ruled-out word all the same, each with its reason."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def rows() -> list[list[str]]:
    """Return the cells of every row of the glossary, headings aside."""
    lines = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "word" and not set(row[0]) <= {"-"}]


def parts(name: str) -> str:
    """Return a name as its lower-case words: ``FullInformation`` and ``full_information`` are the same."""
    return "_".join(part.lower() for part in _PART.findall(name))


def misnamed(sources: Sources, words: set[str]) -> Iterator[str]:
    """Yield every name of the code that holds one of ``words``, as ``module: name``."""
    found = re.compile(rf"(?:^|_)(?:{'|'.join(sorted(words))})(?:_|$)")
    for module, source in sources.items():
        names = {token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == 1}
        for name in sorted(names | set(module.split("."))):
            if found.search(parts(name)) and parts(name) not in ALLOWED:
                yield f"{module}: {name}"


def test_no_name_uses_a_word_that_the_glossary_rules_out():
    words = {word for row in rows() for word in re.findall(r"`(\w+)`", row[2])}
    assert words >= {"luck", "insider", "roster", "news"}
    assert list(misnamed(read_sources(ROOT), words)) == []


def test_rows_are_whole_and_no_word_is_explained_twice():
    assert all(len(row) == 3 and row[0] and row[1] for row in rows())
    words = [word for row in rows() for word in row[0].split(", ")]
    assert sorted({word for word in words if words.count(word) > 1}) == []
    ruled_out = {word for row in rows() for word in re.findall(r"`(\w+)`", row[2])}
    assert not ruled_out & set(words)


def test_planted_names_are_found():
    source = "class BadLuck: ...\ndef luckily(): return 'luck'\nmade_luck = 1\nbot = 2  # luck\n"
    assert list(misnamed({"terms.news_desk": source}, {"luck", "bot", "news"})) == [
        "terms.news_desk: BadLuck",
        "terms.news_desk: made_luck",
        "terms.news_desk: news_desk",
    ]
