"""The guards of conftest.py are tested like any other code."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80), ("example.com", 80)])
def test_connecting_elsewhere_raises(address):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    for method in ("connect", "connect_ex"):
        with socket.socket(family) as client, pytest.raises(RuntimeError, match="only loopback is allowed"):
            getattr(client, method)(address)


def test_datagrams_and_lookups_raise():
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(RuntimeError, match="only loopback"):
        client.sendto(b"x", ("192.0.2.1", 53))
    with pytest.raises(RuntimeError, match=r"looked up 'example\.com'"):
        socket.create_connection(("example.com", 80))


def test_loopback_still_works():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        peer, _ = server.accept()
        with peer:
            client.sendall(b"ok")
            assert peer.recv(2) == b"ok"


MARKED = """
import pytest

@pytest.mark.browser
def test_browser():
    pass

@pytest.mark.shared
def test_shared():
    pass

def test_plain():
    pass
"""
INI = "[pytest]\nmarkers =\n    browser: x\n    shared: x\n"


def run_marked(folder: Path, **environment: str) -> tuple[int, str]:
    """Run three marked tests under this project's conftest in a folder without browser or published files."""
    nested = folder / "repo" / "tests"
    nested.mkdir(parents=True)
    (folder / "repo" / "pytest.ini").write_text(INI, encoding="utf-8")
    (nested / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (nested / "test_marked.py").write_text(MARKED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(nested)],
        cwd=folder / "repo",
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_absent_browser_and_files_are_reported_not_skipped_in_silence(tmp_path):
    code, out = run_marked(tmp_path)
    assert code == 0, out
    assert "1 passed, 2 deselected" in out
    assert "1 tests marked browser left out: no Chromium found" in out
    assert "1 tests marked shared left out: no published files at" in out


def test_absent_browser_is_an_error_under_ci(tmp_path):
    code, out = run_marked(tmp_path, CI="1")
    assert code == 1, out
    assert "1 passed, 1 deselected, 1 error" in out
    assert "browser tests must run" in out


def test_present_browser_and_files_run(tmp_path):
    (tmp_path / "shared").mkdir()
    code, out = run_marked(tmp_path, CHROMIUM=sys.executable)
    assert code == 0, out
    assert "3 passed" in out
    assert "left out" not in out
