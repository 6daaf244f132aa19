"""Sums and rates of a run's model calls, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from experiments.llm.calls import Ended, Recalled, Reserved
from experiments.llm.records import Usage
from experiments.players.costing import call_facts, cost_per_episode, reply_rates
from terms.estimates import UNDEFINED

SEEDS = (1, 2, 3)
USAGE = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=40, cache_write_tokens=5, reasoning_tokens=8)


def call(seed, name, microusd=None, *, who="m", state="settled", attempt=0, error=None, latency=1.0, **applied):
    """Return the two rows of an attempt."""
    call_id = f"{who}/{seed:016x}/{name}"
    completion = None if error else {"text": "x", "finish_reason": "stop", "applied": {"model": "m", **applied}}
    ended = Ended(
        attempt_id=f"{call_id}#{attempt}",
        call_id=call_id,
        attempt=attempt,
        request="r",
        state=state,
        microusd=microusd,
        usage=None if error else USAGE,
        latency_s=latency,
        error=error,
        completion=completion,
    )
    reserved = Reserved(attempt_id=ended.attempt_id, call_id=call_id, attempt=attempt, model="m", held_microusd=10)
    return [reserved, ended]


ROWS = [
    *call(1, "r1/first", 3_000_000, latency=1.0),
    *call(1, "r2/first", None, state="free", error="RateLimited: slow down"),
    *call(1, "r2/first", 1_000_000, attempt=1, latency=3.0, provider="B", refused=["seed"]),
    *call(2, "r1/first", None, state="unknown", latency=2.0),
    *call(2, "r1/Offer", 2_000_000, who="narrator", latency=99.0, provider="other"),
    call(2, "r2/first", attempt=0)[0],
    Recalled(call_id=f"m/{2:016x}/r3/first", request="r"),
]


def test_facts_by_hand():
    facts = call_facts(ROWS)
    spent = facts.spending
    assert (spent.settled_microusd, spent.num_settled) == (6_000_000, 3)
    assert (spent.num_unknown, spent.num_free, spent.num_reserved) == (2, 1, 0)  # one unpriced, one that a kill cut off
    assert (spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens) == (400, 160, 80)
    assert (facts.num_attempts, facts.num_failed, facts.num_recalled) == (6, 1, 1)


def test_the_voice_pays_but_is_no_back_end_of_the_agent():
    facts = call_facts(ROWS)
    assert facts.served_by == ("m", "m / B")
    assert facts.refused == ("seed",)
    assert facts.latency_s.estimate == pytest.approx(2.0)  # (1 + 3 + 2) / 3
    assert facts.latency_s.n == 3
    # Student's t with two degrees of freedom: 4.302653 * 1 / sqrt(3)
    assert facts.latency_s.high is None  # three calls say too little


def test_dollars_of_an_episode_with_its_voice_and_retries():
    estimate = cost_per_episode(
        [*ROWS, *call(3, "r1/first", 2_000_000), *call(3, "r1/Offer", 6_000_000, who="narrator")], SEEDS
    )
    assert estimate.estimate == pytest.approx((4.0 + 8.0) / 2)  # the second episode holds money of unknown amount
    assert estimate.n == 2
    assert estimate.high is None  # two episodes say too little


def test_money_that_nobody_told_is_unknown_and_not_nothing():
    rows = [*call(1, "r1/first", None, state="unknown"), *call(2, "r1/first", None, state="unknown")]
    assert cost_per_episode(rows, SEEDS) == UNDEFINED


def test_the_voice_has_a_row_of_its_own():
    voice = call_facts(ROWS).voice
    assert (voice.settled_microusd, voice.num_settled, voice.num_unknown) == (2_000_000, 1, 0)


def test_applied_efforts_are_those_of_the_agent():
    rows = [*call(1, "r1/first", 1, effort="medium"), *call(1, "r1/Offer", 1, who="narrator", effort="low")]
    assert call_facts(rows).efforts == ("medium",)


def test_a_run_without_models_is_undefined_not_free():
    facts = call_facts([])
    assert facts.latency_s == cost_per_episode([], SEEDS) == UNDEFINED
    assert facts.served_by == facts.refused == ()
    assert all(rate == UNDEFINED for rate in reply_rates({}).values())


def test_a_slash_in_the_name_of_a_model_does_not_hide_its_episodes():
    rows = call(7, "r1/first", 500_000, who="openrouter:vendor/model:free+no-cues")
    assert cost_per_episode(rows, [7]).estimate == 0.5


def turn(*verdicts):
    return {"attempts": [{"verdict": verdict} for verdict in verdicts]}


def test_rates_count_every_reply_and_corrections_every_round():
    rates = reply_rates(
        {"a": [turn("ok"), turn("illegal", "ok")], "b": [turn("empty", "empty")], "c": [turn("repaired")]}
    )
    assert {name: (rate.estimate, rate.n) for name, rate in rates.items() if rate.estimate} == {
        "ok": (2 / 6, 6),
        "illegal": (1 / 6, 6),
        "empty": (2 / 6, 6),
        "repaired": (1 / 6, 6),
        "corrected": (2 / 4, 4),
    }
    assert sum(rate.estimate for name, rate in rates.items() if name != "corrected") == pytest.approx(1.0)
    assert all(rate.low <= rate.estimate <= rate.high for rate in rates.values())


def test_replies_of_one_episode_are_no_independent_sample():
    together = reply_rates({"a": [turn("empty")] * 10, "b": [turn("ok")] * 10})["empty"]
    apart = reply_rates({str(index): [turn("empty" if index % 2 else "ok")] for index in range(20)})["empty"]
    assert together.estimate == apart.estimate
    assert together.high - together.low > apart.high - apart.low
