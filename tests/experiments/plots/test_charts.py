"""Charts draw what they are given on the axis they are given; SVG takes its colours from the page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from experiments.plots.charts import plot_curves, plot_intervals
from experiments.report.page import PAGE_PALETTE, Margins, SvgSheet
from experiments.report.panels import _limits
from terms.estimates import UNDEFINED, Estimate

HALF = Estimate(0.5, 0.4, 0.6, 20)
ALONE = Estimate(0.7, None, None, 1)


def new_axis():
    return Figure().add_subplot()


def test_intervals_have_a_line_and_a_dot_and_undefined_has_neither():
    ax = new_axis()
    assert plot_intervals(ax, ["a", "b", "c"], [HALF, ALONE, UNDEFINED]) is ax
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]
    assert drawn == [([0.4, 0.6], [0, 0]), ([0.5], [0]), ([0.7], [1])]
    assert [text.get_text() for text in ax.texts] == ["undefined"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is on top


def test_curve_leaves_a_gap_where_it_is_undefined():
    ax = new_axis()
    assert plot_curves(ax, [HALF, UNDEFINED, ALONE], others=[[HALF]]) is ax
    other, own = ax.lines
    np.testing.assert_array_equal(own.get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(own.get_ydata(), [0.5, np.nan, 0.7])
    np.testing.assert_array_equal(other.get_ydata(), [0.5])


@pytest.mark.parametrize("curve", [[], [UNDEFINED], [UNDEFINED] * 10])
def test_a_curve_with_nothing_in_it_is_an_empty_axis(curve):
    assert SvgSheet().draw(lambda ax: plot_curves(ax, curve), size=(200, 100), margins=Margins(9, 9, 9, 9), label="x")


def test_labels_are_not_read_as_formulas_and_survive_as_text():
    hostile = 'a$_b$ <i> style="x" id="y" &'
    sheet = SvgSheet()
    svg = sheet.draw(
        lambda ax: plot_intervals(ax, [hostile], [HALF]), size=(300, 90), margins=Margins(99, 20, 9, 9), label=hostile
    )
    assert 'a$_b$ &lt;i&gt; style="x" id="y" &amp;' in svg
    assert 'aria-label="a$_b$ &lt;i&gt; style=&quot;x&quot;' in svg


def test_colours_become_variables_and_styles_become_classes():
    sheet = SvgSheet()
    accent = PAGE_PALETTE.accent
    svg = sheet.draw(
        lambda ax: ax.plot([0, 1], [0, 1], color=accent) and ax,
        size=(120, 90),
        margins=Margins(20, 20, 9, 9),
        label="x",
    )
    assert not re.search(r"style=|<style|#0101|<metadata|http", svg)
    assert "var(--accent)" in sheet.css()
    assert not re.search(r"#0101|font-family", sheet.css())
    used = set(re.findall(r'class="(m\d+)"', svg))
    assert used == set(re.findall(r"\.(m\d+)\{", sheet.css()))


def test_two_charts_on_a_page_share_no_id_and_refer_to_their_own():
    sheet = SvgSheet()
    both = [
        sheet.draw(lambda ax: plot_curves(ax, [HALF, HALF]), size=(200, 90), margins=Margins(20, 20, 9, 9), label="x")
        for _ in range(2)
    ]
    ids = [set(re.findall(r'\bid="([^"]*)"', svg)) for svg in both]
    assert ids[0]
    assert not ids[0] & ids[1]
    for own, svg in zip(ids, both, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^")]*)', svg)) <= own


def test_scale_holds_every_estimate_to_a_tenth_but_not_an_absurd_one():
    assert _limits([Estimate(0.43, -3, 9, 2), UNDEFINED], top=0.0) == (0.0, 0.5)
    assert _limits([Estimate(-0.11, None, None, 1)], top=1.0) == (-0.2, 1.0)
    assert _limits([Estimate(1e300, None, None, 1)], top=0.0) == (0.0, 1.5)
    assert _limits([], top=0.0) == (0.0, 0.1)
