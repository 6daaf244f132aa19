"""Runs the reports are built from: real episodes, played by scripted agents and by agents that misbehave on purpose."""

from __future__ import annotations

from dataclasses import replace

import terms
from experiments.report import BeliefFacts, ModelFacts, PosteriorCheck, ReportRun
from experiments.report.sections import REPLY_FAULTS
from experiments.report.viewer import REPLY_LIMIT
from terms.estimates import UNDEFINED, Estimate
from terms.types import Observation, ReplyFault, Unusable

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> {{ 7*7 }} & \u2028 \x00 end"
)
FRESH = terms.fresh_suite(seed=3, n_per_cell=1)
PUBLISHED = terms.published_suite(n_per_cell=1)
_ERRORS = {
    "stated": Estimate(0.4, 0.3, 0.5, 48),
    "exact": Estimate(0.2, 0.1, 0.3, 48),
    "excess": Estimate(0.2, 0.15, 0.25, 48),
    "distance": Estimate(0.25, None, None, 1),
}
_BELIEF_PARTS = ("be_type", "be_r", "be_kappa", "brier_eta")
FACTS = BeliefFacts(
    dict.fromkeys(_BELIEF_PARTS, _ERRORS),
    {part: {name: (*[value] * 9, UNDEFINED) for name, value in _ERRORS.items()} for part in _BELIEF_PARTS},
)
CHECK = PosteriorCheck(
    "fresh",
    (Estimate(0.1, 0.05, 0.15, 48),) * 9 + (UNDEFINED,),
    ((Estimate(0.3, 0.3, 0.3, 48), Estimate(0.31, 0.2, 0.4, 48)),) * 9 + ((UNDEFINED, UNDEFINED),),
    321,
)


def talker(observation: Observation) -> dict[str, object]:
    """Concedes evenly, states a belief that sharpens, and writes hostile text into every message."""
    known = observation.round / observation.horizon
    width = observation.price_max - observation.price_min
    start = observation.price_min if observation.role == "buyer" else observation.price_max
    return {
        "decision": "Offer",
        "price": start + known * (observation.reservation_price - start),
        "message": HOSTILE,
        "belief": {
            "r_hat": observation.price_min + (0.5 + 0.1 * known) * width,
            "kappa_hat": 0.5,
            "stance_probs": [0.3, 0.4, 0.3],
        },
    }


def silent(observation: Observation) -> Unusable:
    """Never says anything usable, in a different way by episode."""
    faults = list(ReplyFault)
    return Unusable(faults[int(observation.reservation_price) % len(faults)], f"detail {HOSTILE}")


def lost(observation: Observation) -> Unusable:
    """Stands for a provider that is down."""
    return Unusable(ReplyFault.PROVIDER, "HTTP 503")


def leaver(observation: Observation) -> dict[str, object]:
    """Leaves at once, so that there is no deal at all."""
    return {"decision": "Reject"}


def played(agent: object, suite: tuple[terms.Scenario, ...], *, name: str, label: str, **facts: object) -> ReportRun:
    """Play ``agent`` on ``suite`` and wrap the episodes."""
    episodes = tuple(replace(terms.play(scenario, agent), agent=name) for scenario in suite)  # type: ignore[arg-type]
    return ReportRun(name, label, episodes, **facts)  # type: ignore[arg-type]


def model_facts(**changes: object) -> ModelFacts:
    """Return what a model's calls came to, its words hostile wherever a server or a user chose them."""
    rate = Estimate(0.02, 0.01, 0.04, 400)
    names = tuple(name for name in REPLY_FAULTS if name != "ok")
    facts = ModelFacts(
        settings={"model": f"vendor/model {HOSTILE}", "effort": "high"},
        replies={"ok": Estimate(0.9, 0.85, 0.94, 400), **dict.fromkeys(names, rate)},
        usd_per_episode=Estimate(0.012345, 0.01, 0.02, 72),
        latency_s=Estimate(1.5, 1.25, 1.75, 398),
        settled_microusd=888_840,
        num_settled=398,
        num_unknown=3,
        num_free=7,
        num_recalled=11,
        tokens={"prompt": 400_000, "cached": 1000, "cache_write": 20, "completion": 9000, "reasoning": 4321},
        served_by=(f"vendor/model / Provider-A {HOSTILE}", "vendor/model / Provider-B"),
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def receipt(number: int, *verdicts: str, text: str = HOSTILE) -> dict[str, object]:
    """Return the receipt of a round in which the model was asked once for each verdict."""
    attempts = [
        {
            "kind": "correction" if index else "first",
            "verdict": verdict,
            "repairs": ["fence_removed", "prose_ignored"] if verdict == "repaired" else [],
            "problem": None if verdict in ("ok", "repaired") else f"price is {HOSTILE}; allowed is a number",
            "text": text,
        }
        for index, verdict in enumerate(verdicts)
    ]
    return {"round": number, "verdict": verdicts[-1], "attempts": attempts}


def model_run() -> ReportRun:
    """Return a model's run: the first rounds of every episode have receipts, one of a round that was never played."""
    run = played(talker, FRESH, name=f"openai:bot@high {HOSTILE}", label="fresh", model=model_facts())
    receipts = [
        receipt(1, "illegal", "repaired"),
        receipt(2, "ok", text="x" * (REPLY_LIMIT + 5)),
        receipt(99, "provider_fault", text=""),
    ]
    return replace(run, receipts={episode.scenario_id: receipts for episode in run.episodes})


def mixed_runs() -> tuple[ReportRun, ...]:
    """Return scripted, talking, silent and lost agents on two suites, under an agent name that is hostile itself."""
    build = terms.agents.build_scripted
    fresh = [
        played(build("patient"), FRESH, name="patient", label="fresh", config={"seed": "3", "hash <b>": HOSTILE}),
        played(build("exploit"), FRESH, name="exploit", label="fresh"),
        played(build("accept-any"), FRESH, name="accept-any", label="fresh"),
        played(talker, FRESH, name=f"talker {HOSTILE}", label="fresh"),
        played(silent, FRESH, name="silent", label="fresh"),
        played(lost, FRESH, name="lost", label="fresh"),
    ]
    flawed = [
        played(build(name), PUBLISHED, name=name, label="published", notices=(terms.PUBLISHED_FLAW,))
        for name in ("patient", "exploit")
    ]
    return (*fresh, *flawed)
