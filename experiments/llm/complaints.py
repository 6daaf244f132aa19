r"""What the words of a server's refusal complain of, whoever the vendor is and whatever status it chose.

Everything here is a pure function of a text. The wordings are those that vendors, routers and local servers are known
for; ``tests/experiments/llm/test_complaints.py`` has each of them with its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


_PER_TIME = _any(r"per[ _](?:min(?:ute)?|hour|day|second)\b", r"\b[TR]P[MD]\b", r"rate[ _-]?limit")
_OVERFLOW = _any(
    r"context[ _]length[ _]exceeded|exceed_context_size|context_window_exceeded|context[ _]overflow",
    r"maximum (?:context|prompt|input|sequence|model) length|max_(?:seq_len|model_len|total_tokens)",
    r"context window (?:exceed|of this model|limit|is full)",
    r"exceed\w*\W+(?:[\w'()-]+\W+){0,5}context[ _](?:window|length|size|limit)",
    r"(?:longer|greater|larger|more) than (?:the |this )?(?:model'?s )?(?:maximum )?context",
    r"(?:prompt|input|message|request|conversation)s?\b[^.]{0,20}\btoo (?:long|large)|string too long",
    r"request_too_large|exceeds the maximum size|too many (?:input |prompt |total )?tokens",
    r"tokens to keep from the initial prompt",
    r"(?:input|prompt) tokens? count\b.{0,60}exceed|token count of \d+ exceeds",
    r"exceed\w* (?:the )?(?:model )?token limit|token limit exceeded|maximum (?:number of )?tokens allowed",
    r"reduce (?:the length of )?(?:the |your )?(?:messages|prompt|input)\b",
    r"input length (?:should|must) be|inputs? tokens? (?:must|exceed)|exceeds? the (?:configured )?limit of \d",
    r"(?:must have less than|`inputs` must|`inputs` tokens)|maximum allowed input length",
    r"超长|超过.{0,12}(?:长度|上限|限制)",
)
_ANSWER_TOO_LONG = (
    r"max_(?:completion_|output_|new_)?tokens: \d+ > (?P<most>\d+)",
    r"at most (?P<most>\d+) (?:completion|output) tokens",
    r"max_(?:completion_|output_|new_)?tokens`?'? must be (?:less than or equal to|at most|<=) `?(?P<most>\d+)",
    r"range of (?:`|')?max_(?:completion_|output_)?tokens(?:`|')? (?:is|should be) \[\d+, ?(?P<most>\d+)\]",
    r"supported range is from \d+ \(inclusive\) to (?P<beyond>\d+) \(exclusive\)",
)
"""The limit of the answer is above what the model can ever write."""
_NO_ROOM = (
    r"maximum context length (?:is|of) (?P<context>\d+) tokens.{0,80}?\((?P<prompt>\d+) (?:in |of |tokens )",
    r"maximum context length is (?P<context>\d+) tokens and your request has (?P<prompt>\d+) input tokens",
    r"passed (?P<prompt>\d+) input tokens and requested \d+ output tokens.{0,80}?only (?P<context>\d+) tokens",
    r"exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<context>\d+)",
    r"must be <= (?P<context>\d+)\. Given: (?P<prompt>\d+) `?inputs`? tokens",
    r"context length of (?P<context>\d+) tokens\..{0,60}?: (?P<prompt>\d+) tokens from the input",
)
"""The prompt fits the context, but not together with the answer that was asked for."""
Complaint = Literal["malformed answer", "filter", "credit", "key", "model", "tools"]
_WORDINGS: dict[Complaint, re.Pattern[str]] = {
    # The server threw away what the model wrote because it was no JSON, or no call.
    "malformed answer": _any(
        r"json_validate_failed|tool_use_failed|output_parse_failed|failed_generation|MALFORMED_FUNCTION_CALL",
        r"failed to (?:generate|validate) json|failed to call a function|tool call validation failed",
        r"failed to parse (?:tool|function) call|error parsing tool call",
        r"model generated (?:output|a response) that could",
    ),
    # A content filter stopped the prompt.
    "filter": _any(
        r"content[ _]?filter|content management policy|ResponsibleAIPolicy|data_?inspection_?failed",
        r"inappropriate content|content exists risk|content[ _]policy|moderation|\bflagged\b|guardrail",
        r"sensitive content",
        r"PROHIBITED_CONTENT|block_?reason|blocked (?:by|due to) (?:safety|content|the)|usage polic",
        r"safety (?:filter|system)",
    ),
    # The account is spent, which no waiting heals.
    "credit": _any(
        r"insufficient_quota|exceeded_current_quota|insufficient (?:credits?|balance|funds|quota)|payment required",
        r"billing[ _](?:hard[ _])?limit|credit balance is too low|out of credits?|account .{0,60}suspended",
    ),
    # The key is refused.
    "key": _any(
        r"api[ _]key (?:is )?(?:not valid|invalid|not found|expired)|API_KEY_INVALID|invalid[ _]api[ _]key",
        r"incorrect api key",
    ),
    # There is no such model.
    "model": _any(
        r"is not a valid model|model[ _]not[ _]found|model\b.{0,120}does not exist|unknown model|no such model",
        r"invalid model (?:name|id)",
    ),
    # The server cannot take native tool calls for this model.
    "tools": _any(
        r"does not support (?:tools?|tool use|tool calling|function calling)\b|support tool use|tool-call-parser",
        r"tools? (?:is|are) not supported|(?:tool|function) call(?:s|ing)? (?:is|are) not supported",
    ),
}
_NO_SYSTEM_ROLE = _any(
    r"system role (?:is )?not supported|does not support ['\"]?system|(?:system|developer) "
    r"(?:messages?|prompts?|instructions?|role) (?:is |are )?not (?:supported|enabled|allowed)",
    r"only user and assistant roles are supported",
)
_REFUSES = _any(
    r"unsupported|not support|n't support|not allowed|not permitted|unknown|unrecogni[sz]ed|unexpected",
    r"extra (?:inputs|fields?)|invalid|deprecated|only the default|not available|cannot be used|forbidden",
    r"not enabled|not implemented|disallowed|only \S+ is allowed|must be one of|mutually exclusive|no endpoints found",
    r"failed to (?:compile|convert|parse)|could not compile",
)
_NAMED = {
    "response_format": r"response_?(?:format|schema)|json[_ ]schema|json[_ ]object|structured[_ ]outputs?|"
    r"guided[_ ](?:json|decoding)|additionalProperties|xgrammar|\bgrammar\b",
    "temperature": r"\btemperature\b",
    "seed": r"\bseed\b",
    "effort": r"\breasoning[_. ]effort\b|\breasoning\b|\bthinking_budget\b|\beffort\b",
    "max_tokens": r"\bmax_tokens\b",
    "cache_control": r"\bcache_control\b",
    "stream_options": r"\bstream_options\b",
}
_ATTACHED = _any(r"\b(?:reasoning_content|reasoning_details|extra_content|thinking_blocks|provider_specific_fields)\b")
_PARAM = re.compile(r"""["']param["']:\s*["']([^"']+)""")
_ANY_PARAMETER = re.compile(r"no endpoints found that (?:can handle|support) the requested parameters", re.IGNORECASE)
_LEAST_ROOM = 16


def is_overflow(text: str) -> bool:
    """Whether the text says that the conversation does not fit the context; a limit per minute is another matter."""
    return _OVERFLOW.search(text) is not None and not _PER_TIME.search(text) and answer_room(text, None) is None


def complains_of(what: Complaint, text: str) -> bool:
    """Whether the words of a refusal are about ``what``, whatever the status they came with."""
    return _WORDINGS[what].search(text) is not None


def answer_room(text: str, asked: int | None) -> int | None:
    """Return the tokens an answer may have where its limit is what does not fit; ``None`` where it is not the cause.

    Parameters
    ----------
    text
        The server's words.
    asked
        The limit that was asked for; ``None`` asks only whether the words are of this kind.
    """
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    room = _room(plain)
    if room is None or (asked is not None and not _LEAST_ROOM <= room < asked):
        return None
    return room


def _room(text: str) -> int | None:
    for pattern in _NO_ROOM:
        found = re.search(pattern, text, re.IGNORECASE | re.DOTALL)
        if found and int(found["prompt"]) < int(found["context"]):
            return int(found["context"]) - int(found["prompt"])
    for pattern in _ANSWER_TOO_LONG:
        found = re.search(pattern, text, re.IGNORECASE | re.DOTALL)
        if found:
            named = found.groupdict()
            return int(named["most"]) if "most" in named else int(named["beyond"]) - 1
    return None


def refused_part(text: str, body: Mapping[str, Any], attached: Sequence[str] = ()) -> str | None:
    """Return the part of a request that the server names as refused, ``None`` where it names none that can be changed.

    Parameters
    ----------
    text
        The server's words. A part counts only if it is named and refused: that one is *missing* refuses nothing.
    body
        The request.
    attached
        What vendors attached to earlier turns and is sent back with ``body``.

    Returns
    -------
    str or None
        A key of the request, ``effort``, ``attached``, or ``system role``.
    """
    if _NO_SYSTEM_ROLE.search(text) and any(message.get("role") == "system" for message in body["messages"]):
        return "system role"
    if _ANY_PARAMETER.search(text):
        return "response_format" if "response_format" in body else None
    sent = [name for name in _NAMED if _is_sent(name, body)]
    named = _PARAM.search(text)
    if named is not None and not named[1].startswith("messages"):
        return next((name for name in sent if re.match(_NAMED[name], named[1], re.IGNORECASE)), None)
    if not _REFUSES.search(text):
        return None
    if attached and _ATTACHED.search(text):
        return "attached"
    places = {name: found.start() for name in sent if (found := re.search(_NAMED[name], text, re.IGNORECASE))}
    return min(places, key=lambda name: places[name]) if places else None


def _is_sent(name: str, body: Mapping[str, Any]) -> bool:
    if name == "effort":
        return "reasoning" in body or "reasoning_effort" in body
    if name == "cache_control":
        return any(isinstance(message.get("content"), list) for message in body["messages"])
    return name in body
