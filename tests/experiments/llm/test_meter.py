"""The meter and its totals."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.llm.errors import BudgetExceeded
from experiments.llm.meter import Meter
from experiments.llm.records import Usage
from experiments.llm.spending import FREE, UNKNOWN, Settlement, Spending, settlement

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
