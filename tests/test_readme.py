"""The README is true: its examples run, its commands exist, its map and its dependency table are complete."""

import doctest
import re
import tomllib
from pathlib import Path

from experiments.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_run():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_every_command_is_in_the_table_and_no_other():
    named = set(re.findall(r"`terms ([a-z-]+)`", README))
    assert named == set(COMMANDS)


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_dependency_has_a_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    table = README.split("## Dependencies")[1].split("\n## ")[0]
    needed = [re.split(r"[><=]", item)[0] for item in project["dependencies"]]
    for name in [*needed, *project["optional-dependencies"]]:
        assert name in table, name


def test_links_and_folders_exist():
    for path in re.findall(r"`((?:terms|commerce|oracle|experiments|notebooks|tests)/[\w./]*)`", README):
        assert (ROOT / path).exists(), path
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).is_file(), picture
