"""Years that several test modules read, played once."""

from __future__ import annotations

import pytest

from experiments.years.run import run_year
from experiments.years.seats import MerchantSeat
from experiments.years.spec import YearSpec
from experiments.years.story import YearStory, read_story
from tests.experiments.report.cases import HOSTILE


def hostile_merchant(call) -> None:
    """Send markup wherever text may go, then wait."""
    call("open_store", {"store_type": "beauty", "store_name": HOSTILE[:60]})
    call("operate_memory", {"action": "add", "title": "x", "content": HOSTILE})
    call(HOSTILE, {"x": HOSTILE})
    while not call("wait_for_next_day", {}).is_over:
        pass


@pytest.fixture(scope="session")
def stories(tmp_path_factory) -> tuple[YearStory, ...]:
    """Return two worlds of one merchant, an idle year, and one full of hostile text."""
    folder = tmp_path_factory.mktemp("stories")
    years = [(YearSpec(world_seed=seed, rules="fair", num_days=45), MerchantSeat("rule-based")) for seed in (1, 2)]
    years += [
        (YearSpec(num_days=5), MerchantSeat("idle")),
        (YearSpec(num_days=3), MerchantSeat(HOSTILE, hostile_merchant)),
    ]
    for index, (spec, seat) in enumerate(years):
        run_year(folder / str(index), spec, seat)
    return tuple(read_story(folder / str(index)) for index in range(len(years)))
