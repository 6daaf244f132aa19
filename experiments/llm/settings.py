"""Settings of a model: everything that shapes a request or its price, validated once.

Every key reaches the request or the way it is sent; a test changes each and looks at what arrives at a server.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, field_validator, model_validator

from terms.config import Frozen
from terms.strict_json import strict_loads

OPENROUTER_URL = "https://openrouter.ai/api/v1"
OPENROUTER_KEY_ENV = "OPENROUTER_API_KEY"

_KEY = re.compile(r"[!#-&(-\[\]^_a-~]+")
"""Printable ASCII without blanks, quotes and backslash."""

Dialect = Literal["openrouter", "openai"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def shown_address(address: str) -> str:
    """Return an address as messages may show it: without user, password, query and fragment.

    >>> shown_address("ftp://user:secret@host/v1?key=secret")
    'ftp://...@host/v1?...'
    """
    bare = re.sub(r"(?<![^/\s])[^/\s]*@", "...@", address)
    return re.sub(r"[?#].*", lambda end: f"{end[0][0]}...", bare)


class Prices(Frozen):
    """Price list in micro-dollars per million tokens ($2.50 is 2_500_000), used where the server states no cost.

    Without an own price, cached and cache-write tokens cost what any prompt token costs.
    """

    prompt: int = Field(ge=0)
    completion: int = Field(ge=0)
    cached: int | None = Field(None, ge=0)
    cache_write: int | None = Field(None, ge=0)


class ProviderRouting(Frozen):
    """Which back-ends OpenRouter may use. Pin ``only`` and refuse fall-backs where runs must be comparable."""

    order: tuple[str, ...] | None = None
    only: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    allow_fallbacks: bool | None = None
    require_parameters: bool | None = None
    data_collection: Literal["allow", "deny"] | None = None
    zdr: bool | None = None
    quantizations: tuple[str, ...] | None = None
    sort: Literal["price", "throughput", "latency"] | None = None


class ModelSettings(Frozen):
    """One model as it is to be asked. The key itself is never a setting: ``api_key_env`` names where it is."""

    # A key put into the wrong field must not be repeated by the error that says so.
    model_config = ConfigDict(hide_input_in_errors=True)

    model: str = Field(min_length=1)
    base_url: str | None = Field(None, description="None is OpenRouter")
    dialect: Dialect | None = Field(None, description="None: openrouter for OpenRouter's address, openai for any other")
    api_key_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="None: OPENROUTER_API_KEY for OpenRouter and no key for any other address",
    )
    temperature: float | None = Field(0.0, ge=0, le=2, description="None leaves it to the server")
    effort: Effort | None = Field(None, description="reasoning effort; None leaves it to the server")
    max_output_tokens: int = Field(2048, ge=1, description="reasoning included")
    reasoning_tokens: int | None = Field(None, ge=1, description="budget of reasoning, in place of an effort")
    seed: int | None = None
    provider: ProviderRouting | None = Field(None, description="only where the dialect is openrouter")
    structured_output: bool = Field(True, description="ask for the JSON schema to be enforced")
    prompt_cache: bool = Field(False, description="mark what is worth caching, for vendors that cache on request only")
    stream: bool = Field(False, description="take the answer in pieces; some servers cut off long silent ones")
    extra_body: str = Field("{}", description="JSON object of fields that the request holds beside those above")
    timeout_s: float = Field(120.0, gt=0, description="seconds for a whole answer")
    concurrency: int = Field(8, ge=1, description="requests in flight")
    requests_per_minute: float | None = Field(None, gt=0)
    max_retries: int = Field(5, ge=0)
    max_wait_s: float = Field(120.0, gt=0, description="longest wait between tries; a server asking more ends the call")
    prices: Prices | None = None

    @model_validator(mode="after")
    def _address(self) -> Self:
        if self.base_url is None:
            return self
        try:
            parts = urlsplit(self.base_url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # brackets that do not match, a port that is no number
            is_address = False
        if not is_address or not self.base_url.isprintable():
            raise ValueError(
                f"base_url={shown_address(self.base_url)!r} is not an address; "
                "it must start with http:// or https:// and name a host"
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            # The address is written to run files.
            raise ValueError("base_url holds a user, password, query or fragment; name the key in api_key_env instead")
        return self

    @field_validator("extra_body", mode="before")
    @classmethod
    def _one_object(cls, given: Any) -> str:
        try:
            fields = strict_loads(given) if isinstance(given, str) else given
        except ValueError as error:
            raise ValueError(f"needed is a JSON object: {error}") from error
        if not isinstance(fields, dict):
            raise ValueError("needed is a JSON object")
        return json.dumps(fields, sort_keys=True, allow_nan=False)

    @model_validator(mode="after")
    def _one_measure_of_reasoning(self) -> Self:
        if self.reasoning_tokens is not None and self.effort is not None:
            raise ValueError("effort and reasoning_tokens are set; servers take one of them")
        if self.reasoning_tokens is not None and self.wire_dialect != "openrouter":
            raise ValueError(
                f"reasoning_tokens is set but base_url={self.url!r} is not OpenRouter; "
                "put the vendor's own field into extra_body"
            )
        return self

    @model_validator(mode="after")
    def _routing(self) -> Self:
        if self.provider is not None and self.wire_dialect != "openrouter":
            raise ValueError(
                f"provider routing is set but base_url={self.url!r} is not OpenRouter; "
                "leave it out, or set dialect='openrouter'"
            )
        return self

    @property
    def extra_fields(self) -> dict[str, Any]:
        """Fields of the request beside the settings."""
        found: dict[str, Any] = json.loads(self.extra_body)
        return found

    @property
    def url(self) -> str:
        """Address that requests go to."""
        return self.base_url or OPENROUTER_URL

    @property
    def wire_dialect(self) -> Dialect:
        """Whose extensions to the protocol the request may use."""
        if self.dialect is not None:
            return self.dialect
        return "openrouter" if self._is_openrouter else "openai"

    @property
    def key_env(self) -> str | None:
        """Environment variable that holds the key; ``None`` where no key is sent.

        Another address never gets the OpenRouter key unless it is named.
        """
        if self.api_key_env is not None:
            return self.api_key_env
        return OPENROUTER_KEY_ENV if self._is_openrouter else None

    @property
    def _is_openrouter(self) -> bool:
        return urlsplit(self.url).hostname == urlsplit(OPENROUTER_URL).hostname


def refuse_bad_key(settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> None:
    """Refuse a key that no header can hold, before anything is opened; one that is missing is told when it is needed.

    Raises
    ------
    ValueError
        As :func:`read_key`.
    """
    if settings.key_env is not None and environ.get(settings.key_env, "").strip():
        read_key(settings, environ)


def read_key(settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the key, or ``None`` where none is to be sent.

    Raises
    ------
    ValueError
        If the named variable is missing or empty, or holds what is no key.
    """
    if settings.key_env is None:
        return None
    key = environ.get(settings.key_env, "").strip()
    if not key:
        raise ValueError(
            f"the key for {settings.url} is missing: set the environment variable {settings.key_env}, "
            "or choose an agent that needs none"
        )
    if not _KEY.fullmatch(key):
        # What a header cannot hold would come back inside an error, in a spelling that nobody looks for.
        raise ValueError(
            f"the key in the environment variable {settings.key_env} holds a blank, a line break, a quote or a letter "
            "outside ASCII; no vendor gives out such a key: copy it again"
        )
    return key
