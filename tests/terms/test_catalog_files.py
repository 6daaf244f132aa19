"""Files as people have them: shop exports and marketplace samples, mapped columns, and 200 spoiled ones."""

from __future__ import annotations

import csv
import re

import pytest

from terms.catalog import DroppedRow, catalog_suite, load_catalog
from terms.catalog_columns import parse_columns
from terms.catalog_rows import MAX_FIELD
from terms.scenario import Product
from tests.terms.hostile_files import GOOD, HEADER, hostile_files

FILES = hostile_files()


def save(folder, content, name="items.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_there_are_200_hostile_files():
    assert len(FILES) >= 200
    assert len({file.content for file in FILES}) >= 200


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name}")
def test_a_hostile_file_is_one_clear_line_or_counted_rows(tmp_path, file):
    path = save(tmp_path, file.content, file.name)
    try:
        catalog = load_catalog(path)
    except ValueError as error:
        message = str(error)
        assert message.isprintable(), "one line, no control characters"
        assert len(message) < 1000
        assert str(path) in message
        return
    assert catalog.num_read == len(catalog.products) + sum(catalog.dropped_by_reason.values())
    assert catalog.products
    for product in catalog.products:
        assert f"{product.name}{product.category}{product.details}".encode()  # no lone surrogate
        assert "\0" not in product.name
        assert 0 < product.low_price <= product.reference_price <= product.high_price < float("inf")
    for row in catalog.dropped:
        assert len(row.detail) < 300


# Columns as the export of each system names them, in their order; only those that are read have values.
SHOPIFY = (
    "Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Variant SKU,"
    "Variant Grams,Variant Inventory Qty,Variant Price,Variant Compare At Price,Image Src,Price / International,Status"
    "\n"
    "lamp,Lamp,<p>A <b>bright</b> lamp</p>,Us,Home & Garden > Lighting > Lamps,Lamps,,TRUE,,,,,3,39.00,52.00,,,active\n"
    "lamp,,,,,,,,,,,,,,,https://example.org/2.jpg,,\n"
    "desk,Desk,,Us,,Desks,,TRUE,,,,,3,120,,,,active\n"
)
SHOPIFY_NEW = (
    "Title,URL handle,Description,Vendor,Product category,Type,SKU,Price,Compare-at price,Cost per item,Status\n"
    "Lamp,lamp,,Us,,Lamps,,39.00,52.00,20,Active\n"
)
WOOCOMMERCE = (
    "ID,Type,SKU,Name,Published,Short description,Description,In stock?,Sale price,Regular price,Categories,Tags\n"
    '7,simple,L1,Lamp,1,Bright,"Long, long",1,39,52,"Home > Lighting",new\n'
    "8,variable,D1,Desk,1,,,1,,,Home,\n"
)
FLIPKART = (
    "uniq_id,crawl_timestamp,product_url,product_name,product_category_tree,pid,retail_price,discounted_price,image,"
    "is_FK_Advantage_product,description,product_rating,overall_rating,brand,product_specifications\n"
    'a1,2016,u,Lamp,"[""Home Decor >> Lighting >> Lamps""]",P1,999,379,[],false,Bright,4,4,Us,{}\n'
)
AMAZON_INDIA = (
    "product_id,product_name,category,discounted_price,actual_price,discount_percentage,rating,rating_count,"
    "about_product,user_id\n"
    'B0,Laptop,Computers&Accessories|Laptops,"₹1,099","₹1,09,900",90%,4.2,"24,269",Fast,U\n'
)
MARKETPLACE = (
    "Uniq Id,Crawl Timestamp,Product Url,Product Name,Description,List Price,Sale Price,Brand,Item Number,Category\n"
    "x,2019,u,Lamp,Bright,52.0,39.0,Us,1,Home | Lighting\n"
)
LAMP = Product("Lamp", "Lamps", 39.0, 39.0, 52.0)


@pytest.mark.parametrize(
    ("text", "product", "dropped"),
    [
        (SHOPIFY, Product("Lamp", "Home & Garden", 39.0, 39.0, 52.0, "A bright lamp"),
         [(2, "empty field", "name"), (3, "empty field", "high_price")]),
        (SHOPIFY_NEW, LAMP, []),
        (WOOCOMMERCE, Product("Lamp", "Home", 39.0, 39.0, 52.0, "Bright"), [(2, "empty field", "reference_price")]),
        (FLIPKART, Product("Lamp", "Home Decor", 379.0, 379.0, 999.0, "Bright"), []),
        (AMAZON_INDIA, Product("Laptop", "Computers&Accessories", 1099.0, 1099.0, 109900.0, "Fast"), []),
        (MARKETPLACE, Product("Lamp", "Home", 39.0, 39.0, 52.0, "Bright"), []),
    ],
    ids=["shopify", "shopify new", "woocommerce", "flipkart", "amazon india", "marketplace"],
)  # fmt: skip
def test_common_exports_are_recognised(tmp_path, text, product, dropped):
    catalog = load_catalog(save(tmp_path, text))
    assert catalog.products == (product,)
    assert catalog.dropped == tuple(DroppedRow("items.csv", *row) for row in dropped)


FOREIGN = "Artikel;Preis;Alter Preis;Gruppe\nLampe;39,00;52,00;Haus\nTisch;120,50;;Haus\n"


def test_a_foreign_file_is_mapped(tmp_path):
    path = save(tmp_path, FOREIGN)
    columns = parse_columns("name=Artikel, price=Preis, low_price=Preis, high_price=alter preis, category=Gruppe")
    catalog = load_catalog(path, columns)
    assert catalog.products == (Product("Lampe", "Haus", 39.0, 39.0, 52.0),)
    assert catalog.dropped_by_reason == {"empty field": 1}
    shares = load_catalog(path, parse_columns("name=Artikel,price=Preis,low_price=80%,high_price=125%")).products
    assert shares[1] == Product("Tisch", "items", 120.5, 0.8 * 120.5, 1.25 * 120.5)


