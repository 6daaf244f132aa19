"""The seed of a server's worlds: drawn where the operator names none, kept beside the years, told to no agent.

Whoever can guess a seed can build its world and read the hidden facts; a small one is found by trying them all.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

SEED_FILE = "serve-seed"
_BITS, _SMALL_BITS = 63, 40


def find_or_draw_seed(folder: Path) -> tuple[int, Path]:
    """Return the seed that a server of ``folder`` used before, else draw one; and the file it is kept in.

    Raises
    ------
    ValueError
        If the file holds no seed.
    """
    path = folder / SEED_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{secrets.randbits(_BITS)}\n")
    text = path.read_text(encoding="utf-8").strip()
    if not (text.isascii() and text.isdigit()) or int(text) >= 1 << _BITS:
        raise ValueError(f"{path} holds {text[:40]!r}, needed is a number below 2^{_BITS}; name one with --seed")
    return int(text), path


def is_small(seed: int) -> bool:
    """Whether a stranger could find ``seed`` by generating worlds and comparing what the store answers."""
    return seed < 1 << _SMALL_BITS
