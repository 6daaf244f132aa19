"""What a supplier looks like before anything is bought: the fraud whose manner of speech it shares.

A fraudulent supplier looks like its own fraud. An honest one looks like a random fraudulent supplier of the world, so
that each manner of speech, and all that goes with it, is equally frequent among honest and fraudulent suppliers. Only
what happens after a purchase differs.
"""

from __future__ import annotations

from commerce.streams import keyed_uniform
from commerce.types import Fraud, Personality, World


def guise(world: World, supplier: int) -> Fraud | None:
    """Return the fraud that ``supplier`` looks like; ``None`` if the world has no fraudulent supplier."""
    who = world.suppliers[supplier]
    if who.fraud is not None or not world.frauds:
        return who.fraud
    uniform = keyed_uniform(world.seed, "guise", who.supplier_id)
    return world.frauds[int(uniform * len(world.frauds))]


def manners(world: World, supplier: int) -> Personality:
    """Return the personality that ``supplier`` shows: its own, or that of a random honest one where it has none."""
    who = world.suppliers[supplier]
    if who.personality is not Personality.ADVERSARIAL:
        return who.personality
    shown = world.honest_personalities or tuple(kind for kind in Personality if kind is not Personality.ADVERSARIAL)
    return shown[int(keyed_uniform(world.seed, "manners", who.supplier_id) * len(shown))]
