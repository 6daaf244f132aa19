"""Having the fitted values that the oracle plays with before anything starts; a notice where that takes minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from experiments.cli.show import count_bar, note
from experiments.players.player import Player, as_player
from experiments.players.registry import Need, needs_of
from terms import Scenario

if TYPE_CHECKING:
    from oracle.interventions import BayesOptimal
    from oracle.prior import Knowledge


def prepared_bayes_optimal(
    scenarios: Sequence[Scenario], objective: Literal["utility", "se"] = "utility"
) -> BayesOptimal:
    """Return the Bayes-optimal player with the values it needs at hand; with ``se`` it maximises SE+ instead.

    On a catalogue it is the rule of thumb on the exact posterior, which needs none.
    """
    from oracle.bayes_optimal import fitted_bayes_optimal
    from oracle.interventions import BayesOptimal, told_for_efficiency, told_regime_and_family
    from oracle.preparation import needed_knowledge

    if any(scenario.product for scenario in scenarios):
        note("note: fitted values would be needed for every item of the catalogue; the reference is the rule of thumb")
        return BayesOptimal()
    told = told_for_efficiency if objective == "se" else told_regime_and_family
    _prepare(needed_knowledge(scenarios, told))
    return fitted_bayes_optimal(knowledge=told)


def prepare_player(name: str, player: Player, scenarios: Sequence[Scenario]) -> Player:
    """Have the values at hand that the player called ``name`` needs; else each worker would fit its own.

    Returns
    -------
    Player
        The player, pinned to those values: their digests under ``fitted_values``, by family and regimes. Itself, if it
        uses none.
    """
    if Need.VALUES not in needs_of(name):
        return player
    if any(scenario.product for scenario in scenarios):
        raise ValueError(
            f"agent={name!r} would need values for every item of the catalogue; ramp, on the same belief, needs none"
        )
    from oracle.player_registry import PLAYERS
    from oracle.preparation import needed_knowledge
    from oracle.shipped import values_digest, values_for

    needed = needed_knowledge(scenarios, PLAYERS[name].values_for)
    _prepare(needed)
    digests = {
        " ".join([*knowledge.families, *knowledge.regimes]): values_digest(values_for(knowledge))
        for knowledge in needed
    }
    return as_player(player, {"fitted_values": digests})


def _prepare(needed: Sequence[Knowledge]) -> None:
    from oracle.preparation import fit_missing, is_at_hand

    missing = sum(not is_at_hand(knowledge) for knowledge in needed)
    if not missing:
        return
    note(f"note: {missing} fitted values are not at hand; fitting them once takes a minute or two each")
    with count_bar(missing, "fitting") as progress:
        fit_missing(needed, progress)
