r"""The game as arrays for the compiled loops: rules, columns of the belief, and beliefs before the first price.

A belief is ``weights`` (rows + 1, groups, nodes): reservation cells with an atom as the last row, groups are (family,
stance), nodes are urgencies. Prices are canonical: a buyer's view, in percent of the price range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.prior import SCALE, Grid, Knowledge, build_prior, column_groups, regime_urgency
from terms.aliases import Floats
from terms.cues import posture_probs, sentiment_probs
from terms.kernel import STANCES, kernel_params, opening_scale
from terms.types import Channel, Role

NUM_CUES = 9


class KernelRules(NamedTuple):
    """Constants of the kernel that all types share. ``last_answered`` is the last round whose offer is answered."""

    horizon: int
    last_answered: int
    walk_round: int
    window: int
    alpha: float
    beta: float
    gamma: float
    phi_0: float
    phi_delta: float
    phi_t: float
    lambda_0: float
    lambda_1: float
    rigidity_threshold: float
    harshness_low: float
    harshness_high: float
    opening_sd: float
    concede_slope: float
    concede_reference: float
    pressure_slope: float
    pressure_reference: float


class TypeColumns(NamedTuple):
    """What a type does: ``urgency`` (nodes,), ``opening_scale`` (groups, nodes), the rest by group.

    ``sentiment`` and ``posture_bias`` are (groups, 3). ``temperature`` divides the posture logits; a group whose
    posture is fixed has temperature 0 and its posture probabilities in ``posture_bias``. ``num_cues`` is 1 if no cue
    can ever tell anything, else 9.
    """

    urgency: Floats
    opening_scale: Floats
    rho: Floats
    xi: Floats
    lambda_2: Floats
    lambda_shift: Floats
    noise_sd: Floats
    stance: NDArray[np.int64]
    sentiment: Floats
    posture_bias: Floats
    temperature: Floats
    num_cues: int


class Model(NamedTuple):
    """A game with its belief columns."""

    rules: KernelRules
    columns: TypeColumns


class Priors(NamedTuple):
    """Beliefs of many agents: ``own`` (n,), ``low``, ``high`` (n, rows), ``weights`` (n, rows, groups, nodes)."""

    own: Floats
    low: Floats
    high: Floats
    weights: Floats


def build_model(knowledge: Knowledge, grid: Grid) -> Model:
    """Flatten what the agent knows for the compiled loops.

    Raises
    ------
    ValueError
        If a family's prices carry no noise: its quotes would have no density.
    """
    config = knowledge.config
    groups = column_groups(knowledge)
    params = [kernel_params(config, family, stance, SCALE) for family, stance in groups]
    for group, each in zip(groups, params, strict=True):
        if each.noise_sd <= 0 or each.opening_sd <= 0:
            raise ValueError(f"family {group.family} has price noise 0; the belief over prices needs a positive noise")
    first, cues, harshness = params[0], config.cues, config.opening.harshness
    rules = KernelRules(
        horizon=config.horizon,
        last_answered=config.horizon if config.final_offer_answered else config.horizon - 1,
        walk_round=first.walk_round,
        window=first.window,
        alpha=first.alpha,
        beta=first.beta,
        gamma=first.gamma,
        phi_0=first.phi_0,
        phi_delta=first.phi_delta,
        phi_t=first.phi_t,
        lambda_0=first.lambda_0,
        lambda_1=first.lambda_1,
        rigidity_threshold=first.rigidity_threshold,
        harshness_low=harshness.low,
        harshness_high=harshness.high,
        opening_sd=first.opening_sd,
        concede_slope=cues.concede_slope,
        concede_reference=cues.concede_reference,
        pressure_slope=cues.pressure_slope,
        pressure_reference=cues.pressure_reference,
    )
    urgency, _ = regime_urgency(knowledge, grid)
    channels = [config.families[family].channel for family, _ in groups]
    stances = [STANCES.index(stance) for _, stance in groups]
    mute = len(set(channels)) == 1 and channels[0] in _TEMPERATURE_FREE
    columns = TypeColumns(
        urgency=urgency,
        opening_scale=np.array([[opening_scale(float(u), each) for u in urgency] for each in params]),
        rho=np.array([each.rho for each in params]),
        xi=np.array([each.xi for each in params]),
        lambda_2=np.array([each.lambda_2 for each in params]),
        lambda_shift=np.array([each.lambda_shift for each in params]),
        noise_sd=np.array([each.noise_sd for each in params]),
        stance=np.array(stances, dtype=np.int64),
        sentiment=np.array([sentiment_probs(s, c, cues) for s, c in zip(stances, channels, strict=True)]),
        posture_bias=np.array(
            [
                posture_probs(0.0, 0.0, s, c, cues) if c in _TEMPERATURE_FREE else cues.posture_bias[s]
                for s, c in zip(stances, channels, strict=True)
            ]
        ),
        temperature=np.array(
            [0.0 if c in _TEMPERATURE_FREE else cues.noisy_temperature if c is Channel.NOISY else 1.0 for c in channels]
        ),
        num_cues=1 if mute or not config.show_cues else NUM_CUES,
    )
    return Model(rules, columns)


_TEMPERATURE_FREE = (Channel.COLLAPSED, Channel.PRESSURING)


def build_priors(knowledge: Knowledge, owns: Sequence[float] | Floats, grid: Grid, role: Role = Role.BUYER) -> Priors:
    """Return the beliefs of agents with canonical reservations ``owns``, padded in front with empty cells."""
    priors = [build_prior(knowledge, float(own), grid, role) for own in owns]
    rows = max(len(prior.low) for prior in priors)
    shape = (len(priors), rows)
    low, high = np.empty(shape), np.empty(shape)
    weights = np.zeros((*shape, *priors[0].weights.shape[1:]))
    for i, prior in enumerate(priors):
        pad = rows - len(prior.low)
        low[i, :pad] = high[i, :pad] = prior.low[0]
        low[i, pad:], high[i, pad:], weights[i, pad:] = prior.low, prior.high, prior.weights
    return Priors(np.asarray(owns, dtype=np.float64), low, high, weights)
