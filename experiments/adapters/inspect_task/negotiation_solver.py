# inspect-evals-lint: ignore-file[external_dependencies] -- terms is a package of this repository
"""The negotiation under Inspect: the model sits where every model sits, asked through Inspect's own ``generate``.

A sample is one episode. Prompts, the reader of replies and the one correction are those of
:class:`experiments.players.negotiator.ModelAgent`; retries, limits, costs and logs are Inspect's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from experiments.extras import need
from experiments.llm.records import Completion
from experiments.llm.replies import common_finish
from experiments.llm.texts import whole_characters
from experiments.players.model_options import NegotiatorSettings
from experiments.players.negotiator import ModelAgent
from experiments.players.player import play_episode
from terms.records import EpisodeRecord
from terms.scenario import Scenario

need("inspect", "inspect_ai")

from anyio import from_thread, to_thread  # noqa: E402 - only after its absence was named
from inspect_ai.model import (  # noqa: E402
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, solver  # noqa: E402

RECORD_KEY = "negotiation"
_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@solver
def negotiate(scenarios: Mapping[str, Scenario], corrections: int = 1) -> Solver:
    """Return the solver that plays a sample's episode with the model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        scenario = scenarios[str(state.sample_id)]
        settings = NegotiatorSettings(corrections=corrections)
        agent = ModelAgent(InspectCompleter(state, generate), str(state.model), settings, scenario.config)
        played = await to_thread.run_sync(partial(play_episode, scenario, agent))
        state.store.set(RECORD_KEY, score_talk(scenario, played.record))
        state.completed = True
        return state

    return solve


@scorer(metrics={"share": [mean(), stderr()], "deal": [mean(), stderr()], "violations": [mean(), stderr()]})
def surplus() -> Scorer:
    """Return the scorer: utility as a share of the zopa (of the public range where no deal is possible), and deals."""

    async def score(state: TaskState, target: Target) -> Score:
        result: dict[str, Any] | None = state.store.get(RECORD_KEY)
        if result is None:
            return Score.unscored(
                reason="limit", explanation="a limit of Inspect's ended the sample before the talk had ended"
            )
        value = {name: result[name] for name in ("share", "deal", "violations")}
        return Score(value=value, explanation=result["outcome"], metadata=result)

    return score


class InspectCompleter:
    """Asks the model of a sample, from the thread in which its episode is played; the state holds the last talk."""

    def __init__(self, state: TaskState, generate: Generate) -> None:
        self._state, self._generate = state, generate

    def complete(
        self, messages: Sequence[Mapping[str, Any]], *, max_output_tokens: int | None = None, **_: Any
    ) -> Completion:
        """Return the reply; see :class:`experiments.llm.client.Completer`."""
        return from_thread.run(self._ask, messages, max_output_tokens)

    def stop(self) -> None:
        """Do nothing: Inspect ends what it began."""

    async def _ask(self, messages: Sequence[Mapping[str, Any]], limit: int | None) -> Completion:
        asked: list[ChatMessage] = [_MESSAGES[each["role"]](content=each["content"]) for each in messages]
        self._state.messages = asked
        more: dict[str, Any] = {} if limit is None else {"max_tokens": limit}
        output = (await self._generate(self._state, tool_calls="none", **more)).output
        text = whole_characters(output.message.text) if output.choices else None
        return Completion(text=text, finish_reason=common_finish(output.stop_reason))


def score_talk(scenario: Scenario, record: EpisodeRecord) -> dict[str, Any]:
    """Return the numbers of a finished episode."""
    unit = scenario.zopa if scenario.zopa > 0 else scenario.price_range
    return {
        "share": record.utility / unit,
        "deal": float(record.is_agreement),
        "violations": len(record.violations),
        "outcome": record.termination.value,
        "price": record.price,
        "utility": record.utility,
        "rounds": record.rounds_played,
    }
