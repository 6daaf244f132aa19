"""README and guides are true: their examples run, what they name exists, their links lead somewhere."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from experiments.cli.commands import COMMANDS, load_command
from experiments.docs_site import command_reference, docstring_page, write_source

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = sorted((ROOT / "notebooks").glob("*.md"))
DOCUMENTS = [ROOT / "README.md", *GUIDES]
MOST_BYTES = 7_000
named = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


def test_the_readme_is_short():
    assert len(README.encode()) < MOST_BYTES


@named
def test_examples_run(path):
    results = doctest.testfile(str(path), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 3 or path.name != "README.md"


@named
def test_every_command_that_is_shown_exists_and_takes_what_it_is_given(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"`terms ([a-z][a-z-]+)", text)) <= set(COMMANDS)
    for line in re.findall(r"^    terms (.*)$", text, re.MULTILINE):
        name, *args = shlex.split(line, comments=True)
        assert load_command(name).make_context(name, args), line


@named
def test_make_targets_exist(path):
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@named
def test_links_and_paths_exist(path):
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), link
    for named_path in re.findall(r"`((?:terms|commerce|oracle|experiments|notebooks|tests)/[\w./]*)`", text):
        assert (ROOT / named_path).exists() or named_path.startswith("terms/Negotiation"), named_path


def test_every_guide_is_reached_from_the_readme():
    linked = set(re.findall(r"\]\(notebooks/([\w.]+)\)", README))
    assert {path.name for path in GUIDES} <= linked


def test_every_dependency_has_a_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    table = (ROOT / "notebooks" / "architecture.md").read_text(encoding="utf-8").split("## Dependencies")[1]
    needed = [re.split(r"[><=]", item)[0] for item in project["dependencies"]]
    for name in [*needed, *project["optional-dependencies"]]:
        assert name in table, name


def test_the_site_has_every_page_it_names_and_no_link_without_an_end(tmp_path):
    settings = write_source(tmp_path)
    pages = tmp_path / "pages"
    named_pages = set(re.findall(r"\b(\w+\.md)\b", settings.read_text()))
    assert named_pages == {path.name for path in pages.glob("*.md")}
    for page in pages.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "<!-- docstring" not in text
        for link in re.findall(r"\]\(([^)#:\s]+)\)", text):
            assert (pages / link).exists(), (page.name, link)


def test_the_reference_has_every_command_with_every_option():
    page = command_reference()
    for name in COMMANDS:
        part = page.split(f"### terms {name}\n")[1].split("\n### ")[0]
        for param in load_command(name).params:
            if param.param_type_name == "option":
                assert all(f"`{one}`" in part for one in param.opts)


def test_a_docstring_keeps_its_formulas():
    page = docstring_page(ROOT / "oracle" / "decomposition.py")
    assert "```tex\nU(ref) - U(played) = " in page
    assert "`oracle.interventions`" in page
    assert ":mod:" not in page
