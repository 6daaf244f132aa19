"""Commands that play episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.fitting import prepare_player
from experiments.cli.seating import build_player, named_folder, tell_plan
from experiments.cli.show import describe_errors, metrics_tables, note, out, print_table, progress_bar
from experiments.engine.cluster import open_executor
from experiments.engine.folder import differing_leaves
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.folder import Run, summary_object
from experiments.episodes.suite_task import EPISODES
from experiments.players.registry import ModelOptions
from experiments.storage.journal import HEADER
from oracle.player_registry import PLAYERS
from terms import GameConfig
from terms.episode import AgentLike, agent_name
from terms.metrics import summarize
from terms.strict_json import strict_loads
from terms.suites import EPISODES_PER_CELL

Settings = TypeVar("Settings", bound=BaseModel)
REFERENCE_AGENTS = tuple(name for name, entry in PLAYERS.items() if entry.is_reference)


def diagnose(  # noqa: PLR0913 - one parameter an option
    agent: options.Agent,
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    n_per_cell: options.Episodes = EPISODES_PER_CELL,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    out_dir: options.Out = None,
    workers: options.Workers = 1,
    resume: options.Resume = True,
    scheduler: options.Scheduler = None,
    reference_run: options.ReferenceRun = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    api_key_env: options.KeyEnv = None,
    effort: options.Effort = None,
    max_output_tokens: options.MaxTokens = None,
    concurrency: options.Concurrency = None,
    budget_usd: options.Budget = None,
    cache: options.Cache = None,
    voice: options.Voice = None,
    hide_cues: options.HideCues = False,
    hide_words: options.HideWords = False,
    no_belief: options.NoBelief = False,
    no_guidance: options.NoGuidance = False,
    history: options.History = None,
    reveal: options.RevealLevel = None,
) -> None:
    """Play a suite with an agent and print every metric with its interval. Run it again to go on after a stop."""
    spec = SuiteSpec.parse(
        suite,
        n_per_cell=n_per_cell,
        seed=seed,
        regimes=regime,
        families=family,
        game=read_game_config(config),
        columns=columns,
    )
    ablations = {
        "show_cues": False if hide_cues else None,
        "show_messages": False if hide_words else None,
        "ask_belief": False if no_belief else None,
        "guidance": False if no_guidance else None,
        "history": history,
        "reveal": reveal,
    }
    asked = ModelOptions(
        base_url=base_url,
        api_key_env=api_key_env,
        effort=effort,
        max_output_tokens=max_output_tokens,
        concurrency=concurrency,
        budget_usd=budget_usd,
        cache=cache,
        voice=voice,
        negotiator={key: value for key, value in ablations.items() if value is not None},
    )
    player = build_player(agent, asked, spec.game, elsewhere=workers > 1 or scheduler is not None)
    reference = None if reference_run is None else load_reference(reference_run, spec)
    settings = {**player.settings, **prepare_player(agent, spec.build())}
    folder = run_folder(out_dir or default_folder(player, spec, settings), resume=resume)
    tell_plan(player, spec.num_episodes)
    with (
        open_executor(scheduler=scheduler) as executor,
        progress_bar(len(spec.build()), f"{agent_name(player)} on {spec.label}") as progress,
    ):
        run = run_task(
            EPISODES, player, spec, folder, workers=workers, executor=executor, settings=settings, progress=progress
        )
    show_run(run, as_json=as_json, reference=reference)


def play(  # noqa: PLR0913 - one parameter an option
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes: Annotated[int, typer.Option(min=1, help="How many negotiations to play.")] = 1,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    out_dir: options.Out = None,
) -> None:
    """Negotiate yourself, on the same episodes as any agent; who you faced is revealed at the end."""
    from experiments.players.human import Human, reveal

    spec = SuiteSpec.parse(
        suite,
        seed=seed,
        regimes=regime,
        families=family,
        game=read_game_config(config),
        sample=episodes,
        columns=columns,
    )
    player = Human()
    folder = run_folder(out_dir or default_folder(player, spec), resume=True)
    run = run_task(EPISODES, player, spec, folder, progress=reveal)
    show_run(run, as_json=False)


def run_folder(folder: Path, *, resume: bool) -> Path:
    """Return ``folder`` if it can be played into.

    Raises
    ------
    ValueError
        If it is a file or below one, or holds a run that is not to be resumed.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--out={str(folder)!r}: {there} is a file, needed is a folder")
    if not resume and (folder / HEADER).exists():
        raise ValueError(f"--no-resume, but {folder} holds a run already; choose another --out")
    return folder


