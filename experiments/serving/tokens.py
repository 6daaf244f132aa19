"""The bearer token: from the environment or a file only its owner can read, never from an argument, never printed."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from pathlib import Path

TOKEN_VARIABLE = "TERMS_SERVE_TOKEN"
TOKEN_FILE = "serve-token"
_SHORTEST = 16


class Token:
    """A secret that shows itself nowhere; two of them are compared in constant time."""

    def __init__(self, secret: str) -> None:
        if len(secret) < _SHORTEST or not secret.isascii() or any(map(str.isspace, secret)):
            raise ValueError(f"the token must be at least {_SHORTEST} ASCII characters without blanks")
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return "Token(...)"

    def admits(self, header: bytes | None) -> bool:
        """Whether ``header``, the value of ``Authorization``, carries this token."""
        scheme, _, given = (header or b"").partition(b" ")
        return hmac.compare_digest(given.strip(), self._secret) and scheme.lower() == b"bearer"

    def header(self) -> str:
        """Return the value of ``Authorization`` that carries this token."""
        return f"Bearer {self._secret.decode()}"


def read_token(path: Path | None = None) -> Token:
    """Return the token of ``path``, else of the environment variable ``TERMS_SERVE_TOKEN``.

    Raises
    ------
    ValueError
        If there is none, it is too short, or others may read the file.
    """
    if path is None:
        if TOKEN_VARIABLE not in os.environ:
            raise ValueError(f"there is no token: set {TOKEN_VARIABLE} or name a file that holds it")
        return Token(os.environ[TOKEN_VARIABLE].strip())
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ValueError(f"{path} can be read by others; `chmod 600 {path}` first")
    return Token(path.read_text(encoding="utf-8").strip())


def find_or_make_token(path: Path | None, folder: Path) -> tuple[Token, str]:
    """Return the server's token and where it is from; without any, make one in ``folder``, for its owner alone."""
    if path is not None:
        return read_token(path), str(path)
    if TOKEN_VARIABLE in os.environ:
        return read_token(), f"the environment variable {TOKEN_VARIABLE}"
    path = folder / TOKEN_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    return read_token(path), str(path)
