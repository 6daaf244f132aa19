"""No file that a command is given ends in a traceback: it is taken, or refused in one line that names it and the place.

Catalogues have their own two hundred in tests/terms/hostile_files.py, run folders theirs in
tests/experiments/engine/damage.py.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest

from commerce.world import generate_world, load_world
from commerce.world.export import world_files
from experiments.episodes.config import SuiteSpec
from experiments.report.explaining import read_waterfall
from tests.experiments.cli.hostile_values import SECRET

NUM_SPOILED = 12
GOOD: dict[str, dict[str, object]] = {
    "config": {"game": {"max_rounds": 8}},
    "sessions": {"bankroll": {"horizon": 3}, "chain": {"seed": 2}},
    "model": {"temperature": 0.5, "effort": "low", "extra_body": {"key": SECRET}},
    "decomposition": {
        "agent": "patient", "reference": "oracle", "suite": "s", "suite_digest": "d", "diagnosis": {"fault": "none"},
        "rows": [{"slice": "overall", "label": "all", "part": part, "estimate": 1.0, "low": 0.5, "high": 1.5, "n": 9}
                 for part in ("played", "reference", "gap", "execution")],
    },
}  # fmt: skip
COMMANDS = {
    "config": ("diagnose", "--agent", "patient", "--regime", "overlap", "--family", "candid", "--config"),
    "sessions": ("bankroll", "--agent", "patient", "--sessions", "1", "--config"),
    "model": ("diagnose", "--agent", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--model"),
}


class SpoiledFile(NamedTuple):
    """What was done to a good file, and the bytes."""

    kind: str
    content: bytes


def spoiled(good: object, seed: int = 0) -> list[SpoiledFile]:
    """Return a good JSON file as people, machines and strangers spoil it."""
    rng, text = random.Random(seed), json.dumps(good)
    raw = text.encode()
    found = {
        "empty": b"",
        "blank": b" \n",
        "text": b"hello",
        "a number": b"1",
        "null": b"null",
        "a list": b"[]",
        "a word": b'"x"',
        "list of it": b"[" + raw + b"]",
        "twice": raw + raw,
        "a comma": raw[:-1] + b",}",
        "NaN": raw.replace(b": ", b": NaN, ", 1),
        "constant": json.dumps({**dict.fromkeys(good, float("nan"))}).encode(),
        "huge number": ('{"a": ' + "9" * 5000 + "}").encode(),
        "1e400": json.dumps(dict.fromkeys(good, 0)).replace("0", "1e400").encode(),
        "deep": b"[" * 100_000,
        "deep object": b'{"a":' * 50_000,
        "utf-16": text.encode("utf-16"),
        "with a mark": b"\xef\xbb\xbf" + raw,
        "latin": '{"é": 1}'.encode("latin-1"),
        "NULs": b"\0" * 4096,
        "binary": bytes(range(256)),
        "single quotes": raw.replace(b'"', b"'"),
        "comment": b"// x\n" + raw,
        "a key twice": b'{"a": 1, "a": 2}',
        "unknown key": json.dumps({**good, "colour": 1}).encode(),
        "unknown keys": json.dumps({"\x1b[31m": 1, "[/y]": 2}).encode(),
        "surrogate": b'{"\\ud800": 1}',
        "empty key": b'{"": 1}',
        "large": b'{"a": "' + b"x" * 1_000_000 + b'"}',
        "html": b"<html>404</html>",
        "python": b"{'a': None}",
        "nested itself": json.dumps({key: good for key in good}).encode(),
    }
    for value in (None, True, -1, 0, "", "x", [], {}, [[]], {"x": {"y": [1]}}, 10**30, 1.5, "1"):
        found[f"all {value!r}"] = json.dumps(dict.fromkeys(good, value)).encode()
    for number in range(NUM_SPOILED):
        content = bytearray(raw)
        content[rng.randrange(len(raw))] = rng.randrange(256)
        found[f"a byte, {number}"] = bytes(content)
        found[f"cut, {number}"] = raw[: rng.randrange(len(raw))]
    return [SpoiledFile(*item) for item in found.items()]


def test_they_are_two_hundred():
    assert sum(len(spoiled(good)) for good in GOOD.values()) > 200


@pytest.mark.parametrize("what", COMMANDS)
def test_a_settings_file(terms, tmp_path, monkeypatch, what):
    began = []
    for place in ("diagnose", "bankroll"):
        monkeypatch.setattr(f"experiments.cli.{place}.run_task", lambda *a, **k: began.append(1) or 1 / 0)
    path, num_refused = tmp_path / "given.json", 0
    for case in spoiled(GOOD[what]):
        path.write_bytes(case.content)
        began.clear()
        try:
            code, _, told = terms(*COMMANDS[what], path)
        except ZeroDivisionError:
            assert began, case.kind
            continue
        line = told.splitlines()[-1]
        assert (code, line.startswith("error: "), SECRET in told) == (2, True, False), (case.kind, told)
        assert len(line) < 1700
        assert all(sign.isprintable() for sign in line), case.kind
        assert [each.name for each in tmp_path.iterdir()] == ["given.json"], case.kind
        num_refused += 1
    assert num_refused > 30


def test_a_decomposition(tmp_path):
    path, num_refused = tmp_path / "given.json", 0
    for case in spoiled(GOOD["decomposition"]):
        path.write_bytes(case.content)
        try:
            read_waterfall(path, {"d": "label"})
        except ValueError as error:
            is_named = "given.json" in str(error)
        else:
            continue
        assert is_named, case.kind
        num_refused += 1
    assert num_refused > 40
    path.write_text(json.dumps(GOOD["decomposition"]))
    assert read_waterfall(path, {"d": "label"}).slices["all"]["gap"].estimate == 1


@pytest.mark.parametrize(
    "content", [b"", b"short", b"x" * 15, b"with a blank in it", b"\xff" * 20, "ключ".encode() * 5, b"\0" * 9]
)
def test_a_token_file(terms, tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    code, _, told = terms("serve", "--http", "--seed", 2**50, "--host", "127.0.0.1:0", "--token-file", path)
    assert code == 2
    assert "token" in told.splitlines()[-1]
    assert "Traceback" not in told


def test_a_suite_that_is_a_device_or_a_circle_of_links(tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    for path in ("/dev/zero", "/dev/null", tmp_path / "loop.csv"):
        with pytest.raises((ValueError, OSError), match=str(path)):
            SuiteSpec.parse(f"catalog:{path}").build()


@pytest.mark.slow
def test_a_world_folder(tmp_path):
    files = world_files(generate_world(0))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name, text in files.items():
        for kind, content in {
            "missing": None, "empty": b"", "binary": bytes(range(256)), "half": text.encode()[: len(text) // 2],
            "null": b"null", "deep": b"[" * 100_000, "list": b"[1]", "text": b"a,b\n1,2\n",
        }.items():  # fmt: skip
            path = Path(tmp_path / name)
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            try:
                load_world(tmp_path)
            except (ValueError, OSError) as error:
                said = str(error)
            else:
                said = name
            assert name in said, (name, kind, said[:200])
            path.write_text(text)
