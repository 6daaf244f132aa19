"""A language model at the table: one conversation per episode, one reply read per round, one second chance.

In round k the model gets the observation and answers. A reply that is unusable or illegal is answered once with a
message that names its fault; one that ran into the output limit is asked for once more with a higher limit. Whatever
comes then counts for what it is. Every attempt is kept as a receipt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

from experiments.llm.calls import name_call
from experiments.llm.client import Completer
from experiments.llm.errors import ContextOverflow, ProviderError
from experiments.llm.free_text import blank_thinking
from experiments.players.model_options import NegotiatorSettings
from experiments.players.model_voice import ModelVoice
from experiments.players.player import AtTable, Player, seed_of_playing
from experiments.players.prompts import correction_prompt, reply_schema, reveal_side_info, system_prompt, turn_prompt
from experiments.players.reading import read_completion
from experiments.players.receipts import Problem, Reading, Verdict, unusable
from terms import GameConfig, Scenario
from terms.episode import UNSALTED, Seeds
from terms.meetings import Meeting
from terms.types import Action, Observation

Messages = list[dict[str, str]]
#: Parts of the bankroll's side information that grow with the session.
TOLD_ONCE = ("ledger", "met_before")
_CORRECTABLE = (Verdict.UNREADABLE, Verdict.ILLEGAL, Verdict.EMPTY)


NO_ANSWER = "(no answer)"
"""Stands for an answer that held nothing: servers refuse an empty turn."""


class _Exchange(NamedTuple):
    """One round of the conversation as it is sent again."""

    round: int
    question: str
    answer: str


class AttemptKind(StrEnum):
    """Why the model was asked."""

    FIRST = "first"
    CORRECTION = "correction"
    ESCALATION = "escalation"


@dataclass(frozen=True, slots=True)
class ReadAttempt:
    """One question put to the model in a round, and how its reply was read.

    ``text`` is the reply with private reasoning blanked out, so that positions in it are positions in the reply.
    """

    kind: AttemptKind
    call_id: str
    reading: Reading
    text: str
    finish_reason: str | None = None

    def to_json_object(self) -> dict[str, Any]:
        """Return the attempt for the log; spans count in the reply, where ``text`` starts at ``text_start``."""
        return {
            "kind": self.kind.value,
            "call_id": self.call_id,
            "finish_reason": self.finish_reason,
            "text": self.text.strip(),
            "text_start": len(self.text) - len(self.text.lstrip()),
            **self.reading.to_json_object(),
        }


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """All attempts of one round; the last one is the move."""

    round: int
    attempts: tuple[ReadAttempt, ...]

    @property
    def reading(self) -> Reading:
        """The reading that counted."""
        return self.attempts[-1].reading

    def to_json_object(self) -> dict[str, Any]:
        """Return the receipt for the log."""
        return {
            "round": self.round,
            "verdict": self.reading.verdict.value,
            "attempts": [attempt.to_json_object() for attempt in self.attempts],
        }


@dataclass(frozen=True)
class ModelAgent(Player):
    """A model with its settings, ready to start any number of episodes at once.

    Parameters
    ----------
    client
        Answers the messages; shared by all episodes.
    base_name
        Name of the model in reports; the settings add their suffix.
    negotiator
        What the model is shown and asked.
    config
        The game the prompts describe; it must be the one that is played.
    baseline
        The settings that carry the plain name.
    narrator
        Words the counterpart's acts at this agent's table; ``None`` leaves it to the templates.
    concurrency
        Episodes in flight at once.
    seeds
        Name its calls, one seed a scenario.
    playing
        Which playing of the same scenarios this is; a second one has calls of its own.
    output_tokens
        Output limit of the model's own settings; the one longer try after it has at least twice as many.
    """

    client: Completer
    base_name: str
    negotiator: NegotiatorSettings = field(default_factory=NegotiatorSettings)
    config: GameConfig = field(default_factory=GameConfig)
    baseline: NegotiatorSettings = field(default_factory=NegotiatorSettings)
    narrator: ModelVoice | None = None
    concurrency: int = 1
    seeds: Seeds = UNSALTED
    playing: str = ""
    output_tokens: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other starters
        """Name of this agent's row."""
        return self.base_name + self.negotiator.suffix(self.baseline)

    def seeded(self, seeds: Seeds) -> Self:
        """Return the agent with other names of calls."""
        return replace(self, seeds=seeds)

    def apart(self, what: str) -> Self:
        """Return the agent with calls of their own, or the log would answer them from the first playing."""
        return replace(self, playing=what)

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AtTable:
        """Return the model in one episode; what it remembers of a counterpart it is told in words, not in ``past``."""
        del past
        seed = seed_of_playing(self.seeds.of(scenario), self.playing)
        told = reveal_side_info(scenario, self.negotiator.reveal)
        talk = replace(self, config=self._config_of(scenario)).for_episode(seed)
        if self.narrator is None:
            return AtTable(self.name, talk.act, told, receipts=talk.receipt_objects)
        voice = self.narrator.for_episode(seed)
        return AtTable(self.name, talk.act, told, voice, talk.receipt_objects, voice.counts)

    def _config_of(self, scenario: Scenario) -> GameConfig:
        """Return the game with the rounds of the seat the scenario is played from; see :mod:`terms.two_seats`."""
        rounds = {name: getattr(scenario.config, name) for name in ("horizon", "final_offer_answered")}
        return self.config.model_copy(update=rounds)

    def for_episode(self, seed: int) -> Negotiation:
        """Return a conversation whose calls ``seed`` names."""
        return Negotiation(self, seed)

    def stop(self) -> None:
        """Let every episode end at its next call; the answers so far are in the call log and cost nothing again."""
        self.client.stop()
        if self.narrator is not None:
            self.narrator.client.stop()

    def act(self, observation: Observation) -> Action:
        """Answer a single observation without any conversation before it."""
        return self.for_episode(0).act(observation)


