"""A Dask cluster plays the same run, also when a worker is killed on the way."""

import os
import signal
import time

import pytest

from experiments.engine.cluster import open_executor
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import PARQUET, SUMMARY
from experiments.episodes.suite_task import EPISODES
from terms import Accept, Offer


class Slow:
    """An agent that takes its time, so that a worker can be killed in the middle of its work."""

    name = "slow"

    def act(self, observation):
        time.sleep(0.002)
        return Accept() if observation.can_accept else Offer(observation.reservation_price)


def test_without_an_address_there_is_no_cluster():
    with open_executor(scheduler=None) as executor:
        assert executor is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_cluster_run_equals_local_run_though_a_worker_dies(tmp_path):
    from distributed import LocalCluster

    suite = SuiteSpec.parse("fresh", n_per_cell=8, seed=4)
    run_task(EPISODES, Slow(), suite, tmp_path / "local")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        open_executor(scheduler=cluster.scheduler_address) as executor,
    ):
        victim = cluster.workers[0].pid
        killed = []

        def kill_once(rows, left):
            if not killed:
                killed.append(os.kill(victim, signal.SIGKILL))

        run_task(EPISODES, Slow(), suite, tmp_path / "cluster", executor=executor, progress=kill_once)
    assert killed
    for name in (PARQUET, SUMMARY):
        assert (tmp_path / "cluster" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
