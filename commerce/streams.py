"""Randomness keyed by (world seed, purpose, entity, day), never consumed by what anybody does.

A key is a 64-bit BLAKE2 digest of seed, purpose and entity; a draw is the splitmix64 finaliser of
``key + day * A + index * B`` with odd constants A and B, so each draw can be computed alone and whole tables at once.
Two merchants that act differently therefore meet the same year. The digest, unlike Python's own hash, does not depend
on the process.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from commerce.types import FloatArray, IntArray, KeyArray

_DAY_STEP = np.uint64(0x9E3779B97F4A7C15)
_INDEX_STEP = np.uint64(0xD1B54A32D192ED03)
_DAY_INT, _INDEX_INT = int(_DAY_STEP), int(_INDEX_STEP)
_WORD = 2**64 - 1
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))
_MIX_INTS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MIX = (np.uint64(_MIX_INTS[0]), np.uint64(_MIX_INTS[1]))


def stream_key(seed: int, purpose: str, *entity: object) -> int:
    """Return the 64-bit key of one stream; parts are separated so that ``("a", "bc")`` is not ``("ab", "c")``."""
    text = "\x1f".join([str(seed), purpose, *map(str, entity)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=64)
def stream_keys(seed: int, purpose: str, entities: tuple[str, ...]) -> KeyArray:
    """Return the key of each of ``entities``, the same as :func:`stream_key` one by one; read-only, it is shared."""
    keys = np.array([stream_key(seed, purpose, entity) for entity in entities], dtype=np.uint64)
    keys.setflags(write=False)
    return keys


def keyed_uniforms(keys: KeyArray, days: IntArray | int, indices: IntArray | int = 0) -> FloatArray:
    """Return uniforms in [0, 1), one for each key, at ``days`` and draw number ``indices`` (both broadcast)."""
    x = keys + _steps(days, _DAY_STEP) + _steps(indices, _INDEX_STEP) + _DAY_STEP
    x = (x ^ (x >> _SHIFTS[0])) * _MIX[0]
    x = (x ^ (x >> _SHIFTS[1])) * _MIX[1]
    x = x ^ (x >> _SHIFTS[2])
    return np.asarray((x >> _SHIFTS[3]) * 2.0**-53, dtype=np.float64)


def _steps(numbers: IntArray | int, step: np.uint64) -> KeyArray | np.uint64:
    """Return ``numbers * step`` modulo 2**64; NumPy would warn of the overflow of a scalar, not of an array."""
    if isinstance(numbers, np.ndarray):
        return numbers.astype(np.uint64) * step
    return np.uint64(int(numbers) * int(step) & _WORD)


def keyed_uniform(seed: int, purpose: str, *entity: object, index: int = 0) -> float:
    """Return one uniform in [0, 1) of the stream (seed, purpose, entity); the scalar twin of :func:`keyed_uniforms`."""
    return _uniform(stream_key(seed, purpose, *entity), index)


def scalar_uniforms(key: int, num: int) -> list[float]:
    """Return the draws ``0 .. num - 1`` of a stream by its key, which is hashed once for all of them."""
    return [_uniform(key, index) for index in range(num)]


def _uniform(key: int, index: int) -> float:
    x = (key + index * _INDEX_INT + _DAY_INT) & _WORD
    x = ((x ^ (x >> 30)) * _MIX_INTS[0]) & _WORD
    x = ((x ^ (x >> 27)) * _MIX_INTS[1]) & _WORD
    return ((x ^ (x >> 31)) >> 11) * 2.0**-53


def keyed_integer(low: int, high: int, uniform: float) -> int:
    """Map a uniform in [0, 1) to the integers ``low..high``, both included."""
    return low + int(uniform * (high - low + 1))


def generator(seed: int, purpose: str, *entity: object) -> np.random.Generator:
    """Return a NumPy generator of the stream, for the many draws of a world."""
    return np.random.Generator(np.random.PCG64(stream_key(seed, purpose, *entity)))
