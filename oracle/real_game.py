r"""The Bayes optimum of the game as it is played, offers at any price and in any order, between proven bounds.

**Lower bound**: what ``bayes`` earns, the very player users meet, less its allowance.

**Upper bound**: nobody earns more than whoever is told the type, and that is bounded for every legal offer by the
theorem of :mod:`oracle.legal_play`. The type being told is nearly all of the width: a nearer bound would have to price
what cannot be known, as the dual of :mod:`oracle.bounds` does for offers on ticks that never fall.

Both are means over their own fresh episodes. Of utility the share of the mean zopa is reported, whose chance part is
taken out by the zopa itself, as its mean is known; of SE+ the mean over episodes with a zopa. If the agent is not told
which regime holds, the upper bound tells it that as well. Where no deal can be made the optimum is 0, exactly: a deal
costs, and leaving is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oracle import legal_play
from oracle.bounds import Mean, bracket_key, mean_of
from oracle.fitted import FittedValues
from oracle.planner import FittedAgent
from oracle.prior import SCALE, Knowledge
from oracle.relaxation import BracketSettings
from oracle.remembered import code_digest
from oracle.solution_cache import Arrays, load_or_solve
from terms.aliases import Floats, Progress
from terms.cells import suite_cells
from terms.episode import play
from terms.scenario import Scenario
from terms.suites import fresh_scenario
from terms.types import Opener, Regime

_CHUNK = 20  # episodes between two calls of progress


@dataclass(frozen=True, slots=True)
class RealBracket:
    """The Bayes optimum of one family, opener and what is known of the regime: shares of the mean zopa, or of SE+.

    ``bayes`` is what the player earns, ``told`` the mean bound of whoever knows the type; ``allowance`` is the number
    of standard errors inside both bounds.
    """

    bayes: Mean
    told: Mean
    allowance: float = 2.0

    @property
    def lower(self) -> float:
        """What ``bayes`` earns less the allowance."""
        return self.bayes.value - self.allowance * self.bayes.se

    @property
    def upper(self) -> float:
        """What is earned at most if the type is told, plus the allowance; nobody earns more than the whole zopa."""
        return min(1.0, self.told.value + self.allowance * self.told.se)

    @property
    def width(self) -> float:
        """Upper minus lower, sampling allowances included."""
        return self.upper - self.lower


def real_bracket(  # noqa: PLR0913
    values: FittedValues,
    opener: Opener,
    *,
    settings: BracketSettings | None = None,
    seed: int = 0,
    allowance: float = 2.0,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> RealBracket:
    """Bracket the Bayes optimum of the game of ``values``, of utility or of SE+ as their knowledge says.

    Parameters
    ----------
    settings
        Says on how many episodes: ``num_bayes`` of the player, ``num_told`` of the upper bound.
    allowance
        Standard errors inside both bounds.
    progress
        Called with (episodes done, episodes in all).
    folder
        Where finished brackets are kept, by default the cache: asked again, one is read.

    Raises
    ------
    ValueError
        Unless one family is known and the reservations are drawn independently over all prices, or if no regime has a
        zopa.
    """
    _check(values.knowledge)
    settings = settings or BracketSettings()
    key = bracket_key("real bracket", values, opener, settings, seed, code_digest((legal_play,)))
    found = load_or_solve(key, lambda: _sample(values, opener, settings, seed, progress), folder)
    return RealBracket(mean_of(found["bayes"]), mean_of(found["told"]), allowance)


def _sample(
    values: FittedValues, opener: Opener, settings: BracketSettings, seed: int, progress: Progress | None
) -> Arrays:
    """Play and bound every episode."""
    knowledge, agent = values.knowledge, FittedAgent(values)
    players = _episodes(knowledge, opener, settings.num_bayes, seed)
    types = _episodes(knowledge, opener, settings.num_told, int(np.random.SeedSequence(seed).generate_state(1)[0]))
    earned, most = list[float](), list[float]()
    for start in range(0, max(len(players), len(types)), _CHUNK):
        earned += [play(each, agent).utility for each in players[start : start + _CHUNK]]
        most += legal_play.legal_play_bounds(types[start : start + _CHUNK], num_threads=1).tolist()
        if progress is not None:
            progress(len(earned) + len(most), len(players) + len(types))
    return {
        "bayes": _shares(knowledge, players, np.array(earned)),
        "told": _shares(knowledge, types, np.array(most)),
    }


def _check(knowledge: Knowledge) -> None:
    feasible = [regime for regime in knowledge.regimes if regime is not Regime.NO_DEAL]
    is_whole = knowledge.frame == (0.0, SCALE) and knowledge.geometry == "independent"
    if len(knowledge.families) != 1 or not feasible or not is_whole:
        raise ValueError(
            f"regimes={list(knowledge.regimes)}, families={list(knowledge.families)}, geometry={knowledge.geometry}, "
            f"frame={knowledge.frame}; a bracket needs one family, a regime that has a zopa, independent, all prices"
        )


def _episodes(knowledge: Knowledge, opener: Opener, num: int, seed: int) -> list[Scenario]:
    """Draw at least ``num`` fresh episodes, as many of each regime and role."""
    cells = [cell for cell in suite_cells(knowledge.regimes, knowledge.families) if cell.opener is opener]
    each = max(2, -(-num // len(cells)))
    return [fresh_scenario(seed, cell, e, config=knowledge.config) for cell in cells for e in range(each)]


def _shares(knowledge: Knowledge, scenarios: list[Scenario], utility: Floats) -> Floats:
    """Return ``utility`` in the objective's unit, with the chance of the zopa taken out."""
    zopa = np.array([max(each.zopa, 0.0) for each in scenarios])
    if knowledge.objective == "se":
        return np.asarray(utility / zopa)
    ranges = np.array([each.price_range for each in scenarios])
    share, feasible = knowledge.config.prior.zopa_share, sum(r is not Regime.NO_DEAL for r in knowledge.regimes)
    mean = (share.low + share.high) / 2 * feasible / len(knowledge.regimes)
    return np.asarray((utility - zopa) / ranges / mean + 1.0)
