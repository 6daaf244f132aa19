"""What a command says before it costs anything: how much is played, what a model would be asked, and for how much.

:func:`tell_plan` is called once all choices are made and before any folder is written. With ``--dry-run`` the command
ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.show import note, out
from experiments.players.seat import ModelSeat, effort_growth

if TYPE_CHECKING:
    from experiments.llm.settings import ModelSettings
    from experiments.players.costing import Forecast
    from experiments.players.player import Player
    from experiments.storekeeper.seat import StorekeeperSeat

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be played, what a model would be asked, and its price.")
]
UNPRICED = "note: no price of {} is known; what its server does not state stays unknown, also to a budget"
SECONDS_AN_ANSWER = 3.0
"""What an answer is taken to last, as nothing was asked yet; `terms check` measures it."""


def tell_plan(
    players: Sequence[Player], num: int, what: str = "negotiations", *, plays: int = 1, is_dry: bool = False
) -> None:
    """Say what is about to be played, if a language model plays or nothing else is wanted.

    Parameters
    ----------
    players
        Who plays ``num`` of them each.
    what
        What is played.
    plays
        How often each of them is played.
    is_dry
        Whether the command ends here.

    Raises
    ------
    typer.Exit
        After a dry run.
    """
    say = out if is_dry else note
    models = [player for player in players if isinstance(player, ModelSeat)]
    times = "" if plays == 1 else f", each {plays} times"
    for seat in models:
        from experiments.players.costing import ANSWER_TOKENS, forecast_talks

        effort = None if seat.model is None else seat.model.effort
        asked = forecast_talks(num * plays, seat.config, seat.negotiator, ANSWER_TOKENS * effort_growth(effort))
        whose = f" of {seat.name}" if len(models) > 1 else ""
        say(f"plan: {num:,} {what}{whose} at most{times}, {_in_words(asked, seat.model, seat.concurrency)}")
        _tell_unpriced([seat.model, seat.voice])
    if models:
        _end(say, is_dry=is_dry)
    else:
        tell_free_plan(f"{num:,} {what}{times}", is_dry=is_dry)


def tell_years_plan(seat: StorekeeperSeat, num: int, at_once: int = 1, *, is_dry: bool = False) -> None:
    """Say what the years are about to ask of the model at most; see :func:`tell_plan`."""
    from experiments.players.costing import forecast_years

    say = out if is_dry else note
    shown = seat.storekeeper
    most = forecast_years(num, shown.max_turns, shown.evict_at, shown.evict_to)
    is_local = seat.base_name == "local"
    words = _in_words(most, None if is_local else seat.model, min(at_once, num)).removeprefix("about ")
    say(f"plan: {num} year(s), at most {words}")
    if not is_local:
        _tell_unpriced([seat.model, seat.voice])
    _end(say, is_dry=is_dry)


def tell_free_plan(what: str, *, is_dry: bool) -> None:
    """Say, if nothing else is wanted, that ``what`` is played without a model; see :func:`tell_plan`."""
    if is_dry:
        out(f"plan: {what}, no model is asked, free")
        _end(out, is_dry=True)


def _in_words(asked: Forecast, model: ModelSettings | None, at_once: int) -> str:
    from experiments.players.served import known_prices

    forecast = asked.priced(known_prices(model)).timed(SECONDS_AN_ANSWER, at_once)
    return f"{forecast.in_words()} at {SECONDS_AN_ANSWER:g} s an answer"


def _tell_unpriced(models: list[ModelSettings | None]) -> None:
    from experiments.players.costing import is_price_known

    for one in models:
        if one is not None and not is_price_known(one):
            note(UNPRICED.format(one.model))


def _end(say: Callable[[str], None], *, is_dry: bool) -> None:
    if is_dry:
        say("dry run: nothing was asked and nothing written")
        raise typer.Exit
