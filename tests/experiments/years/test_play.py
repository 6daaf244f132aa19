"""Several years in memory."""

from __future__ import annotations

import json

from experiments.years.play import play_years, summary_object
from experiments.years.spec import YearSpec


def test_idle_years_in_two_worlds():
    years = list(play_years(YearSpec(merchant="idle", world_seed=1, num_days=20), 2))
    assert [year.spec.world_seed for year in years] == [1, 2]
    assert len({year.spec.world_digest for year in years}) == 2
    found = summary_object(years)
    json.dumps(found, allow_nan=False)
    assert found["final_assets"] == 87_000.0
    assert found["metrics"]["final_assets"] == {"estimate": 87_000.0, "low": 87_000.0, "high": 87_000.0, "n": 2}
    assert found["metrics"]["cse_plus"]["estimate"] is None
    assert [year["end"] for year in found["years"]] == ["max_days_reached"] * 2
