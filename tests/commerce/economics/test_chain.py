"""Chains: who is met, what stays and what varies, and that each period has the law of a fresh suite."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import ChainConfig, Perspective, build_chain
from commerce.economics.chain import regime_odds
from terms import GameConfig
from terms.config import PriorConfig, Uniform
from terms.types import Family, Opener, Regime, Role

POOL, IID, PERSISTENT = (
    BankrollConfig(supplier_mode=mode) for mode in (SupplierMode.POOL, SupplierMode.IID, SupplierMode.PERSISTENT)
)
CHAIN = ChainConfig(seed=3)
VENDOR = ChainConfig(seed=3, perspective=Perspective.VENDOR)


def test_a_chain_is_the_same_alone_and_among_others_and_starts_the_longer_one():
    whole = build_chain(2, CHAIN, POOL)
    assert build_chain(2, CHAIN, POOL) == whole
    shorter = build_chain(2, CHAIN, BankrollConfig(horizon=7))
    assert shorter.scenarios == whole.scenarios[:7]
    assert build_chain(1, CHAIN, POOL).scenarios[0].noise != whole.scenarios[0].noise
    assert build_chain(2, ChainConfig(seed=4), POOL) != whole


@pytest.mark.parametrize("rules", [POOL, IID, PERSISTENT])
def test_ids_name_every_period_once(rules):
    ids = [s.scenario_id for number in range(3) for s in build_chain(number, CHAIN, rules).scenarios]
    assert len(set(ids)) == 150


def test_a_pool_keeps_its_types_and_varies_the_rest():
    chain = build_chain(0, CHAIN, POOL)
    met = Counter(supplier.number for supplier in chain.who)
    assert set(met) == {1, 2, 3, 4, 5}
    for number in met:
        scenarios = [s for s, who in zip(chain.scenarios, chain.who, strict=True) if who.number == number]
        assert len({s.counterpart_type for s in scenarios}) == 1
        assert len({s.family for s in scenarios}) == 1
        assert len({s.harshness for s in scenarios}) == len(scenarios)
        assert len({s.agent_type.reservation_price for s in scenarios}) == len(scenarios)
        assert len({s.noise for s in scenarios}) == len(scenarios)


def test_a_persistent_supplier_is_the_first_of_the_pool_and_iid_ones_are_all_new():
    persistent, pool = build_chain(0, CHAIN, PERSISTENT), build_chain(0, CHAIN, POOL)
    assert {who.number for who in persistent.who} == {1}
    first = next(who for who in pool.who if who.number == 1)
    assert persistent.who[0] == first
    assert [who.number for who in build_chain(0, CHAIN, IID).who] == list(range(1, 51))


@pytest.mark.parametrize("chain", [CHAIN, VENDOR])
@pytest.mark.parametrize("rules", [POOL, IID, PERSISTENT])
def test_geometry_is_that_of_the_regime(chain, rules):
    for number in range(4):
        for scenario in build_chain(number, chain, rules).scenarios:
            assert scenario.agent_role is chain.perspective.role
            assert 0 <= scenario.agent_type.reservation_price <= 100
            if scenario.regime is Regime.NO_DEAL:
                assert -30 - 1e-9 <= scenario.zopa <= -5 + 1e-9
            else:
                assert 10 - 1e-9 <= scenario.zopa <= 40 + 1e-9


def fresh_facts(role: Role, num: int) -> dict[Regime, np.ndarray]:
    """Draw own and counterpart reservations and urgency straight from the game's laws, by regime."""
    rng, law = np.random.default_rng(0), PriorConfig()
    found = {}
    for regime in (Regime.OVERLAP, Regime.URGENCY_SHIFT, Regime.NO_DEAL):
        if regime is Regime.NO_DEAL:
            gap = rng.uniform(5, 30, num)
            buyer = rng.random(num) * (100 - gap)
            seller = buyer + gap
        else:
            width, middle = rng.uniform(10, 40, num), rng.uniform(20, 80, num)
            buyer, seller = middle + width / 2, middle - width / 2
        own, other = (buyer, seller) if role is Role.BUYER else (seller, buyer)
        beta = law.counterpart_urgency(regime)
        found[regime] = np.array([own, other, rng.beta(beta.a, beta.b, num)])
    return found


