"""What goes over the wire: the bodies of requests and answers, also the source of the OpenAPI description, and faults.

What can be wrong with a request is one exception class, with everything that is told about it.
"""

from __future__ import annotations

import logging
import secrets
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from experiments.serving.settings import AGENT_NAME, MAX_RUN, PROTOCOL
from experiments.years.transcript import Outcome

MAX_CALLS = 64
MAX_SAID = 100_000
MAX_KEY = 200
MAX_NAME = 200

AgentName = Annotated[str, Field(pattern=f"^{AGENT_NAME}$", description="the agent's name: its row in reports")]
RunNumber = Annotated[int, Field(ge=0, le=MAX_RUN, description="which of its years")]
SessionId = Annotated[str, Field(min_length=1, max_length=100, description="as POST /v1/session returned it")]


class Body(BaseModel):
    """A body: unknown fields are refused, values are not converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SessionRequest(Body):
    """Opens a year or takes it up again: the same agent and run always mean the same year."""

    agent: AgentName
    run: RunNumber = 0


class CallRequest(Body):
    """One tool call. What is wrong with its name or arguments is answered like any other call, not refused here."""

    id: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="yours, unique in the turn; call_PLACE if left out"
    )
    name: Annotated[str, Field(max_length=MAX_NAME)]
    arguments: Any = Field(None, description="an object, or the JSON text a model wrote")


class ActionsRequest(Body):
    """One turn: calls that are carried out in order. Three turns in a row without a call end the year."""

    session: SessionId
    turn: Annotated[int, Field(ge=0, description="the number of this turn, counted from 0")]
    tool_calls: Annotated[list[CallRequest], Field(max_length=MAX_CALLS)]
    content: Annotated[str, Field(max_length=MAX_SAID)] | None = Field(None, description="kept in the transcript")


class FinishRequest(Body):
    """Ends a year early; it is scored as it stands."""

    session: SessionId


class Health(Body):
    """The server lives."""

    status: Literal["ok"] = "ok"
    version: str


class SessionInfo(Body):
    """A year as its agent may know it."""

    protocol: int = Field(PROTOCOL, description="version of this protocol")
    session: str
    agent: str
    run: int
    turn: int = Field(description="the turn that comes next")
    max_turns: int
    done: bool
    messages: list[dict[str, Any]] = Field(description="what every agent is told first")
    tools: list[dict[str, Any]] = Field(description="function schemas")


class ToolResponse(Body):
    """The answer to one call. ``content`` is the text a model is given: a JSON object with ok, data or error, time."""

    tool_call_id: str
    content: str


class ActionsAnswer(Body):
    """The answer to a turn, the same bytes however often the turn is sent with its key."""

    turn: int = Field(description="the turn that comes next")
    tool_responses: list[ToolResponse]
    nudge: str | None = Field(description="what a turn without calls is told")
    done: bool
    outcome: Outcome | None = Field(description="how the year ended")


class YearResult(Body):
    """How a year ended, in numbers its agent may know. The others are in the operator's folder."""

    session: str
    outcome: Outcome
    detail: str
    turns: int
    day: int
    final_assets: float = Field(description="bank, wallet and escrow, in yuan")
    multiplier: float = Field(description="final assets over the initial balance")
    calls: dict[str, int]
    refused: dict[str, int]


class FaultDetail(BaseModel):
    """What is wrong with a request: the field if it is one, a word for programs, a sentence for people."""

    model_config = ConfigDict(extra="allow")

    code: str
    field: str | None
    message: str


class FaultAnswer(Body):
    """The body of every answer that is not 200."""

    error: FaultDetail


logger = logging.getLogger("terms.serve")


class RequestError(ValueError):
    """A request that is refused and has changed nothing.

    Parameters
    ----------
    status
        The HTTP status that says it.
    code
        A word for programs.
    message
        A sentence for people: the field, the value, what is allowed.
    field
        The field of the request that is wrong, if it is one.
    facts
        Further fields of the answer.
    """

    def __init__(self, status: int, code: str, message: str, *, field: str | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field, self.facts = status, code, message, field, facts

    def to_json_object(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": {"code": self.code, "field": self.field, "message": self.message, **self.facts}}


def unknown_session(session_id: str) -> RequestError:
    """Return the fault of a session nobody opened."""
    shown = session_id if len(session_id) <= 80 else f"{session_id[:77]}..."
    return RequestError(404, "unknown_session", f"session={shown!r} was never opened here", field="session")


def wrong_turn(given: int, expected: int) -> RequestError:
    """Return the fault of a turn that is not the next one."""
    message = f"turn={given} is not the next turn, {expected}; nothing was done"
    return RequestError(409, "wrong_turn", message, field="turn", expected_turn=expected)


def log_error(where: str, error: Exception) -> RequestError:
    """Log an exception and return what is told of it: the number under which the log has it, and nothing else."""
    number = secrets.token_hex(6)
    logger.error("error %s in %s", number, where, exc_info=error)
    return RequestError(500, "internal_error", f"the server failed; its log has error {number}")
