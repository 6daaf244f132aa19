"""Clairvoyant values on disk: solved once, never taken from a torn file, another problem or another solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import terms
from oracle import known_type, remembered
from oracle.clairvoyant import clairvoyant_values
from oracle.known_type import Resolution
from oracle.remembered import code_digest, remembered_values

SUITE = terms.fresh_suite(41, ["overlap"], ["taciturn"], 1)[:2]
COARSE = Resolution(4, 16)


@pytest.fixture
def solves(monkeypatch):
    """Count the suites that are really solved."""
    calls = []

    def counted(scenarios, **options):
        calls.append(len(scenarios))
        return clairvoyant_values(scenarios, **options)

    monkeypatch.setattr(remembered, "clairvoyant_values", counted)
    return calls


def test_solved_once_and_the_same(solves, tmp_path):
    first, second = (remembered_values(SUITE, resolution=COARSE, folder=tmp_path) for _ in range(2))
    assert solves == [2]
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, clairvoyant_values(SUITE, resolution=COARSE))


def test_a_torn_file_is_solved_again(solves, tmp_path):
    first = remembered_values(SUITE, resolution=COARSE, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    np.testing.assert_array_equal(remembered_values(SUITE, resolution=COARSE, folder=tmp_path), first)
    assert solves == [2, 2]


def test_other_types_prices_grids_and_solvers_are_other_files(solves, tmp_path, monkeypatch):
    other = replace(SUITE[0], counterpart_type=replace(SUITE[0].counterpart_type, urgency=0.123))
    for scenarios, resolution in (
        (SUITE, COARSE),
        (SUITE[:1], COARSE),
        ((other, SUITE[1]), COARSE),
        (SUITE, Resolution(5, 16)),
    ):
        remembered_values(scenarios, resolution=resolution, folder=tmp_path)
    assert solves == [2, 1, 2, 2]
    monkeypatch.setattr(remembered, "code_digest", lambda modules: "another line of code")
    remembered_values(SUITE, resolution=COARSE, folder=tmp_path)
    assert solves == [2, 1, 2, 2, 2]
    assert len(list(tmp_path.iterdir())) == 5


def test_the_digest_is_of_the_source():
    assert code_digest((known_type,)) != code_digest((remembered,))
