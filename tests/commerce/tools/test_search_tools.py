"""Research, memory and the way to suppliers."""

from __future__ import annotations

import pytest

from commerce.config import FAIR
from commerce.tools.search_tools import return_wording
from tests.commerce.builders import default_world, new_year, ok, refused


@pytest.fixture
def year():
    return new_year()


def test_three_levels_of_market_search(year):
    overview = ok(year, "market_search")
    assert len(overview["store_types"]) == 12
    beauty = ok(year, "market_search", store_type="beauty")
    assert [row["category"] for row in beauty["categories"]] == beauty["category_names"]
    assert (beauty["season_peak_month"], beauty["daily_operations_cost"]) == (3, 60.0)
    detail = ok(year, "market_search", category="Furniture")["detail"]
    assert detail["typical_gross_margin"] == "moderate"  # 1 - (0.86 + 0.73) / 2 = 0.205
    assert (detail["shipping_cost_per_unit"], detail["storage_cost_per_unit_day"]) == (3.0, 0.5)
    assert detail["platform_monthly_sales"] == [50, 100]


@pytest.mark.parametrize(
    ("category", "label"),
    [("Sneakers", "low"), ("Smartphones", "moderate"), ("Skincare & Beauty", "high"), ("Household Essentials", "low")],
)
def test_margin_labels_of_the_table(year, category, label):
    assert ok(year, "market_search", category=category)["detail"]["typical_gross_margin"] == label


def test_unknown_names_are_refused_with_the_known_ones(year):
    assert refused(year, "market_search", store_type="Beauty") == "unknown_store_type"
    assert refused(year, "list_products", category="beauty") == "unknown_category"
    assert refused(year, "market_search", store_type="pet", category="Furniture") == "wrong_store_type"


def test_the_catalogue_is_paged_to_its_end(year):
    found, page, pages = [], 1, 1
    while page <= pages:
        data = ok(year, "list_products", store_type="home_living", page=page, page_size=200)
        pages, page = data["pages"], page + 1
        found += [row["product_id"] for row in data["results"]]
    assert len(found) == len(set(found)) == data["total"]
    assert ok(year, "list_products", store_type="home_living", page=pages + 1, page_size=200)["results"] == []
    assert set(data["results"][0]) == {"product_id", "title", "category", "brand", "size", "reference_price"}


def test_supplier_search_shows_public_facts_in_a_fixed_order(year):
    one = ok(year, "supplier_search", category="Furniture")
    assert one == ok(year, "supplier_search", category="Furniture")
    assert one["total"] == 10
    assert set(one["results"][0]) == {"supplier_name", "supplier_email", "categories_served"}
    world = default_world()
    honest = [world.suppliers[world.supplier_index[row["supplier_email"]]].is_honest for row in one["results"]]
    assert honest != sorted(honest, reverse=True)


def test_products_are_found_by_title(year):
    title = default_world().skus.title[0]
    category = default_world().categories[int(default_world().skus.category[0])].name
    rows = ok(year, "supplier_search", product_name=title.upper())["results"]
    assert all(row["categories_served"] == [category] for row in rows)
    assert ok(year, "supplier_search", product_name="no such product")["total"] == 0


def test_wording_of_returns():
    furniture = default_world().categories[default_world().category_index["Lighting"]]
    assert return_wording(furniture, new_year().setting.rules) == "very low return risk"  # and 20 to 35 % come back
    assert return_wording(furniture, FAIR) == "elevated return risk"


def test_memory(year):
    ok(year, "operate_memory", action="add", title="a", content="1")
    assert refused(year, "operate_memory", action="add", title="a", content="2") == "title_exists"
    assert ok(year, "operate_memory", action="update", title="a", content="2")["content"] == "2"
    assert ok(year, "operate_memory", action="get", title="a")["content"] == "2"
    assert refused(year, "operate_memory", action="get", title="b") == "unknown_title"
    for i in range(19):
        ok(year, "operate_memory", action="add", title=f"m{i}", content="x")
    assert refused(year, "operate_memory", action="add", title="z", content="x") == "too_many_memos"
    ok(year, "operate_memory", action="delete", title="a")
    assert ok(year, "operate_memory", action="list")["total_memos"] == 19


def test_messages_to_nobody_are_refused(year):
    assert refused(year, "chatbox", uids=["nobody@nowhere"]) == "unknown_supplier"
    email = default_world().suppliers[0].email
    move = {"action": "reject", "sku_id": "nope"}
    assert refused(year, "chatbox", uids=[email], actions=[move]) == "unknown_product"
    assert len(ok(year, "chatbox", uids=[email, email], content="hello")["replies"]) == 1
