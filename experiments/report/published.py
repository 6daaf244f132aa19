"""What the published models reached, as reference rows beside one's own agents.

Source: leaderboard of the public TERMS-Bench site, the 1,800 released synthetic episodes for each model, told without
intervals. ``agr_plus`` is the share of feasible episodes with a deal, ``cse_plus`` the share of the surplus in a deal,
``se_plus`` the share over all feasible episodes.
"""

from __future__ import annotations

from typing import NamedTuple

PUBLISHED_EPISODES = 1_800
PUBLISHED_SOURCE = "TERMS-Bench leaderboard, the 1,800 released episodes, without intervals"


class PublishedModel(NamedTuple):
    """One published row."""

    label: str
    se_plus: float
    agr_plus: float
    cse_plus: float


PUBLISHED_MODELS = (
    PublishedModel("Claude Opus 4.6", 0.6941, 0.9933, 0.6987),
    PublishedModel("GLM 5.1", 0.6856, 0.9508, 0.7211),
    PublishedModel("Claude Opus 4.7", 0.6598, 0.9817, 0.6722),
    PublishedModel("Gemma 4 31B", 0.6398, 0.9983, 0.6409),
    PublishedModel("Gemini 3.1 Pro", 0.6387, 0.9967, 0.6408),
    PublishedModel("DeepSeek V4 Pro", 0.6176, 0.9750, 0.6335),
    PublishedModel("GPT-5.5", 0.6057, 0.9917, 0.6108),
    PublishedModel("Qwen 3.6 Plus", 0.6036, 0.9825, 0.6143),
    PublishedModel("Grok 4.20", 0.6006, 0.9908, 0.6061),
    PublishedModel("Kimi K2.6", 0.5966, 0.9708, 0.6145),
    PublishedModel("Doubao Seed 2.0 Pro", 0.5222, 0.9992, 0.5226),
    PublishedModel("GPT-4o mini", 0.1895, 0.5217, 0.3632),
)


PUBLISHED_REGRET = {
    "invented goods": {"Claude Opus 4.6": 0.293, "Fixed 0.30": 0.498, "GPT-4o mini": 0.797},
    "shop items": {"Claude Opus 4.6": 0.273, "Fixed 0.30": 0.403, "GPT-4o mini": 0.918},
}
"""Share of the best profit missed in the 144 published money episodes of each kind; same site."""
PUBLISHED_BALANCES = {
    "GLM 5.1": 443, "Claude Opus 4.6": 416, "Gemma 4 31B": 410, "Gemini 3.1 Pro": 396, "GPT-5.5": 380, "Grok 4.20": 110,
    "GPT-4o mini": 21,
}  # fmt: skip
"""Mean final balance in dollars of four published sessions of 50 periods from 100 dollars on, pool of suppliers."""


def place_among(se_plus: float) -> str:
    """Say between which published models a score stands."""
    above = [model.label for model in PUBLISHED_MODELS if model.se_plus >= se_plus]
    below = [model.label for model in PUBLISHED_MODELS if model.se_plus < se_plus]
    if not above:
        return f"above all {len(PUBLISHED_MODELS)} published models"
    if not below:
        return f"below all {len(PUBLISHED_MODELS)} published models"
    return f"between {above[-1]} and {below[0]}"
