"""The noise of an episode: every random number the counterpart will use, drawn before the agent moves.

Draws are keyed by purpose and round and never depend on what the agent does, so two agents on one episode meet the
same draws and their difference is paired. The published suite consumes one generator in the order of the released
runs; fresh suites give every purpose its own stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class CueDraw(NamedTuple):
    """Random numbers of one cue; the noisy pair is used by the noisy channel alone."""

    posture: float
    sentiment: float
    noisy_sentiment: float = 0.0
    noisy_posture: float = 0.0


class ResponseDraw(NamedTuple):
    """Random numbers of one counterpart response: two uniforms, a standard normal, and the cue."""

    accept: float
    walk: float
    price: float
    cue: CueDraw


class Noise(NamedTuple):
    """All random numbers of one episode; ``responses[k - 1]`` answers the agent's move of round k."""

    opening_noise: float
    opening_cue: CueDraw
    responses: tuple[ResponseDraw, ...]


def _sequential_cue(rng: np.random.Generator, is_noisy: bool) -> CueDraw:
    posture, sentiment = float(rng.random()), float(rng.standard_normal())
    if not is_noisy:
        return CueDraw(posture, sentiment)
    noisy_sentiment = float(rng.standard_normal())
    return CueDraw(posture, sentiment, noisy_sentiment, float(rng.random()))


def released_noise(
    opening_noise: float, horizon: int, *, counterpart_opens: bool, is_noisy: bool, rng: np.random.Generator
) -> Noise:
    """Consume ``rng`` in the order of the released runs.

    The price normal of the first response is skipped when the agent opens, because the counterpart then has no price
    to move from; everything else is consumed even where a family ignores it.
    """
    opening_cue = _sequential_cue(rng, is_noisy) if counterpart_opens else CueDraw(0.0, 0.0)
    responses = []
    for index in range(horizon):
        accept, walk = float(rng.random()), float(rng.random())
        price = float(rng.standard_normal()) if counterpart_opens or index > 0 else 0.0
        responses.append(ResponseDraw(accept, walk, price, _sequential_cue(rng, is_noisy)))
    return Noise(opening_noise, opening_cue, tuple(responses))


def keyed_noise(stream: Callable[[str], np.random.Generator], horizon: int) -> Noise:
    """Draw each purpose from its own stream; ``stream(name)`` returns a fresh generator for that purpose."""
    cues = map(
        CueDraw,
        stream("posture").random(horizon + 1).tolist(),
        stream("sentiment").standard_normal(horizon + 1).tolist(),
        stream("noisy_sentiment").standard_normal(horizon + 1).tolist(),
        stream("noisy_posture").random(horizon + 1).tolist(),
    )
    opening_cue = next(cues)
    responses = map(
        ResponseDraw,
        stream("accept").random(horizon).tolist(),
        stream("walk").random(horizon).tolist(),
        stream("price").standard_normal(horizon).tolist(),
        cues,
    )
    return Noise(float(stream("opening_noise").standard_normal()), opening_cue, tuple(responses))
