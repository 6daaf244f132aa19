"""Nothing but a file is replaced by a file: whoever may write everywhere would lose a device of the system."""

from __future__ import annotations

import os
import socket

import pytest

from experiments.storage.files import check_out_file, write_atomically


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        yield tmp_path


@pytest.mark.parametrize("name", ["pipe", "folder", "socket", "link"])
def test_what_is_no_file_stays(there, name):
    before = (there / name).lstat()
    for write in (lambda path: write_atomically(path, b"x"), lambda path: check_out_file(path, ".html")):
        with pytest.raises(ValueError, match=name):
            write(there / name)
    assert (there / name).lstat() == before
    assert sorted(path.name for path in there.iterdir()) == ["folder", "link", "pipe", "socket"]
