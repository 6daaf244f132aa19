"""Readable transcripts, one a counterpart family; ``python -m tests.goldens.regenerate`` writes them anew.

Each is a fresh overlap episode played by a fixed list of moves: long enough to show cues, concessions and an ending.
Prices are printed with four decimals, so that the last bit of a platform's exponential does not matter.
"""

from __future__ import annotations

from pathlib import Path

import terms
from terms.agents import build_scripted
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Decision, Family

FOLDER = Path(__file__).parent


def golden_path(family: Family) -> Path:
    """Return the file of one family."""
    return FOLDER / f"{family.value}.txt"


def transcript(family: Family) -> str:
    """Play the four (role, opener) cells of one family and write them down."""
    scenarios = terms.fresh_suite(2026, regimes=["overlap", "no_deal"], families=[family], n_per_cell=1)
    agent = build_scripted("never-accept")
    return "\n".join(written(scenario, terms.play(scenario, agent)) for scenario in scenarios)


def written(scenario: Scenario, record: EpisodeRecord) -> str:
    """Write one episode as text."""
    own, other = record.agent_type, record.counterpart_type
    lines = [
        f"== {record.scenario_id}",
        f"agent: {record.agent_role}, limit {own.reservation_price:.4f}",
        f"counterpart: limit {other.reservation_price:.4f}, urgency {other.urgency:.4f}, {other.stance}",
        f"zopa {record.zopa:.4f}, difficulty {record.difficulty:.4f}, harshness {scenario.harshness:.4f}",
    ]
    for turn in record.turns:
        if turn.counterpart_price is not None:
            cue = f"{turn.cue.sentiment}/{turn.cue.posture}"
            lines.append(f"{turn.round:>2} they {turn.counterpart_price:9.4f}  [{cue}] {turn.counterpart_message}")
        move = f"{turn.price:9.4f}" if turn.decision is Decision.OFFER else turn.decision
        lines.append(f"{turn.round:>2} we   {move}")
    if record.closing_cue is not None:
        cue = f"{record.closing_cue.sentiment}/{record.closing_cue.posture}"
        lines.append(f"   they end       [{cue}] {record.closing_message}")
    price = "no deal" if record.price is None else f"deal at {record.price:.4f}, utility {record.utility:.4f}"
    lines.append(f"{record.termination}: {price}; violations: {', '.join(v.kind for v in record.violations) or 'none'}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every transcript."""
    for family in Family:
        golden_path(family).write_text(transcript(family), encoding="utf-8")


if __name__ == "__main__":
    main()
