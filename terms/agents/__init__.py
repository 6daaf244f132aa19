"""Agents that need no key, by name.

A name may carry settings: ``patient:gap=0.35,rate=0.15``. :data:`SCRIPTED` maps every name to its class and defaults.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from terms.agents.recall import Recall
from terms.agents.scripted import (
    AcceptAny,
    Exploit,
    FixedConcession,
    NeverAccept,
    Patient,
    RandomLegal,
    SplitTheDifference,
    TimeDependent,
    TitForTat,
)
from terms.episode import Agent
from terms.hints import did_you_mean

__all__ = ["SCRIPTED", "build_scripted", "option_fields"]

SCRIPTED: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "fixed-0.01": (FixedConcession, {"rate": 0.01}),
    "fixed-0.10": (FixedConcession, {"rate": 0.10}),
    "fixed-0.30": (FixedConcession, {"rate": 0.30}),
    "boulware": (TimeDependent, {"speed": 0.2, "name": "boulware"}),
    "linear": (TimeDependent, {"speed": 1.0, "name": "linear"}),
    "conceder": (TimeDependent, {"speed": 3.0, "name": "conceder"}),
    "tit-for-tat": (TitForTat, {}),
    "split-the-difference": (SplitTheDifference, {}),
    "random": (RandomLegal, {}),
    "accept-any": (AcceptAny, {}),
    "never-accept": (NeverAccept, {}),
    "patient": (Patient, {}),
    "recall": (Recall, {}),
    "exploit": (Exploit, {}),
}


def build_scripted(spec: str) -> Agent:
    """Return the agent that ``spec`` names: ``name`` or ``name:key=value,key=value``.

    Raises
    ------
    ValueError
        If the name or a setting is unknown or a value is not a number; the message lists what is allowed.
    """
    name, _, options = spec.partition(":")
    if name not in SCRIPTED:
        raise ValueError(f"agent={name!r}, allowed are {', '.join(SCRIPTED)}{did_you_mean(name, SCRIPTED)}")
    kind, defaults = SCRIPTED[name]
    settings = _read_options(kind, options) if options else {}
    if settings and kind is not FixedConcession:
        settings["name"] = spec  # two settings of one agent must not share a row; fixed concessions are named by rate
    agent: Agent = kind(**{**defaults, **settings})
    return agent


def option_fields(kind: type[Any]) -> list[dataclasses.Field[Any]]:
    """Return the settings of an agent class that a spec can change: its numbers."""
    return [item for item in dataclasses.fields(kind) if item.init and item.type in ("float", "int")]


def _read_options(kind: type[Any], options: str) -> dict[str, Any]:
    allowed = {item.name for item in option_fields(kind)}
    settings: dict[str, Any] = {}
    for pair in options.split(","):
        key, _, text = pair.partition("=")
        if key not in allowed:
            raise ValueError(f"option={key!r} of {kind.__name__}, allowed are {', '.join(sorted(allowed)) or 'none'}")
        try:
            settings[key] = int(text) if key == "seed" else float(text)
        except ValueError as error:
            raise ValueError(f"option {key}={text!r} of {kind.__name__} is not a number") from error
    return settings
