"""The gap of sessions in a folder, split: the agent plays them again under each condition, the references beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commerce.economics import build_chain
from experiments.engine.folder import RunError
from experiments.players.player import PlayedEpisode, Player, as_player
from experiments.sessions.folder import SessionsRun
from experiments.sessions.gap_file import has_nothing_to_repair
from experiments.sessions.play import SessionJob, SessionPlay
from experiments.sessions.spec import Arm, SessionsSpec
from oracle.agents import Planner
from oracle.bankroll.meeting import MeetingPlanners as OracleTable
from oracle.bankroll.session_arms import SessionArms, play_references, run_session_arms, split_gap
from oracle.bankroll.supplier_bayes_optimal import SupplierBayesOptimal
from oracle.bankroll.supplier_memory import SupplierMemory
from oracle.bankroll.worth import SessionWorth
from oracle.gaps import Decomposition
from oracle.interventions import Condition, play_condition
from terms import Scenario
from terms.aliases import Progress
from terms.episode import AgentLike, Seeds
from terms.meetings import Meeting
from terms.types import Family, ReplyFault


def sessions_gap(
    run: SessionsRun, agent: AgentLike, worth: SessionWorth, *, progress: Progress | None = None
) -> Decomposition[SessionArms]:
    """Split the gap of the scored sessions of ``run``, played by ``agent``.

    Raises
    ------
    RunError
        If a session has not ended.
    ValueError
        If no session has a result.
    """
    if not run.is_complete:
        raise RunError(f"{run.folder} holds sessions that have not ended; run the same command again")
    spec, table = run.header.spec, OracleTable(run.header.spec.chain, run.header.spec.economics)
    player = as_player(agent).seeded(Seeds(run.header.salt))
    scored = {each.session: each.terminal_cents / 100 for each in run.sessions if each.is_scored}

    def play_arm(session: int, condition: Condition) -> float | None:
        if condition is Condition.BASE and has_nothing_to_repair(run.sessions[session]):
            return scored[session]  # asking a model again would only add its noise
        return play_session(player, spec, session, condition, table)

    def play_reference(session: int) -> dict[str, float]:
        return play_references(session, spec.chain, spec.economics, worth, table)

    arms = run_session_arms(scored, play_arm, play_reference, progress)
    return split_gap(run.header.agent, arms)


def play_session(
    agent: Player, spec: SessionsSpec, session: int, condition: Condition, table: OracleTable
) -> float | None:
    """Return the final balance in dollars of one session under ``condition``, faults of execution repaired."""
    chain = build_chain(session, spec.chain, spec.bankroll)
    numbers = {scenario.scenario_id: who.number for scenario, who in zip(chain.scenarios, chain.who, strict=True)}
    host = _Host(condition, table, numbers)
    room = SessionPlay(agent, SessionJob(spec, Arm.MEMORY, session), host.play)
    period = None
    while not room.is_over:
        period, _ = room.play_next()
    return None if period is None or period.is_lost else room.cash_cents / 100


@dataclass
class _Host:
    """Plays the periods of one session under a condition and remembers what the reference's belief would."""

    condition: Condition
    table: OracleTable
    numbers: Mapping[str, int]
    memories: dict[int, SupplierMemory | None] = field(default_factory=dict)
    planners: dict[Family, Planner] = field(default_factory=dict)

    def play(
        self,
        scenario: Scenario,
        agent: Player,
        *,
        side_info: Mapping[str, Any] | None = None,
        past: Sequence[Meeting] | None = None,
    ) -> PlayedEpisode:
        """Play one period; see :func:`experiments.players.player.play_episode`."""
        number = self.numbers[scenario.scenario_id]
        memory = self.memories.get(number)
        seat = agent.start(scenario, past)
        trial = play_condition(
            scenario,
            seat,
            self.condition,
            bayes_optimal=SupplierBayesOptimal(table=self.table, memory=memory, planners=self.planners),
            side_info={**seat.told, **(side_info or {})},
        )
        if trial.repaired.fault is not ReplyFault.PROVIDER and self.condition is Condition.ORACLE_POSTERIOR:
            self.memories[number] = self.table.remember(trial.repaired, scenario, memory)
        return PlayedEpisode(trial.repaired, (), {})
