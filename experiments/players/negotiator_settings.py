"""Settings of a model negotiator. Each ablation gives the agent a name, and so a row, of its own."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pydantic import Field

from terms.config import Frozen


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
