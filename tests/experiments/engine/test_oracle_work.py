"""Pieces come back in their order wherever they are made, and a lost worker is one line."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from experiments.engine.cluster import open_executor
from experiments.engine.folder import RunError
from experiments.engine.oracle_work import run_arms_on
from experiments.engine.pool import map_pieces
from experiments.episodes.config import SuiteSpec
from experiments.players.player import as_player
from oracle.arms import run_arms
from terms.agents import build_scripted

SUITE = SuiteSpec.parse("fresh", seed=3, n_per_cell=1, sample=3).build()


def twice(number):
    """Return twice the number; a negative one ends the worker."""
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def test_pieces_keep_their_order_and_tell_how_many_are_done():
    told = []
    with ThreadPoolExecutor(3) as executor:
        found = map_pieces(twice, range(9), executor=executor, progress=lambda *count: told.append(count))
    assert found == map_pieces(twice, range(9)) == [2 * number for number in range(9)]
    assert told == [(count, 9) for count in range(1, 10)]


def test_what_a_piece_raises_is_raised():
    with ThreadPoolExecutor(2) as executor, pytest.raises(ZeroDivisionError):
        map_pieces(lambda number: 1 // number, [1, 0, 2], executor=executor)


def test_a_killed_worker_is_one_line():
    with open_executor(2) as executor, pytest.raises(RunError, match="a worker process died"):
        map_pieces(twice, [1, -1, 2], executor=executor)


def test_a_number_of_workers_that_is_none_is_refused():
    with pytest.raises(ValueError, match="workers=0"), open_executor(0):
        pass


def test_arms_in_pieces_are_those_of_one_loop():
    player = as_player(build_scripted("random"))
    told = []
    with ThreadPoolExecutor(2) as executor:
        found = run_arms_on(executor, player, SUITE, is_fitted=False, progress=lambda *count: told.append(count))
    whole = run_arms(player, SUITE)
    for name in ("played", "base", "posterior", "revealed", "oracle", "clairvoyant", "swapped"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))
    assert told[-1] == (3, 3)
