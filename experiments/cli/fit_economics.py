"""The command that lays constants of the money beside the published figures."""

from __future__ import annotations

import json

from experiments.cli import options
from experiments.cli.show import count_bar, out, print_table, text_table

SWEEPS = 300
"""Times the published layout is drawn."""


def show_fit(as_json: options.AsJson = False) -> None:
    """Show how well the constants of the money fit the published commerce figures, and what those leave open."""
    from commerce.economics import ECONOMICS
    from experiments.episodes.money_fit import FIXED_AGENTS, NUM_TESTED, SEVEN, UNSETTLED, fit_economics, play_sweeps

    with count_bar(SWEEPS, "sweeps of 144 episodes") as progress:
        played = play_sweeps(SWEEPS, progress)
    fits = {name: fit_economics(played, config) for name, config in ECONOMICS.items()}
    if as_json:
        facts = {name: {**fit._asdict(), "rows": [row._asdict() for row in fit.rows]} for name, fit in fits.items()}
        out(json.dumps({"fits": facts, "unsettled": UNSETTLED}))
        return
    rows = [
        (first.name, f"{first.published:.3f}",
         *(f"{row.mean:.3f} +- {row.sd:.3f} ({'-' if row.z is None else f'{row.z:+.1f}'})" for row in same))
        for same in zip(*(fit.rows for fit in fits.values()), strict=True) for first in same[:1]
    ]  # fmt: skip
    title = f"published, and mean +- spread (spreads apart) over {SWEEPS} sweeps of {', '.join(FIXED_AGENTS)}"
    print_table(text_table(title, ("statistic", "published", *fits), rows))
    for name, fit in fits.items():
        (seven, p_seven), (every, p_every) = fit.seven, fit.every
        out(f"{name}: chi2({len(SEVEN)}) {seven:.1f}, p {p_seven:.3f}; chi2({NUM_TESTED}) {every:.1f}, p {p_every:.3f}")
    for line in UNSETTLED:
        out(f"- {line}")
