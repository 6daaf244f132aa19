"""The HTTP service: five endpoints over :mod:`experiments.serving.served_years`, described by OpenAPI.

Every POST of a turn carries the header ``Idempotency-Key``. Answers to turns are sent as the bytes that are kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

import terms
from experiments.serving import wire
from experiments.serving.guard import internal_error
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import PROTOCOL
from experiments.serving.wire import RequestError
from terms.strict_json import strict_dumps

DESCRIPTION = """Runs a store for a year, turn by turn, for an agent outside.

Send the token as `Authorization: Bearer TOKEN`. `POST /v1/session` opens a year or takes it up again, and says what
the agent is told and which tools it has. `POST /v1/actions` carries out one turn; give each turn an `Idempotency-Key`
of its own and repeat a turn with its key until it is answered: it is carried out once, and the answer is the same."""
_FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"model": wire.FaultAnswer, "description": meaning}
    for status, meaning in {
        400: "the body is no JSON",
        401: "no token or another one",
        403: "the operator named the agents that may play, and this is none of them",
        404: "no such session",
        409: "not the next turn; the year is over, or is not over; the folder is in use",
        413: "the body is too large",
        422: "a field is wrong, or the key came with another turn",
        429: "too many years are going on",
        500: "the server failed; its log has the number",
        503: "the session is busy",
    }.items()
}
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
Key = Annotated[
    str,
    Header(alias="Idempotency-Key", min_length=1, max_length=wire.MAX_KEY, description="of this turn and no other"),
]


def build_app(sessions: ServedYears, lifespan: Lifespan | None = None) -> FastAPI:
    """Return the application; the token is checked by :class:`experiments.serving.guard.Guard` around it."""
    app = FastAPI(
        title="terms-commerce years",
        version=str(PROTOCOL),
        description=DESCRIPTION,
        docs_url=None,  # its page would load scripts from another host
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_exception_handler(RequestError, _as_answer(lambda error: error))
    app.add_exception_handler(RequestValidationError, _as_answer(_invalid))
    app.add_exception_handler(HTTPException, _as_answer(_from_http))
    app.add_exception_handler(Exception, _internal)
    _add_routes(app, sessions)
    return app


def _add_routes(app: FastAPI, sessions: ServedYears) -> None:
    guarded = APIRouter(prefix="/v1", dependencies=[Depends(HTTPBearer(auto_error=False))], responses=_FAULTS)

    @app.get("/health")
    def health() -> wire.Health:
        """Say that the server lives; needs no token."""
        return wire.Health(version=terms.__version__)

    @guarded.post("/session")
    def open_session(request: wire.SessionRequest) -> wire.SessionInfo:
        """Open a year, or take it up again."""
        return sessions.open(request.agent, request.run).info()

    @guarded.get("/session")
    def show_session(session: Annotated[wire.SessionId, Query()]) -> wire.SessionInfo:
        """Show a year that was opened."""
        return sessions.get(session).info()

    @guarded.post("/actions", response_model=wire.ActionsAnswer)
    def act(request: wire.ActionsRequest, key: Key) -> Response:
        """Carry out one turn."""
        year = sessions.get(request.session)
        answer = year.act(request.tool_calls, key, turn=request.turn, content=request.content)
        return Response(answer, media_type="application/json")

    @guarded.get("/result")
    def result(session: Annotated[wire.SessionId, Query()]) -> wire.YearResult:
        """Return how a year ended."""
        return sessions.get(session).result()

    @guarded.post("/finish")
    def finish(request: wire.FinishRequest) -> wire.YearResult:
        """End a year early, or return how it ended; may be repeated."""
        return sessions.get(request.session).finish()

    app.include_router(guarded)


def _as_answer(
    convert: Callable[[Any], RequestError],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        fault = convert(error)
        return Response(strict_dumps(fault.to_json_object()), fault.status, media_type="application/json")

    return handle


async def _internal(request: Request, error: Exception) -> Response:
    """Answer, because the framework would answer with a page of its own before the guard sees the exception."""
    fault = internal_error(request.scope, error)
    return Response(strict_dumps(fault.to_json_object()), fault.status, media_type="application/json")


def _invalid(error: RequestValidationError) -> RequestError:
    """Name the first wrong field; of its value only what is short, and never a header's."""
    faults = error.errors()
    first = faults[0]
    if first["type"] == "json_invalid":
        return RequestError(400, "malformed_json", f"the body is no JSON: {first['ctx']['error']}")
    place = [str(part) for part in first["loc"]]
    field = ".".join(place[1:]) or "body"
    more = f" ({len(faults) - 1} more faults)" if len(faults) > 1 else ""
    shown = f"={first['input']!r:.80}" if place[0] != "header" and first["type"] != "missing" else ""
    return RequestError(422, "invalid_request", f"{field}{shown}: {first['msg']}{more}", field=field)


def _from_http(error: HTTPException) -> RequestError:
    code = {404: "no_such_path", 405: "method_not_allowed", 400: "malformed_json"}.get(error.status_code, "refused")
    return RequestError(error.status_code, code, str(error.detail))
