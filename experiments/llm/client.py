"""One synchronous, thread-safe chat client for every OpenAI-compatible server.

A call goes: call log, cache, then attempts. Each attempt reserves money, waits for the rate limit and a free slot, is
sent, and settles. A retryable failure waits and tries again; a parameter the server rejects is left out from then on,
with a notice; everything else is raised at once.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import uuid4

from experiments.llm import requests
from experiments.llm.cache import ReplyCache
from experiments.llm.calls import Attempt, CallLog
from experiments.llm.errors import BadRequest, ModelCallError, ProviderError, RateLimited, Stopped
from experiments.llm.meter import Meter
from experiments.llm.pacing import Pacer, Timing, wait_before_retry
from experiments.llm.records import Completion
from experiments.llm.replies import read_reply
from experiments.llm.requests import Body, Message
from experiments.llm.settings import ModelSettings, read_key
from experiments.llm.spending import FREE, UNKNOWN, Settlement, settlement
from experiments.llm.transport import Transport
from experiments.llm.usage import cost, upper_bound


class Completer(Protocol):
    """What the agents need of a client."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        call_id: str,
        schema: Mapping[str, Any] | None = None,
        schema_name: str = "reply",
        max_output_tokens: int | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """Return the model's reply to ``messages``, which are not changed.

        Parameters
        ----------
        messages
            Chat messages with ``role`` and ``content``, of tools also ``tool_calls`` and ``tool_call_id``.
        call_id
            Names the call in the log and at the server. A call that was logged with a reply is not made again.
        schema, schema_name
            JSON schema of the reply, enforced by the server where it can; the prompt must ask for the JSON as well.
        max_output_tokens
            In place of the setting, for this call.
        tools
            Function schemas of what the model may call; its calls are in the completion.

        Raises
        ------
        ProviderError
            No reply was had, after the retries that could have helped.
        ContextOverflow
            The messages no longer fit; the agent's own fault.
        BudgetExceeded
            The call could pass the spending ceiling; nothing was sent.
        Stopped
            After :meth:`stop`.
        """
        ...

    def stop(self) -> None:
        """Send nothing more, in any thread; answers on their way are still taken and logged."""
        ...


