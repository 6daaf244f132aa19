"""The negotiation as an OpenEnv server: ``python -m experiments.adapters.openenv_server --port 8000``.

Needs the extra ``openenv``. Every session of a client is an environment of its own, all in one process behind one
socket. A step takes a reply in text, as a language model gives it, and pays each move when it is made
(:mod:`oracle.move_credit`) or the episode at its end.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import Any
from uuid import uuid4

from experiments.adapters.negotiation_env import CreditForm, NegotiationEnv
from experiments.extras import need
from experiments.players.model_options import NegotiatorSettings
from experiments.players.prompts import system_prompt
from terms.splits import Split

need("openenv", "openenv", "fastapi", "uvicorn")

from fastapi import FastAPI  # noqa: E402 - only after its absence was named
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app  # noqa: E402
from openenv.core.env_server.types import EnvironmentMetadata  # noqa: E402
from openenv.core.rubrics.trajectory import TrajectoryRubric  # noqa: E402
from pydantic import Field, model_validator  # noqa: E402

MAX_SESSIONS = 64


class NegotiationReply(Action):  # type: ignore[misc]  # the framework has no types
    """What the agent answers; its JSON object itself will do too, for trainers that read replies as JSON."""

    reply: str = Field(description="one JSON object with decision, price and message, as the rules ask for")

    @model_validator(mode="before")
    @classmethod
    def _take_object(cls, given: Any) -> Any:
        if isinstance(given, dict) and "decision" in given and "reply" not in given:
            return {"reply": json.dumps(given)}
        return given


class NegotiationView(Observation):  # type: ignore[misc]
    """What the agent sees, and nothing it may not: trainers hand all of it on. ``reward`` is that of its last move."""

    rules: str = Field("", description="the rules, for a system message")
    prompt: str = Field("", description="this round, for a user message; empty once the talk has ended")
    turn_rewards: list[float] = Field([], description="of every move, once the talk has ended")
    share: float | None = Field(None, description="utility as a share of the zopa, once the talk has ended")
    ending: str | None = Field(None, description="how the talk ended")


class NegotiationState(State):  # type: ignore[misc]
    """Where an episode stands, for whoever trains; the counterpart's type is not in it."""

    scenario_id: str = Field("", description="which episode this is; names its regime and family")
    value: float | None = Field(None, description="what the Bayes optimum expects from here on, in the unit of rewards")


class TurnRewards(TrajectoryRubric):  # type: ignore[misc]
    """Scores a talk by its share of the surplus, and each step by the exact turn reward."""

    def score_trajectory(self, trajectory: list[tuple[Any, Any]]) -> float:
        """Return the share of the last observation."""
        return float(trajectory[-1][1].share)

    def compute_step_rewards(self) -> list[float]:
        """Return what each step is paid; they add up to the share less the value at the start."""
        return list(self._trajectory[-1][1].turn_rewards)


class NegotiationServer(Environment):  # type: ignore[misc]
    """One session. ``reset(seed=...)`` draws the episode of that seed, so a group plays one with its own draws.

    ``reset`` also takes ``split``, ``regimes`` and ``families``; only the training split is served unless the server
    is started with ``training=False``.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, credit: CreditForm = "exact", training: bool = True) -> None:
        super().__init__(rubric=TurnRewards())
        self._credit, self._training = credit, training
        self._state = NegotiationState(episode_id=None, step_count=0)
        self._env: NegotiationEnv | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = Split.TRAIN.value,
        regimes: list[str] | None = None,
        families: list[str] | None = None,
    ) -> NegotiationView:
        """Begin an episode."""
        self._env = NegotiationEnv(
            split=split,
            training=self._training,
            regimes=regimes,
            families=families,
            actions="text",
            view="text",
            credit="info" if self._credit == "terminal" else self._credit,
        )
        self._reset_rubric()
        prompt, info = self._env.reset(seed=seed)
        self._state = NegotiationState(
            episode_id=episode_id or str(uuid4()), step_count=0, scenario_id=info["scenario_id"], value=info["value"]
        )
        scenario = self._env.scenario
        rules = system_prompt(scenario.agent_role, scenario.config, NegotiatorSettings())
        return NegotiationView(rules=rules, prompt=prompt)

    def step(self, action: NegotiationReply, timeout_s: float | None = None) -> NegotiationView:
        """Take a reply and be answered; a reply that holds no move ends the talk, as anywhere."""
        del timeout_s
        if self._env is None:
            raise ValueError("there is no running talk; call reset first")
        prompt, reward, is_over, _, info = self._env.step(action.reply)
        self._state.step_count += 1
        self._state.value = info["value"]
        told: dict[str, Any] = {}
        if is_over:
            record = info["record"]
            share = record.utility / (record.zopa if record.zopa > 0 else record.price_range)
            told = {"turn_rewards": info["turn_rewards"], "share": share, "ending": record.termination.value}
        view = NegotiationView(done=is_over, reward=reward, prompt="" if is_over else prompt, **told)
        self._apply_rubric(action, view)
        self._env = None if is_over else self._env
        return view

    @property
    def state(self) -> NegotiationState:
        """Where the episode stands."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return what the server says of itself."""
        return EnvironmentMetadata(
            name="terms-negotiation",
            description="Bargaining over a price with a counterpart whose law is known exactly; every move is paid.",
            version="1.0.0",
        )


def make_app(credit: CreditForm = "exact", *, training: bool = True, max_sessions: int = MAX_SESSIONS) -> FastAPI:
    """Return the application; each session plays for itself, at most ``max_sessions`` at once."""
    factory = partial(NegotiationServer, credit, training)
    app: FastAPI = create_fastapi_app(factory, NegotiationReply, NegotiationView, max_concurrent_envs=max_sessions)
    return app


def main(words: list[str] | None = None) -> None:
    """Serve until stopped."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="openenv_server", description="Serve negotiations to OpenEnv clients.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--credit", choices=("exact", "terminal"), default="exact")
    parser.add_argument("--any-split", action="store_true", help="serve validation and test episodes too")
    parser.add_argument("--max-sessions", type=int, default=MAX_SESSIONS)
    asked = parser.parse_args(sys.argv[1:] if words is None else words)
    app = make_app(asked.credit, training=not asked.any_split, max_sessions=asked.max_sessions)
    uvicorn.run(app, host=asked.host, port=asked.port, log_level="critical")  # a client that hangs up is no error


if __name__ == "__main__":
    main()
