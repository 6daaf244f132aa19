"""Public identities of suppliers, made so that they say nothing: order, number and address depend on the name alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from commerce.streams import stream_key
from commerce.types import Supplier


def anonymous_identities(seed: int, suppliers: Iterable[Supplier]) -> tuple[Supplier, ...]:
    """Return the suppliers in an order, with ids and e-mail addresses, that follow from seed and names only."""
    ordered = sorted(suppliers, key=lambda supplier: stream_key(seed, "roster", supplier.name))
    return tuple(
        replace(supplier, supplier_id=f"SUP-{number:04d}", email=address(supplier.name))
        for number, supplier in enumerate(ordered, 1)
    )


def address(name: str) -> str:
    """Return the e-mail address of a supplier name."""
    return f"{re.sub(r'[^a-z0-9]+', '.', name.lower()).strip('.')}@wholesale.example"
