"""Shared by all tests: no network, seeded generators, and markers that never skip in silence.

A test marked ``browser`` needs Chromium, one marked ``shared`` the published files beside the repository. Where
these are absent the tests are left out and the terminal summary says so; with ``CI`` set a missing browser is a
failure instead.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import tempfile
from pathlib import Path

# Before numpy loads: its threads spin on matrices as small as ours and made two fits a hundred times slower when the
# machine had other work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LEFT_OUT = pytest.StashKey[dict[str, int]]()


class NetworkBlockedError(RuntimeError):
    """A test tried to leave this machine."""


def is_local(address: object) -> bool:
    """Whether a socket address stays on this machine: a Unix path or a loopback host."""
    if isinstance(address, str | bytes):
        return True
    host = address[0] if isinstance(address, tuple) and address else None
    return is_local_host(host)


def is_local_host(host: object) -> bool:
    """Whether a host name or literal means this machine; a name that needs a resolver does not."""
    if host is None or host in ("", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


def block_network(patch: pytest.MonkeyPatch) -> None:
    """Make every way of reaching another machine raise, name look-ups included."""
    originals = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}
    resolve = socket.getaddrinfo

    def guarded(name: str):
        def call(self: socket.socket, *args: object) -> object:
            if not is_local(args[-1]):
                raise NetworkBlockedError(f"a test called socket.{name} with {args[-1]!r}; only loopback is allowed")
            return originals[name](self, *args)

        return call

    def guarded_resolve(host: object, *args: object, **kwargs: object) -> object:
        if not is_local_host(host):
            raise NetworkBlockedError(f"a test looked up {host!r}; only loopback is allowed")
        return resolve(host, *args, **kwargs)

    for name in originals:
        patch.setattr(socket.socket, name, guarded(name))
    patch.setattr(socket, "getaddrinfo", guarded_resolve)


def find_chromium() -> str | None:
    """Return the path of a Chromium: the one ``CHROMIUM`` names, or the first on the path."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).is_file() else None
    return next((path for path in map(shutil.which, CHROMIUM_NAMES) if path), None)


def pytest_configure(config: pytest.Config) -> None:
    """Close the network before any test module is imported."""
    patch = pytest.MonkeyPatch()
    block_network(patch)
    config.add_cleanup(patch.undo)
    if "TERMS_CACHE_DIR" not in os.environ:  # a worker has its controller's; nobody reads or fills the user's own
        folder = tempfile.TemporaryDirectory(prefix="terms-cache-")
        patch.setenv("TERMS_CACHE_DIR", folder.name)
        config.add_cleanup(folder.cleanup)
    config.stash[LEFT_OUT] = {}


def absent_needs() -> dict[str, str]:
    """Return the markers whose tests cannot run here, each with the reason."""
    absent = {}
    if find_chromium() is None and not os.environ.get("CI"):
        absent["browser"] = "no Chromium found; set CHROMIUM to its path, or CI=1 to fail instead"
    if not SHARED.is_dir():
        absent["shared"] = f"no published files at {SHARED}"
    return absent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this machine cannot run, and remember how much that was."""
    for marker in absent_needs():
        left_out = [item for item in items if item.get_closest_marker(marker)]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker(marker)]
            config.stash[LEFT_OUT][marker] = len(left_out)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail, not skip, a browser test without a browser (only reached with ``CI`` set)."""
    if item.get_closest_marker("browser") and find_chromium() is None:
        pytest.fail("no Chromium found, and CI is set: browser tests must run", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print one line for every group of tests left out; with xdist the workers collect, so the number is not known."""
    counts, is_distributed = config.stash[LEFT_OUT], bool(getattr(config.option, "numprocesses", None))
    for marker, reason in absent_needs().items():
        if marker in counts or is_distributed:
            number = counts.get(marker, "all")
            terminalreporter.write_line(f"{number} tests marked {marker} left out: {reason}", yellow=True)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator that starts the same in every test."""
    return np.random.default_rng(20260513)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of the browser that report tests drive."""
    path = find_chromium()
    assert path is not None, "a test that uses chromium_path must be marked browser"
    return path


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder of the published files; a test that uses it must be marked shared."""
    assert SHARED.is_dir(), "a test that uses shared_dir must be marked shared"
    return SHARED
