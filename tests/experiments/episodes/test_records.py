from __future__ import annotations

import io
import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engine.run import run_task
from experiments.engine.verify import verify_run
from experiments.episodes.records import episode_from_row, episode_row, episodes_parquet
from experiments.episodes.suite_task import EPISODES
from terms import Accept, Belief, Offer, Reject, Unusable, play
from terms.agents import SCRIPTED, build_scripted
from terms.strict_json import strict_dumps, strict_loads
from terms.types import ReplyFault
from tests.experiments.agents import AlwaysDown
from tests.experiments.folders import TINY

WEIRD = 'a\u2028b\x85c\0 "quote" \ud83d \U0001f600 ٤٥ '
PRICES = st.floats(-10, 110) | st.integers(-10, 110) | st.sampled_from([0.0, -0.0, 5e-324, 1e309, 10**400])
PARTS = st.none() | st.floats() | st.sampled_from([10**400, "x", True, (0.2, 0.3, 0.5), [1, 1, 1], {"neutral": 1}])
BELIEFS = st.none() | st.builds(Belief, r_hat=PARTS, kappa_hat=PARTS, stance_probs=PARTS)
WORDS = st.text(max_size=8) | st.sampled_from([WEIRD, None, 5, b"bytes"])
MOVES = st.one_of(
    st.builds(Offer, PRICES, WORDS, BELIEFS),
    st.builds(Accept, WORDS, BELIEFS),
    st.builds(Reject, WORDS, BELIEFS),
    st.builds(Unusable, st.sampled_from(ReplyFault), WORDS, BELIEFS),
    st.dictionaries(st.sampled_from(["decision", "price", "message", "belief"]), st.sampled_from(["Offer", 45, WEIRD])),
    st.sampled_from([None, 45, "45", WEIRD, Offer, Offer("45"), Offer(True), [45]]),
)


def through_json(record):
    return episode_from_row(strict_loads(strict_dumps(episode_row(record))))


@pytest.mark.parametrize("name", SCRIPTED)
def test_every_field_survives_the_log(name):
    for scenario in TINY.build():
        record = play(scenario, build_scripted(name))
        assert through_json(record) == record


@settings(deadline=None, max_examples=100)
@given(moves=st.lists(MOVES, max_size=4), index=st.integers(0, 11))
def test_whatever_an_agent_returns_survives_the_log(moves, index):
    """What an agent says is data: no reply may make a log that cannot be read back."""
    left = list(moves)
    record = play(TINY.build()[index], lambda observation: left.pop(0) if left else Reject())
    assert through_json(record) == record
    assert len(pq.read_table(io.BytesIO(episodes_parquet([record])))) == 1


@pytest.mark.parametrize(
    "move",
    [
        Offer(50, message=None),
        Offer(50, message=5),
        Offer(50, message=WEIRD),
        Unusable(ReplyFault.EMPTY, detail=None),
        Unusable("truncated", detail=WEIRD),
        {"decision": "Offer", "price": 50, "message": WEIRD, "belief": {"r_hat": 10**400}},
    ],
    ids=repr,
)
def test_a_run_of_odd_replies_can_be_verified(tmp_path, move):
    run_task(EPISODES, lambda observation: move, TINY, tmp_path)
    assert verify_run(EPISODES, tmp_path) == []


def test_a_fault_that_does_not_exist_is_a_mistake_of_the_agents_author():
    with pytest.raises(ValueError, match="'timeout' is not a valid ReplyFault"):
        play(TINY.build()[0], lambda observation: Unusable("timeout"))


def test_parquet_has_flat_columns_and_the_whole_record(tmp_path):
    records = [play(scenario, build_scripted("patient")) for scenario in TINY.build()]
    records[0] = play(TINY.build()[0], AlwaysDown())
    (tmp_path / "x.parquet").write_bytes(episodes_parquet(records))
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert [episode_from_row(json.loads(row["record"])) for row in rows] == records
    assert [row["utility"] for row in rows] == [record.utility for record in records]
    assert [row["rounds_played"] for row in rows] == [len(record.turns) for record in records]
    assert rows[0]["fault"] == "provider"
    assert rows[0]["price"] is None
    assert {row["counterpart_stance"] for row in rows} <= {"conciliatory", "neutral", "aggressive"}
    assert all(row["num_critical"] == 0 for row in rows)


def test_no_episodes_give_a_table_without_rows():
    table = pq.read_table(io.BytesIO(episodes_parquet([])))
    assert table.num_rows == 0
    assert {"scenario_id", "utility", "record"} <= set(table.column_names)


def test_parquet_bytes_depend_on_the_records_and_their_order_alone():
    records = [play(scenario, build_scripted("patient")) for scenario in TINY.build()]
    assert episodes_parquet(records) == episodes_parquet([through_json(record) for record in records])
    assert episodes_parquet(records) != episodes_parquet(records[::-1])
    changed = replace(records[0], utility=records[0].utility + 1e-12)
    assert episodes_parquet(records) != episodes_parquet([changed, *records[1:]])
