"""What every agent owes the game. A test class inherits :class:`AgentContract` and says how to build its agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache

import pytest

import terms
from terms.episode import Agent, Seeds, agent_name, as_starter, recorded_moves
from terms.types import Decision, Termination, ViolationKind
from tests.terms.builders import SYMMETRIC, mirrored

SUITE = terms.fresh_suite(17, n_per_cell=2)
IRRATIONAL = (ViolationKind.IRRATIONAL_OFFER, ViolationKind.IRRATIONAL_ACCEPT)


@cache
def symmetric_suite():
    """Return episodes on bounds around zero, where a mirrored price is exactly the negated one."""
    return terms.fresh_suite(17, n_per_cell=1, config=SYMMETRIC)


class AgentContract(ABC):
    """Tests of one agent; the three flags say which promises it openly does not make."""

    is_rational = True
    is_mirroring = True
    is_monotone = True

    @abstractmethod
    def build(self) -> Agent:
        """Return a new agent."""

    @pytest.fixture(scope="class")
    @classmethod
    def records(cls):
        """Play the suite once for all tests of the class."""
        agent = cls().build()
        return [terms.play(scenario, agent) for scenario in SUITE]

    def test_has_a_name(self):
        assert agent_name(self.build())

    def test_every_move_is_legal(self, records):
        for record in records:
            assert record.fault is None
            assert record.termination is not Termination.INVALID_ACTION
            assert 1 <= record.rounds_played <= record.horizon
            for turn in record.turns:
                assert turn.decision in Decision
                if turn.decision is Decision.OFFER:
                    assert record.price_min <= turn.price <= record.price_max
                if turn.decision is Decision.ACCEPT:
                    assert turn.counterpart_price is not None

    def test_never_past_its_own_reservation(self, records):
        breaches = [v for record in records for v in record.violations if v.kind in IRRATIONAL]
        assert bool(breaches) is not self.is_rational
        if self.is_rational:
            assert min(record.utility for record in records) >= 0

    def test_concedes_one_way(self, records):
        breaches = [v for record in records for v in record.violations if v.kind is ViolationKind.REVERSED_CONCESSION]
        assert bool(breaches) is not self.is_monotone

    def test_same_episode_same_moves(self, records):
        """Neither a second agent, nor the order, nor what was played before changes an episode."""
        agent = self.build()
        assert [terms.play(scenario, agent) for scenario in reversed(SUITE)] == records[::-1]

    def test_every_record_replays(self, records):
        for scenario, record in zip(SUITE, records, strict=True):
            assert terms.replay(scenario, recorded_moves(record), agent=record.agent) == record

    def test_plays_both_roles_as_mirror_images(self):
        agent, differs = as_starter(self.build()).seeded(Seeds("the same draws for both")), False
        for scenario in symmetric_suite():
            one, other = terms.play(scenario, agent), terms.play(mirrored(scenario), agent)
            moves = [(turn.decision, None if turn.price is None else -turn.price) for turn in one.turns]
            differs |= moves != [(turn.decision, turn.price) for turn in other.turns] or one.utility != other.utility
        assert differs is not self.is_mirroring

    @pytest.mark.parametrize(
        "config",
        [
            terms.GameConfig(horizon=1),
            terms.GameConfig(price_min=-3e6, price_max=-1e6),
            terms.GameConfig(history_window=0, show_cues=False, show_messages=False),
            terms.GameConfig(final_offer_answered=True),
        ],
        ids=["horizon 1", "negative millions", "nothing shown", "last offer answered"],
    )
    def test_plays_other_games(self, config):
        for scenario in terms.fresh_suite(3, families=["candid"], n_per_cell=1, config=config):
            assert terms.play(scenario, self.build()).termination is not Termination.INVALID_ACTION
