from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats import paired as stats
from experiments.stats.paired import (
    bootstrap_interval,
    compare,
    holm,
    needed_n,
    paired_interval,
    paired_p,
    scenario_means,
    separation_table,
)
from terms import fresh_suite, play
from terms.agents import build_scripted
from terms.types import Regime, ReplyFault, Termination

#: Additional hours of sleep with one drug over another: Student, Biometrika 6 (1908), p. 20.
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
P_VALUES = st.lists(st.none() | st.floats(0, 1), max_size=8)
TEMPLATE = play(fresh_suite(1, ["overlap"], ["candid"], 1)[0], build_scripted("patient"))


def episodes(utilities, *, regime=Regime.OVERLAP, prefix="s"):
    """Return one episode per utility, each on a scenario of its own and feasible with a zone of 40."""
    return [
        replace(TEMPLATE, scenario_id=f"{prefix}{index}", regime=regime, utility=utility, zopa=40.0, price=50.0)
        for index, utility in enumerate(utilities)
    ]


def utility_comparison(**utilities):
    runs = {name: episodes(values) for name, values in utilities.items()}
    return compare(runs, "mean_utility", rng=np.random.default_rng(1))


class TestPairedT:
    def test_students_own_data(self):
        """t = 4.0621, df = 9, p = 0.002833, as printed by R's t.test(sleep, paired=TRUE)."""
        assert paired_p(SLEEP) == pytest.approx(0.002833, abs=5e-7)
        assert paired_p(-SLEEP) == paired_p(SLEEP)

    def test_two_scenarios_by_hand(self):
        """d = (1, 3): mean 2, s = sqrt(2), t = 2, and with one degree of freedom p = 1 - 2 atan(t) / pi."""
        assert paired_p(np.array([1.0, 3.0])) == pytest.approx(1 - 2 * math.atan(2.0) / math.pi, abs=1e-12)

    def test_no_difference_anywhere_and_the_same_everywhere(self):
        assert paired_p(np.zeros(5)) == 1.0
        assert paired_p(np.full(5, 0.25)) == 0.0


class TestHolm:
    def test_worked_example(self):
        """p = 0.01, 0.04, 0.03, 0.005: at 5 % the first and last are rejected and the others not (Holm 1979)."""
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)

    def test_one_value_is_unchanged_and_none_does_not_count(self):
        assert holm([0.04]) == [0.04]
        assert holm([None, 0.04, None]) == [None, 0.04, None]
        assert holm([]) == []
        assert holm([0.9, 0.8]) == [1.0, 1.0]

    @given(P_VALUES)
    def test_rejections_are_those_of_the_step_down_procedure(self, values):
        adjusted = holm(values)
        known = sorted(value for value in values if value is not None)
        for level in (0.01, 0.05, 0.2):
            rejected = 0
            while rejected < len(known) and known[rejected] * (len(known) - rejected) < level:
                rejected += 1
            limit = known[rejected - 1] if rejected else -1.0
            assert [p is not None and p < level for p in adjusted] == [p is not None and p <= limit for p in values]


class TestBootstrap:
    def test_a_constant_has_no_width(self):
        assert bootstrap_interval(np.full(7, 0.5), rng=np.random.default_rng(0)) == (0.5, 0.5)

    def test_it_is_the_interval_of_the_normal_law_where_that_holds(self, rng):
        d = rng.normal(1.0, 2.0, 400)
        low, high = bootstrap_interval(d, rng=rng)
        half = 1.96 * d.std() / 20
        assert low == pytest.approx(d.mean() - half, abs=0.1 * half)
        assert high == pytest.approx(d.mean() + half, abs=0.1 * half)

    def test_blocks_of_a_large_sample_add_up_to_all_resamples(self, rng, monkeypatch):
        sizes = []
        real = np.quantile
        monkeypatch.setattr(stats.np, "quantile", lambda means, q: sizes.append(len(means)) or real(means, q))
        bootstrap_interval(rng.normal(size=1501), rng=rng)
        assert sizes == [stats.NUM_RESAMPLES]

    def test_same_generator_same_interval(self, rng):
        d = rng.normal(size=50)
        first = bootstrap_interval(d, rng=np.random.default_rng(5))
        assert first == bootstrap_interval(d, rng=np.random.default_rng(5))


