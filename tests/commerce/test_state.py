"""The state is plain data: saved, loaded and hashed without loss in the middle of anything."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commerce.merchants import build_merchant
from commerce.state import initial_state, state_digest, state_from_json, state_to_json
from commerce.state_codec import decode, encode
from commerce.year import Year
from tests.commerce.builders import default_world, new_year, setting_of


class Enough(Exception):  # noqa: N818
    """Leaves a merchant's year in the middle."""


def played(num_calls: int, merchant: str = "rule-based") -> Year:
    """A year stopped after ``num_calls`` calls, in the middle of a day."""
    year = Year(default_world())
    count = 0

    def call(tool, arguments):
        nonlocal count
        count += 1
        if count > num_calls:
            raise Enough
        return year.call(tool, arguments)

    with pytest.raises(Enough):
        build_merchant(merchant, default_world(), year.setting.rules, 3)(call)
    return year


@pytest.mark.parametrize("num_calls", [3, 700])
def test_a_saved_year_goes_on_as_if_nothing_had_happened(num_calls):
    year = played(num_calls)
    text = json.dumps(state_to_json(year.state), allow_nan=False)
    loaded = Year(default_world(), state=state_from_json(json.loads(text)))
    assert state_digest(loaded.state) == state_digest(year.state)
    for _ in range(12):
        for tool, arguments in (("ship_orders", {"action": "ship"}), ("withdraw", {}), ("wait_for_next_day", {})):
            one, other = (y.call(tool, arguments).to_json_object() for y in (year, loaded))
            assert one == other
    assert state_digest(loaded.state) == state_digest(year.state)


def test_the_digest_sees_one_fen():
    year = new_year()
    before = state_digest(year.state)
    year.state.ledger.balances[0] += 1
    assert state_digest(year.state) != before


def test_equal_states_have_equal_digests():
    assert state_digest(new_year().state) == state_digest(new_year().state)


def test_arrays_keep_type_length_and_values():
    for array in (np.zeros(5, dtype=np.int64), np.array([0, 3, 0, 0, 9]), np.array([0.1, 2.5]), np.zeros(0)):
        again = decode(json.loads(json.dumps(encode(array))), ())
        assert again.dtype == array.dtype
        assert again.tolist() == array.tolist()


def test_something_else_is_not_a_state():
    with pytest.raises(ValueError, match="holds a dict"):
        state_from_json({"day": 1})


def test_the_first_morning():
    state = initial_state(setting_of(default_world()), {})
    assert (state.day, state.minute, state.bank_fen, state.is_over) == (0, 480, 10_000_000, False)
