"""The answers: posterior, dynamic programs, bounds and the decomposition of an agent's loss.

Importing compiles nothing: each kernel is compiled when it is first called, and kept on disk. The compiler itself is
loaded with the first name that is asked for here, so that listing the oracle's players takes no second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oracle import clairvoyant, posterior
    from oracle.bounds import bracket
    from oracle.decomposition import decompose

__all__ = ["bracket", "clairvoyant", "decompose", "posterior"]

_HOMES = {"bracket": "oracle.bounds", "decompose": "oracle.decomposition"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'oracle' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name) if name in _HOMES else import_module(f"oracle.{name}")