class TestPairedInterval:
    @pytest.mark.parametrize("n", [4, 8])
    def test_it_covers_and_excludes_zero_where_p_is_small(self, rng, n):
        """2000 batches, standard error 0.005; the percentile interval of 4 holds the mean 0.80 of the time."""
        batches = rng.normal(0.0, 1.0, (2000, n))
        found = [paired_interval(d, rng=rng) for d in batches]
        assert np.mean([low <= 0 <= high for low, high in found]) == pytest.approx(0.95, abs=0.016)
        assert all((paired_p(d) < 0.05) == (low > 0 or high < 0) for d, (low, high) in zip(batches, found, strict=True))

    def test_many_blocks_are_resampled(self, rng):
        d = rng.normal(size=50)
        assert paired_interval(d, rng=np.random.default_rng(5)) == bootstrap_interval(d, rng=np.random.default_rng(5))
        assert paired_interval(d[:1], rng=rng) == (None, None)


class TestNeeded:
    def test_by_hand(self):
        """Spread 1 and difference 0.5: (2.8016 / 0.5)^2 + 1.92 = 33.3, so 34."""
        d = np.array([0.0, math.sqrt(2.0)])  # standard deviation 1
        assert needed_n(d, 0.5) == 34
        assert needed_n(d, -0.5) == 34
        assert needed_n(np.array([1.0, 1.0]), 1.0) == 2

    def test_undefined(self):
        assert needed_n(np.array([1.0]), 1.0) is None
        assert needed_n(np.array([1.0, 2.0]), 0.0) is None

    @pytest.mark.parametrize("delta", [0.3, 0.5, 1.0])
    def test_it_gives_the_power_it_promises(self, rng, delta):
        n = needed_n(np.array([0.0, math.sqrt(2.0)]), delta)
        rejections = sum(paired_p(rng.normal(delta, 1.0, n)) < 0.05 for _ in range(3000))
        assert 0.775 < rejections / 3000 < 0.84


class TestCompare:
    def test_by_hand(self):
        """Differences 1, 2, 3, 6: mean 3, s^2 = 14/3, t = 3 / sqrt(14/12) = 2.7775, df 3."""
        comparison = utility_comparison(a=[5.0, 5.0, 5.0, 5.0], b=[4.0, 3.0, 2.0, -1.0])
        (difference,) = comparison.differences
        assert (difference.first, difference.second, difference.n) == ("a", "b", 4)
        assert difference.estimate == 3.0
        assert difference.p == pytest.approx(0.0691, abs=5e-5)
        assert difference.p_holm == difference.p
        half = 3.182446 * math.sqrt(14 / 12)  # the t of p: above 5 %, so the interval holds 0
        assert (difference.low, difference.high) == pytest.approx((3 - half, 3 + half), abs=1e-5)
        assert difference.needed == math.ceil((2.801585 / 3) ** 2 * 14 / 3 + 1.920729)
        assert comparison.groups == (("a", "b"),)

    def test_only_shared_scenarios_count(self):
        runs = {"a": episodes([1.0, 2.0, 3.0]), "b": episodes([1.0, 1.0]) + episodes([99.0], prefix="other")}
        (difference,) = compare(runs, "mean_utility", rng=np.random.default_rng(0)).differences
        assert (difference.estimate, difference.n) == (0.5, 2)

    def test_repeats_of_a_scenario_are_averaged(self):
        twice = episodes([1.0, 4.0]) + episodes([3.0, 4.0])
        assert scenario_means(twice, "mean_utility") == {"s0": 2.0, "s1": 4.0}

    def test_a_trial_lost_to_the_provider_leaves_the_pair(self):
        lost = replace(
            TEMPLATE, scenario_id="s0", termination=Termination.PROVIDER_FAILURE, fault=ReplyFault.PROVIDER, price=None
        )
        runs = {"a": [lost, *episodes([7.0, 3.0])[1:]], "b": episodes([1.0, 1.0])}
        (difference,) = compare(runs, "mean_utility", rng=np.random.default_rng(0)).differences
        assert (difference.estimate, difference.n) == (2.0, 1)

    def test_agents_without_a_shared_scenario_are_undefined_and_tied(self):
        runs = {"a": episodes([1.0]), "b": episodes([2.0], prefix="other")}
        comparison = compare(runs, "mean_utility", rng=np.random.default_rng(0))
        assert comparison.differences[0][3:] == (None, None, None, None, None, 0, None)
        assert not comparison.differences[0].is_significant

    def test_one_scenario_has_an_estimate_and_nothing_else(self):
        (difference,) = utility_comparison(a=[3.0], b=[1.0]).differences
        assert difference[3:] == (2.0, None, None, None, None, 1, None)

    def test_an_agent_with_nothing_in_the_denominator_is_not_ranked(self):
        infeasible = [replace(episode, zopa=-5.0) for episode in episodes([1.0, 2.0])]
        runs = {"a": episodes([1.0, 2.0]), "b": infeasible}
        assert compare(runs, "se_plus", rng=np.random.default_rng(0)).groups == (("a",),)

    def test_one_agent_or_an_unpaired_metric_is_refused(self):
        with pytest.raises(ValueError, match="needs at least 2"):
            utility_comparison(a=[1.0])
        with pytest.raises(ValueError, match="metric='cse_plus', allowed are se_plus"):
            compare({"a": [], "b": []}, "cse_plus", rng=np.random.default_rng(0))


