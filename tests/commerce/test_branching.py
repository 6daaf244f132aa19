"""Taking over: whoever decides the same gets the same bytes, on any day; nobody can change a year that is over."""

from __future__ import annotations

import random

import pytest

from commerce.aids import AidedYear
from commerce.branching import Branches, Repeated, View, branch
from commerce.config import FAIR, PAPER, RULE_SETS, Rules
from commerce.ledger import Account
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.plan import execute, extract
from commerce.replay import result_digest, year_digest
from commerce.state import state_from_json, state_to_json
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.year_players import YEAR_PLAYERS, build_year_player
from tests.commerce.builders import default_world
from tests.commerce.fuzzing import Fuzzer

DAYS = 45


def merchant_year(name: str, rules: Rules, seed: int = 3) -> Year:
    world = generate_world(seed, rules)
    return play_year(Year(world, rules), build_merchant(name, world, rules, seed))


@pytest.fixture(scope="module", params=list(RULE_SETS))
def year(request) -> Year:
    return merchant_year("rule-based", RULE_SETS[request.param].model_copy(update={"num_days": DAYS}))


def test_the_same_decisions_give_the_same_bytes(year):
    branches, same = Branches(year), Repeated(year)
    for day in [0, *random.Random(1).sample(range(1, DAYS), 5), DAYS]:
        again = branches.branch(day, same)
        assert year_digest(again) == year_digest(year)
        assert again.past.made == year.past.made


def test_snapshots_are_a_cache_only(year):
    branches = Branches(year)
    branches.morning(DAYS)
    assert sorted(branches._snapshots) == [14, 28, 42]
    for day in (14, 15, 41, 44):
        assert year_digest(branches.morning(day)) == year_digest(Branches(year).morning(day))
        assert year_digest(branches.branch(day, Repeated(year))) == year_digest(year)


def test_taking_over_when_it_is_over_changes_nothing(year):
    for name in MERCHANTS:
        merchant = build_merchant(name, year.setting.world, year.setting.rules)
        assert branch(year, DAYS, merchant).final_fen == year.final_fen


def test_the_branch_is_the_year_before_and_another_after(year):
    found = branch(year, 30, build_merchant("idle", year.setting.world, year.setting.rules))
    assert found.state.history[:30] == year.state.history[:30]
    assert found.state.history[31:] != year.state.history[31:]
    assert found.final_fen != year.final_fen


def test_a_branch_has_a_plan_like_any_year(year):
    found = branch(year, 30, build_merchant("rule-based", year.setting.world, year.setting.rules))
    done = execute(year.setting.world, year.setting.rules, extract(found))
    assert done.year.state.ledger.digest == found.state.ledger.digest


class Asked:
    """Asks again for what another asked after this moment."""

    def __init__(self, calls: list[tuple]) -> None:
        self._calls = calls

    def take_over(self, view: View) -> None:
        told = [result_digest(result) for _, result in view.past()]
        assert told == [result_digest(result) for *_, result in self._calls[: view.num_calls]]
        for tool, arguments, result in self._calls[view.num_calls :]:
            assert result_digest(view.call(tool, arguments)) == result_digest(result)


@pytest.mark.parametrize("aids", [("enforce",), ("auto-withdrawal",), ("enforce", "auto-withdrawal", "cash-forecast")])
def test_a_branch_keeps_its_aids(aids):
    rules = FAIR.model_copy(update={"num_days": DAYS})
    world, calls = generate_world(3, rules), []
    year = AidedYear(world, rules, aids=aids)

    def call(tool, arguments):
        calls.append((tool, arguments, year.call(tool, arguments)))
        return calls[-1][-1]

    build_merchant("rule-based", world, rules)(call)
    assert ("above_own_quote" in str(calls)) == ("enforce" in aids)
    branches = Branches(year)
    for day in [0, *random.Random(2).sample(range(1, DAYS), 3)]:
        for same in (Repeated(year), Asked(calls)):
            found = branches.branch(day, same)
            assert year_digest(found) == year_digest(year)
            assert (found.aids, found.past.made) == (year.aids, year.past.made)
        if day > 0 and "auto-withdrawal" in aids:
            assert branches.morning(day).state.ledger.balance(Account.WALLET) == 0


