"""The command that says what model calls cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli import options
from experiments.cli.show import estimate, out
from experiments.engine.folder import RunError
from experiments.engine.run import load_run
from experiments.engine.verify import call_findings
from experiments.episodes.suite_task import EPISODES
from experiments.llm.spending import Spending, dollars_text
from experiments.modes import task_of
from experiments.sessions.session_task import SESSIONS
from terms.estimates import Estimate

if TYPE_CHECKING:
    from experiments.players.costing import CallFacts


def cost(run: options.RunFolder, as_json: options.AsJson = False) -> None:
    """Show what a run's model calls cost: settled, reserved and unknown money, tokens by kind, latency, who served."""
    from experiments.llm.calls import MODEL_CALLS, read_calls
    from experiments.players.costing import call_facts, cost_per_episode, reply_rates
    from experiments.years.year_mode import is_year

    if is_year(run):
        _year_cost(run, as_json=as_json)
        return
    label, seeds, receipts = _what_was_played(run)
    calls = read_calls(run / MODEL_CALLS)
    facts = call_facts(calls)
    per_episode = cost_per_episode(calls, seeds)
    rates = reply_rates(receipts)
    if as_json:
        out(json.dumps(_as_object(facts, per_episode, rates), allow_nan=False))
        return
    out(label)
    _show_facts(facts, per_episode)
    for name, rate in rates.items():
        out(f"{name:15}{estimate(rate._asdict())}  n={rate.n}")


def _show_facts(facts: CallFacts, per_episode: Estimate | None = None) -> None:
    spent = facts.spending
    out(f"settled        {_settled(spent)} in {spent.num_settled} attempts")
    out(f"unknown        {spent.num_unknown} attempts that may have been billed an amount nobody told")
    out(f"not billed     {spent.num_free} failed attempts; {facts.num_recalled} calls answered from the cache")
    if facts.voice != Spending():
        voice = facts.voice
        out(f"of these voice {_settled(voice)} in {voice.num_settled} attempts, {voice.num_unknown} of unknown cost")
    if per_episode is not None:
        out(f"per episode    {_dollars(per_episode)}  n={per_episode.n}")
    asked = spent.num_settled + spent.num_unknown
    if asked and spent.num_without_tokens == asked:
        out("tokens         -, as the server states none")
    else:
        out(f"tokens         prompt {spent.prompt_tokens}, of these cached {spent.cached_tokens}")
        out(f"               and written to a cache {spent.cache_write_tokens}")
        out(f"               completion {spent.completion_tokens} (reasoning {spent.reasoning_tokens})")
        if spent.num_without_tokens:
            out(f"               stated for {asked - spent.num_without_tokens} of {asked} attempts")
    out(f"latency        {estimate(facts.latency_s._asdict())} s  n={facts.latency_s.n}")
    out(f"served by      {', '.join(facts.served_by) or '-'}")
    if facts.efforts:
        out(f"effort         {', '.join(facts.efforts)} applied, as the server says")
    if facts.refused:
        out(f"asked without  {', '.join(facts.refused)}, which the server rejects")


def _settled(spent: Spending) -> str:
    """Return the money that is known; none of it is no statement of zero where some is unknown."""
    return "-" if spent.num_settled == 0 and spent.num_unknown else dollars_text(spent.settled_microusd)


def _year_cost(folder: Path, *, as_json: bool) -> None:
    from experiments.llm.calls import MODEL_CALLS, read_calls
    from experiments.players.costing import call_facts
    from experiments.years.spec import year_label
    from experiments.years.year_mode import read_year_header

    _require_calls(folder)
    header, facts = read_year_header(folder), call_facts(read_calls(folder / MODEL_CALLS))
    if as_json:
        out(json.dumps(_facts_object(facts), allow_nan=False))
        return
    out(f"{year_label(header.agent, header.spec)}, {header.spec.num_days} days")
    _show_facts(facts)


def _require_calls(folder: Path) -> None:
    """Raise if the log of model calls lacks an answer that the run has read."""
    task = task_of(folder)
    for finding in call_findings(folder, task.receipts(load_run(task, folder))):
        raise RunError(f"{folder}: {finding}; what the calls cost is not known")


def _what_was_played(folder: Path) -> tuple[str, list[int], dict[str, list[dict[str, Any]]]]:
    """Return who played what, the agent seeds of its episodes or periods, and the receipts by name of these."""
    from experiments.sessions.folder import is_sessions, played_seeds

    _require_calls(folder)
    if is_sessions(folder):
        sessions = load_run(SESSIONS, folder)
        label = f"{sessions.header.agent} in sessions, {sessions.header.spec.label}"
        return label, played_seeds(sessions), {"/".join(map(str, key)): row for key, row in sessions.receipts.items()}
    run = load_run(EPISODES, folder)
    seeds = run.seeds
    return f"{run.header.agent} on {run.header.spec.label}", seeds, dict(run.receipts)


def _dollars(amount: Estimate) -> str:
    """Return dollars to the micro-dollar with their interval; a call may cost less than a thousandth."""
    if amount.estimate is None:
        return "-"
    bounds = "" if amount.low is None or amount.high is None else f" [{amount.low:.6f}, {amount.high:.6f}]"
    return f"${amount.estimate:.6f}{bounds}"


def _as_object(facts: CallFacts, per_episode: Estimate, rates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        **_facts_object(facts),
        "usd_per_episode": per_episode._asdict(),
        "replies": {name: rate._asdict() for name, rate in rates.items()},
    }


def _facts_object(facts: CallFacts) -> dict[str, Any]:
    return {
        "spending": facts.spending.model_dump(),
        "num_attempts": facts.num_attempts,
        "num_failed": facts.num_failed,
        "num_recalled": facts.num_recalled,
        "served_by": facts.served_by,
        "refused": facts.refused,
        "efforts": facts.efforts,
        "voice": facts.voice.model_dump(),
        "latency_s": facts.latency_s._asdict(),
    }
