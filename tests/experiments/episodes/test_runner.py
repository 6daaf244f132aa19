from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from experiments.engine.folder import RunError
from experiments.engine.run import load_run, run_task
from experiments.engine.verify import verify_run
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import LOG
from experiments.episodes.suite_task import EPISODES
from experiments.storage import journal
from experiments.storage.files import RunLockedError, exclusive_lock
from terms.agents import build_scripted
from terms.types import ReplyFault
from tests.experiments.agents import DiesOnce, MeetsOthers, ProviderDown, Raises, Slow
from tests.experiments.folders import (
    REPOSITORY,
    RESULTS,
    SMALL,
    SMALL_ARGS,
    TINY,
    children_of,
    is_alive,
    logged_ids,
    result_bytes,
    run_cli,
    start_cli,
    wait_for,
)

PATIENT = build_scripted("patient")
SLOW_ARGS = ("diagnose", "--agent", "python:tests.experiments.agents:Slow", *SMALL_ARGS)
NUM_SMALL = len(SMALL.build())
KILLS_FAST, KILLS_SLOW = 2, 20


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def patient_bytes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    run_task(EPISODES, PATIENT, SMALL, folder)
    return result_bytes(folder)


@pytest.fixture(scope="module")
def slow_bytes(tmp_path_factory):
    """Return the results of the slow agent, undisturbed and without rests."""
    folder = tmp_path_factory.mktemp("slow")
    code, _, err = run_cli(*SLOW_ARGS, "--out", folder)
    assert code == 0, err
    return result_bytes(folder)


def hit(index):
    """Return the agent's reservation price in one episode, by which the agents of the tests know it."""
    return SMALL.build()[index].agent_type.reservation_price


class Stop:
    """A progress callback that interrupts after ``count`` calls."""

    def __init__(self, count):
        self.count = count

    def __call__(self, rows, left):
        self.count -= 1
        if self.count == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [2, slow(3)])
def test_results_do_not_depend_on_the_number_of_workers(tmp_path, patient_bytes, workers):
    run_task(EPISODES, PATIENT, SMALL, tmp_path, workers=workers)
    assert result_bytes(tmp_path) == patient_bytes
    assert logged_ids(tmp_path) == [scenario.scenario_id for scenario in SMALL.build()]


def test_results_do_not_depend_on_the_executor(tmp_path, patient_bytes):
    with ThreadPoolExecutor(3) as executor:
        run_task(EPISODES, PATIENT, SMALL, tmp_path, executor=executor)
        assert executor.submit(int, "1").result() == 1, "an executor that was lent is not shut down"
    assert result_bytes(tmp_path) == patient_bytes


@pytest.mark.parametrize(("seed", "workers"), [("0", 1), ("1", 2)])
def test_results_do_not_depend_on_the_hash_seed(tmp_path, seed, workers):
    """An agent that draws shows it best: its seeds come from scenario ids."""
    args = ("diagnose", "--agent", "random", *SMALL_ARGS, "--workers", workers, "--out", tmp_path / "run")
    code, _, err = run_cli(*args, environment={"PYTHONHASHSEED": seed})
    assert code == 0, err
    run_task(EPISODES, build_scripted("random"), SMALL, tmp_path / "here")
    assert result_bytes(tmp_path / "run") == result_bytes(tmp_path / "here")


def test_an_episode_alone_equals_itself_inside_a_batch(tmp_path):
    one = SuiteSpec.parse("fresh", seed=3, n_per_cell=1, sample=1)
    alone = run_task(EPISODES, PATIENT, one, tmp_path / "alone").records[0]
    inside = {record.scenario_id: record for record in run_task(EPISODES, PATIENT, SMALL, tmp_path / "batch").records}
    assert inside[alone.scenario_id] == alone


def test_a_finished_run_plays_nothing_again(tmp_path, patient_bytes):
    run_task(EPISODES, PATIENT, SMALL, tmp_path)
    before = (tmp_path / LOG).read_bytes()
    run = run_task(EPISODES, PATIENT, SMALL, tmp_path, progress=Stop(1))
    assert run.resumed == NUM_SMALL
    assert (tmp_path / LOG).read_bytes() == before
    assert result_bytes(tmp_path) == patient_bytes


