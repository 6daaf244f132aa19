"""The import table of the project, enforced on the syntax tree, imports inside functions included.

``terms <- commerce <- oracle <- experiments``; nobody imports notebooks or tests; ``terms`` holds rules only, so it
knows no compiler, no client, no network and (but for its catalogue loader) no files. A planted violation of each rule
shows that the walk finds it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("terms", "commerce", "oracle", "experiments")
OUTSIDE = ("notebooks", "tests")
ALLOWED = {
    "terms": {"terms"},
    "commerce": {"commerce", "terms"},
    "oracle": {"oracle", "commerce", "terms"},
    "experiments": set(PACKAGES),
}
COMMERCE_DOORS = ("commerce.procurement", "commerce.economics")
FILE_READERS = ("terms.catalog", "terms.catalog_rows")  # the second reads bytes it is handed
NETWORK = {"socket", "ssl", "select", "selectors", "asyncio", "http", "urllib", "ftplib", "smtplib", "xmlrpc"}
NETWORK |= {"requests", "httpx", "httpcore", "aiohttp", "urllib3", "websockets", "socketserver", "webbrowser"}
FILES = {"os", "io", "pathlib", "shutil", "tempfile", "glob", "fileinput", "csv", "sqlite3", "pickle", "shelve"}
FILES |= {"mmap", "zipfile", "tarfile", "gzip", "bz2", "lzma", "pyarrow", "subprocess", "codecs"}
ALONE = {"numba": "oracle.kernels", "openai": "experiments"}

Sources = Mapping[str, str]
"""Dotted module name to source text; a package is named after itself."""


def read_sources(root: Path) -> dict[str, str]:
    """Read every module of the project's packages."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def is_within(module: str, parent: str) -> bool:
    """Whether ``module`` is ``parent`` or lies inside it."""
    return module == parent or module.startswith(parent + ".")


