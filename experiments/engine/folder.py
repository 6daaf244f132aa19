"""A run folder and its header.

Every mode of play leaves the same kind of folder: ``run.json``, one log that is the truth, results derived from it, and
``model_calls.jsonl`` where a model played.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.engine.header import FORMAT, PACKAGE, Header, Spec, header_type
from experiments.storage.files import write_atomically
from experiments.storage.journal import HEADER, encode_line, errors_in_words, read_journal

STORED = "stored"
"""Context under which specs in run folders are validated: what an old one lacks may mean another thing than today."""


class RunError(ValueError):
    """A run folder cannot be used as asked."""


def open_header(folder: Path, header: Header[Spec]) -> None:
    """Write ``run.json`` first, or make sure that the one that is there describes the same run."""
    path = folder / HEADER
    if not path.exists() and not path.is_symlink():
        write_atomically(path, encode_line(header.model_dump(mode="json")))
        return
    before = read_header(folder, header.mode, type(header.spec)).model_dump(mode="json")
    now = header.model_dump(mode="json")
    # A patch of Python or a library between two sittings is no other run; the header keeps the versions it began with.
    for versions in (before["versions"], now["versions"]):
        versions.update({name: None for name in versions if name != PACKAGE})
    now["salt"] = before["salt"]  # drawn for the run that is there
    differing = differing_leaves(before, now)
    if differing:
        raise RunError(f"{folder} holds another run ({'; '.join(differing)[:600]}); choose another --out")


def differing_leaves(before: Any, now: Any, path: str = "") -> list[str]:
    """Name every leaf of two nested mappings that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = {**before, **now}
        return [text for key in keys for text in differing_leaves(before.get(key), now.get(key), f"{path}.{key}")]
    return [] if before == now else [f"{path[1:]}: {before!r} there, {now!r} now"]


def read_header(folder: Path, mode: str, kind: type[Spec]) -> Header[Spec]:
    """Return the header in ``folder``, which must be of ``mode`` and hold a spec of ``kind``."""
    row = _header_row(folder)
    if row["mode"] != mode:
        raise RunError(f"{folder} holds a run of mode {row['mode']!r}, needed is {mode!r}")
    try:
        return header_type(kind).model_validate(row, context=STORED)
    except ValueError as error:
        raise RunError(f"{folder / HEADER} cannot be read as a run header: {errors_in_words(error)}") from error


def kind_of(folder: Path) -> str:
    """Return the mode of the run in ``folder``.

    Raises
    ------
    RunError
        If it holds none, or one of another format.
    """
    mode: str = _header_row(folder)["mode"]
    return mode


def holds(folder: Path, mode: str) -> bool:
    """Whether ``folder`` holds a run of ``mode``; a header that cannot be read says nothing."""
    try:
        return kind_of(folder) == mode
    except ValueError:
        return False


def _header_row(folder: Path) -> dict[str, Any]:
    path = folder / HEADER
    if not path.exists() and not path.is_symlink():
        raise RunError(f"{folder} is not a run folder: it has no {HEADER}")
    try:
        rows, torn, _ = read_journal(path)
        if torn or len(rows) != 1:
            raise ValueError("needed is one whole line")
    except ValueError as error:
        raise RunError(f"{path} cannot be read as a run header: {error}") from error
    _same_format(folder, rows[0])
    return rows[0]


def _same_format(folder: Path, row: Mapping[str, Any]) -> None:
    if row.get("format") != FORMAT or not isinstance(row.get("mode"), str):
        raise RunError(
            f"{folder / HEADER} is of format {row.get('format')!r}, needed is {FORMAT}: "
            "a folder of an earlier or later version; read it with that version, or run its command again elsewhere"
        )
