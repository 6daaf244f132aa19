"""Aids that stand beside whoever runs a store, on the same draws: each lets one cause be told apart from the others.

A year without aids is the plain one. With aids the agent is told, spared or denied one thing more; the world and its
draws stay the same. What an aid tells follows from what the agent could know at that moment.
"""

from commerce.aids.aid_list import AIDS, Aid, check_aids
from commerce.aids.aided_year import AidedYear

__all__ = ["AIDS", "Aid", "AidedYear", "check_aids"]
