"""Types that every package spells the same way: arrays of numbers, and who is told how far a long computation is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Called with (pieces done, pieces in all)."""
