"""Matches and tournaments: logged, taken up again, verified, and rated as the arithmetic says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import terms
from experiments.engine.folder import RunError
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.fault_server import FaultServer
from experiments.llm.settings import ModelSettings
from experiments.matches.match_task import MATCH_LOG, MATCHES, match_summary
from experiments.matches.rivals import MOST_AT_ONCE, SECOND, Rivals
from experiments.matches.tournament import TOURNAMENT, is_tournament, load_tournament, run_tournament
from experiments.players.model_options import ModelOptions
from experiments.players.player import as_player
from experiments.players.registry import build_agent
from experiments.stats.matches import rate, summarize_matches
from terms.agents import build_scripted
from terms.agents.kernel_agent import KernelAgent
from terms.two_seats import play_match
from tests.experiments.folders import findings_in, rewrite_log

SPEC = SuiteSpec.parse("fresh", seed=3, n_per_cell=3, regimes=["overlap"], families=["candid"])
NAMES = ("patient", "conceder", "fixed-0.10")


def rivals(first="patient", second="conceder"):
    return Rivals(as_player(build_scripted(first)), as_player(build_scripted(second)))


def test_a_match_is_logged_verified_and_taken_up_again(tmp_path):
    run = run_task(MATCHES, rivals(), SPEC, tmp_path / "a")
    assert run.agents == ("patient", "conceder")
    assert len(run.matches) == 12
    assert findings_in(tmp_path / "a") == []
    whole = (tmp_path / "a" / MATCH_LOG).read_bytes()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "a" / MATCH_LOG).write_bytes(b"".join(lines[:5]) + lines[5][:20])
    assert run_task(MATCHES, rivals(), SPEC, tmp_path / "a").resumed == 5
    assert (tmp_path / "a" / MATCH_LOG).read_bytes() == whole
    run_task(MATCHES, rivals(), SPEC, tmp_path / "b", workers=2)
    assert (tmp_path / "b" / MATCH_LOG).read_bytes().split(b"\n", 1)[0] != b""
    assert match_summary(load_run(MATCHES, tmp_path / "b")) == match_summary(run)


def test_every_changed_number_is_found(tmp_path):
    run_task(MATCHES, rivals(), SPEC, tmp_path)

    def dearer(rows):
        rows[0]["second"]["utility"] += 1.0
        return rows

    rewrite_log(tmp_path / MATCH_LOG, dearer)
    assert any("another utility of the second seat" in finding for finding in findings_in(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: {**row, "more": 1}, "unknown fields more"),
        (lambda row: {"first": row["first"], "repeat": 0}, "not the records of both seats"),
        (lambda row: {**row, "repeat": 1}, "repeat=1 is not played"),
        (lambda row: {**row, "first": {**row["first"], "scenario_id": "x"}}, "'x' is not an episode"),
    ],
)
def test_a_line_that_is_no_talk_is_refused(tmp_path, change, message):
    run_task(MATCHES, rivals(), SPEC, tmp_path)
    rewrite_log(tmp_path / MATCH_LOG, lambda rows: [change(rows[0]), *rows[1:]])
    with pytest.raises(RunError, match=message):
        load_run(MATCHES, tmp_path)


def test_the_summary_is_the_arithmetic_of_the_talks():
    scenarios = terms.fresh_suite(4, ["overlap", "no_deal"], ["candid"], 4)
    matches = [play_match(each, build_scripted("boulware"), build_scripted("fixed-0.10")) for each in scenarios]
    found = summarize_matches(matches)
    possible = [match for match in matches if match.first.zopa > 0]
    deals = [match for match in possible if match.first.price is not None]
    assert 0 < len(deals) < len(possible) == 16
    assert found["efficiency"].estimate == len(deals) / len(possible)
    assert found["first_share"].estimate == pytest.approx(np.mean([m.first.utility / m.first.zopa for m in possible]))
    total = found["first_share"].estimate + found["second_share"].estimate
    assert total == pytest.approx(found["efficiency"].estimate)
    assert found["first_part_of_deals"].estimate == pytest.approx(
        np.mean([match.first.utility / match.first.zopa for match in deals])
    )
    assert found["unwise_deals"] == (0.0, *found["unwise_deals"][1:3], 16)


def tables_of(agents, n_per_cell):
    scenarios = terms.fresh_suite(5, ["overlap"], ["candid"], n_per_cell)
    return {
        (one, other): [play_match(each, build_scripted(one), build_scripted(other)) for each in scenarios]
        for one in agents
        for other in agents
        if one != other
    }


def test_a_rating_is_the_mean_share_over_opponents_and_seats():
    tables = tables_of(NAMES, 3)
    ratings = rate(tables)
    for row in ratings.agents:
        own = [
            np.mean([getattr(match, seat).utility / match.first.zopa for match in matches])
            for pair, matches in tables.items()
            for seat, name in zip(("first", "second"), pair, strict=True)
            if name == row.agent
        ]
        assert row.rating.estimate == pytest.approx(np.mean(own))
        assert row.rating.n == 12
    assert [row.agent for row in ratings.agents] == list(ratings.paired.ranking)


def test_a_planted_order_is_recovered_and_equals_tie():
    agents = [f"patient:gap={gap}" for gap in ("0.5", "0.3", "0.1")]
    ratings = rate(tables_of(agents, 10))
    assert [row.agent for row in ratings.agents] == agents
    assert all(row.ties == () for row in ratings.agents)
    scenarios = terms.fresh_suite(5, ["overlap"], ["candid"], 10)
    twins = {
        (one, other): [play_match(each, build_scripted("linear"), build_scripted("linear")) for each in scenarios]
        for one, other in (("a", "b"), ("b", "a"))
    }
    alike = rate(twins)
    assert {row.agent: row.ties for row in alike.agents} == {"a": ("b",), "b": ("a",)}


def test_what_cannot_be_rated_is_named():
    tables = tables_of(NAMES[:2], 1)
    with pytest.raises(ValueError, match="lacks conceder against patient"):
        rate({("patient", "conceder"): tables["patient", "conceder"]})
    with pytest.raises(ValueError, match="at least two"):
        rate({("a", "a"): []})
    hopeless = terms.fresh_suite(4, ["no_deal"], ["candid"], 1)
    talks = [play_match(each, build_scripted("linear"), build_scripted("patient")) for each in hopeless]
    with pytest.raises(ValueError, match="nothing to rate"):
        rate({("a", "b"): talks, ("b", "a"): talks})


def test_a_tournament_can_be_stopped_and_gone_on_with(tmp_path):
    players = [as_player(build_scripted(name)) for name in NAMES] + [as_player(KernelAgent())]
    assert not is_tournament(tmp_path / "nothing")
    found = run_tournament(players, SPEC, tmp_path)
    assert len(found.runs) == 12
    before = (tmp_path / TOURNAMENT).read_bytes()
    log = tmp_path / "patient-against-kernel" / MATCH_LOG
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    with pytest.raises(RunError, match="4 of 12 talks are there"):
        load_tournament(tmp_path)
    run_tournament(players, SPEC, tmp_path)
    assert (tmp_path / TOURNAMENT).read_bytes() == before
    assert json.loads(before)["agents"][0]["agent"] == found.ratings.agents[0].agent
    assert is_tournament(tmp_path)
    with pytest.raises(ValueError, match="each named once"):
        run_tournament(players[:1] * 2, SPEC, tmp_path / "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match="is no tournament"):
        load_tournament(tmp_path / "empty")


def test_models_play_each_other_each_with_its_own_calls(tmp_path):
    spec = SuiteSpec.parse("fresh", seed=3, n_per_cell=1, regimes=["overlap"], families=["candid"])
    with FaultServer() as server:
        asked = ModelOptions.of(base_url=server.url, concurrency=2)
        one, other = (build_agent("openai:scripted", asked) for _ in range(2))
        pair = Rivals(one, other)
        assert pair.concurrency == 2
        assert Rivals(as_player(build_scripted("patient")), other).concurrency == 2
        run = run_task(MATCHES, pair, spec, tmp_path / "m")
        assert all(talk.receipts and talk.second_receipts for talk in run.talks if len(talk.match.second.turns))
        assert findings_in(tmp_path / "m") == []
        calls = tmp_path / "m" / SECOND / "model_calls.jsonl"
        calls.write_bytes(b"".join(calls.read_bytes().splitlines(keepends=True)[:1]))
        assert any("second/model_calls.jsonl lacks" in finding for finding in findings_in(tmp_path / "m"))
    assert isinstance(one.model, ModelSettings)
    assert MOST_AT_ONCE > 1000


def test_two_players_have_no_single_seat():
    with pytest.raises(TypeError, match="are two players"):
        rivals().start(SPEC.build()[0])
