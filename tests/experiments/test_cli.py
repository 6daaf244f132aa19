from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from experiments.cli import app, ending
from experiments.engine.run import run_task
from experiments.episodes.folder import LOG
from experiments.episodes.suite_task import EPISODES
from terms.agents import build_scripted
from terms.metrics import METRIC_BY_NAME
from terms.strict_json import strict_loads
from terms.types import ReplyFault, Unusable
from tests.experiments.folders import CONSOLE_SCRIPT, REPOSITORY, SMALL_ARGS, TINY, logged_ids

COMMANDS = ("diagnose", "play", "compare", "report", "verify", "agents", "suites")
TINY_ARGS = ("--suite", "fresh", "--seed", "3", "--episodes-per-cell", "1", "--regime", "overlap", "--family", "candid")
SLICES = {
    "regimes": {"overlap", "urgency_shift", "no_deal"},
    "families": {"candid", "taciturn", "expressive", "strategic", "stochastic", "adversarial"},
    "roles": {"buyer", "seller"},
    "openers": {"counterpart_opens", "agent_opens"},
    "difficulty": {f"bin_{index}" for index in range(5)},
}
NAMED = ("mean_utility", "se_plus", "agr_plus", "cse_plus", "fagr_minus", "be_type", "stance_acc", "crit_viol_pct")
ITEMS = "name,reference_price,low_price,high_price\nKettle,45,30,64\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in ("patient", "random", "accept-any"):
        run_task(EPISODES, build_scripted(name), TINY, folder / name)
    return folder


