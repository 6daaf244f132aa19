"""Our agents against negotiators that nobody here wrote: NegMAS at the table.

The same from a shell: ``terms tournament patient conceder negmas:BoulwareTBNegotiator``. Needs the extra ``negmas``.
"""

import numpy as np

import terms
from experiments.players.registry import build_agent
from terms.two_seats import play_match

suite = terms.fresh_suite(1, ["overlap"], ["candid"], n_per_cell=3)
for opponent in ("negmas:BoulwareTBNegotiator", "negmas:ConcederTBNegotiator", "negmas:NaiveTitForTatNegotiator"):
    other = build_agent(opponent)
    for name in ("patient", "conceder"):
        agent = build_agent(name)
        shares = [play_match(scenario, agent, other).first.utility / scenario.zopa for scenario in suite]
        print(f"{name:9} against {other.name:24} {np.mean(shares):.3f} of the surplus, {len(suite)} talks")
