"""What is said about compiling, and that a place without a folder to write to compiles all the same."""

from __future__ import annotations

import logging

import numba
import pytest

from oracle.kernels import compiling


@pytest.fixture
def told(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "_TOLD", set())
    caplog.set_level(logging.WARNING, logger="terms.oracle")
    return caplog


def double(x):
    return 2 * x


def test_without_a_folder_to_write_to_kernels_are_compiled_anew_with_one_note(monkeypatch, told):
    def unwritable(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'double': no locator available for file 'double.py'")
        return numba.njit(**options)

    monkeypatch.setattr(compiling, "njit", unwritable)
    kernels = [compiling.kernel(lambda x: 2 * x), compiling.kernel(double)]
    assert [kernel(2.0) for kernel in kernels] == [4.0, 4.0]
    assert sum("NUMBA_CACHE_DIR" in line.getMessage() for line in told.records) == 1


def test_the_first_compilation_is_said_once(monkeypatch, told):
    stopped = []
    monkeypatch.setattr(compiling, "_stop_listening", lambda: stopped.append(True))
    for _ in range(2):
        compiling._FirstCompilation().on_start(None)
    assert len(told.records) == 1
    assert stopped
