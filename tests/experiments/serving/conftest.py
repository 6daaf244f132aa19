"""A server in this process, used by several modules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from experiments.serving.settings import ServeSettings
from tests.experiments.serving.hosting import hosted


@pytest.fixture
def settings(tmp_path) -> ServeSettings:
    """Years of ten days in a held-out world."""
    return ServeSettings(out=tmp_path / "years", world_seed=77_001, num_days=10, max_turns=40)


@pytest.fixture
def address(settings) -> Iterator[str]:
    """Address of a server that plays these years."""
    with hosted(settings) as found:
        yield found
