"""The demonstration: its commands are commands, and its page leads to everything it says."""

import re
import shlex

import pytest

from experiments import demo
from experiments.cli.commands import load_command
from experiments.demo import DemoStep, demo_steps, run_demo


def test_every_step_is_made_of_commands_that_take_what_they_are_given(tmp_path):
    steps = demo_steps(tmp_path)
    for line in (line for step in steps for line in step.commands):
        name, *args = shlex.split(line)
        assert load_command(name).make_context(name, args), line
    assert {line.split()[0] for step in steps for line in step.commands} >= {
        "diagnose", "compare", "decompose", "explain", "bankroll", "year", "ledger", "report",
    }  # fmt: skip


def test_the_page_shows_the_answer_and_what_was_printed(tmp_path, monkeypatch):
    steps = [DemoStep("A <step>", "Look.", ("suites",), r"published ", "report.html")]
    monkeypatch.setattr(demo, "demo_steps", lambda folder: steps)
    page = run_demo(tmp_path / "demo").read_text()
    assert "A &lt;step&gt;" in page
    assert page.count("The released episodes") == 2
    assert 'href="report.html"' in page


def test_a_step_that_fails_stops_it(tmp_path, monkeypatch):
    steps = [DemoStep("A step", "Look.", ("verify nothing",), "", None)]
    monkeypatch.setattr(demo, "demo_steps", lambda folder: steps)
    with pytest.raises((RuntimeError, ValueError)):
        run_demo(tmp_path / "demo")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_whole_way(tmp_path):
    page = run_demo(tmp_path / "demo")
    text = page.read_text()
    links = re.findall(r'href="([^"]+)"', text)
    assert len(links) == 5
    assert all((page.parent / link).stat().st_size > 10_000 for link in links)
    assert "bayes earns" in text
    assert "behind full-knowledge-planner" in text
