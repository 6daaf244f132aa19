"""Pages: what a column says is what the rows say, and both are as they were when the call was answered."""

from __future__ import annotations

import hashlib
import json
import random

import pytest

from commerce.config import PAPER, RULE_SETS
from commerce.merchants import build_merchant
from commerce.replay import result_digest
from commerce.tools.pages import DERIVED_COLUMNS, TablePage, bounds, read_columns, told
from commerce.year import Result, Year
from tests.commerce.builders import default_world
from tests.commerce.fuzzing import Fuzzer

COLUMNS = {"check_warehouse": ("items", ("product_id", "unlisted", "on_hand", "unit_days")),
           "check_store_status": ("products", ("product_id", "quantity", "yesterday_sold"))}  # fmt: skip


def looks(*, at_once: bool) -> list[tuple[str, Result, str]]:
    """Return every page that a merchant looked at, with its text: read when it was answered, or when all was over."""
    world, rules = default_world(), PAPER.model_copy(update={"num_days": 40})
    year, found = Year(world, rules), list[tuple[str, Result]]()

    def call(tool, arguments):
        result = year.call(tool, arguments)
        if tool in COLUMNS:
            found.append((tool, result))
            assert not at_once or result.data is not None
        return result

    build_merchant("rule-based", world, rules)(call)
    return [(tool, result, json.dumps(result.data)) for tool, result in found]


def test_columns_are_those_of_the_rows():
    num = 0
    for tool, result, _ in looks(at_once=False):
        part, names = COLUMNS[tool]
        for name, one in result.answer.items():
            if isinstance(one, TablePage):
                assert one.written() == json.dumps(result.data[name], sort_keys=True, separators=(",", ":"))
        page = result.answer.get(part)
        if page is not None:
            assert isinstance(page, TablePage)
            assert read_columns(page, names) == read_columns(result.data[part], names)
            num += len(page.rows)
    assert num > 500


def test_rows_made_late_are_those_of_the_moment_of_the_call():
    early, late = ([text for _, _, text in looks(at_once=at_once)] for at_once in (True, False))
    assert len(early) > 50
    assert early == late


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_the_digest_of_an_answer_is_that_of_its_json(rules):
    year, part = Year(default_world(), rules), 0
    fuzzer = Fuzzer(year, random.Random(8))
    for _ in range(400):
        result = year.call(*fuzzer.call())
        text = json.dumps(result.to_json_object(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        assert result_digest(result) == hashlib.sha256(text.encode()).hexdigest()[:16]
        part += result.ok
    assert part > 100


def test_pages_of_a_table():
    rows = [{"n": n} for n in range(7)]
    pages = [TablePage(lambda page=page: rows[bounds(page, 3)], page, 3, len(rows)) for page in (1, 2, 3, 4)]
    assert [page.column("n") for page in pages] == [[0, 1, 2], [3, 4, 5], [6], []]
    assert {page.pages for page in pages} == {3}
    assert TablePage(list, 1, 3, 0).to_json_object() == {"results": [], "page": 1, "pages": 1, "total": 0}
    assert told(None) is None
    assert told({"a": 1, "b": pages[2]}) == {"a": 1, "b": pages[2].to_json_object()}


def test_a_derived_column_follows_from_the_row():
    row = {"lots": [{"age_days": 3, "units": 2}, {"age_days": 0, "units": 5}]}
    assert DERIVED_COLUMNS["unit_days"](row) == 6
    assert read_columns({"results": [row]}, ["unit_days"]) == [[6]]
