"""What the oracle adds to a report: decompositions, its word on the worst negotiations, what could be believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, Field

from experiments.episodes.folder import Run
from experiments.report import BeliefFacts, PosteriorCheck, Waterfall
from experiments.report.viewer import VIEWER_LIMIT, select_episodes
from experiments.storage.files import read_given
from experiments.storage.journal import errors_in_words
from oracle.parts import Part, advice
from terms.estimates import Estimate
from terms.records import EpisodeRecord
from terms.strict_json import strict_loads
from terms.types import Decision

SPREAD_SEED = 0

if TYPE_CHECKING:
    from oracle.belief_errors import BeliefErrors, Trace
    from oracle.calibration import Calibration
    from oracle.explain import MoveReview
    from oracle.interventions import BayesOptimal


def read_waterfall(path: Path, labels: Mapping[str, str]) -> Waterfall:
    """Read what ``terms decompose --out`` wrote; ``labels`` names the suites of the report by digest.

    Raises
    ------
    ValueError
        If the file is no decomposition, or is of episodes that no run of the report played.
    """
    try:
        found = _DecompositionFile.model_validate(strict_loads(read_given(path)))
        slices: dict[str, dict[str, Estimate]] = {}
        for row in found.rows:
            slices.setdefault(row.label, {})[row.part] = Estimate(row.estimate, row.low, row.high, row.n)
        for label, parts in slices.items():
            if missing := {Part.PLAYED, Part.GAP} - parts.keys():
                raise ValueError(f"rows: {label} has no part {min(missing)}")
    except ValueError as error:
        words = errors_in_words(error)
        raise ValueError(f"decomposition={str(path)!r} is not what terms decompose --out writes: {words}") from error
    if found.suite_digest not in labels:
        raise ValueError(f"decomposition={str(path)!r} is on {found.suite}, whose episodes no run here has played")
    words = ". ".join(filter(None, (advice(found.diagnosis.fault), found.diagnosis.words)))
    return Waterfall(found.agent, labels[found.suite_digest], found.reference, slices, words)


class _DecompositionRow(BaseModel):
    label: str
    part: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int = Field(ge=0)


class _FaultFound(BaseModel):
    fault: str
    words: str = ""


class _DecompositionFile(BaseModel):
    """What a report takes of the file of a decomposition; the file has more."""

    agent: str
    reference: str
    suite: str
    suite_digest: str
    diagnosis: _FaultFound
    rows: list[_DecompositionRow] = Field(min_length=1)


def worst_episodes(run: Run, num: int) -> list[EpisodeRecord]:
    """Return the ``num`` scored episodes of the viewer with the most surplus lost."""
    shown = select_episodes(run.records, VIEWER_LIMIT)
    return [record for record in shown if not record.is_excluded][:num]


def review_run(
    run: Run, records: Sequence[EpisodeRecord], bayes_optimal: BayesOptimal, tell: Callable[[], None] = lambda: None
) -> dict[str, list[dict[str, Any]]]:
    """Return the oracle's word on every move of ``records``, by scenario; ``tell`` is called after each episode."""
    from oracle.explain import explain

    scenarios = {scenario.scenario_id: scenario for scenario in run.header.spec.build()}
    reviews = {}
    for record in records:
        told = explain(scenarios[record.scenario_id], record, bayes_optimal=bayes_optimal)
        reviews[record.scenario_id] = [_plain(move) for move in told.moves]
        tell()
    return reviews


def follow_run(run: Run, tell: Callable[[], None] = lambda: None) -> Trace:
    """Follow the exact posterior along a run's scored episodes; ``tell`` is called after each.

    Raises
    ------
    ValueError
        If no episode is scored.
    """
    from oracle.belief_errors import trace_beliefs

    return trace_beliefs(run.header.spec.build(), run.records, rng=np.random.default_rng(SPREAD_SEED), tell=tell)


def belief_facts(errors: BeliefErrors) -> BeliefFacts | None:
    """Return what the report shows of stated beliefs; ``None`` if no full belief was stated."""
    from oracle.belief_errors import ERROR_PARTS

    overall = {part: errors.overall(part)._asdict() for part in ERROR_PARTS}
    if overall["be_type"]["stated"].estimate is None:
        return None
    return BeliefFacts(overall, {part: errors.curves(part)._asdict() for part in ERROR_PARTS})


def posterior_check(suite: str, calibrations: Sequence[Calibration]) -> PosteriorCheck:
    """Return whether the posterior was calibrated on all runs of one suite, the same scenario's runs as one cluster."""
    from oracle.calibration import Calibration

    pooled = Calibration.pooled(calibrations)
    return PosteriorCheck(suite, pooled.shares(), pooled.frequencies(), len(pooled.transform))


def _plain(move: MoveReview) -> dict[str, Any]:
    low, high = move.exact["r_interval"]
    return {
        "round": move.round,
        "reference": _words(move.reference_decision, move.reference_price),
        "cost": move.cost,
        "hindsight_cost": move.hindsight_cost,
        "r_low": low,
        "r_mean": move.exact["r_mean"],
        "r_high": high,
        "feasible_prob": move.exact["feasible_prob"],
    }


def _words(decision: Decision, price: float | None) -> str:
    if decision is Decision.OFFER:
        return f"would offer {price:.2f}"
    return "would accept" if decision is Decision.ACCEPT else "would leave"