def largest_gap(a: np.ndarray, b: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples."""
    grid = np.sort(np.concatenate([a, b]))
    cdf = [np.searchsorted(np.sort(sample), grid, side="right") / len(sample) for sample in (a, b)]
    return float(np.abs(cdf[0] - cdf[1]).max())


@pytest.mark.parametrize("chain", [CHAIN, VENDOR])
def test_every_period_has_the_law_of_a_fresh_suite(chain):
    """Second meetings, where regime and own reservation are drawn given the supplier, against direct draws."""
    rules = BankrollConfig(supplier_mode=SupplierMode.PERSISTENT, horizon=2)
    seconds = [build_chain(number, chain, rules).scenarios[1] for number in range(3000)]
    direct = fresh_facts(chain.perspective.role, 20_000)
    for regime, weight in zip(direct, chain.regime_weights, strict=True):
        met = [s for s in seconds if s.regime is regime]
        spread = (weight * (1 - weight) / len(seconds)) ** 0.5
        assert abs(len(met) / len(seconds) - weight) < 4 * spread
        facts = np.array(
            [
                [s.agent_type.reservation_price, s.counterpart_type.reservation_price, s.counterpart_type.urgency]
                for s in met
            ]
        ).T
        for row, (drawn, wanted) in enumerate(zip(facts, direct[regime], strict=True)):
            # 99.9 % point of the two-sample statistic
            assert largest_gap(drawn, wanted) < 1.95 * (1 / len(drawn) + 1 / len(wanted)) ** 0.5, (regime, row)
        width = np.abs(facts[0] - facts[1])
        assert (
            largest_gap(width, np.abs(direct[regime][0] - direct[regime][1]))
            < 1.95 * (1 / len(met) + 1 / 20_000) ** 0.5
        )


@pytest.mark.parametrize(("x", "urgency"), [(0.3, 0.5), (0.1, 0.8), (0.6, 0.2), (0.7, 0.4)])
def test_odds_of_the_regimes_against_a_count(x, urgency):
    """Bayes' rule by brute force: among direct draws near (x, urgency), the share of each regime."""
    direct = fresh_facts(Role.BUYER, 2_000_000)
    near = [
        int(((np.abs(facts[1] / 100 - x) < 0.02) & (np.abs(facts[2] - urgency) < 0.04)).sum())
        for facts in direct.values()
    ]
    weighted = np.array(near) * CHAIN.regime_weights
    assert regime_odds(x, urgency, CHAIN) == pytest.approx(weighted / weighted.sum(), abs=0.02)


def test_openers_and_families_are_mixed():
    scenarios = [s for number in range(20) for s in build_chain(number, CHAIN, IID).scenarios]
    openers = Counter(s.opener for s in scenarios)
    assert abs(openers[Opener.AGENT] - 500) < 4 * 250**0.5
    assert set(Counter(s.family for s in scenarios)) == set(Family)
    only = replace(build_chain(0, ChainConfig(families=(Family.CANDID,)), IID)).scenarios
    assert {s.family for s in only} == {Family.CANDID}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"regime_weights": (0.5, 0.5, 0.5)}, "sum to 1"),
        ({"families": ()}, "families is empty"),
        ({"families": ("candid", "taciturn", "candid")}, "families=candid, taciturn, candid has one twice"),
        ({"game": GameConfig(prior=PriorConfig(gap_share=Uniform(low=0.1, high=0.1)))}, "game.prior.gap_share"),
    ],
)
def test_wrong_settings_are_named(change, says):
    with pytest.raises(ValidationError, match=says):
        ChainConfig(**change)
