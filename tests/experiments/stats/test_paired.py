"""Comparisons by hand: pairs, families of tests, verdicts that agree with their intervals, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.comparing.separation import compare_with_separation
from experiments.stats.families import AlikeBlocks, Measured, PairVerdict, holm, holm_levels, rule_on
from experiments.stats.paired import compare, compare_outcomes, improvement, scenario_outcomes
from terms import fresh_suite, play
from terms.agents import build_scripted
from terms.intervals import share_bounds, spread_of
from terms.types import Regime, ReplyFault, Termination

LEVELS = st.floats(0.8, 0.999)
P_VALUES = st.lists(st.none() | st.floats(0, 1), max_size=8)
TEMPLATE = play(fresh_suite(1, ["overlap"], ["candid"], 1)[0], build_scripted("patient"))
EIGHT = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def episodes(utilities, *, regime=Regime.OVERLAP, prefix="s"):
    """Return one episode per utility, each on a scenario of its own and feasible with a zone of 40."""
    return [
        replace(TEMPLATE, scenario_id=f"{prefix}{index}", regime=regime, utility=utility, zopa=40.0, price=50.0)
        for index, utility in enumerate(utilities)
    ]


def utility_comparison(**utilities):
    return compare({name: episodes(values) for name, values in utilities.items()}, "mean_utility")


def outcomes(**values):
    return {name: {str(place): [value] for place, value in enumerate(column)} for name, column in values.items()}


def measured(values):
    d = np.asarray(values, dtype=float)
    return Measured(float(d.mean()), spread_of(d), len(d))


class TestAlikeBlocks:
    """Shares of which nearly all blocks say the same: the spread is nothing, the exact bound of the others is not."""

    def test_all_apart_by_one_is_different(self):
        """n = 8, none else: p = 2 / 2**8; q < 1 - 0.025**(1/8) = 0.369417, so the mean is above 1 - 2 q = 0.261166."""
        (found,) = compare_outcomes(outcomes(a=[1.0] * 8, b=[0.0] * 8), "crit_viol_pct", "lower").differences
        assert (found.verdict, found.p) == ("different", pytest.approx(2 / 256, rel=1e-12))
        assert (found.low, found.high) == (pytest.approx(0.261166, abs=1e-6), 1.0)

    def test_a_tie_in_72_is_within_five_points(self):
        """q < 1 - 0.025**(1/72) = 0.049944."""
        found = compare_outcomes(outcomes(a=[0.0] * 72, b=[0.0] * 72), "agr_plus", "higher", margin=0.1).differences[0]
        assert (found.low, found.high) == (pytest.approx(-0.049944, abs=1e-6), pytest.approx(0.049944, abs=1e-6))
        assert (found.verdict, found.p) == ("equivalent", 1.0)

    def test_seven_blocks_and_other_metrics_say_too_little(self):
        (few,) = compare_outcomes(outcomes(a=[1.0] * 7, b=[0.0] * 7), "crit_viol_pct", "lower").differences
        (money,) = compare_outcomes(outcomes(a=[1.0] * 50, b=[0.0] * 50), "mean_utility", "higher").differences
        assert (few.verdict, money.verdict, few.low, money.low) == ("not enough to say",) * 2 + (None, None)

    @given(st.integers(8, 200), st.integers(0, 2), st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), LEVELS)
    def test_the_interval_leaves_zero_out_exactly_where_p_is_below_its_level(self, n, apart, mode, level):
        blocks = AlikeBlocks(mode, apart, n)
        low, high = blocks.bounds(level)
        assert -1 <= low <= mode <= high <= 1
        if abs(blocks.p() - (1 - level)) > 1e-9:
            assert (low > 0 or high < 0) == (blocks.p() < 1 - level)

    def test_coverage_is_kept_where_others_are_rare_and_extreme(self):
        """Brute force: d is 0.5, or -1 with probability q; the chances of all numbers of others are summed."""
        for n, q in ((8, 0.05), (24, 0.02), (72, 0.01)):
            true = 0.5 * (1 - q) - q
            chance = {k: math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(3)}
            missed = [chance[k] for k in chance if not _within(true, AlikeBlocks(0.5, k, n).bounds(0.95))]
            assert sum(missed) <= 0.05


def _within(value, bounds):
    return bounds[0] <= value <= bounds[1]


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


class TestLevels:
    def test_worked_example(self):
        """0.005 and 0.01 are rejected at 5 % / 4 and / 3; 0.03 fails at / 2, and 0.04 is decided there too."""
        assert holm_levels([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
        assert holm_levels([None, 0.5]) == [0.05, 0.05]

    @given(P_VALUES)
    def test_a_level_decides_as_the_adjusted_p_does(self, values):
        for p, level, adjusted in zip(values, holm_levels(values), holm(values), strict=True):
            if p is not None and abs(adjusted - 0.05) > 1e-9:
                assert (p < level) == (adjusted < 0.05)


class TestDecide:
    @given(st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 99)), min_size=1, max_size=6), st.floats(0.05, 2))
    def test_interval_and_verdict_agree(self, pairs, margin):
        family = [measured(shift + np.random.default_rng(seed).normal(size=12)) for shift, seed in pairs]
        for asked in (None, margin):
            for each, found in zip(family, rule_on(family, [asked] * len(family)), strict=True):
                assert found.low < each.estimate < found.high
                assert (found.verdict is PairVerdict.DIFFERENT) == (found.low > 0 or found.high < 0)
                if found.verdict is PairVerdict.EQUIVALENT:
                    assert asked is not None
                    assert max(-found.low, found.high) < asked
                assert found.level >= 0.95

    def test_one_pair_by_hand(self):
        """Differences 1 to 8 less 4.5: [-2.048, 2.048]. Inside the margin they are equivalent."""
        near = measured(np.array(EIGHT) - 4.5)
        for margin, verdict in (
            (2.1, PairVerdict.EQUIVALENT),
            (2.0, PairVerdict.NOT_TOLD_APART),
            (None, PairVerdict.NOT_TOLD_APART),
        ):
            (found,) = rule_on([near], [margin])
            assert found.verdict is verdict
            assert (found.low, found.high) == (pytest.approx(-2.0478, abs=1e-4), pytest.approx(2.0478, abs=1e-4))

    @pytest.mark.parametrize("number", [2, 4, 30])
    def test_a_constant_difference_is_not_enough_to_say(self, number):
        (found,) = rule_on([measured([1.0] * number)], [None])
        assert found == (None, 0.95, None, None, None, PairVerdict.TOO_FEW)

    @pytest.mark.parametrize("margin", [0.0, -1.0, math.nan, math.inf])
    def test_a_margin_must_make_sense(self, margin):
        with pytest.raises(ValueError, match="margin="):
            rule_on([measured(EIGHT)], [margin])

    @pytest.mark.slow
    def test_of_true_ties_hardly_any_is_called_different(self, rng):
        """Six tied agents, 15 pairs, 4,000 families: 5 % may hold a false verdict, 5 % a false equivalence."""
        ties, near = 0, 0
        for _ in range(4_000):
            columns = rng.normal(size=(6, 24))
            pairs = [measured(a - b) for a, b in combinations(columns, 2)]
            ties += any(found.verdict is PairVerdict.DIFFERENT for found in rule_on(pairs, [None] * 15))
            apart = [measured(0.5 + a - b) for a, b in combinations(columns, 2)]
            near += any(found.verdict is PairVerdict.EQUIVALENT for found in rule_on(apart, [0.5] * 15))
        assert ties / 4_000 < 0.06
        assert near / 4_000 < 0.06


class TestCompare:
    def test_by_hand(self):
        """Differences 1 to 8: mean 4.5, error sqrt(6 / 8), t = 5.19615 with 7 degrees, p = 0.001259."""
        comparison = utility_comparison(a=[value + 5.0 for value in EIGHT], b=[5.0] * 8)
        (difference,) = comparison.differences
        assert (difference.first, difference.second, difference.n) == ("a", "b", 8)
        assert difference.estimate == 4.5
        assert difference.p == difference.p_holm == pytest.approx(0.001259, abs=1e-6)
        half = 2.364624251592785 * math.sqrt(6 / 8)
        assert (difference.low, difference.high) == pytest.approx((4.5 - half, 4.5 + half))
        assert (difference.low_joint, difference.high_joint) == (difference.low, difference.high)
        assert difference.verdict is PairVerdict.DIFFERENT
        assert comparison.ranking == ("a", "b")
        assert comparison.groups == (("a",), ("b",))
        assert difference.improvement.estimate == 1.0

    def test_spread_with_and_without_pairing(self):
        """Twice the same luck: correlation 1 and a small difference; opposite luck: correlation -1 and a wider one."""
        column = np.array([*EIGHT])
        found = compare_outcomes(outcomes(a=column, b=column + np.array([0.0, 0.1] * 4), c=-column), "x", "higher")
        alike, opposite = found.differences[0].pairing, found.differences[1].pairing
        assert alike.correlation == pytest.approx(1.0, abs=1e-3)
        assert alike.deviation < 0.1 * alike.unpaired_deviation
        assert opposite.correlation == pytest.approx(-1.0)
        assert opposite.unpaired_deviation == pytest.approx(math.sqrt(2 * 6))
        assert opposite.deviation == pytest.approx(2 * math.sqrt(6))

    def test_only_shared_scenarios_count(self):
        runs = {"a": episodes([1.0, 2.0, 3.0]), "b": episodes([1.0, 1.0]) + episodes([99.0], prefix="other")}
        (difference,) = compare(runs, "mean_utility").differences
        assert (difference.estimate, difference.n) == (0.5, 2)

    def test_agents_are_ranked_on_what_all_of_them_met(self):
        found = compare_outcomes({"a": {"0": [1.0], "1": [9.0]}, "b": {"0": [2.0]}}, "x", "higher")
        assert found.ranking == ("b", "a")

    def test_repeats_of_a_scenario_are_kept_and_averaged(self):
        twice = episodes([1.0, 4.0]) + episodes([3.0, 4.0])
        assert scenario_outcomes(twice, "mean_utility") == {"s0": [1.0, 3.0], "s1": [4.0, 4.0]}
        (difference,) = compare({"a": twice, "b": episodes([1.0, 1.0])}, "mean_utility").differences
        assert (difference.estimate, difference.n) == (2.0, 2)

    def test_a_trial_lost_to_the_provider_leaves_the_pair(self):
        lost = replace(
            TEMPLATE, scenario_id="s0", termination=Termination.PROVIDER_FAILURE, fault=ReplyFault.PROVIDER, price=None
        )
        runs = {"a": [lost, *episodes([7.0, 3.0])[1:]], "b": episodes([1.0, 1.0])}
        (difference,) = compare(runs, "mean_utility").differences
        assert (difference.estimate, difference.n) == (2.0, 1)

    def test_few_scenarios_have_an_estimate_and_no_verdict(self):
        (difference,) = utility_comparison(a=[3.0], b=[1.0]).differences
        assert (difference.estimate, difference.low, difference.p, difference.n) == (2.0, None, None, 1)
        assert difference.verdict.value == "not enough to say"
        assert difference.pairing == (None, None, None)

    def test_what_cannot_be_compared_is_refused_with_the_reason(self):
        with pytest.raises(ValueError, match="needs at least 2"):
            utility_comparison(a=[1.0])
        with pytest.raises(ValueError, match="metric='cse_plus', allowed are se_plus"):
            compare({"a": [], "b": []}, "cse_plus")
        runs = {"a": episodes([1.0]), "b": episodes([2.0, 3.0], prefix="other")}
        with pytest.raises(ValueError, match=r"a and b have nothing in common .*'s0', b has 'other0' and 1 more"):
            compare(runs, "mean_utility")
        infeasible = [replace(episode, zopa=-5.0) for episode in episodes([1.0, 2.0])]
        with pytest.raises(ValueError, match="se_plus of b is undefined everywhere"):
            compare({"a": episodes([1.0, 2.0]), "b": infeasible}, "se_plus")

    def test_lower_is_better_for_violations(self):
        def with_violations(share):
            rows = episodes([1.0] * 40)
            broken = play(fresh_suite(1, ["overlap"], ["candid"], 1)[0], lambda observation: "no move").violations
            return [replace(row, violations=broken if i < share * 40 else ()) for i, row in enumerate(rows)]

        found = compare({"often": with_violations(0.9), "seldom": with_violations(0.1)}, "crit_viol_pct")
        assert found.groups == (("seldom",), ("often",))
        assert found.differences[0].improvement.estimate == pytest.approx(0.1)  # ties count half


class TestSeparation:
    def rows(self):
        feasible = {"a": episodes([9.0 + value for value in EIGHT]), "b": episodes([1.0, 2.0] * 4)}
        hopeless = episodes([0.0, 0.0], regime=Regime.NO_DEAL, prefix="n")
        hopeless = [replace(episode, zopa=-5.0, price=None, utility=0.0) for episode in hopeless]
        runs = {name: rows + hopeless for name, rows in feasible.items()}
        main = {name: scenario_outcomes(rows, "se_plus") for name, rows in runs.items()}
        return compare_with_separation(main, runs, "se_plus", "higher", margin=0.4)

    def test_every_defined_metric_and_regime_is_there(self):
        _, rows = self.rows()
        found = {(row.difference.metric, row.regime): row.difference for row in rows}
        no_deal = {"mean_utility", "fagr_minus", "agent_exit_minus", "crit_viol_pct"}
        overlap = {"se_plus", "mean_utility", "agr_plus", "crit_viol_pct"}  # nobody stated a belief
        assert set(found) == {(m, "overlap") for m in overlap} | {(m, "no_deal") for m in no_deal}
        assert found["mean_utility", "overlap"].is_significant
        assert found["mean_utility", "no_deal"].verdict is PairVerdict.TOO_FEW

    def test_all_of_it_is_one_family(self):
        comparison, rows = self.rows()
        alone = compare_outcomes(outcomes(a=[9.0 + v for v in EIGHT], b=[1.0, 2.0] * 4), "se_plus", "higher")
        assert comparison.num_tests == 1 + len(rows) == 9
        # Five of the nine can be tested (the rest say too little), so the smallest p is taken five times.
        p = comparison.differences[0].p
        assert p == pytest.approx(alone.differences[0].p)
        assert comparison.differences[0].p_holm == pytest.approx(5 * p)


def false_positives(num_suites):
    """Compare two copies of one drawing agent with different seeds on many suites; count significant differences."""
    agents = {name: build_scripted(f"random:seed={seed}") for seed, name in ((1, "one"), (2, "two"))}
    found = 0
    for seed in range(num_suites):
        suite = fresh_suite(seed, ["overlap"], n_per_cell=1)
        runs = {name: [play(scenario, agent) for scenario in suite] for name, agent in agents.items()}
        found += compare(runs).differences[0].is_significant
    return found


def test_two_copies_of_one_agent_seldom_differ():
    """Of 40 true ties about 2 are called different; more than 6 has a chance of 0.3 %."""
    assert false_positives(40) <= 6


@pytest.mark.slow
def test_two_copies_of_one_agent_differ_in_at_most_five_percent():
    """Binomial(600, 0.05) has mean 30 and standard deviation 5.3; the upper bound is three of these away."""
    assert 8 <= false_positives(600) <= 46


@pytest.mark.slow
def test_a_family_of_copies_holds_a_false_verdict_in_at_most_five_percent():
    """Five copies, ten pairs, 500 runs of 24 scenarios: Binomial(500, 0.05) has mean 25, deviation 4.9."""
    agents = {str(seed): build_scripted(f"random:seed={seed}") for seed in range(5)}
    found = 0
    for seed in range(500):
        suite = fresh_suite(10_000 + seed, ["overlap"], n_per_cell=1)
        runs = {name: [play(scenario, agent) for scenario in suite] for name, agent in agents.items()}
        found += compare(runs).num_different > 0
    assert found <= 40


SCORES = st.lists(st.lists(st.integers(0, 4).map(float), min_size=1, max_size=3), min_size=1, max_size=10)


def test_by_hand():
    """In s: 3 beats 2, 1 does not: 1/2. In t: 5 ties 5: 1/2; in u: 1. Paired (1/2 + 1/2 + 1) / 3 = 2/3."""
    paired, unpaired = improvement(
        {"s": [3, 1], "t": [5], "u": [9]}, {"s": [2], "t": [5], "u": [0], "v": [7]}, "higher"
    )
    assert paired == (pytest.approx(2 / 3), *share_bounds(2 / 3, 3), 3)
    # All pairs: 3, 1, 5, 9 against 2, 5, 0: wins 2, 1, 2.5, 3 of three each.
    assert unpaired == (pytest.approx(8.5 / 12), None, None, 3)


def test_nothing_shared_is_undefined():
    assert improvement({"s": [1.0]}, {"t": [1.0]}, "higher")[0] == (None, None, None, 0)


@given(SCORES, SCORES)
def test_one_wins_what_the_other_loses(ours, theirs):
    a = {str(place): values for place, values in enumerate(ours)}
    b = {str(place): values for place, values in enumerate(theirs)}
    for first, second in zip(improvement(a, b, "higher"), improvement(b, a, "higher"), strict=True):
        assert first.estimate == pytest.approx(1 - second.estimate)
    assert improvement(a, b, "lower")[0].estimate == pytest.approx(improvement(b, a, "higher")[0].estimate)


@pytest.mark.slow
def test_intervals_cover(rng):
    """Blocks of a common luck, two agents 0.5 apart, noise 1 each: P = Phi(0.5 / sqrt 2) paired, Phi(0.25) unpaired."""
    from scipy.stats import norm

    hits = np.zeros(2)
    for _ in range(2_000):
        luck = rng.normal(size=24)
        a, b = (
            dict(zip(map(str, range(24)), (shift + luck + rng.normal(size=24))[:, None], strict=True))
            for shift in (0.5, 0.0)
        )
        found = improvement(a, b, "higher")
        hits += [
            each.low <= truth <= each.high for each, truth in zip(found, norm.cdf([0.5 / 2**0.5, 0.25]), strict=True)
        ]
    assert ((hits / 2_000 >= 0.93) & (hits / 2_000 <= 0.985)).all()
