r"""What a plan will ask of a model before it is carried out: calls, tokens, dollars, minutes.

A negotiation of :math:`T` rounds is taken to last :math:`0.6 T`. Call :math:`k` sends the rules, :math:`k` observations
and :math:`k - 1` answers, so its prompt has :math:`r + k o + (k - 1) a` tokens; texts are counted at 3.5 characters a
token. A year is taken at its worst: every turn of its limit, with a context that is on average between what is left
after turns are removed and what removes them. Reasoning beyond :math:`a` is not foreseen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from experiments.llm.settings import ModelSettings, Prices
from experiments.players.negotiator_settings import NegotiatorSettings
from experiments.players.prompts import system_prompt, turn_prompt
from terms import Game, GameConfig, fresh_suite

SHARE_OF_ROUNDS = 0.6
CHARACTERS_PER_TOKEN = 3.5
ANSWER_TOKENS = 150
TURN_TOKENS = 120


class Forecast(NamedTuple):
    """What is expected; ``usd`` and ``minutes`` are ``None`` where price or speed are unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None = None
    minutes: float | None = None

    def priced(self, prices: Prices | None) -> Forecast:
        """Return the forecast with dollars by a price list."""
        if prices is None:
            return self
        micro = self.prompt_tokens * prices.prompt + self.completion_tokens * prices.completion
        return self._replace(usd=micro / 1e12)

    def timed(self, seconds_per_call: float | None, at_once: int) -> Forecast:
        """Return the forecast with minutes, for calls of that length, ``at_once`` in flight."""
        if seconds_per_call is None:
            return self
        return self._replace(minutes=self.calls * seconds_per_call / at_once / 60)

    def in_words(self) -> str:
        """Return the forecast as a line."""
        dollars = "price unknown" if self.usd is None else f"about ${self.usd:,.2f}" if self.usd else "free"
        minutes = "" if self.minutes is None else f", about {max(1, round(self.minutes)):,} min"
        tokens = f"{self.prompt_tokens / 1e6:,.2f} M tokens in, {self.completion_tokens / 1e6:,.2f} M out"
        return f"about {self.calls:,} calls, {tokens}, {dollars}{minutes}"


def forecast_talks(
    num: int, game: GameConfig | None = None, shown: NegotiatorSettings | None = None, answer: int = ANSWER_TOKENS
) -> Forecast:
    """Return what ``num`` negotiations ask of a model whose answers have ``answer`` tokens."""
    config, settings = game or GameConfig(), shown or NegotiatorSettings()
    observation = Game(fresh_suite(seed=0, n_per_cell=1)[0]).observe()
    rules = _tokens(system_prompt(observation.role, config, settings, {}))
    turn = _tokens(turn_prompt(observation))
    rounds = max(1, math.ceil(SHARE_OF_ROUNDS * config.horizon))
    prompt = sum(rules + k * turn + (k - 1) * answer for k in range(1, rounds + 1))
    return Forecast(num * rounds, num * prompt, num * rounds * answer)


def forecast_years(num: int, max_turns: int, evict_at: int, evict_to: int) -> Forecast:
    """Return what ``num`` years ask of a model at most."""
    turns = num * max_turns
    return Forecast(turns, turns * (evict_at + evict_to) // 2, turns * TURN_TOKENS)


def is_price_known(model: ModelSettings | None) -> bool:
    """Whether the cost of calls will be known: the local model is free, OpenRouter says it, a list has it."""
    return model is None or model.prices is not None or model.wire_dialect == "openrouter"


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
