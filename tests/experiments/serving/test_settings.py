from __future__ import annotations

import stat

import pytest

from experiments.serving.settings import (
    TOKEN_FILE,
    TOKEN_VARIABLE,
    ServeSettings,
    Token,
    find_or_make_token,
    read_token,
)

SECRET = "0123456789abcdef"


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def header(secret):
    return f"Bearer {secret}".encode()


def test_a_made_token_is_its_owners_alone_and_stays(tmp_path):
    token, source = find_or_make_token(None, tmp_path / "out")
    path = tmp_path / "out" / TOKEN_FILE
    assert source == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().strip()) >= 40
    assert token.admits(header(path.read_text().strip()))
    assert find_or_make_token(None, tmp_path / "out")[0].header() == token.header()
    assert find_or_make_token(None, tmp_path / "other")[0].header() != token.header()


def test_the_environment_and_a_named_file_come_first(tmp_path, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, f" {SECRET}\n")
    token, source = find_or_make_token(None, tmp_path)
    assert token.admits(header(SECRET))
    assert source.endswith(TOKEN_VARIABLE)
    assert SECRET not in source
    path = tmp_path / "token"
    path.write_text("f" * 16 + "\n")
    path.chmod(0o600)
    assert find_or_make_token(path, tmp_path)[0].admits(header("f" * 16))


def test_what_is_no_secret_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"set {TOKEN_VARIABLE}"):
        read_token()
    for secret in ("", "short", "with blank 123456", "é" * 20):
        with pytest.raises(ValueError, match="at least 16 ASCII characters") as caught:
            Token(secret)
        assert not secret or secret not in str(caught.value)
    path = tmp_path / "token"
    path.write_text(SECRET)
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        read_token(path)
    with pytest.raises(FileNotFoundError):
        read_token(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "admitted"),
    [
        (f"Bearer {SECRET}", True),
        (f"bearer  {SECRET} ", True),
        (f"Basic {SECRET}", False),
        (SECRET, False),
        ("Bearer", False),
        ("Bearer ", False),
        (f"Bearer {SECRET[:-1]}", False),
        (f"Bearer {SECRET}0", False),
        (f"Bearer {SECRET} {SECRET}", False),
    ],
)
def test_one_header_is_admitted(given, admitted):
    token = Token(SECRET)
    assert token.admits(given.encode()) == admitted
    assert not token.admits(None)
    assert SECRET not in repr(token)


def test_years_are_served_by_changed_rules(tmp_path):
    settings = ServeSettings(out=tmp_path, rules="fair", changes={"ending": "drawn"})
    assert settings.spec("me", 0).build_rules().ending == "drawn"
    assert settings.folder("me", 0) != ServeSettings(out=tmp_path, rules="fair").folder("me", 0)
