"""Catalogues: dirty rows reported with their reason, geometry scaled to the item, real data where it is laid."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import terms
from terms.agents import build_scripted
from terms.catalog import DETAILS_LENGTH, MIN_SPREAD, DroppedRow, catalog_suite, load_catalog
from terms.scenario import Product
from terms.types import Regime, Role

HEADER = "name,category,reference_price,low_price,high_price,details\n"
GOOD = "Lamp,home,50,40,80,bright\n"


def save(folder, text, name="items.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def test_columns_are_read(tmp_path):
    catalog = load_catalog(save(tmp_path, HEADER + GOOD))
    assert catalog.products == (Product("Lamp", "home", 50.0, 40.0, 80.0, "bright"),)
    assert (catalog.dropped, catalog.num_read, catalog.dropped_by_reason) == ((), 1, {})


def test_the_layout_of_amazon_history_price_is_read(tmp_path):
    row = {
        "title": "Écran 24\u2033", "average_price": "$1,299.00", "lowest_price": 999, "highest_price": "1499.50",
        "description": " wide \n  screen ", "rating": 5,
    }  # fmt: skip
    catalog = load_catalog(save(tmp_path, json.dumps([row], ensure_ascii=False), "monitors.json"))
    assert catalog.products == (Product("Écran 24\u2033", "monitors", 1299.0, 999.0, 1499.5, "wide screen"),)


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        (",home,50,40,80,x", "empty field", "name"),
        ("Lamp,home,,40,80,x", "empty field", "reference_price"),
        ("Lamp,home,50, ,80,x", "empty field", "low_price"),
        ("Lamp,home,about 50,40,80,x", "unreadable price", "reference_price='about 50'"),
        ("Lamp,home,50,-40,80,x", "unreadable price", "low_price='-40'"),
        ("Lamp,home,50,40,1000000000001,x", "unreadable price", "high_price='1000000000001'"),
        ("Lamp,home,50,40,nan,x", "unreadable price", "high_price='nan'"),
        ("Lamp,home,50,80,80,x", "no price spread", "low_price=80.0, high_price=80.0"),
        ("Lamp,home,1.200,40,80,x", "unreadable price", "reference_price='1.200'"),
        ("Lamp,home,50,50,50.00000001,x", "no price spread", "low_price=50.0, high_price=50.00000001"),
        ("Lamp,home,50,0,80,x", "no price spread", "low_price=0.0, high_price=80.0"),
        ("Lamp,home,39.99,40,80,x", "reference outside low and high", "reference_price=39.99 not in [40.0, 80.0]"),
        ("Lamp,home,80.01,40,80,x", "reference outside low and high", "reference_price=80.01 not in [40.0, 80.0]"),
        ("Desk,home,50,40,80,again", "duplicate", "name='Desk' already read"),
        ("Lamp,home,50,40,80", "ragged row", "5 fields, the header has 6"),
        ("Lamp,home,1,50,40,80,x", "ragged row", "7 fields, the header has 6"),
    ],
)
def test_a_dropped_row_is_listed_with_its_reason(tmp_path, row, reason, detail):
    catalog = load_catalog(save(tmp_path, f"{HEADER}Desk,home,50,40,80,x\n{row}\n{GOOD}"))
    assert [product.name for product in catalog.products] == ["Desk", "Lamp"]
    assert catalog.dropped == (DroppedRow("items.csv", 2, reason, detail),)
    assert catalog.dropped_by_reason == {reason: 1}
    assert catalog.num_read == 3


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (45, "ragged row"),
        (None, "ragged row"),
        ({"name": "L", "reference_price": True, "low_price": 1, "high_price": 2}, "unreadable price"),
        ({"name": "L", "reference_price": 10**400, "low_price": 1, "high_price": 2}, "unreadable price"),
        ({"name": "L", "reference_price": float("nan"), "low_price": 1, "high_price": 2}, "unreadable price"),
        ({"name": "L", "reference_price": [1], "low_price": 1, "high_price": 2}, "unreadable price"),
        ({"name": None, "reference_price": 1, "low_price": 1, "high_price": 2}, "empty field"),
        ({}, "empty field"),
    ],
)
def test_json_rows_that_are_no_items_are_dropped(tmp_path, row, reason):
    good = {"name": "G", "category": "c", "reference_price": 1.5, "low_price": 1, "high_price": 2}
    catalog = load_catalog(save(tmp_path, json.dumps([row, good]), "items.json"))
    assert [(dropped.row, dropped.reason) for dropped in catalog.dropped] == [(1, reason)]
    assert len(catalog.products) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_encodings_and_separators(tmp_path, encoding, delimiter):
    text = (HEADER + GOOD).replace(",", delimiter)
    catalog = load_catalog(save(tmp_path, text, encoding=encoding))
    assert catalog.products == (Product("Lamp", "home", 50.0, 40.0, 80.0, "bright"),)


def test_quoted_fields_hold_separators_and_lines(tmp_path):
    text = HEADER + '"Lamp, tall",home,"1,250.00","1,000","1,500","two\nlines"\n'
    assert load_catalog(save(tmp_path, text)).products[0] == Product(
        "Lamp, tall", "home", 1250.0, 1000.0, 1500.0, "two lines"
    )


def test_long_details_are_cut(tmp_path):
    catalog = load_catalog(save(tmp_path, f"{HEADER}Lamp,home,50,40,80,{'x' * 1000}\n"))
    assert len(catalog.products[0].details) == DETAILS_LENGTH


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("items.txt", "x", "not a .csv or .json file"),
        ("items.json", "{", "is not JSON"),
        ("items.json", '{"name": 1}', "holds a dict; a list of objects is needed"),
        ("items.csv", b"\xff\x00\x81", "neither UTF-8 nor UTF-16"),
        ("items.csv", "", "has no usable row; dropped: nothing read"),
        ("items.csv", HEADER, "has no usable row; dropped: nothing read"),
        ("items.csv", HEADER + "Lamp,home,,40,80,x\n", "has no usable row; dropped: {'empty field': 1}"),
    ],
)
def test_unusable_files_are_refused(tmp_path, name, content, said):
    with pytest.raises(ValueError, match=said.replace("{", r"\{").replace(".", r"\.")):
        load_catalog(save(tmp_path, content, name))


def test_a_missing_path_is_an_error_that_names_it(tmp_path):
    with pytest.raises((ValueError, OSError), match=r"none\.csv"):
        load_catalog(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="a folder that holds one"):
        load_catalog(tmp_path)


def test_a_folder_is_read_in_order_and_hashed(tmp_path):
    save(tmp_path, HEADER + "B,home,50,40,80,x\n", "b.csv")
    save(tmp_path, HEADER + "A,,50,40,80,x\n", "a.csv")
    save(tmp_path, "ignored", "notes.txt")
    catalog = load_catalog(tmp_path)
    assert [(product.name, product.category) for product in catalog.products] == [("A", "a"), ("B", "home")]
    assert list(catalog.by_category) == ["a", "home"]
    before = catalog.digest
    save(tmp_path, HEADER + "B,home,50,40,81,x\n", "b.csv")
    assert load_catalog(tmp_path).digest != before


ITEMS = HEADER + "".join(
    f"{name},{category},{reference},{low},{high},x\n"
    for name, category, reference, low, high in [
        ("a1", "a", 50, 40, 80), ("a2", "a", 90, 30, 100), ("a3", "a", 41, 40, 60), ("b1", "b", 1500, 1000, 2000),
    ]
)  # fmt: skip


@pytest.fixture
def items(tmp_path):
    return save(tmp_path, ITEMS)


def test_reservations_lie_on_the_items_spread_inside_the_categorys_bounds(items):
    for scenario in catalog_suite(items, n_per_cell=3, seed=5):
        product = scenario.product
        low, high = (30.0, 100.0) if product.category == "a" else (1000.0, 2000.0)
        assert (scenario.price_min, scenario.price_max) == (low, high)
        spread = product.high_price - product.low_price
        start = min(max(product.reference_price - spread / 2, low), high - spread)
        for side in (scenario.agent_type, scenario.counterpart_type):
            assert start - 1e-9 <= side.reservation_price <= start + spread + 1e-9
        width = abs(scenario.zopa) / spread
        bounds = (0.05, 0.30) if scenario.regime is Regime.NO_DEAL else (0.10, 0.40)
        assert bounds[0] - 1e-12 <= width <= bounds[1] + 1e-12
        assert (scenario.zopa < 0) == (scenario.regime is Regime.NO_DEAL)


def test_categories_first_then_items(items):
    names = [scenario.product.name for scenario in catalog_suite(items, n_per_cell=10)]
    assert set(names) == {"a1", "a2", "a3", "b1"}
    assert abs(names.count("b1") / len(names) - 0.5) < 4 * np.sqrt(0.25 / len(names))  # not 1 in 4


def test_the_same_draws_as_a_fresh_suite_on_another_frame(items):
    fresh = terms.fresh_suite(9, n_per_cell=1)
    for one, other in zip(fresh, catalog_suite(items, seed=9, n_per_cell=1), strict=True):
        assert one.noise == other.noise
        assert one.counterpart_type.urgency == other.counterpart_type.urgency
        spread = other.product.high_price - other.product.low_price
        assert one.zopa / 100 == pytest.approx(other.zopa / spread, abs=1e-12)


def test_a_catalogue_episode_alone_equals_the_one_in_the_suite(items):
    full = {scenario.scenario_id: scenario for scenario in catalog_suite(items, n_per_cell=2, seed=1)}
    for scenario in catalog_suite(items, regimes=["overlap"], families=["candid"], n_per_cell=1, seed=1):
        twin = full[scenario.scenario_id]
        assert (scenario.product, scenario.noise, scenario.agent_type) == (twin.product, twin.noise, twin.agent_type)


def test_the_agent_sees_the_product_and_no_rule_is_broken(items):
    seen = []

    def watching(observation):
        seen.append(observation.to_json_object()["side_info"])
        return build_scripted("patient").act(observation)

    for scenario in catalog_suite(items, families=["expressive"], n_per_cell=1):
        record = terms.play(scenario, watching)
        assert record.product_name == scenario.product.name
        assert record.violations == () or {v.kind for v in record.violations} == {"turn_budget"}
    assert seen[0]["product"].keys() == {
        "name", "category", "reference_price", "historic_low", "historic_high", "details",
    }  # fmt: skip


@pytest.mark.parametrize(("n", "seed"), [(0, 1), (1, -1)])
def test_wrong_requests_are_refused(items, n, seed):
    with pytest.raises(ValueError, match=r"n_per_cell|seed"):
        catalog_suite(items, n_per_cell=n, seed=seed)


@pytest.mark.shared
def test_amazon_history_price_loads_and_plays(shared_dir):
    catalog = load_catalog(shared_dir / "data/amazon_history_price")
    assert catalog.num_read == 930  # README of the data: 930 items in 18 files
    assert len(catalog.by_category) <= 18
    assert len(catalog.products) + sum(catalog.dropped_by_reason.values()) == 930
    suite = catalog_suite(shared_dir / "data/amazon_history_price", n_per_cell=1)
    records = [terms.play(scenario, build_scripted("fixed-0.30")) for scenario in suite]
    assert {record.agent_role for record in records} == set(Role)
    assert terms.metrics.summarize(records).overall["agr_plus"].estimate > 0.9


def test_a_decoy_in_the_header_does_not_choose_the_separator(tmp_path):
    text = 'name;"size, colour, weight, age, origin";reference_price;low_price;high_price\nLamp;x;50;40;80\n'
    assert load_catalog(save(tmp_path, text)).products[0].high_price == 80.0


def test_a_quote_left_open_is_suspected_where_rows_vanish_into_one(tmp_path):
    catalog = load_catalog(save(tmp_path, HEADER + GOOD + '"Desk,home,50,40,80,x\nBed,home,50,40,80,x\n'))
    (dropped,) = catalog.dropped
    assert dropped.detail == "1 fields, the header has 6, over 2 lines: is a quote left open?"


def test_names_of_files_are_read_whatever_their_case_and_folders_are_no_files(tmp_path):
    save(tmp_path, HEADER + GOOD, "ITEMS.CSV")
    (tmp_path / "old.csv").mkdir()
    assert load_catalog(tmp_path).num_read == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("items.json", "[" * 100_000, r"items\.json is not JSON"),
        ("items.json", '[{"name": "L", "low_price": ' + "9" * 5000 + "}]", r"items\.json is not JSON"),
    ],
    ids=["deep", "digits"],
)
def test_hostile_files_are_refused_by_name(tmp_path, name, content, said):
    with pytest.raises(ValueError, match=said):
        load_catalog(save(tmp_path, content, name))


PATIENT = build_scripted("patient")
PRICE_TRIPLES = (
    st.lists(st.floats(1e-6, 1e12), min_size=3, max_size=3)
    .map(sorted)
    .filter(lambda prices: prices[2] - prices[0] > 2 * MIN_SPREAD * prices[2])
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PRICE_TRIPLES, min_size=1, max_size=4))
def test_prices_of_any_size_stay_inside_the_categorys_bounds(tmp_path, triples):
    rows = [
        {"name": str(i), "reference_price": reference, "low_price": low, "high_price": high}
        for i, (low, reference, high) in enumerate(triples)
    ]
    suite = catalog_suite(save(tmp_path, json.dumps(rows), "items.json"), n_per_cell=1)
    bounds = min(low for low, _, _ in triples), max(high for _, _, high in triples)
    for scenario in suite:
        assert (scenario.price_min, scenario.price_max) == bounds
        for side in (scenario.agent_type, scenario.counterpart_type):
            assert bounds[0] <= side.reservation_price <= bounds[1]
        spread = scenario.product.high_price - scenario.product.low_price
        assert abs(scenario.zopa) <= 0.4 * spread + 4 * np.spacing(bounds[1])
        critical = [breach for breach in terms.play(scenario, PATIENT).violations if breach.kind.is_critical]
        assert critical == [], "no price is pushed past a limit by rounding"
