"""Scripted episodes per second on one core, beside NegMAS on a comparable ten-round price negotiation.

Comparable: one price between 0 and 100, ten rounds of alternating offers, two time-dependent concession agents whose
reservations leave a zone of agreement. NegMAS runs its own mechanism with its own aspiration negotiators; ours runs
an agent that never accepts, so that talks use their rounds, and computes every metric as well. The order alternates
and medians are shown.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable

import terms

REPEATS = 5
NEGMAS_TALKS = 100


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def play_and_summarize(agent: str) -> terms.metrics.Summary:
    """Play the published suite on one core and compute every metric with its interval."""
    player = terms.agents.build_scripted(agent)
    return terms.metrics.summarize([terms.play(scenario, player) for scenario in terms.published_suite()])


def negmas_talks() -> None:
    """Run ten-round price negotiations in NegMAS."""
    from negmas import AspirationNegotiator, SAOMechanism, make_issue
    from negmas.preferences import LinearUtilityAggregationFunction
    from negmas.preferences.value_fun import AffineFun

    issues = [make_issue(name="price", values=101)]
    for _ in range(NEGMAS_TALKS):
        mechanism = SAOMechanism(issues=issues, n_steps=10)
        for name, slope, bias in (("buyer", -0.01, 0.7), ("seller", 0.01, -0.4)):
            ufun = LinearUtilityAggregationFunction({"price": AffineFun(slope, bias=bias)}, issues=issues)
            mechanism.add(AspirationNegotiator(name=name), preferences=ufun)
        mechanism.run()


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")  # NegMAS warns while it is imported
    num_episodes = len(terms.published_suite())
    quick, long, other = [], [], []
    negmas_talks()  # imports and warms up
    for _ in range(REPEATS):
        quick.append(_seconds(lambda: play_and_summarize("fixed-0.10")) / num_episodes)
        long.append(_seconds(lambda: play_and_summarize("never-accept")) / num_episodes)
        other.append(_seconds(negmas_talks) / NEGMAS_TALKS)
    rounds = play_and_summarize("never-accept").overall["rounds_played"].estimate
    rows = {
        "fixed-0.10, all metrics": quick,
        f"never-accept ({rounds:.1f} rounds), all metrics": long,
        "NegMAS, ten rounds": other,
    }
    for label, samples in rows.items():
        per_talk = statistics.median(samples)
        sys.stdout.write(
            f"{label:42} {per_talk * 1e6:9.1f} us a talk  {1 / per_talk:9.0f} a second  "
            f"{per_talk * num_episodes:7.3f} s for {num_episodes}\n"
        )
    ratios = [b / a for a, b in zip(long, other, strict=True)]
    sys.stdout.write(f"NegMAS / never-accept: median {statistics.median(ratios):.0f}, least {min(ratios):.0f}\n")


if __name__ == "__main__":
    main()
