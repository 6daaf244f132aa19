"""The source of the documentation site, made of what is there: guides, notebooks, commands and module docstrings.

``python -m experiments.docs_site --out FOLDER`` writes Markdown and the settings of MkDocs, ``make docs`` builds the
site of it. A guide is a file of ``notebooks/``; a line ``<!-- docstring: PATH -->`` stands for the docstring of a
module, so that a proof has one home. A notebook that ``make notebooks`` has executed comes with its results.
"""

from __future__ import annotations

import argparse
import ast
import base64
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.cli.commands import CHAPTERS, load_command
from experiments.cli.ending import EXIT_CODES
from experiments.cli.show import out

ROOT = Path(__file__).parents[1]
GUIDES = "notebooks"
_INCLUDED = re.compile(r"^<!-- docstring: (\S+) -->$", re.MULTILINE)


def write_source(folder: Path, root: Path = ROOT, executed: Path | None = None) -> Path:
    """Write the source of the site to ``folder`` and return the settings file; ``executed`` has executed notebooks."""
    pages = folder / "pages"
    shutil.copytree(root / GUIDES / "pictures", pages / "pictures", dirs_exist_ok=True)
    for guide in sorted((root / GUIDES).glob("*.md")):
        (pages / guide.name).write_text(with_docstrings(guide.read_text(encoding="utf-8"), root), encoding="utf-8")
    readme = (root / "README.md").read_text(encoding="utf-8")
    (pages / "index.md").write_text(readme.replace(f"({GUIDES}/", "("), encoding="utf-8")
    (pages / "commands.md").write_text(command_reference(), encoding="utf-8")
    for notebook in sorted((root / GUIDES).glob("*.py")):
        _write_notebook(notebook, pages, executed)
    settings = folder / "mkdocs.yml"
    shutil.copy(root / GUIDES / "mkdocs.yml", settings)
    return settings


def with_docstrings(text: str, root: Path) -> str:
    """Return a guide with the docstrings that it names in their places."""
    return _INCLUDED.sub(lambda found: docstring_page(root / found[1]), text)


def docstring_page(path: Path) -> str:
    """Return the docstring of a module as Markdown: formulas stand as they are written."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    text = re.sub(r":(?:math|func|class|mod|data|meth|attr|exc):`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"\.\. math::[ \n]*((?:.+\n?)+)", _as_block, text)


def _as_block(found: re.Match[str]) -> str:
    lines = [line.strip() for line in found[1].strip().splitlines()]
    return "```tex\n" + "\n".join(lines) + "\n```\n"


def command_reference() -> str:
    """Return a page with every command and every option, from the commands themselves."""
    parts = ["# Commands\n", "An option means the same in every command that has it.\n"]
    for chapter, names in CHAPTERS.items():
        parts.append(f"## {chapter}\n")
        for name in names:
            parts += _command(name)
    rows = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    parts += ["## Exit codes\n", "| code | meaning |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _command(name: str) -> Iterator[str]:
    command = load_command(name)
    yield f"### terms {name}\n"
    yield f"{' '.join((command.help or '').split())}\n"
    yield f"    {' '.join(['terms', name, *_arguments(command)])}\n"
    rows = [_option_row(param) for param in command.params if param.param_type_name == "option"]
    yield from ("| option | default | what it says |", "|---|---|---|", *rows, "") if rows else ()


def _arguments(command: Any) -> Iterator[str]:
    for param in command.params:
        if param.param_type_name == "argument":
            word = param.name.upper() + ("..." if param.nargs != 1 else "")
            yield word if param.required else f"[{word}]"


def _option_row(param: Any) -> str:
    spelled = ", ".join(f"`{one}`" for one in (*param.opts, *param.secondary_opts))
    default = f"`{param.default}`" if isinstance(param.default, str | int | float) and param.default else ""
    says = " ".join((getattr(param, "help", None) or "").split())
    return f"| {spelled} | {_in_cell('needed' if param.required else default)} | {_in_cell(says)} |"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _write_notebook(path: Path, pages: Path, executed: Path | None) -> None:
    """Write a notebook as a page: executed, with its results, where such a copy is there."""
    copy = None if executed is None else executed / f"{path.stem}.ipynb"
    if copy is not None and copy.is_file():
        cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    else:
        import jupytext

        cells = jupytext.read(path).cells
    parts = [part for number, cell in enumerate(cells) for part in _cell(cell, f"{path.stem}-{number}", pages)]
    (pages / f"{path.stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _cell(cell: Mapping[str, Any], name: str, pages: Path) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code":
        yield f"```python\n{source}\n```"
        for number, output in enumerate(cell.get("outputs") or ()):
            yield from _output(output, f"{name}-{number}.png", pages)


def _output(output: Mapping[str, Any], name: str, pages: Path) -> Iterator[str]:
    data = output.get("data") or {}
    if "image/png" in data:
        (pages / "pictures" / name).write_bytes(base64.b64decode("".join(data["image/png"])))
        yield f"![result of the cell above](pictures/{name})"
    elif "text/html" in data:
        yield "".join(data["text/html"])
    elif output.get("name") == "stdout" or "text/plain" in data:
        yield "```text\n" + "".join(output.get("text") or data.get("text/plain") or ()).rstrip() + "\n```"


def main(args: Sequence[str] | None = None) -> None:
    """Write the source and say where its settings are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/docs"))
    parser.add_argument("--executed", type=Path, default=Path("runs/notebooks"), help="folder of executed notebooks")
    asked = parser.parse_args(args)
    out(str(write_source(asked.out, executed=asked.executed)))


if __name__ == "__main__":
    main()
