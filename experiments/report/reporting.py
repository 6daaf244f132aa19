"""From run folders to the report: comparisons per suite, facts for the appendix, one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.comparing.wording import LEGEND, PAIR_HEADINGS, family_sentence, matrix, pair_row, pairing_sentence
from experiments.episodes.config import DATA, SUITE, SuiteSpec, check_same_suite
from experiments.episodes.folder import Run, run_money
from experiments.episodes.money_metrics import MoneyRow, money_object, summarize_money
from experiments.llm.calls import MODEL_CALLS, read_calls
from experiments.llm.spending import dollars_text
from experiments.players.costing import call_facts, cost_per_episode, reply_rates
from experiments.report import ModelFacts, ReportRun, SuiteComparison, write_report
from experiments.report.explaining import belief_facts, posterior_check, read_waterfall
from experiments.stats.paired import compare_outcomes, scenario_outcomes
from terms.estimates import Estimate

if TYPE_CHECKING:
    from oracle.belief_errors import Trace

Reviews = Mapping[Path, Mapping[str, Sequence[Mapping[str, Any]]]]


def report_on(
    runs: Sequence[Run],
    path: Path,
    *,
    title: str,
    decompositions: Sequence[Path] = (),
    reviews: Reviews | None = None,
    traces: Mapping[Path, Trace] | None = None,
) -> Path:
    """Write the report about ``runs`` to ``path`` and return it; an agent played twice on one suite raises.

    Parameters
    ----------
    decompositions
        Files that ``terms decompose --out`` wrote on the suites of the runs.
    reviews
        By run folder, what :func:`experiments.report.explaining.review_run` found.
    traces
        By run folder, what :func:`experiments.report.explaining.follow_run` found.
    """
    labels = suite_labels(runs)
    shown = [(run.header.agent, labels[run.header.digests[SUITE]]) for run in runs]
    for agent, label in shown:
        if shown.count((agent, label)) > 1:
            raise ValueError(f"runs has agent={agent!r} on {label} twice; name each run once")
    by_suite: dict[str, list[Run]] = {}
    for run in runs:
        by_suite.setdefault(labels[run.header.digests[SUITE]], []).append(run)
    for group in by_suite.values():
        check_same_suite([run.header for run in group])
    comparisons = [each for label, group in by_suite.items() if (each := suite_comparison(label, group)) is not None]
    found = traces or {}
    report_runs = [
        replace(
            report_run(run, labels[run.header.digests[SUITE]]),
            reviews=(reviews or {}).get(run.folder, {}),
            beliefs=belief_facts(found[run.folder].errors) if run.folder in found else None,
        )
        for run in runs
    ]
    waterfalls = [read_waterfall(file, labels) for file in decompositions]
    followed = {label: [found[run.folder] for run in group if run.folder in found] for label, group in by_suite.items()}
    checks = [posterior_check(label, [t.calibration for t in group]) for label, group in followed.items() if group]
    write_report(path, report_runs, title=title, comparisons=comparisons, waterfalls=waterfalls, checks=checks)
    return path


def suite_labels(runs: Sequence[Run]) -> dict[str, str]:
    """Return a title for each suite digest; two suites of one title get the start of their digests as well."""
    names = {run.header.digests[SUITE]: suite_title(run.header.spec) for run in runs}
    shared = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {digest: f"{name} ({digest[:6]})" if name in shared else name for digest, name in names.items()}


def suite_title(spec: SuiteSpec) -> str:
    """Return what a suite is called in a heading."""
    kind = {"published": "released episodes", "fresh": "fresh episodes"}.get(spec.kind, "episodes")
    whence = f" on {Path(spec.path).name}" if spec.path else ""
    seed = "" if spec.seed is None else f", seed {spec.seed}"
    role = "" if spec.perspective is None else f", as {spec.perspective}"
    repeats = f", {spec.repeats} times each" if spec.repeats > 1 else ""
    money = " for money" if spec.economics is not None else ""
    return f"{len(spec.build()):,} {kind}{money}{whence}{seed}{role}{repeats}"


def report_run(run: Run, label: str) -> ReportRun:
    """Describe one run for the report, on the suite called ``label``."""
    header = run.header
    notices = list(header.spec.notices)
    if not run.is_complete:
        notices.append(f"{header.agent}: {len(run.records)} of {header.spec.num_episodes} episodes were played")
    model = model_facts(run)
    if model is not None:
        notices += _model_notices(header.agent, model)
    return ReportRun(
        agent=header.agent,
        suite=label,
        episodes=run.records,
        notices=tuple(notices),
        config={
            "suite": header.spec.label,
            "suite digest": header.digests[SUITE][:16],
            "data digest": (header.digests.get(DATA) or "none")[:16],
            **header.versions,
        },
        model=model,
        receipts=run.receipts,
        **({} if header.spec.economics is None else money_facts(run)),
    )


MOST_GROUPS = 40
"""Categories or products that are told apart; more would be a list to search, not to read."""


def money_facts(run: Run) -> dict[str, Any]:
    """Return the money of a commerce run: overall and by lot size, by role, category and product, and by episode."""
    rows = run_money(run.header, run.records)
    found = money_object(rows)
    slices = {"overall": found["overall"], **found["lot_sizes"]}
    items = {scenario.scenario_id: scenario.product for scenario in run.header.spec.build()}
    kinds: dict[str, Callable[[MoneyRow], str | None]] = {
        "role": lambda row: row.perspective,
        "category": lambda row: getattr(items[row.scenario_id], "category", None),
        "product": lambda row: getattr(items[row.scenario_id], "name", None),
    }
    groups: dict[str, dict[str, dict[str, Estimate]]] = {}
    for kind, key in kinds.items():
        parts: dict[str, list[MoneyRow]] = {}
        for row in rows:
            if (label := key(row)) is not None:
                parts.setdefault(label, []).append(row)
        if 1 < len(parts) <= MOST_GROUPS:
            groups[kind] = {label: summarize_money(part) for label, part in sorted(parts.items())}
    return {
        "money": {label: {name: Estimate(**entry) for name, entry in part.items()} for label, part in slices.items()},
        "money_groups": groups,
        "dollars_lost": {row.scenario_id: max(0, (row.best_cents or 0) - row.profit_cents) / 100 for row in rows},
    }


def model_facts(run: Run) -> ModelFacts | None:
    """Return what the model calls of a run came to, ``None`` if its agent is no model."""
    asked = run.header.settings
    if "negotiator" not in asked:
        return None
    calls = read_calls(run.folder / MODEL_CALLS)
    facts = call_facts(calls)
    spent = facts.spending
    played = {record.scenario_id for record in run.records}
    spec = run.header.spec
    names = [scenario.scenario_id for scenario in spec.build() for _ in range(spec.repeats)]
    seeds = [seed for name, seed in zip(names, run.seeds, strict=True) if name in played]
    return ModelFacts(
        settings=_settings_in_words(asked),
        replies=reply_rates(run.receipts),
        usd_per_episode=cost_per_episode(calls, seeds),
        latency_s=facts.latency_s,
        settled_microusd=spent.settled_microusd,
        num_settled=spent.num_settled,
        num_unknown=spent.num_unknown,
        num_free=spent.num_free,
        num_recalled=facts.num_recalled,
        num_without_tokens=spent.num_without_tokens,
        tokens={
            "prompt": spent.prompt_tokens,
            "cached": spent.cached_tokens,
            "cache_write": spent.cache_write_tokens,
            "completion": spent.completion_tokens,
            "reasoning": spent.reasoning_tokens,
        },
        served_by=facts.served_by,
        refused=facts.refused,
        efforts=facts.efforts,
        voice_microusd=facts.voice.settled_microusd,
    )


_OWN_EFFORT = "server's own"


def _settings_in_words(asked: Mapping[str, Any]) -> dict[str, str]:
    """Return every setting of the model and of what it was shown, as text; the effort always."""
    model, voice = asked["model"] or {"model": "local"}, asked["voice"]
    words = {**model, **asked["negotiator"], "voice": voice["model"] if voice else "templates"}
    words["effort"] = model.get("effort") or _OWN_EFFORT
    return {name: _word(value) for name, value in words.items()}


def _word(value: object) -> str:
    names: dict[object, str] = {None: "not set", True: "yes", False: "no"}
    return names[value] if value is None or isinstance(value, bool) else str(value)


def _model_notices(agent: str, model: ModelFacts) -> list[str]:
    """Return what a reader of a model's scores must know about how they were had."""
    notices = []
    if len(model.served_by) > 1:
        notices.append(f"{len(model.served_by)} back-ends served {agent}: {'; '.join(model.served_by)}")
    if model.refused:
        notices.append(f"the server of {agent} rejects {', '.join(model.refused)}; it was asked without")
    asked = model.settings.get("effort")
    if asked != _OWN_EFFORT and (other := [effort for effort in model.efforts if effort != asked]):
        notices.append(f"{agent} was asked with effort {asked}; its server says that it applied {', '.join(other)}")
    if model.voice_microusd:
        notices.append(f"{dollars_text(model.voice_microusd)} of what {agent} cost is the counterpart's voice")
    if model.num_unknown:
        notices.append(f"the cost of {model.num_unknown:,} attempts of {agent} is unknown and in no sum")
    return notices


def suite_comparison(label: str, runs: Sequence[Run]) -> SuiteComparison | None:
    """Compare the runs of one suite on SE+; ``None`` where fewer than two have one."""
    outcomes = {run.header.agent: scenario_outcomes(run.records, "se_plus") for run in runs}
    scored = {agent: blocks for agent, blocks in outcomes.items() if blocks}
    if len(scored) < 2:
        return None
    comparison = compare_outcomes(scored, "se_plus", "higher")
    headings, rows = matrix(comparison)
    return SuiteComparison(
        suite=label,
        ranking=comparison.ranking,
        letters=comparison.letters,
        headings=PAIR_HEADINGS,
        differences=list(map(pair_row, comparison.differences)),
        matrix_headings=headings,
        matrix=rows,
        legend=LEGEND,
        note=f"SE+. {family_sentence(comparison)} {pairing_sentence(comparison.differences)}",
    )
