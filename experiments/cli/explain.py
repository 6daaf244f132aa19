"""The command that tells one negotiation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli import options
from experiments.cli.seating import prepared_bayes_optimal
from experiments.cli.show import out, print_table, text_table
from experiments.engine.run import load_run
from experiments.episodes.folder import Run
from experiments.episodes.suite_task import EPISODES
from experiments.stats.numerals import number_text
from experiments.years.year_mode import is_year
from terms.records import EpisodeRecord

if TYPE_CHECKING:
    from oracle.explain import Explanation, MoveReview


def explain(
    run: options.RunFolder,
    episode: Annotated[
        str | None,
        typer.Argument(
            help="Episode id, or its number in the suite, from 1; of a year the number of a talk, or none for a list."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell one negotiation: the counterpart, what could be believed, each move beside the oracle's and its cost."""
    if is_year(run):
        from experiments.cli.explain_talk import tell_year_talks

        tell_year_talks(run, episode, as_json=as_json)
        return
    if episode is None:
        raise ValueError(f"episode is missing; {run} is a run, so say which episode is to be told")
    from oracle.explain import explain as explain_record

    loaded = load_run(EPISODES, run)
    record = find_episode(loaded, episode)
    (scenario,) = (each for each in loaded.header.spec.build() if each.scenario_id == record.scenario_id)
    told = explain_record(scenario, record, bayes_optimal=prepared_bayes_optimal([scenario]))
    if as_json:
        out(json.dumps(told.to_json_object(), allow_nan=False))
        return
    for line in _setting(told, record):
        out(line)
    print_table(text_table("moves, costs in price units", _HEADINGS, [_move_row(move) for move in told.moves]))
    for line in _verdict(told, record):
        out(line)


_HEADINGS = (
    "round", "standing", "cue", "could believe r", "believed r", "deal possible", "move", "oracle's move", "cost",
    "in hindsight", "turn reward",
)  # fmt: skip


def _is_place(text: str) -> bool:
    """Whether ``text`` is a number that can be read: a power is a digit too, and 5,000 of them are too many."""
    return text.isdecimal() and len(text) <= 12


def find_episode(run: Run, episode: str) -> EpisodeRecord:
    """Return the episode with this id, or with this number in the suite.

    Raises
    ------
    ValueError
        If the run has no such episode.
    """
    ids = [scenario.scenario_id for scenario in run.header.spec.build()]
    wanted = ids[int(episode) - 1] if _is_place(episode) and 1 <= int(episode) <= len(ids) else episode
    for record in run.records:
        if record.scenario_id == wanted:
            return record
    raise ValueError(f"episode={episode!r}; {run.folder} has numbers 1 to {len(ids)} and ids such as {ids[0]!r}")


def _setting(told: Explanation, record: EpisodeRecord) -> list[str]:
    hidden = told.counterpart
    deal = f"zopa {number_text(told.zopa)}" if told.zopa > 0 else "no deal possible"
    return [
        f"{told.scenario_id}, played by {told.agent} as {record.agent_role}",
        f"own reservation {number_text(record.agent_type.reservation_price)}; the counterpart: {told.family}, "
        f"reservation {number_text(hidden['reservation_price'])}, urgency {number_text(hidden['urgency'])}, "
        f"{hidden['stance']}; {deal}",
    ]


def _move_row(move: MoveReview) -> tuple[str, ...]:
    exact, stated = move.exact, move.stated
    low, high = exact["r_interval"]
    cue = "-" if move.cue is None else f"{move.cue.sentiment.value} {move.cue.posture.value}"
    return (
        str(move.round),
        number_text(move.standing_price),
        cue,
        f"{number_text(exact['r_mean'])} [{number_text(low)}, {number_text(high)}]",
        "-" if stated is None else number_text(stated.r_hat),
        f"{100 * exact['feasible_prob']:.0f} %",
        _act(move.decision, move.price),
        _act(move.reference_decision, move.reference_price),
        number_text(move.cost),
        number_text(move.hindsight_cost),
        number_text(move.turn_reward),
    )


def _act(decision: Any, price: float | None) -> str:
    if decision is None:
        return "no usable reply"
    return decision.value if price is None else f"{decision.value} {number_text(price)}"


def _verdict(told: Explanation, record: EpisodeRecord) -> list[str]:
    from oracle.parts import SENTENCES

    costs = ", ".join(f"{name} {number_text(cost)}" for name, cost in told.costs.items())
    by = f"{told.source}, {SENTENCES[told.source]}" if told.source in SENTENCES else told.source
    where = "" if told.costliest_round is None else f"; the costliest move was in round {told.costliest_round}"
    return [
        f"ended by {record.termination.value.replace('_', ' ')}, utility {number_text(told.utility)}; "
        f"knowing the type it was worth {number_text(told.clairvoyant_value)} at the start, "
        f"noise {number_text(told.noise)}",
        f"expected cost of the moves: {costs}. Loss came from: {by}{where}",
    ]
