"""Does the order of agents hang on our counterpart? ``python -m tests.bench.opponents [SCENARIOS_PER_CELL]``.

Every built-in scripted agent plays the same overlap scenarios of all families against the kernel and, in the same seat,
against negotiators of NegMAS that nobody here wrote. Printed are the mean shares of the surplus and Kendall's tau
between the two orders, with its interval over scenarios, for each opponent and for all of them together.
"""

from __future__ import annotations

import sys

import numpy as np

import terms
from experiments.players.negmas_player import EXAMPLES, NegmasAgent
from experiments.stats.order_agreement import order_agreement
from terms.agents import SCRIPTED, build_scripted
from terms.two_seats import play_match

ALL = "all together"


def main(num_per_cell: int) -> None:
    """Print a line an agent and one an opponent."""
    suite = terms.fresh_suite(77, ["overlap"], n_per_cell=num_per_cell)
    agents = {name: build_scripted(name) for name in SCRIPTED}
    kernel = {
        name: [terms.play(scenario, agent).utility / scenario.zopa for scenario in suite]
        for name, agent in agents.items()
    }
    foreign: dict[str, dict[str, list[float]]] = {}
    for kind in EXAMPLES:
        opponent = NegmasAgent(kind)
        foreign[kind] = {
            name: [play_match(scenario, agent, opponent).first.utility / scenario.zopa for scenario in suite]
            for name, agent in agents.items()
        }
        sys.stdout.write(f"{kind} played\n")
        sys.stdout.flush()
    foreign[ALL] = {name: np.mean([foreign[kind][name] for kind in EXAMPLES], axis=0).tolist() for name in agents}
    sys.stdout.write(f"mean share of the surplus, {len(suite)} scenarios\n{'':24}{'kernel':>8}")
    sys.stdout.write("".join(f"{kind.removesuffix('Negotiator')[:14]:>16}" for kind in foreign) + "\n")
    for name in sorted(agents, key=lambda each: -float(np.mean(kernel[each]))):
        row = [float(np.mean(foreign[kind][name])) for kind in foreign]
        sys.stdout.write(f"{name:24}{np.mean(kernel[name]):8.3f}" + "".join(f"{value:16.3f}" for value in row) + "\n")
    for kind, scores in foreign.items():
        tau = order_agreement(kernel, scores, rng=np.random.default_rng(0))
        sys.stdout.write(
            f"tau with the order on the kernel, {kind:26} {tau.estimate:.2f} [{tau.low:.2f}, {tau.high:.2f}]\n"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
