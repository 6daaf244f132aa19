"""Agents by name, from anywhere a name can point to."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from experiments.llm.settings import ModelSettings, refuse_bad_key
from experiments.players import seat
from experiments.players.model_options import ModelOptions, NegotiatorSettings
from experiments.players.player import Player, as_player
from oracle.player_registry import PLAYERS, build_player
from terms import GameConfig
from terms.agents import SCRIPTED, build_scripted, option_fields
from terms.episode import AgentExitError, AgentLike, Starter
from terms.hints import did_you_mean

OWN = "python:"
NEGMAS = "negmas:"
OUR_PACKAGES = ("terms", "commerce", "oracle", "experiments")


class Need(StrEnum):
    """What an agent cannot play without, or makes use of."""

    LAWS = "is told laws"
    VALUES = "fitted values"
    MODEL = "a model"
    MEMORY = "remembers meetings"


class AgentInfo(NamedTuple):
    """A line of ``terms agents``."""

    name: str
    description: str
    needs: tuple[Need, ...] = ()


def needs_of(spec: str) -> tuple[Need, ...]:
    """Return what the agent that ``spec`` names needs; nothing is known of one of your own."""
    if seat.is_model(spec):
        return (Need.MODEL,)
    if spec in PLAYERS:
        return (Need.LAWS, Need.VALUES) if PLAYERS[spec].values_for else (Need.LAWS,)
    kind, _ = SCRIPTED.get(spec.partition(":")[0], (None, None))
    return (Need.MEMORY,) if hasattr(kind, "for_meeting") else ()


def build_agent(spec: str, options: ModelOptions | None = None, game: GameConfig | None = None) -> Player:
    """Return the player that ``spec`` names.

    ``openrouter:VENDOR/MODEL``, ``openai:MODEL`` and ``local`` are language models, asked as ``options`` say. ``NAME``
    or ``NAME:key=value,...`` is a scripted one; ``python:MODULE:NAME`` imports your own function, agent, or class that
    needs no arguments, also from the current directory; ``negmas:NAME`` is a negotiator of NegMAS.
    """
    if Need.MODEL in needs_of(spec):
        return _model_seat(spec, options or ModelOptions(), game or GameConfig())
    if options is not None and options != ModelOptions():
        raise ValueError(f"agent={spec!r} is not a language model; model options have no effect on it")
    if spec.startswith(OWN):
        return as_player(_import_agent(spec), _source_of(spec))
    if spec.startswith(NEGMAS):
        from experiments.players.negmas_player import NegmasAgent

        return as_player(NegmasAgent(spec.removeprefix(NEGMAS)), {"negmas": version("negmas")})
    return as_player(build_player(spec) if spec in PLAYERS else _build_scripted(spec))


def agent_of_run(name: str, settings: Mapping[str, Any], asked: ModelOptions, game: GameConfig) -> Player:
    """Return the player of a run again, from the name and the settings in its header.

    Parameters
    ----------
    asked
        Budget, cache and pace, which pin nothing; another setting of the model must be what it was.

    Raises
    ------
    ValueError
        If the agent cannot be built from its header, is another one by now, or is asked to be.
    """
    again = f"agent={name!r} is to play as it did in the run"
    if "negotiator" in settings:
        return _model_of_run(name, settings, asked, game)
    try:
        player = build_agent(settings.get("imported", name), asked, game)
    except ValueError as error:
        raise ValueError(f"{again} and cannot be built again: {error}; name it with --agent instead") from error
    changed = [key for key, value in player.settings.items() if settings.get(key) != value]
    if player.name != name or changed:
        what = f"another name, {player.name!r}" if player.name != name else f"another {changed[0]}"
        raise ValueError(f"{again}, and by now has {what}; diagnose it again")
    return player


def _model_of_run(name: str, settings: Mapping[str, Any], asked: ModelOptions, game: GameConfig) -> Player:
    pinned = settings["model"] or {}
    pace = {key: value for key, value in asked.model.items() if key in seat.PACE}
    for key, value in {**asked.model, **asked.place}.items():
        was = {**pinned, **settings["negotiator"]}.get(key)
        if key not in pace and was != value:
            raise ValueError(f"{key}={value!r}, but the run of {name!r} was played with {was!r}; leave it out")
    if asked.voice is not None:
        raise ValueError(f"voice={asked.voice!r}; the run of {name!r} says who words the counterpart; leave it out")
    model = ModelSettings.model_validate({**pinned, **pace}) if pinned else None
    voice = ModelSettings.model_validate({**settings["voice"], **pace}) if settings["voice"] else None
    spec = seat.LOCAL if model is None else (seat.OPENAI if model.base_url else seat.OPENROUTER) + model.model
    for one in filter(None, (model, voice)):
        refuse_bad_key(one)
    return seat.ModelSeat(
        base_name=seat.named(spec, pinned),
        model=model,
        negotiator=NegotiatorSettings.model_validate(settings["negotiator"]),
        config=game,
        budget_microusd=asked.budget_microusd,
        cache=asked.cache,
        voice=voice,
    )


def _build_scripted(spec: str) -> AgentLike:
    name = spec.partition(":")[0]
    if name in PLAYERS:
        raise ValueError(f"agent={spec!r}: {name} takes no settings")
    if name not in SCRIPTED:
        known = [*SCRIPTED, *PLAYERS]
        raise ValueError(f"agent={spec!r}, allowed are {', '.join(known)}{did_you_mean(name, known)}")
    return build_scripted(spec)


def _model_seat(spec: str, options: ModelOptions, game: GameConfig) -> seat.ModelSeat:
    voice = voice_settings(spec, options)
    asked = dict(options.model)
    if voice and not spec.startswith(seat.OPENAI):
        asked.pop("base_url", None)  # an address that only the voice can use is not the agent's
    if spec == seat.LOCAL and asked:
        raise ValueError(f"agent={spec!r} is asked in one fixed way; leave out the options that say how")
    from experiments.players.local import LOCAL_SETTINGS

    baseline = LOCAL_SETTINGS if spec == seat.LOCAL else NegotiatorSettings()
    return seat.ModelSeat(
        base_name=seat.named(spec, options.model),
        model=seat.model_settings(spec, **asked),
        negotiator=NegotiatorSettings.model_validate({**baseline.model_dump(), **options.place}),
        config=game,
        budget_microusd=options.budget_microusd,
        cache=options.cache,
        voice=voice,
    )


def voice_settings(spec: str, options: ModelOptions) -> ModelSettings | None:
    """Return how to ask the counterpart's voice, which shares a server of one's own with the agent, key and all."""
    if options.voice is None:
        return None
    is_own, asked = options.voice.startswith(seat.OPENAI), options.model
    voice = seat.model_settings(
        options.voice,
        base_url=asked.get("base_url") if is_own else None,
        # The key of an agent at OpenRouter must not reach any other server.
        api_key_env=asked.get("api_key_env") if is_own == spec.startswith(seat.OPENAI) else None,
        concurrency=asked.get("concurrency"),
    )
    if voice is None:
        raise ValueError(f"voice={options.voice!r}, allowed are openrouter:VENDOR/MODEL, openai:MODEL with --base-url")
    return voice


def _source_of(spec: str) -> dict[str, Any]:
    """Return what pins an agent of one's own: where it was imported from, and the hash of its source."""
    path = getattr(sys.modules.get(_split(spec)[0]), "__file__", None)
    source = hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None
    return {"imported": spec, "source_sha256": source}


