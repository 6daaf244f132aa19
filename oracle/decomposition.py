r"""Where an agent loses: the gap to a reference as inference, uncertainty, control and execution (paper's eq. 4).

With mean utilities under the conditions of :mod:`oracle.interventions` (repaired) and as played,

.. math::
    U(ref) - U(played) = \underbrace{U(base) - U(played)}_{execution} + \underbrace{U(post) - U(base)}_{inference}
    + \underbrace{U(reveal) - U(post)}_{uncertainty} + \underbrace{U(ref) - U(reveal)}_{control}.

It holds in every episode, so in every slice; parts may be negative and are never floored. Of the uncertainty,
``U(clairvoyant) - U(oracle)`` is what no player can avoid; the rest is the agent's own. The order-free split shares the
gap to the clairvoyant among {belief, type, planning}, planning being the reference's action rule on the agent's stated
belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from oracle.arms import Arms, run_arms
from oracle.gaps import Decomposition, split
from oracle.interventions import BayesOptimal
from terms.aliases import Progress
from terms.episode import AgentLike, agent_name
from terms.scenario import Scenario

ReferenceName = Literal["oracle", "clairvoyant"]


def decompose(
    agent: AgentLike,
    *,
    suite: Sequence[Scenario],
    reference: ReferenceName = "oracle",
    bayes_optimal: BayesOptimal | None = None,
    progress: Progress | None = None,
) -> Decomposition[Arms]:
    """Play ``agent`` under every intervention on ``suite`` and split its gap to the reference.

    Parameters
    ----------
    reference
        ``oracle``, the Bayes optimum, as in the paper: an agent told the type may beat it, which is negative control.
        With ``clairvoyant`` control is a true residual.
    bayes_optimal
        How the reference believes and plans; by default the Bayes optimum that comes with the package.
    """
    if bayes_optimal is None:
        from oracle.bayes_optimal import (
            fitted_bayes_optimal,  # loads the compiled planner, which other references do not need
        )

        bayes_optimal = fitted_bayes_optimal()
    arms = run_arms(agent, suite, bayes_optimal=bayes_optimal, progress=progress)
    return decompose_arms(agent_name(agent), arms, reference)


def decompose_arms(agent: str, arms: Arms, reference: ReferenceName = "oracle") -> Decomposition[Arms]:
    """Split the gap of arms already run."""
    if reference not in ("oracle", "clairvoyant"):
        raise ValueError(f"reference={reference!r}, allowed are oracle, clairvoyant")
    return split(agent, reference, arms)
