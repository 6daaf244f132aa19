"""Transcripts of every counterpart family, compared exactly; see ``tests/goldens/regenerate.py``."""

from __future__ import annotations

import pytest

from terms.types import Family
from tests.goldens.regenerate import FOLDER, golden_path, transcript

RECORDED_ELSEWHERE = {"faults.txt", "years.txt"}  # test_every_fault.py, test_golden_years.py


@pytest.mark.parametrize("family", Family)
def test_transcript(family):
    recorded = golden_path(family).read_text(encoding="utf-8")
    assert transcript(family) == recorded, "run `python -m tests.goldens.regenerate` and review the difference"


def test_no_transcript_is_missing_or_left_over():
    transcripts = {golden_path(family).name for family in Family}
    assert {path.name for path in FOLDER.glob("*.txt")} == {*transcripts, *RECORDED_ELSEWHERE}
