"""An optional model voice for the counterpart: it words what the kernel has committed, and cannot change it.

The narrator sees the committed act and what it said before; never a reservation price, a type, or a word of the agent.
Its text is used only if it names the committed price, exactly as written, and no other number, and claims no agreement
that was not committed; otherwise, and when the model fails, the template speaks, and that is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from experiments.llm.calls import name_call
from experiments.llm.client import Completer
from experiments.llm.errors import ContextOverflow, ProviderError
from experiments.llm.free_text import blank_thinking
from experiments.players.prompts import render_prompt
from terms import voice
from terms.types import Cue, Decision

NARRATOR = "narrator"
"""First part of the call ids of a voice, which tells them from an agent's."""
_KEPT_LINES = 6
_LONGEST = 400


class VoiceOutcome(StrEnum):
    """Where the words of one counterpart act came from."""

    MODEL = "model"
    TEMPLATE_UNFAITHFUL = "template_unfaithful"
    TEMPLATE_MODEL_FAILED = "template_model_failed"


@dataclass(frozen=True)
class ModelVoice:
    """A narrator shared by all episodes; :meth:`for_episode` gives the voice of one."""

    client: Completer
    name: str = NARRATOR
    max_output_tokens: int = 300

    def for_episode(self, seed: int) -> EpisodeVoice:
        """Return the voice of one episode; ``seed`` names its calls."""
        return EpisodeVoice(self, seed)


class EpisodeVoice:
    """A :data:`terms.voice.Voice` that asks a model for each line and checks it."""

    def __init__(self, narrator: ModelVoice, seed: int) -> None:
        self._narrator, self._seed = narrator, seed
        self._lines: list[str] = []
        self.outcomes: Counter[VoiceOutcome] = Counter()
        """How many lines came from where."""

    def counts(self) -> dict[str, int]:
        """Return how many lines came from where, for the log."""
        return {outcome.value: count for outcome, count in sorted(self.outcomes.items())}

    def __call__(self, decision: Decision, price: float | None, cue: Cue, round_number: int) -> str:
        """Return the words for a committed act, faithful in any case.

        Raises
        ------
        BudgetExceeded
            The spending ceiling is reached; nothing was sent.
        """
        text = self._ask(decision, price, cue, round_number)
        if text is None:
            outcome = VoiceOutcome.TEMPLATE_MODEL_FAILED
        else:
            outcome = VoiceOutcome.MODEL if is_faithful(text, decision, price) else VoiceOutcome.TEMPLATE_UNFAITHFUL
        self.outcomes[outcome] += 1
        if text is None or outcome is not VoiceOutcome.MODEL:
            text = voice.render(decision, price, cue, round_number)
        self._lines.append(text)
        return text

    def _ask(self, decision: Decision, price: float | None, cue: Cue, round_number: int) -> str | None:
        act: dict[str, Any] = {
            "decision": decision.value,
            "price": None if price is None else voice.format_price(price),
            "sentiment": cue.sentiment.value,
            "posture": cue.posture.value,
            "said_before": self._lines[-_KEPT_LINES:],
        }
        messages = [
            {"role": "system", "content": render_prompt("narrator", {})},
            {"role": "user", "content": json.dumps(act)},
        ]
        call_id = name_call(self._narrator.name, self._seed, round_number, decision.value)
        try:
            completion = self._narrator.client.complete(
                messages, call_id=call_id, max_output_tokens=self._narrator.max_output_tokens
            )
        except (ProviderError, ContextOverflow):
            return None
        if completion.text is None or completion.refusal or completion.finish_reason not in ("stop", None):
            return None
        return " ".join(blank_thinking(completion.text).split())


def is_faithful(text: str, decision: Decision, price: float | None) -> bool:
    """Whether ``text`` names the committed price in its exact spelling, no other number, and no deal that is none."""
    if not text or len(text) > _LONGEST or not text.isprintable():
        return False
    if decision is not Decision.ACCEPT and voice.claims_deal(text):
        return False
    is_named = price is None or voice.format_price(price) in text
    return is_named and not voice.stray_numbers(text, price)
