"""The game's own formulas, compiled: see :mod:`terms.kernel` for what they mean."""

from __future__ import annotations

from oracle.kernels.compiling import from_game
from terms import kernel, payoffs

sigmoid = from_game(kernel.sigmoid)
history_features = from_game(kernel.history_features)
favourability = from_game(kernel.favourability)
accept_prob = from_game(kernel.accept_prob, sigmoid=sigmoid)
walk_prob = from_game(kernel.walk_prob, sigmoid=sigmoid)
concession_rate = from_game(kernel.concession_rate)
counter_offer = from_game(kernel.counter_offer)
opening_scale = from_game(kernel.opening_scale)
opening_price = from_game(kernel.opening_price)
utility = from_game(payoffs.utility)
