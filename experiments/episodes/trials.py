"""The trials of a suite: which place in it and which repeat each is, and how those that are left are cut into jobs."""

from __future__ import annotations

from collections.abc import Container
from itertools import product
from typing import Any

from experiments.episodes.config import SuiteSpec

SuiteTrial = tuple[int, int]
"""The place of the scenario in its suite, and the repeat."""

_CHUNK = 50
_MIN_CHUNKS = 64  # a small suite is cut finer, or most workers would have nothing to do


class SuiteTrials:
    """Every trial of ``spec``, found by the name of its scenario and its repeat."""

    def __init__(self, spec: SuiteSpec) -> None:
        self._spec = spec
        self._places = {scenario.scenario_id: place for place, scenario in enumerate(spec.build())}

    def find(self, name: str, repeat: Any) -> SuiteTrial:
        """Return the trial of a logged row.

        Raises
        ------
        ValueError
            If the suite has no scenario ``name``, or ``repeat`` is not one of its repeats.
        """
        if name not in self._places:
            raise ValueError(f"{name!r} is not an episode of {self._spec.label}")
        if type(repeat) is not int or not 0 <= repeat < self._spec.repeats:
            raise ValueError(f"repeat={repeat!r} is not played; allowed are 0 to {self._spec.repeats - 1}")
        return self._places[name], repeat

    def cut(self, done: Container[SuiteTrial], concurrency: int) -> list[tuple[SuiteTrial, ...]]:
        """Return what is not ``done`` in parts: single trials for an agent that plays several at once, else chunks."""
        every = product(range(len(self._places)), range(self._spec.repeats))
        left = [trial for trial in every if trial not in done]
        size = 1 if concurrency > 1 else max(1, min(_CHUNK, len(left) // _MIN_CHUNKS))
        return [tuple(left[start : start + size]) for start in range(0, len(left), size)]
