"""Orders by hand: ranks, pairs that swap places, and which of their differences may be chance."""

from __future__ import annotations

import numpy as np

from experiments.comparing.orders import order_values
from experiments.stats.paired import compare_values
from terms.estimates import Estimate

#: By session; b beats a by 10 in each of four but for a little noise, c is a without a sure difference from either.
BALANCES = {"a": [1.0, 2.0, 3.0, 4.0], "b": [11.0, 12.1, 13.0, 13.9], "c": [30.0, -9.0, 40.0, -20.0]}
SHARES = {"a": [0.9, 0.8, 0.91, 0.8], "b": [0.5, 0.41, 0.5, 0.4], "c": [0.6, 0.51, 0.6, 0.5]}


def compared(values, metric):
    blocks = {agent: dict(zip("wxyz", each, strict=True)) for agent, each in values.items()}
    return compare_values(blocks, metric, "higher", rng=np.random.default_rng(0))


def table():
    means = {
        agent: {
            "se_plus": Estimate(float(np.mean(SHARES[agent])), None, None, 4),
            "terminal_balance": Estimate(float(np.mean(BALANCES[agent])), None, None, 4),
        }
        for agent in BALANCES
    }
    return order_values(
        means, {"se_plus": compared(SHARES, "se_plus"), "terminal_balance": compared(BALANCES, "terminal_balance")}
    )


def test_ranks_by_hand():
    """SE+ 0.8525, 0.4525, 0.5525; balances 2.5, 12.5, 10.25; nobody has a regret rate."""
    found = {row.agent: [cell.rank for cell in row.cells] for row in table().rows}
    assert found == {"a": [1, None, 3], "c": [2, None, 2], "b": [3, None, 1]}


def test_a_swap_that_may_be_chance_is_marked_and_a_sure_one_is_not():
    assert table().differences == (
        "a is ahead of c by se_plus, behind it by terminal_balance (may be chance by terminal_balance)",
        "a is ahead of b by se_plus, behind it by terminal_balance",
        "c is ahead of b by se_plus, behind it by terminal_balance (may be chance by terminal_balance)",
    )


def test_groups_stand_beside_the_ranks():
    found = table().to_json_object()
    assert found["paired"]["se_plus"]["groups"] == (("a",), ("c",), ("b",))
    assert found["paired"]["terminal_balance"]["groups"] == (("b", "c"), ("a",))
    assert [each["n"] for each in found["paired"]["se_plus"]["differences"]] == [4, 4, 4]
