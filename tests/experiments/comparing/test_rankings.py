"""Orders by hand: ranks, pairs that swap places, and which of their differences may be chance."""

from __future__ import annotations

import numpy as np

from experiments.comparing.rankings import order_values
from experiments.stats.paired import compare_outcomes
from terms.estimates import Estimate

#: By session; b beats a by 10 in each but for a little noise, c is a without a sure difference from either.
TINY = np.array([0.0, 0.01, 0.02, 0.03, -0.01, -0.02, -0.03, 0.04])
BALANCES = {
    "a": np.arange(8.0),
    "b": np.arange(8.0) + 10 + 5 * TINY,
    "c": np.array([40.0, -19, 50, -30, 45, -20, 40, -26]),
}
SHARES = {"a": 0.85 + TINY, "b": 0.45 + TINY[::-1], "c": 0.55 - TINY}


def compared(values, metric):
    blocks = {agent: {str(place): [float(v)] for place, v in enumerate(each)} for agent, each in values.items()}
    return compare_outcomes(blocks, metric, "higher")


def table():
    means = {
        agent: {
            "se_plus": Estimate(float(np.mean(SHARES[agent])), None, None, 8),
            "terminal_balance": Estimate(float(np.mean(BALANCES[agent])), None, None, 8),
        }
        for agent in BALANCES
    }
    return order_values(
        means, {"se_plus": compared(SHARES, "se_plus"), "terminal_balance": compared(BALANCES, "terminal_balance")}
    )


def test_ranks_by_hand():
    """SE+ 0.855, 0.455, 0.545; balances 3.5, 13.5, 10; nobody has a regret rate."""
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
    assert found["paired"]["se_plus"]["groups"] == [["a"], ["c"], ["b"]]
    assert found["paired"]["terminal_balance"]["letters"] == {"b": "a", "c": "a b", "a": "b"}
    assert [each["n"] for each in found["paired"]["se_plus"]["differences"]] == [8, 8, 8]
