r"""Finite games drawn for the dual bound: the agent is told where inside their cells reservation and urgency lie.

Given the own reservation, r is uniform on an interval and ``kappa`` has a Beta law with distribution function B. Cut
the interval into n equal cells and [0, 1] into m. With ``u = frac(n (r - r_low) / (r_high - r_low))`` and
``v = frac(m B(kappa))`` the pair (u, v) is independent of the cells, and the cells are uniform and independent, so
given (u, v) the type is one of ``n m`` equally likely atoms in each stance: a finite law, exactly. Who is told (u, v)
can earn no less, hence the mean over (u, v) of any upper bound of the finite games bounds the game itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from oracle.fitted import FittedValues
from oracle.kernels.finite import Finite, Truth
from oracle.model import Model, build_model
from oracle.prior import SCALE, Grid, Knowledge, build_prior
from oracle.simulate import draw_batch
from terms.aliases import Floats, Ints
from terms.cells import Cell
from terms.kernel import STANCES, KernelParams, kernel_params, opening_price, opening_scale
from terms.types import Opener, Regime, Role

_GRID = Grid(2.0, 5)


@dataclass(frozen=True, slots=True)
class BracketSettings:
    """What a bracket is computed with.

    The game is on ticks: offers are ``own - i * tick`` (percent of R, a buyer's view) down to the first at or below
    the lowest possible reservation, and never fall. ``grid`` are the cells of the relaxation, ``num_prices`` the
    prices of the penalty's interpolation. ``slack`` (percent of R) says how much a history must have lost before the
    dual tells the type: larger values search less and bound less tightly. ``num_policy``, ``num_values`` and
    ``num_rounding`` are the episodes of the policy, of the value at the first decision, and of the estimate of what
    half a tick adds. ``num_bayes`` and ``num_told`` are those of the bounds of the game itself
    (:mod:`oracle.real_game`): of the player, and of the bound that tells the type.
    """

    tick: float = 4.0
    grid: Grid = _GRID
    num_prices: int = 8
    slack: float = -1.0
    num_policy: int = 4000
    num_values: int = 2000
    num_rounding: int = 1000
    num_bayes: int = 1000
    num_told: int = 200

    def __post_init__(self) -> None:
        counted = ("num_prices", "num_policy", "num_values", "num_rounding", "num_bayes", "num_told")
        sizes = {name: getattr(self, name) for name in counted}
        if not 0 < self.tick <= 10 or min(sizes.values()) < 2:
            named = ", ".join(f"{name}={size}" for name, size in sizes.items())
            raise ValueError(f"tick={self.tick}, {named}; allowed are ticks in (0, 10] and at least 2 of the others")


class Drawn(NamedTuple):
    """Episodes of one family and opener, canonical: a buyer's view in percent of R. Arrays (n,) unless said otherwise.

    ``draws`` (n, K, 3) holds accept uniform, walk uniform and price normal, ``cues`` (n, K + 1, 2) the uniforms of
    sentiment and posture, the opening's first.
    """

    role: Role
    own: Floats
    reservation: Floats
    urgency: Floats
    group: Ints
    opening: Floats
    draws: Floats
    cues: Floats


def check_knowledge(knowledge: Knowledge) -> None:
    """Refuse what the relaxation's type law does not describe.

    Raises
    ------
    ValueError
        Unless one family and one feasible regime are known, with independent geometry and utility as the objective.
    """
    possible = len(knowledge.regimes) == len(knowledge.families) == 1 and knowledge.regimes[0] is not Regime.NO_DEAL
    if not possible or knowledge.geometry != "independent" or knowledge.objective != "utility":
        raise ValueError(
            f"regimes={list(knowledge.regimes)}, families={list(knowledge.families)}, geometry={knowledge.geometry}, "
            f"objective={knowledge.objective}; a bracket needs one family, one feasible regime, independent, utility"
        )
    if knowledge.config.horizon < 3:
        raise ValueError(f"horizon={knowledge.config.horizon}; a bracket needs at least 3 rounds")


def mean_zopa(knowledge: Knowledge) -> float:
    """Return the expected zopa in percent of R."""
    share = knowledge.config.prior.zopa_share
    return SCALE * (share.low + share.high) / 2


def num_ticks(own: float, knowledge: Knowledge, tick: float) -> int:
    """Return how many ticks may be offered."""
    lowest = max(own - SCALE * knowledge.config.prior.zopa_share.high, 0.0)
    return min(int(np.ceil((own - lowest) / tick - 1e-9)), int(own / tick)) + 1


def draw_episodes(knowledge: Knowledge, opener: Opener, role: Role, n: int, rng: np.random.Generator) -> Drawn:
    """Draw ``n`` episodes of the family and regime ``knowledge`` names."""
    config = knowledge.config
    episodes = draw_batch(
        Cell(knowledge.regimes[0], knowledge.families[0], role, opener), n, rng=rng, config=config
    ).episodes
    width = config.price_max - config.price_min
    buys = role is Role.BUYER
    own, reservation = (
        SCALE / width * (price - config.price_min if buys else config.price_max - price)
        for price in (episodes.own, episodes.reservation)
    )
    params = stance_params(knowledge)
    opening = [
        opening_price(r, SCALE, s, opening_scale(kappa, params[g]), e * params[g].opening_sd, 1)
        for r, s, kappa, g, e in zip(
            reservation.tolist(),
            episodes.harshness,
            episodes.urgency,
            episodes.group,
            episodes.opening_noise,
            strict=True,
        )
    ]
    cues = rng.random((n, config.horizon + 1, 2))
    return Drawn(role, own, reservation, episodes.urgency, episodes.group, np.array(opening), episodes.draws, cues)


def stance_params(knowledge: Knowledge) -> list[KernelParams]:
    """Return the kernel's constants by stance on the canonical price range."""
    return [kernel_params(knowledge.config, knowledge.families[0], stance, SCALE) for stance in STANCES]


def finite_model(knowledge: Knowledge, settings: BracketSettings) -> Model:
    """Return the compiled game; its urgencies are replaced episode by episode."""
    return build_model(knowledge, settings.grid)


def finite_game(values: FittedValues, settings: BracketSettings, model: Model, drawn: Drawn, e: int) -> tuple[Finite, Truth]:  # fmt: skip  # noqa: E501
    """Return the finite game of episode ``e`` and what is hidden in it."""
    knowledge, own = values.knowledge, float(drawn.own[e])
    prior = build_prior(knowledge, own, settings.grid, drawn.role)
    rows, cells = len(prior.low), settings.grid.num_urgency
    cell = float(prior.high[-1] - prior.low[0]) / rows
    row, inside = _cell((drawn.reservation[e] - prior.low[0]) / cell, rows)
    law = knowledge.config.prior.counterpart_urgency(knowledge.regimes[0])
    node, rank = _cell(cells * betainc(law.a, law.b, drawn.urgency[e]), cells)
    urgency = np.asarray(betaincinv(law.a, law.b, (np.arange(cells) + rank) / cells))
    scale = [[opening_scale(kappa, each) for kappa in urgency.tolist()] for each in stance_params(knowledge)]
    columns = model.columns._replace(urgency=urgency, opening_scale=np.array(scale))
    game = Finite(
        own=own,
        reservations=prior.low[0] + (np.arange(rows) + inside) * cell,
        cell=cell,
        weights=np.ascontiguousarray(prior.weights.transpose(1, 2, 0)),
        model=model._replace(columns=columns),
        nets=values.nets,
        tick=settings.tick,
        num_ticks=num_ticks(own, knowledge, settings.tick),
        num_prices=settings.num_prices,
        first_prices=3 * settings.num_prices,
        slack=settings.slack,
    )
    truth = Truth(
        group=int(drawn.group[e]),
        node=node,
        row=row,
        opening=float(drawn.opening[e]),
        noise=np.concatenate([[0.0], drawn.draws[e, :, 2]]),
        sentiment=np.ascontiguousarray(drawn.cues[e, :, 0]),
        posture=np.ascontiguousarray(drawn.cues[e, :, 1]),
    )
    return game, truth


def _cell(place: float, cells: int) -> tuple[int, float]:
    """Split a place on [0, cells] into cell and offset; rounding at the ends stays inside."""
    index = min(max(int(place), 0), cells - 1)
    return index, min(max(float(place) - index, 0.0), 1.0)
