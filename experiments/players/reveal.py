"""The reveal ladder: what a runner tells an agent about the counterpart, from nothing to its whole type.

The runner passes the result as ``side_info`` to :func:`terms.play`. Each level includes the ones before, so that the
difference between two rows is the worth of one more piece of information.
"""

from __future__ import annotations

from typing import Any

from experiments.players.negotiator_settings import Reveal
from experiments.players.prompts import render_prompt
from terms import Scenario
from terms.types import Channel, Family

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
