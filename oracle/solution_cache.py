"""Solutions on disk: one file each, named after everything the solution depends on, with a checksum in front.

A file is ``sha256 of the rest, newline, npz archive``. One that is missing, torn, or made for another key is reported
as absent, so that it is rebuilt and never trusted. The key is a digest of kernel constants, prior, grid and code
version.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
_DIGEST_SIZE = 64
_KEY = "key"


def cache_folder() -> Path:
    """Return where solutions are kept: ``TERMS_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get("TERMS_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "terms-commerce"


def solution_key(facts: Mapping[str, Any]) -> str:
    """Return the digest of JSON-able ``facts``; any change of any of them is another key."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def to_bytes(key: str, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the file content of a solution."""
    buffer = io.BytesIO()
    named: dict[str, Any] = {_KEY: np.array(key), **arrays}
    np.savez_compressed(buffer, **named)
    content = buffer.getvalue()
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def from_bytes(key: str, data: bytes) -> Arrays | None:
    """Return the arrays in ``data``, or ``None`` if it is torn or was made for another key."""
    digest, content = data[:_DIGEST_SIZE], data[_DIGEST_SIZE + 1 :]
    if hashlib.sha256(content).hexdigest().encode() != digest:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile):
        return None
    stored = arrays.pop(_KEY, None)
    return arrays if stored is not None and str(stored) == key else None


def load_or_solve(key: str, solve: Callable[[], Arrays], folder: Path | None = None) -> Arrays:
    """Return the solution of ``key``, from disk if a sound file is there, else solved now and stored."""
    path = (folder or cache_folder()) / f"{key}.npz"
    try:
        found = from_bytes(key, path.read_bytes())
    except OSError:
        found = None
    if found is None:
        found = solve()
        store(path, to_bytes(key, found))
    return found


def store(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` all at once: a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
