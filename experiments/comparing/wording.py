"""Comparisons in words and tables, the same ones in the terminal and in the report."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.stats.families import PairVerdict
from experiments.stats.numerals import interval_text, needed_text, number_text
from experiments.stats.paired import Comparison, Difference

MARKS = {
    PairVerdict.DIFFERENT: "≠",
    PairVerdict.EQUIVALENT: "=",
    PairVerdict.NOT_TOLD_APART: "~",
    PairVerdict.TOO_FEW: "?",
}
"""How a verdict stands in a matrix."""
PAIR_HEADINGS = (
    "pair", "difference [95 %]", "interval of the verdict", "p (Holm)", "verdict", "n", "n needed [95 %]",
    "does better", "sd (unpaired), r",
)  # fmt: skip
LEGEND = "  ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())


def pair_row(found: Difference) -> tuple[str, ...]:
    """Return one pair under :data:`PAIR_HEADINGS`."""
    deviation, unpaired, correlation = found.pairing
    better = found.improvement
    return (
        f"{found.first} - {found.second}",
        f"{number_text(found.estimate)} {interval_text(found.low, found.high)}",
        interval_text(found.low_joint, found.high_joint),
        "-" if found.p_holm is None else f"{found.p_holm:.2g}",
        found.verdict.value,
        str(found.n),
        needed_text(found.needed._asdict()),
        f"{number_text(better.estimate)} {interval_text(better.low, better.high)}",
        f"{number_text(deviation)} ({number_text(unpaired)}), {number_text(correlation)}",
    )


def pairing_sentence(differences: Sequence[Difference]) -> str:
    """Say whether meeting the same draws made the differences surer."""
    known = [(d.pairing.deviation, d.pairing.unpaired_deviation) for d in differences]
    pairs = [(paired, unpaired) for paired, unpaired in known if paired is not None and unpaired is not None]
    if not pairs:
        return "Too few shared blocks to say whether meeting the same draws helps."
    helped = sum(paired < unpaired for paired, unpaired in pairs)
    if not helped:
        return "Meeting the same draws brings nothing here: no difference varies less than between unpaired agents."
    return f"Meeting the same draws makes {helped} of {len(pairs)} differences vary less than between unpaired agents."


def family_sentence(comparison: Comparison) -> str:
    """Say which tests are sure together, and how many pairs they tell apart."""
    tests = f"{comparison.num_tests} tests" if comparison.num_tests > 1 else "1 test"
    return (
        f"{comparison.num_different} of {len(comparison.differences)} pairs are told apart; {tests}, one family, "
        "Holm at 5 %. Two agents share a letter exactly if their own test does not tell them apart."
    )


def matrix(comparison: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of the matrix of all pairs, best agent first.

    Above the diagonal stands the verdict's mark, below it how many blocks the pair needs.
    """
    pairs = {frozenset((each.first, each.second)): each for each in comparison.differences}
    ranked = comparison.ranking
    rows = []
    for row, name in enumerate(ranked):
        cells = [_cell(pairs.get(frozenset((name, other))), row, column) for column, other in enumerate(ranked)]
        rows.append((str(row + 1), f"{name}  {comparison.letters[name]}", *cells))
    return ("", "agent and letters", *(str(place + 1) for place in range(len(ranked)))), rows


def _cell(found: Difference | None, row: int, column: int) -> str:
    if found is None:
        return "" if row == column else "-"
    if row < column:
        return MARKS[found.verdict]
    return "-" if found.needed.estimate is None else f"{found.needed.estimate:,}"
