"""No value of any option ends in a traceback, tells a secret, or leaves anything behind where it is refused."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import signal
import socket
import sys
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.cli.commands import COMMANDS
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from terms.agents import build_scripted
from tests.experiments.cli.hostile_values import SECRET, HostileValue, hostile_values, lay_out
from tests.experiments.folders import TINY

SECRET_SETTINGS = {"api_key_env", "base_url", "extra_body"}
EXIT_CODES = {0, 1, 2, 3, 4}
WORK = (
    "experiments.cli.diagnose.run_task",
    "experiments.cli.play.run_task",
    "experiments.cli.ledger.replay_year",
    "experiments.cli.branch.read_origin",
    "experiments.cli.bankroll.run_task",
    "experiments.cli.matches.run_task",
    "experiments.cli.matches.run_tournament",
    "experiments.cli.oracle.prepared_bayes_optimal",
    "experiments.cli.decompose.prepared_bayes_optimal",
    "experiments.cli.decompose.seated_apart",
    "experiments.cli.seating.prepared_bayes_optimal",
    "experiments.cli.explain.prepared_bayes_optimal",
    "experiments.cli.export.prepared_bayes_optimal",
    "experiments.cli.train_oracle.map_pieces",
    "experiments.cli.year.run_merchant_years",
    "experiments.cli.year.run_agent_years",
    "experiments.episodes.money_fit.play_sweeps",
    "experiments.players.probing.probe",
    "experiments.players.served.list_served",
    "experiments.players.local.serve_forever",
    "experiments.players.local.LocalServer",
    "experiments.serving.server.serve_http",
    "experiments.viewing.live_page.shown_page",
    "experiments.serving.worlds.Worlds.warm_up",
    "experiments.serving.worlds.find_or_draw_seed",
    "commerce.world.generate_world",
    "distributed.Client.__init__",
)
"""Where each command would begin to work."""


SECONDS = 10
"""Longest time that a refusal may take; one that takes longer would fill the memory or wait for ever."""


class TooLongError(RuntimeError):
    """The value is not refused and nothing begins."""


MANY = 100
"""Episodes per cell from which on building a suite is work as well."""


def _too_long(*_):
    raise TooLongError


class WorkBeganError(BaseException):
    """The value was taken."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for name, agent in (("run", "patient"), ("other", "random")):
        run_task(EPISODES, build_scripted(agent), TINY, folder / name)
    lay_out(folder)
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        os.chdir(folder)
        bound.bind("socket")
        os.chdir(here)
        yield folder


@pytest.fixture
def end_of(runs, monkeypatch, capsys):
    """Return a function: how a command line ends (``None`` for work begun), what it says, and what it leaves."""
    monkeypatch.chdir(runs)
    monkeypatch.setattr(signal, "_kept", signal.signal(signal.SIGALRM, _too_long), raising=False)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    monkeypatch.setenv("BAD_KEY", f"{SECRET}\nx")
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def begin(*args, **kwargs):
        raise WorkBeganError

    for place in WORK:
        monkeypatch.setattr(place, begin)
    replace = Path.replace

    def replace_here(path, target):
        assert runs in Path(os.path.realpath(target)).parents, f"{target} would be replaced"
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_here)
    build = SuiteSpec.build
    monkeypatch.setattr(SuiteSpec, "build", lambda spec: begin() if spec.n_per_cell > MANY else build(spec))

    def run(args):
        monkeypatch.setattr(sys, "argv", ["terms", *args])
        monkeypatch.setattr(sys, "path", list(sys.path))
        before = set(runs.rglob("*"))
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        except WorkBeganError:
            code = None
        shown = capsys.readouterr()
        return code, shown.out, shown.err, sorted(str(path) for path in set(runs.rglob("*")) - before)

    return run


def faults_of(case: HostileValue, end_of) -> list[str]:
    """Return what is wrong with how a case ends."""
    signal.alarm(SECONDS)
    try:
        code, printed, told, left = end_of(case.args)
    except Exception as error:  # noqa: BLE001 - every one is a traceback to the user
        return [f"{type(error).__name__}: {str(error)[:200]}"]
    finally:
        signal.alarm(0)
    faults = []
    if SECRET in printed + told:
        faults.append("tells the secret")
    if any(not (sign.isprintable() or sign == "\n") for sign in told):
        faults.append(f"steers the terminal: {told!r:.200}")
    if code is None or code == 0:
        return faults
    if code not in EXIT_CODES:
        faults.append(f"exit code {code}")
    line = told.splitlines()[-1] if told else ""
    if left:
        faults.append(f"leaves {left[:3]}")
    if code == 2 and (not line.startswith("error: ") or len(line) > 1700):
        faults.append(f"no line of an error: {told!r:.300}")
    if code == 2 and not is_named(case, line):
        faults.append(f"field or value is not named: {line[:300]!r}")
    return faults


def is_named(case: HostileValue, line: str) -> bool:
    """Whether a line names the option, or the setting in its value, and the value; of an argument, the value."""
    option = case.option.lstrip("-").replace("-", "_")
    key, _, rest = case.value.partition("=")
    said = line.replace("-", "_")
    fields = {option, option.removesuffix("y"), *re.findall(r"\w+", key.replace("-", "_"))}
    words = [case.value[:20], *re.findall(r"\w+", case.value), repr(case.value)[1:15]]
    if case.option in ("--agent", "--merchant"):
        fields |= {"agent", "model"}
    if case.value.startswith("catalog:"):
        fields.add("path")
    has_field = not case.option.startswith("--") or any(field in said for field in fields)
    with contextlib.suppress(ValueError):
        words.append(str(float(case.value)))  # a number is told as it was read
    is_run = case.value == "run"  # its agent may be named in its place
    is_empty = (
        not case.value.removeprefix("catalog:").strip()
        or is_run
        or ("=" in case.value and not (key.strip() and rest.strip()))
    )
    has_value = is_empty or any(word[:20] in line for word in words if word)
    is_secret = SECRET in case.value or key in SECRET_SETTINGS or rest.startswith(("[", "{"))
    return has_field and (has_value or is_secret or not case.value.isprintable())


def check(cases, end_of):
    found = {case: faults for case in cases if (faults := faults_of(case, end_of))}
    assert not found, "\n".join(
        f"{case.command} {case.option}={case.value!r:.80}: {fault}"
        for case, faults in found.items()
        for fault in faults
    )


def test_a_sample_of_hostile_values(end_of):
    cases = hostile_values()
    assert len(cases) > 1_000
    check(random.Random(0).sample(cases, 120), end_of)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_hostile_value(end_of, command):
    check([case for case in hostile_values() if case.command == command], end_of)
