"""Prompts, the reply schema and the reveal ladder, generated from the game's own configuration.

No stated rule can drift from it: the templates in ``templates/`` hold words only; every number comes from
:class:`terms.GameConfig` or the observation.

What a runner tells an agent about the counterpart goes from nothing to its whole type. It is passed as ``side_info`` to
:func:`terms.play`. Each level includes the ones before, so that the difference between two rows is the worth of one
more piece of information.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from experiments.llm.texts import fill_template
from experiments.players.model_options import NegotiatorSettings, Reveal
from experiments.players.receipts import Problem
from terms import GameConfig, Scenario
from terms.types import Channel, Decision, Family, Observation, Posture, Role, Sentiment, Stance

_BY_ROLE: dict[Role, dict[str, str]] = {
    Role.BUYER: {
        "role": "buyer",
        "counterpart": "seller",
        "worst": "highest",
        "worth": "reservation_price - p",
        "beyond": "above",
        "reverse": "decrease",
        "inside": "below",
    },
    Role.SELLER: {
        "role": "seller",
        "counterpart": "buyer",
        "worst": "lowest",
        "worth": "p - reservation_price",
        "beyond": "below",
        "reverse": "increase",
        "inside": "above",
    },
}
_UNIT = {"lowest": 0, "highest": 1}


def _written(value: object) -> object:
    """Write a number without float noise and a closed set as its values."""
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(str(_written(item)) for item in value) + ")"
    return value


def render_prompt(template: str, facts: Mapping[str, Any]) -> str:
    """Return the text of ``templates/<template>.md.j2``; a fact the template misses raises."""
    return fill_template("experiments.players", f"templates/{template}.md.j2", facts, _written)


def system_prompt(role: Role, config: GameConfig, settings: NegotiatorSettings, told: Collection[str] = ()) -> str:
    """Return the rules of ``config`` for one side, less what ``settings`` take away.

    Buyer and seller share one template; only the words that mirror each other differ. ``told`` names the parts of the
    side information, of which ``economics`` and ``bankroll`` are explained.
    """
    facts = {
        **_BY_ROLE[role],
        **_UNIT,
        "horizon": config.horizon,
        "price_min": config.price_min,
        "price_max": config.price_max,
        "final_offer_answered": config.final_offer_answered,
        "history": settings.shown_history(config.history_window),
        "show_cues": config.show_cues and settings.show_cues,
        "show_messages": config.show_messages and settings.show_messages,
        "ask_belief": settings.ask_belief,
        "guidance": settings.guidance,
        "reveal": settings.reveal is not Reveal.NOTHING,
        "economics": "economics" in told,
        "bankroll": "bankroll" in told,
        "decisions": ", ".join(f"`{decision.value}`" for decision in Decision),
        "sentiments": ", ".join(Sentiment),
        "postures": ", ".join(Posture),
        "stances": ", ".join(Stance),
    }
    return render_prompt("system", facts)


def turn_prompt(observation: Observation) -> str:
    """Return the observation as a user message; text in it cannot close the fence around it."""
    text = json.dumps(observation.to_json_object(), indent=1, allow_nan=False)
    fenced = text.replace("<", "\\u003c").replace(">", "\\u003e")
    return render_prompt("turn", {"round": observation.round, "horizon": observation.horizon, "observation": fenced})


def correction_prompt(problem: Problem, observation: Observation) -> str:
    """Return the one corrective message: which field, what was found, what is allowed."""
    facts = {"field": problem.field, "value": problem.value, "allowed": problem.allowed, "round": observation.round}
    return render_prompt("correction", facts)


def reply_schema(
    *, ask_belief: bool = True, message_limit: int | None = None, price_by_decision: bool = False
) -> dict[str, Any]:
    """Return the JSON schema of a reply.

    Prices have no bounds here: a server that enforced them would hide the agent's illegal moves.

    Parameters
    ----------
    ask_belief
        Whether the reply reports a belief.
    message_limit
        Longest message in characters, for servers that enforce it; small models need one to come to an end.
    price_by_decision
        Tie a number to ``Offer`` and null to the rest by ``anyOf``, which not every server takes at the top.
    """
    message: dict[str, Any] = {"type": "string"}
    if message_limit is not None:
        message["maxLength"] = message_limit
    rest = {"message": message, "belief": _belief_schema()} if ask_belief else {"message": message}
    if not price_by_decision:
        return _closed_object({"decision": _one_of(*Decision), "price": {"type": ["number", "null"]}, **rest})
    branches = (((Decision.OFFER,), "number"), ((Decision.ACCEPT, Decision.REJECT), "null"))
    return {
        "anyOf": [
            _closed_object({"decision": _one_of(*some), "price": {"type": kind}, **rest}) for some, kind in branches
        ]
    }


def _one_of(*decisions: Decision) -> dict[str, Any]:
    return {"type": "string", "enum": [decision.value for decision in decisions]}


def _belief_schema() -> dict[str, Any]:
    number = {"type": "number"}
    probs = _closed_object({stance.value: number for stance in Stance})
    return _closed_object({"r_hat": number, "kappa_hat": number, "stance_probs": probs})


def _closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_FAMILIES = {
    Family.CANDID: "moves with its type, cues tell the truth",
    Family.TACITURN: "moves with its type, cues are always the same",
    Family.EXPRESSIVE: "reacts strongly to your concessions, cues tell the truth",
    Family.STRATEGIC: "reacts strongly to your concessions, cues are always the same",
    Family.STOCHASTIC: "moves with much noise, cues are noisy",
    Family.ADVERSARIAL: "plays hardball whatever its type, cues always press",
}
_CHANNELS = {
    Channel.INFORMATIVE: "drawn from its stance and its last concession",
    Channel.COLLAPSED: "always neutral and Hold",
    Channel.NOISY: "drawn from its stance and its last concession with much noise",
    Channel.PRESSURING: "always negative and Pressure",
}
_LEVELS = tuple(Reveal)


def reveal_side_info(scenario: Scenario, level: Reveal) -> dict[str, Any]:
    """Return the true facts about the counterpart of ``scenario`` that belong to ``level``."""
    rank = _LEVELS.index(level)
    info: dict[str, Any] = {}
    if rank >= _LEVELS.index(Reveal.FAMILY):
        info["counterpart_family"] = {"name": scenario.family.value, "description": _FAMILIES[scenario.family]}
    if rank >= _LEVELS.index(Reveal.KERNEL):
        info["counterpart_rules"] = kernel_rules(scenario)
    if rank >= _LEVELS.index(Reveal.TYPE):
        hidden = scenario.counterpart_type
        info["counterpart_type"] = {
            "reservation_price": hidden.reservation_price,
            "urgency": hidden.urgency,
            "stance": hidden.stance.value,
        }
    return info


def kernel_rules(scenario: Scenario) -> str:
    """Return the counterpart's rules in words and numbers, from the scenario's own configuration."""
    config, family = scenario.config, scenario.config.families[scenario.family]
    facts = {
        "horizon": config.horizon,
        "price_range": scenario.price_range,
        "sign": scenario.sign,
        "stance_prior": family.stance_prior,
        "rho": family.rho,
        "xi": family.xi,
        "lambda2": family.lambda2,
        "noise": family.noise_share * scenario.price_range,
        "opening_noise": config.opening.noise_share * scenario.price_range,
        "channel": _CHANNELS[family.channel],
        "acceptance": config.acceptance,
        "walk": config.walk,
        "concession": config.concession,
        "opening": config.opening,
    }
    return render_prompt("kernel", facts)
