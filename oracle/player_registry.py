"""The oracle's own players by name, each with what it needs. Listing them loads no compiler.

``bayes`` is the Bayes optimum told regime and family, ``bayes-unsure`` told the family alone, ``clairvoyant`` the best
reply to the revealed type, ``ramp`` the rule of thumb; the ``faulty-`` agents have one planted fault each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from terms.episode import Agent
from terms.hints import did_you_mean
from terms.scenario import Scenario

if TYPE_CHECKING:
    from oracle.agents import ScenarioStarter
    from oracle.prior import Knowledge


class RegisteredPlayer(NamedTuple):
    """A player of the registry.

    ``build`` makes its agent for a scenario. ``values_for`` says for a scenario the laws whose fitted values it plays
    with, ``None`` for one that needs none. ``is_reference`` marks those that %Oracle may be measured against.
    """

    description: str
    build: Callable[[Scenario], Agent]
    values_for: Callable[[Scenario], Knowledge] | None = None
    is_reference: bool = False


def _regime_and_family(scenario: Scenario) -> Knowledge:
    from oracle.interventions import told_regime_and_family

    return told_regime_and_family(scenario)


def _family(scenario: Scenario) -> Knowledge:
    from oracle.interventions import told_family

    return told_family(scenario)


def _bayes(scenario: Scenario) -> Agent:
    from oracle.bayes_optimal import ToldFittedAgent

    return ToldFittedAgent.for_knowledge(scenario, _regime_and_family(scenario))


def _bayes_unsure(scenario: Scenario) -> Agent:
    from oracle.bayes_optimal import ToldFittedAgent

    return ToldFittedAgent.for_knowledge(scenario, _family(scenario), "bayes-unsure")


def _clairvoyant(scenario: Scenario) -> Agent:
    from oracle.clairvoyant import Clairvoyant

    return Clairvoyant.for_scenario(scenario)


def _believing(name: str, scenario: Scenario) -> Agent:
    from oracle.agents import BELIEF_AGENTS

    return BELIEF_AGENTS[name].for_scenario(scenario)


def _entry_of(name: str, description: str) -> tuple[str, RegisteredPlayer]:
    return name, RegisteredPlayer(description, partial(_believing, name))


PLAYERS: dict[str, RegisteredPlayer] = {
    "bayes": RegisteredPlayer(
        "The Bayes optimum: exact posterior and fitted values, told regime and family.",
        _bayes,
        _regime_and_family,
        is_reference=True,
    ),
    "bayes-unsure": RegisteredPlayer(
        "The Bayes optimum, told the family only: whether a deal exists must be inferred.",
        _bayes_unsure,
        _family,
        is_reference=True,
    ),
    "clairvoyant": RegisteredPlayer(
        "The best reply to the counterpart's type, which it is told, among offers that never go back.",
        _clairvoyant,
        is_reference=True,
    ),
    **dict([
        _entry_of("ramp", "The exact posterior with a rule of thumb: offers a rising quantile of what it believes."),
        _entry_of("faulty-belief", "The ramp with a timid belief, to test the diagnosis."),
        _entry_of("faulty-planning", "The ramp's belief with a bad plan: splits the surplus, to test the diagnosis."),
        _entry_of("faulty-execution", "The ramp with 12 % of its replies spoilt, to test the diagnosis."),
    ]),
}  # fmt: skip
"""Every player; the order is that of the lists."""


def build_player(name: str) -> ScenarioStarter:
    """Return the player called ``name``.

    Raises
    ------
    ValueError
        If there is none; the message lists the names and the closest one.
    """
    from oracle.agents import ScenarioStarter

    if name not in PLAYERS:
        raise ValueError(f"agent={name!r}, allowed are {', '.join(PLAYERS)}{did_you_mean(name, PLAYERS)}")
    return ScenarioStarter(name, PLAYERS[name].build)