@pytest.mark.parametrize(("first", "then"), [(1, 2), slow(2, 1), slow(2, 3)])
def test_an_interrupted_run_goes_on_with_other_workers(tmp_path, patient_bytes, first, then):
    with pytest.raises(KeyboardInterrupt):
        run_task(EPISODES, PATIENT, SMALL, tmp_path, workers=first, progress=Stop(5))
    kept = logged_ids(tmp_path)
    # Several workers may have played all before the fifth row is looked at; a single one cannot.
    assert kept
    assert first > 1 or len(kept) < NUM_SMALL
    run = run_task(EPISODES, PATIENT, SMALL, tmp_path, workers=then)
    assert run.resumed == len(set(kept))
    assert set(kept) <= set(logged_ids(tmp_path))
    assert result_bytes(tmp_path) == patient_bytes


def test_another_run_in_the_same_folder_is_refused_and_the_difference_named(tmp_path):
    run_task(EPISODES, PATIENT, SMALL, tmp_path)
    before = result_bytes(tmp_path, (*RESULTS, LOG))
    with pytest.raises(RunError, match=r"holds another run \(agent: 'patient' there, 'conceder' now\)"):
        run_task(EPISODES, build_scripted("conceder"), SMALL, tmp_path)
    with pytest.raises(RunError, match=r"\(spec\.seed: 3 there, 4 now; digests\.suite: "):
        run_task(EPISODES, PATIENT, SMALL.model_copy(update={"seed": 4}), tmp_path)
    harsher = SMALL.game.model_copy(update={"walk": SMALL.game.walk.model_copy(update={"phi_0": -3.0})})
    with pytest.raises(RunError, match=r"\(spec\.game\.walk\.phi_0: -4\.5 there, -3\.0 now\)"):
        run_task(EPISODES, PATIENT, SMALL.model_copy(update={"game": harsher}), tmp_path)
    with pytest.raises(RunError, match=r"settings\.model: None there, 'other' now"):
        run_task(EPISODES, PATIENT, SMALL, tmp_path, settings={"model": "other"})
    assert result_bytes(tmp_path, (*RESULTS, LOG)) == before


def test_a_folder_in_use_is_refused(tmp_path):
    with exclusive_lock(tmp_path), pytest.raises(RunLockedError, match="in use by another process"):
        run_task(EPISODES, PATIENT, SMALL, tmp_path)


def test_a_torn_line_is_reported_and_its_episode_played_again(tmp_path, patient_bytes):
    run_task(EPISODES, PATIENT, SMALL, tmp_path)
    log = tmp_path / LOG
    log.write_bytes(log.read_bytes()[:-20])
    run = run_task(EPISODES, PATIENT, SMALL, tmp_path)
    assert run.torn > 0
    assert run.resumed == NUM_SMALL - 1
    assert result_bytes(tmp_path) == patient_bytes


def test_a_damaged_log_is_not_written_over(tmp_path):
    run_task(EPISODES, PATIENT, SMALL, tmp_path)
    data = bytearray((tmp_path / LOG).read_bytes())
    data[500] ^= 1
    (tmp_path / LOG).write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        run_task(EPISODES, PATIENT, SMALL, tmp_path)
    assert (tmp_path / LOG).read_bytes() == data


@pytest.mark.parametrize("workers", [0, -1])
def test_a_number_of_workers_that_is_none_is_refused(tmp_path, workers):
    with pytest.raises(ValueError, match="workers="):
        run_task(EPISODES, PATIENT, SMALL, tmp_path, workers=workers)


def test_an_agent_that_cannot_be_sent_is_refused_by_name(tmp_path):
    def local_agent(observation):
        return PATIENT.act(observation)

    with pytest.raises(ValueError, match=r"agent 'local_agent' cannot be sent .* use workers=1"):
        run_task(EPISODES, local_agent, SMALL, tmp_path, workers=2)
    assert run_task(EPISODES, local_agent, SMALL, tmp_path).is_complete


def test_an_agent_with_concurrency_plays_in_threads(tmp_path, patient_bytes):
    run_task(EPISODES, MeetsOthers(), SMALL, tmp_path)
    assert verify_run(EPISODES, tmp_path) == []
    records = load_run(EPISODES, tmp_path).records
    assert [record.utility for record in records] == [
        record.utility for record in run_task(EPISODES, PATIENT, SMALL, tmp_path / "patient").records
    ]


