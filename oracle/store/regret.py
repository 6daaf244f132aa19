r"""Where a year's money went: the gap of its assets to a reference year, as exact Shapley values of six streams.

With :math:`v(S)` the final assets of the played plan whose streams in ``S`` are the reference's
(:mod:`oracle.store.regret_streams`), carried out on the same draws, a stream's part is

.. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(m - |S| - 1)!}{m!}\,[v(S \cup i) - v(S)],

in whole fen that sum to :math:`v(all) - v(\emptyset)`, the gap. Beside it stand what the stream is worth alone,
:math:`v(\{i\}) - v(\emptyset)`, and what lacks when it alone is missing, :math:`v(all) - v(all \setminus i)`. Streams
that are the same in both years are nobody's fault: their parts are 0 and nothing is carried out for them.

A part above 0 is what the reference did better. It is no forecast: the reference knows or decides what it does, the
other decisions stay as they were, and what money one stream saves buys nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from commerce.config import Rules
from commerce.money import to_yuan
from commerce.plan import StorePlan
from commerce.plan.carrying_out import MAX_CUT, Cuts, require_feasible
from commerce.row_tables import data_frame, table_html
from commerce.setting import Setting
from commerce.types import World
from oracle.shapley import coalitions, whole_shapley_values
from oracle.store.compiled_year import PlanRunner
from oracle.store.regret_streams import Stream, TwoYears


class Mixture(NamedTuple):
    """The plan with ``streams`` of the reference, carried out: assets at the end and by day, and what of it was cut."""

    streams: frozenset[Stream]
    assets_fen: int
    end: str | None
    cuts: Cuts
    path_fen: tuple[int, ...] = ()


class StreamRow(NamedTuple):
    """The part of one stream, and its two first-order values; money in fen."""

    stream: str
    part_fen: int
    alone_fen: int
    all_but_fen: int


ForEachPiece = Callable[
    [Callable[[Sequence[frozenset[Stream]]], list[Mixture]], Sequence[Any]], Iterable[list[Mixture]]
]
"""Applies a function to pieces of work, in their order, here or elsewhere: ``map`` does."""


@dataclass(frozen=True, eq=False, repr=False)
class RegretLedger:
    """Which of its decisions left a year behind a reference, and by how much.

    Attributes
    ----------
    agent, reference
        Whose years they are.
    rows
        The parts, in the order of :class:`~oracle.store.regret_streams.Stream`; they sum to ``gap_fen``.
    mixtures
        Every plan that was carried out for it.
    """

    agent: str
    reference: str
    rows: tuple[StreamRow, ...]
    mixtures: tuple[Mixture, ...]

    @property
    def played_fen(self) -> int:
        """Final assets of the year."""
        return self.mixtures[0].assets_fen

    @property
    def reference_fen(self) -> int:
        """Final assets of the reference."""
        return self.mixtures[-1].assets_fen

    @property
    def reference_path_fen(self) -> tuple[int, ...]:
        """Assets of the reference by day, from the first daily step on."""
        return self.mixtures[-1].path_fen

    @property
    def gap_fen(self) -> int:
        """By how much the year stayed behind; below 0 if it came out ahead."""
        return self.reference_fen - self.played_fen

    @property
    def worst_cut(self) -> float:
        """The largest share of the spending that a mixture could not pay."""
        return max(mixture.cuts.share for mixture in self.mixtures)

    @property
    def worst_scaled(self) -> float:
        """The largest share of the spending that a mixture left out because there was less money at hand."""
        return max(mixture.cuts.scaled_share for mixture in self.mixtures)

    @property
    def sentence(self) -> str:
        """Where the money went, in one sentence."""
        gap = f"{to_yuan(abs(self.gap_fen)):,.2f} yuan"
        if self.gap_fen == 0:
            return f"{self.agent} ended where {self.reference} did."
        if self.gap_fen < 0:
            return f"{self.agent} ended {gap} ahead of {self.reference}."
        costly = sorted((row for row in self.rows if row.part_fen > 0), key=lambda row: -row.part_fen)
        told = ", ".join(f"{to_yuan(row.part_fen):,.2f} by {STREAM_WORDS[Stream(row.stream)]}" for row in costly[:3])
        return f"{self.agent} ended {gap} behind {self.reference}: {told}."

    def __repr__(self) -> str:
        """Return the sentence, not every number."""
        return f"<RegretLedger: {self.sentence}>"

    def _repr_html_(self) -> str:
        """Return the rows as a table, for notebooks."""
        rows = ((row.stream, *(f"{to_yuan(fen):,.2f}" for fen in row[1:])) for row in self.rows)
        return table_html(self.sentence, StreamRow._fields, rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame, whose columns are the fields of :class:`StreamRow`."""
        return data_frame(self.rows, StreamRow._fields)

    def to_json_object(self) -> dict[str, Any]:
        """Return the object that is stored."""
        return {
            "agent": self.agent,
            "reference": self.reference,
            "played_fen": self.played_fen,
            "reference_fen": self.reference_fen,
            "gap_fen": self.gap_fen,
            "sentence": self.sentence,
            "rows": [row._asdict() for row in self.rows],
            "worst_cut": self.worst_cut,
            "worst_scaled": self.worst_scaled,
            "mixtures": [
                {
                    "streams": sorted(row.streams),
                    "assets_fen": row.assets_fen,
                    "end": row.end,
                    "cuts": row.cuts._asdict(),
                }
                for row in self.mixtures
            ],
        }


