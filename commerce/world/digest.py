"""The content hash of a world: equal hashes mean equal worlds, whatever seed or folder they came from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from commerce.types import World


def world_to_json(world: World) -> dict[str, Any]:
    """Return the world as plain JSON data, hidden parts included, without its digest."""
    skus = world.skus
    return {
        "seed": world.seed,
        "year": world.year,
        "store_types": [asdict(row) for row in world.store_types],
        "categories": [asdict(row) for row in world.categories],
        "skus": {name: list(column) for name, column in zip(skus._fields[:3], skus[:3], strict=True)}
        | {name: column.tolist() for name, column in zip(skus._fields[3:], skus[3:], strict=True)},
        "suppliers": [asdict(row) for row in world.suppliers],
        "events": [asdict(row) for row in world.events],
        "promotions": [asdict(row) for row in world.promotions],
    }


def world_digest(world: World) -> str:
    """Return the SHA-256 of the world's content, in hexadecimal."""
    text = json.dumps(world_to_json(world), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
