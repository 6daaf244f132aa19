"""Cues: what the counterpart's tone says about its stance. They never change a price.

Posture logits are ``bias(eta) + (2 (C - 0.10), 0, 2 (sqrt(k/K) - 0.80) - C)`` over (Concede, Hold, Pressure), where
``C = min(1, |p - b| / (|b - r_B| + 1e-6))`` is the share of the remaining distance just conceded. Sentiment is
``z ~ N(mu(eta), sd)`` cut at +-0.5. The channel decides how much of this survives.
"""

from __future__ import annotations

import math

from terms.config import CueConfig
from terms.draws import pick
from terms.noise import CueDraw
from terms.types import Channel, Cue, Decision, Posture, Sentiment

COLLAPSED = Cue(Sentiment.NEUTRAL, Posture.HOLD)
PRESSURING = Cue(Sentiment.NEGATIVE, Posture.PRESSURE)
FORCED = {Decision.ACCEPT: Posture.CONCEDE, Decision.REJECT: Posture.PRESSURE}
POSTURES = tuple(Posture)


def concession_share(price: float, previous: float | None, reservation: float) -> float:
    """Return ``C``; 0 for an opening price."""
    if previous is None:
        return 0.0
    return min(1.0, abs(price - previous) / (abs(previous - reservation) + 1e-6))


def posture_probs(share: float, elapsed: float, stance: int, channel: Channel, config: CueConfig) -> tuple[float, ...]:
    """Return the law of the posture cue under ``channel``; ``elapsed`` is ``sqrt(k/K)``, ``stance`` an index."""
    if channel is Channel.COLLAPSED:
        return (0.0, 1.0, 0.0)
    if channel is Channel.PRESSURING:
        return (0.0, 0.0, 1.0)
    bias = config.posture_bias[stance]
    logits = [
        bias[0] + config.concede_slope * (share - config.concede_reference),
        bias[1],
        bias[2] + config.pressure_slope * (elapsed - config.pressure_reference) - share,
    ]
    if channel is Channel.NOISY:
        logits = [logit / config.noisy_temperature for logit in logits]
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def sentiment_probs(stance: int, channel: Channel, config: CueConfig) -> tuple[float, float, float]:
    """Return the law of the sentiment cue over (positive, neutral, negative) under ``channel``."""
    if channel is Channel.COLLAPSED:
        return (0.0, 1.0, 0.0)
    if channel is Channel.PRESSURING:
        return (0.0, 0.0, 1.0)
    mean = config.sentiment_mean[stance]
    sd = config.noisy_sd if channel is Channel.NOISY else config.sentiment_sd
    positive = _upper_tail(config.sentiment_threshold - mean, sd)
    negative = _upper_tail(config.sentiment_threshold + mean, sd)
    return (positive, 1.0 - positive - negative, negative)


def _upper_tail(distance: float, sd: float) -> float:
    """Return P(N(0, sd) > distance)."""
    if sd == 0:
        return 1.0 if distance < 0 else 0.0
    return 0.5 * math.erfc(distance / (sd * math.sqrt(2.0)))


def draw_cue(  # noqa: PLR0913
    decision: Decision,
    share: float,
    elapsed: float,
    stance: int,
    *,
    channel: Channel,
    config: CueConfig,
    draw: CueDraw,
) -> Cue:
    """Turn ready-made random numbers into the shown cue; acceptance forces Concede, walking away forces Pressure."""
    if channel is Channel.COLLAPSED:
        return COLLAPSED
    if channel is Channel.PRESSURING:
        return PRESSURING
    noisy = channel is Channel.NOISY
    sd = config.noisy_sd if noisy else config.sentiment_sd
    score = config.sentiment_mean[stance] + sd * (draw.noisy_sentiment if noisy else draw.sentiment)
    if score > config.sentiment_threshold:
        sentiment = Sentiment.POSITIVE
    elif score < -config.sentiment_threshold:
        sentiment = Sentiment.NEGATIVE
    else:
        sentiment = Sentiment.NEUTRAL
    if decision in FORCED:
        return Cue(sentiment, FORCED[decision])
    uniform = draw.noisy_posture if noisy else draw.posture
    return Cue(sentiment, POSTURES[pick(posture_probs(share, elapsed, stance, channel, config), uniform)])
