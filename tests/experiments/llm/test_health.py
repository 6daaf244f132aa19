"""Failures that last: the first is told at once, and a few in a row end the run with the server's own words."""

from __future__ import annotations

import logging

import pytest

from experiments.fault_server import FaultServer
from experiments.llm import errors

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
    told = [record for record in caplog.records if record.name == "experiments.llm.health"]
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
