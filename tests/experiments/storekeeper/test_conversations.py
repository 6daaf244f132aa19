"""Recorded conversations, compared exactly; see ``tests/goldens/conversations/record.py``."""

from __future__ import annotations

import pytest

from tests.goldens.conversations.record import FOLDER, conversations, record

NAMES = tuple(conversations())


@pytest.mark.parametrize("name", NAMES)
def test_conversation(name):
    recorded = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    told = "run `python -m tests.goldens.conversations.record` and review the difference"
    assert record(conversations()[name]) == recorded, told


def test_no_conversation_is_missing_or_left_over():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(NAMES)
