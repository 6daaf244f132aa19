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


def test_a_link_laid_in_the_way_is_not_followed(tmp_path, monkeypatch):
    """The temporary name is made anew; where somebody guesses it all the same, nothing is written through it."""
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: "0" * 16)
    (tmp_path / f".terms-{'0' * 16}.tmp").symlink_to(target)
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "summary.json", b"new")
    assert target.read_bytes() == b"mine"


def test_a_link_in_place_of_the_file_is_replaced_and_its_target_left_alone(tmp_path):
    target, path = tmp_path / "target", tmp_path / "summary.json"
    target.write_bytes(b"mine")
    path.symlink_to(target)
    write_atomically(path, b"new")
    assert (target.read_bytes(), path.read_bytes(), path.is_symlink()) == (b"mine", b"new", False)


def test_what_a_killed_writer_left_is_removed_under_the_lock(tmp_path):
    code = (
        "import os, signal, sys, pathlib\n"
        "from experiments.storage import files\n"
        "files.os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_atomically(pathlib.Path(sys.argv[1]) / 'summary.json', b'new')\n"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path], check=False).returncode == -9
    assert len(os.listdir(tmp_path)) == 1
    with exclusive_lock(tmp_path):
        assert os.listdir(tmp_path) == [files.LOCK]


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / files.LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"), exclusive_lock(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_only_a_regular_file_is_read(tmp_path, kind):
    path = tmp_path / "x"
    {"link": lambda: path.symlink_to(__file__), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    with pytest.raises(ValueError, match="is not a regular file"):
        files.read_whole(path)


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*summary.json'"):
        write_atomically(tmp_path / "summary.json", b"{}")
