"""What an agent may do and what counts as a breach. Nothing here raises on an agent's behalf: a breach is data.

The order of the closed decision list is fixed; an agent that moves first has no price to accept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from terms.types import Accept, Action, Belief, Decision, Offer, Reject, ReplyFault, Unusable, ViolationKind

_DECISIONS = {decision.value.lower(): decision for decision in Decision}


def legal_decisions(standing_price: float | None) -> tuple[Decision, ...]:
    """Return the decisions open to the agent; Accept needs a standing price."""
    if standing_price is None:
        return (Decision.OFFER, Decision.REJECT)
    return (Decision.OFFER, Decision.ACCEPT, Decision.REJECT)


def coerce_action(reply: object) -> Action:
    """Read what an agent returned: an action, or a mapping in the JSON form of section 1.5.

    A reply that is neither becomes :class:`Unusable`; no move is invented for it.
    """
    if isinstance(reply, Offer | Accept | Reject | Unusable):
        return _checked(reply)
    if reply is None:
        return Unusable(ReplyFault.EMPTY, "the agent returned nothing")
    if isinstance(reply, Mapping):
        return _from_mapping(reply)
    return Unusable(ReplyFault.UNREADABLE, f"the agent returned {type(reply).__name__}, not an action")


def _checked(action: Action) -> Action:
    if action.belief is not None:
        action = replace(action, belief=read_belief(action.belief))
    if isinstance(action, Unusable):
        return replace(action, fault=ReplyFault(action.fault), detail=str(action.detail or ""))
    words: object = action.message
    if not isinstance(words, str):
        action = replace(action, message="")  # as in a mapping: words that are no text are left out
    if isinstance(action, Offer) and not is_price(action.price):
        return Unusable(ReplyFault.UNREADABLE, f"price={_shown(action.price)} is not a finite number", action.belief)
    return action


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer beyond the interpreter's limit of digits
        return f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _from_mapping(reply: Mapping[Any, Any]) -> Action:
    belief = read_belief(reply.get("belief"))
    message = reply.get("message")
    message = message if isinstance(message, str) else ""
    decision = reply.get("decision")
    known = read_decision(decision)
    if known is None:
        allowed = ", ".join(Decision)
        return Unusable(ReplyFault.UNREADABLE, f"decision={_shown(decision)} is not one of {allowed}", belief)
    match known:
        case Decision.ACCEPT:
            return Accept(message, belief)
        case Decision.REJECT:
            return Reject(message, belief)
        case Decision.OFFER:
            return _checked(Offer(reply.get("price"), message, belief))  # type: ignore[arg-type]  # _checked decides


def read_decision(raw: object) -> Decision | None:
    """Return the decision that ``raw`` spells in any case, or ``None``."""
    return _DECISIONS.get(raw.strip().lower()) if isinstance(raw, str) else None


def is_price(value: object) -> bool:
    """Whether ``value`` is a finite real number; True and numeric text are not prices."""
    if type(value) is float:  # the common case, decided without the abstract base class
        return math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of a float
        return False


def read_belief(raw: object) -> Belief | None:
    """Read a stated belief, keeping each part that is well formed and dropping the rest.

    Stance probabilities may be a mapping by stance name or a sequence in the fixed order; they are used only if they
    are non-negative and have a positive sum, and are then normalised.
    """
    if isinstance(raw, Belief):
        raw = {"r_hat": raw.r_hat, "kappa_hat": raw.kappa_hat, "stance_probs": raw.stance_probs}
    if not isinstance(raw, Mapping):
        return None
    r_hat, kappa_hat = raw.get("r_hat"), raw.get("kappa_hat")
    return Belief(
        r_hat=float(r_hat) if is_price(r_hat) else None,  # type: ignore[arg-type]  # is_price checked
        kappa_hat=float(kappa_hat) if is_price(kappa_hat) and 0 <= kappa_hat <= 1 else None,  # type: ignore
        stance_probs=_read_stance_probs(raw.get("stance_probs")),
    )


def _read_stance_probs(raw: object) -> tuple[float, float, float] | None:
    if isinstance(raw, Mapping):
        raw = [raw.get(name) for name in ("conciliatory", "neutral", "aggressive")]
    if not isinstance(raw, list | tuple) or len(raw) != 3 or not all(is_price(value) and value >= 0 for value in raw):
        return None
    total = sum(float(value) for value in raw)
    if not 0 < total < math.inf:
        return None
    if abs(total - 1.0) <= 1e-9:
        total = 1.0  # dividing again would move the last digit, and a replay would differ from its record
    return (raw[0] / total, raw[1] / total, raw[2] / total)


def offer_violations(
    price: float, *, reservation: float, previous: float | None, sign: int, price_min: float, price_max: float
) -> list[ViolationKind]:
    """Return the breaches of an offer; an offer exactly at a limit is legal."""
    found = []
    if not price_min <= price <= price_max:
        found.append(ViolationKind.OUT_OF_BOUNDS)
    if sign * (reservation - price) < 0:
        found.append(ViolationKind.IRRATIONAL_OFFER)
    if previous is not None and sign * (price - previous) < 0:
        found.append(ViolationKind.REVERSED_CONCESSION)
    return found
