from __future__ import annotations

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.storage import journal
from experiments.storage.journal import DamagedJournalError, JournalWriter, encode_line, read_journal
from terms.strict_json import strict_dumps, strict_loads

ROWS = [{"id": "a", "price": 45.5}, {"id": "b\u2028c\x85d\re\x0bf\n", "price": None}, {"id": "ü", "price": -0.0}]
SEPARATORS = "\u2028\u2029\x85\x0b\x0c\r\n\x1c\x1d\x1e\0"
TEXT = st.text(st.one_of(st.sampled_from(SEPARATORS), st.characters(codec=None)), max_size=6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**20), 10**20)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(TEXT, VALUES, max_size=3), min_size=1, max_size=4)
FEW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl"


def write(path, rows):
    with JournalWriter(path) as log:
        log.append(*rows)
    return path.read_bytes()


def test_a_missing_and_an_empty_file_hold_nothing(path):
    assert read_journal(path)[:2] == ([], 0)
    path.touch()
    assert read_journal(path)[:2] == ([], 0)


@FEW
@given(OBJECTS)
def test_rows_come_back_as_written(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.unlink(missing_ok=True)
    data = write(path, rows)
    assert read_journal(path)[:2] == (rows, 0)
    assert data.count(b"\n") == len(data.splitlines()) == len(rows), "a separator inside a string split a line"


@pytest.mark.parametrize("tail", [b"", b"\0" * 512], ids=["truncated", "with a NUL block"])
def test_a_line_torn_at_any_byte_is_dropped_and_written_again(path, tail):
    data = write(path, ROWS)
    last = len(data.splitlines(keepends=True)[-1])
    for kept in range(last):
        torn = data[: len(data) - last + kept] + tail
        path.write_bytes(torn)
        assert read_journal(path)[:2] == (ROWS[:-1], kept + len(tail))
        assert write(path, [ROWS[-1]]) == data


def test_nul_bytes_after_the_last_newline_are_no_row(path):
    data = write(path, ROWS)
    path.write_bytes(data + b"\0" * 4096)
    assert read_journal(path)[:2] == (ROWS, 4096)


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80, 0xFF, None], ids=str)
def test_a_changed_byte_anywhere_is_found(path, mask):
    data = write(path, ROWS)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] = 0x0A if mask is None else changed[position] ^ mask
        if changed == data:
            continue
        path.write_bytes(changed)
        if position == len(data) - 1:  # without its newline the last line counts as torn
            assert read_journal(path)[:2] == (ROWS[:-1], len(encode_line(ROWS[-1])))
        else:
            with pytest.raises(DamagedJournalError, match=r"log\.jsonl, line \d+: the checksum does not match"):
                read_journal(path)


def test_a_removed_and_a_swapped_digit_are_found_although_the_number_reads_the_same(path):
    line = encode_line({"price": 45.5}).replace(b"45.5", b"45.50")
    path.write_bytes(line)
    with pytest.raises(DamagedJournalError):
        read_journal(path)


def fail_after(monkeypatch, num_bytes, error):
    """Let ``os.write`` take ``num_bytes`` more and then raise ``error``."""
    real, left = os.write, [num_bytes]

    def limited(file, data):
        if left[0] == 0:
            raise error
        done = real(file, data[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr(journal.os, "write", limited)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_nothing_half_written_stays_when_an_append_is_cut_short(path, monkeypatch, error):
    data = write(path, ROWS[:1])
    for room in range(len(encode_line(ROWS[1])) + len(encode_line(ROWS[2]))):
        with JournalWriter(path) as log, monkeypatch.context() as patch:
            fail_after(patch, room, error)
            with pytest.raises(type(error)):
                log.append(*ROWS[1:])
        assert path.read_bytes() == data
    with JournalWriter(path) as log:
        log.append(*ROWS[1:])
    assert read_journal(path)[:2] == (ROWS, 0)


def test_a_write_that_arrives_in_parts_is_completed(path, monkeypatch):
    real = os.write
    monkeypatch.setattr(journal.os, "write", lambda file, data: real(file, data[:7]))
    write(path, ROWS)
    assert read_journal(path)[:2] == (ROWS, 0)


def test_a_failure_to_reach_the_disk_is_not_silent(path, monkeypatch):
    def broken(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(journal.os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        write(path, ROWS)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_a_number_is_refused(path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_dumps({"price": [value]})
    with JournalWriter(path) as log, pytest.raises(ValueError, match="not JSON compliant"):
        log.append(ROWS[0], {"price": value})
    assert path.read_bytes() == b"", "the rows of one append are written together or not at all"


@pytest.mark.parametrize("text", ["NaN", "Infinity", '{"a": [-Infinity]}'])
def test_reading_refuses_the_constants_python_would_take(text):
    with pytest.raises(ValueError, match="is not valid JSON"):
        strict_loads(text)


@pytest.mark.parametrize("text", ["1e400", '{"a": [-1e999]}', "9" * 400 + ".0"])
def test_reading_refuses_numbers_that_could_not_be_written_again(text):
    with pytest.raises(ValueError, match="is not a finite number"):
        strict_loads(text)


def test_keys_are_sorted_so_that_equal_objects_have_equal_bytes():
    assert strict_dumps({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}'
