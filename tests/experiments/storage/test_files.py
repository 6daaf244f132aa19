from __future__ import annotations

import os
import subprocess
import sys

import pytest

from experiments.storage import files
from experiments.storage.files import RunLockedError, exclusive_lock, folder_name, write_atomically


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    path = tmp_path / "summary.json"
    write_atomically(path, b"old")

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["summary.json"]


def test_a_whole_file_replaces_the_old_one(tmp_path):
    path = tmp_path / "summary.json"
    for data in (b"old", b"new"):
        write_atomically(path, data)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["summary.json"]


def test_the_second_writer_is_refused_and_the_first_may_come_back(tmp_path):
    refused = pytest.raises(RunLockedError, match="in use by another process")
    with exclusive_lock(tmp_path), refused, exclusive_lock(tmp_path):
        pass
    with exclusive_lock(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import os, signal, sys, pathlib\n"
        "from experiments.storage.files import exclusive_lock\n"
        "with exclusive_lock(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path], check=False).returncode == -9
    with exclusive_lock(tmp_path):
        pass


def test_a_folders_name_has_plain_letters_and_a_long_one_keeps_a_hash():
    assert folder_name("openrouter:vendor/model@high") == "openrouter-vendor-model@high"
    long = [folder_name("x" * 300 + end) for end in "ab"]
    assert [len(name) for name in long] == [89, 89]
    assert long[0] != long[1]
