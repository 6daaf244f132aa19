"""What is kept is sent and told apart as if it were written anew each time."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from experiments.llm.kept import GrowingDigest, KeptJson, keep_json, sent_body
from experiments.llm.requests import build_body, request_digest
from experiments.llm.settings import ModelSettings

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=4), min_size=1, max_size=6)


def written_anew(url: str, body: dict[str, object]) -> str:
    text = json.dumps({"url": url, "body": body}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@given(messages=MESSAGES, more=st.dictionaries(st.text(max_size=12), JSON, max_size=4), num_kept=st.integers(0, 6))
def test_it_is_written_as_ever(messages, more, num_kept):
    mixed = [keep_json(message) if row < num_kept else message for row, message in enumerate(messages)]
    plain = json.loads(json.dumps({**more, "messages": [dict(keep_json(message)) for message in messages]}))
    body = {**more, "messages": [keep_json(message) if row < num_kept else dict(keep_json(message)) for row, message in
                                 enumerate(mixed)]}  # fmt: skip
    assert json.loads(sent_body(body)) == plain
    assert request_digest("http://a/v1", body) == written_anew("http://a/v1", plain)


def test_a_conversation_that_grows_shrinks_and_changes():
    digest, kept = GrowingDigest(), [keep_json({"role": "user", "content": f"é {row}"}) for row in range(12)]
    bodies = [{"max_tokens": 5, "messages": kept[:num], "model": "m"} for num in (1, 2, 5, 6, 12)]
    bodies += [{"max_tokens": 5, "messages": [kept[0], *kept[6:]], "model": "m"}]
    bodies += [{"max_tokens": 6, "messages": [*kept[:3], {"role": "user", "content": "tail"}, kept[4]], "model": "m"}]
    bodies += [{"messages": [keep_json(dict(message)) for message in kept], "tools": [kept[0]]}]
    for body in [*bodies, *reversed(bodies)]:
        assert digest.of("u", body) == written_anew("u", body)


def test_what_is_kept_is_not_copied_and_the_rest_is():
    kept, plain = keep_json({"role": "system", "content": "s"}), {"role": "user", "content": "u"}
    settings = ModelSettings(model="m", base_url="http://127.0.0.1:1/v1")
    body = build_body(settings, [kept, plain], schema=None, schema_name="reply", max_output_tokens=None)
    assert body["messages"][0] is kept
    assert body["messages"][1] == plain
    assert body["messages"][1] is not plain
    assert keep_json(kept) is kept
    assert isinstance(keep_json(plain), KeptJson)
