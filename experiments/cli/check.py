"""The commands that check: a server before anything is played or paid, and a folder after it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from experiments.cli import options
from experiments.cli.ending import FAILED, NOTHING_SCORED
from experiments.cli.show import note, out

AskedAgent = Annotated[
    str, typer.Option(help="openrouter:VENDOR/MODEL, openai:MODEL with --base-url, or local; openai: lists the models.")
]
NUM_TALKS = 1800
"""Negotiations that the forecast is for."""
LEAST_BUDGET = "budget_usd=0.25"
"""What a check may cost unless told otherwise."""
_MARKS = {"yes": "yes", "partly": "partly", "no": "NO", "unknown": "?"}


def check(
    agent: AskedAgent,
    model: options.ModelKeys = None,
    as_json: options.AsJson = False,
) -> None:
    """Say in half a minute what a model's server can do, and what a suite and a year would ask of it."""
    from experiments.llm.errors import BudgetExceeded
    from experiments.llm.pacing import ServerHealth
    from experiments.llm.spending import Meter
    from experiments.players.model_options import ModelOptions
    from experiments.players.probing import OUTPUT_TOKENS, Probe, probe
    from experiments.players.seat import OPENAI, model_settings
    from experiments.players.served import silenced

    is_list = agent == OPENAI
    told = ModelOptions.read([LEAST_BUDGET, *(model or ())], ())
    short = {} if told.model.get("effort") else {"max_output_tokens": OUTPUT_TOKENS}
    settings = model_settings(f"{OPENAI}any" if is_list else agent, **{**short, **told.model})
    meter = Meter(told.budget_microusd)
    # What a client would say of its server is said in the table.
    with _reached(settings) as reached, silenced(ServerHealth.__module__):
        if is_list:
            _list_models(reached, meter, as_json=as_json)
            return
        found, num_told = Probe(reached), 0
        try:
            for found in probe(reached, meter):
                num_told = _show(found, num_told, as_json=as_json)
        except BudgetExceeded as error:
            note(f"stopped: {error}")
    plans = _plans(found, NUM_TALKS) if found.is_usable else {}
    if as_json:
        shown = {name: {**plan._asdict(), "words": plan.in_words()} for name, plan in plans.items()}
        out(json.dumps({"agent": agent, **found.to_json_object(), "forecast": shown}, allow_nan=False))
    else:
        for name, plan in plans.items():
            out(f"{name:16}{plan.in_words()}")
    if not found.is_usable:
        raise typer.Exit(NOTHING_SCORED)


def _reached(settings: Any) -> Any:
    """Return the settings in a context; the local model is served while it lasts."""
    from contextlib import contextmanager, nullcontext

    from experiments.players.local import LocalServer, local_model_settings

    @contextmanager
    def served() -> Any:
        with LocalServer() as server:
            yield local_model_settings(server.base_url)

    return served() if settings is None else nullcontext(settings)


def _show(found: Any, told: int, *, as_json: bool) -> int:
    """Print what is new; return how much was printed."""
    for one in found.findings[told:]:
        if not as_json:
            out(f"{one.name:16}{_MARKS[one.grade]:8}{one.says}")
    return len(found.findings)


def _list_models(settings: Any, meter: Any, *, as_json: bool) -> None:
    from experiments.llm.client import ChatClient
    from experiments.llm.errors import ModelCallError

    client = ChatClient(settings.model_copy(update={"timeout_s": 30.0}), meter=meter)
    try:
        models = client.models()
    except ModelCallError as error:
        note(f"error: {settings.url} lists no models: {error}")
        raise typer.Exit(NOTHING_SCORED) from None
    finally:
        client.close()
    if as_json:
        rows = [{"id": one.id, "context_tokens": one.context_tokens} for one in models]
        out(json.dumps({"url": settings.url, "models": rows}))
        return
    for one in models:
        out(f"openai:{one.id}" + (f"  ({one.context_tokens:,} tokens)" if one.context_tokens else ""))


def _plans(found: Any, num: int) -> dict[str, Any]:
    from experiments.players.costing import ANSWER_TOKENS, forecast_talks, forecast_years
    from experiments.storekeeper.settings import StorekeeperSettings, in_proportion

    context = found.listed.context_tokens if found.listed else None
    year = StorekeeperSettings(**in_proportion(min(context or 128_000, 128_000)))
    thought = found.answer.usage.reasoning_tokens or 0
    seconds = found.answer.latency_s
    return {
        f"{num:,} talks": forecast_talks(num, answer=ANSWER_TOKENS + thought)
        .priced(found.prices)
        .timed(seconds, found.settings.concurrency),
        "a year, at most": forecast_years(1, year.max_turns, year.evict_at, year.evict_to)
        .priced(found.prices)
        .timed(seconds, 1),
    }


def verify(run: options.RunFolder) -> None:
    """Replay a run or a year without any model or merchant and derive every number again."""
    from experiments.modes import check_folder
    from experiments.sessions.folder import GAP
    from experiments.sessions.gap_file import NOT_CHECKED

    findings, left_out = check_folder(run)
    for finding in findings:
        note(f"FAILED {finding}")
    if findings:
        raise typer.Exit(FAILED)
    out("verified: every line of the log played again, every number and every file derived again")
    if (run / GAP).is_file():
        out(f"{GAP}: its parts agree with its balances and the log; {NOT_CHECKED}")
    for line in left_out:
        out(f"not covered: {line}")
