"""One synchronous, thread-safe chat client for every OpenAI-compatible server.

A call goes: call log, cache, then attempts. Each attempt reserves money, waits for the rate limit and a free slot, is
sent, and settles. A retryable failure waits and tries again; a part of the request that the server names as refused
goes by its next step down from then on, with a notice; an answer for which the context has no room is asked for again
with the room there is; everything else is raised at once.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from experiments.llm import requests
from experiments.llm.calls import Attempt, CallLog, ReplyCache
from experiments.llm.complaints import answer_room
from experiments.llm.errors import (
    BadRequest,
    ContextOverflow,
    MalformedAnswer,
    ModelCallError,
    ModelNotFound,
    PromptFiltered,
    ProviderError,
    RateLimited,
    ServerFault,
    SettingRefused,
    Stopped,
)
from experiments.llm.kept import GrowingDigest
from experiments.llm.pacing import Pacer, ServerHealth, Timing, wait_before_retry
from experiments.llm.records import MALFORMED, PROMPT_FILTER, Completion, Usage
from experiments.llm.replies import read_reply
from experiments.llm.requests import Message, RequestBody
from experiments.llm.settings import ModelSettings, read_key
from experiments.llm.spending import FREE, UNKNOWN, Meter, Settlement, cost, settlement, upper_bound
from experiments.llm.transport import ListedModel, Transport

MOST_SHORTENED = 2
"""Times that one call is asked for again with a shorter answer."""
_NOTHING = Usage(prompt_tokens=0, completion_tokens=0, cost_microusd=0)


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
        ServerUnusable, SettingRefused
            No call will ever be answered, or not as what the row is called; ends the run.
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
        self._digest = GrowingDigest()
        self._health = ServerHealth(f"{settings.model} at {settings.url}")

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
        request = self._digest.of(self.settings.url, body)
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

    def models(self) -> tuple[ListedModel, ...]:
        """Return the models that the server lists; free of charge, in no log.

        Raises
        ------
        ModelCallError
            If it lists none.
        """
        return self._transport.models()

    def asked_with(self, settings: ModelSettings) -> ChatClient:
        """Return this client asking the same server in another way; connections, pace and meter stay shared."""
        twin = copy.copy(self)
        twin.settings, twin._refused = settings, ()
        return twin

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

    def _ask(self, body: RequestBody, call_id: str, request: str) -> Completion:
        asking = _Asking(body)
        while True:
            known = self._refused
            taken, sent = requests.steps_taken(asking.body, known), requests.reduced(asking.body, known)
            attempt = Attempt(
                uuid4().hex, call_id, asking.num_sent, request, self.settings.model, taken, asking.notices
            )
            try:
                completion = self._attempt(sent, attempt)
            except (ProviderError, ContextOverflow) as error:
                asking.num_sent += 1
                if asking.makes_room(error, sent) or self._steps_down(error, sent, known, asking):
                    continue
                if isinstance(error, ContextOverflow):
                    raise
                error.attempts = asking.num_sent
                self._wait_or_raise(error, asking)
            else:
                self._health.answered()
                self._compare_effort(completion)
                return completion

    def _wait_or_raise(self, error: ProviderError, asking: _Asking) -> None:
        asking.num_failed += 1
        if not self._may_wait(error):
            raise self._health.lost(error)
        self._pause_others(error)
        if asking.num_failed > self._num_retries(error):
            raise self._health.lost(error)
        wait = wait_before_retry(error, asking.num_failed, self._timing.rng)
        self._timing.sleep(min(wait, self.settings.max_wait_s))

    def _num_retries(self, error: ProviderError) -> int:
        """Return how often to try again: one that was never there is not waited for like one that may be restarting."""
        if error.is_lasting and not self._health.has_answered:
            return min(1, self.settings.max_retries)
        return self.settings.max_retries

    def _steps_down(self, error: ModelCallError, sent: RequestBody, known: tuple[str, ...], asking: _Asking) -> bool:
        """Whether the server names a part of the request that can be asked for in a lesser way, from now on.

        ``known`` are the steps taken before ``sent`` was: another thread may have taken this one while it was away.
        """
        if not isinstance(error, BadRequest | ModelNotFound | ServerFault):
            return False
        step = requests.next_step(error.detail, sent)
        if step == "effort":
            raise SettingRefused(
                f"{self.settings.model} refuses effort={self.settings.effort or self.settings.reasoning_tokens}, which "
                f"its row would be named by; choose one that it takes ({error.detail[:300]})"
            ) from None
        if step is None or step in known:
            return False
        # A lost update between threads costs one more rejected request, nothing else.
        self._refused = tuple(sorted({*self._refused, step}))
        asking.notices += (f"the server rejects {step}; asked again without it ({error.detail[:200]})",)
        return True

    def _compare_effort(self, completion: Completion) -> None:
        asked, applied = self.settings.effort, completion.applied.effort
        if asked is not None and applied is not None and applied != asked:
            self._health.tell("effort", f"{self.settings.model} was asked with effort={asked} and applied {applied}")

    def _may_wait(self, error: ProviderError) -> bool:
        return error.is_retryable and (error.retry_after or 0.0) <= self.settings.max_wait_s

    def _pause_others(self, error: ProviderError) -> None:
        if isinstance(error, RateLimited) and error.retry_after is not None:
            self._pacer.pause(error.retry_after)

    def _attempt(self, body: RequestBody, attempt: Attempt) -> Completion:
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

    def _exchange(self, body: RequestBody, attempt: Attempt) -> tuple[Completion | ModelCallError, Settlement, float]:
        held = self._meter.reserve(upper_bound(body, self.settings.prices))
        ended = FREE
        try:
            if self._log is not None:
                self._log.reserved(attempt, held)
            ended = UNKNOWN  # from here on an interruption may leave a bill
            start = time.perf_counter()
            outcome = self._send(body, attempt)
            ended = self._settlement(outcome)
            return stands_for(outcome), ended, time.perf_counter() - start
        finally:
            self._meter.settle(held, ended)

    def _send(self, body: RequestBody, attempt: Attempt) -> Completion | ModelCallError:
        try:
            return read_reply(self._transport.send(body, attempt.request_id, attempt.number))
        except ModelCallError as error:
            return error

    def _settlement(self, outcome: Completion | ModelCallError) -> Settlement:
        billed = None if outcome.usage is None else cost(outcome.usage, self.settings.prices)
        if isinstance(outcome, Completion):
            return settlement(billed, outcome.usage)
        if outcome.usage is not None and billed is not None:
            return settlement(billed, outcome.usage)
        return UNKNOWN if outcome.maybe_billed else FREE

    def close(self) -> None:
        """Close the connections; the log and the cache belong to whoever opened them."""
        self._transport.close()


@dataclass
class _Asking:
    """One call on its way through its attempts."""

    body: RequestBody
    notices: tuple[str, ...] = ()
    num_sent: int = 0
    num_failed: int = 0
    num_shortened: int = 0

    def makes_room(self, error: ModelCallError, sent: RequestBody) -> bool:
        """Whether the answer's limit was what did not fit; the next attempt asks for what is left."""
        limit = int(sent.get("max_tokens") or sent.get("max_completion_tokens") or 0)
        room = answer_room(error.detail, limit)
        if room is None or self.num_shortened == MOST_SHORTENED:
            return False
        self.num_shortened += 1
        self.body = self.body | {"max_tokens": room}
        self.notices += (f"no room for an answer of {limit} tokens; asked again for {room} ({error.detail[:200]})",)
        return True


def stands_for(outcome: Completion | ModelCallError) -> Completion | ModelCallError:
    """Return the completion that a failure stands for, where it is what the model said or was kept from saying."""
    if not isinstance(outcome, MalformedAnswer | PromptFiltered):
        return outcome
    reason = MALFORMED if isinstance(outcome, MalformedAnswer) else PROMPT_FILTER
    return Completion(text=None, finish_reason=reason, usage=_NOTHING, notices=(outcome.detail,))


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
