"""Random calls: no uncaught error, books that hold after every call, time that never runs back, a final end."""

from __future__ import annotations

import pytest

from tests.commerce.fuzzing import run_calls


def test_random_calls():
    counts = run_calls(2_000, seed=5)
    assert counts["ok"] > 500
    assert counts["orders"] > 300


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_random_calls(seed):
    """A tenth of the million that ``python -m tests.commerce.fuzzing 1000000`` makes."""
    assert run_calls(20_000, seed=100 + seed)["calls"] == 20_000
