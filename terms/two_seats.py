"""Two agents at one table: the game with an agent in the counterpart's seat.

The first seat is the one every episode has: round ``k`` is its move and the other's answer. The second seat sees the
same talk from its own side: its own limit, the other's offers as standing prices, rounds counted by its own moves. Both
keep a record of their own, so everything that is computed of an episode is computed of either seat.

Who moves last differs by seat: the first seat's last offer is answered only if ``final_offer_answered``. A fair
comparison lets each agent sit in both seats (see :func:`mirrored`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from terms import protocol
from terms.counterparts import CounterpartMove
from terms.episode import AgentLike, SideInfo, as_starter, observe, recorded_moves
from terms.game import Game
from terms.payoffs import utility
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import (
    Accept,
    Action,
    Belief,
    Decision,
    Observation,
    Offer,
    Opener,
    Reject,
    ReplyFault,
    Role,
    Termination,
    Turn,
    Unusable,
    Violation,
    ViolationKind,
)

_OTHER_ROLE = {Role.BUYER: Role.SELLER, Role.SELLER: Role.BUYER}
_OTHER_OPENER = {Opener.AGENT: Opener.COUNTERPART, Opener.COUNTERPART: Opener.AGENT}
_SEEN_FROM_THE_OTHER_SEAT = {
    Termination.AGENT_ACCEPT: Termination.COUNTERPART_ACCEPT,
    Termination.AGENT_REJECT: Termination.COUNTERPART_WALK,
    Termination.COUNTERPART_ACCEPT: Termination.AGENT_ACCEPT,
    Termination.COUNTERPART_WALK: Termination.AGENT_REJECT,
    Termination.INVALID_ACTION: Termination.COUNTERPART_FAULT,
    Termination.NO_REPLY: Termination.COUNTERPART_FAULT,
}


class Match(NamedTuple):
    """One talk of two agents, recorded from both seats."""

    first: EpisodeRecord
    second: EpisodeRecord


def mirrored(scenario: Scenario) -> Scenario:
    """Return ``scenario`` as the other seat has it: roles, types and openers exchanged, draws and prices the same.

    Its rounds are the moves of that seat, and its last offer is answered exactly if the first seat's is not.

    Raises
    ------
    ValueError
        If the other seat would have no move at all.
    """
    config, opens = scenario.config, scenario.opener is Opener.COUNTERPART
    horizon = config.horizon - (not config.final_offer_answered) + opens
    if horizon < 1:
        raise ValueError(f"horizon={config.horizon} leaves the second seat no move; it must be at least 2")
    changes = {"horizon": horizon, "final_offer_answered": not config.final_offer_answered}
    return replace(
        scenario,
        scenario_id=f"{scenario.scenario_id}/other",
        agent_role=_OTHER_ROLE[scenario.agent_role],
        opener=_OTHER_OPENER[scenario.opener],
        agent_type=scenario.counterpart_type,
        counterpart_type=scenario.agent_type,
        config=config.model_copy(update=changes),
    )


def play_match(
    scenario: Scenario,
    first: AgentLike,
    second: AgentLike,
    *,
    side_info: tuple[SideInfo | None, SideInfo | None] = (None, None),
) -> Match:
    """Let two agents negotiate ``scenario`` and return what each seat saw.

    The first seat has the agent's role and type, the second the counterpart's. An illegal move of either ends the
    talk and stands in the record of who made it.

    Examples
    --------
    >>> import terms
    >>> scenario = terms.fresh_suite(1, ["overlap"], ["candid"], 1)[0]
    >>> match = play_match(scenario, terms.FixedConcession(0.3), terms.FixedConcession(0.1))
    >>> match.first.price == match.second.price, match.first.utility + match.second.utility <= scenario.zopa + 1e-9
    (True, True)
    """
    starter = as_starter(first)
    act = starter.start(scenario).act
    opposite = SecondSeat(scenario, second, side_info[1])
    game = Game(scenario, counterpart=opposite)
    while not game.is_over:
        try:
            reply = act(observe(game, side_info[0]))
        except Exception as error:
            error.add_note(f"raised by agent {starter.name!r} in round {game.round} of {scenario.scenario_id}")
            raise
        game.step(protocol.coerce_action(reply))
    record = game.record(starter.name)
    return Match(record, opposite.record(record))


def replay_match(scenario: Scenario, match: Match) -> Match:
    """Feed the recorded moves of both seats to the game and return the talk they lead to.

    Raises
    ------
    ValueError
        If the moves end too early or go on after the end.
    """
    told = [turn.cue for turn in match.first.turns][0 if scenario.opener is Opener.COUNTERPART else 1 :]
    cues = [*told, match.first.closing_cue]
    moves = recorded_moves(match.second)
    shown = [
        move if isinstance(move, Unusable) else replace(move, cue=cue)
        for move, cue in zip(moves, [*cues, *[None] * len(moves)], strict=False)
    ]
    first, second = _Repeats(match.first.agent, recorded_moves(match.first)), _Repeats(match.second.agent, shown)
    again = play_match(scenario, first, second)
    for seat in (first, second):
        if seat.moves:
            raise ValueError(f"{scenario.scenario_id}: {len(seat.moves)} moves of {seat.name} come after the end")
    return again


@dataclass
class _Repeats:
    """Makes recorded moves."""

    name: str
    moves: list[Action]

    def act(self, observation: Observation) -> Action:
        if not self.moves:
            raise ValueError(f"the moves of {self.name} end before round {observation.round} while the talk is open")
        return self.moves.pop(0)


class OpenMatch:
    """A match whose moves come from outside, one at a time: whoever is to move is asked, nobody is called.

    Examples
    --------
    >>> import terms
    >>> talk = OpenMatch(terms.fresh_suite(1, ["overlap"], ["candid"], 1)[0])
    >>> talk.mover
    'second'
    >>> talk.step(Offer(talk.observe().price_max))
    >>> talk.mover, talk.observe().can_accept
    ('first', True)
    >>> talk.step(Reject())
    >>> talk.mover, talk.match(("ann", "bob")).second.termination.value
    (None, 'counterpart_walk')
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._queue: list[Action] = []
        self.seat = SecondSeat(scenario, lambda observation: self._queue.pop())
        self._game: Game | None = None
        self._pending: Offer | None = None
        if scenario.opener is Opener.AGENT:
            self._game = Game(scenario, counterpart=self.seat)

    @property
    def mover(self) -> str | None:
        """``first`` or ``second``, ``None`` once the talk has ended."""
        if self._game is None or self._pending is not None:
            return "second"
        return None if self._game.is_over else "first"

    def observe(self, seat: str | None = None) -> Observation:
        """Return what a seat sees, by default the one to move."""
        if (seat or self.mover or "first") == "second" or self._game is None:
            return self.seat.observe()
        return self._game.observe()

    def step(self, action: Action) -> None:
        """Make the mover's move."""
        if self.mover == "first":
            assert self._game is not None  # or the second seat would move
            if self._is_answered(action):
                self._pending = self.seat.standing = action  # type: ignore[assignment]  # an offer
            else:
                self._game.step(action)
            return
        if self.mover is None:
            raise ValueError("the talk has ended; no further move is possible")
        self._queue.append(action)
        if self._game is None:
            self._game = Game(self.scenario, counterpart=self.seat)
        else:
            assert self._pending is not None  # or the first seat would move
            offer, self._pending = self._pending, None
            self._game.step(offer)

    def match(self, names: tuple[str, str] = ("first", "second")) -> Match:
        """Return the finished talk."""
        if self._game is None:
            raise ValueError("the talk is still open in round 1")
        first = self._game.record(names[0])
        return Match(first, replace(self.seat.record(first), agent=names[1]))

    def _is_answered(self, action: Action) -> bool:
        at, config = self.scenario, self.scenario.config
        is_last = self._game is not None and self._game.round == config.horizon and not config.final_offer_answered
        return isinstance(action, Offer) and not is_last and at.price_min <= action.price <= at.price_max


