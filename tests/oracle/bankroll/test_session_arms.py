"""The split of a session's gap: an identity in every session, exclusion, and what is reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.bankroll.session_arms import ARMS, SessionArms, run_session_arms, split_gap
from oracle.interventions import Condition
from oracle.parts import SUMMANDS

money = st.floats(-100, 2000, allow_nan=False)


@given(st.lists(st.tuples(*[money] * len(ARMS)), min_size=1, max_size=6))
def test_parts_sum_to_the_gap_in_every_session(rows):
    arms = SessionArms(
        tuple(range(len(rows))), {name: np.array([row[i] for row in rows]) for i, name in enumerate(ARMS)}
    )
    parts = arms.parts()
    assert sum(parts[name] for name in SUMMANDS) == pytest.approx(parts["gap"], abs=1e-8)
    assert parts["played"] + parts["gap"] == pytest.approx(parts["reference"], abs=1e-8)
    assert parts["uncertainty_own"] + parts["uncertainty_unavoidable"] == pytest.approx(parts["uncertainty"], abs=1e-8)
    found = split_gap("x", arms)
    assert sum(found.row(name).estimate for name in SUMMANDS) == pytest.approx(found.row("gap").estimate, abs=1e-8)
    assert found.row("gap").n == len(rows)


def references(session):
    return {"neutral": 50.0, "aware": 55.0 + session, "known": 80.0, "memoryless": 40.0}


def test_arms_by_hand():
    balances = {Condition.BASE: 12.0, Condition.ORACLE_POSTERIOR: 20.0, Condition.REVEALED_TYPE: 45.0}
    told = []
    arms = run_session_arms(
        {0: 10.0, 3: 11.0},
        lambda session, condition: balances[condition],
        references,
        lambda done, total: told.append((done, total)),
    )
    gap = split_gap("x", arms)
    assert arms.sessions == (0, 3)
    assert told == [(1, 2), (2, 2)]
    means = {row.part: row.estimate for row in gap.rows}
    assert means == pytest.approx(
        {
            "played": 10.5, "reference": 56.5, "gap": 46.0, "execution": 1.5, "inference": 8.0, "uncertainty": 25.0,
            "uncertainty_own": -5.0, "uncertainty_unavoidable": 30.0, "control": 5.0, "caution": 6.5, "memory": 16.5,
        }
    )  # fmt: skip
    found = gap.to_json_object()
    assert found["balances"]["played"] == [10.0, 11.0]
    assert gap.required(1.0)["uncertainty"].estimate is None  # both sessions say 25: no spread seen
    more = SessionArms(tuple(range(12)), {name: np.tile(column, 6) + np.arange(12.0) ** 2 * place
                                          for place, (name, column) in enumerate(arms.balances.items())})  # fmt: skip
    assert split_gap("x", more).required(0.5)["execution"].estimate > 12


def test_a_session_lost_in_one_arm_is_lost_in_all():
    def play(session, condition):
        return None if session == 1 and condition is Condition.REVEALED_TYPE else 1.0

    arms = run_session_arms({0: 1.0, 1: 2.0, 2: 3.0}, play, references)
    assert arms.sessions == (0, 2)
    assert arms.excluded == (1,)
    with pytest.raises(ValueError, match="none of 1 sessions"):
        run_session_arms({1: 2.0}, play, references)
    with pytest.raises(ValueError, match="part='noise'"):
        split_gap("x", arms).row("noise")


def test_shapes_are_checked():
    balances = {name: np.zeros(2) for name in ARMS}
    with pytest.raises(ValueError, match=r"balances\['aware'\] has shape \(1,\)"):
        SessionArms((0, 1), {**balances, "aware": np.zeros(1)})


def test_waterfall_is_drawn():
    from matplotlib.figure import Figure

    arms = run_session_arms({0: 10.0, 3: 11.0}, lambda session, condition: 20.0, references)
    ax = split_gap("x", arms).plot(Figure().add_subplot())
    assert len(ax.patches) == 5  # one a step
    assert "dollars" in ax.get_xlabel()
