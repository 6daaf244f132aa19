from __future__ import annotations

import io

import pytest

from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.players import human
from experiments.players.human import HELP, Human, describe, read_typed_move, reveal
from terms import Accept, Game, Offer, Reject
from terms.scenario import Product
from terms.types import Opener, Role
from tests.terms.builders import make_scenario

STANDING = Game(make_scenario()).observe()
OPENING = Game(make_scenario(opener=Opener.AGENT)).observe()


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("45", Offer(45.0)),
        ("  $45.50 \n", Offer(45.5)),
        ("offer 45", Offer(45.0)),
        ("OFFER $1,200.50", Offer(1200.5)),
        ("USD 45", Offer(45.0)),
        ("45 EUR", Offer(45.0)),
        ("45 dollars", Offer(45.0)),
        ("0", Offer(0.0)),
        ("accept", Accept()),
        ("A", Accept()),
        ("Reject", Reject()),
        ("r", Reject()),
    ],
)
def test_a_line_is_a_move(line, move):
    assert read_typed_move(line, STANDING) == move


@pytest.mark.parametrize(
    "line", ["", "\n", "45 or 50", "-5", "1,2,3", "accept 45", "45k", "nan", "1.200", "9" * 400, "offer"]
)
def test_a_line_that_could_mean_something_else_is_asked_again(line):
    assert read_typed_move(line, STANDING) == HELP


def test_nothing_can_be_accepted_before_there_is_a_price():
    assert read_typed_move("accept", OPENING) == "There is no price to accept yet."


@pytest.mark.parametrize(
    ("role", "own", "other", "words"),
    [
        (Role.BUYER, 80.0, 33.25, "You buy; your reservation price is 80.00 (at most)."),
        (Role.SELLER, 40.0, 77.75, "You sell; your reservation price is 40.00 (at least)."),
    ],
)
def test_what_is_shown_tells_the_own_side_and_never_the_counterparts(role, own, other, words):
    text = describe(Game(make_scenario(role=role, own=own, other=other)).observe())
    assert f"Round 1 of 10. {words}" in text
    assert "Prices may lie between 0.00 and 100.00" in text
    assert f"{other:.2f}" not in text
    assert "would gain you" in text


def test_the_opening_the_item_and_the_last_round_are_shown():
    product = Product("Kettle", "kitchen", 45.0, 30.0, 64.0)
    game = Game(make_scenario(opener=Opener.AGENT, product=product))
    assert "Item: Kettle (kitchen). Usual price 45.00, so far 30.00 to 64.00." in describe(game.observe())
    assert "You open." in describe(game.observe())
    for _ in range(9):
        game.step(Offer(30.0))
    text = describe(game.observe())
    assert "So far you offered 30.00, 30.00, 30.00, 30.00, 30.00, 30.00; it asked" in text
    assert "Last round: this is your last move." in text
    assert "Item:" not in text


def test_a_person_is_asked_until_a_move_can_be_read():
    screen = io.StringIO()
    move = Human(io.StringIO("hello\n45 or 46\n45\n"), screen).act(STANDING)
    assert move == Offer(45.0)
    assert screen.getvalue().count(HELP) == 2
    assert screen.getvalue().count("your move> ") == 3


@pytest.mark.parametrize("text", ["", "quit\n", "Q\n"])
def test_the_end_of_input_stops(text):
    with pytest.raises(KeyboardInterrupt):
        Human(io.StringIO(text), io.StringIO()).act(STANDING)


def test_input_and_output_are_those_of_the_moment(monkeypatch):
    """A stream bound when the module is imported would be a stale one later."""
    source, screen = io.StringIO("45\n"), io.StringIO()
    monkeypatch.setattr(human.sys, "stdin", source)
    monkeypatch.setattr(human.sys, "stdout", screen)
    assert Human().act(STANDING) == Offer(45.0)


def test_each_finished_negotiation_is_kept_and_revealed_before_the_next(tmp_path, capsys):
    spec = SuiteSpec.parse("fresh", seed=3, sample=3)
    screen = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        run_task(EPISODES, Human(io.StringIO("reject\nreject\n"), screen), spec, tmp_path, progress=reveal)
    assert len(load_run(EPISODES, tmp_path).records) == 2
    shown = capsys.readouterr().out
    assert shown.count("You faced this counterpart: ") == 2
    assert "2 to go.\n" in shown
    run = run_task(EPISODES, Human(io.StringIO("reject\n"), screen), spec, tmp_path, progress=reveal)
    assert run.is_complete
    assert run.resumed == 2


def test_the_reveal_tells_a_deal(tmp_path, capsys):
    spec = SuiteSpec.parse("fresh", seed=3, regimes=["overlap"], families=["candid"], n_per_cell=1)
    run = run_task(EPISODES, Human(io.StringIO("50\naccept\n" * 20), io.StringIO()), spec, tmp_path, progress=reveal)
    deals = [record for record in run.records if record.is_agreement]
    shown = capsys.readouterr().out
    assert deals
    for record in deals:
        assert f"deal at {record.price:.2f}, you gained {record.utility:.2f} of a zone of {record.zopa:.2f}" in shown
        assert f"with reservation price {record.counterpart_type.reservation_price:.2f}" in shown
