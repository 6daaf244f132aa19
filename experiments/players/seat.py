"""A model's place in a run: what is needed to sit down, and the sitting down itself.

A seat is settings only, so it can be named, compared and written to ``run.json`` before any key, server or file is
touched. The runner sits it down inside the run folder's lock, where the call log is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.llm.calls import MODEL_CALLS, CallLog, ReplyCache
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings, refuse_bad_key, shown_address
from experiments.llm.spending import Meter
from experiments.players.model_options import NegotiatorSettings
from experiments.players.player import AtTable, Player
from terms import GameConfig, Scenario
from terms.meetings import Meeting

if TYPE_CHECKING:
    from experiments.players.negotiator import ModelAgent

OPENROUTER, OPENAI, LOCAL = "openrouter:", "openai:", "local"
_MAY_BE_NONE = {name for name, info in ModelSettings.model_fields.items() if info.default is None} | {"temperature"}
PACE = {"concurrency", "requests_per_minute", "max_retries", "max_wait_s", "timeout_s"}
"""Model settings that change no answer; a run may be resumed with others."""


@dataclass(frozen=True)
class ModelSeat(Player):
    """A model agent before it sits down.

    Parameters
    ----------
    base_name
        Name in reports; a voice and ablations add their suffixes.
    model
        How to reach and ask it; ``None`` is the local model, served while it plays.
    negotiator
        What it is shown and asked.
    config
        The game it plays.
    budget_microusd
        Spending ceiling of the whole run, resumed parts included; ``None`` for none.
    cache
        File of replies to reuse.
    voice
        Another model that words the counterpart's acts; ``None`` leaves it to the templates.
    """

    base_name: str
    model: ModelSettings | None
    negotiator: NegotiatorSettings = field(default_factory=NegotiatorSettings)
    config: GameConfig = field(default_factory=GameConfig)
    budget_microusd: int | None = None
    cache: Path | None = None
    voice: ModelSettings | None = None
    keeps_files = True

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other starters
        """Name of this agent's row."""
        return self._spoken_name + self.negotiator.suffix(self._baseline)

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # a field of other players
        """Episodes in flight at once."""
        return 1 if self.model is None else self.model.concurrency

    @property
    def settings(self) -> dict[str, Any]:
        """Return what pins the agent beyond its name, for ``run.json``.

        Money and pace are left out: a run may be resumed with a higher budget or fewer requests in flight.
        """
        return {
            "model": None if self.model is None else self.model.model_dump(mode="json", exclude=PACE),
            "negotiator": self.negotiator.model_dump(mode="json"),
            "voice": None if self.voice is None else self.voice.model_dump(mode="json", exclude=PACE),
        }

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AtTable:
        """Refuse: a seat plays only once it has sat down in a run folder."""
        raise TypeError(f"{self.name} must sit down in a run folder before it plays")

    @contextmanager
    def sit(self, folder: Path) -> Iterator[ModelAgent]:
        """Sit down in ``folder``: open the call log, count what was spent before, connect, and yield the agent."""
        from experiments.players.local import LocalServer, local_model_settings  # a year names seats, and needs neither
        from experiments.players.model_voice import ModelVoice
        from experiments.players.negotiator import ModelAgent

        with ExitStack() as stack:
            log = stack.enter_context(CallLog(folder / MODEL_CALLS))
            cache = stack.enter_context(ReplyCache(self.cache)) if self.cache else None
            meter = Meter(self.budget_microusd, start=log.start)
            settings = self.model or local_model_settings(stack.enter_context(LocalServer()).base_url)
            client = ChatClient(settings, meter=meter, cache=cache, log=log)
            stack.callback(client.close)
            narrator = None
            if self.voice is not None:
                voice = ChatClient(self.voice, meter=meter, cache=cache, log=log)
                stack.callback(voice.close)
                narrator = ModelVoice(voice)
            yield ModelAgent(
                client,
                self._spoken_name,
                self.negotiator,
                self.config,
                self._baseline,
                narrator=narrator,
                concurrency=self.concurrency,
                output_tokens=settings.max_output_tokens,
            )

    @property
    def _spoken_name(self) -> str:
        return self.base_name + (f"+voice-{self.voice.model}" if self.voice else "")

    @property
    def _baseline(self) -> NegotiatorSettings:
        from experiments.players.local import LOCAL_SETTINGS

        return NegotiatorSettings() if self.model else LOCAL_SETTINGS


_GROWTH = {"low": 2, "medium": 4, "high": 8, "xhigh": 16, "max": 32}
"""By how much an effort raises the limit of an answer, whose reasoning is counted in it."""
MOST_SECONDS = 1800.0
"""Longest wait for a whole answer that is not asked for."""


def effort_growth(effort: object) -> int:
    """Return by how much the answers of an effort are longer; what is no effort has none, and is refused elsewhere."""
    return _GROWTH.get(effort, 1) if isinstance(effort, str) else 1


def effort_limits(effort: str | None) -> dict[str, Any]:
    """Return the limits of answers that an effort needs: tokens grow with it, and seconds with the tokens."""
    growth = effort_growth(effort)
    plain = ModelSettings(model="-")
    seconds = min(MOST_SECONDS, plain.timeout_s * max(1, growth / 2))
    return {"max_output_tokens": plain.max_output_tokens * growth, "timeout_s": seconds}


def is_model(spec: str) -> bool:
    """Whether an agent's spec names a model."""
    return spec == LOCAL or spec.startswith((OPENROUTER, OPENAI))


def model_settings(spec: str, *, base_url: str | None = None, **settings: Any) -> ModelSettings | None:
    """Return how to ask the model of ``spec``: ``openrouter:VENDOR/MODEL``, ``openai:MODEL`` or ``local``.

    Raises
    ------
    ValueError
        If the spec names no model, ``openai:`` comes without an address, or the key cannot be one.
    """
    if spec == LOCAL:
        return None
    kind, _, model = spec.partition(":")
    if not model or not is_model(spec):
        raise ValueError(f"model={spec!r}, allowed are openrouter:VENDOR/MODEL, openai:MODEL with --base-url, local")
    if kind == "openai" and base_url is None:
        raise ValueError(f"model={spec!r} needs --base-url, the address of an OpenAI-compatible server")
    if kind == "openrouter" and base_url is not None:
        raise ValueError(
            f"model={spec!r} goes to OpenRouter; use openai:{model} with --base-url={shown_address(base_url)!r}"
        )
    given = {name: value for name, value in settings.items() if value is not None or name in _MAY_BE_NONE}
    limits = effort_limits(given.get("effort"))
    made = ModelSettings.model_validate({"model": model, "base_url": base_url, **limits, **given})
    refuse_bad_key(made)
    return made


def named(spec: str, model: Mapping[str, Any]) -> str:
    """Return the name of a model's row before what its place adds: the spec, and the effort asked for."""
    return spec + (f"@{model['effort']}" if model.get("effort") else "")