def default_folder(agent: AgentLike, spec: SuiteSpec, settings: Mapping[str, Any] | None = None) -> Path:
    """Return ``runs/AGENT-SUITE-HASH``; the hash keeps runs of different settings apart."""
    plain = {"economics"} if spec.economics is None else None  # runs without money keep the folders they had
    return named_folder(agent, spec.label, [dict(settings or {}), spec.model_dump(mode="json", exclude=plain)])


def read_game_config(path: Path | None) -> GameConfig:
    """Read changed settings of the game; see :func:`read_settings`."""
    return read_settings(path, GameConfig())


def read_settings(path: Path | None, defaults: Settings) -> Settings:
    """Read changed settings, laid over ``defaults`` at any depth; a wrong one raises and is named."""
    if path is None:
        return defaults
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"config={str(path)!r} cannot be read: {error}") from error
    try:
        changes = strict_loads(text)
        merged = _laid_over(defaults.model_dump(mode="json"), changes)
        config = type(defaults).model_validate(merged)
        coerced = differing_leaves(merged, config.model_dump(mode="json"))
        if coerced:  # a number given as text, for example: say so instead of guessing
            raise ValueError(f"a value has the wrong type: {'; '.join(coerced)}")
        return config
    except ValidationError as error:
        raise ValueError(f"config={str(path)!r}: {describe_errors(error)}") from error
    except ValueError as error:
        raise ValueError(f"config={str(path)!r}: {error}") from error


def _laid_over(base: Any, changes: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    return {**base, **{key: _laid_over(base.get(key), value) for key, value in changes.items()}}


def load_reference(folder: Path, spec: SuiteSpec) -> Run:
    """Load the run that %Oracle is measured against.

    Raises
    ------
    ValueError
        If it is no reference player's, on another suite, or not finished.
    """
    reference = load_run(EPISODES, folder)
    if reference.header.agent not in REFERENCE_AGENTS:
        allowed = ", ".join(REFERENCE_AGENTS)
        raise ValueError(f"reference_run={str(folder)!r} is of {reference.header.agent!r}, allowed are {allowed}")
    if (reference.header.digests[SUITE], reference.header.spec.game) != (spec.digest(), spec.game):
        raise ValueError(
            f"reference_run={str(folder)!r} is on {reference.header.spec.label}, not on the episodes of {spec.label}"
        )
    if not reference.is_complete:
        raise ValueError(f"reference_run={str(folder)!r} is not finished; run its command again")
    return reference


def show_run(run: Run, *, as_json: bool, reference: Run | None = None) -> None:
    """Print the metrics of a finished run; exit with 3 when there was nothing to score."""
    summary = summary_object(run.header, run.records)
    metrics = summary.pop("metrics")
    if reference is not None:  # beside the summary, never in it: the run folder must not depend on another one
        metrics = summarize(run.records, reference.records).to_json_object()
        note(f"note: %Oracle is SE+ over that of {reference.header.agent} in {reference.folder}")
    if summary["invalidity"]:
        note(f"INVALID: {summary['invalidity']}; do not read the scores")
    for notice in summary["notices"]:
        note(f"note: {notice}")
    if run.torn:
        note(f"note: cut off {run.torn} bytes of an unfinished line; its episode was played again")
    if run.resumed:
        note(f"note: {run.resumed} of {run.header.spec.num_episodes} episodes were already in {run.folder}")
    if metrics["num_excluded"]:
        lost, played = metrics["num_excluded"], metrics["num_episodes"]
        note(f"note: {lost} of {played} trials were lost to the provider and excluded")
    if as_json:
        out(json.dumps({**metrics, **summary}, allow_nan=False))
    else:
        print_table(*metrics_tables(f"{run.header.agent} on {run.header.spec.label}", metrics))
        out(f"run folder: {run.folder}\nreport:     terms report {run.folder}")
    if metrics["num_excluded"] == metrics["num_episodes"]:
        raise typer.Exit(NOTHING_SCORED)
