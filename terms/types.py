"""The nouns of the game: closed sets, actions, types and what each side sees.

A side ``i`` has a private type ``t_i = (r_i, kappa_i, eta_i)``: reservation price, urgency in [0, 1] and stance.
The evaluated side is the **agent** (A), the simulated side the **counterpart** (B). Everything here is plain,
immutable data: no rules, no randomness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Role(StrEnum):
    """Side of the trade the agent plays."""

    BUYER = "buyer"
    SELLER = "seller"

    @property
    def sign(self) -> int:
        """``s``: +1 for a buyer, -1 for a seller."""
        return 1 if self is Role.BUYER else -1


class Opener(StrEnum):
    """Which side names the first price."""

    COUNTERPART = "counterpart_opens"
    AGENT = "agent_opens"


class Stance(StrEnum):
    """Behavioural parameter eta; the order is the order of every stance-indexed table."""

    CONCILIATORY = "conciliatory"
    NEUTRAL = "neutral"
    AGGRESSIVE = "aggressive"


class Regime(StrEnum):
    """Joint law of the two types. ``URGENCY_SHIFT_REVERSE`` is the directionality check, never in a default suite."""

    OVERLAP = "overlap"
    URGENCY_SHIFT = "urgency_shift"
    NO_DEAL = "no_deal"
    URGENCY_SHIFT_REVERSE = "urgency_shift_reverse"


class Family(StrEnum):
    """Behavioural class of counterpart."""

    CANDID = "candid"
    TACITURN = "taciturn"
    EXPRESSIVE = "expressive"
    STRATEGIC = "strategic"
    STOCHASTIC = "stochastic"
    ADVERSARIAL = "adversarial"


class Channel(StrEnum):
    """How much the cues tell about the counterpart."""

    INFORMATIVE = "informative"
    COLLAPSED = "collapsed"
    NOISY = "noisy"
    PRESSURING = "pressuring"


class Decision(StrEnum):
    """The three economic acts, spelled as in the published traces."""

    OFFER = "Offer"
    ACCEPT = "Accept"
    REJECT = "Reject"


class Sentiment(StrEnum):
    """Tone cue of a counterpart message."""

    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


class Posture(StrEnum):
    """Stance cue of a counterpart message; the order is the order of the posture logits."""

    CONCEDE = "Concede"
    HOLD = "Hold"
    PRESSURE = "Pressure"


class Termination(StrEnum):
    """How an episode ended.

    ``NO_REPLY`` is an empty, refused or truncated reply: counted for what it is, not as a move that breaks a rule.
    ``PROVIDER_FAILURE`` is a trial to exclude and count, never a result of the agent. ``COUNTERPART_FAULT`` is a move
    outside the rules, or none, by an agent in the other seat.
    """

    AGENT_ACCEPT = "agent_accept"
    COUNTERPART_ACCEPT = "counterpart_accept"
    AGENT_REJECT = "agent_reject"
    COUNTERPART_WALK = "counterpart_walk"
    ROUND_LIMIT = "round_limit"
    INVALID_ACTION = "invalid_action"
    NO_REPLY = "no_reply"
    PROVIDER_FAILURE = "provider_failure"
    COUNTERPART_FAULT = "counterpart_fault"


class ReplyFault(StrEnum):
    """Why a reply held no usable action. Kept apart so that a silent model is not scored as a stubborn one."""

    UNREADABLE = "unreadable"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    PROVIDER = "provider"


class ViolationKind(StrEnum):
    """Breaches of the protocol (spec of the game, section 1.5)."""

    OUT_OF_BOUNDS = "out_of_bounds"
    IRRATIONAL_OFFER = "irrational_offer"
    IRRATIONAL_ACCEPT = "irrational_accept"
    INVALID_ACTION = "invalid_action"
    REVERSED_CONCESSION = "reversed_concession"
    TURN_BUDGET = "turn_budget"

    @property
    def is_critical(self) -> bool:
        """Whether the breach counts towards ``crit_viol_pct``."""
        return self not in (ViolationKind.REVERSED_CONCESSION, ViolationKind.TURN_BUDGET)


@dataclass(frozen=True, slots=True)
class PrivateType:
    """What one side alone knows: ``(r, kappa, eta)``."""

    reservation_price: float
    urgency: float
    stance: Stance


@dataclass(frozen=True, slots=True)
class Belief:
    """An agent's stated belief about the counterpart's type.

    ``stance_probs`` is ordered (conciliatory, neutral, aggressive). Each part may be missing.
    """

    r_hat: float | None = None
    kappa_hat: float | None = None
    stance_probs: tuple[float, float, float] | None = None


class Cue(NamedTuple):
    """Sentiment and posture shown beside a counterpart action."""

    sentiment: Sentiment
    posture: Posture


@dataclass(frozen=True, slots=True)
class Offer:
    """Propose ``price`` to the counterpart; another agent there sees the ``cue`` beside the words."""

    price: float
    message: str = ""
    belief: Belief | None = None
    cue: Cue | None = None


@dataclass(frozen=True, slots=True)
class Accept:
    """Close at the counterpart's standing price."""

    message: str = ""
    belief: Belief | None = None
    cue: Cue | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Leave without a deal."""

    message: str = ""
    belief: Belief | None = None
    cue: Cue | None = None


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply that held no action. It ends the episode; no move is ever invented in its place."""

    fault: ReplyFault
    detail: str = ""
    belief: Belief | None = None


