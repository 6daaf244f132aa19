"""A fault server for each test, clients of it, and a clock that does not make anyone wait."""

from __future__ import annotations

import random
import threading

import pytest

from experiments.llm.client import ChatClient
from experiments.llm.pacing import Timing
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 0.0
        self.slept = []
        self._lock = threading.Lock()

    def clock(self):
        return self.now

    def sleep(self, seconds):
        with self._lock:
            self.now += seconds
            self.slept.append(seconds)

    def timing(self, seed=1):
        return Timing(clock=self.clock, wall_clock=lambda: 2e9, sleep=self.sleep, rng=random.Random(seed))


@pytest.fixture
def fake_time():
    return FakeTime()


@pytest.fixture
def connect(server, fake_time):
    """Return a function that makes clients of ``server``; keywords are settings, apart from meter, cache and log."""
    made = []

    def make(model="bot", *, meter=None, cache=None, log=None, timing=None, **settings):
        settings = ModelSettings(**{"model": model, "base_url": server.url, "timeout_s": 10, **settings})
        client = ChatClient(settings, meter=meter or Meter(), cache=cache, log=log, timing=timing or fake_time.timing())
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def ask():
    """Return a function that makes one small call."""

    def call(client, text="hello", call_id="call", **options):
        return client.complete([{"role": "user", "content": text}], call_id=call_id, **options)

    return call