class TestAgentRaises:
    def test_alone_the_exception_passes_and_finished_episodes_stay(self, tmp_path):
        reached = [r.rounds_played >= 3 for r in run_task(EPISODES, PATIENT, SMALL, tmp_path / "patient").records]
        index = max(i for i, long_enough in enumerate(reached) if long_enough)
        with pytest.raises(KeyError, match="no such key") as caught:
            run_task(EPISODES, Raises(hit(index)), SMALL, tmp_path / "run")
        assert any("'raises' in round 3 of fresh-3/" in note for note in caught.value.__notes__)
        assert logged_ids(tmp_path / "run") == [s.scenario_id for s in SMALL.build()[:index]]
        assert not (tmp_path / "run" / "summary.json").exists(), "a run that is not complete has no results"

    @pytest.mark.parametrize(("awkward", "kind"), [(False, KeyError), (True, RuntimeError)])
    def test_in_a_worker_it_passes_with_its_traceback_even_if_it_cannot_be_pickled(self, tmp_path, awkward, kind):
        agent = Raises(hit(NUM_SMALL - 1), round=1, awkward=awkward)
        with pytest.raises(kind, match="no such key") as caught:
            run_task(EPISODES, agent, SMALL, tmp_path, workers=2)
        assert any("in act" in note and "Traceback" in note for note in caught.value.__notes__)
        assert len(logged_ids(tmp_path)) > NUM_SMALL // 2
        run = run_task(EPISODES, Raises(at=-1.0), SMALL, tmp_path)
        assert run.is_complete

    def test_the_episodes_before_it_in_its_chunk_are_kept(self, tmp_path):
        spec = SMALL.model_copy(update={"n_per_cell": 3})  # chunks of 3
        at = spec.build()[2].agent_type.reservation_price
        with ThreadPoolExecutor(1) as executor, pytest.raises(KeyError):
            run_task(EPISODES, Raises(at, round=1), spec, tmp_path, executor=executor)
        assert logged_ids(tmp_path)[:2] == [s.scenario_id for s in spec.build()[:2]]