STREAM_WORDS = {
    Stream.PRICE_PAID: "prices paid",
    Stream.SUPPLIER: "suppliers",
    Stream.ASSORTMENT: "assortment, quantity and timing",
    Stream.RETAIL_PRICE: "retail prices and promotions",
    Stream.SHIPPING: "shipping",
    Stream.CASH: "cash",
}
"""What a stream is called in a sentence."""


class NamedPlan(NamedTuple):
    """A plan and whose it is."""

    name: str
    plan: StorePlan


def regret_ledger(
    setting: Setting,
    played: NamedPlan,
    reference: NamedPlan,
    *,
    max_cut: float = MAX_CUT,
    num_pieces: int = 1,
    spread: ForEachPiece = map,
) -> RegretLedger:
    """Split the gap between two years of one world into what each stream of decisions cost.

    Parameters
    ----------
    played, reference
        The year, and whom it is measured against.
    max_cut
        Share of its spending that a mixed plan may be unable to pay.
    num_pieces, spread
        Into how many pieces the work is cut, and what does them.

    Raises
    ------
    ValueError
        If the plans are not of the world of ``setting``, or if more was cut.
    """
    two = TwoYears(setting, played.plan, reference.plan)
    groups = coalitions(two.differing)
    groups[-1] = frozenset(Stream)
    work = partial(carry_out_mixtures, setting.world, setting.rules, played.plan, reference.plan)
    pieces = [groups[start::num_pieces] for start in range(min(num_pieces, len(groups)))]
    found = {mixture.streams: mixture for made in spread(work, pieces) for mixture in made}
    return _ledger(played.name, reference.name, two.differing, [found[group] for group in groups], max_cut)


def carry_out_mixtures(
    world: World, rules: Rules, played: StorePlan, reference: StorePlan, groups: Sequence[frozenset[Stream]]
) -> list[Mixture]:
    """Carry out the played plan with each group of streams taken from the reference."""
    setting = Setting(world, rules)
    two, runner = TwoYears(setting, played, reference), PlanRunner(setting)
    return [Mixture(group, *runner.run(two.plan(group))) for group in groups]


def _ledger(
    agent: str, reference: str, differing: Sequence[Stream], mixtures: Sequence[Mixture], max_cut: float
) -> RegretLedger:
    for mixture in mixtures:
        try:
            require_feasible(mixture.cuts, max_cut)
        except ValueError as error:
            raise ValueError(
                f"with {' and '.join(sorted(mixture.streams)) or 'nothing'} of {reference}, {error}"
            ) from None
    everything = frozenset(differing)
    worth = {mixture.streams & everything: mixture.assets_fen for mixture in mixtures}
    parts = whole_shapley_values(differing, worth)
    nothing: frozenset[Stream] = frozenset()
    rows = [
        StreamRow(
            stream.value,
            parts[stream],
            worth[frozenset({stream})] - worth[nothing],
            worth[everything] - worth[everything - {stream}],
        )
        if stream in parts
        else StreamRow(stream.value, 0, 0, 0)
        for stream in Stream
    ]
    return RegretLedger(agent, reference, tuple(rows), tuple(mixtures))
