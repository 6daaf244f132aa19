"""Every shell block of the README, and of each guide, pasted in order into one empty folder, works.

What cannot run as it stands is replaced by what :data:`REPLACED` declares, and by nothing else: a vendor's model is
the bot of a fault server, a server that waits for Ctrl-C is played and ended, and the year of a model is short. In the
fast tier :data:`SMALLER` also makes the runs of the README small; the slow tier runs all lines as they are printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.fault_server import FaultServer

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "notebooks").glob("*.md"))]
PROGRAMS = "make |export |printf |python -m |pip |jupytext |jupyter |terms "
COMMAND = re.compile(rf"^    (?={PROGRAMS})(.*)$", re.MULTILINE)
REPLACED = (
    (r"^pip install .*", "true  # is what is running"),
    (r"^jupyter lab .*", "true  # waits for a browser"),
    (r"notebooks/00_quickstart.py", str(ROOT / "notebooks" / "00_quickstart.py")),
    (r"^terms play .*", "true  # waits for a person"),
    (r"^export OPENROUTER_API_KEY=\.\.\.", "true  # no vendor is asked"),
    (r"--budget-usd 2(?= |$)", "--budget-usd 20"),  # the bot is dear
    (r"openrouter:VENDOR/MODEL (?=.*--repeats 5)", "openai:shop/rule-based/40 --days 4 --base-url SERVER "),
    (r"--repeats 5 --workers 5", "--repeats 2 --workers 2"),
    (r"runs/year-openrouter-VENDOR-MODEL", "runs/year-openai-shop-rule-based-40"),
    (r"--days 40 .*", "--days 3"),
    (r"openrouter:VENDOR/MODEL", "openai:bot --base-url SERVER"),
    (r"openai:MODEL", "openai:bot"),
    (r"http://127\.0\.0\.1:8000/v1", "SERVER"),
    (r"^terms diagnose --agent local .*", "true  # tests of the local model play it"),
    (r"(.*terms serve --http .*) --agent my-agent .*", r"play \1 --agent my-agent --host 127.0.0.1:0 --days 4"),
    (r"(.*terms serve --mcp [^#]*).*", r"\1 < /dev/null"),
    (r"days-365", "days-4"),
    (r"^python -m experiments.fault_server (.*)", r"brief python -m experiments.fault_server \1 --port 0"),
)
SMALLER = ((r"(terms diagnose .*?)(?=  +#|$)", r"\1 --regime overlap --family candid"),)
SHELL = """
set -euo pipefail
brief() { timeout --signal=INT 3 "$@" > shown.txt || true; grep -q http shown.txt; }
play() {
    "$@" > shown.txt 2> told.txt & server=$!
    python play_year.py shown.txt runs/serve-token my-agent
    kill -INT $server; wait $server || true
}
"""
PLAY_YEAR = """
import re, sys, time
from pathlib import Path
from experiments.serving.client import YearClient
from experiments.serving.settings import read_token

shown, token, agent = sys.argv[1:]
for _ in range(600):
    found = re.search(r"http://\\S+", Path(shown).read_text()) if Path(shown).exists() else None
    if found and Path(token).exists():
        break
    time.sleep(0.1)
with YearClient(found[0].rstrip("/"), read_token(Path(token)), agent=agent) as client:
    while not client.call("wait_for_next_day").is_over:
        pass
"""


def shell_lines(path: Path) -> list[str]:
    """Return the commands of all shell blocks of a document, in order."""
    return COMMAND.findall(path.read_text(encoding="utf-8"))


def replaced(lines: list[str], rules: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the lines after every rule."""
    for pattern, new in rules:
        lines = [re.sub(pattern, new, line) for line in lines]
    return lines


def run_blocks(folder: Path, lines: list[str]) -> None:
    """Run the lines in one shell in an empty folder that has the checkout's environment."""
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "play_year.py").write_text(PLAY_YEAR)
    environment = {**os.environ, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environment.pop("COLUMNS", None)
    with FaultServer() as server:
        script = SHELL + "\n".join(f"echo '>>> line {at}' >&2\n{line}" for at, line in enumerate(lines))
        done = subprocess.run(
            ["bash", "-c", script.replace("SERVER", server.url)],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=1500, check=False,
        )  # fmt: skip
    at = int(re.findall(r">>> line (\d+)", done.stderr)[-1])
    assert (done.returncode, at) == (0, len(lines) - 1), f"{lines[at]}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_line_of_a_shell_block_is_known(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [line[4:] for line in text.splitlines() if line.startswith("    ")] == shell_lines(path)


def test_every_rule_is_met():
    lines = [line for path in DOCUMENTS for line in shell_lines(path)]
    assert len(lines) > 40
    for rule in REPLACED:
        changed = replaced(lines, (rule,))
        assert changed != lines, f"{rule[0]} is met nowhere"
        lines = changed


@pytest.mark.timeout(900)
def test_the_blocks_of_the_readme_run_in_order_in_an_empty_folder(tmp_path):
    run_blocks(tmp_path, replaced(replaced(shell_lines(DOCUMENTS[0]), REPLACED), SMALLER))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if shell_lines(path)], ids=lambda path: path.name)
def test_the_blocks_run_as_they_are_printed(tmp_path, path):
    run_blocks(tmp_path, replaced(shell_lines(path), REPLACED))
