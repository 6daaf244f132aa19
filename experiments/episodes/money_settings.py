"""What the command of the commerce mode takes from a settings file."""

from __future__ import annotations

from commerce.economics import EconomicsConfig
from terms import GameConfig
from terms.config import Frozen


class CommerceSettings(Frozen):
    """The game that is played and what it is worth."""

    game: GameConfig = GameConfig()
    economics: EconomicsConfig = EconomicsConfig()
