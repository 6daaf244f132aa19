"""The oracle's own players by name.

``bayes`` is the honest optimum told regime and family, ``bayes-unsure`` told the family alone, ``clairvoyant`` the best
reply to the revealed type, ``ramp`` the rule of thumb; the ``faulty-`` agents have one planted fault each. All are
built for a scenario first: :func:`oracle.interventions.informed`.
"""

from __future__ import annotations

import difflib

from oracle.agents import BELIEF_AGENTS, BeliefAgent, Insider
from oracle.clairvoyant import Clairvoyant
from oracle.honest import HonestAgent
from oracle.interventions import told_family, told_regime_and_family
from terms.scenario import Scenario


def _told_regime_and_family(scenario: Scenario) -> HonestAgent:
    return HonestAgent.for_knowledge(scenario, told_regime_and_family(scenario))


def _told_family(scenario: Scenario) -> HonestAgent:
    return HonestAgent.for_knowledge(scenario, told_family(scenario), "bayes-unsure")


PLAYERS: dict[str, BeliefAgent | Insider] = {
    "bayes": Insider("bayes", _told_regime_and_family),
    "bayes-unsure": Insider("bayes-unsure", _told_family),
    "clairvoyant": Insider("clairvoyant", Clairvoyant.for_scenario),
    **BELIEF_AGENTS,
}


def build_player(name: str) -> BeliefAgent | Insider:
    """Return the player called ``name``.

    Raises
    ------
    ValueError
        If there is none; the message lists the names and the closest one.
    """
    if name not in PLAYERS:
        close = difflib.get_close_matches(name, PLAYERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"agent={name!r}, allowed are {', '.join(PLAYERS)}{hint}")
    return PLAYERS[name]
