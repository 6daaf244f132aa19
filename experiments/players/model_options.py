"""How a model is reached, asked and paid, for negotiations and for the store alike: what a command was told.

A setting of the model (:class:`~experiments.llm.settings.ModelSettings`) or of its place (what a negotiator is shown
and asked, what a storekeeper remembers) is ``KEY=VALUE`` or stands in a JSON file, so every field can be reached and
none is declared twice.

Each changed setting of a negotiator, an ablation, gives the agent a name, and so a row, of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from experiments.llm.settings import ModelSettings, ProviderRouting
from experiments.storage.files import read_given
from terms.config import Frozen
from terms.hints import did_you_mean
from terms.strict_json import strict_loads

MAX_DOLLARS = 10**10
_NAMED = {"model"}
"""Fields of the model settings that the agent's name says."""
OWN_KEYS = ("budget_usd", "cache", "voice")
"""Settings of the run that are none of the model or its place."""
_TEXTS = {"base_url", "api_key_env", *OWN_KEYS}
"""Settings that are text also where they look like numbers."""
_LISTS = {f"provider.{name}" for name, info in ProviderRouting.model_fields.items() if "tuple" in str(info.annotation)}


@dataclass(frozen=True)
class ModelOptions:
    """What a command was told about its model; empty is the default of everything.

    Parameters
    ----------
    model
        Changed fields of the model settings.
    place
        Changed settings of the model's place: those of a negotiator or of a storekeeper.
    budget_usd
        Spending ceiling of the whole run, dollars.
    cache
        Folder of replies to reuse.
    voice
        Another model that words the counterpart's acts.
    """

    model: Mapping[str, Any] = field(default_factory=dict)
    place: Mapping[str, Any] = field(default_factory=dict)
    budget_usd: str | None = None
    cache: Path | None = None
    voice: str | None = None

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """Return the options with each of ``settings`` where it belongs; ``None`` is not given."""
        return cls._placed({name: value for name, value in settings.items() if value is not None})

    @classmethod
    def _placed(cls, given: Mapping[str, Any]) -> Self:
        own = {item.name for item in fields(cls)} - {"model", "place"}
        kept = {name: value for name, value in given.items() if name in own}
        if isinstance(kept.get("budget_usd"), int | float) and not isinstance(kept["budget_usd"], bool):
            kept["budget_usd"] = str(kept["budget_usd"])
        for name, text in kept.items():
            if not isinstance(text, str | Path | None) or text == "":
                raise ValueError(f"{name}={text!r}; needed is a text")
        if kept.get("cache") is not None:
            kept["cache"] = Path(kept["cache"])
        about_model = set(ModelSettings.model_fields) - _NAMED
        return cls(
            model={name: value for name, value in given.items() if name in about_model},
            place={name: value for name, value in given.items() if name not in {*own, *about_model}},
            **kept,
        )

    @classmethod
    def read(cls, words: Iterable[str], place: Iterable[str]) -> Self:
        """Read what stands on the command line: ``KEY=VALUE`` or the path of a JSON file, later ones winning.

        Parameters
        ----------
        words
            As they were given.
        place
            Settings that the model's place has in this command.

        Raises
        ------
        ValueError
            If a setting is unknown or a file cannot be read.
        """
        found: dict[str, Any] = {}
        for word in words:
            _lay_over(found, read_word(word, "model"))
        allowed = [*(set(ModelSettings.model_fields) - _NAMED), *place, *OWN_KEYS]
        for key in found:
            if key not in allowed:
                raise ValueError(f"model={key!r}, allowed are {', '.join(sorted(allowed))}{did_you_mean(key, allowed)}")
        return cls._placed(found)

    @property
    def budget_microusd(self) -> int | None:
        """Spending ceiling in micro-dollars."""
        return None if self.budget_usd is None else microusd(self.budget_usd)

    def changed(self, **model: Any) -> Self:
        """Return the options with some model settings changed."""
        return replace(self, model={**self.model, **model})


def read_word(word: str, field: str) -> dict[str, Any]:
    """Return the settings that ``KEY=VALUE``, or the JSON file at a path, holds; ``field`` is named where it is wrong.

    >>> read_word("provider.order=one,two", "model")
    {'provider': {'order': ['one', 'two']}}
    """
    key, is_pair, text = word.partition("=")
    if is_pair:
        if not all(key.split(".")) or key.count(".") > _DEEPEST:
            raise ValueError(f"{field}={word!r} is no setting; needed is NAME=VALUE, or NAME.PART=VALUE")
        return _nested(key, _read_value(key, text))
    try:
        found = strict_loads(read_given(Path(word)))
    except OSError as error:
        raise ValueError(f"{field}={word!r} cannot be read: it is neither KEY=VALUE nor a file; {error}") from error
    except ValueError as error:
        raise ValueError(f"{field}={word!r}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{field}={word!r} holds a {type(found).__name__}; needed is an object of settings")
    return {key: value for name, one in found.items() for key, value in _nested(name, one).items()}


