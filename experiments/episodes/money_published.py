"""Published figures of the commerce and bankroll modes, to lay beside measured ones (TERMS-Bench public site).

Regret rates are of 144 episodes, synthetic source; balances of 4 sessions of 50 periods, pool mode, in dollars.
"""

from __future__ import annotations

REGRET_RATES = {
    "Claude Opus 4.6": 0.293,
    "fixed-0.30": 0.498,
    "fixed-0.10": 0.573,
    "fixed-0.01": 0.618,
    "GPT-4o mini": 0.797,
}
TERMINAL_BALANCES = {
    "GLM 5.1": 442.77,
    "Claude Opus 4.6": 416.33,
    "Gemma 4 31B": 410.31,
    "Gemini 3.1 Pro": 396.17,
    "GPT-5.5": 380.02,
    "Grok 4.20": 110.19,
    "GPT-4o mini": 21.41,
}
