"""Whole episodes, many at once, against a server that fails all the time."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from experiments.fault_server import FaultPlan, FaultServer
from experiments.fault_server.fault_list import FAULTS
from experiments.llm.calls import CallLog, Ended, read_calls
from experiments.llm.client import ChatClient
from experiments.llm.pacing import Timing
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from terms import fresh_suite, play
from tests.experiments.llm.test_client import reconcile

NUM_THREADS = 16
TRANSPORT = {name: 0.03 for name, fault in FAULTS.items() if fault.group == "transport" and "slow" not in name}


class Player:
    """A model that plays: observation in, the JSON of the reply out."""

    name = "player"

    def __init__(self, client, scenario_id):
        self.client, self.scenario_id = client, scenario_id

    def act(self, observation):
        content = json.dumps(observation.to_json_object())
        call_id = f"{self.scenario_id}/{observation.round}"
        return json.loads(self.client.complete([{"role": "user", "content": content}], call_id=call_id).text)


def run_suite(server, log_path, scenarios):
    meter = Meter()
    settings = ModelSettings(
        model="bot", base_url=server.url, concurrency=NUM_THREADS, max_retries=40, max_wait_s=7200, timeout_s=20
    )
    # Nothing is waited for: what is under test is what happens, not when.
    timing = Timing(sleep=lambda _: None, clock=Skipping())
    with (
        CallLog(log_path) as log,
        closing(ChatClient(settings, meter=meter, log=log, timing=timing)) as client,
        ThreadPoolExecutor(NUM_THREADS) as pool,
    ):
        records = list(pool.map(lambda scenario: play(scenario, Player(client, scenario.scenario_id)), scenarios))
    return records, meter.spending


class Skipping:
    """A clock that is always past every pause."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e5
        return self.now


def test_a_suite_through_a_failing_server_is_the_suite_through_a_sound_one(tmp_path):
    scenarios = fresh_suite(seed=3, n_per_cell=1)[:40]
    with FaultServer() as sound:
        expected, _ = run_suite(sound, tmp_path / "sound.jsonl", scenarios)
    with FaultServer(FaultPlan(TRANSPORT, seed=7)) as failing:
        records, spent = run_suite(failing, tmp_path / "failing.jsonl", scenarios)
        ledger = failing.ledger
    assert records == expected
    assert sum(TRANSPORT.values()) > 0.5  # more than every second request fails
    assert set(TRANSPORT) <= {bill.fault for bill in ledger}

    rows = read_calls(tmp_path / "failing.jsonl")
    answered = Counter(row.call_id for row in rows if isinstance(row, Ended) and row.completion is not None)
    assert set(answered.values()) == {1}  # no move was asked for, or made, twice
    unknown = reconcile(rows, ledger)
    assert unknown > 0
    assert sum(bill.microusd for bill in ledger) == spent.settled_microusd + unknown
    assert CallLog(tmp_path / "failing.jsonl").start == spent


def test_the_same_plan_meets_the_same_calls_whatever_the_threads(tmp_path):
    scenarios = fresh_suite(seed=3, n_per_cell=1)[:10]
    met = []
    for number in range(2):
        with FaultServer(FaultPlan(TRANSPORT, seed=7)) as server:
            run_suite(server, tmp_path / f"{number}.jsonl", scenarios[:: 1 if number else -1])
            met.append(sorted((bill.request_id, bill.fault or "") for bill in server.ledger))
    assert met[0] == met[1]
