"""The regret ledger: parts that sum to the gap, exactly nothing for what is the same, and mixed plans by hand."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from commerce.config import FAIR, PAPER, Rules
from commerce.merchants import MERCHANTS, play_year
from commerce.plan import StorePlan, execute, extract
from commerce.plan.planned import ListPrices
from commerce.procurement import pair_terms
from commerce.setting import Setting
from commerce.year import Year
from oracle.store.regret import NamedPlan, RegretLedger, regret_ledger
from oracle.store.regret_prices import prices_for
from oracle.store.regret_streams import Stream, TwoYears
from oracle.store.year_players import FULL_KNOWLEDGE_PLANNER, build_year_player
from tests.commerce.builders import default_world

DAYS = 36
RULES = {rules.name: rules.model_copy(update={"num_days": DAYS}) for rules in (PAPER, FAIR)}


def plan_of(name: str, rules: Rules) -> StorePlan:
    world = default_world()
    return extract(play_year(Year(world, rules), build_year_player(name, world, rules)))


@pytest.fixture(scope="module")
def plans() -> dict[str, StorePlan]:
    return {name: plan_of(name, RULES["paper"]) for name in ("rule-based", "first-quote", "random-legal", "idle")}


SETTING = Setting(default_world(), RULES["paper"])


def ledger(played: StorePlan, reference: StorePlan, **more: float) -> RegretLedger:
    return regret_ledger(SETTING, NamedPlan("one", played), NamedPlan("other", reference), **more)


def assets(plan: StorePlan) -> int:
    return execute(SETTING.world, SETTING.rules, plan).year.final_fen


@pytest.fixture(scope="module")
def whole(plans) -> RegretLedger:
    return ledger(plans["rule-based"], plans["first-quote"])


def test_the_parts_sum_to_the_gap(plans, whole):
    assert len(whole.mixtures) == 64
    assert whole.gap_fen == assets(plans["first-quote"]) - assets(plans["rule-based"])
    assert sum(row.part_fen for row in whole.rows) == whole.gap_fen
    assert whole.worst_cut < 0.02


def test_first_order_values_stand_beside(plans, whole):
    two = TwoYears(SETTING, plans["rule-based"], plans["first-quote"])
    for row, stream in zip(whole.rows, Stream, strict=True):
        assert row.stream == stream
        assert row.alone_fen == assets(two.plan({stream})) - whole.played_fen
    last = assets(two.plan(set(Stream) - {Stream.SUPPLIER}))
    assert whole.rows[1].all_but_fen == whole.reference_fen - last


@pytest.mark.parametrize("name", ["rule-based", "first-quote", "random-legal", "idle"])
def test_against_itself_nothing_is_lost(plans, name):
    found = ledger(plans[name], plans[name])
    assert [row[1:] for row in found.rows] == [(0, 0, 0)] * 6
    assert len(found.mixtures) == 1


@pytest.mark.parametrize("name", [pytest.param("random-legal", marks=pytest.mark.slow), "idle"])
def test_years_without_a_common_product(plans, name):
    found = ledger(plans[name], plans["first-quote"], max_cut=1.0)
    assert sum(row.part_fen for row in found.rows) == found.gap_fen


def test_a_changed_price_paid_is_that_alone(plans):
    plan = plans["first-quote"]
    dearer = replace(plan, buys=plan.buys._replace(unit_fen=plan.buys.unit_fen * 11 // 10))
    found = ledger(dearer, plan)
    assert found.rows[0].part_fen == found.gap_fen > 0
    assert [row.part_fen for row in found.rows[1:]] == [0] * 5
    assert len(found.mixtures) == 2


def test_a_mixture_cannot_be_built_on_what_was_not_paid(plans):
    plan = plans["first-quote"]
    dear = replace(plan, buys=plan.buys._replace(unit_fen=plan.buys.unit_fen * 40))
    with pytest.raises(ValueError, match=r"with nothing of other, .* of the spending was cut"):
        ledger(dear, plan)


def first_buys(plan: StorePlan, num: int) -> StorePlan:
    return replace(plan, buys=plan.buys._make(column[:num] for column in plan.buys))


def test_a_dear_supplier_is_no_bad_bargain(plans):
    """The same goods from a fraud at the same ratio to the least it sells for: the part of the suppliers."""
    plan = first_buys(plans["first-quote"], 1)
    sku, old = int(plan.buys.sku[0]), int(plan.buys.supplier[0])
    world, rules = SETTING.world, SETTING.rules
    rows = world.suppliers_by_category[int(world.skus.category[sku])]
    fraud = next(row for row in rows if not world.suppliers[row].is_honest)
    least = [pair_terms(world, rules, row, sku).reservation for row in (old, fraud)]
    unit_fen = round(int(plan.buys.unit_fen[0]) / least[0] * least[1])
    dear = replace(plan, buys=plan.buys._replace(supplier=np.array([fraud]), unit_fen=np.array([unit_fen])))
    two = TwoYears(SETTING, dear, plan)
    back = two.plan({Stream.SUPPLIER}).buys
    assert (back.supplier.tolist(), back.unit_fen.tolist()) == ([old], plan.buys.unit_fen.tolist())
    assert two.plan({Stream.PRICE_PAID}).buys.unit_fen.tolist() == [unit_fen]
    assert Stream.SUPPLIER in two.differing


def test_goods_never_priced_have_the_ratios_of_the_nearest_of_their_category():
    """At 1.2 and then 0.9 of its reference is one of two of the category; of another category neither counts."""
    skus = SETTING.world.skus
    mine = np.flatnonzero(skus.category == skus.category[0])
    far, near, new = mine[np.argsort(skus.reference_fen[mine])][[0, -2, -1]].tolist()
    ratios = np.array([0.5, 1.2, 0.9])
    sku = np.array([far, near, near])
    fen = np.rint(ratios * skus.reference_fen[sku]).astype(np.int64)
    prices = ListPrices(order=np.array([1, 2, 3]), day=np.array([0, 1, 5]), sku=sku, fen=fen)
    made = prices_for(SETTING, np.array([new]), prices)
    assert made.day[made.sku == new].tolist() == [1, 5]
    assert made.fen[made.sku == new] / skus.reference_fen[new] == pytest.approx([1.2, 0.9], abs=1e-3)
    other = int(np.flatnonzero(skus.category != skus.category[0])[0])
    assert np.isin(other, prices_for(SETTING, np.array([other]), prices).sku)


def test_acts_of_two_years_are_in_order_of_time(plans):
    made = TwoYears(SETTING, plans["rule-based"], plans["first-quote"]).plan({Stream.CASH, Stream.SHIPPING})
    rows = [
        (int(order), int(day) * 1440 + int(minute))
        for table in (made.stores, made.buys, made.withdrawals, made.shipments)
        for order, day, minute in zip(table.order, table.day, table.minute, strict=True)
    ]
    minutes = [minute for _, minute in sorted(rows)]
    assert minutes == sorted(minutes)


def test_it_is_told_in_a_sentence_a_table_and_a_frame(whole, monkeypatch):
    frames = SimpleNamespace(DataFrame=lambda rows, columns: [dict(zip(columns, row, strict=True)) for row in rows])
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert whole.sentence.startswith("one ended ")
    assert whole.sentence in whole._repr_html_()
    assert whole.to_frame() == [row._asdict() for row in whole.rows]
    told = whole.to_json_object()
    assert len(told["mixtures"]) == 64
    assert told["gap_fen"] == whole.gap_fen


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_whole_years(rules):
    setting = Setting(default_world(), rules.model_copy(update={"num_days": 365}))
    played, reference = (NamedPlan(name, plan_of(name, setting.rules)) for name in ("rule-based", "first-quote"))
    found = regret_ledger(setting, played, reference)
    assert sum(row.part_fen for row in found.rows) == found.gap_fen


@pytest.fixture(scope="module", params=["paper", "fair"])
def planned(request) -> tuple[Setting, NamedPlan]:
    setting = Setting(default_world(), RULES[request.param].model_copy(update={"num_days": 45}))
    return setting, NamedPlan("planner", plan_of(FULL_KNOWLEDGE_PLANNER, setting.rules))


@pytest.mark.slow
@pytest.mark.parametrize("name", MERCHANTS)
def test_beside_the_planner_a_ledger_holds_or_says_why_not(planned, name):
    setting, reference = planned
    try:
        found = regret_ledger(setting, NamedPlan(name, plan_of(name, setting.rules)), reference)
    except ValueError as error:
        assert re.fullmatch(  # noqa: PT017
            r"with [a-z_ ]+ of planner, [\d.]+% of the spending was cut \(\d+ fen\); at most 2% may be", str(error)
        )
        return
    assert sum(row.part_fen for row in found.rows) == found.gap_fen
    assert found.worst_cut <= 0.02
