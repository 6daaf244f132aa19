"""A year is the same to the last digit whatever kernels the linear algebra library has for the processor."""

from __future__ import annotations

import os
import subprocess
import sys

PLAY = """
from commerce.config import PAPER
from commerce.merchants import build_merchant, play_year
from commerce.replay import year_digest
from commerce.world import generate_world
from commerce.year import Year
rules = PAPER.model_copy(update={"num_days": 90})
world = generate_world(3, rules)
year = play_year(Year(world, rules), build_merchant("rule-based", world, rules))
print(year.state.totals.orders_shipped, year_digest(year))
"""


def played_as(kernel: str) -> str:
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PLAY], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_year_is_the_same_for_every_processor():
    """Kernels that any x86 processor has; elsewhere the library ignores the name and the test compares equal runs."""
    plain, wide = played_as("Prescott"), played_as("Haswell")
    assert int(plain.split()[0]) > 100
    assert plain == wide