class TestProvider:
    def test_lost_trials_are_excluded_counted_and_tried_again(self, tmp_path):
        outage = tmp_path / "outage"
        agent = ProviderDown(str(outage))
        run_task(EPISODES, agent, SMALL, tmp_path / "calm")
        outage.touch()
        run = run_task(EPISODES, agent, SMALL, tmp_path / "run")
        lost = [record for record in run.records if record.is_excluded]
        assert len(lost) == NUM_SMALL // 2
        assert {record.fault for record in lost} == {ReplyFault.PROVIDER}
        metrics = run_summary(run)
        assert (metrics.num_episodes, metrics.num_excluded) == (NUM_SMALL, NUM_SMALL // 2)
        assert metrics.overall["mean_utility"].n == NUM_SMALL // 2
        assert verify_run(EPISODES, tmp_path / "run") == []
        outage.unlink()
        again = run_task(EPISODES, agent, SMALL, tmp_path / "run")
        assert again.resumed == NUM_SMALL // 2
        assert run_summary(again).num_excluded == 0
        assert result_bytes(tmp_path / "run") == result_bytes(tmp_path / "calm")
        assert verify_run(EPISODES, tmp_path / "run") == []

    def test_a_later_outage_does_not_replace_a_played_trial(self, tmp_path):
        outage = tmp_path / "outage"
        agent = ProviderDown(str(outage))
        run_task(EPISODES, agent, SMALL, tmp_path / "run")
        outage.touch()
        assert not any(record.is_excluded for record in run_task(EPISODES, agent, SMALL, tmp_path / "run").records)


def run_summary(run):
    from terms.metrics import summarize

    return summarize(run.records)


def test_a_killed_worker_is_an_error_and_the_run_goes_on(tmp_path):
    agent = DiesOnce(hit(40), str(tmp_path / "mark"))
    with pytest.raises(RunError, match="a worker process died; run the same command again"):
        run_task(EPISODES, agent, SMALL, tmp_path / "run", workers=2)
    kept = logged_ids(tmp_path / "run")
    assert len(kept) < NUM_SMALL
    run_task(EPISODES, agent, SMALL, tmp_path / "run", workers=2)
    assert set(kept) < set(logged_ids(tmp_path / "run"))
    run_task(EPISODES, agent, SMALL, tmp_path / "calm")
    assert result_bytes(tmp_path / "run") == result_bytes(tmp_path / "calm")


class TestFullDisk:
    def test_the_log_stays_whole_and_the_run_goes_on(self, tmp_path, monkeypatch, patient_bytes):
        real, room = os.write, [30_000]

        def limited(file, data):
            if room[0] == 0:
                raise OSError(28, "No space left on device")
            done = real(file, data[: room[0]])
            room[0] -= done
            return done

        with monkeypatch.context() as patch:
            patch.setattr(journal.os, "write", limited)
            with pytest.raises(OSError, match="No space left"):
                run_task(EPISODES, PATIENT, SMALL, tmp_path)
        assert 0 < len(logged_ids(tmp_path)) < NUM_SMALL
        assert load_run(EPISODES, tmp_path).torn == 0
        run_task(EPISODES, PATIENT, SMALL, tmp_path)
        assert result_bytes(tmp_path) == patient_bytes

    @pytest.mark.parametrize("workers", [1, slow(2)])
    def test_the_command_says_so_and_goes_on(self, tmp_path, workers, patient_bytes):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

        args = ("diagnose", "--agent", "patient", *SMALL_ARGS, "--workers", workers, "--out", tmp_path)
        code, out, err = run_cli(*args, preexec_fn=limit)
        assert code == 2, err
        assert "File too large" in err
        assert out == ""
        assert 0 < len(logged_ids(tmp_path)) < NUM_SMALL
        assert run_cli(*args)[0] == 0
        assert result_bytes(tmp_path) == patient_bytes


def kill_and_resume(folder, rng, *, workers, expected, after_lines):
    """Kill a run at a moment that ``rng`` picks, go on without rests, and compare; return how much was kept."""
    process = start_cli(*SLOW_ARGS, "--workers", workers, "--out", folder, pause=0.004)
    if after_lines:
        wanted = int(rng.integers(1, NUM_SMALL - 20))
        wait_for(lambda: len(logged_ids(folder)) >= wanted)
    else:
        time.sleep(float(rng.uniform(0.2, 2.0)))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = logged_ids(folder)
    code, _, err = run_cli(*SLOW_ARGS, "--workers", workers, "--out", folder)
    assert code == 0, err
    ids = logged_ids(folder)
    assert set(kept) <= set(ids), "what was finished stays"
    assert len(ids) == len(set(ids)) == NUM_SMALL, "nothing is done twice"
    assert result_bytes(folder) == expected
    assert verify_run(EPISODES, folder) == []
    return len(kept)


class TestKilled:
    @pytest.mark.parametrize("repeat", range(KILLS_FAST))
    def test_results_are_those_of_an_undisturbed_run(self, tmp_path, slow_bytes, repeat):
        rng = np.random.default_rng([1, repeat])
        kept = kill_and_resume(tmp_path, rng, workers=1 + repeat % 2, expected=slow_bytes, after_lines=True)
        assert 0 < kept < NUM_SMALL, "the process must be killed in the middle of the run"

    @pytest.mark.slow
    def test_at_twenty_random_moments(self, tmp_path, slow_bytes):
        rng = np.random.default_rng(2)
        kept = [
            kill_and_resume(
                tmp_path / str(repeat), rng, workers=1 + repeat % 2, expected=slow_bytes, after_lines=repeat % 4 > 0
            )
            for repeat in range(KILLS_SLOW)
        ]
        assert sum(0 < count < NUM_SMALL for count in kept) >= KILLS_SLOW // 2

    @pytest.mark.slow
    def test_again_and_again_in_one_folder(self, tmp_path, slow_bytes):
        rng, seen = np.random.default_rng(3), [0]
        for repeat in range(30):
            process = start_cli(*SLOW_ARGS, "--workers", 1 + repeat % 2, "--out", tmp_path, pause=0.01)
            time.sleep(float(rng.uniform(0.3, 1.2)))
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            seen.append(len(logged_ids(tmp_path)))
            assert seen[-1] >= seen[-2], "a kill loses nothing that was finished"
        assert run_cli(*SLOW_ARGS, "--out", tmp_path)[0] == 0
        assert len(logged_ids(tmp_path)) == NUM_SMALL
        assert result_bytes(tmp_path) == slow_bytes

    def test_no_worker_outlives_its_parent(self, tmp_path):
        process = start_cli(*SLOW_ARGS, "--workers", 2, "--out", tmp_path, pause=0.05)
        wait_for(lambda: logged_ids(tmp_path))
        workers = children_of(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        wait_for(lambda: not any(map(is_alive, workers)), seconds=10)


class TestInterrupted:
    @pytest.mark.parametrize(("workers", "times"), [(1, 1), slow(1, 2), slow(2, 1), (2, 2)])
    def test_ctrl_c_keeps_what_is_finished(self, tmp_path, slow_bytes, workers, times):
        process = start_cli(*SLOW_ARGS, "--workers", workers, "--out", tmp_path, pause=0.02)
        wait_for(lambda: len(logged_ids(tmp_path)) >= 3)
        children = children_of(process.pid)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.03)
        out, err = process.communicate(timeout=20)
        # The second one may come while the process is ending anyway; a shell shows 130 for both.
        assert process.returncode in (130, -signal.SIGINT), err
        assert out == ""
        assert "everything finished is kept" in err
        assert "Traceback" not in err
        wait_for(lambda: not any(map(is_alive, children)), seconds=10)
        kept = logged_ids(tmp_path)
        assert 3 <= len(kept) < NUM_SMALL
        code, _, err = run_cli(*SLOW_ARGS, "--workers", workers, "--out", tmp_path)
        assert code == 0
        assert f"note: {len(set(kept))} of {NUM_SMALL} episodes were already in" in err
        assert set(kept) <= set(logged_ids(tmp_path))
        assert result_bytes(tmp_path) == slow_bytes

    def test_a_second_process_on_the_folder_is_refused(self, tmp_path):
        process = start_cli(*SLOW_ARGS, "--out", tmp_path, pause=0.05)
        try:
            wait_for(lambda: logged_ids(tmp_path))
            code, out, err = run_cli(*SLOW_ARGS, "--out", tmp_path)
            assert (code, out) == (2, "")
            assert "in use by another process" in err
        finally:
            process.kill()
            process.communicate()

    def test_a_slow_episode_is_kept_before_its_chunk_is_over(self, tmp_path):
        """Cheap episodes travel in chunks; one that takes long, perhaps paid for, must not wait for the others."""
        spec = SMALL.model_copy(update={"n_per_cell": 10})  # 720 episodes, chunks of 11
        os.environ["TEST_PAUSE"] = "0.2"
        try:
            with ThreadPoolExecutor(1) as executor, pytest.raises(KeyboardInterrupt):
                run_task(EPISODES, Slow(), spec, tmp_path, executor=executor, progress=Stop(1))
        finally:
            del os.environ["TEST_PAUSE"]
        assert len(logged_ids(tmp_path)) < 11


@pytest.mark.slow
def test_runs_from_a_script_need_no_terminal(tmp_path):
    """The Python API prints nothing."""
    code = (
        "from experiments.episodes.config import SuiteSpec\n"
        "from experiments.episodes.runner import run_suite\n"
        "from terms.agents import build_scripted\n"
        "if __name__ == '__main__':\n"
        "    spec = SuiteSpec.parse('fresh', n_per_cell=1, sample=5)\n"
        f"    run_task(EPISODES, build_scripted('patient'), spec, {str(tmp_path / 'run')!r}, workers=2)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], cwd=REPOSITORY, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


class TestRepeats:
    def test_only_what_the_agent_draws_differs(self, tmp_path):
        spec = TINY.model_copy(update={"repeats": 3})
        run = run_task(EPISODES, build_scripted("random"), spec, tmp_path, workers=2)
        assert run.is_complete
        assert run.repeats == (0, 1, 2) * 12
        assert len(set(run.seeds)) == 36
        plays = [run.records[start : start + 3] for start in range(0, 36, 3)]
        for first, *others in plays:
            assert all(other.counterpart_type == first.counterpart_type for other in others)
        assert any(len({each.utility for each in play}) > 1 for play in plays), "the agent draws anew"
        assert verify_run(EPISODES, tmp_path) == []

    def test_the_first_play_is_that_of_a_run_without_repeats(self, tmp_path):
        once = run_task(EPISODES, build_scripted("random"), TINY, tmp_path / "once")
        spec = TINY.model_copy(update={"repeats": 2})
        twice = run_task(EPISODES, build_scripted("random"), spec, tmp_path / "twice")
        assert twice.records[::2] == once.records
        assert load_run(EPISODES, tmp_path / "twice").header.spec.label == "fresh-3-sample12-x2"

    def test_an_agent_that_draws_nothing_plays_the_same_again(self, tmp_path):
        run = run_task(EPISODES, PATIENT, TINY.model_copy(update={"repeats": 2}), tmp_path)
        assert run.records[::2] == run.records[1::2]
