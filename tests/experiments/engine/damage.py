"""Every kind of damage to every file of a run folder.

A damage is a function of the file and of a folder with another run of the same kind. It returns whether it changed
anything: a file of one line has no two lines to swap.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from experiments.storage.files import LOCK
from experiments.storage.journal import HEADER, chain_start, checksum_of, encode_line

Damage = Callable[[Path, Path], bool]
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


def flip(share: float, mask: int) -> Damage:
    """Change a byte."""

    def change(path: Path, other: Path) -> bool:
        data = bytearray(path.read_bytes())
        if not data:
            return False
        data[min(int(share * len(data)), len(data) - 1)] ^= mask
        path.write_bytes(data)
        return True

    return change


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Damage:
    """Change the lines of a file."""

    def apply(path: Path, other: Path) -> bool:
        before = path.read_bytes()
        path.write_bytes(b"".join(change(before.splitlines(keepends=True))))
        return path.read_bytes() != before

    return apply


def swapped(found: list[bytes]) -> list[bytes]:
    """Swap the first two lines that differ."""
    return [found[1], found[0], *found[2:]] if len(found) > 1 else found


def append_again(path: Path, other: Path) -> bool:
    """Append the first line once more, its checksum right for where it stands."""
    found = path.read_bytes().splitlines(keepends=True)
    if path.suffix != ".jsonl" or not found:
        return False
    import json

    row = json.loads(found[0])["data"]
    path.write_bytes(b"".join(found) + encode_line(row, checksum_of(found[-1])))
    return True


def append_last_again(path: Path, other: Path) -> bool:
    """Append the last line once more, its checksum right for where it stands."""
    found = path.read_bytes().splitlines(keepends=True)
    if path.suffix != ".jsonl" or not found:
        return False
    import json

    path.write_bytes(b"".join(found) + encode_line(json.loads(found[-1])["data"], checksum_of(found[-1])))
    return True


def sign(raw: bytes, before: str) -> bytes:
    """Return a line with any content and a right checksum."""
    checksum = hashlib.sha256(before.encode() + raw).hexdigest()[:16].encode()
    return b'{"checksum":"' + checksum + b'","data":' + raw + b"}\n"


def signed(raw: bytes) -> Damage:
    """Replace the last line by one that holds ``raw`` under a right checksum."""

    def change(path: Path, other: Path) -> bool:
        if path.suffix != ".jsonl" and path.name != HEADER:
            return False
        found = path.read_bytes().splitlines(keepends=True)[:-1]
        before = checksum_of(found[-1]) if found else chain_start(path)
        path.write_bytes(b"".join(found) + sign(raw, before))
        return True

    return change


def foreign(path: Path, other: Path) -> bool:
    """Replace the file by that of another run."""
    if not (other / path.name).exists() or (other / path.name).read_bytes() == path.read_bytes():
        return False
    shutil.copy(other / path.name, path)
    return True


def become(data: bytes) -> Damage:
    """Replace the content."""

    def change(path: Path, other: Path) -> bool:
        before = path.read_bytes()
        path.write_bytes(data)
        return before != data

    return change


def reencode(path: Path, other: Path) -> bool:
    """Write a text in another encoding."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    path.write_bytes(text.encode("utf-16"))
    return bool(text)


def link(path: Path, other: Path) -> bool:
    """Put a link to the same content in its place."""
    aside = path.parent.parent / f"{path.parent.name}-{path.name}-aside"
    shutil.move(path, aside)
    path.symlink_to(aside)
    return True


def dangle(path: Path, other: Path) -> bool:
    """Put a link to nothing in its place."""
    path.unlink()
    path.symlink_to("nowhere")
    return True


def folder(path: Path, other: Path) -> bool:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()
    return True


def pipe(path: Path, other: Path) -> bool:
    """Put a pipe in its place, whose reading would wait for ever."""
    path.unlink()
    os.mkfifo(path)
    return True


def missing(path: Path, other: Path) -> bool:
    """Remove it; the lock has no content that could be missed."""
    path.unlink()
    return path.name != LOCK


SHARES, MASKS = (0, 0.1, 0.25, 0.35, 0.5, 0.77, 0.9, 1), (1, 2, 4, 8, 16, 32, 64, 128)
DAMAGES: dict[str, Damage] = {
    **{
        f"byte at {share:.0%} ^ {mask}": flip(share, mask) for share in (0, 0.1, 0.35, 0.5, 0.77, 1) for mask in (1, 32)
    },
    "first line lost": lines(lambda found: found[1:]),
    "middle line lost": lines(lambda found: found[: len(found) // 2] + found[len(found) // 2 + 1 :]),
    "last line lost": lines(lambda found: found[:-1]),
    "first line doubled": lines(lambda found: [*found[:1], *found]),
    "last line doubled": lines(lambda found: [*found, *found[-1:]]),
    "lines swapped": lines(swapped),
    "first line again, signed": append_again,
    "last line again, signed": append_last_again,
    "empty object, signed": signed(b"{}"),
    "list, signed": signed(b"[1]"),
    "nonsense, signed": signed(b"\xff\xfe"),
    "deep object, signed": signed(DEEP),
    "half": lambda path, other: become(path.read_bytes()[: path.stat().st_size // 2])(path, other),
    "one byte less": lambda path, other: become(path.read_bytes()[:-1])(path, other),
    "one byte more": lambda path, other: become(path.read_bytes() + b" ")(path, other),
    "empty": become(b""),
    "of another run": foreign,
    "deep JSON": become(DEEP),
    "another encoding": reencode,
    "link": link,
    "dangling link": dangle,
    "folder": folder,
    "pipe": pipe,
    "missing": missing,
}


def damaged(run: Path, other: Path, scratch: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield (file, kind of damage, folder) for every damage to every file of ``run``, each in a copy of its own."""
    for file in sorted(path.relative_to(run) for path in run.rglob("*") if path.is_file()):
        for kind, damage in DAMAGES.items():
            copy = scratch / f"{len(list(scratch.iterdir()))}"
            shutil.copytree(run, copy)
            if damage(copy / file, other):
                yield str(file), kind, copy
            shutil.rmtree(copy)
