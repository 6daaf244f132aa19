"""The command line, run in this process, and a fault server for each test that asks for one."""

from __future__ import annotations

import sys

import pytest

from experiments.cli import main
from experiments.fault_server import FaultServer


@pytest.fixture
def terms(monkeypatch, capsys, tmp_path):
    """Return a function that runs ``terms`` in this process, in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # runners of tests set it, and tables would be cut

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["terms", *map(str, args)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def server():
    with FaultServer(slow_s=3.0) as running:
        yield running
