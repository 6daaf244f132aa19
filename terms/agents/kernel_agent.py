"""The kernel of the game as an agent, so that it can sit in either seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from terms import voice
from terms.counterparts import CounterpartMove, KernelCounterpart
from terms.episode import Agent, Starter
from terms.meetings import Meeting
from terms.scenario import Scenario
from terms.two_seats import mirrored
from terms.types import Accept, Action, Decision, Observation, Offer, Reject


@dataclass(frozen=True)
class KernelAgent(Starter):
    """Plays the counterpart's law with the type and the draws of its scenario; in the second seat it is the kernel."""

    name: str = "kernel"

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> Agent:
        """Return the kernel of one episode."""
        del past
        return _Kernel(KernelCounterpart(mirrored(scenario)))


class _Kernel:
    def __init__(self, counterpart: KernelCounterpart) -> None:
        self._counterpart, self._num_answers = counterpart, 0

    def act(self, observation: Observation) -> Action:
        """Open, or answer the standing price."""
        if observation.standing_price is None:
            return self._said(self._counterpart.open(), observation, 1)
        self._num_answers += 1
        k = self._num_answers
        answer = self._counterpart.answer(Offer(observation.standing_price), k)
        return self._said(answer, observation, k + 1 if answer.decision is Decision.OFFER else k)

    def _said(self, answer: CounterpartMove, observation: Observation, round_number: int) -> Action:
        cue = answer.cue
        assert cue is not None  # the kernel always shows one
        price = observation.standing_price if answer.decision is Decision.ACCEPT else answer.price
        words = voice.render(answer.decision, price, cue, round_number)
        match answer.decision:
            case Decision.ACCEPT:
                return Accept(words, cue=cue)
            case Decision.REJECT:
                return Reject(words, cue=cue)
        assert answer.price is not None  # an offer has one
        return Offer(answer.price, words, cue=cue)
