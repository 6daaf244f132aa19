"""One rule for every kind of folder: damage to any byte of any file is found, or the file is listed as not covered."""

from __future__ import annotations

import pytest

from commerce.bankroll import BankrollConfig
from experiments.engine.run import LOGS, load_run, run_task
from experiments.engine.verify import not_covered, verify_run
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import DROPPED, LOG
from experiments.episodes.suite_task import EPISODES
from experiments.fault_server import FaultServer
from experiments.llm.calls import MODEL_CALLS
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.modes import check_folder
from experiments.players.registry import ModelOptions, build_agent
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import CallRequest
from experiments.sessions.folder import GAP
from experiments.sessions.gap import sessions_gap
from experiments.sessions.gap_file import write_gap
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from experiments.storage.journal import HEADER, encode_line
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.years.run import run_year
from experiments.years.seats import merchant_seat
from experiments.years.spec import YearSpec
from experiments.years.taking_over import branch_seat, read_origin
from oracle.bankroll.menu import MenuSettings, sample_outcomes
from oracle.bankroll.worth import session_worth
from terms.agents import build_scripted
from terms.strict_json import strict_loads
from tests.experiments.engine.damage import damaged
from tests.experiments.folders import rewrite_log
from tests.experiments.sessions.test_gap import CHAIN, RULES, SPEC

PATIENT = build_scripted("patient")
FEW = SuiteSpec.parse("fresh", seed=3, n_per_cell=1, sample=4)


def episodes(folder, seed):
    run_task(EPISODES, PATIENT, FEW.model_copy(update={"seed": seed, "repeats": 2}), folder)


def catalogue(folder, seed):
    items = folder.parent / "items.csv"
    items.write_text("name,reference_price,low_price,high_price,details\nKettle,45,30,64,{}\nTable,x,1,2,{}\n")
    run_task(EPISODES, PATIENT, SuiteSpec.parse(f"catalog:{items}", n_per_cell=1, sample=4, seed=seed), folder)


def sessions(folder, seed):
    spec = SPEC.model_copy(update={"chain": CHAIN.model_copy(update={"seed": seed})})
    run = run_task(SESSIONS, PATIENT, spec, folder)
    outcomes = sample_outcomes(spec.chain, spec.economics, RULES, MenuSettings(num_suppliers=8, num_judged=1))
    worth = session_worth(outcomes, RULES, num_groups=2)
    write_gap(run, sessions_gap(run, PATIENT, worth), worth)


def of_a_model(task, spec):
    def play(folder, seed):
        with FaultServer() as server:
            agent = build_agent("openai:bot", ModelOptions.of(base_url=server.url, concurrency=1))
            run_task(task, agent, spec, folder, settings=agent.settings)

    return play


def merchants_year(folder, seed):
    run_year(folder, YearSpec(world_seed=seed, num_days=4), "random-legal")


def branch_of_a_year(folder, seed):
    whole = folder.parent / f"whole-{seed}"
    merchants_year(whole, seed)
    run_year(folder, YearSpec(world_seed=seed, num_days=4), branch_seat(read_origin(whole, 2), merchant_seat("idle")))


def models_year(folder, seed):
    with FaultServer() as server:
        model = ModelSettings(model="shop/idle/3", base_url=server.url, max_output_tokens=500)
        client = ChatClient(model, meter=Meter())
        seat = StorekeeperSeat("shop", model, client=client)
        run_year(folder, YearSpec(world_seed=seed, num_days=3), seat)
        client.close()


def served_year(folder, seed):
    settings = ServeSettings(out=folder.parent / "served", world_seed=seed, num_days=3)
    with ServedYears(settings) as sessions:
        year = sessions.open("outsider", 0)
        for turn in range(3):
            year.act([CallRequest(name="wait_for_next_day")], str(turn), turn=turn)
    settings.folder("outsider", 0).rename(folder)


