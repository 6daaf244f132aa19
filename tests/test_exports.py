"""``__all__`` of every package equals its public names, sorted as ruff sorts them (constants, classes, the rest)."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = ("terms", "commerce", "oracle", "experiments")
PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) for name in OURS for path in (ROOT / name).rglob("__init__.py")
)


def public_names(source: str) -> set[str]:
    """Return what a package offers: what it defines, and what it imports from the project and does not use itself.

    What it imports for type checkers alone it loads when it is asked for.
    Dunders other than ``__version__`` and names with a leading underscore are private.
    """
    tree = ast.parse(source)
    defined, imported = set(), set()
    parts = [part for node in tree.body for part in (node.body if isinstance(node, ast.If) else [node])]
    for node in parts:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] in OURS):
            imported |= {alias.asname or alias.name for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names = defined | (imported - used)
    return {name for name in names if not name.startswith("_") or name == "__version__"}


def sort_key(name: str) -> tuple[int, str]:
    """Order of ruff's RUF022: constants, then classes, then everything else."""
    if name.isupper():
        return 0, name
    return (1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("package", PACKAGES)
def test_all_equals_public_names_sorted(package):
    source = (ROOT / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    module = importlib.import_module(package)
    exported = getattr(module, "__all__", [])
    assert exported == sorted(public_names(source), key=sort_key)
    assert [name for name in exported if not hasattr(module, name)] == []


def test_every_package_is_looked_at():
    assert set(OURS) <= set(PACKAGES)
    assert "terms.agents" in PACKAGES


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from terms.types import Role", {"Role"}),
        ("from terms.types import Role\nx: Role = Role.BUYER", {"x"}),
        ("import math\nfrom typing import Any\ndef f() -> Any: ...\ndef _g(): ...", {"f"}),
        ("from terms._version import __version__\n__all__ = ['__version__']", {"__version__"}),
        ("from . import metrics\nclass A: ...", {"metrics", "A"}),
    ],
)
def test_public_names_of_a_source(source, names):
    assert public_names(source) == names


def test_sort_key_is_the_order_of_the_linter():
    assert sorted(["play", "Agent", "__version__", "FLAW", "Accept"], key=sort_key) == [
        "FLAW", "Accept", "Agent", "__version__", "play",
    ]  # fmt: skip
