"""Cue laws: by hand, by integrating the draws exactly, and by playing many openings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from terms import Game
from terms.config import CueConfig
from terms.cues import concession_share, draw_cue, posture_probs, sentiment_probs
from terms.noise import CueDraw
from terms.types import Channel, Cue, Decision, Family, Posture, Sentiment, Stance
from tests.terms.builders import make_scenario, seeded_noise

CONFIG = CueConfig()
GRID = 2_000
UNIFORMS = (np.arange(GRID) + 0.5) / GRID
DRAWN = (Channel.INFORMATIVE, Channel.NOISY)


def cue(channel, draw, *, decision=Decision.OFFER, share=0.3, elapsed=0.6, stance=0, config=CONFIG):
    return draw_cue(decision, share, elapsed, stance, channel=channel, config=config, draw=draw)


@pytest.mark.parametrize(
    ("price", "previous", "reservation", "share"),
    [
        (70, 80, 40, 0.25),  # 10 / (40 + 1e-6)
        (30, 20, 60, 0.25),
        (75, None, 40, 0.0),
        (40, 40, 40, 0.0),
        (20, 80, 40, 1.0),  # 60/40, cut
    ],
)
def test_concession_share(price, previous, reservation, share):
    assert concession_share(price, previous, reservation) == pytest.approx(share, abs=1e-7)


def test_concession_share_has_the_published_epsilon():
    assert concession_share(70, 80, 79) == 1.0
    assert concession_share(80 - 5e-7, 80, 80) == pytest.approx(0.5, abs=1e-6)  # 5e-7 / (0 + 1e-6)


@pytest.mark.parametrize(
    ("stance", "share", "elapsed", "logits"),
    [
        # bias (0, 0.5, 0); 2 (0.1 - 0.10) = 0; 2 (0.8 - 0.80) - 0.1 = -0.1
        (1, 0.1, 0.8, (0.0, 0.5, -0.1)),
        # bias (1, 0, -1); 2 (0.3 - 0.10) = 0.4; 2 (0.6 - 0.80) - 0.3 = -0.7
        (0, 0.3, 0.6, (1.4, 0.0, -1.7)),
        # bias (-1, 0, 1); 2 (0 - 0.10) = -0.2; 2 (1 - 0.80) - 0 = 0.4
        (2, 0.0, 1.0, (-1.2, 0.0, 1.4)),
    ],
)
@pytest.mark.parametrize(("channel", "temperature"), [(Channel.INFORMATIVE, 1.0), (Channel.NOISY, 2.5)])
def test_posture_law(stance, share, elapsed, logits, channel, temperature):
    weights = [math.exp(logit / temperature) for logit in logits]
    found = posture_probs(share, elapsed, stance, channel, CONFIG)
    assert found == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-14)


def test_posture_law_survives_huge_logits():
    config = CueConfig(concede_slope=1e6)
    assert posture_probs(1.0, 0.5, 0, Channel.INFORMATIVE, config) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("stance", "channel", "positive", "negative"),
    [
        (0, Channel.INFORMATIVE, 0.7475074624530771, 0.022750131948179212),  # Phi(0.5/0.75), Phi(-1.5/0.75)
        (1, Channel.INFORMATIVE, 0.2524925375469229, 0.2524925375469229),  # Phi(-0.5/0.75) twice
        (2, Channel.INFORMATIVE, 0.022750131948179212, 0.7475074624530771),
        (0, Channel.NOISY, 0.5987063256829237, 0.22662735237686820),  # Phi(0.5/2), Phi(-1.5/2)
        (1, Channel.NOISY, 0.4012936743170763, 0.4012936743170763),  # Phi(-0.5/2) twice
    ],
)
def test_sentiment_law(stance, channel, positive, negative):
    found = sentiment_probs(stance, channel, CONFIG)
    assert found == pytest.approx((positive, 1 - positive - negative, negative), abs=1e-14)


def test_sentiment_without_noise_is_certain():
    certain = CueConfig(sentiment_sd=0.0, noisy_sd=0.0)
    for channel in DRAWN:
        assert [sentiment_probs(stance, channel, certain) for stance in range(3)] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        assert cue(channel, CueDraw(0.0, 5.0, 5.0, 0.0), stance=1, config=certain).sentiment is Sentiment.NEUTRAL


@pytest.mark.parametrize("channel", DRAWN)
@pytest.mark.parametrize("stance", range(3))
def test_drawn_posture_follows_its_law(channel, stance):
    drawn = [cue(channel, CueDraw(u, 0.0, 0.0, u), stance=stance).posture for u in UNIFORMS]
    law = posture_probs(0.3, 0.6, stance, channel, CONFIG)
    for posture, prob in zip(Posture, law, strict=True):
        assert drawn.count(posture) / GRID == pytest.approx(prob, abs=1 / GRID)


@pytest.mark.parametrize("channel", DRAWN)
@pytest.mark.parametrize("stance", range(3))
def test_drawn_sentiment_follows_its_law(channel, stance):
    normals = ndtri(UNIFORMS)
    drawn = [cue(channel, CueDraw(0.0, z, z, 0.0), stance=stance).sentiment for z in normals]
    law = sentiment_probs(stance, channel, CONFIG)
    for sentiment, prob in zip(Sentiment, law, strict=True):
        assert drawn.count(sentiment) / GRID == pytest.approx(prob, abs=1 / GRID)


def test_each_channel_reads_its_own_draws():
    # Posture 0 is Concede, just below 1 is Pressure; normals +-9 decide the sentiment.
    draw = CueDraw(posture=0.0, sentiment=9.0, noisy_sentiment=-9.0, noisy_posture=0.9999999)
    assert cue(Channel.INFORMATIVE, draw) == Cue(Sentiment.POSITIVE, Posture.CONCEDE)
    assert cue(Channel.NOISY, draw) == Cue(Sentiment.NEGATIVE, Posture.PRESSURE)


def test_a_sentiment_on_the_threshold_is_neutral():
    config = CueConfig(sentiment_mean=(0.5, 0.0, -0.5), sentiment_sd=1.0)
    for stance in (0, 2):
        assert cue(Channel.INFORMATIVE, CueDraw(0.5, 0.0), stance=stance, config=config).sentiment == "neutral"


def test_a_posture_of_probability_zero_is_not_drawn_by_the_lowest_uniform():
    never_concede = CueConfig(concede_slope=1e6)
    draw = CueDraw(posture=0.0, sentiment=0.0)
    assert posture_probs(0.0, 0.6, 0, Channel.INFORMATIVE, never_concede)[0] == 0.0
    assert cue(Channel.INFORMATIVE, draw, share=0.0, config=never_concede).posture is Posture.HOLD


def test_a_uniform_that_rounding_leaves_uncovered_is_pressure():
    assert cue(Channel.INFORMATIVE, CueDraw(1.0, 0.0)).posture is Posture.PRESSURE


@pytest.mark.parametrize("decision", Decision)
def test_silent_channels_show_one_cue(decision):
    draw = CueDraw(0.0, 9.0, 9.0, 0.0)
    assert cue(Channel.COLLAPSED, draw, decision=decision) == Cue(Sentiment.NEUTRAL, Posture.HOLD)
    assert cue(Channel.PRESSURING, draw, decision=decision) == Cue(Sentiment.NEGATIVE, Posture.PRESSURE)
    assert posture_probs(0.3, 0.6, 0, Channel.COLLAPSED, CONFIG) == (0, 1, 0)
    assert posture_probs(0.3, 0.6, 0, Channel.PRESSURING, CONFIG) == (0, 0, 1)
    assert sentiment_probs(0, Channel.COLLAPSED, CONFIG) == (0, 1, 0)
    assert sentiment_probs(0, Channel.PRESSURING, CONFIG) == (0, 0, 1)


@pytest.mark.parametrize("channel", DRAWN)
def test_closing_acts_force_the_posture(channel):
    for uniform in (0.0, 0.9999999):
        draw = CueDraw(uniform, 9.0, 9.0, uniform)
        assert cue(channel, draw, decision=Decision.ACCEPT) == Cue(Sentiment.POSITIVE, Posture.CONCEDE)
        assert cue(channel, draw, decision=Decision.REJECT) == Cue(Sentiment.POSITIVE, Posture.PRESSURE)


@pytest.mark.parametrize("family", [Family.CANDID, Family.STOCHASTIC])
@pytest.mark.parametrize("stance", Stance)
def test_frequencies_of_played_openings(family, stance):
    """The opening has share 0 and clock 0; 1,500 openings lie within four standard errors of the law."""
    shown = []
    for seed in range(1_500):
        scenario = make_scenario(family=family, stance=stance, noise=seeded_noise(seed, 1))
        shown.append(Game(scenario).observe().cue)
    index, channel = list(Stance).index(stance), scenario.config.families[family].channel
    laws = (posture_probs(0.0, 0.0, index, channel, CONFIG), sentiment_probs(index, channel, CONFIG))
    for kind, law, part in ((Posture, laws[0], 1), (Sentiment, laws[1], 0)):
        for value, prob in zip(kind, law, strict=True):
            frequency = sum(cue[part] is value for cue in shown) / len(shown)
            assert abs(frequency - prob) < 4 * math.sqrt(prob * (1 - prob) / len(shown)), (value, frequency, prob)