class SecondSeat:
    """An agent as the counterpart of a game; asked in turn by the game, it is shown the talk from its own side."""

    def __init__(self, scenario: Scenario, agent: AgentLike, side_info: SideInfo | None = None) -> None:
        self._own = mirrored(scenario)
        self._starter = as_starter(agent)
        self._act = self._starter.start(self._own).act
        self._side_info = side_info
        self._turns: list[Turn] = []
        self._offers: list[float] = []
        self._violations: list[Violation] = []
        self.standing: Offer | None = None
        self._fault: ReplyFault | None = None
        self._detail = ""

    def open(self) -> CounterpartMove:
        """Make the first move of the talk."""
        return self._move()

    def answer(self, offer: Offer, k: int) -> CounterpartMove:
        """CounterpartMove the first seat's offer."""
        del k  # this seat counts its own moves
        self.standing = offer
        return self._move()

    def observe(self) -> Observation:
        """Return what this seat sees before its next move."""
        own, config, standing = self._own, self._own.config, self.standing
        limit = own.agent_type.reservation_price
        price = None if standing is None else float(standing.price)
        past = self._turns[-config.history_window :] if config.history_window else []
        shows = config.show_messages
        return Observation(
            role=own.agent_role,
            reservation_price=limit,
            round=len(self._turns) + 1,
            horizon=config.horizon,
            opener=own.opener,
            legal_decisions=protocol.legal_decisions(price),
            last_own_offer=self._offers[-1] if self._offers else None,
            price_min=own.price_min,
            price_max=own.price_max,
            standing_price=price,
            message=standing.message if standing is not None and shows else "",
            cue=standing.cue if standing is not None and config.show_cues else None,
            accept_utility=None if price is None else utility(price, limit, own.sign),
            history=tuple(past if shows else (replace(turn, counterpart_message="") for turn in past)),
            side_info={"product": own.product.to_json_object()} if own.product else {},
        )

    def record(self, first: EpisodeRecord) -> EpisodeRecord:
        """Return the finished talk as this seat had it; ``first`` is the other seat's record of it."""
        own = self._own
        termination = _SEEN_FROM_THE_OTHER_SEAT.get(first.termination, first.termination)
        if self._fault is not None or self._detail:
            termination = first.termination
            if termination is Termination.COUNTERPART_FAULT:
                silent = self._fault not in (None, ReplyFault.UNREADABLE)
                termination = Termination.NO_REPLY if silent else Termination.INVALID_ACTION
        last = first.turns[-1] if first.turns else None
        spoke_last = last is not None and last.decision in (Decision.ACCEPT, Decision.REJECT)
        return replace(
            first,
            scenario_id=own.scenario_id,
            agent=self._starter.name,
            agent_role=own.agent_role,
            opener=own.opener,
            agent_type=own.agent_type,
            counterpart_type=own.counterpart_type,
            horizon=own.config.horizon,
            difficulty=own.difficulty,
            difficulty_bin=None,
            turns=tuple(self._turns),
            violations=tuple(self._violations),
            termination=termination,
            utility=0.0 if first.price is None else utility(first.price, own.agent_type.reservation_price, own.sign),
            fault=self._fault,
            fault_detail=self._detail,
            closing_cue=None,
            closing_message=last.message if last is not None and spoke_last else "",
        )

    def _move(self) -> CounterpartMove:
        seen = self.observe()
        if self._side_info is not None:
            more = self._side_info(seen) if callable(self._side_info) else self._side_info
            seen = replace(seen, side_info={**seen.side_info, **more})
        try:
            action = protocol.coerce_action(self._act(seen))
        except Exception as error:
            error.add_note(f"raised by agent {self._starter.name!r} in round {seen.round} of {self._own.scenario_id}")
            raise
        return self._taken(action, seen)

    def _taken(self, action: Action, seen: Observation) -> CounterpartMove:
        match action:
            case Offer():
                return self._take_offer(action, seen)
            case Accept():
                return self._take_accept(action, seen)
            case Reject():
                self._note(seen, Decision.REJECT, None, action.message, action.belief)
                return CounterpartMove(Decision.REJECT, cue=action.cue, message=action.message)
            case Unusable():
                self._note(seen, None, None, "", action.belief)
                self._fault, self._detail = action.fault, action.detail
                if action.fault is ReplyFault.UNREADABLE:
                    self._breach(ViolationKind.INVALID_ACTION, seen.round)
                return CounterpartMove(Decision.REJECT, fault=action.fault)

    def _take_offer(self, action: Offer, seen: Observation) -> CounterpartMove:
        price, own = float(action.price), self._own
        self._note(seen, Decision.OFFER, price, action.message, action.belief)
        kinds = protocol.offer_violations(
            price,
            reservation=own.agent_type.reservation_price,
            previous=self._offers[-1] if self._offers else None,
            sign=own.sign,
            price_min=own.price_min,
            price_max=own.price_max,
        )
        for kind in kinds:
            self._breach(kind, seen.round, price)
        if ViolationKind.OUT_OF_BOUNDS in kinds:
            self._detail = f"price={price} lies outside [{own.price_min}, {own.price_max}]"
            return CounterpartMove(Decision.OFFER, price, fault=ReplyFault.UNREADABLE)
        self._offers.append(price)
        return CounterpartMove(Decision.OFFER, price, cue=action.cue, message=action.message)

    def _take_accept(self, action: Accept, seen: Observation) -> CounterpartMove:
        self._note(seen, Decision.ACCEPT, None, action.message, action.belief)
        if seen.accept_utility is None:
            self._breach(ViolationKind.INVALID_ACTION, seen.round)
            self._detail = "Accept without a standing price"
            return CounterpartMove(Decision.ACCEPT, fault=ReplyFault.UNREADABLE)
        if seen.accept_utility < 0:
            self._breach(ViolationKind.IRRATIONAL_ACCEPT, seen.round, seen.standing_price)
        return CounterpartMove(Decision.ACCEPT, cue=action.cue, message=action.message)

    def _note(
        self, seen: Observation, decision: Decision | None, price: float | None, message: str, belief: Belief | None
    ) -> None:
        words = self.standing.message if self.standing is not None else ""
        self._turns.append(Turn(seen.round, seen.standing_price, seen.cue, words, decision, price, message, belief))

    def _breach(self, kind: ViolationKind, round_number: int, value: float | None = None) -> None:
        self._violations.append(Violation(kind, round_number, value))
