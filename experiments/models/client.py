"""One synchronous, thread-safe chat client for every OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from experiments.models.records import Completion

Message = Mapping[str, Any]


class Completer(Protocol):
    """What the agents need of a client."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        call_id: str,
        schema: Mapping[str, Any] | None = None,
        schema_name: str = "reply",
        max_output_tokens: int | None = None,
    ) -> Completion:
        """Return the model's reply to ``messages``, which are not changed.

        Raises
        ------
        ProviderError
            No reply was had, after the retries that could have helped.
        ContextOverflow
            The messages no longer fit; the agent's own fault.
        BudgetExceeded
            The call could pass the spending ceiling; nothing was sent.
        """
        ...
