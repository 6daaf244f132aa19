"""Worlds of the store year: generated from a seed, identified by a content hash."""

from commerce.world.digest import world_digest
from commerce.world.generate import DEFAULT_SEED, generate_world

__all__ = ["DEFAULT_SEED", "generate_world", "world_digest"]