_DEEPEST = 5
"""Most parts of a key behind its name."""


def _read_value(key: str, text: str) -> Any:
    """Return a value as JSON reads it, ``none`` as null, and what JSON does not know as text; lists by comma."""
    if text == "none" and key not in ("effort", "model.effort"):
        return None
    if key in _TEXTS:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.split(",") if key in _LISTS else text


def _nested(key: str, value: Any) -> dict[str, Any]:
    """Return ``{"a": {"b": value}}`` for the key ``a.b``."""
    head, is_nested, rest = key.partition(".")
    if not head or (is_nested and not rest):
        raise ValueError(f"{key!r} is no setting; needed is NAME=VALUE, or NAME.PART=VALUE of one with parts")
    return {head: _nested(rest, value) if is_nested else value}


def _lay_over(found: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Put ``changes`` into ``found``; objects are laid over each other."""
    for key, value in changes.items():
        both = isinstance(found.get(key), dict) and isinstance(value, dict)
        found[key] = {**found[key], **value} if both else value


def microusd(text: str, field: str = "budget_usd") -> int:
    """Return an amount of dollars in whole micro-dollars; ``field`` is named where it is none.

    >>> microusd("1.50")
    1500000
    """
    try:
        dollars = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{field}={text!r} is not an amount of dollars such as 1.50") from error
    # The limit comes first: int() of 1e999999 takes all memory.
    if not dollars.is_finite() or not 0 <= dollars <= MAX_DOLLARS or dollars * 1_000_000 != int(dollars * 1_000_000):
        raise ValueError(
            f"{field}={text!r}; it must be at least 0, at most {MAX_DOLLARS} and have at most six decimals"
        )
    return int(dollars * 1_000_000)


class Reveal(StrEnum):
    """How much of the truth about the counterpart the agent is told; each level includes the ones before."""

    NOTHING = "nothing"
    FAMILY = "family"
    KERNEL = "kernel"
    TYPE = "type"


class NegotiatorSettings(Frozen):
    """What the model is shown, asked and allowed. The defaults are the full game."""

    show_cues: bool = Field(True, description="show sentiment and posture")
    show_messages: bool = Field(True, description="show the counterpart's words, whose tone follows the cues")
    ask_belief: bool = Field(True, description="ask for a belief about the counterpart's type")
    guidance: bool = Field(True, description="give strategic advice in the system prompt")
    history: int | None = Field(
        None, ge=0, description="past rounds kept, in the conversation and the observation; None is all the game shows"
    )
    reveal: Reveal = Field(Reveal.NOTHING, description="truth about the counterpart, given by the runner as side_info")
    corrections: int = Field(1, ge=0, le=1, description="corrective retries after an unusable or illegal reply")
    escalated_output_tokens: int = Field(
        16_384, ge=1, description="output limit of the one retry after a reply ran into the model's own limit"
    )
    message_limit: int | None = Field(None, ge=1, description="longest message in the schema, characters")
    price_by_decision: bool = Field(False, description="tie the price to the decision in the schema, by anyOf")

    def suffix(self, baseline: NegotiatorSettings | None = None) -> str:
        """Return what sets these settings apart by name from ``baseline``, by default the full game."""
        base = baseline or NegotiatorSettings()
        parts = [_LABELS[name](value) for name, value in self if value != getattr(base, name)]
        return "".join(f"+{part}" for part in parts)

    def shown_history(self, window: int) -> int:
        """Past rounds the agent sees of a game that shows ``window``."""
        return window if self.history is None else min(window, self.history)


def _switch(what: str) -> Callable[[object], str]:
    return lambda value: what if value else f"no-{what}"


def _value(what: str) -> Callable[[object], str]:
    return lambda value: f"{what}-{'any' if value is None else value}"


_LABELS: dict[str, Callable[[object], str]] = {
    "show_cues": _switch("cues"),
    "show_messages": _switch("words"),
    "ask_belief": _switch("belief"),
    "guidance": _switch("guidance"),
    "history": _value("history"),
    "reveal": _value("reveal"),
    "corrections": _switch("correction"),
    "escalated_output_tokens": _value("retry"),
    "message_limit": _value("message"),
    "price_by_decision": _switch("price-by-decision"),
}


NEGOTIATOR_KEYS = tuple(NegotiatorSettings.model_fields)
"""What a negotiator's place has."""
