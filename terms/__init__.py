"""The bargaining game of TERMS-Bench: an exact counterpart, its hidden type, and what an agent makes of it.

>>> import terms
>>> scenario = terms.fresh_suite(seed=1, n_per_cell=1)[0]
>>> terms.play(scenario, terms.agents.build_scripted("patient")).is_agreement
True
"""

from terms import agents, metrics
from terms._version import __version__
from terms.agents.scripted import FixedConcession
from terms.catalog import catalog_suite, load_catalog
from terms.config import GameConfig
from terms.episode import Agent, play, replay
from terms.game import Game
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.suites import PUBLISHED_FLAW, fresh_suite, published_suite
from terms.types import Accept, Belief, Observation, Offer, Reject, Unusable

__all__ = [
    "PUBLISHED_FLAW",
    "Accept",
    "Agent",
    "Belief",
    "EpisodeRecord",
    "FixedConcession",
    "Game",
    "GameConfig",
    "Observation",
    "Offer",
    "Reject",
    "Scenario",
    "Unusable",
    "__version__",
    "agents",
    "catalog_suite",
    "fresh_suite",
    "load_catalog",
    "metrics",
    "play",
    "published_suite",
    "replay",
]