class TestGroups:
    def test_ties_are_ties(self):
        assert utility_comparison(a=[1.0, 2.0, 3.0], b=[1.0, 2.0, 3.0]).groups == (("a", "b"),)

    def test_the_better_agent_comes_first_whatever_the_order_given(self):
        high, low = list(np.linspace(20, 21, 9)), list(np.linspace(0.0, 2.0, 9))
        assert utility_comparison(low=low, high=high).groups == (("high",), ("low",))
        assert utility_comparison(high=high, low=low).groups == (("high",), ("low",))

    def test_lower_is_better_for_violations(self):
        def with_violations(share):
            rows = episodes([1.0] * 40)
            broken = play(fresh_suite(1, ["overlap"], ["candid"], 1)[0], lambda observation: "no move").violations
            return [replace(row, violations=broken if i < share * 40 else ()) for i, row in enumerate(rows)]

        runs = {"often": with_violations(0.9), "seldom": with_violations(0.1)}
        assert compare(runs, "crit_viol_pct", rng=np.random.default_rng(0)).groups == (("seldom",), ("often",))

    def test_not_telling_apart_is_not_transitive(self):
        """Top and bottom differ; the middle is tied with both, and stands with the leader it is tied to."""
        comparison = utility_comparison(bottom=[0.0] * 4, middle=[0.0, 0.0, 1.0, 1.0], top=[1.0] * 4)
        significant = {(d.first, d.second) for d in comparison.differences if d.is_significant}
        assert significant == {("bottom", "top")}
        assert comparison.groups == (("top", "middle"), ("bottom",))


def test_the_separation_table_has_every_defined_metric_and_regime_and_its_failures():
    feasible = {"a": episodes([9.0, 8.0, 9.0]), "b": episodes([1.0, 2.0, 1.5])}
    hopeless = episodes([0.0, 0.0], regime=Regime.NO_DEAL, prefix="n")
    hopeless = [replace(episode, zopa=-5.0, price=None, utility=0.0) for episode in hopeless]
    rows = separation_table({name: rows + hopeless for name, rows in feasible.items()}, rng=np.random.default_rng(0))
    found = {(row.metric, row.regime): row.difference for row in rows}
    no_deal = {"mean_utility", "fagr_minus", "agent_exit_minus", "crit_viol_pct"}
    overlap = {"se_plus", "mean_utility", "agr_plus", "crit_viol_pct"}  # nobody stated a belief
    assert set(found) == {(m, "overlap") for m in overlap} | {(m, "no_deal") for m in no_deal}
    assert found["mean_utility", "overlap"].is_significant
    assert not found["mean_utility", "no_deal"].is_significant
    assert found["mean_utility", "no_deal"].needed is None


def false_positives(num_suites):
    """Compare two copies of one drawing agent with different seeds on many suites; count significant differences."""
    agents = {name: build_scripted(f"random:seed={seed}") for seed, name in ((1, "one"), (2, "two"))}
    found = 0
    for seed in range(num_suites):
        suite = fresh_suite(seed, ["overlap"], n_per_cell=1)
        runs = {name: [play(scenario, agent) for scenario in suite] for name, agent in agents.items()}
        found += compare(runs, rng=np.random.default_rng(seed)).differences[0].is_significant
    return found


def test_two_copies_of_one_agent_seldom_differ():
    """Of 40 true ties about 2 are called different; more than 6 has a chance of 0.3 %."""
    assert false_positives(40) <= 6


@pytest.mark.slow
def test_two_copies_of_one_agent_differ_in_five_percent():
    """Binomial(600, 0.05) has mean 30 and standard deviation 5.3; the bounds are three of these away."""
    assert 14 <= false_positives(600) <= 46


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_the_interval_and_the_test_mostly_agree(seed):
    rng = np.random.default_rng(seed)
    d = rng.normal(rng.uniform(-0.3, 0.3), 1.0, 200)
    low, high = bootstrap_interval(d, rng=rng)
    p = paired_p(d)
    if not 0.02 < p < 0.12:
        assert (p < 0.05) == (low > 0 or high < 0)