def random_calls(rules: Rules, seed: int, num: int) -> Year:
    year = Year(generate_world(seed, rules), rules)
    fuzzer = Fuzzer(year, random.Random(seed))
    for _ in range(num):
        year.call(*fuzzer.call())
    return year


def test_calls_that_cross_closing_time_and_malformed_ones_are_made_again():
    year = random_calls(PAPER, 3, 300)
    last = year.state.day
    assert last > 5
    year.stop()
    for day in range(0, last + 1, 2):
        assert year_digest(branch(year, day, Repeated(year))) == year_digest(year)


def test_a_year_given_up_stays_so():
    year = random_calls(FAIR, 4, 60)
    with pytest.raises(ValueError, match="day=300 has not come yet"):
        branch(year, 300, Repeated(year))
    year.stop()
    assert branch(year, 300, build_merchant("idle", year.setting.world, FAIR)).final_fen == year.final_fen


@pytest.mark.parametrize("name", YEAR_PLAYERS)
def test_every_merchant_takes_over(name):
    rules = PAPER.model_copy(update={"num_days": DAYS})
    for other in ("idle", "first-quote"):
        year = merchant_year(other, rules)
        found = branch(year, 20, build_year_player(name, year.setting.world, rules))
        assert found.state.end in ("max_days_reached", "bankruptcy")
        assert found.state.history[:20] == year.state.history[:20]
        assert sum(found.state.calls.values()) > 40


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_whole_years(rules):
    """Twenty random days of two full years; a merchant that takes over its own year goes on to earn."""
    for name in ("rule-based", "first-quote"):
        year = merchant_year(name, rules, seed=5)
        branches, same = Branches(year), Repeated(year)
        for day in random.Random(7).sample(range(365), 20):
            assert year_digest(branches.branch(day, same)) == year_digest(year)
        heir = branches.branch(180, build_merchant(name, year.setting.world, rules))
        half = branches.morning(180).final_fen
        assert heir.final_fen - half > 0.6 * (year.final_fen - half)


def test_looking_takes_nothing_and_does_nothing():
    year = merchant_year("rule-based", PAPER.model_copy(update={"num_days": DAYS}))
    seen: list[View] = []

    class Looker:
        def take_over(self, view: View) -> None:
            seen.append(view)
            before = view.look("check_balance"), view.time, view.num_calls
            view.look("market_search")
            view.look("check_warehouse", page=1)
            assert (view.look("check_balance"), view.time, view.num_calls) == before
            with pytest.raises(ValueError, match="tool='withdraw' does more than look"):
                view.look("withdraw")

    branch(year, 30, Looker())
    (view,) = seen
    assert sum(1 for _ in view.past()) == view.num_calls
    made, result = next(iter(view.past()))
    assert (made.tool, result.ok) == ("market_search", True)


def test_what_was_bought_is_in_the_books_without_what_is_hidden():
    year = merchant_year("rule-based", PAPER.model_copy(update={"num_days": DAYS}))

    class Reader:
        def take_over(self, view: View) -> None:
            rows = view.purchases()
            assert {row["received"] is None for row in rows} == {True, False}
            assert set(rows[0]) == {
                "purchase_order", "product_id", "supplier", "quantity", "unit_price", "day", "received"
            }  # fmt: skip

    branch(year, 12, Reader())


def test_a_day_outside_the_year():
    year = Year(default_world())
    with pytest.raises(ValueError, match=r"day=366 is outside \[0, 365\]"):
        branch(year, 366, Repeated(year))
    again = Year(default_world(), state=state_from_json(state_to_json(year.state)))
    for use in (Branches, Repeated):
        with pytest.raises(ValueError, match="began from a saved state"):
            use(again)
