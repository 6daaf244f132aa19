"""Waiting: doubled, capped, jittered, shared; failures that last end the run in the server's own words."""

from __future__ import annotations

import logging
import random

import pytest

from experiments.fault_server import FaultServer
from experiments.llm import errors
from experiments.llm.errors import RateLimited, ServerFault
from experiments.llm.pacing import Pacer, wait_before_retry


class Fixed(random.Random):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def random(self):
        return self.value


@pytest.mark.parametrize(("num_failed", "own"), [(1, 0.5), (2, 1), (3, 2), (6, 16), (7, 30), (60, 30)])
def test_own_waits_double_up_to_thirty_seconds(num_failed, own):
    error = ServerFault("x")
    assert wait_before_retry(error, num_failed, Fixed(0.0)) == own
    assert wait_before_retry(error, num_failed, Fixed(1.0)) == own / 2


def test_an_asked_wait_is_never_shortened():
    error = RateLimited("x", retry_after=2.0)
    waits = [wait_before_retry(error, 1, random.Random(seed)) for seed in range(200)]
    assert 2.0 <= min(waits) < max(waits) <= 2.125
    assert len(set(waits)) == 200


def test_no_rate_is_no_wait(fake_time):
    pacer = Pacer(None, fake_time.timing())
    for _ in range(5):
        pacer.wait()
    assert fake_time.slept == []


def test_a_rate_spaces_evenly_and_saves_nothing_up(fake_time):
    pacer, sent = Pacer(60, fake_time.timing()), []
    for pause in (0, 0, 5, 0):
        fake_time.now += pause
        pacer.wait()
        sent.append(fake_time.now)
    assert sent == [0, 1, 6, 7]


def test_a_pause_holds_everyone_and_a_shorter_one_does_not_end_it(fake_time):
    pacer = Pacer(None, fake_time.timing())
    pacer.pause(10)
    pacer.pause(2)
    pacer.wait()
    assert fake_time.now == 10


def test_one_refused_thread_makes_the_others_wait(server, connect, ask, fake_time):
    client = connect(max_retries=1)
    server.script(["rate_limit_seconds", "rate_limit_seconds", "ok"])
    with pytest.raises(RateLimited):
        ask(client)
    before = fake_time.now
    ask(client, "another call")
    assert fake_time.now - before == pytest.approx(2.0)


LASTING = ("bad_key", "no_credit", "no_model", "no_path", "quota_spent")


@pytest.mark.parametrize("name", LASTING)
def test_three_calls_end_the_run_with_one_line(name, server, connect, ask, caplog):
    client = connect(f"bot/fault:{name}")
    for number in range(2):
        with pytest.raises(errors.ProviderError):
            ask(client, f"call {number}")
    with pytest.raises(errors.ServerUnusable, match="cannot be used") as caught:
        ask(client, "call 3")
    assert server.stats["requests"] == 3  # not one of them is tried again
    assert "\n" not in str(caught.value)
    assert client.settings.url in str(caught.value)
    told = [record for record in caplog.records if record.name == "experiments.llm.pacing"]
    assert len(told) == 1
    assert told[0].levelno == logging.WARNING


def test_nobody_there_ends_a_run_in_seconds(connect, ask, fake_time):
    with FaultServer() as gone:
        url = gone.url
    client = connect(base_url=url)
    for number in range(2):
        with pytest.raises(errors.NobodyThere):
            ask(client, f"call {number}")
    with pytest.raises(errors.ServerUnusable):
        ask(client, "call 3")
    assert fake_time.now < 2


def test_an_answer_between_starts_the_count_again(server, connect, ask):
    client = connect()
    for number in range(4):
        server.script(["bad_key", "ok"])
        with pytest.raises(errors.AuthenticationFailed):
            ask(client, f"lost {number}")
        assert ask(client, f"answered {number}").text == "pong"


def test_what_may_heal_never_ends_a_run(connect, ask):
    client = connect("bot/fault:server_error_500", max_retries=0)
    for number in range(6):
        with pytest.raises(errors.ServerFault):
            ask(client, f"call {number}")


def test_another_effort_than_asked_is_told_once(connect, ask, caplog):
    client = connect("bot/fault:effort_lowered", effort="high")
    assert ask(client, "a").applied.effort == ask(client, "b").applied.effort == "minimal"
    assert [record.message for record in caplog.records if "effort=high" in record.message] != []
    assert len([record for record in caplog.records if "applied minimal" in record.message]) == 1