def script(*args, cwd, environment=None, **options):
    """Run the console script as a user would, in another directory."""
    return subprocess.run(
        [CONSOLE_SCRIPT, *map(str, args)],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_explains_itself_at_any_width(self, command):
        runner = CliRunner()
        for columns in ("30", "80", "300"):
            result = runner.invoke(app, [command, "--help"], env={"COLUMNS": columns, "NO_COLOR": "1"})
            assert result.exit_code == 0
            assert "Usage:" in result.output
            assert "\x1b[" not in result.output

    def test_no_command_shows_the_commands(self, terms):
        code, out, err = terms()
        assert code == 2
        assert all(command in out + err for command in COMMANDS)

    def test_lists(self, terms):
        code, out, err = terms("agents")
        assert (code, err) == (0, "")
        assert "patient" in out
        assert "python:MODULE:NAME" in out
        code, out, err = terms("suites")
        assert (code, err) == (0, "")
        for word in ("fresh", "published", "catalog:PATH", "0.6 r_buyer", "no_deal", "adversarial"):
            assert word in out


class TestDiagnose:
    def test_json_is_one_strict_object_with_the_keys_promised(self, terms):
        code, out, err = terms("diagnose", "--agent", "patient", *SMALL_ARGS, "--json")
        assert (code, err) == (0, "")
        assert out.count("\n") == 1
        result = strict_loads(out)
        parts = [result["overall"]]
        for name, keys in SLICES.items():
            assert set(result[name]) == keys
            parts += result[name].values()
        for part in parts:
            assert set(part) == set(METRIC_BY_NAME) >= set(NAMED)
            for entry in part.values():
                assert set(entry) == {"estimate", "low", "high", "n"}
                assert type(entry["n"]) is int
                if entry["n"] == 0:
                    assert entry["estimate"] is entry["low"] is entry["high"] is None
        assert result["overall"]["be_type"]["estimate"] is None, "a silent agent has no belief error, not 0"
        assert result["regimes"]["no_deal"]["se_plus"] == {"estimate": None, "low": None, "high": None, "n": 0}
        assert result["overall"]["mean_utility"]["n"] == result["num_episodes"] == 72
        assert (result["agent"], result["suite"], result["notices"]) == ("patient", "fresh-3-n1", [])

    def test_the_same_command_again_gives_the_same_object_and_a_notice(self, terms):
        args = ("diagnose", "--agent", "patient", *SMALL_ARGS, "--json")
        first, again = terms(*args), terms(*args)
        assert again[:2] == first[:2]
        assert "note: 72 of 72 episodes were already in runs/patient-fresh-3-n1-" in again[2]

    def test_notices_do_not_reach_standard_output(self, terms):
        args = ("--suite", "published", "--regime", "overlap", "--family", "candid", "--episodes-per-cell", "1")
        code, out, err = terms("diagnose", "--agent", "exploit", *args, "--json")
        assert code == 0
        assert "r_seller = 0.6 r_buyer" in err
        assert strict_loads(out)["notices"] == [err.removeprefix("note: ").rstrip("\n")]

    def test_the_table_names_the_folder_and_the_next_command(self, terms):
        code, out, err = terms("diagnose", "--agent", "patient", *TINY_ARGS, "--out", "my run/é")
        assert (code, err) == (0, "")
        assert "SE+" in out
        assert "run folder: my run/é" in out
        assert terms("verify", "my run/é")[0] == 0

    @pytest.mark.parametrize(("columns", "num_tables"), [(300, 1), (80, 2), (40, 2)])
    def test_no_digit_is_cut_off_in_a_narrow_terminal(self, terms, monkeypatch, columns, num_tables):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, _ = terms("diagnose", "--agent", "patient", *TINY_ARGS)
        assert code == 0
        assert "\u2026" not in out
        assert out.count("95 % intervals") == num_tables
        for word in ("overall", "overlap"):
            assert word in out

    def test_a_torn_line_is_said(self, terms, tmp_path):
        args = ("diagnose", "--agent", "patient", *TINY_ARGS, "--out", tmp_path / "run", "--json")
        first = terms(*args)
        log = tmp_path / "run" / LOG
        log.write_bytes(log.read_bytes()[:-9])
        again = terms(*args)
        assert again[:2] == first[:2]
        assert "bytes of an unfinished line" in again[2]

    def test_nothing_to_score_is_exit_code_3(self, terms):
        args = ("diagnose", "--agent", "python:tests.experiments.agents:AlwaysDown", *TINY_ARGS)
        code, out, err = terms(*args, "--json")
        assert code == 3
        assert "4 of 4 trials were lost to the provider" in err
        result = strict_loads(out)
        assert (result["num_excluded"], result["overall"]["mean_utility"]["n"]) == (4, 0)
        assert result["overall"]["crit_viol_pct"]["estimate"] is None
        assert terms(*args)[0] == 3

    def test_settings_of_the_game_come_from_a_file(self, terms, tmp_path):
        (tmp_path / "game.json").write_text('{"horizon": 1}')
        code, out, _ = terms("diagnose", "--agent", "patient", *TINY_ARGS, "--config", "game.json", "--json")
        assert code == 0
        assert strict_loads(out)["overall"]["rounds_played"]["estimate"] == 1

    def test_a_catalogue_is_played(self, terms, tmp_path):
        (tmp_path / "my items.csv").write_text(ITEMS)
        args = ("--suite", "catalog:my items.csv", "--episodes-per-cell", "1", "--family", "candid", "--json")
        code, out, _ = terms("diagnose", "--agent", "patient", *args)
        assert code == 0
        assert strict_loads(out)["num_episodes"] == 12

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("--agent", "patiant"), "did you mean 'patient'?"),
            (("--agent", "patient:gap=high"), "gap='high' of Patient is not a number"),
            (("--agent", "patient", "--suite", "frish"), "allowed are published, fresh, catalog:PATH"),
            (("--agent", "patient", "--suite", "published", "--seed", "1"), "its own seeds"),
            (("--agent", "patient", "--suite", "published", "--episodes-per-cell", "26"), "1 to 25"),
            (("--agent", "patient", "--suite", "catalog:x.csv", "--columns", "Titel"), "needed is field=column"),
            (("--agent", "patient", "--suite", "catalog:nowhere.csv"), "is not a .csv or .json file"),
            (("--agent", "patient", "--regime", "overlapp"), "did you mean 'overlap'?"),
            (("--agent", "patient", "--family", "Candid"), "did you mean 'candid'?"),
            (("--agent", "patient", "--config", "nowhere.json"), "nowhere.json"),
            (("--agent", "patient", "--config", "bad.json"), "config='bad.json': "),
            (("--agent", "patient", "--config", "nan.json"), "NaN is not valid JSON"),
            (("--agent", "patient", "--episodes-per-cell", "0"), "episodes-per-cell"),
            (("--agent", "patient", "--episodes-per-cell", "1000000"), "less than or equal to 10000"),
            (("--agent", "patient", "--seed", "-1"), "seed"),
            (("--agent", "patient", "--workers", "0"), "workers"),
            (("--agent", "patient", "--colour", "red"), "--colour"),
            ((), "--agent"),
        ],
    )
    def test_bad_input_is_exit_code_2_and_one_clear_message(self, terms, tmp_path, args, message):
        (tmp_path / "bad.json").write_text('{"horizn": 3}')
        (tmp_path / "nan.json").write_text('{"price_max": NaN}')
        code, out, err = terms("diagnose", *args)
        assert (code, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
        assert not (tmp_path / "runs").exists(), "refused input leaves nothing behind"

    def test_an_agents_own_exception_is_not_taken_for_bad_input(self, terms, tmp_path):
        (tmp_path / "broken_agent.py").write_text("def act(observation):\n    raise ValueError('my bug')\n")
        with pytest.raises(ValueError, match="my bug"):
            terms("diagnose", "--agent", "python:broken_agent:act", *TINY_ARGS)
        sys.modules.pop("broken_agent")

    def test_an_edited_agent_is_not_answered_with_its_old_run(self, tmp_path):
        agent = tmp_path / "mine.py"
        args = ("diagnose", "--agent", "python:mine:act", *TINY_ARGS, "--json")
        agent.write_text("from terms import Reject\ndef act(observation):\n    return Reject()\n")
        left = script(*args, cwd=tmp_path)
        assert left.returncode == 0, left.stderr
        agent.write_text(
            "from terms import Accept, Offer\ndef act(o):\n    return Accept() if o.can_accept else Offer(50)\n"
        )
        dealt = script(*args, "--workers", "2", cwd=tmp_path)
        assert dealt.returncode == 0, dealt.stderr
        rates = [strict_loads(done.stdout)["overall"]["agr_plus"]["estimate"] for done in (left, dealt)]
        assert rates[0] == 0 < rates[1]


class TestCompare:
    def test_json(self, terms, runs):
        code, out, err = terms(
            "compare", runs / "patient", runs / "random", runs / "accept-any", "--json", "--separation"
        )
        assert (code, err) == (0, "")
        result = strict_loads(out)
        assert set(result) == {
            "metric", "suite", "ranking", "letters", "groups", "num_tests", "num_different",
            "differences", "separation",
        }  # fmt: skip
        assert sorted(result["ranking"]) == ["accept-any", "patient", "random"]
        assert [(d["first"], d["second"]) for d in result["differences"]] == [
            ("patient", "random"), ("patient", "accept-any"), ("random", "accept-any")
        ]  # fmt: skip
        assert {row["metric"] for row in result["separation"]} >= {"se_plus", "fagr_minus"}

    def test_table(self, terms, runs):
        code, out, err = terms("compare", runs / "patient", runs / "random", "--separation")
        assert (code, err) == (0, "")
        assert "patient - random" in out
        assert "fagr_minus in no_deal" in out
        assert "1. patient" in out

    @pytest.mark.parametrize(
        ("names", "options", "message"),
        [
            (("patient",), (), "needs at least 2"),
            (("patient", "patient"), (), "'patient' twice"),
            (("patient", "random"), ("--metric", "cse_plus"), "allowed are se_plus"),
            (("patient", "nowhere"), (), "is not a run folder"),
        ],
    )
    def test_bad_input(self, terms, runs, names, options, message):
        code, out, err = terms("compare", *(runs / name for name in names), *options)
        assert (code, out) == (2, "")
        assert message in err

    def test_runs_on_different_suites_are_refused(self, terms, runs, tmp_path):
        run_task(EPISODES, build_scripted("conceder"), TINY.model_copy(update={"seed": 4}), tmp_path / "other")
        code, _, err = terms("compare", runs / "patient", tmp_path / "other")
        assert code == 2
        assert "different suites (fresh-3-sample12, fresh-4-sample12)" in err

    def test_an_unfinished_run_is_said(self, terms, runs, tmp_path):
        shutil.copytree(runs / "random", tmp_path / "random")
        lines = (tmp_path / "random" / LOG).read_bytes().splitlines(keepends=True)
        (tmp_path / "random" / LOG).write_bytes(b"".join(lines[:9]) + lines[9][:50])
        code, out, err = terms("compare", runs / "patient", tmp_path / "random", "--json")
        assert code == 0
        assert "holds 9 of 12 episodes" in err
        assert "ends in 50 bytes of an unfinished line" in err
        strict_loads(out)


class TestVerify:
    def test_a_right_run_is_exit_code_0(self, terms, runs):
        code, out, err = terms("verify", runs / "patient")
        assert (code, err) == (0, "")
        assert out == "verified: every line of the log played again, every number and every file derived again\n"

    def test_one_changed_digit_is_exit_code_1(self, terms, runs, tmp_path):
        shutil.copytree(runs / "patient", tmp_path / "run")
        path = tmp_path / "run" / "summary.json"
        path.write_text(path.read_text().replace("7", "8", 1))
        code, out, err = terms("verify", tmp_path / "run")
        assert (code, out) == (1, "")
        assert err == "FAILED summary.json is not what the log gives\n"

    def test_a_folder_that_is_no_run_is_said(self, terms, tmp_path):
        code, out, err = terms("verify", tmp_path)
        assert code != 0
        assert out == ""
        assert "is not a run folder" in err


def test_the_command_has_one_blas_thread_before_numpy_loads_unless_told_otherwise():
    source = """
import builtins, os
load, seen = builtins.__import__, []
def watched(name, *rest, **options):
    if name == "numpy" and not seen:
        seen.append(os.environ.get("OPENBLAS_NUM_THREADS"))
    return load(name, *rest, **options)
builtins.__import__ = watched
import experiments.cli.diagnose
print(*seen)
"""
    for given, expected in ((None, "1"), ("2", "2")):
        environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
        environment |= {"OPENBLAS_NUM_THREADS": given} if given else {}
        done = subprocess.run(
            [sys.executable, "-c", source], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [expected]


class TestReport:
    def test_a_page_is_written_and_its_path_printed(self, terms, runs, tmp_path):
        code, out, err = terms("report", runs / "patient", runs / "random", "--out", "page.html")
        assert (code, err) == (0, "")
        assert out == f"report: {tmp_path / 'page.html'}\n"
        assert "How these agents bargain" in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_beliefs_are_followed_on_request(self, terms, runs, tmp_path):
        code, _, err = terms("report", runs / "patient", "--beliefs", "--out", "page.html")
        assert (code, err) == (0, "")
        words = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "Is the exact posterior right?" in words
        assert "nothing to hold against the posterior" in words  # a scripted agent states no belief

    def test_a_run_without_a_scored_episode_has_no_beliefs_to_follow(self, terms, runs, tmp_path):
        def down(observation):
            return Unusable(ReplyFault.PROVIDER, "HTTP 503")

        run_task(EPISODES, down, TINY, tmp_path / "down")
        code, _, _ = terms("report", tmp_path / "down", runs / "patient", "--beliefs", "--out", "page.html")
        assert code == 0
        assert "Is the exact posterior right?" in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_a_run_named_twice_and_a_missing_folder_are_refused(self, terms, runs):
        assert "name each run once" in terms("report", runs / "patient", runs / "patient")[2]
        code, _, err = terms("report", runs / "patient", "--out", "nowhere/page.html")
        assert code == 2
        assert "nowhere" in err


class TestPlay:
    def play(self, text, cwd, *options):
        return script("play", *options, cwd=cwd, input=text)

    def test_through_a_pipe_to_the_end(self, tmp_path):
        done = self.play("hm\n50\nreject\n" * 9, tmp_path, "--seed", "3", "--episodes", "2", "--out", "run")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("You faced this counterpart") == 2
        assert "Type a price to offer it" in done.stdout
        assert "run folder: run" in done.stdout
        assert script("verify", "run", cwd=tmp_path).returncode == 0

    def test_the_end_of_input_is_an_interruption_that_keeps_what_is_finished(self, tmp_path):
        done = self.play("reject\n", tmp_path, "--seed", "3", "--episodes", "3", "--out", "run")
        assert done.returncode == 130
        assert "everything finished is kept" in done.stderr
        assert len(logged_ids(tmp_path / "run")) == 1
        assert self.play("reject\n" * 2, tmp_path, "--seed", "3", "--episodes", "3", "--out", "run").returncode == 0

    def test_without_any_input(self, tmp_path):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "{CONSOLE_SCRIPT}" play --out run <&-'],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 130
        assert "Traceback" not in done.stderr


class TestSurroundings:
    """The console script in other directories, locales, widths and with odd streams."""

    @pytest.mark.parametrize(
        "environment",
        [
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
            {"COLUMNS": "20", "NO_COLOR": "1", "TERM": "dumb"},
            {"PYTHONIOENCODING": "ascii"},
        ],
        ids=lambda environment: ",".join(environment.values()),
    )
    def test_any_locale_and_width(self, tmp_path, environment):
        folder = tmp_path / "with space é"
        folder.mkdir()
        done = script("diagnose", "--agent", "patient", *TINY_ARGS, "--out", "run", cwd=folder, environment=environment)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert "SE+" in done.stdout
        assert "\x1b[" not in done.stdout

    @pytest.mark.slow
    def test_the_same_object_in_every_locale(self, tmp_path):
        args = ("diagnose", "--agent", "patient", *TINY_ARGS, "--json")
        plain = script(*args, "--out", tmp_path / "1", cwd=tmp_path)
        odd = script(*args, "--out", tmp_path / "2", cwd=tmp_path, environment={"LC_ALL": "C", "PYTHONUTF8": "0"})
        assert plain.stdout == odd.stdout
        assert json.loads(plain.stdout)["agent"] == "patient"

    @pytest.mark.parametrize("closing", [">&-", ">&- 2>&- <&-"])
    def test_closed_streams_do_not_harm_the_run(self, tmp_path, closing):
        command = f'exec "{CONSOLE_SCRIPT}" diagnose --agent patient {" ".join(TINY_ARGS)} --out run {closing}'
        done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=False, timeout=60)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        assert script("verify", "run", cwd=tmp_path).returncode == 0

    def test_a_reader_that_leaves_causes_no_traceback(self, tmp_path):
        command = f'"{CONSOLE_SCRIPT}" agents | head -n 1'
        done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=True, timeout=60)
        assert done.stderr == b""
        assert done.stdout.count(b"\n") == 1

    def test_a_folder_that_is_a_file_is_refused(self, terms, tmp_path):
        (tmp_path / "taken").write_text("mine")
        code, out, err = terms("diagnose", "--agent", "patient", *TINY_ARGS, "--out", "taken")
        assert (code, out) == (2, "")
        assert "taken" in err
        assert (tmp_path / "taken").read_text() == "mine"


def test_help_loads_nothing_heavy():
    """What a command does not need must not slow down ``terms --help``."""
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom experiments.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = ('numpy', 'pydantic', 'numba', 'matplotlib', 'pyarrow', 'openai', 'scipy', 'jinja2', 'terms')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_exit_code_of_an_interruption_is_that_of_the_shell():
    assert ending.INTERRUPTED == 130