def test_a_mapped_field_goes_before_a_recognised_one(tmp_path):
    catalog = load_catalog(save(tmp_path, SHOPIFY), {"high_price": "150%"})
    assert [product.high_price for product in catalog.products] == [58.5, 180.0]


def test_missing_columns_are_one_message_that_names_those_found_and_needed(tmp_path):
    path = save(tmp_path, "Artikel;Preis\n" + "Lampe;39\n" * 20_000)
    with pytest.raises(ValueError, match="has no column for") as caught:
        load_catalog(path)
    assert str(caught.value) == (
        f"{path} has no column for name, reference_price, low_price, high_price; columns found: Artikel, Preis; "
        "needed are name, reference_price, low_price, high_price; name them with columns, such as "
        "name=Title,price=Amount,low_price=80%,high_price=120%"
    )
    with pytest.raises(ValueError, match="has no column for high_price; columns found: Handle, Title, Price"):
        load_catalog(save(tmp_path, "Handle,Title,Price\nlamp,Lamp,50\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name=Titel", "columns has name=Titel, but .* has the columns Artikel, Preis, Alter Preis, Gruppe"),
        ("nom=Artikel", "columns has the field 'nom', which is none of name, reference_price, low_price, high_price"),
        ("name", "columns has 'name'; needed is field=column"),
        ("name=", "columns has 'name='; needed is"),
        ("", "columns has ''; needed is"),
        ("price=Preis,reference_price=Preis", "columns names reference_price twice"),
        ("price=80%", "columns has reference_price=80%; a share is possible for low_price and high_price alone"),
    ],
)
def test_a_wrong_mapping_is_named(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        load_catalog(save(tmp_path, FOREIGN), parse_columns(text))


@pytest.mark.parametrize("mark", ["", '"'])
def test_a_field_that_is_too_long_costs_its_row_and_no_other(tmp_path, mark):
    long = f"{mark}{'x' * (MAX_FIELD + 1)}{mark},home,50,40,80,x\n"
    limit = csv.field_size_limit()
    catalog = load_catalog(save(tmp_path, GOOD + long + "Bed,home,50,40,80,x\n"))
    assert [product.name for product in catalog.products][-1] == "Bed"
    (row,) = catalog.dropped
    assert (row.row, row.reason) == (7, "field too long")
    assert re.match(r"131073 characters; at most 131072 are read", row.detail)
    assert csv.field_size_limit() == limit
    assert load_catalog(save(tmp_path, GOOD + long.replace("x" * 2, "x", 1))).num_read == 7


def test_a_wide_export_of_five_thousand_rows_is_read_whole(tmp_path):
    rows = "".join(f"h{i},Lamp {i},,Us,Home > L{i % 50},,,TRUE,,,,,3,39,{50 + i},,,active\n" for i in range(5_000))
    catalog = load_catalog(save(tmp_path, SHOPIFY.splitlines()[0] + "\n" + rows))
    assert len(catalog.products) == 5_000


def test_utf_16_without_a_mark_is_read(tmp_path):
    for encoding in ("utf-16-le", "utf-16-be"):
        assert len(load_catalog(save(tmp_path, GOOD.encode(encoding))).products) == 6


def test_an_empty_catalogue_says_what_was_dropped(tmp_path):
    with pytest.raises(ValueError, match=r"no usable row; dropped: \{'empty field': 2\}"):
        load_catalog(save(tmp_path, HEADER + ",home,50,40,80,x\n" * 2))


BOUNDED = "name,category,reference_price,low_price,high_price,category_low,category_high\n"


def test_a_category_has_the_bounds_its_rows_state(tmp_path):
    path = save(
        tmp_path, BOUNDED + "A,x,10,9,12,1,100\nB,x,50,40,60,,\nC,y,5,4,6,,\nD,x,150,140,160,,\nE,x,10,9,12,1,?\n"
    )
    catalog = load_catalog(path)
    assert catalog.bounds == {"x": (1.0, 100.0)}
    assert [row.reason for row in catalog.dropped] == ["outside the bounds of its category", "unreadable price"]
    suite = catalog_suite(catalog, ["overlap"], ["candid"], n_per_cell=8)
    found = {each.product.name: (each.price_min, each.price_max) for each in suite}
    assert found == {"A": (1.0, 100.0), "B": (1.0, 100.0), "C": (4.0, 6.0)}


def test_columns_of_bounds_can_be_named(tmp_path):
    path = save(tmp_path, "name,price,low price,high price,floor,roof\nA,10,9,12,1,100\n")
    assert load_catalog(path).bounds == {}
    assert load_catalog(path, parse_columns("category_low=floor,category_high=roof")).bounds == {"items": (1, 100)}


@pytest.mark.parametrize("second", ["1,90", "2,100"])
def test_bounds_that_disagree_are_refused(tmp_path, second):
    path = save(tmp_path, BOUNDED + f"A,x,10,9,12,1,100\nB,x,50,40,60,{second}\n")
    with pytest.raises(ValueError, match=r"category='x' is stated to lie in \[1.0, 100.0\] and in"):
        load_catalog(path)


def test_bounds_without_room_drop_the_row(tmp_path):
    path = save(tmp_path, BOUNDED + "A,x,10,9,12,100,1\nB,y,50,40,60,,\n")
    assert load_catalog(path).dropped_by_reason == {"no price spread": 1}
