"""Tokens and cost against bills worked out by hand, the meter and its totals."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.llm.errors import BudgetExceeded
from experiments.llm.records import Usage
from experiments.llm.settings import Prices
from experiments.llm.spending import (
    FREE,
    UNKNOWN,
    Meter,
    Settlement,
    Spending,
    UsageReader,
    cost,
    settlement,
    upper_bound,
)

USAGE = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=90, reasoning_tokens=15)


def test_the_three_states():
    meter = Meter()
    held = [meter.reserve(amount) for amount in (50, 60, 70, 80)]
    meter.settle(held[0], settlement(33, USAGE))
    meter.settle(held[1], UNKNOWN)
    meter.settle(held[2], FREE)
    spent = meter.spending
    assert (spent.settled_microusd, spent.num_settled) == (33, 1)
    assert (spent.unknown_held_microusd, spent.num_unknown) == (60, 1)
    assert (spent.reserved_microusd, spent.num_reserved) == (80, 1)
    assert spent.num_free == 1
    assert not spent.is_complete
    assert (spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens, spent.reasoning_tokens) == (
        100,
        90,
        20,
        15,
    )


def test_an_unknown_price_is_counted_and_its_tokens_kept_but_nothing_is_summed():
    meter = Meter()
    meter.settle(meter.reserve(), settlement(None, USAGE))
    spent = meter.spending
    assert (spent.settled_microusd, spent.num_settled, spent.num_unknown) == (0, 0, 1)
    assert spent.prompt_tokens == 100


def test_the_ceiling_refuses_before_the_call_and_says_why():
    meter = Meter(100)
    meter.settle(meter.reserve(60), settlement(60, USAGE))
    with pytest.raises(
        BudgetExceeded, match=r"ceiling of \$0\.000100 is reached: \$0\.000060 spent.*may cost \$0\.000041"
    ):
        meter.reserve(41)
    assert meter.reserve(40) == 40  # exactly up to the ceiling is allowed
    assert meter.spending.num_reserved == 1


def test_unknown_money_goes_on_counting_towards_the_ceiling():
    meter = Meter(100)
    meter.settle(meter.reserve(60), UNKNOWN)
    with pytest.raises(BudgetExceeded, match="1 attempts of unknown cost"):
        meter.reserve(41)


def test_without_prices_a_call_is_taken_to_cost_what_the_dearest_did():
    meter = Meter(first_guess_microusd=500)
    assert meter.reserve() == 500
    meter.settle(500, settlement(7, USAGE))
    meter.settle(meter.reserve(), settlement(3, USAGE))
    assert meter.reserve() == 7


def test_a_zero_ceiling_allows_only_what_is_free():
    with pytest.raises(BudgetExceeded):
        Meter(0).reserve()
    assert Meter(0).reserve(0) == 0
    with pytest.raises(ValueError, match="ceiling_microusd=-1"):
        Meter(-1)


def test_calls_in_flight_are_waited_for_not_refused():
    meter = Meter(100)
    first = meter.reserve(90)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(meter.reserve, 50)
        meter.settle(first, settlement(10, USAGE))
        assert second.result(timeout=10) == 50


def test_sixteen_threads_never_pass_a_ceiling_with_true_bounds():
    meter, ceiling = Meter(10_000), 10_000
    refused = threading.Event()

    def spend(number):
        try:
            held = meter.reserve(100)
        except BudgetExceeded:
            refused.set()
            return
        assert meter.spending.committed_microusd <= ceiling
        meter.settle(held, settlement(number % 101, USAGE))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(spend, range(1000)))
    assert refused.is_set()
    assert ceiling - 100 < meter.spending.settled_microusd <= ceiling
    assert meter.spending.num_reserved == 0


ENDINGS = st.tuples(
    st.integers(0, 1000),
    st.sampled_from(["settled", "unknown", "free"]).flatmap(
        lambda state: st.builds(
            Settlement, st.just(state), st.integers(0, 1000) if state == "settled" else st.none(), st.none()
        )
    ),
)


@given(st.lists(ENDINGS), st.randoms())
def test_totals_do_not_depend_on_the_order(endings, rnd):
    def total(sequence):
        spending = Spending()
        for held, _ in sequence:
            spending = spending.reserve(held)
        for held, ended in sequence:
            spending = spending.settle(held, ended)
        return spending

    shuffled = list(endings)
    rnd.shuffle(shuffled)
    spending = total(endings)
    assert spending == total(shuffled)
    assert spending.num_settled + spending.num_unknown + spending.num_free == len(endings)
    assert spending.settled_microusd == sum(ended.microusd or 0 for _, ended in endings)


def test_a_meter_goes_on_from_an_earlier_part_of_the_run():
    start = Spending(settled_microusd=95, num_settled=3, largest_microusd=40)
    meter = Meter(100, start=start)
    with pytest.raises(BudgetExceeded):
        meter.reserve()
    assert meter.spending == start


PRICES = Prices(prompt=2_500_000, completion=10_000_000, cached=250_000, cache_write=3_125_000)
"""$2.50 and $10 a million, cached at a tenth, cache writes at 1.25 times the price."""


def details(cached=0, written=0, reasoning=0):
    return {
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


@pytest.mark.parametrize(
    ("raw", "prompt", "completion"),
    [
        # Inside: 900 of the 1000 were cached; the bill must not see 1900.
        ({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, **details(900)}, 1000, 50),
        # Beside, told by the total: 100 + 900 + 50.
        ({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 1050, **details(900)}, 1000, 50),
        # Beside, told by there being more of them than of the whole.
        ({"prompt_tokens": 100, "completion_tokens": 50, **details(900)}, 1000, 50),
        # Beside, in the other vendor's words.
        ({"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7}, 10, 5),
        # Reasoning inside: 800 of 800; and beside: 20 + 800.
        ({"prompt_tokens": 9, "completion_tokens": 800, "total_tokens": 809, **details(reasoning=800)}, 9, 800),
        ({"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 829, **details(reasoning=800)}, 9, 820),
        # Both beside.
        ({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 930, **details(100, 0, 800)}, 110, 820),
    ],
)  # fmt: skip
def test_parts_are_counted_once(raw, prompt, completion):
    usage = UsageReader().read(raw)
    assert (usage.prompt_tokens, usage.completion_tokens) == (prompt, completion)


def test_cost_by_the_list_with_cache():
    usage = Usage(prompt_tokens=1000, completion_tokens=50, cached_tokens=900)
    # 100 * 2.5 + 900 * 0.25 + 50 * 10 = 250 + 225 + 500 micro-dollars
    assert cost(usage, PRICES) == 975


def test_cache_writes_have_their_own_price():
    usage = Usage(prompt_tokens=1000, completion_tokens=0, cache_write_tokens=800)
    assert cost(usage, PRICES) == 3000  # 200 * 2.5 + 800 * 3.125 = 500 + 2500
    assert cost(usage, PRICES.model_copy(update={"cache_write": None})) == 2500


def test_reasoning_is_paid_as_completion_and_only_once():
    assert cost(Usage(prompt_tokens=0, completion_tokens=800, reasoning_tokens=800), PRICES) == 8000


def test_a_part_of_a_micro_dollar_is_rounded_up():
    assert cost(Usage(prompt_tokens=1, completion_tokens=0), Prices(prompt=100_000, completion=0)) == 1


def test_the_servers_own_cost_wins_and_unknown_stays_unknown():
    assert cost(Usage(prompt_tokens=9, completion_tokens=9, cost_microusd=7), PRICES) == 7
    assert cost(Usage(prompt_tokens=9, completion_tokens=9), None) is None
    assert cost(Usage(prompt_tokens=9), PRICES) is None
    assert cost(Usage(cost_microusd=0), None) == 0


@pytest.mark.parametrize(
    ("dollars", "micro"),
    [(0.000123, 123), (0, 0), (1, 1_000_000), (0.00012349, 123), (1e-7, 0), (0.1 + 0.2, 300_000)],
)
def test_dollars_become_whole_micro_dollars(dollars, micro):
    assert UsageReader().read({"cost": dollars}).cost_microusd == micro


def test_own_key_at_the_back_end_adds_both_bills():
    raw = {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}
    assert UsageReader().read(raw).cost_microusd == 21_000
    assert UsageReader().read({"cost": 0.001, "is_byok": True}).cost_microusd is None


@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), float("inf"), 10**400, "7", True, [1]])
def test_impossible_numbers_are_unknown_and_named(value):
    reader = UsageReader()
    usage = reader.read({"prompt_tokens": value, "completion_tokens": 3})
    assert usage.prompt_tokens is None
    assert usage.completion_tokens == 3
    assert "usage.prompt_tokens" in reader.notices[0]


@pytest.mark.parametrize("raw", [None, [], "usage", 5, {}])
def test_no_usage_is_all_unknown(raw):
    assert UsageReader().read(raw) == Usage()


NAMES = [
    "prompt_tokens", "completion_tokens", "total_tokens", "cost", "is_byok", "cost_details", "prompt_tokens_details",
    "completion_tokens_details", "cached_tokens", "reasoning_tokens", "cache_read_input_tokens",
]  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "7", "NaN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(NAMES), ANYTHING))
def test_no_usage_object_raises_and_parts_stay_within_wholes(raw):
    usage = UsageReader().read(raw)
    if usage.prompt_tokens is not None:
        assert (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0) <= usage.prompt_tokens
    if usage.completion_tokens is not None:
        assert (usage.reasoning_tokens or 0) <= usage.completion_tokens


@given(st.text("aé漢😀", max_size=50), st.integers(1, 500))
def test_upper_bound_covers_a_token_per_byte(text, limit):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": limit}
    most = Usage(prompt_tokens=len(text.encode()), completion_tokens=limit, cache_write_tokens=len(text.encode()))
    assert upper_bound(body, PRICES) >= cost(most, PRICES)
    assert upper_bound(body, None) is None
    assert json.dumps(body)  # the body is what is sent
