"""One server in this process for all modules; each test opens sessions of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from experiments.serving.settings import ServeSettings
from experiments.years.limits import Limits
from tests.experiments.serving.hosting import hosted

_numbers = itertools.count()


@pytest.fixture(scope="session")
def settings(tmp_path_factory) -> ServeSettings:
    """Years of ten days in a held-out world."""
    out = tmp_path_factory.mktemp("served")
    return ServeSettings(out=out, world_seed=77_001, num_days=10, limits=Limits(max_turns=40), max_sessions=10_000)


@pytest.fixture(scope="session")
def address(settings) -> Iterator[str]:
    """Address of a server that plays these years."""
    with hosted(settings) as found:
        yield found


@pytest.fixture
def agent() -> str:
    """Return a name that no other test has."""
    return f"agent-{next(_numbers)}"
