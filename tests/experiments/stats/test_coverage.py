"""What ``python -m tests.bench.coverage`` prints is what the product computes, and holds what we say."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.sessions.summary import lower_tail
from terms.estimates import Ratio, estimate_mean, estimate_ratios
from tests.bench.coverage import (
    LAWS,
    SIZES,
    cell_text,
    cover,
    coverage_table,
    lower_tails,
    mean_of_blocks,
    ratio_of_blocks,
)


def test_the_vectorised_intervals_are_those_of_the_product(rng):
    top, bottom = rng.exponential(size=(3, 30)), rng.integers(0, 3, (3, 30)).astype(float)
    means, ratios = mean_of_blocks(top), ratio_of_blocks(top * bottom, bottom)
    for row in range(3):
        one = estimate_mean(top[row])
        assert (one.low, one.high) == pytest.approx((means[0][row], means[1][row]))
        ratio = Ratio(top[row] * bottom[row], bottom[row])
        kept = (bottom[row] > 0).all()
        found = estimate_ratios([ratio], np.arange(30))
        if kept:
            assert (found.low, found.high) == pytest.approx((ratios[0][row], ratios[1][row]))
    values = rng.normal(size=(1, 400))
    one = lower_tail(values[0].tolist())
    low, high = lower_tails(values)
    assert (one.low, one.high) == pytest.approx((low[0], high[0]))


def test_cells_say_what_is_not_printed():
    found = cover((np.array([0.0, np.nan, 2.0]), np.array([1.0, np.nan, 3.0])), 0.5)
    assert found == pytest.approx((2 / 3, 0.5))
    assert cell_text(found) == "50.0 (67)"
    assert cell_text(cover((np.array([np.nan]), np.array([np.nan])), 0.0)) == "too few"


@pytest.mark.slow
def test_printed_intervals_hold_the_truth_within_two_points():
    """2,000 repetitions have a standard error of 0.5 points, so 92 is two points below nominal and two errors.

    Rows over agents and pairs are means; the worst single ones stand in the printed table.
    """
    missing = []
    for row in coverage_table():
        for n, cell in zip(SIZES, row.cells, strict=True):
            if cell.printed > 0.05 and cell.held < 0.92:
                missing.append((row.kind, n, cell))
    assert len(LAWS) > 15
    assert missing == []
