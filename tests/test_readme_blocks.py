"""Every shell block of the README, pasted in order into one empty folder, works.

What cannot run as it stands is replaced by what :data:`REPLACED` declares, and by nothing else: a vendor's model is
the bot of a fault server, a server that waits for Ctrl-C is played and ended, and the year of a model is short. In the
fast tier :data:`SMALLER` also makes the runs small and leaves what asks the oracle to the slow tier, which runs the
lines as they are printed.
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
COMMAND = re.compile(r"^    (?=make |export |printf |python -m |(?:\.venv/bin/)?terms )(.*)$", re.MULTILINE)
REPLACED = (
    (r"^make demo .*", "python -m experiments.demo --out runs/demo"),
    (r"^make test .*", "true  # is what is running"),
    (r"^export OPENROUTER_API_KEY=\.\.\.", "true  # no vendor is asked"),
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
SMALLER = (
    (r"(terms diagnose --(?!money).*?)(?=  +#|$)", r"\1 --regime overlap --family candid"),
    (r"^python -m experiments.demo .*", "true  # slow tier"),
    (r"^\S*terms (decompose|explain) .*", "true  # slow tier"),
    (r"--decomposition patient.json --explain 24 --beliefs", ""),
    (r"--sessions 4 --periods 50", "--sessions 2 --periods 5"),
    (r"--initial-cash 20 --gap", "--initial-cash 20"),
)
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


def shell_lines() -> list[str]:
    """Return the commands of all shell blocks of the README, in order."""
    return COMMAND.findall((ROOT / "README.md").read_text(encoding="utf-8"))


def replaced(lines: list[str], rules: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the lines after every rule; one that is met nowhere is out of date."""
    for pattern, new in rules:
        changed = [re.sub(pattern, new, line) for line in lines]
        assert changed != lines, f"{pattern} is met nowhere in the README"
        lines = changed
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


def test_every_line_of_a_shell_block_is_known():
    text = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    indented = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    assert indented == shell_lines()
    assert len(indented) > 25


@pytest.mark.timeout(900)
def test_the_blocks_run_in_order_in_an_empty_folder(tmp_path):
    run_blocks(tmp_path, replaced(replaced(shell_lines(), REPLACED), SMALLER))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_blocks_run_as_they_are_printed(tmp_path):
    run_blocks(tmp_path, replaced(shell_lines(), REPLACED))
