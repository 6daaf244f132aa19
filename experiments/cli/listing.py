"""Commands that list what exists."""

from __future__ import annotations

from experiments.cli.show import out


def agents() -> None:
    """List the built-in agents and merchants, what each needs, and what --model can change about a language model."""
    from experiments.llm.settings import ModelSettings
    from experiments.players.model_options import NegotiatorSettings
    from experiments.players.registry import OWN, list_agents
    from experiments.storekeeper.settings import StorekeeperSettings
    from oracle.store.year_players import describe_year_players

    for name, description, needs in list_agents():
        out(f"{name:22}{description}" + (f" Needs: {', '.join(needs)}." if needs else ""))
    out(f"{OWN + 'MODULE:NAME':22}Your own function, agent or class with act(observation).")
    out(f"{'negmas:NAME':22}A negotiator of NegMAS, such as BoulwareTBNegotiator (extra negmas).")
    out(f"{'openrouter:V/MODEL':22}A language model at OpenRouter, key in OPENROUTER_API_KEY.")
    out(f"{'openai:MODEL':22}A language model at --base-url, any OpenAI-compatible server.")
    out(f"{'local':22}A small language model on this machine.")
    out("\nMerchants, for `terms year`:")
    for name, description in describe_year_players():
        out(f"{name:23}{description}")
    out("\nKeys of --model KEY=VALUE (nested: provider.only=NAME, prices.prompt=N), or of a JSON file given to it:")
    keys = {
        "any model": [name for name in ModelSettings.model_fields if name != "model"],
        "negotiations": [*NegotiatorSettings.model_fields, "voice"],
        "years": [*StorekeeperSettings.model_fields, "voice"],
        "run": ["cache"],
    }
    for where, names in keys.items():
        out(f"{where:22}{', '.join(names)}")


def suites() -> None:
    """List the suites."""
    from terms import PUBLISHED_FLAW
    from terms.cells import DEFAULT_REGIMES
    from terms.types import Family

    out("fresh        New episodes from --seed, every quantity on its own stream; the default. Whoever knows the seed")
    out("             can make them again: choose a large one for an agent that may know how they are made.")
    out(f"published    The released episodes. {PUBLISHED_FLAW}.")
    out("catalog:PATH Episodes on the items of a CSV or JSON catalogue (file or folder).")
    out(f"regimes:     {', '.join(DEFAULT_REGIMES)}; on request urgency_shift_reverse (fresh and catalogue)")
    out(f"families:    {', '.join(Family)}")
