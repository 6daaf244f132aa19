"""How kernels are compiled and cached on disk.

Numba stamps a cached kernel with its own source file alone, so an edit of a formula in another module would leave the
old machine code in use. Every kernel's cache entry is therefore named after a digest of all kernel sources and of
the game's formulas: any edit starts a new entry, and an old one can never be mistaken for it.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

import terms.kernel
import terms.payoffs
import terms.vectors

F = TypeVar("F", bound=Callable[..., Any])


def _source_digest() -> str:
    game = [Path(str(module.__file__)) for module in (terms.kernel, terms.payoffs, terms.vectors)]
    sources = [*game, *sorted(Path(__file__).parent.glob("*.py"))]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


SOURCE_DIGEST = _source_digest()
_LOG = logging.getLogger("terms.oracle")


class _FirstCompilation(event.Listener):
    """Says once that kernels are being compiled: whoever waits for half a minute wants to know for what."""

    def on_start(self, event: Any) -> None:
        del event
        _tell_once("compiling the oracle's kernels, once for this installation; this takes up to a minute")
        _stop_listening()

    def on_end(self, event: Any) -> None:
        del event


_LISTENER = _FirstCompilation()
event.register("numba:compile", _LISTENER)  # type: ignore[no-untyped-call]


def _stop_listening() -> None:
    event.unregister("numba:compile", _LISTENER)  # type: ignore[no-untyped-call]


_TOLD: set[str] = set()


def _tell_once(text: str) -> None:
    """Log a notice once; workers leave it to their parent."""
    if text not in _TOLD and multiprocessing.parent_process() is None:
        _LOG.warning(text)
    _TOLD.add(text)


def kernel(function: F) -> F:
    """Compile ``function`` on first use and cache it on disk; it releases the GIL, so threads share the work."""
    function.__qualname__ = f"{function.__qualname__}_{SOURCE_DIGEST}"
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return cast(F, njit(cache=True, **options)(function))
    except RuntimeError:  # numba finds no folder it may write to
        _tell_once("nowhere to keep compiled kernels: they are compiled anew each time; NUMBA_CACHE_DIR names a folder")
        return cast(F, njit(**options)(function))


def inline(function: F) -> F:
    """Compile a helper that only other kernels call; it is cached as a part of them."""
    return cast(F, njit(error_model="numpy")(function))


def from_game(function: F, **names: Callable[..., Any]) -> F:
    """Compile a formula of the game as it stands, with the compiled versions of the formulas that it calls.

    A second copy of a rule would drift; this one is the same code object.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"function={function!r} must be a plain function")
    scope = {**function.__globals__, **names}
    return inline(FunctionType(function.__code__, scope, function.__name__, function.__defaults__))  # type: ignore[return-value]
