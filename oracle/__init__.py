"""The answers: posterior, dynamic programs, bounds and the decomposition of an agent's loss.

Importing compiles nothing: each kernel is compiled when it is first called, and kept on disk.
"""

from oracle import clairvoyant, posterior
from oracle.bounds import bracket
from oracle.decomposition import decompose

__all__ = ["bracket", "clairvoyant", "decompose", "posterior"]
