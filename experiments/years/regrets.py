"""The ledger of a played year: what it earned and spent, and where it stayed behind the year of a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from commerce.config import Rules
from commerce.merchants import play_year
from commerce.metrics import Statement, statement
from commerce.plan import StorePlan, extract
from commerce.types import World
from commerce.year import Year
from experiments.engine.pool import map_pieces
from experiments.years.story import replay_year
from experiments.years.year_mode import is_year
from oracle.store.regret import NamedPlan, RegretLedger, regret_ledger
from oracle.store.regret_streams import Stream
from oracle.store.talks import TalkCost, talk_costs
from oracle.store.year_players import FULL_KNOWLEDGE_PLANNER, YEAR_PLAYERS, build_year_player

_PIECES = 4
"""Into which the 64 years that are carried out are cut; each takes the world along and matches the buys anew."""


class YearLedger(NamedTuple):
    """Both layers: the exact statement of the year, and its regret.

    ``price_paid`` divides that part of the regret by what the oracle says of the talks, in fen; ``None`` where the part
    or what the talks cost is not above 0. ``talks`` are the purchases that cost most by the buyer's own doing.
    """

    statement: Statement
    regret: RegretLedger
    price_paid: Mapping[str, int] | None
    talks: Sequence[TalkCost] = ()

    def to_json_object(self) -> dict[str, Any]:
        """Return the object that is stored."""
        return {
            "statement": self.statement.to_json_object(),
            "regret": self.regret.to_json_object(),
            "price_paid": None if self.price_paid is None else dict(self.price_paid),
            "talks": [{**talk._asdict(), "cost_fen": talk.cost_fen} for talk in self.talks],
        }


def split_by(total: int, weights: Mapping[str, int]) -> dict[str, int] | None:
    """Divide a whole number in proportion to ``weights``, by largest remainder; ``None`` where there is nothing to.

    Examples
    --------
    >>> split_by(10, {"a": 1, "b": 1, "c": 1})
    {'a': 4, 'b': 3, 'c': 3}
    >>> split_by(-5, {"a": 1})
    """
    whole = sum(weights.values())
    if total <= 0 or whole <= 0 or min(weights.values()) < 0:
        return None
    parts = {name: total * weight // whole for name, weight in weights.items()}
    missing = total - sum(parts.values())
    for name in sorted(weights, key=lambda name: -(total * weights[name] % whole))[:missing]:
        parts[name] += 1
    return parts


def check_reference(name: str) -> None:
    """Raise ValueError if ``name`` is nobody who could play a year, and no folder of one."""
    if name not in YEAR_PLAYERS and not ("\0" not in name and is_year(Path(name))):
        raise ValueError(f"reference={name!r} is no folder of a year and none of {', '.join(YEAR_PLAYERS)}")


def ledger_of(
    year: Year, agent: str, reference: str = FULL_KNOWLEDGE_PLANNER, *, executor: Executor | None = None
) -> YearLedger:
    """Return what ``year`` came to, and where it stayed behind the year of ``reference`` in the same world.

    Parameters
    ----------
    agent
        Whose year it is.
    reference
        Whoever can play a year by name, whose year is then played; or the folder of a year in the same world.
    executor
        Where the reference is played and mixed plans are carried out; by default here.

    Raises
    ------
    ValueError
        If the year is not over, began from a saved state or is not reproduced by its plan, if ``reference`` is unknown
        or played something else, or if more of the spending of a mixed plan was cut than may be.
    """
    check_reference(reference)
    begun = _begin(year, reference, executor)
    earned = statement(year)
    regret = regret_ledger(
        year.setting,
        NamedPlan(agent, extract(year)),
        begun(),
        num_pieces=1 if executor is None else _PIECES,
        spread=partial(map_pieces, executor=executor),
    )
    (paid,) = (row.part_fen for row in regret.rows if row.stream == Stream.PRICE_PAID)
    costs = talk_costs(year)
    return YearLedger(earned, regret, split_by(paid, costs.parts()), costs.costliest())


def _begin(year: Year, reference: str, executor: Executor | None) -> Callable[[], NamedPlan]:
    """Begin to play the reference, and return what waits for its plan."""
    world, rules = year.setting.world, year.setting.rules
    if reference not in YEAR_PLAYERS:
        return lambda: _plan_in(Path(reference), year)
    if executor is None:
        return lambda: NamedPlan(reference, reference_plan(reference, world, rules))
    future = executor.submit(reference_plan, reference, world, rules)
    return lambda: NamedPlan(reference, future.result())


def reference_plan(name: str, world: World, rules: Rules) -> StorePlan:
    """Return the plan of the year that the player called ``name`` plays."""
    return extract(play_year(Year(world, rules), build_year_player(name, world, rules)))


def _plan_in(folder: Path, year: Year) -> NamedPlan:
    header, other, _ = replay_year(folder)
    one, two = year.setting, other.setting
    if (one.world.digest, one.rules) != (two.world.digest, two.rules):
        raise ValueError(f"reference={str(folder)!r} was played in another world or by other rules")
    return NamedPlan(header.agent, extract(other))
