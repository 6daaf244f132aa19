"""What is installed from a built wheel works from any directory, without the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig

import pytest

from terms.strict_json import strict_loads
from tests.experiments.folders import REPOSITORY

pytestmark = pytest.mark.slow


def run(*command, cwd, **options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        **options,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build the wheel, install it into a new environment that borrows only our dependencies; return its ``bin``."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", cwd=REPOSITORY)
    (wheel,) = (folder / "dist").glob("terms_commerce-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "env", cwd=folder)
    binaries = folder / "env" / "bin"
    install = ("-m", "pip", "--python", binaries / "python", "install", "--no-deps", "--no-index", "--quiet", wheel)
    run(sys.executable, *install, cwd=folder)
    packages = run(binaries / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    # A path file inside a folder that a path file names is not read, so the editable install stays out of sight.
    with open(os.path.join(packages.strip(), "dependencies.pth"), "w") as file:
        file.write(sysconfig.get_path("purelib") + "\n")
    return binaries


def test_the_packages_come_from_the_wheel_with_their_data(installed, tmp_path):
    names = ["experiments/report/templates", "experiments/players/templates", "oracle/data"]
    expected = [sorted(path.name for path in (REPOSITORY / name).iterdir() if path.is_file()) for name in names]
    code = (
        f"import importlib, pathlib\nnames, expected = {names!r}, {expected!r}\n"
        "for name in ('terms', 'commerce', 'oracle', 'experiments'):\n"
        "    folder = pathlib.Path(importlib.import_module(name).__file__).parent\n"
        "    assert (folder / 'py.typed').is_file(), folder\n"
        "    print(folder)\n"
        "root = folder.parent\n"
        "found = [sorted(p.name for p in (root / name).iterdir() if p.is_file()) for name in names]\n"
        "assert found == expected, found\n"
    )
    folders = run(installed / "python", "-c", code, cwd=tmp_path).split()
    assert all(folder.startswith(str(installed.parent)) for folder in folders), folders


def test_a_newcomers_first_commands_work_in_any_directory(installed, tmp_path):
    folder = tmp_path / "somewhere é"
    folder.mkdir()
    terms = installed / "terms"
    (folder / "my_agent.py").write_text(
        "from terms import Accept, Offer\n\n\nclass Agent:\n    name = 'mine'\n\n    def act(self, observation):\n"
        "        gain = observation.accept_utility\n"
        "        return Accept() if gain is not None and gain > 0 else Offer(observation.reservation_price)\n"
    )
    args = ("--episodes-per-cell", "1", "--seed", "7", "--workers", "2", "--json")
    mine = run(terms, "diagnose", "--agent", "python:my_agent:Agent", *args, "--out", "mine", cwd=folder)
    patient = run(terms, "diagnose", "--agent", "patient", *args, "--out", "patient", cwd=folder)
    assert [strict_loads(text)["agent"] for text in (mine, patient)] == ["mine", "patient"]
    assert "verified: 72 episodes of mine" in run(terms, "verify", "mine", cwd=folder)
    assert "mine - patient" in run(terms, "compare", "mine", "patient", cwd=folder)
    assert run(terms, "report", "mine", "patient", cwd=folder) == f"report: {folder / 'report.html'}\n"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "mine" in page
    assert 'src="http' not in page