class Negotiation:
    """A model in one episode."""

    def __init__(self, agent: ModelAgent, seed: int) -> None:
        self.name = agent.name
        self._client, self._settings, self._config = agent.client, agent.negotiator, agent.config
        self._output_tokens = agent.output_tokens
        self._seed = seed
        self._past: list[_Exchange] = []
        self._receipts: list[TurnReceipt] = []
        self._schema = reply_schema(
            ask_belief=self._settings.ask_belief,
            message_limit=self._settings.message_limit,
            price_by_decision=self._settings.price_by_decision,
        )

    @property
    def receipts(self) -> tuple[TurnReceipt, ...]:
        """What was asked and read so far, one entry for each round."""
        return tuple(self._receipts)

    def receipt_objects(self) -> list[dict[str, Any]]:
        """Return the receipts for the log."""
        return [receipt.to_json_object() for receipt in self._receipts]

    def act(self, observation: Observation) -> Action:
        """Ask the model for its move.

        Raises
        ------
        BudgetExceeded
            The spending ceiling is reached; nothing was sent.
        ValueError
            If the episode is not of the game the prompts describe.
        """
        if observation.horizon != self._config.horizon:
            raise ValueError(
                f"the agent was set up for horizon={self._config.horizon} but plays horizon={observation.horizon}; "
                "give ModelAgent the config of the suite"
            )
        seen = self._shown(observation)
        question = turn_prompt(seen)
        messages = [*self._opening(seen), {"role": "user", "content": question}]
        attempts = [self._ask(messages, seen, AttemptKind.FIRST)]
        second = self._second_try(messages, seen, attempts[0])
        if second is not None:
            attempts.append(second)
        self._receipts.append(TurnReceipt(seen.round, tuple(attempts)))
        last = attempts[-1]
        start, end = last.reading.span or (0, 0)
        self._past.append(_Exchange(seen.round, question, last.text[start:end] or NO_ANSWER))
        return last.reading.action

    def _shown(self, observation: Observation) -> Observation:
        """Take away what the settings hide."""
        settings, kept = self._settings, self._settings.history
        history = observation.history if kept is None else observation.history[-kept:] if kept else ()
        told = {one.round for one in self._kept_past}
        history = tuple(turn for turn in history if turn.round not in told)  # the conversation shows them already
        if not settings.show_messages:
            history = tuple(replace(turn, counterpart_message="") for turn in history)
        return replace(
            observation,
            cue=observation.cue if settings.show_cues else None,
            message=observation.message if settings.show_messages else "",
            history=history,
            side_info=self._shown_side_info(observation),
        )

    def _shown_side_info(self, observation: Observation) -> Mapping[str, Any]:
        """Leave out long lists that the conversation already holds: a ledger told in every round would fill it."""
        info, state = observation.side_info, observation.side_info.get("bankroll")
        if observation.round == 1 or state is None or self._settings.history is not None:
            return info
        return {**info, "bankroll": {key: value for key, value in state.items() if key not in TOLD_ONCE}}

    def _opening(self, observation: Observation) -> Messages:
        """Return the system message and the past exchanges that are kept."""
        bounds = {"price_min": observation.price_min, "price_max": observation.price_max}
        config = self._config.model_copy(update=bounds)
        rules = system_prompt(observation.role, config, self._settings, observation.side_info)
        messages = [{"role": "system", "content": rules}]
        for past in self._kept_past:
            messages += [{"role": "user", "content": past.question}, {"role": "assistant", "content": past.answer}]
        return messages

    @property
    def _kept_past(self) -> list[_Exchange]:
        """The exchanges that the conversation still holds."""
        kept = self._settings.history
        return self._past if kept is None else self._past[-kept:] if kept else []

    def _second_try(self, messages: Messages, seen: Observation, first: ReadAttempt) -> ReadAttempt | None:
        reading = first.reading
        if first.finish_reason == "length" and reading.verdict in (Verdict.EMPTY, Verdict.TRUNCATED):
            return self._ask(messages, seen, AttemptKind.ESCALATION)
        if not self._settings.corrections or reading.verdict not in _CORRECTABLE or reading.problem is None:
            return None
        retry = [
            *messages,
            {"role": "assistant", "content": first.text.strip() or NO_ANSWER},
            {"role": "user", "content": correction_prompt(reading.problem, seen)},
        ]
        return self._ask(retry, seen, AttemptKind.CORRECTION)

    def _ask(self, messages: Sequence[Mapping[str, str]], seen: Observation, kind: AttemptKind) -> ReadAttempt:
        call_id = name_call(self.name, self._seed, seen.round, kind.value)
        longer = max(self._settings.escalated_output_tokens, 2 * self._output_tokens)
        limit = longer if kind is AttemptKind.ESCALATION else None
        try:
            completion = self._client.complete(
                messages, schema=self._schema, schema_name="move", call_id=call_id, max_output_tokens=limit
            )
        except ProviderError as error:
            return ReadAttempt(kind, call_id, _provider_fault(error), "")
        except ContextOverflow as error:
            problem = Problem("conversation", f"too long for the model ({error})", "what fits its context")
            return ReadAttempt(kind, call_id, unusable(Verdict.TRUNCATED, problem), "")
        reading = read_completion(completion, seen)
        return ReadAttempt(kind, call_id, reading, blank_thinking(completion.text or ""), completion.finish_reason)


def _provider_fault(error: ProviderError) -> Reading:
    problem = Problem("provider", str(error), "a reply")
    return unusable(Verdict.PROVIDER_FAULT, problem)
