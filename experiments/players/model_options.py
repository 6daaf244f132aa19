"""How a model is reached, asked and paid, for negotiations and for the store alike: what a command was told.

A setting of the model (:class:`~experiments.llm.settings.ModelSettings`) or of its place (what a negotiator is shown
and asked, what a storekeeper remembers) is ``KEY=VALUE`` or stands in a JSON file, so every field can be reached and
none is declared twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Self

from experiments.llm.settings import ModelSettings, ProviderRouting
from experiments.players.negotiator_settings import NegotiatorSettings
from terms.hints import did_you_mean
from terms.strict_json import strict_loads

MAX_DOLLARS = 10**10
_NAMED = {"model"}
"""Fields of the model settings that the agent's name says."""
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
        if kept.get("cache") is not None:
            kept["cache"] = Path(kept["cache"])
        about_model = set(ModelSettings.model_fields) - _NAMED
        return cls(
            model={name: value for name, value in given.items() if name in about_model},
            place={name: value for name, value in given.items() if name not in {*own, *about_model}},
            **kept,
        )

    @classmethod
    def read(cls, words: Iterable[str], place: Iterable[str], **given: Any) -> Self:
        """Read what stands on the command line: ``KEY=VALUE`` or the path of a JSON file, later ones winning.

        Parameters
        ----------
        words
            As they were given.
        place
            Settings that the model's place has in this command.
        given
            Settings with an option of their own.

        Raises
        ------
        ValueError
            If a setting is unknown, given twice, or a file cannot be read.
        """
        found: dict[str, Any] = {}
        for word in words:
            for key, value in _read_word(word).items():
                _put(found, key, value)
        allowed = [*(set(ModelSettings.model_fields) - _NAMED), *place, "cache", "voice"]
        for key in found:
            if key not in allowed:
                raise ValueError(f"model={key!r}, allowed are {', '.join(sorted(allowed))}{did_you_mean(key, allowed)}")
        own = {name: value for name, value in given.items() if value is not None}
        twice = sorted(found.keys() & own.keys())
        if twice:
            raise ValueError(f"{twice[0]} is given twice, as an option and in --model")
        return cls._placed({**found, **own})

    @property
    def budget_microusd(self) -> int | None:
        """Spending ceiling in micro-dollars."""
        return None if self.budget_usd is None else microusd(self.budget_usd)

    def changed(self, **model: Any) -> Self:
        """Return the options with some model settings changed."""
        return replace(self, model={**self.model, **model})


def _read_word(word: str) -> dict[str, Any]:
    key, is_pair, text = word.partition("=")
    if is_pair:
        return {key: _read_value(key, text)}
    try:
        found = strict_loads(Path(word).read_bytes())
    except OSError as error:
        raise ValueError(f"model={word!r} is neither KEY=VALUE nor a file that can be read: {error}") from error
    except ValueError as error:
        raise ValueError(f"model={word!r}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"model={word!r} holds a {type(found).__name__}; needed is an object of settings")
    return found


def _read_value(key: str, text: str) -> Any:
    """Return a value as JSON reads it, ``none`` as null, and what JSON does not know as text; lists by comma."""
    if text == "none" and key not in ("effort", "model.effort"):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text.split(",") if key in _LISTS else text


def _put(found: dict[str, Any], key: str, value: Any) -> None:
    """Put ``a.b`` into the object ``a``."""
    head, is_nested, rest = key.partition(".")
    if is_nested:
        found[head] = {**(found.get(head) or {}), rest: value}
    else:
        found[key] = value


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


NEGOTIATOR_KEYS = tuple(NegotiatorSettings.model_fields)
"""What a negotiator's place has."""
