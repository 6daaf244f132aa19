"""What a model's server says of itself before anything is asked of a model: which models it has, and their prices."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from experiments.llm.client import ChatClient
from experiments.llm.errors import ModelCallError
from experiments.llm.pacing import ServerHealth
from experiments.llm.settings import ModelSettings, Prices
from experiments.llm.spending import Meter
from experiments.llm.transport import ListedModel
from experiments.players.model_options import ModelOptions
from experiments.players.seat import OPENAI, model_settings

PATIENCE_S = 5.0
"""Longest wait for a list of models; it is free, but so is going on without it."""
LOCAL_PRICES = Prices(prompt=0, completion=0)
"""What the local model costs."""


@contextmanager
def silenced(name: str) -> Iterator[None]:
    """Let the logger ``name`` say errors only, for a while."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def list_served(settings: ModelSettings) -> tuple[ListedModel, ...]:
    """Return the models that the server of ``settings`` lists.

    Raises
    ------
    ModelCallError
        If it lists none in time.
    """
    hurried = {"timeout_s": min(PATIENCE_S, settings.timeout_s), "max_retries": 0}
    client = ChatClient(settings.model_copy(update=hurried), meter=Meter(None))
    try:
        with silenced(ServerHealth.__module__):
            return client.models()
    finally:
        client.close()


def known_prices(settings: ModelSettings | None) -> Prices | None:
    """Return the price list of the settings, else that of the server, else ``None``; the local model is free."""
    if settings is None:
        return LOCAL_PRICES
    if settings.prices is not None:
        return settings.prices
    try:
        listed = {one.id: one.prices for one in list_served(settings)}
    except ModelCallError:
        return None
    return listed.get(settings.model)


def with_served_name(spec: str, options: ModelOptions) -> str:
    """Return ``spec`` with the only model of the server where it names none, ``openai:``; any other as it is.

    Raises
    ------
    ValueError
        If the server has several models, or lists none.
    """
    if spec != OPENAI or "base_url" not in options.model:
        return spec
    settings = model_settings(f"{OPENAI}any", **options.model)
    assert settings is not None
    try:
        names = [one.id for one in list_served(settings)]
    except ModelCallError as error:
        raise ValueError(f"agent={spec!r} names no model, and {settings.url} lists none: {error}") from error
    if len(names) != 1:
        found = ", ".join(names[:20]) or "none"
        raise ValueError(f"agent={spec!r} names no model; {settings.url} has {found}: say {OPENAI}MODEL")
    return OPENAI + names[0]
