"""The marker of tests that run the real local model, and its server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from experiments.models.local import LocalModelError, LocalServer


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "real_llm: runs the small local model; needs two packages, required in CI")


@pytest.fixture(scope="session")
def local_server() -> Iterator[LocalServer]:
    """Serve the local model; without its packages a skip that says how to install them, and a failure in CI."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(LocalServer())
        except LocalModelError as error:
            if os.environ.get("CI"):
                pytest.fail(f"CI must run the local model: {error}", pytrace=False)
            pytest.skip(str(error))
        yield server
