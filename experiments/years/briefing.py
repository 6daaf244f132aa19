"""What every agent is told before its year, generated from the rules so that no stated number can drift from them.

The templates in ``prompts/`` hold words only; every number comes from :class:`commerce.config.Rules`, the public facts
of the world, the tools, and the limits of the year.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commerce.money import to_yuan
from commerce.setting import Setting
from commerce.tools import WAIT, tool_schemas
from commerce.tools.arguments import MAX_TEXT
from commerce.tools.handling import clock
from commerce.types import Size, Speed
from experiments.llm.texts import fill_template
from experiments.years.limits import Limits
from experiments.years.transcript import Opening


def _written(value: object) -> object:
    """Write a number without float noise and with commas between thousands."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value:,.12g}" if isinstance(value, float) else f"{value:,}"


def render_briefing(template: str, facts: Mapping[str, Any]) -> str:
    """Return the text of ``prompts/<template>.md.j2``; a fact the template misses raises."""
    return fill_template("experiments.years", f"prompts/{template}.md.j2", facts, _written)


def briefing(setting: Setting, limits: Limits, extra: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the two messages that open a year: the rules as a system message, and the start as a user message.

    Parameters
    ----------
    setting
        The world and rules of the year.
    limits
        Limits of the year.
    extra
        What a model's own harness adds: ``context`` about its window, ``tools_as_json`` where tools are called in text.
    """
    facts = {**_facts(setting), **limits.model_dump(), "context": None, "tools_as_json": None, **(extra or {})}
    return [
        {"role": "system", "content": render_briefing("system", facts)},
        {"role": "user", "content": render_briefing("user", facts)},
    ]


def make_opening(
    agent: str, setting: Setting, limits: Limits | None = None, extra: Mapping[str, Any] | None = None
) -> Opening:
    """Return the opening line of a transcript: who plays, the briefing, and the tools."""
    messages = briefing(setting, limits or Limits(), extra)
    return Opening(agent=agent, messages=tuple(messages), tools=tuple(tool_schemas()))


def _facts(setting: Setting) -> dict[str, Any]:
    rules, world = setting.rules, setting.world
    standard = rules.speed_cost[list(Speed).index(Speed.STANDARD)]
    tiers = sorted({(kind.tier, kind.operations_fen) for kind in world.store_types})
    return {
        **rules.model_dump(),
        **_amounts(setting),
        "wait": WAIT,
        "start_date": setting.date(0).isoformat(),
        "end_date": setting.date(rules.num_days).isoformat(),
        "sure_days": setting.sure_days,
        "opens": clock(rules.open_minute),
        "closes": clock(rules.close_minute),
        "day_minutes": rules.close_minute - rules.open_minute,
        "commission_reversed": rules.commission_on_returns == "reversed",
        "tiers": [{"tier": tier, "cost": to_yuan(cost)} for tier, cost in tiers],
        "sizes": ", ".join(size.value for size in Size),
        "storage_steps": [{"age": age, "factor": factor} for age, factor in rules.storage_steps],
        "speed_cost": {speed.value: factor / standard for speed, factor in zip(Speed, rules.speed_cost, strict=True)},
        "return_first": rules.return_lag[0],
        "return_last": rules.return_lag[1],
        "lead_first": rules.lead_days[0],
        "lead_last": rules.lead_days[1],
        "max_text": MAX_TEXT,
    }


def _amounts(setting: Setting) -> dict[str, Any]:
    """Return the amounts of money in yuan and the shares in percent."""
    rules = setting.rules
    yuan = {
        "initial": rules.initial_fen,
        "setup": rules.setup_fen,
        "idle_penalty": rules.idle_penalty_fen,
        "vip_fee": rules.vip_fee_fen,
        "max_price": rules.max_price_fen,
    }
    shares = {
        "commission": rules.commission,
        "salvage": rules.salvage_share,
        "discount_min": rules.discount_min,
        "discount_max": rules.discount_max,
        "full_discount": rules.full_discount,
        "end_hazard": rules.end_hazard,
    }
    return {
        **{name: to_yuan(fen) for name, fen in yuan.items()},
        **{f"{name}_pct": 100 * share for name, share in shares.items()},
        "freight": _by_size(rules.freight_fen, rules.speed_cost[list(Speed).index(Speed.STANDARD)]),
        "storage": _by_size(rules.storage_fen),
    }


def _by_size(amounts: tuple[int, ...], factor: float = 1.0) -> str:
    return " / ".join(f"{factor * fen / 100:g}" for fen in amounts)