Action = Offer | Accept | Reject | Unusable


@dataclass(frozen=True, slots=True)
class Turn:
    """One agent move and what stood before it.

    ``price`` is the offered price, ``None`` for other decisions; ``decision`` is ``None`` for an unusable reply.
    ``counterpart_price`` is the price standing when the agent moved, ``None`` before the counterpart's first price.
    """

    round: int
    counterpart_price: float | None
    cue: Cue | None
    counterpart_message: str
    decision: Decision | None
    price: float | None
    message: str
    belief: Belief | None


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach, with the round it happened in and the value that broke the rule."""

    kind: ViolationKind
    round: int
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything the agent knows when it moves. :meth:`to_json_object` gives the nested form shown to models."""

    role: Role
    reservation_price: float
    round: int
    horizon: int
    opener: Opener
    legal_decisions: tuple[Decision, ...]
    last_own_offer: float | None
    price_min: float
    price_max: float
    standing_price: float | None
    message: str
    cue: Cue | None
    accept_utility: float | None
    history: tuple[Turn, ...]
    side_info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rounds_remaining(self) -> int:
        """Rounds after this one."""
        return self.horizon - self.round

    @property
    def can_accept(self) -> bool:
        """Whether a counterpart price stands."""
        return self.standing_price is not None

    def to_json_object(self) -> dict[str, Any]:
        """Return the nested JSON object of section 1.5: only JSON types, keys in a fixed order."""
        buyer = self.role is Role.BUYER
        return {
            "private_context": {"role": self.role.value, "reservation_price": self.reservation_price},
            "protocol_state": {
                "round": self.round,
                "rounds_remaining": self.rounds_remaining,
                "legal_decisions": [decision.value for decision in self.legal_decisions],
                "opener": self.opener.value,
                "accept_available": self.can_accept,
                "last_own_offer": self.last_own_offer,
            },
            "constraints": {
                "price_min": self.price_min,
                "price_max": self.price_max,
                "concession_direction": "offers never decrease" if buyer else "offers never increase",
            },
            "observation": {
                "counterpart_price": self.standing_price,
                "counterpart_message": self.message,
                "sentiment": self.cue.sentiment.value if self.cue else None,
                "posture": self.cue.posture.value if self.cue else None,
                "utility_of_accepting": self.accept_utility,
            },
            "history": [
                {
                    "round": turn.round,
                    "counterpart_price": turn.counterpart_price,
                    "counterpart_message": turn.counterpart_message,
                    "own_decision": turn.decision.value if turn.decision else None,
                    "own_price": turn.price,
                }
                for turn in self.history
            ],
            "side_info": dict(self.side_info),
        }
