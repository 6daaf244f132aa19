"""Agents by name, from anywhere a name can point to."""

from __future__ import annotations

import importlib
from typing import NamedTuple

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
    class that needs no arguments.
    """
    if spec.startswith(OWN):
        return _import_agent(spec)
    return build_scripted(spec)


def list_agents() -> list[AgentInfo]:
    """Return every built-in agent with the first line of its description."""
    return [AgentInfo(name, (kind.__doc__ or "").splitlines()[0]) for name, (kind, _) in SCRIPTED.items()]


def _import_agent(spec: str) -> AgentLike:
    module_name, _, attribute = spec.removeprefix(OWN).rpartition(":")
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"agent={spec!r}; needed is python:MODULE:NAME of something that imports: {error}") from error
    agent = found() if isinstance(found, type) else found
    if not callable(agent) and not hasattr(agent, "act"):
        raise ValueError(f"agent={spec!r} is a {type(agent).__name__}; it needs act(observation) or to be a function")
    return agent  # type: ignore[no-any-return]  # checked by the line above
