"""The option ``--gap`` of ``terms bankroll``: what sessions are worth, and where an agent's balance stays behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.cli.seating import seated_apart
from experiments.cli.show import count_bar, estimate, note, out, print_table, text_table
from experiments.players.player import Player
from experiments.stats.numerals import needed_text
from terms.episode import agent_name

if TYPE_CHECKING:
    from experiments.sessions.folder import SessionsRun


def split_sessions(run: SessionsRun, player: Player) -> dict[str, Any] | None:
    """Play every arm, write ``gap.json`` into the run folder and return what it holds; ``None`` without a result."""
    scored = sum(session.is_scored for session in run.sessions)
    if not scored:
        note("note: no session has a result, so there is no gap to split")
        return None
    from experiments.sessions.gap import sessions_gap
    from experiments.sessions.gap_file import write_gap
    from oracle.bankroll.worth import load_outcomes, session_worth

    spec = run.header.spec
    with count_bar(1, "meeting suppliers") as progress:
        outcomes = load_outcomes(spec.chain, spec.economics, spec.bankroll, progress=progress)
    worth = session_worth(outcomes, spec.bankroll)
    with (
        seated_apart(player, run.folder / "gap", "split") as seated,
        count_bar(scored, f"gap of {agent_name(player)}") as progress,
    ):
        gap = sessions_gap(run, seated, worth, progress=progress)
    return write_gap(run, gap, worth)


def print_gap(found: Mapping[str, Any]) -> None:
    """Print the parts of the gap and what the session is worth."""
    from experiments.sessions.gap_file import WORTH

    needed, width = found["required_sessions"], found["half_width"]
    rows = [
        (row["part"].replace("_", " "), estimate(row), str(row["n"]), needed_text(needed[row["part"]]))
        for row in found["rows"]
    ]
    title = f"gap of {found['agent']} to the ruin-aware reference, dollars of final balance, 95 % intervals"
    print_table(text_table(title, ("part", "estimate", "n", f"n for +-{width:g}"), rows))
    worth = [(label, estimate(found["worth"][name])) for name, label in WORTH.items()]
    suppliers = found["worth"]["value"]["n"]
    print_table(text_table("what a session is worth, dollars and probabilities", ("quantity", "estimate"), worth))
    out(f"worth: dynamic program on laws sampled from {suppliers} suppliers; a menu of plans: values are lower bounds")
    out("price of caution and value of memory are differences and no bounds; intervals cover sampling alone")
    if found["excluded"]:
        note(f"note: {len(found['excluded'])} sessions were lost to the provider and excluded from every arm")
