"""Notebooks: cells call and never define, and every one of them runs."""

import ast
import os
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))
MAX_LINES = 15
COMPILING = "compiling the oracle's kernels, once for this installation; this takes up to a minute"


def read(path):
    import jupytext

    return jupytext.read(path)


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_call_and_never_define(path):
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= MAX_LINES, cell.source
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
            assert not any(isinstance(node, kinds) for node in ast.walk(ast.parse(cell.source))), cell.source


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    from nbclient import NotebookClient

    environment = {**os.environ, "TERMS_FAST": "1"}
    environment.pop("MPLBACKEND", None)  # the kernel chooses the backend that puts figures into the notebook
    client = NotebookClient(read(path), timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute(env=environment)
    outputs = [output for cell in client.nb.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    told = "".join(output.text for output in outputs if output.get("name") == "stderr")
    assert not told.replace(f"{COMPILING}\n", "")  # said where the kernels' cache is still empty
    assert any("image/png" in output.get("data", {}) for output in outputs)
