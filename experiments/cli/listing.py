"""Commands that list what exists."""

from __future__ import annotations

from experiments.cli.show import out
from experiments.players.registry import OWN, list_agents
from terms import PUBLISHED_FLAW
from terms.cells import DEFAULT_REGIMES
from terms.types import Family


def agents() -> None:
    """List the built-in agents."""
    for name, description, _ in list_agents():
        out(f"{name:22}{description}")
    out(f"{OWN + 'MODULE:NAME':22}Your own function, agent or class with act(observation).")


def suites() -> None:
    """List the suites."""
    out("fresh        New episodes from --seed, every quantity on its own stream; the default.")
    out(f"published    The released episodes. {PUBLISHED_FLAW}.")
    out("catalog:PATH Episodes on the items of a CSV or JSON catalogue (file or folder).")
    out(f"regimes:     {', '.join(DEFAULT_REGIMES)}; on request urgency_shift_reverse (fresh and catalogue)")
    out(f"families:    {', '.join(Family)}")
