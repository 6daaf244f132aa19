"""Every example runs as it stands."""

import subprocess
import sys

import pytest

from tests.experiments.folders import REPOSITORY

EXAMPLES = sorted(path.name for path in (REPOSITORY / "examples").glob("*.py"))
OF_DOORS = {"openenv_session.py", "negmas_opponents.py"}
SAYS = {
    "one_talk_many_times.py": "of the surplus",
    "four_thousand_talks.py": "steps a second",
    "two_learners.py": "second: ",
    "inspect_eval.py": "share {'mean': 0.0",
    "openenv_session.py": "Reject paid",
    "negmas_opponents.py": "against",
}


def test_each_is_known():
    assert set(SAYS) == set(EXAMPLES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.doors] if name in OF_DOORS else []) for name in EXAMPLES]
)
def test_it_runs(name):
    command = [sys.executable, str(REPOSITORY / "examples" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert SAYS[name] in done.stdout
    assert len((REPOSITORY / "examples" / name).read_text(encoding="utf-8").splitlines()) <= 45