class ChatClient:
    """A model behind its settings; see :class:`Completer`. One client serves all threads of a process.

    Parameters
    ----------
    settings
        The model and how to ask it. The key is read from the environment here.
    meter
        Counts the money; several clients may share one.
    cache, log
        Where replies are kept and calls are logged; ``None`` for nowhere.
    timing
        Clocks, sleep and jitter.

    Raises
    ------
    ValueError
        If the key is missing.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        meter: Meter,
        cache: ReplyCache | None = None,
        log: CallLog | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.settings = settings
        self._meter, self._cache, self._log = meter, cache, log
        self._stopped = threading.Event()
        self._timing = timing or Timing(sleep=self._sleep)
        self._transport = Transport(settings, read_key(settings), self._timing)
        self._pacer = Pacer(settings.requests_per_minute, self._timing)
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._refused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ChatClient({self.settings.model!r} at {self.settings.url})"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        call_id: str,
        schema: Mapping[str, Any] | None = None,
        schema_name: str = "reply",
        max_output_tokens: int | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """Return the model's reply; see :meth:`Completer.complete`."""
        body = requests.build_body(
            self.settings,
            messages,
            schema=schema,
            schema_name=schema_name,
            max_output_tokens=max_output_tokens,
            tools=tools,
        )
        request = requests.digest(self.settings.url, body)
        known = self._recall(call_id, request)
        if known is not None:
            return known
        completion = self._ask(body, call_id, request)
        if self._cache is not None:
            self._cache.put(request, completion)
        return completion

    def stop(self) -> None:
        """Send nothing more; see :meth:`Completer.stop`."""
        self._stopped.set()

    def logged_in(self, log: CallLog) -> ChatClient:
        """Return this client with another log; connections, pace, slots, meter and cache stay shared."""
        twin = copy.copy(self)
        twin._log = log
        return twin

    def _sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped("the run is being interrupted")

    def _recall(self, call_id: str, request: str) -> Completion | None:
        logged = self._log.find(call_id, request) if self._log is not None else None
        if logged is not None:
            return logged
        cached = self._cache.get(request) if self._cache is not None else None
        if cached is None:
            return None
        if self._log is not None:
            self._log.recalled(call_id, request)
        return cached.model_copy(update={"call_id": call_id, "from_cache": True, "attempts": 0})

    def _ask(self, body: Body, call_id: str, request: str) -> Completion:
        notices: tuple[str, ...] = ()
        num_sent = num_failed = 0
        while True:
            left_out = tuple(name for name in self._refused if name in body)
            sent = requests.without(body, left_out)
            try:
                return self._attempt(
                    sent, Attempt(uuid4().hex, call_id, num_sent, request, self.settings.model, left_out, notices)
                )
            except ProviderError as error:
                num_sent += 1
                error.attempts = num_sent
                rejected = requests.rejected_parameter(error.detail, sent) if isinstance(error, BadRequest) else None
                if rejected is not None:
                    self._refuse(rejected)
                    notices += (f"the server rejects {rejected}; asked again without it ({error.detail[:200]})",)
                    continue
                num_failed += 1
                if not self._may_wait(error):
                    raise
                self._pause_others(error)
                if num_failed > self.settings.max_retries:
                    raise
                wait = wait_before_retry(error, num_failed, self._timing.rng)
                self._timing.sleep(min(wait, self.settings.max_wait_s))

    def _may_wait(self, error: ProviderError) -> bool:
        return error.is_retryable and (error.retry_after or 0.0) <= self.settings.max_wait_s

    def _pause_others(self, error: ProviderError) -> None:
        if isinstance(error, RateLimited) and error.retry_after is not None:
            self._pacer.pause(error.retry_after)

    def _refuse(self, parameter: str) -> None:
        # A lost update between threads costs one more rejected request, nothing else.
        self._refused = tuple(sorted({*self._refused, parameter}))

    def _attempt(self, body: Body, attempt: Attempt) -> Completion:
        with self._slots:
            self._pacer.wait()
            self._sleep(0)
            outcome, ended, latency_s = self._exchange(body, attempt)
        if isinstance(outcome, Completion):
            outcome = _stamped(outcome, attempt, latency_s)
        if self._log is not None:
            self._log.ended(attempt, ended, latency_s, outcome)
        if isinstance(outcome, Completion):
            return outcome
        raise outcome

    def _exchange(self, body: Body, attempt: Attempt) -> tuple[Completion | ModelCallError, Settlement, float]:
        held = self._meter.reserve(upper_bound(body, self.settings.prices))
        ended = FREE
        try:
            if self._log is not None:
                self._log.reserved(attempt, held)
            ended = UNKNOWN  # from here on an interruption may leave a bill
            start = time.perf_counter()
            outcome = self._send(body, attempt)
            ended = self._settlement(outcome)
            return outcome, ended, time.perf_counter() - start
        finally:
            self._meter.settle(held, ended)

    def _send(self, body: Body, attempt: Attempt) -> Completion | ModelCallError:
        try:
            return read_reply(self._transport.send(body, attempt.request_id, attempt.number))
        except ModelCallError as error:
            return error

    def _settlement(self, outcome: Completion | ModelCallError) -> Settlement:
        if isinstance(outcome, Completion):
            return settlement(cost(outcome.usage, self.settings.prices), outcome.usage)
        if not isinstance(outcome, ProviderError):
            return FREE
        billed = cost(outcome.usage, self.settings.prices) if outcome.usage is not None else None
        if outcome.usage is not None and billed is not None:
            return settlement(billed, outcome.usage)
        return UNKNOWN if outcome.maybe_billed else FREE

    def close(self) -> None:
        """Close the connections; the log and the cache belong to whoever opened them."""
        self._transport.close()


def _stamped(completion: Completion, attempt: Attempt, latency_s: float) -> Completion:
    """Return ``completion`` with what only the client knows about how it came."""
    return completion.model_copy(
        update={
            "applied": completion.applied.model_copy(update={"refused": attempt.left_out}),
            "latency_s": latency_s,
            "attempts": attempt.number + 1,
            "notices": attempt.notices + completion.notices,
            "call_id": attempt.call_id,
        }
    )
