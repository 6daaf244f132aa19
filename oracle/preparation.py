"""Which fitted values a suite takes, and having them before anybody plays: fitting takes a minute or two each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import resources

from oracle.interventions import told_regime_and_family
from oracle.prior import Knowledge
from oracle.shipped import settings_for, values_for, values_key
from oracle.solution_cache import cache_folder, from_bytes
from terms.scenario import Scenario
from terms.types import Regime


def needed_knowledge(
    scenarios: Iterable[Scenario], told: Callable[[Scenario], Knowledge] | None = None
) -> list[Knowledge]:
    """Return every distinct thing the Bayes-optimal player is told in ``scenarios``, in order."""
    found: dict[str, Knowledge] = {}
    for scenario in scenarios:
        knowledge = (told or told_regime_and_family)(scenario)
        found.setdefault(values_key(knowledge, settings_for(knowledge)), knowledge)
    return list(found.values())


def is_at_hand(knowledge: Knowledge) -> bool:
    """Whether the values of ``knowledge`` come with the package, lie in the cache, or are zero."""
    if knowledge.regimes == (Regime.NO_DEAL,):
        return True
    key = values_key(knowledge, settings_for(knowledge))
    if (resources.files("oracle") / "data" / f"{key[:16]}.npz").is_file():
        return True
    try:
        return from_bytes(key, (cache_folder() / f"{key}.npz").read_bytes()) is not None
    except OSError:
        return False


def fit_missing(needed: Sequence[Knowledge], progress: Callable[[int, int], None] = lambda done, total: None) -> None:
    """Fit into the cache what is not at hand; ``progress`` is called with (fitted, to be fitted)."""
    missing = [knowledge for knowledge in needed if not is_at_hand(knowledge)]
    for done, knowledge in enumerate(missing, start=1):
        values_for(knowledge)
        progress(done, len(missing))
