"""The answer of a report about episodes, before any detail: who takes how much, and by what the rest is lost.

Runs on one suite are one answer; the suite with the most runs is told in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import terms
from experiments.report.losing import ToldEpisode, costliest, main_loss
from experiments.report.money_answers import money_headline
from experiments.report.page import format_number
from experiments.report.page_facts import Waterfall
from experiments.report.published import place_among
from experiments.report.sections import RunView, SuiteView
from terms.estimates import Estimate

NUM_EPISODES_TOLD = 3


@dataclass(frozen=True)
class EpisodeAnswers:
    """What the first screen says: a sentence, further sentences by suite, and the costliest negotiations."""

    lead: str
    others: Mapping[str, str]
    told: Sequence[ToldEpisode]
    main: SuiteView


def answer_episodes(suites: Sequence[SuiteView], waterfalls: Sequence[Waterfall], viewer_limit: int) -> EpisodeAnswers:
    """Return the answers about the runs of ``suites``."""
    main = max(suites, key=lambda suite: len(suite.views))
    lead = headline(main, waterfalls)
    others: dict[str, str] = {}
    if main.earners:
        others, lead = {"As shares of the surplus": lead}, money_headline(main)
    others |= {
        suite.label: money_headline(suite) if suite.earners else headline(suite, waterfalls)
        for suite in suites
        if suite is not main
    }
    return EpisodeAnswers(lead, others, told_episodes(main.views, viewer_limit), main)


def headline(suite: SuiteView, waterfalls: Sequence[Waterfall] = ()) -> str:
    """Say in a sentence or two who leads a suite, where it loses the rest, and what it should mend."""
    valid = [placement for placement in suite.placements if placement.view.gate.is_valid]
    scored = [p for p in valid if p.view.summary.overall["se_plus"].estimate is not None]
    if not scored:
        return "No run on this suite has a valid, defined SE+."
    best = scored[0]
    value = best.view.summary.overall["se_plus"]
    name = best.view.run.agent
    text = f"{name} takes {percent(value)} of the surplus it could have had"
    tied = [p.view.run.agent for p in scored[1:] if set(p.letters.split()) & set(best.letters.split())]
    facts = [f"the most of {len(scored)} agents"] if len(scored) > 1 else []
    facts += [f"not told apart from {', '.join(tied)}"] if tied else []
    facts += [place_among(value.estimate or 0.0)] if terms.PUBLISHED_FLAW in suite.notices else []
    text += "".join(f", {fact}" for fact in facts)
    if len(scored) > 1:
        last = scored[-1].view
        text += f"; {last.run.agent} the least, {percent(last.summary.overall['se_plus'])}"
    loss, verdict = main_loss(best.view.loss), _verdict(best.view, waterfalls)
    if loss and len(scored) > 1:
        text += f". Of what {name} loses, {loss}"
    elif loss:
        text += f"; of the loss, {loss}"
    return f"{text}{'; ' if verdict else ''}{verdict}."


def _verdict(view: RunView, waterfalls: Sequence[Waterfall]) -> str:
    found = (one.verdict for one in waterfalls if (one.agent, one.suite) == (view.run.agent, view.run.suite))
    return next(found, "")


def percent(value: Estimate) -> str:
    """Return a share in percent with its interval."""
    low, high = (None if bound is None else format_number(100 * bound, 0) for bound in (value.low, value.high))
    bounds = "" if low is None or high is None else f" [{low}, {high}]"
    return f"{format_number(100 * (value.estimate or 0.0), 0)} %{bounds}"


def told_episodes(views: Sequence[RunView], viewer_limit: int) -> list[ToldEpisode]:
    """Return the costliest episodes of valid runs, of as many agents as there are."""
    valid = [view for view in views if view.gate.is_valid]
    each = NUM_EPISODES_TOLD if len(valid) < NUM_EPISODES_TOLD else 1
    found = [
        told._replace(agent=view.run.agent, dollars=view.run.dollars_lost.get(told.scenario_id))
        for view in valid
        for told in costliest(view.run.episodes, each, viewer_limit, view.run.dollars_lost)
    ]
    return sorted(found, key=lambda told: -(told.lost if told.dollars is None else told.dollars))[:NUM_EPISODES_TOLD]
