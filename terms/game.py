"""One episode as a state machine: observe, move, be answered.

Round k: the agent sees the standing counterpart price and moves; the counterpart answers an offer with clock k, and its
counter-offer is shown as round k + 1. The counterpart's random numbers lie ready in the scenario's noise, so the
state holds no generator and the same moves always lead to the same episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from terms import protocol, voice
from terms.counterparts import Counterpart, CounterpartMove, KernelCounterpart
from terms.payoffs import utility
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import (
    Accept,
    Action,
    Belief,
    Cue,
    Decision,
    Observation,
    Offer,
    Opener,
    Reject,
    ReplyFault,
    Termination,
    Turn,
    Unusable,
    Violation,
    ViolationKind,
)


class Game:
    """A running episode of ``scenario``.

    ``speak`` words the counterpart's committed acts and decides nothing. Opposite sits the kernel, unless another
    ``counterpart`` is given.
    """

    def __init__(
        self, scenario: Scenario, *, speak: voice.Voice = voice.render, counterpart: Counterpart | None = None
    ) -> None:
        self.scenario = scenario
        self._speak = speak
        self.round = 1
        self.termination: Termination | None = None
        self._config = scenario.config
        self._sign = scenario.sign
        self._counterpart = KernelCounterpart(scenario) if counterpart is None else counterpart
        self._standing: float | None = None
        self._cue: Cue | None = None
        self._message = ""
        self._offers: list[float] = []
        self._turns: list[Turn] = []
        self._violations: list[Violation] = []
        self._deal: float | None = None
        self._fault: ReplyFault | None = None
        self._fault_detail = ""
        self._closing: tuple[Cue | None, str] = (None, "")
        if scenario.opener is Opener.COUNTERPART:
            self._open()

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self.termination is not None

    def observe(self, side_info: Mapping[str, Any] | None = None) -> Observation:
        """Return what the agent sees now; ``side_info`` is added to the product context if there is one."""
        scenario, config = self.scenario, self._config
        info: dict[str, Any] = {"product": scenario.product.to_json_object()} if scenario.product else {}
        own = scenario.agent_type.reservation_price
        return Observation(
            role=scenario.agent_role,
            reservation_price=own,
            round=self.round,
            horizon=config.horizon,
            opener=scenario.opener,
            legal_decisions=protocol.legal_decisions(self._standing),
            last_own_offer=self._offers[-1] if self._offers else None,
            price_min=scenario.price_min,
            price_max=scenario.price_max,
            standing_price=self._standing,
            message=self._message if config.show_messages else "",
            cue=self._cue if config.show_cues else None,
            accept_utility=None if self._standing is None else utility(self._standing, own, self._sign),
            history=self._visible_history(),
            side_info={**info, **side_info} if side_info else info,
        )

    def step(self, action: Action) -> None:
        """Apply the agent's move and the counterpart's answer."""
        if self.is_over:
            raise ValueError(f"the episode ended with {self.termination}; no further move is possible")
        match action:
            case Offer():
                self._take_offer(action)
            case Accept():
                self._take_accept(action)
            case Reject():
                self._add_turn(Decision.REJECT, None, action.message, action.belief)
                self.termination = Termination.AGENT_REJECT
            case Unusable():
                self._take_unusable(action)

    def record(self, agent: str) -> EpisodeRecord:
        """Return the finished episode under the name of the ``agent`` that played it."""
        if self.termination is None:
            raise ValueError(f"the episode is still open in round {self.round}")
        scenario = self.scenario
        own = scenario.agent_type.reservation_price
        return EpisodeRecord(
            scenario_id=scenario.scenario_id,
            agent=agent,
            regime=scenario.regime,
            family=scenario.family,
            agent_role=scenario.agent_role,
            opener=scenario.opener,
            episode_seed=scenario.episode_seed,
            agent_type=scenario.agent_type,
            counterpart_type=scenario.counterpart_type,
            price_min=scenario.price_min,
            price_max=scenario.price_max,
            horizon=self._config.horizon,
            zopa=scenario.zopa,
            difficulty=scenario.difficulty,
            difficulty_bin=scenario.difficulty_bin,
            product_name=scenario.product.name if scenario.product else None,
            turns=tuple(self._turns),
            violations=tuple(self._violations),
            termination=self.termination,
            price=self._deal,
            utility=0.0 if self._deal is None else utility(self._deal, own, self._sign),
            fault=self._fault,
            fault_detail=self._fault_detail,
            closing_cue=self._closing[0],
            closing_message=self._closing[1],
        )

    def _visible_history(self) -> tuple[Turn, ...]:
        config = self._config
        past = tuple(self._turns[-config.history_window :]) if config.history_window else ()
        if config.show_cues and config.show_messages:
            return past
        return tuple(
            replace(
                turn,
                cue=turn.cue if config.show_cues else None,
                counterpart_message=turn.counterpart_message if config.show_messages else "",
            )
            for turn in past
        )

    def _add_turn(self, decision: Decision | None, price: float | None, message: str, belief: Belief | None) -> None:
        self._turns.append(Turn(self.round, self._standing, self._cue, self._message, decision, price, message, belief))

    def _breach(self, kind: ViolationKind, value: float | None = None) -> None:
        self._violations.append(Violation(kind, self.round, value))

    def _take_unusable(self, action: Unusable) -> None:
        self._add_turn(None, None, "", action.belief)
        self._fault, self._fault_detail = action.fault, action.detail
        if action.fault is ReplyFault.PROVIDER:
            self.termination = Termination.PROVIDER_FAILURE
        elif action.fault is ReplyFault.UNREADABLE:
            self._breach(ViolationKind.INVALID_ACTION)
            self.termination = Termination.INVALID_ACTION
        else:
            self.termination = Termination.NO_REPLY

    def _take_accept(self, action: Accept) -> None:
        self._add_turn(Decision.ACCEPT, None, action.message, action.belief)
        if self._standing is None:
            self._breach(ViolationKind.INVALID_ACTION)
            self._fault_detail = "Accept without a standing price"
            self.termination = Termination.INVALID_ACTION
            return
        if utility(self._standing, self.scenario.agent_type.reservation_price, self._sign) < 0:
            self._breach(ViolationKind.IRRATIONAL_ACCEPT, self._standing)
        self._deal = self._standing
        self.termination = Termination.AGENT_ACCEPT

    def _take_offer(self, action: Offer) -> None:
        price, scenario = float(action.price), self.scenario
        self._add_turn(Decision.OFFER, price, action.message, action.belief)
        for kind in protocol.offer_violations(
            price,
            reservation=scenario.agent_type.reservation_price,
            previous=self._offers[-1] if self._offers else None,
            sign=self._sign,
            price_min=scenario.price_min,
            price_max=scenario.price_max,
        ):
            self._breach(kind, price)
            if kind is ViolationKind.OUT_OF_BOUNDS:
                # An offer outside the action space cannot be executed, and clamping it would invent a move.
                self._fault_detail = f"price={price} lies outside [{scenario.price_min}, {scenario.price_max}]"
                self.termination = Termination.INVALID_ACTION
        if not self.is_over:
            self._answer(action)

    def _answer(self, offer: Offer) -> None:
        k, horizon = self.round, self._config.horizon
        self._offers.append(float(offer.price))
        if k == horizon and not self._config.final_offer_answered:
            self._run_out()
            return
        answer = self._counterpart.answer(offer, k)
        if (fault := self._fault_of(answer)) is not None:
            self._lose_counterpart(fault)
        elif answer.decision is Decision.ACCEPT:
            self._deal = float(offer.price)
            self._close(Termination.COUNTERPART_ACCEPT, answer, self._deal)
        elif answer.decision is Decision.REJECT:
            self._close(Termination.COUNTERPART_WALK, answer)
        elif k == horizon:
            self._run_out()
        else:
            self.round += 1
            self._show(answer)

    def _run_out(self) -> None:
        self._breach(ViolationKind.TURN_BUDGET)
        self.termination = Termination.ROUND_LIMIT

    def _open(self) -> None:
        answer = self._counterpart.open()
        if (fault := self._fault_of(answer)) is not None:
            self._lose_counterpart(fault)
        elif answer.decision is Decision.OFFER:
            self._show(answer)
        else:
            self._close(Termination.COUNTERPART_WALK, answer)

    def _fault_of(self, answer: CounterpartMove) -> ReplyFault | None:
        """Return why the answer is no act: the counterpart says so, or names a price that cannot be one."""
        if answer.fault is not None or answer.decision is not Decision.OFFER:
            return answer.fault
        low, high = self.scenario.price_min, self.scenario.price_max
        usable = protocol.is_price(answer.price) and low <= answer.price <= high  # type: ignore[operator]  # a price
        return None if usable else ReplyFault.UNREADABLE

    def _lose_counterpart(self, fault: ReplyFault) -> None:
        lost = fault is ReplyFault.PROVIDER
        self.termination = Termination.PROVIDER_FAILURE if lost else Termination.COUNTERPART_FAULT

    def _close(self, termination: Termination, answer: CounterpartMove, price: float | None = None) -> None:
        self._closing = (answer.cue, self._worded(answer, price))
        self.termination = termination

    def _show(self, answer: CounterpartMove) -> None:
        """Make the answer's price the standing one, with its cue and words."""
        self._standing, self._cue = answer.price, answer.cue
        self._message = self._worded(answer, answer.price)

    def _worded(self, answer: CounterpartMove, price: float | None) -> str:
        if answer.message is not None:
            return answer.message
        return self._speak(answer.decision, price, answer.cue, self.round) if answer.cue is not None else ""
