"""Worlds of the store year: generated from a seed or loaded from a folder, identified by a content hash."""

from commerce.world.export import world_files
from commerce.world.generate import DEFAULT_SEED, generate_world
from commerce.world.world_folder import LeftOutRow, LoadedWorld, load_world

__all__ = ["DEFAULT_SEED", "LeftOutRow", "LoadedWorld", "generate_world", "load_world", "world_files"]
