"""Optional parts of the installation: what an absent one is called, instead of a bare import error."""

from __future__ import annotations

from importlib.util import find_spec


class MissingExtraError(ValueError):
    """A part of the project was asked for whose libraries are not installed."""


def need(extra: str, *modules: str) -> None:
    """Make sure that the libraries of an extra are there.

    Raises
    ------
    MissingExtraError
        If one of ``modules`` is absent; names the extra and how to install it.

    Examples
    --------
    >>> need("serve", "json")
    >>> need("serve", "json", "no_such_library")
    Traceback (most recent call last):
    experiments.extras.MissingExtraError: no_such_library is not installed; pip install "terms-commerce[serve]"
    """
    absent = [name for name in modules if find_spec(name) is None]
    if absent:
        raise MissingExtraError(f'{", ".join(absent)} is not installed; pip install "terms-commerce[{extra}]"')
