"""From the options of a command to a seated model: its settings, its client, its money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.extras import need
from experiments.llm.calls import MODEL_CALLS, ReplyCache, read_calls, spending_of
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.players.model_options import ModelOptions
from experiments.players.registry import voice_settings
from experiments.players.seat import LOCAL, MOST_SECONDS, effort_growth, model_settings, named
from experiments.players.served import with_served_name
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import StorekeeperSettings, in_proportion
from experiments.storekeeper.window import EXTRA

MAX_OUTPUT_TOKENS, LEAST_OUTPUT_TOKENS = 8_000, 1_000
TIMEOUT_S = 600.0
MOST_OF_CONTEXT = 4
"""An answer with its reasoning has at most this part of the context."""
LEAST_CONTEXT = 2_000
"""Tokens; the rules alone take most of them."""
MOST_CONTEXT = 10**9
LOCAL_OUTPUT_TOKENS = 240
LOCAL_TEMPERATURE = 1.5
"""At 0, or with one seed for all calls, it repeats its first call for the rest of the year."""
LOCAL_STOREKEEPER = StorekeeperSettings(
    tool_mode="json", context_tokens=8_192, evict_at=3_000, evict_to=2_300, keep_groups=1, text_limit=16
)
"""The local model reads 8,192 tokens and knows no tools. Texts without a limit would never end, and the more of its own
turns it sees the more it repeats them: it is left the rules, 2,000 tokens, and a turn or two."""


def plan_seat(agent: str, options: ModelOptions) -> StorekeeperSeat:
    """Return the seat of ``openrouter:VENDOR/MODEL``, ``openai:MODEL`` or ``local``, without a connection.

    Raises
    ------
    ValueError
        If an option cannot be used with this agent.
    """
    agent = with_served_name(agent, options)
    baseline = LOCAL_STOREKEEPER if agent == LOCAL else StorekeeperSettings()
    settings = _place(baseline, options.place)
    if settings.tokenizer != "characters":
        need(*EXTRA)
    model = _model(agent, options.model, settings.context_tokens)
    if model.max_output_tokens >= settings.context_tokens:
        raise ValueError(
            f"max_output_tokens={model.max_output_tokens} must be below context_tokens={settings.context_tokens}: "
            "what is to be answered needs room as well"
        )
    return StorekeeperSeat(
        named(agent, options.model), model, settings, baseline=baseline, voice=voice_settings(agent, options)
    )


def _model(agent: str, asked: Mapping[str, Any], context_tokens: int) -> ModelSettings:
    limit = asked.get("max_output_tokens")
    if agent == LOCAL:
        if asked.keys() - {"max_output_tokens"}:
            raise ValueError(f"agent={agent!r} is asked in one fixed way; leave out the options that say how")
        from experiments.players.local import local_model_settings

        # Its address changes with every start and is not part of what a year is.
        made = local_model_settings("http://127.0.0.1/v1")
        changes = {"max_output_tokens": limit or LOCAL_OUTPUT_TOKENS, "temperature": LOCAL_TEMPERATURE, "seed": None}
        return made.model_copy(update=changes)
    # As 8,000 are of the published 128,000.
    plain = min(MAX_OUTPUT_TOKENS, max(LEAST_OUTPUT_TOKENS, context_tokens // 16))
    growth = effort_growth(asked.get("effort"))
    default = {
        "max_output_tokens": max(plain, min(plain * growth, context_tokens // MOST_OF_CONTEXT)),
        "timeout_s": min(MOST_SECONDS, TIMEOUT_S * max(1, growth / 2)),
    }
    found = model_settings(agent, **{**default, **asked})
    if found is None:
        raise ValueError(f"agent={agent!r} names no model")
    return found


def _place(baseline: StorekeeperSettings, asked: Mapping[str, Any]) -> StorekeeperSettings:
    """Return what the storekeeper is given; a context of another size brings its thresholds along."""
    tokens = asked.get("context_tokens")
    if isinstance(tokens, int) and not LEAST_CONTEXT <= tokens <= MOST_CONTEXT:
        raise ValueError(f"context_tokens={tokens}; it must be at least {LEAST_CONTEXT} and at most {MOST_CONTEXT}")
    thresholds = in_proportion(tokens) if isinstance(tokens, int) else {}
    return StorekeeperSettings.model_validate({**baseline.model_dump(), **thresholds, **asked})


@contextmanager
def connected(
    seat: StorekeeperSeat, options: ModelOptions, folders: Sequence[Path], workers: int = 1
) -> Iterator[StorekeeperSeat]:
    """Connect a seat: one client and one meter for all its years, whose earlier calls in ``folders`` are counted."""
    with ExitStack() as stack:
        update: dict[str, Any] = {"concurrency": max(1, workers)}
        if seat.base_name == LOCAL:
            from experiments.players.local import LocalServer

            update["base_url"] = stack.enter_context(LocalServer()).base_url
        rows = [row for folder in folders for row in read_calls(folder / MODEL_CALLS)]
        meter = Meter(options.budget_microusd, start=spending_of(rows))
        cache = stack.enter_context(ReplyCache(options.cache)) if options.cache else None
        client = ChatClient(seat.model.model_copy(update=update), meter=meter, cache=cache)
        stack.callback(client.close)
        speaker = None
        if seat.voice is not None:
            speaker = ChatClient(
                seat.voice.model_copy(update={"concurrency": max(1, workers)}), meter=meter, cache=cache
            )
            stack.callback(speaker.close)
        yield replace(seat, client=client, speaker=speaker)
