from __future__ import annotations

import pytest

from oracle.bounds import bracket
from oracle.shipped import standard_knowledge, values_for
from terms.suites import fresh_suite
from terms.types import Opener


@pytest.fixture(scope="module")
def values():
    return values_for(standard_knowledge("taciturn", "overlap"))


def _slice(seed, n, opener):
    return [each for each in fresh_suite(seed, ["overlap"], ["taciturn"], n) if each.opener is opener]


def test_bracket_is_ordered_and_its_parts_add_up(values):
    result = bracket(values, _slice(3, 20, Opener.COUNTERPART), num_dual=2, beam=4)
    assert result.lower < result.policy.value < result.ceiling
    assert result.lower < result.dual_estimate.value
    assert result.policy.n == 40
    assert result.inner.n == 2
    parts = sum(result.width_parts().values())
    # lower + parts = dual estimate, up to the ratio estimator's second order and the luck of the zopa.
    assert result.lower + parts == pytest.approx(result.dual_estimate.value, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("opener", list(Opener))
def test_penalty_has_mean_zero_and_the_policy_loses_less_than_the_dual_finds(values, opener):
    result = bracket(values, _slice(5, 600, opener), num_dual=20, beam=8)
    assert abs(result.penalty_mean.value) < 3.5 * result.penalty_mean.se
    assert result.loss.value <= result.inner.value + 2 * result.inner.se
    assert result.estimated_width < 0.03


def test_number_of_dual_episodes_is_checked(values):
    with pytest.raises(ValueError, match="num_dual=5 of 4 scenarios"):
        bracket(values, _slice(3, 2, Opener.AGENT), num_dual=5)
