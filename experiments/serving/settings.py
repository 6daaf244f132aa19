"""What an operator decides about the years that are served, and the bearer token; the agent decides none of it.

The token is from the environment or a file only its owner can read, never from an argument, and is never printed.
"""

from __future__ import annotations

import functools
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from commerce.world import DEFAULT_SEED
from experiments.storage.files import folder_name, read_given
from experiments.years.limits import Limits
from experiments.years.seats import PlainSeat, YearSeat
from experiments.years.spec import YearSpec
from experiments.years.taking_over import branch_seat, read_origin

PROTOCOL = 1
AGENT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MAX_RUN = 9999
MAX_BODY_BYTES = 1_048_576


class ServeSettings(BaseModel):
    """Years on offer, the same for an agent of any name.

    Run ``k`` is repeat ``k % repeats`` in the world of seed ``world_seed + k // repeats``.

    The seed is never told: whoever knows it can build the world and read its hidden facts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    out: Path = Path("runs")
    rules: Literal["paper", "fair", "fair-1"] = "paper"
    changes: dict[str, JsonValue] = Field({}, description="what is changed in the rules: field and value")
    world_seed: int = Field(DEFAULT_SEED, ge=0)
    world_dir: Path | None = None
    repeats: int = Field(1, ge=1, le=MAX_RUN + 1)
    num_days: int = Field(365, ge=1, le=3650)
    limits: Limits = Field(default_factory=Limits)
    max_sessions: int = Field(64, ge=1, le=10_000)
    origin: tuple[Path, int] | None = Field(
        None, description="folder of a year and the day on whose morning every agent takes it over; its rules hold"
    )
    agents: tuple[Annotated[str, Field(pattern=f"^{AGENT_NAME}$")], ...] = Field(
        (), description="who may play; empty lets anyone with the token, under any number of names"
    )

    def seat(self, agent: str) -> YearSeat:
        """Return the seat of ``agent``, who plays from outside."""
        plain = PlainSeat(f"external:{agent}", limits=self.limits)
        return plain if self.origin is None else branch_seat(_read_once(*self.origin), plain)

    def spec(self, agent: str, run: int) -> YearSpec:
        """Return what run ``run`` of ``agent`` is a year of."""
        if self.origin is not None:
            return _read_once(*self.origin).header.spec.model_copy(update={"repeat": run})
        world, repeat = divmod(run, self.repeats)
        return YearSpec(
            world_seed=self.world_seed + world,
            world_dir=None if self.world_dir is None else str(self.world_dir.resolve()),
            rules=self.rules,
            changes=self.changes,
            num_days=self.num_days,
            merchant_seed=world,
            repeat=repeat,
        )

    def folder(self, agent: str, run: int) -> Path:
        """Return the folder of that year, laid out as ``terms year`` does."""
        if self.origin is None:
            return self.out / f"year-{agent}-{self.rules}" / self.spec(agent, run).folder_name
        spec, name = self.spec(agent, run), folder_name(self.seat(agent).name.removeprefix("external:"))
        return self.out / f"year-{name}-{spec.rules}" / spec.folder_name


_read_once = functools.lru_cache(maxsize=1)(read_origin)
"""Finding the morning takes a second; all agents of a server take over on the same."""

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
    try:
        return Token(read_given(path).decode().strip())
    except UnicodeDecodeError as error:
        raise ValueError(f"token_file={str(path)!r} is no text") from error
    except ValueError as error:
        raise ValueError(f"token_file={str(path)!r}: {error}") from error


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
