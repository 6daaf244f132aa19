"""The border: no exception of the client library or its transport passes unmapped."""

from __future__ import annotations

import email.utils

import httpx2
import openai
import pytest

from experiments.llm import errors
from experiments.llm.errors import from_error_body, from_exception, from_status, retry_after
from experiments.llm.records import Usage

NOW = 2e9
REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1")


def exceptions_of(module):
    found = (item for item in list(vars(module).values()) if isinstance(item, type) and issubclass(item, Exception))
    # A warning is no failure of a call; webhooks and cookies are parts of the libraries no call goes through.
    apart = (Warning, openai.InvalidWebhookSignatureError, httpx2.CookieConflict)
    return sorted({item for item in found if not issubclass(item, apart)}, key=lambda item: item.__name__)


def instance(kind):
    """Build an exception without going through each constructor's own wishes."""
    error = kind.__new__(kind)
    Exception.__init__(error, "text")
    if issubclass(kind, openai.APIStatusError):
        error.response = httpx2.Response(418, request=REQUEST, text="teapot")
        error.status_code = 418
    return error


@pytest.mark.parametrize("kind", [*exceptions_of(openai), *exceptions_of(httpx2)], ids=lambda kind: kind.__name__)
def test_every_foreign_exception_is_mapped(kind):
    assert isinstance(from_exception(instance(kind), NOW), errors.ProviderError)


def test_the_walk_finds_the_exceptions_it_is_about():
    assert {openai.RateLimitError, openai.APITimeoutError, openai.APIConnectionError} <= set(exceptions_of(openai))
    assert {httpx2.ReadTimeout, httpx2.RemoteProtocolError, httpx2.DecodingError} <= set(exceptions_of(httpx2))
    assert len(exceptions_of(openai)) > 15


def test_a_programmers_mistake_passes_through():
    with pytest.raises(ZeroDivisionError):
        from_exception(ZeroDivisionError(), NOW)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequest), (422, errors.BadRequest), (418, errors.BadRequest),
        (401, errors.AuthenticationFailed), (402, errors.OutOfCredit), (403, errors.AuthenticationFailed),
        (404, errors.ModelNotFound), (408, errors.ServerFault), (409, errors.ServerFault), (429, errors.RateLimited),
        (500, errors.ServerFault), (502, errors.ServerFault), (503, errors.ServerFault), (529, errors.ServerFault),
    ],
)  # fmt: skip
def test_statuses(status, kind):
    error = from_status(status, "text", {}, NOW)
    assert type(error) is kind
    assert error.status == status
    assert not error.maybe_billed
    assert error.is_retryable == (kind in (errors.ServerFault, errors.RateLimited))


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"code": "context_length_exceeded"}}',
        "This model's maximum context length is 8192 tokens",
        "the request exceeds the available context size (8192 tokens)",
        '{"error":{"code":400,"type":"exceed_context_size_error"}}',
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_full_context_is_the_agents_fault_whatever_the_status(text, status):
    error = from_status(status, text, {}, NOW)
    assert isinstance(error, errors.ContextOverflow)
    assert not isinstance(error, errors.ProviderError)


def test_tokens_per_minute_are_no_overflow():
    assert isinstance(from_status(429, "too many tokens per minute", {}, NOW), errors.RateLimited)


def test_moderation_and_money_in_flight():
    flagged = '{"error":{"message":"Your input was flagged","metadata":{"flagged_input":"x"}}}'
    assert isinstance(from_status(403, flagged, {}, NOW), errors.PromptFiltered)
    assert isinstance(from_status(402, "in flight", {"retry-after": "1"}, NOW), errors.RateLimited)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"code": 502, "message": "x"}, errors.ErrorBody),
        ({"code": "server_error"}, errors.ErrorBody),
        ({"code": True}, errors.ErrorBody),
        ("text", errors.ErrorBody),
        ({"code": 429}, errors.RateLimited),
        ({"code": 401}, errors.AuthenticationFailed),
        ({"code": 400}, errors.BadRequest),
        ({"code": 400, "message": "Your input exceeds the context window of this model"}, errors.ContextOverflow),
    ],
)
def test_error_bodies(body, kind):
    assert type(from_error_body(body, Usage())) is kind


def test_an_error_body_may_have_been_billed_unless_it_says_what():
    assert from_error_body("x", Usage()).maybe_billed
    assert not from_error_body("x", Usage(cost_microusd=3)).maybe_billed


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": email.utils.formatdate(NOW + 3, usegmt=True)}, 3.0),
        # The server's clock is an hour slow; its own Date says so.
        ({"retry-after": email.utils.formatdate(NOW - 3598), "date": email.utils.formatdate(NOW - 3600)}, 2.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": email.utils.formatdate(NOW - 3)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
        ({"x-ratelimit-reset": str(int(NOW * 1000 + 1500))}, 1.5),
        ({"x-ratelimit-reset": "1s"}, None),
        ({"x-ratelimit-reset": "60"}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(httpx2.Headers(headers), NOW) == seconds


def test_the_drawn_tree_is_the_tree():
    classes = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    for kind in classes - {errors.RetryableError}:
        line = next(line for line in errors.__doc__.splitlines() if f" {kind.__name__}" in line)
        assert ("*" in line) == getattr(kind, "is_retryable", False), line
        depth = (kind is not errors.ModelCallError) + (
            issubclass(kind, errors.ProviderError) and kind is not errors.ProviderError
        )
        assert line.index(kind.__name__) == 4 + 4 * depth, line


def test_a_long_page_is_cut_short():
    assert len(str(from_status(500, "x" * 100_000, {}, NOW))) < 700
