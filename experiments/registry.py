"""Agents by name, from anywhere a name can point to."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from terms.agents import SCRIPTED, build_scripted
from terms.episode import AgentLike

OWN = "python:"


class AgentInfo(NamedTuple):
    """A line of ``terms agents``."""

    name: str
    description: str


def build_agent(spec: str) -> AgentLike:
    """Return the agent that ``spec`` names.

    ``NAME`` or ``NAME:key=value,...`` is a built-in one; ``python:MODULE:NAME`` imports your own function, agent, or
    class that needs no arguments, also from the current directory.
    """
    if spec.startswith(OWN):
        return _import_agent(spec)
    return build_scripted(spec)


def agent_settings(spec: str) -> dict[str, Any]:
    """Return what pins the agent beyond its name: for your own one the module and a hash of its source file."""
    if not spec.startswith(OWN):
        return {}
    path = getattr(sys.modules.get(_split(spec)[0]), "__file__", None)
    source = hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None
    return {"imported": spec, "source_sha256": source}


def list_agents() -> list[AgentInfo]:
    """Return every built-in agent with the first line of its description."""
    return [AgentInfo(name, (kind.__doc__ or "").splitlines()[0]) for name, (kind, _) in SCRIPTED.items()]


def _split(spec: str) -> tuple[str, str]:
    module, _, attribute = spec.removeprefix(OWN).rpartition(":")
    return module, attribute


def _import_agent(spec: str) -> AgentLike:
    module_name, attribute = _split(spec)
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # a console script does not look there; last, so that no file there can stand in for ours
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"agent={spec!r}; needed is python:MODULE:NAME of something that imports: {error}") from error
    try:
        agent = found() if isinstance(found, type) else found
    except TypeError as error:
        raise ValueError(f"agent={spec!r} is a class that cannot be made without arguments: {error}") from error
    if not callable(agent) and not hasattr(agent, "act"):
        raise ValueError(f"agent={spec!r} is a {type(agent).__name__}; it needs act(observation) or to be a function")
    return agent  # type: ignore[no-any-return]  # checked by the line above
