"""What every page is made with: templates, assets, numbers in words, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.storage.files import write_atomically

if TYPE_CHECKING:
    from jinja2 import Environment


def write_page(path: Path, build: Callable[[], str]) -> Path:
    """Write what ``build`` returns to ``path``, whole or not at all, and return the path.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist; said before anything is built.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist")
    write_atomically(path, build().encode())
    return path


def environment(**filters: object) -> Environment:
    """Return the template environment: everything escaped, undefined names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("experiments.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(number=format_number, count=lambda n: f"{n:,}", **filters)
    return made


def format_number(value: float, digits: int = 3) -> str:
    """Write a number with a true minus sign; what rounds to zero has no sign."""
    text = f"{value:,.{digits}f}"
    is_zero = not text.strip("-0.,")
    return text.lstrip("-") if is_zero else text.replace("-", "−")


def asset(*names: str) -> str:
    """Return the text of the style sheets or scripts called ``names``, joined."""
    folder = resources.files("experiments.report").joinpath("templates")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def content_policy(css: str, script: str) -> str:
    """Allow exactly this style sheet and this script; nothing else may run or load."""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
