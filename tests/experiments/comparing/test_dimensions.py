"""Seven dimensions: ranks by hand, ties, what is undefined, and who is even."""

from __future__ import annotations

from experiments.comparing.dimensions import DIMENSIONS, dimension_rows, on_top_sentence, rank_dimensions
from experiments.years.summary import YEAR_METRICS
from terms.estimates import UNDEFINED, Estimate


def agent(*numbers):
    return {name: Estimate(value, None, None, 3) for name, value in zip(DIMENSIONS, numbers, strict=True)}


def test_ranks_by_hand():
    """Assets, CSE+ and profit per call are better high, the other four low; equal ones share a rank."""
    values = {
        "x": agent(100.0, 0.9, 20.0, 0.5, 2.0, 0.1, 1.2),
        "y": agent(300.0, 0.5, 0.0, 0.5, 1.0, -0.1, 0.8),
        "z": {**agent(200.0, 0.7, 10.0, 0.4, 3.0, 0.0, 1.0), "anchor_ratio": UNDEFINED},
    }
    rows = rank_dimensions(values)
    assert [row.agent for row in rows] == ["y", "z", "x"]
    assert {row.agent: [cell.rank for cell in row.cells] for row in rows} == {
        "x": [3, 1, 3, 2, 2, 3, 2], "y": [1, 3, 1, 2, 3, 1, 1], "z": [2, 2, 2, 1, 1, 2, None],
    }  # fmt: skip
    assert [row.worst_rank for row in rows] == [3, 2, 3]
    assert [row.is_on_top for row in rows] == [True, False, True]
    assert on_top_sentence(rows) == "Among the first 5 in all seven: y, x."
    assert dimension_rows(rows)[1][1] == "200.00 (2)"
    assert dimension_rows(rows)[1][-2:] == ("-", "2")


def test_only_the_first_five_are_on_top():
    values = {f"a{place}": agent(*[float(place)] * 7) for place in range(7)}
    rows = rank_dimensions(values)
    assert on_top_sentence(rows) == "Among the first 5 in all seven: a4, a3, a2."  # 6 is first in three, 0 in four
    assert on_top_sentence(rows[:1]) == "Among the first 5 in all seven: nobody."
    assert [row.cells[0].rank for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert rows[0].to_json_object()["dimensions"]["bad_spend_pct"]["rank"] == 7
    assert rank_dimensions({"a": {}})[0].worst_rank is None


def test_every_dimension_has_a_better_side():
    assert len(DIMENSIONS) == 7
    assert all(YEAR_METRICS[name].better in ("higher", "lower") for name in DIMENSIONS)
