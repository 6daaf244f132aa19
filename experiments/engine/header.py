"""What a run folder is a run of: the one record that is written first, compared on resume and checked by ``verify``."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, Field, model_validator

from terms import __version__
from terms.config import Frozen
from terms.strict_json import strict_dumps

FORMAT: Literal[2] = 2
PACKAGE = "terms-commerce"


class Recipe(BaseModel):
    """What a run is a run of, in full; ``pinned`` names the digest that every header of such runs has."""

    pinned: ClassVar[str]


Spec = TypeVar("Spec", bound=Recipe)


class Header(Frozen, Generic[Spec]):
    """The content of ``run.json``.

    ``spec`` is the recipe of what is played and ``digests`` are hashes of what it makes, so that a changed world cannot
    pass for the same. ``settings`` pin the agent beyond its name; ``versions`` are those the run began with.
    """

    format: Literal[2] = FORMAT
    mode: str
    agent: str
    settings: dict[str, Any] = Field(default_factory=dict)
    spec: Spec
    digests: dict[str, str]
    versions: dict[str, str]
    salt: str = Field("", description="of the seeds that agents are handed; empty where anybody may know them")

    @model_validator(mode="after")
    def _is_pinned(self) -> Self:
        if self.spec.pinned not in self.digests:
            raise ValueError(f"digests are of {', '.join(self.digests) or 'nothing'}; needed is {self.spec.pinned}")
        return self


def make_header(
    mode: str,
    agent: str,
    spec: Spec,
    digests: Mapping[str, str],
    settings: Mapping[str, Any] | None = None,
    *,
    salt: str = "",
) -> Header[Spec]:
    """Describe a run with the code that is installed now."""
    plain = json.loads(strict_dumps(settings or {}))  # as it will be read back: no tuples, no enumerations
    kind = header_type(type(spec))
    return kind(
        mode=mode,
        agent=agent,
        settings=plain,
        spec=spec,
        digests=dict(digests),
        versions=code_versions(),
        salt=salt,
    )


def header_type(spec_type: type[Spec]) -> type[Header[Spec]]:
    """Return the class of headers whose spec is of ``spec_type``."""
    return Header[spec_type]  # type: ignore[valid-type]


def code_versions() -> dict[str, str]:
    """Return the versions a result depends on."""
    return {
        PACKAGE: __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "pyarrow": version("pyarrow"),
    }
