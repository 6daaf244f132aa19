"""Which request meets which fault.

In order: the model's name (``anything/fault:NAME``, with ``@N`` only for the first N tries), a script of names, and a
seeded plan. The plan's draw for a request depends on the seed, the content and the number of the try alone, so that a
run meets the same faults whatever the order or the number of threads.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.fault_server.fault_list import FAULTS, GROUPS

NO_FAULT = "ok"
_IN_MODEL_NAME = re.compile(r"fault:([a-z0-9_]+)(?:@(\d+))?$")
_TRY_IN_REQUEST_ID = re.compile(r"#(\d+)$")


class FaultPlan:
    """Draws faults at given rates.

    Parameters
    ----------
    rates
        Probability by fault or by group; a group's rate is that of each of its faults.
    seed
        Of the draws.

    Raises
    ------
    ValueError
        If a name is unknown, a rate is outside [0, 1], or the rates sum to more than 1.
    """

    def __init__(self, rates: Mapping[str, float] | None = None, seed: int = 0) -> None:
        self._rates: dict[str, float] = {}
        for name, rate in (rates or {}).items():
            if not 0 <= rate <= 1:
                raise ValueError(f"rate of {name}={rate} must lie in [0, 1]")
            members = [fault.name for fault in FAULTS.values() if name in (fault.name, fault.group)]
            if not members:
                raise ValueError(f"fault={name!r} is unknown; allowed are {', '.join((*GROUPS, *FAULTS))}")
            self._rates.update(dict.fromkeys(members, rate))
        if sum(self._rates.values()) > 1 + 1e-9:
            raise ValueError(f"the rates of {len(self._rates)} faults sum to {sum(self._rates.values())}, more than 1")
        self._seed = seed

    def draw(self, body: Mapping[str, Any], attempt: int) -> str | None:
        """Return the fault of a request's try number ``attempt``, counted from 0."""
        text = json.dumps([self._seed, body["messages"], attempt], sort_keys=True)
        point = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
        for name, rate in self._rates.items():
            if point < rate:
                return name
            point -= rate
        return None


class Chooser:
    """Picks the fault of each request; safe for many threads."""

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan
        self._script: deque[str] = deque()
        self._seen: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def script(self, names: Iterable[str]) -> None:
        """Append faults for the next requests, one each; ``ok`` is none."""
        names = list(names)
        unknown = [name for name in names if name not in FAULTS and name != NO_FAULT]
        if unknown:
            raise ValueError(f"fault={unknown[0]!r} is unknown; allowed are {', '.join((NO_FAULT, *FAULTS))}")
        with self._lock:
            self._script.extend(names)

    def choose(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[str | None, int]:
        """Return the fault, or ``None``, and the number of the try; header names are in lower case."""
        attempt = self._attempt(body, headers)
        named = _IN_MODEL_NAME.search(str(body["model"]))
        if named is not None:
            name, tries = named[1], named[2]
            if name not in FAULTS:
                raise ValueError(f"fault={name!r} is unknown; allowed are {', '.join(FAULTS)}")
            return (None if tries is not None and attempt >= int(tries) else name), attempt
        with self._lock:
            scripted = self._script.popleft() if self._script else None
        if scripted is not None:
            return (None if scripted == NO_FAULT else scripted), attempt
        return self._plan.draw(body, attempt), attempt

    def _attempt(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> int:
        """Return the number of the try: by `X-Client-Request-Id: id#n`, the SDK's retry count, or earlier requests."""
        digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).digest()
        with self._lock:
            seen = self._seen[digest]
            self._seen[digest] += 1
        numbered = _TRY_IN_REQUEST_ID.search(headers.get("x-client-request-id") or "")
        if numbered is not None:
            return int(numbered[1])
        retry_count = headers.get("x-stainless-retry-count") or "0"
        return int(retry_count) if retry_count.isdecimal() and int(retry_count) > 0 else seen