KINDS = {
    "year of a merchant": merchants_year,
    "branch of a year": branch_of_a_year,
    "year of a model": models_year,
    "year of an agent outside": served_year,
    "episodes": episodes,
    "episodes of a catalogue": catalogue,
    "episodes of a model": of_a_model(EPISODES, FEW),
    "sessions": sessions,
    "sessions of a model": of_a_model(
        SESSIONS, SessionsSpec(bankroll=BankrollConfig(num_sessions=2, horizon=3), with_memoryless=True)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_damage_is_found_or_the_file_is_listed(tmp_path, kind):
    run, other, scratch = tmp_path / "run", tmp_path / "other", tmp_path / "scratch"
    scratch.mkdir()
    KINDS[kind](run, 5)
    KINDS[kind](other, 6)
    findings, listed = check_folder(run)
    assert findings == []
    assert listed == (["gap.json: whether it is there at all"] if kind == "sessions" else [])
    silent = []
    for file, damage, copy in damaged(run, other, scratch):
        findings, _ = check_folder(copy)
        assert not any("\n" in finding for finding in findings), (file, damage, findings)
        is_listed = damage == "missing" and any(line.startswith(f"{file}: whether") for line in listed)
        if not is_listed and not any(file in finding for finding in findings):
            silent.append((file, damage, findings))
    assert silent == [], "\n".join(map(str, silent))
    assert {"run.json", LOGS} <= {path.name for path in run.iterdir()}


def test_an_emptied_log_of_model_calls_is_found(tmp_path):
    KINDS["episodes of a model"](tmp_path, 5)
    assert verify_run(EPISODES, tmp_path) == []
    (tmp_path / MODEL_CALLS).write_bytes(b"")
    found = verify_run(EPISODES, tmp_path)
    assert f"{MODEL_CALLS} lacks " in found[0]
    assert f"{LOGS} is not what {MODEL_CALLS} give" in found[-1]


def test_a_receipt_says_what_the_log_of_calls_says(tmp_path):
    KINDS["episodes of a model"](tmp_path, 5)

    def other_words(rows):
        rows[0]["receipts"][0]["attempts"][0]["text"] = "other words"
        return rows

    rewrite_log(tmp_path / LOG, other_words)
    found = verify_run(EPISODES, tmp_path)
    assert f"/r1/first has another text than {MODEL_CALLS}" in found[0]


def test_a_receipt_that_is_none_is_said_in_one_line(tmp_path):
    KINDS["episodes of a model"](tmp_path, 5)

    def no_receipt(rows):
        rows[0]["receipts"] = [None]
        return rows

    rewrite_log(tmp_path / LOG, no_receipt)
    assert verify_run(EPISODES, tmp_path) == [
        f"{tmp_path / LOG}, line 1: a receipt has None, needed are round, verdict and attempts"
    ]


@pytest.mark.parametrize("play", [episodes, merchants_year])
def test_a_header_without_the_digest_of_its_mode_is_none(tmp_path, play):
    play(tmp_path, 5)
    header = strict_loads((tmp_path / HEADER).read_bytes())["data"] | {"digests": {"other": "x"}}
    (tmp_path / HEADER).write_bytes(encode_line(header))
    (found,), _ = check_folder(tmp_path)
    assert "digests are of other; needed is " in found


def test_a_second_line_for_an_episode_is_found(tmp_path):
    episodes(tmp_path, 3)
    data = (tmp_path / LOG).read_bytes()
    forged = data.splitlines(keepends=True)[0]
    (tmp_path / LOG).write_bytes(data + forged)
    assert "line 9: the checksum does not match" in verify_run(EPISODES, tmp_path)[0]


def test_what_is_no_part_of_a_run_is_listed(tmp_path):
    catalogue(tmp_path / "run", 3)
    assert (tmp_path / "run" / DROPPED).exists()
    (tmp_path / "run" / "two\nlines").write_text("mine")
    (tmp_path / "run" / "link").symlink_to(tmp_path, target_is_directory=True)
    strange = not_covered(EPISODES, tmp_path / "run")
    assert [line.partition(":")[0] for line in strange] == ["link", "two\\nlines"]
    (tmp_path / "run" / "two\nlines").rename(tmp_path / "run" / "report.html")
    (tmp_path / "run" / "link").unlink()
    assert not_covered(EPISODES, tmp_path / "run") == [
        "report.html: no part of the run, or of one that is not finished"
    ]
    lines = (tmp_path / "run" / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / "run" / LOG).write_bytes(b"".join(lines[:2]))
    names = [line.partition(":")[0] for line in not_covered(EPISODES, tmp_path / "run")]
    assert names == ["episodes.parquet", LOGS, "report.html", "summary.json"]
    assert not load_run(EPISODES, tmp_path / "run").is_complete


def test_the_gap_is_covered(tmp_path):
    sessions(tmp_path, 5)
    (tmp_path / GAP).write_bytes((tmp_path / GAP).read_bytes().replace(b'"survival"', b'"Survival"'))
    assert GAP in verify_run(SESSIONS, tmp_path)[0]
