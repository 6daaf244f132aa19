"""The answer of a report about years, before any detail: how far everybody came, and where the money went.

Years that differ in their world or seed alone are one group. With ledgers (``terms ledger``) a group is told by the
mean of each part over its years; without, by what its own years say: what was paid to honest suppliers above their
floors, and what was paid to frauds at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from commerce.metrics import STATEMENT, Measure
from experiments.comparing.aided import AidGain, aid_gains
from experiments.comparing.dimensions import DimensionRow, rank_dimensions
from experiments.comparing.years import YearOutcomes, compare_years
from experiments.plots.year_answers import AssetsPath, Ceiling
from experiments.years.spec import with_aids
from experiments.years.story import FraudRow, TalkRow, YearStory
from experiments.years.summary import summarize_years
from oracle.store.regret import STREAM_WORDS
from terms.estimates import UNDEFINED, Estimate

NUM_TOLD, NUM_LISTED = 3, 10
"""Costliest talks on the first screen, and in the table."""
_POCKETS = ("bank_fen", "wallet_fen", "escrow_fen")


class StatementLine(NamedTuple):
    """A row of the statement of an agent: yuan a year, over its years with a ledger."""

    label: str
    kind: str
    definition: str
    yuan: Estimate


class ToldTalk(NamedTuple):
    """A talk and the year it is of."""

    year: str
    talk: TalkRow


class ToldPayment(NamedTuple):
    """A payment to a fraud and the year it is of."""

    year: str
    row: FraudRow


@dataclass(frozen=True)
class AgentAnswer:
    """Where the money of one agent's years went.

    Attributes
    ----------
    label
        Whose years, under which rules.
    final, adjusted
        Final assets in yuan, as they are and less what demand and returns brought by chance.
    reference, gap
        Whom the ledgers measure against, and what is lacking to it; ``None`` without a ledger.
    parts
        By what was decided, in yuan behind the reference.
    statement
        The rows that are not 0 in every year.
    talks
        The costliest, over all its years.
    payments
        The largest to frauds.
    alone, all_but
        What each kind of decision would have brought if it alone were the reference's, and if all others were already.
    """

    label: str
    num_years: int
    num_measured: int
    final: Estimate
    adjusted: Estimate
    num_bankrupt: int
    above_floors: float
    to_frauds: float
    reference: str | None
    reference_assets: float | None
    gap: Estimate | None
    parts: Mapping[str, Estimate]
    statement: Sequence[StatementLine]
    talks: Sequence[ToldTalk]
    payments: Sequence[ToldPayment] = ()
    alone: Mapping[str, Estimate] = field(default_factory=dict)
    all_but: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def has_oracle_costs(self) -> bool:
        """Whether its talks are ranked by what the oracle says that they cost."""
        return any(one.talk.is_priced for one in self.talks)

    @property
    def sentence(self) -> str:
        """How it ended and where its money went, as a person would say it."""
        ended = f"ended with {yuan_words(self.final.estimate or 0.0)}"
        if self.num_years > 1:
            ended += f" on average over {self.num_years} years"
        if self.num_bankrupt:
            ended += ", bankrupt" if self.num_years == 1 else f", {self.num_bankrupt} of them bankrupt"
        return f"{ended}, {self.account}"

    @property
    def account(self) -> str:
        """Where its money went."""
        if self.gap is None or self.gap.estimate is None:
            if self.above_floors < 1 > self.to_frauds:
                return "and paid nobody more than the least its suppliers would take"
            above, frauds = yuan_words(self.above_floors), yuan_words(self.to_frauds)
            return f"and paid {above} above the least its honest suppliers would take and {frauds} to frauds"
        gap = self.gap.estimate
        if gap <= 0:
            return f"{yuan_words(-gap)} ahead of {self.reference}"
        costly = [row for row in self.costly_parts if row[1] > 0][:NUM_TOLD]
        told = ", ".join(f"{yuan_words(cost)} by {words}" for words, cost in costly)
        return f"{yuan_words(gap)} behind {self.reference}: {told}"

    @property
    def costly_parts(self) -> list[tuple[str, float]]:
        """What was decided and what it cost, the costliest first."""
        rows = [(words, part.estimate or 0.0) for words, part in self.parts.items()]
        return sorted(rows, key=lambda row: -row[1])


@dataclass(frozen=True)
class Answers:
    """What the first screen and the sections below it say."""

    agents: Sequence[AgentAnswer]
    paths: Sequence[AssetsPath]
    ceiling: Ceiling
    dimensions: Sequence[DimensionRow]
    gains: Sequence[AidGain]
    calendar_year: int

    @property
    def paths_are_means(self) -> bool:
        """Whether any line is of more than one year."""
        return any(one.num_years > 1 for one in self.agents)

    @property
    def lead(self) -> str:
        """One sentence about all agents."""
        if not self.agents:
            return "No year has a score."
        if len(self.agents) == 1:
            return f"{self.agents[0].label} {self.agents[0].sentence}."
        ranked = sorted(self.agents, key=lambda one: -(one.final.estimate or 0.0))
        first, last = ranked[0], ranked[-1]
        most, least = (yuan_words(one.final.estimate or 0.0) for one in (first, last))
        text = f"Of {len(ranked)} agents {first.label} ends highest, with {most}, {last.label} lowest, with {least}"
        costs = {
            words: sum(dict(one.costly_parts).get(words, 0.0) for one in ranked) for words in STREAM_WORDS.values()
        }
        if max(costs.values()) <= 0:
            return f"{text}."
        worst = max(costs, key=lambda words: costs[words])
        return f"{text}; what they leave behind {self.measured[0].reference} goes mostly by {worst}."

    def statement_rows(self, kind: str) -> list[tuple[str, str, list[Estimate | None]]]:
        """Return the rows of ``kind``: label, definition, and the amount of each agent with a ledger."""
        found: dict[str, dict[int, StatementLine]] = {}
        for place, one in enumerate(self.measured):
            for line in one.statement:
                if line.kind == kind:
                    found.setdefault(line.label, {})[place] = line
        order = [item.label for item in STATEMENT.values() if item.label in found]
        rows = [(label, found[label]) for label in order]
        cells = range(len(self.measured))
        return [
            (label, next(iter(row.values())).definition, [row[p].yuan if p in row else None for p in cells])
            for label, row in rows
        ]

    @property
    def measured(self) -> list[AgentAnswer]:
        """The agents with a ledger."""
        return [one for one in self.agents if one.gap is not None]


def answer_years(groups: Mapping[str, Sequence[YearStory]], metrics: Mapping[str, Mapping[str, Estimate]]) -> Answers:
    """Return the answers about the years of ``groups``, with their ``metrics`` over the years; both by label."""
    ranked = sorted(groups, key=lambda label: -(metrics[label]["final_assets"].estimate or 0.0))
    return Answers(
        agents=[_agent(label, groups[label], metrics[label]) for label in ranked],
        paths=[AssetsPath(label, mean_path(list(map(assets_by_day, groups[label])))) for label in ranked],
        ceiling=_ceiling([story for part in groups.values() for story in part]),
        dimensions=rank_dimensions(metrics),
        gains=_gains([story for part in groups.values() for story in part]),
        calendar_year=max((story.calendar_year for part in groups.values() for story in part), default=2026),
    )


def _gains(stories: Sequence[YearStory]) -> list[AidGain]:
    """Return what aids changed, where agents with and without met the same worlds."""
    found: dict[str, dict[str, list[float]]] = {}
    for story in stories:
        spec, world = story.header.spec, story.result["world_digest"]
        final = story.result["metrics"]["final_assets"]["value"]
        by_world = found.setdefault(with_aids(story.header.agent, spec), {})
        by_world.setdefault(f"{world}/{spec.rules_label}/{spec.num_days}", []).append(final)
    concerned = {story.header.agent for story in stories if story.header.spec.aids}
    values = {agent: worlds for agent, worlds in found.items() if agent.partition("+")[0] in concerned}
    is_shared = len({frozenset(worlds) for worlds in values.values()}) == 1
    if len(values) < 2 or not is_shared:
        return []
    return aid_gains(compare_years(YearOutcomes(values, {}), "final_assets"))


def _agent(label: str, stories: Sequence[YearStory], metrics: Mapping[str, Estimate]) -> AgentAnswer:
    told = [(story, story.ledger) for story in stories if story.ledger is not None]
    worlds = [story.result["world_digest"] for story, _ in told]
    ledgers = [ledger for _, ledger in told]

    def means(rows: Sequence[Mapping[str, int]]) -> dict[str, Estimate]:
        years = [{name: Measure(fen / 100, 1) for name, fen in row.items()} for row in rows]
        return summarize_years(years, worlds) if years else {}

    parts = means([{STREAM_WORDS[stream]: fen for stream, fen in one.parts.items()} for one in ledgers])
    rows = means([one.statement for one in ledgers])
    talks = [ToldTalk(story.label, talk) for story in stories for talk in story.talks]
    return AgentAnswer(
        label=label,
        num_years=len(stories),
        num_measured=len(ledgers),
        final=metrics["final_assets"],
        adjusted=metrics.get("luck_adjusted_assets", UNDEFINED),
        num_bankrupt=sum(story.result["end"] == "bankruptcy" for story in stories),
        above_floors=sum(max(0.0, one.talk.above_floor) for one in talks if one.talk.is_honest) / len(stories),
        to_frauds=sum(row.paid for story in stories for row in story.frauds) / len(stories),
        reference=ledgers[0].reference if ledgers else None,
        reference_assets=sum(one.reference_fen for one in ledgers) / len(ledgers) / 100 if ledgers else None,
        gap=means([{"gap": one.gap_fen} for one in ledgers])["gap"] if ledgers else None,
        parts=parts,
        statement=[
            StatementLine(STATEMENT[name].label, STATEMENT[name].kind, STATEMENT[name].definition, yuan)
            for name, yuan in rows.items()
            if any(one.statement[name] for one in ledgers)
        ],
        talks=_costliest(talks),
        payments=sorted(
            (ToldPayment(story.label, row) for story in stories for row in story.frauds if row.paid >= 1),
            key=lambda one: -one.row.paid,
        )[:NUM_TOLD],
        alone=means([{STREAM_WORDS[stream]: fen for stream, fen in one.alone.items()} for one in ledgers]),
        all_but=means([{STREAM_WORDS[stream]: fen for stream, fen in one.all_but.items()} for one in ledgers]),
    )


def _costliest(talks: Sequence[ToldTalk]) -> list[ToldTalk]:
    """Return the costliest talks; the oracle's costs alone where there are any, for the others are of another kind."""
    priced = [one for one in talks if one.talk.is_priced]
    return sorted((one for one in priced or talks if one.talk.lost >= 1), key=lambda one: -one.talk.lost)[:NUM_LISTED]


