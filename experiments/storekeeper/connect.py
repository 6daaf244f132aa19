"""From the options of a command to a seated model: its settings, its client, its money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.extras import need
from experiments.llm.cache import ReplyCache
from experiments.llm.calls import MODEL_CALLS, read_calls, spending_of
from experiments.llm.client import ChatClient
from experiments.llm.meter import Meter
from experiments.llm.settings import ModelSettings
from experiments.players.local import LocalServer, local_model_settings
from experiments.players.seat import LOCAL, MOST_SECONDS, effort_growth, model_settings
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.storekeeper.tokens import EXTRA

MAX_OUTPUT_TOKENS, LEAST_OUTPUT_TOKENS = 8_000, 1_000
TIMEOUT_S = 600.0
MOST_OF_CONTEXT = 4
"""An answer with its reasoning has at most this part of the context."""
LOCAL_OUTPUT_TOKENS = 240
LOCAL_TEMPERATURE = 1.5
"""At 0, or with one seed for all calls, it repeats its first call for the rest of the year."""
LOCAL_STOREKEEPER = StorekeeperSettings(
    tool_mode="json", context_tokens=8_192, evict_at=3_000, evict_to=2_300, keep_groups=1, text_limit=16
)
"""The local model reads 8,192 tokens and knows no tools. Texts without a limit would never end, and the more of its own
turns it sees the more it repeats them: it is left the rules, 2,000 tokens, and a turn or two."""


@dataclass(frozen=True)
class StorekeeperOptions:
    """How a model is reached and what it is given; every field is an option of the command line."""

    base_url: str | None = None
    api_key_env: str | None = None
    effort: str | None = None
    max_output_tokens: int | None = None
    requests_per_minute: float | None = None
    budget_microusd: int | None = None
    cache: Path | None = None
    storekeeper: Mapping[str, Any] = field(default_factory=dict)


def plan_seat(agent: str, options: StorekeeperOptions) -> StorekeeperSeat:
    """Return the seat of ``openrouter:VENDOR/MODEL``, ``openai:MODEL`` or ``local``, without a connection.

    Raises
    ------
    ValueError
        If an option cannot be used with this agent.
    """
    baseline = LOCAL_STOREKEEPER if agent == LOCAL else StorekeeperSettings()
    settings = StorekeeperSettings.model_validate({**baseline.model_dump(), **options.storekeeper})
    if settings.tokenizer != "characters":
        need(*EXTRA)
    model = _model(agent, options, settings.context_tokens)
    if model.max_output_tokens >= settings.context_tokens:
        raise ValueError(
            f"max_output_tokens={model.max_output_tokens} must be below context_tokens={settings.context_tokens}: "
            "what is to be answered needs room as well"
        )
    name = agent + (f"@{options.effort}" if options.effort else "")
    return StorekeeperSeat(name, model, settings, baseline=baseline)


def _model(agent: str, options: StorekeeperOptions, context_tokens: int) -> ModelSettings:
    asked: dict[str, Any] = {
        "base_url": options.base_url,
        "api_key_env": options.api_key_env,
        "effort": options.effort,
        "requests_per_minute": options.requests_per_minute,
    }
    if agent == LOCAL:
        if any(value is not None for value in asked.values()):
            raise ValueError(f"agent={agent!r} is asked in one fixed way; leave out the options that say how")
        # Its address changes with every start and is not part of what a year is.
        made = local_model_settings("http://127.0.0.1/v1")
        limit = options.max_output_tokens or LOCAL_OUTPUT_TOKENS
        return made.model_copy(update={"max_output_tokens": limit, "temperature": LOCAL_TEMPERATURE, "seed": None})
    in_proportion = max(LEAST_OUTPUT_TOKENS, context_tokens // 16)  # as 8,000 are of the published 128,000
    plain = min(MAX_OUTPUT_TOKENS, in_proportion)
    growth = effort_growth(options.effort)
    limit = options.max_output_tokens or max(plain, min(plain * growth, context_tokens // MOST_OF_CONTEXT))
    timeout_s = min(MOST_SECONDS, TIMEOUT_S * max(1, growth / 2))
    found = model_settings(agent, **asked, max_output_tokens=limit, timeout_s=timeout_s)
    if found is None:
        raise ValueError(f"agent={agent!r} names no model")
    return found


@contextmanager
def connected(
    seat: StorekeeperSeat, options: StorekeeperOptions, folders: Sequence[Path], workers: int = 1
) -> Iterator[StorekeeperSeat]:
    """Connect a seat: one client and one meter for all its years, whose earlier calls in ``folders`` are counted."""
    with ExitStack() as stack:
        update: dict[str, Any] = {"concurrency": max(1, workers)}
        if seat.base_name == LOCAL:
            update["base_url"] = stack.enter_context(LocalServer()).base_url
        rows = [row for folder in folders for row in read_calls(folder / MODEL_CALLS)]
        meter = Meter(options.budget_microusd, start=spending_of(rows))
        cache = stack.enter_context(ReplyCache(options.cache)) if options.cache else None
        client = ChatClient(seat.model.model_copy(update=update), meter=meter, cache=cache)
        stack.callback(client.close)
        yield StorekeeperSeat(seat.base_name, seat.model, seat.settings, client, seat.baseline)