def imported_names(module: str, source: str, packages: set[str]) -> Iterator[tuple[str, int]]:
    """Yield every dotted name a module imports, anywhere in its tree, with the line.

    ``from a.b import c`` yields ``a.b.c``, because ``c`` may be a module; ``import_module("a")`` and
    ``__import__("a")`` count as well, else a string would be a way round every rule.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = module.split(".") if module in packages else module.split(".")[:-1]
                anchor = anchor[: len(anchor) - node.level + 1]
                base = ".".join([*anchor, *([base] if base else [])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__"):
                yield str(node.args[0].value), node.lineno


def packages_of(sources: Sources) -> set[str]:
    """Return the modules that are packages: those with something inside, and the four at the top."""
    return {*PACKAGES, *(name.rpartition(".")[0] for name in sources)} - {""}


def resolve(name: str, sources: Sources) -> str | None:
    """Return the module of ours that an imported name leads to: the longest one that exists."""
    while name:
        if name in sources:
            return name
        name = name.rpartition(".")[0]
    return None


def breaches(module: str, name: str) -> Iterator[str]:
    """Yield the rules that ``module`` breaks by importing ``name``."""
    package, target = module.split(".")[0], name.split(".")[0]
    if target in OUTSIDE or (target in PACKAGES and target not in ALLOWED[package]):
        yield f"{package} must not import {target}"
    if package == "commerce" and target == "terms" and not any(is_within(module, door) for door in COMMERCE_DOORS):
        yield f"only {' and '.join(COMMERCE_DOORS)} may import terms"
    if target in ALONE and not is_within(module, ALONE[target]):
        yield f"only {ALONE[target]} may import {target}"
    if package == "terms" and target in NETWORK:
        yield f"terms must not reach a network ({target})"
    if package == "terms" and target in FILES and not any(is_within(module, reader) for reader in FILE_READERS):
        yield f"only {FILE_READERS[0]} may touch files ({target})"


def find_violations(sources: Sources) -> list[str]:
    """Return every breach of the import table, as ``module:line: rule``."""
    packages, found = packages_of(sources), []
    for module, source in sources.items():
        for name, line in imported_names(module, source, packages):
            found += [f"{module}:{line}: {rule}" for rule in breaches(module, name)]
        found += [f"{module}:{line}: only {FILE_READERS[0]} may open files" for line in opened(module, source)]
    return found


def opened(module: str, source: str) -> list[int]:
    """Return the lines where a module of ``terms`` other than the catalogue opens a file without importing anything."""
    if not is_within(module, "terms") or any(is_within(module, reader) for reader in FILE_READERS):
        return []
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "open"]


def find_cycle(sources: Sources) -> list[str]:
    """Return the modules of one import cycle, or an empty list."""
    packages = packages_of(sources)
    graph = {
        module: {
            target
            for name, _ in imported_names(module, source, packages)
            if (target := resolve(name, sources)) not in (None, module)
        }
        for module, source in sources.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_map_shows_this_table():
    text = (ROOT / "notebooks" / "architecture.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)/` \|[^|]*\| ([^|]*) \|$", text, re.MULTILINE))
    shown = {name: set(re.findall(r"`(\w+)`", rows[name])) & set(PACKAGES) for name in PACKAGES[:3]}
    assert shown == {name: ALLOWED[name] - {name} for name in PACKAGES[:3]}
    assert all(door.split(".")[1] in rows["commerce"] for door in COMMERCE_DOORS)


def test_every_package_is_walked():
    sources = read_sources(ROOT)
    assert set(PACKAGES) <= set(sources)
    assert "terms.counterparts" in sources
    names = {
        name for name, _ in imported_names("terms.counterparts", sources["terms.counterparts"], packages_of(sources))
    }
    assert {"terms.kernel", "terms.scenario.Scenario", "terms.noise.CueDraw", "math"} <= names


def test_import_table():
    assert find_violations(read_sources(ROOT)) == []


def test_no_import_cycles():
    assert find_cycle(read_sources(ROOT)) == []


PLANTED = [
    ("terms.game", "import commerce", "terms must not import commerce"),
    ("terms.game", "from oracle.solve import value", "terms must not import oracle"),
    ("commerce.store", "def f():\n    import experiments.runs", "commerce must not import experiments"),
    ("oracle.solve", "from experiments import cli", "oracle must not import experiments"),
    (
        "commerce.store",
        "from terms.types import Role",
        "only commerce.procurement and commerce.economics may import terms",
    ),
    ("experiments.cli", "from tests.terms import builders", "experiments must not import tests"),
    ("experiments.cli", "import notebooks.first", "experiments must not import notebooks"),
    ("oracle.solve", "from numba import njit", "only oracle.kernels may import numba"),
    ("terms.kernel", "class A:\n    def f(self):\n        import numba", "only oracle.kernels may import numba"),
    ("oracle.kernels_extra", "import numba", "only oracle.kernels may import numba"),
    ("oracle.solve", "import openai", "only experiments may import openai"),
    (
        "oracle.solve",
        "from importlib import import_module\nimport_module('openai')",
        "only experiments may import openai",
    ),
    ("oracle.solve", "import importlib\nimportlib.import_module('numba')", "only oracle.kernels may import numba"),
    ("terms.game", "numba = __import__('numba')", "only oracle.kernels may import numba"),
    ("terms.game", "import urllib.request", "terms must not reach a network (urllib)"),
    ("terms.game", "if True:\n    from pathlib import Path", "only terms.catalog may touch files (pathlib)"),
    ("terms.game", "text = open('x').read()", "only terms.catalog may open files"),
    ("terms.agents.scripted", "from ...oracle import solve", "terms must not import oracle"),
]


@pytest.mark.parametrize(("module", "source", "rule"), PLANTED)
def test_planted_violation_is_found(module, source, rule):
    found = find_violations({package: "" for package in PACKAGES} | {"terms.agents": "", module: source})
    assert len(found) == 1
    assert found[0].startswith(f"{module}:")
    assert found[0].endswith(rule)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("commerce.procurement", "import terms"),
        ("commerce.economics.fees", "from terms.payoffs import utility"),
        ("oracle.kernels", "import numba"),
        ("oracle.kernels.bellman", "from numba import njit\nfrom commerce.economics import margin"),
        ("experiments.agents.client", "def f():\n    import openai\n    import terms, commerce, oracle"),
        ("terms.catalog", "from pathlib import Path\nopen('x')"),
        ("terms.agents.scripted", "from ..types import Role\nfrom . import moves"),
    ],
)
def test_what_the_table_allows_passes(module, source):
    assert find_violations({module: source}) == []


@pytest.mark.parametrize(
    "sources",
    [
        {"terms.a": "import terms.b", "terms.b": "def f():\n    from terms.a import x"},
        {"terms.a": "from terms import b", "terms.b": "from . import c", "terms.c": "from .a import x", "terms": ""},
        {"terms": "from terms.a import x", "terms.a": "import terms"},
    ],
)
def test_planted_cycle_is_found(sources):
    cycle = find_cycle(sources)
    assert set(cycle) == set(sources) - ({"terms"} if sources.get("terms") == "" else set())


def test_a_chain_is_not_a_cycle():
    chain = {"terms": "from terms.a import x", "terms.a": "from terms import b", "terms.b": "import math"}
    assert find_cycle(chain) == []
