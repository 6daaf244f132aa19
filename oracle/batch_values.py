r"""What the reference expects in each of many running episodes: the potential of exact turn rewards.

For the reference's value :math:`\Phi(I)` of what the agent knows in a round, zero once a talk has ended,

.. math:: F_t = r_t + \Phi(I_{t+1}) - \Phi(I_t)

adds up to :math:`U - \Phi(I_1)`: whoever learns from :math:`F` instead of :math:`r` has the same best policies (Ng,
Harada and Russell 1999), and each move is paid when it is made. The belief is exact; :math:`\Phi` is the fitted value
that the player ``bayes`` looks ahead to. Where the agent opens it is 0 before the first price.
"""

from __future__ import annotations

import numpy as np

from oracle.batch_game import BatchGame
from oracle.fitted import FittedValues
from oracle.kernels.belief import TOP
from oracle.kernels.planning import State
from oracle.kernels.potentials import follow_beliefs
from oracle.model import Priors, build_priors
from oracle.planner import FittedAgent
from oracle.prior import SCALE
from terms.aliases import Floats, Ints
from terms.types import Role


class BatchValues:
    """Follows a :class:`oracle.batch_game.BatchGame`: call :meth:`begin` and :meth:`step` after the game's own.

    Parameters
    ----------
    game
        Its episodes must be of the laws the values were fitted for; that is for the caller to see to.
    values
        Fitted values, for example ``oracle.shipped.values_for(knowledge)``.
    """

    def __init__(self, game: BatchGame, values: FittedValues) -> None:
        n = len(game.seen)
        self.game, self._fitted = game, values
        self._planner = FittedAgent(values).planner()
        columns = self._planner.model.columns
        self._priors = Priors(np.zeros(n), np.zeros((n, 0)), np.zeros((n, 0)), np.zeros((0, 0, 0, 0)))
        self._weights = np.zeros((n, 1, *columns.opening_scale.shape))
        self._percent = np.zeros(n)

    @property
    def value(self) -> Floats:
        """What the reference expects from here on, (n,), in money."""
        at = self.game.episodes
        return np.asarray(self._percent * (at.price_max - at.price_min) / SCALE)

    def begin(self, places: Ints) -> None:
        """Take the prior of the episodes that have just begun at ``places``."""
        at = self.game.episodes
        width = at.price_max[places] - at.price_min[places]
        gap = np.where(
            at.sign[places] > 0, at.own[places] - at.price_min[places], at.price_max[places] - at.own[places]
        )
        owns = SCALE * gap / width
        for role in Role:
            mine = at.sign[places] == role.sign
            if not mine.any():
                continue
            priors = build_priors(self._fitted.knowledge, owns[mine], self._fitted.grid, role)
            used = priors.low.shape[1]
            self._make_room(used)
            rows = self._priors.low.shape[1]
            here, pad = places[mine], rows - used
            self._priors.own[here] = priors.own
            self._priors.low[here, :pad] = self._priors.high[here, :pad] = priors.low[:, :1]
            self._priors.low[here, pad:], self._priors.high[here, pad:] = priors.low, priors.high
            self._weights[here] = 0.0
            self._weights[here, pad:rows] = priors.weights
        self._follow(places, np.zeros(len(places), dtype=np.int64))

    def step(self, places: Ints) -> None:
        """Take in the answers at ``places``, all of which were running before the step."""
        running = self.game.running[places]
        self._follow(places, np.where(running, self.game.round[places] - 1, 0))

    def state(self, place: int) -> State:
        """Return what the agent at ``place`` knows, as the planner takes it; the belief's array is shared."""
        game, at = self.game, self.game.episodes
        sign, low, high = at.sign[place], at.price_min[place], at.price_max[place]
        offers = to_canonical(game.talks.offers[place, : game.talks.num_offers[place]], sign, low, high)
        quote = game.talks.quotes[place, 2]
        opened = not np.isnan(quote)
        standing = float(to_canonical(quote, sign, low, high)) if opened else TOP
        priors = self._priors
        edges = (priors.low[place], priors.high[place], float(priors.own[place]))
        return State(self._weights[place], *edges, offers, int(game.round[place]), standing, opened)

    def _make_room(self, rows: int) -> None:
        """Give every belief room for ``rows`` cells; more come in front, empty."""
        more = rows - self._priors.low.shape[1]
        if more > 0:
            low, high = (
                np.pad(edge, ((0, 0), (more, 0)), mode="edge" if edge.size else "constant")
                for edge in self._priors[1:3]
            )
            self._priors = self._priors._replace(low=low, high=high)
            self._weights = np.pad(self._weights, ((0, 0), (more, 0), (0, 0), (0, 0)))

    def _follow(self, places: Ints, clocks: Ints) -> None:
        game = self.game
        follow_beliefs(
            places, clocks, game.talks, game.episodes, game.pool.shows_cues, self._weights, self._priors,
            self._planner, self._percent,
        )  # fmt: skip


def to_canonical(price: Floats, sign: int, low: float, high: float) -> Floats:
    """Return prices as a buyer would see them, in percent of the price range ``low`` to ``high``."""
    return np.asarray(SCALE * ((price - low) if sign > 0 else (high - price)) / (high - low))


def from_canonical(price: Floats | float, sign: int, low: float, high: float) -> Floats:
    """Invert :func:`to_canonical`."""
    distance = price * (high - low) / SCALE
    return np.asarray(low + distance if sign > 0 else high - distance)
