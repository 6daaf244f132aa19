"""The years that were written down are played again, to the last posting."""

from __future__ import annotations

import pytest

from tests.goldens.years import CALLS, FULL, SHORT, golden_line, golden_lines


@pytest.mark.parametrize("key", [*CALLS, *SHORT, *(pytest.param(key, marks=pytest.mark.slow) for key in FULL)])
def test_a_year_is_as_it_was_written_down(key):
    assert golden_line(key) == golden_lines()[key]
