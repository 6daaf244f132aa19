"""The demonstration: the whole way from a suite to a store's ledger, as commands anybody can repeat, behind one page.

Each step is a line of the ``terms`` command. What it prints is kept, and ``index.html`` leads to all of it and to the
reports. A step that is there already is gone on with, as every command does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment

from experiments.cli.commands import load_command
from experiments.cli.show import note, out
from experiments.storage.files import write_atomically

AGENTS = (
    "patient", "conceder", "exploit", "tit-for-tat", "boulware", "fixed-0.30", "fixed-0.10", "fixed-0.01", "random",
)  # fmt: skip
SPLIT = ("bayes", "patient", "faulty-planning")
SPLIT_SUITE = "--seed 1 --episodes-per-cell 1 --regime overlap"
ITEMS = """name,category,reference_price,low_price,high_price
Espresso machine,kitchen,"$1,299.00",$899.00,"$1,499.00"
Hand grinder,kitchen,$89.00,$59.00,$119.00
Chef's knife,kitchen,$74.50,$48.00,$99.00
Road bike,outdoor,$980.00,$760.00,"$1,190.00"
Two-person tent,outdoor,$219.00,$149.00,$289.00
Headlamp,outdoor,$39.00,$24.00,$55.00
"""
"""Invented items."""


class DemoStep(NamedTuple):
    """A part of the demonstration: its heading, what to see in it, its commands, and the report they end with.

    ``answer`` is a pattern of the printed lines that are its result.
    """

    heading: str
    see: str
    commands: tuple[str, ...]
    answer: str
    report: str | None = None


def demo_steps(folder: Path) -> list[DemoStep]:
    """Return the steps, played into ``folder``."""
    there = shlex.quote(str(folder))
    published = [f"diagnose --agent {name} --suite published --out {there}/{name}" for name in AGENTS]
    talks = [f"diagnose --agent {name} {SPLIT_SUITE} --out {there}/split-{name}" for name in SPLIT]
    splits = [f"decompose --agent {name} {SPLIT_SUITE} --out {there}/{name}.json" for name in SPLIT]
    runs = " ".join(f"{there}/{name}" for name in AGENTS)
    split_runs = " ".join(f"{there}/split-{name}" for name in SPLIT)
    files = " ".join(f"--decomposition {there}/{name}.json" for name in SPLIT)
    items = f"--suite catalog:{there}/items.csv --episodes-per-cell 1"
    money = [
        f"diagnose --money --agent {name} {items} --out {there}/money-{name}" for name in ("patient", "fixed-0.30")
    ]
    year = f"{there}/year/world-20260122-days-60"
    return [
        DemoStep(
            "Who takes how much of the surplus",
            "Scripted agents on the published suite, with the models of the paper beside them.",
            (*published, f"compare {runs}", f"report {runs} --out {there}/suite.html"),
            r"\d+\. ",
            "suite.html",
        ),
        DemoStep(
            "Where the rest is lost",
            "The Bayes-optimal player has nothing to mend, patient a little, and a planted fault of planning is found.",
            (*talks, *splits, f"report {split_runs} {files} --out {there}/gap.html"),
            r"\S+ earns ",
            "gap.html",
        ),
        DemoStep(
            "One negotiation told",
            "What could be believed in each round, and what each move cost beside the best one.",
            (f"explain {there}/split-faulty-planning 1",),
            "",
        ),
        DemoStep(
            "Your own items, in dollars",
            "Profit and regret on a small catalogue.",
            (*money, f"report {there}/money-patient {there}/money-fixed-0.30 --out {there}/money.html"),
            "(?:.*in money|. (?:profit|regret rate|money left))",
            "money.html",
        ),
        DemoStep(
            "Sessions with cash and ruin",
            "Suppliers that are met again; an agent that remembers them beside one that does not.",
            (
                f"bankroll --agent recall --initial-cash 20 --out {there}/sessions-recall",
                f"bankroll --agent fixed-0.01 --initial-cash 20 --out {there}/sessions-fixed",
                f"report {there}/sessions-recall {there}/sessions-fixed --out {there}/sessions.html",
            ),
            "(?:.*95 % intervals over sessions|. (?:terminal balance|survival)|sessions:)",
            "sessions.html",
        ),
        DemoStep(
            "A store and its ledger",
            "Sixty days of a merchant, and which of its decisions left the money behind the reference.",
            (
                f"year --agent rule-based --rules fair --days 60 --out {there}/year",
                f"ledger {year} --reference full-knowledge-planner",
                f"report {there}/year --out {there}/year.html",
            ),
            "(?:.* ended .*(?:ahead|behind)|It ended with)",
            "year.html",
        ),
    ]


def run_demo(folder: Path) -> Path:
    """Carry out every step, saying what it is and how long it took, and return the page that leads to all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "items.csv", ITEMS.encode())
    began, shown = time.monotonic(), []
    for step in demo_steps(folder):
        out(f"\n{step.heading}. {step.see}")
        printed = [(line, _run(line)) for line in step.commands]
        lines = [line for _, text in printed for line in text.splitlines() if re.match(step.answer, line)]
        answer = "\n".join(lines)
        out(f"{answer}\n[{time.monotonic() - began:.0f} s]")
        shown.append({**step._asdict(), "printed": printed, "answer": answer})
    page = Environment(autoescape=True).from_string(_PAGE).render(steps=shown)
    write_atomically(folder / "index.html", page.encode())
    return (folder / "index.html").resolve()


def _run(line: str) -> str:
    """Run one command in this process and return what it printed.

    Raises
    ------
    RuntimeError
        If it ended with another exit code than 0.
    """
    name, *args = shlex.split(line)
    note(f"$ terms {line}")
    command: Any = load_command(name)
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        code = command.main(args=args, prog_name="terms", standalone_mode=False)
    if code:
        raise RuntimeError(f"terms {line} ended with {code}")
    return printed.getvalue()


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>terms-commerce: the demonstration</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; font-size: 12px; line-height: 1.35; padding: .6rem; border: 1px solid #8884; }
summary { cursor: pointer; }
.open { font-weight: 600; }
</style>
<h1>What an agent makes of a bargain</h1>
<p>Six steps, each a few commands that you can repeat. Everything was played on this machine, without a key.</p>
{% for step in steps %}
<h2>{{ loop.index }}. {{ step.heading }}</h2>
<p>{{ step.see }}{% if step.report %} <a class="open" href="{{ step.report }}">Open the report</a>{% endif %}</p>
<pre>{{ step.answer }}</pre>
<details><summary>the commands and what they print</summary>
{% for line, printed in step.printed %}<pre>$ terms {{ line }}

{{ printed }}</pre>
{% endfor %}</details>
{% endfor %}
</html>
"""


def main(args: Sequence[str] | None = None) -> None:
    """Run the demonstration from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/demo"))
    out(f"\nall of it: {run_demo(parser.parse_args(args).out)}")


if __name__ == "__main__":
    main()
