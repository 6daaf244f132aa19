"""A Dask cluster of real processes does the same work, also when a worker is killed on the way."""

import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig
from experiments.engine.cluster import open_executor
from experiments.engine.oracle_work import certificates_on, run_arms_on
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import LOG, PARQUET, SUMMARY
from experiments.episodes.suite_task import EPISODES
from experiments.players.player import as_player
from experiments.sessions import folder as sessions
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from experiments.years.batch import YearPlace, run_merchant_years
from experiments.years.spec import YearSpec
from oracle.relaxation import BracketSettings
from terms import Accept, Offer

SUITE = SuiteSpec.parse("fresh", n_per_cell=8, seed=4)
PERIODS = SessionsSpec(bankroll=BankrollConfig(num_sessions=12, horizon=20), with_memoryless=True)


class Slow:
    """An agent that takes its time, so that a worker can be killed in the middle of its work."""

    name = "slow"

    def act(self, observation):
        time.sleep(0.002)
        return Accept() if observation.can_accept else Offer(observation.reservation_price)


@contextmanager
def cluster_losing_a_worker():
    """Yield an executor on two workers, what kills one of them once, and whether it did."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        open_executor(scheduler=cluster.scheduler_address) as executor,
    ):
        victim, killed = cluster.workers[0].pid, []

        def kill_once(*done):
            if not killed:
                killed.append(os.kill(victim, signal.SIGKILL))

        yield executor, kill_once, killed


def test_without_an_address_there_is_no_cluster():
    with open_executor() as executor:
        assert executor is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("task", "spec", "names"),
    [
        (EPISODES, SUITE, (LOG, PARQUET, SUMMARY)),
        (SESSIONS, PERIODS, (sessions.PERIODS_LOG, sessions.PERIODS_TABLE, SUMMARY)),
    ],
    ids=["diagnose", "bankroll"],
)
def test_a_run_equals_a_local_one_though_a_worker_dies(tmp_path, task, spec, names):
    run_task(task, Slow(), spec, tmp_path / "local")
    with cluster_losing_a_worker() as (executor, kill_once, killed):
        run_task(task, Slow(), spec, tmp_path / "cluster", executor=executor, progress=kill_once)
    assert killed
    for name in names:
        assert (tmp_path / "cluster" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_years_equal_local_ones_though_a_worker_dies(tmp_path):
    def places(base):
        return [YearPlace(tmp_path / base / str(seed), YearSpec(world_seed=seed, num_days=90)) for seed in range(6)]

    def contents(base):
        return {str(path.relative_to(base)): path.read_bytes() for path in base.rglob("*") if path.is_file()}

    list(run_merchant_years("rule-based", places("local")))
    with cluster_losing_a_worker() as (executor, kill_once, killed):
        played = 0
        for _ in run_merchant_years("rule-based", places("cluster"), executor):
            kill_once()  # others are being played
            played += 1
    assert killed
    assert played == 6
    assert contents(tmp_path / "cluster") == contents(tmp_path / "local")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_decomposition_equals_a_local_one_though_a_worker_dies():
    player, suite = as_player(Slow()), SUITE.build()[:40]
    here = run_arms_on(None, player, suite, is_fitted=True, progress=lambda *done: None)
    with cluster_losing_a_worker() as (executor, kill_once, killed):
        there = run_arms_on(executor, player, suite, is_fitted=True, progress=kill_once)
    assert killed
    for name in ("played", "base", "posterior", "revealed", "oracle", "clairvoyant", "swapped"):
        assert np.array_equal(getattr(there, name), getattr(here, name))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_certificate_equals_a_local_one_though_a_worker_dies(tmp_path, monkeypatch):
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path / "here"))
    suite = SuiteSpec.parse("fresh", n_per_cell=1, seed=4, regimes=["overlap"], families=["candid", "taciturn"]).build()
    asked = {
        "num_dual": 2,
        "settings": BracketSettings(tick=10, num_policy=60, num_values=20, num_rounding=10, num_bayes=4, num_told=4),
    }
    here = certificates_on(None, suite, progress=lambda *done: None, **asked)
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path / "there"))
    with cluster_losing_a_worker() as (executor, kill_once, killed):
        there = certificates_on(executor, suite, progress=kill_once, **asked)
    assert killed
    assert there == here
    assert len(here) > 4
