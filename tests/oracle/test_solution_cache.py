from __future__ import annotations

import numpy as np
import pytest

from oracle.convergence import ConvergenceError
from oracle.solution_cache import cache_folder, from_bytes, load_or_solve, solution_key, store, to_bytes

ARRAYS = {"value": np.arange(6.0).reshape(2, 3), "rounds": np.array(3)}


def test_round_trip():
    found = from_bytes("k", to_bytes("k", ARRAYS))
    assert found is not None
    assert set(found) == set(ARRAYS)
    assert (found["value"] == ARRAYS["value"]).all()


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "text"])
def test_torn_file_is_absent(harm):
    data = to_bytes("k", ARRAYS)
    harmed = {
        "cut": data[:-7],
        "flip": data[:200] + bytes([data[200] ^ 1]) + data[201:],
        "empty": b"",
        "text": b"x" * 99,
    }
    assert from_bytes("k", harmed[harm]) is None


def test_file_made_for_another_key_is_absent():
    assert from_bytes("other", to_bytes("k", ARRAYS)) is None


def test_any_fact_changes_the_key():
    facts = {"grid": [1.0, 9], "alpha": 6.0}
    assert solution_key(facts) == solution_key(dict(reversed(facts.items())))
    assert solution_key(facts) != solution_key({**facts, "alpha": 6.1})


def test_solved_once_and_rebuilt_when_torn(tmp_path):
    calls = []

    def solve():
        calls.append(1)
        return dict(ARRAYS)

    for _ in range(2):
        assert (load_or_solve("k", solve, tmp_path)["value"] == ARRAYS["value"]).all()
    assert len(calls) == 1
    file = tmp_path / "k.npz"
    file.write_bytes(file.read_bytes()[:50])
    load_or_solve("k", solve, tmp_path)
    assert len(calls) == 2
    assert from_bytes("k", file.read_bytes()) is not None


def test_failed_solve_stores_nothing(tmp_path):
    def solve():
        raise ConvergenceError("test", 1.0, 0.5)

    with pytest.raises(ConvergenceError, match=r"residual 1 exceeds the tolerance 0\.5"):
        load_or_solve("k", solve, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "k.npz"
    store(path, b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        store(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["k.npz"]


def test_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("TERMS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "terms-commerce"