def assets_by_day(story: YearStory) -> list[float]:
    """Return bank, wallet and escrow in yuan after each day of the calendar; a year that ended stays where it was."""
    found = [sum(row[name] for name in _POCKETS) / 100 for row in story.days]
    final = story.result["metrics"]["final_assets"]["value"]
    found += [final] * (story.header.spec.num_days - len(found))
    return [*found[:-1], final]


def mean_path(paths: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of paths of one length."""
    means: list[float] = np.mean(paths, axis=0).tolist()
    return tuple(means)


def _ceiling(stories: Sequence[YearStory]) -> Ceiling:
    """Return the reference's path and the bound, one for each world, where all ledgers are of one reference."""
    ledgers: dict[str, Any] = {
        story.result["world_digest"]: story.ledger
        for story in stories
        if story.ledger is not None and len(story.ledger.path_fen) == story.header.spec.num_days
    }
    names = {ledger.reference for ledger in ledgers.values()}
    if len(names) != 1:
        return Ceiling()
    paths = [[fen / 100 for fen in ledger.path_fen] for ledger in ledgers.values()]
    bound = sum(ledger.bound_fen for ledger in ledgers.values()) / len(ledgers) / 100
    return Ceiling(AssetsPath(names.pop(), mean_path(paths)), bound)


def yuan_words(yuan: float) -> str:
    """Return an amount as one says it."""
    if abs(yuan) >= 1e6:
        return f"{yuan / 1e6:,.2f} million yuan"
    return f"{round(yuan, -3):,.0f} yuan" if abs(yuan) >= 1e5 else f"{yuan:,.0f} yuan"
