"""Worlds from folders: a round trip, and every way a row can be bad."""

from __future__ import annotations

import json
import re

import pytest

from commerce.world import generate_world, load_world, world_files
from tests.commerce.builders import default_world


@pytest.fixture
def folder(tmp_path):
    for name, text in world_files(default_world()).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def edit(folder, file, old, new, count=1):
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, count), encoding="utf-8")


def test_round_trip(folder):
    loaded = load_world(folder)
    assert loaded.problems == ()
    assert loaded.world.digest == default_world().digest


def test_round_trip_of_a_held_out_world(tmp_path):
    world = generate_world(5)
    for name, text in world_files(world).items():
        (tmp_path / name).write_text(text, encoding="utf-16")
    assert load_world(tmp_path, 5).world.digest == world.digest


def first_row(folder, file):
    return (folder / file).read_text(encoding="utf-8").split("\n")[1]


@pytest.mark.parametrize(
    ("file", "pattern", "new", "says"),
    [
        ("products.csv", r",(Small|Medium|Large|XLarge),", ",Tiny,", "size='Tiny'"),
        ("products.csv", r"(\d+\.\d\d),", "nan,", "reference_price='nan'"),
        ("products.csv", r"(\d+\.\d\d),", "-3,", "reference_price='-3'"),
        ("products.csv", r",0\.\d+$", ",1.5", "return_rate='1.5'"),
        ("products.csv", r"^(\w+),[^,]*,", r"\1,No Such Category,", "category='No Such Category' is unknown"),
        ("products.csv", r"$", ",stray", "fields, the header has"),
        ("suppliers.csv", r",bad,", ",good,", "does not go with fraud_type=fake_urgency"),
        ("suppliers.csv", r",\d+$", ",0", "bankruptcy_threshold='0'"),
        ("category_params.csv", r",(linear|exponential|constant_elasticity|quadratic),", ",cubic,", "'cubic'"),
        ("events.csv", r",\d\d-\d\d,", ",02-30,", "02-30"),
        ("events.csv", r",\d\d-\d\d,", ",1 Feb,", "a date has the form MM-DD"),
        ("promotions.csv", r"\d\d-\d\d:\d\d-\d\d", "01-07:01-01", "ends before it starts"),
        ("promotions.csv", r"\d\d-\d\d:\d\d-\d\d", "01-07", "MM-DD:MM-DD"),
        ("store_types.csv", r"^\w+,", "space_station,", "store_type_id='space_station' is unknown"),
    ],
)
def test_a_bad_row_is_left_out_and_reported(folder, file, pattern, new, says):
    row = first_row(folder, file)
    spoiled = re.sub(pattern, new, row, count=1)
    assert spoiled != row
    edit(folder, file, row, spoiled)
    problems = load_world(folder).problems
    assert (problems[0].file, problems[0].row) == (file, 1)
    assert says in problems[0].reason


def test_rows_that_hang_on_a_bad_row_are_reported_too(folder):
    row = first_row(folder, "category_params.csv")
    name = row.split(",")[0]
    edit(folder, "category_params.csv", row, row.replace(",Small,", ",Tiny,").replace(",Medium,", ",Tiny,"))
    loaded = load_world(folder)
    num_products = sum(name == default_world().categories[c].name for c in default_world().skus.category)
    reasons = [problem.reason for problem in loaded.problems]
    assert sum(reason == f"category={name!r} is unknown" for reason in reasons) == num_products
    assert len(loaded.world.categories) == 59
    assert len(loaded.world.skus.sku_id) == 6886 - num_products


def test_duplicates_are_reported(folder):
    row = first_row(folder, "products.csv")
    edit(folder, "products.csv", row, row + "\n" + row)
    (problem,) = load_world(folder).problems
    assert problem.row == 2
    assert "already read" in problem.reason


def test_event_effects_must_be_json_about_known_store_types(folder):
    text = (folder / "events.csv").read_text(encoding="utf-8")
    (folder / "events.csv").write_text(text.replace("food_beverage", "food", 1), encoding="utf-8")
    assert "store type='food' is unknown" in load_world(folder).problems[0].reason
    (folder / "events.csv").write_text(text.replace('"{""food', '"{food', 1), encoding="utf-8")
    assert "not JSON" in load_world(folder).problems[0].reason


def test_what_cannot_be_read_at_all_raises(folder):
    (folder / "products.csv").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ValueError, match="neither UTF-8 nor UTF-16"):
        load_world(folder)
    (folder / "products.csv").unlink()
    with pytest.raises(ValueError, match="missing"):
        load_world(folder)


def test_semicolons_and_a_byte_order_mark(folder):
    text = (folder / "store_types.csv").read_text(encoding="utf-8")
    (folder / "store_types.csv").write_text(text.replace(",", ";"), encoding="utf-8-sig")
    assert load_world(folder).world.digest == default_world().digest


def test_supplier_addresses_are_made_anew(folder):
    """The public addresses carry the roster number, and the last numbers of each category are the fraudulent ones."""
    text = (folder / "suppliers.csv").read_text(encoding="utf-8")
    (folder / "suppliers.csv").write_text(
        re.sub(r"[\w.]+@wholesale\.example", "x.sup-0001@leak", text), encoding="utf-8"
    )
    assert load_world(folder).world.digest == default_world().digest
    assert json.dumps(world_files(load_world(folder).world)) == json.dumps(world_files(default_world()))
