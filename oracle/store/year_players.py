"""Whoever can play a year by name: the merchants of the world, and the oracle's, which plan.

``full-knowledge-planner`` knows what is hidden; ``honest-planner`` is the same planner with what can be learned.
"""

from __future__ import annotations

from commerce.config import Rules
from commerce.merchants import MERCHANTS, build_merchant
from commerce.merchants.base import Shopkeeper
from commerce.merchants.merchant_registry import describe_merchants
from commerce.types import World
from oracle.store.full_knowledge import FullKnowledge, Pays
from oracle.store.honest_knowledge import HonestKnowledge
from oracle.store.planning_merchant import PlanningMerchant

FULL_KNOWLEDGE_PLANNER = "full-knowledge-planner"
HONEST_PLANNER = "honest-planner"
YEAR_PLAYERS = (*MERCHANTS, HONEST_PLANNER, FULL_KNOWLEDGE_PLANNER)


def describe_year_players() -> list[tuple[str, str]]:
    """Return name and one line about each player."""
    return [
        *describe_merchants(),
        (HONEST_PLANNER, "Plans the year from the rules, the tools and its own sales."),
        (FULL_KNOWLEDGE_PLANNER, "Plans the year, and knows demand, floors, frauds and the calendar."),
    ]


def build_year_player(name: str, world: World, rules: Rules, seed: int = 0) -> Shopkeeper:
    """Return the player called ``name``; ``seed`` is used by the random merchant alone."""
    if name == FULL_KNOWLEDGE_PLANNER:
        return full_knowledge_planner(world, rules)
    if name == HONEST_PLANNER:
        return PlanningMerchant(lambda: HonestKnowledge(rules), rules)
    if name not in MERCHANTS:
        raise ValueError(f"merchant={name!r} is unknown; choose one of {', '.join(YEAR_PLAYERS)}")
    return build_merchant(name, world, rules, seed)


def full_knowledge_planner(world: World, rules: Rules, pays: Pays = "oracle") -> PlanningMerchant:
    """Return the planner that knows the world, paying the floor of each supplier or its first quote."""
    return PlanningMerchant(lambda: FullKnowledge(world, rules, pays), rules)