def list_agents() -> list[AgentInfo]:
    """Return every built-in agent with the first line of its description and what it needs."""
    described = {name: _described(name) for name in SCRIPTED}
    described |= {name: entry.description for name, entry in PLAYERS.items()}
    return [AgentInfo(name, text, needs_of(name)) for name, text in described.items()]


def _described(name: str) -> str:
    """Return the first line of an agent's description, and its settings with their values."""
    agent: Any = build_scripted(name)
    settings = [f"{item.name}={getattr(agent, item.name):g}" for item in option_fields(type(agent))]
    described = (agent.__doc__ or "").splitlines()[0].replace("``", "")
    return f"{described} [{', '.join(settings)}]" if settings else described


def _split(spec: str) -> tuple[str, str]:
    module, _, attribute = spec.removeprefix(OWN).rpartition(":")
    return module, attribute


def _shadowed(module: str | None) -> str:
    """Return a hint where one's own folder has the name of a package of ours, which is imported in its place."""
    head = (module or "").partition(".")[0]
    if head not in OUR_PACKAGES or not (Path.cwd() / head).is_dir():
        return ""
    ours = getattr(sys.modules.get(head), "__file__", None)
    return f"; {head} is a package of terms-commerce, imported from {ours}: give your folder {head}/ another name"


def _place(error: Exception) -> str:
    """Return where an exception was raised, as the last line of its traceback would say."""
    frames = traceback.extract_tb(error.__traceback__)
    return "" if isinstance(error, SyntaxError) or not frames else f" ({frames[-1].filename}, line {frames[-1].lineno})"


def _import_agent(spec: str) -> AgentLike:
    module_name, attribute = _split(spec)
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # a console script does not look there; last, so that no file there can stand in for ours
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except SystemExit as stop:
        raise AgentExitError(f"agent={spec!r} called sys.exit({stop.code!r}) while it was imported") from stop
    except (ImportError, AttributeError, ValueError) as error:
        hint = _shadowed(getattr(error, "name", None))
        raise ValueError(
            f"agent={spec!r}; needed is python:MODULE:NAME of something that imports: {error}{hint}"
        ) from error
    except Exception as error:
        raise ValueError(
            f"agent={spec!r} cannot be imported: {type(error).__name__}: {error}{_place(error)}"
        ) from error
    try:
        agent = found() if isinstance(found, type) else found
    except TypeError as error:
        raise ValueError(f"agent={spec!r} is a class that cannot be made without arguments: {error}") from error
    except Exception as error:
        raise ValueError(f"agent={spec!r} cannot be made: {type(error).__name__}: {error}{_place(error)}") from error
    if issubclass(type(agent), Starter):
        raise ValueError(f"agent={spec!r} begins episodes itself and would be told what is hidden; give it act")
    if not callable(agent) and not hasattr(agent, "act"):
        raise ValueError(f"agent={spec!r} is a {type(agent).__name__}; it needs act(observation) or to be a function")
    return agent  # type: ignore[no-any-return]  # checked by the line above
