"""Catalogue files that people and machines spoil: one list, the same every time, for every loader of files.

Each is a name and bytes. None may end in a traceback: it is refused in one line that names it, or it loads and every
row that was left out is counted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import NamedTuple

HEADER = "name,category,reference_price,low_price,high_price,details\n"
ROWS = "Lamp,home,50,40,80,bright\n" + "".join(f"Desk {i},office,{150 + i},100,{300 + i},oak\n" for i in range(5))
GOOD = HEADER + ROWS
ITEMS = [{"name": f"Bed {i}", "category": "home", "reference_price": 500 + i, "low_price": 400, "high_price": 900}
         for i in range(4)]  # fmt: skip
NUM_SPOILED = 40


class HostileFile(NamedTuple):
    """What is wrong with it, its name, and its bytes."""

    kind: str
    name: str
    content: bytes


def hostile_files(seed: int = 0) -> list[HostileFile]:
    """Return the files, more than 200."""
    makers = (_encodings(), _characters(), _sizes(), _binaries(), _headers(), _prices(), _json(), _spoiled(seed))
    return [HostileFile(kind, f"{place:03d}{suffix}", content)
            for place, (kind, suffix, content) in enumerate(each for maker in makers for each in maker)]  # fmt: skip


Made = Iterator[tuple[str, str, bytes]]


def _encodings() -> Made:
    text = GOOD.replace("Lamp", "Écran €5 ₹ 日本")
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"):
        yield encoding, ".csv", text.encode(encoding, "replace")
        yield encoding, ".json", json.dumps(ITEMS).encode(encoding)
    for encoding in ("latin-1", "cp1252", "shift-jis", "gb18030", "koi8-r"):
        yield encoding, ".csv", text.encode(encoding, "replace")
    yield "half a letter", ".csv", text.encode()[:-1] + "€".encode()[:2]
    yield "overlong", ".csv", GOOD.encode() + b"\xc0\xaf,home,50,40,80,x\n"
    yield "odd UTF-16", ".csv", GOOD.encode("utf-16")[:-1]
    yield "two marks", ".csv", b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode()
    yield "surrogates as UTF-8", ".csv", GOOD.encode() + b"\xed\xa0\x80,home,50,40,80,x\n"


def _characters() -> Made:
    marks = "\0\x01\x07\x0b\x0c\x1a\x1b\x1c\x7f\x85\u200b\u200e\u202e\u2028\ufeff\ufffd\U0010ffff"
    for mark in marks:
        yield f"U+{ord(mark):04X} in a name", ".csv", GOOD.replace("Lamp", f"La{mark}mp").encode()
    for mark in "\0\x1a\u2028":
        yield f"U+{ord(mark):04X} in a header", ".csv", GOOD.replace("name", f"na{mark}me", 1).encode()
        yield f"U+{ord(mark):04X} in a price", ".csv", GOOD.replace("50", f"5{mark}0").encode()
    for end in ("\r", "\n\r", "\r\r\n", "\x0c", ""):
        yield f"lines end in {end!r}", ".csv", GOOD.replace("\n", end).encode()
    for quoted in ('"Lamp', 'La"mp', 'Lamp"', '"La""mp"', '"""', '"La\nmp"', "'Lamp", '"Lamp"x', "Lamp\\,"):
        yield f"quote {quoted!r}", ".csv", GOOD.replace("Lamp", quoted).encode()
    for formula in ("=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "[bold]Lamp[/y]", "<script>x</script>", "{{7*7}}"):
        yield f"name {formula}", ".csv", GOOD.replace("Lamp", formula).encode()
    yield "quote in the last row", ".csv", GOOD.encode() + b'"Bed,home,50,40,80,x'


def _sizes() -> Made:
    yield "nothing", ".csv", b""
    yield "nothing", ".json", b""
    yield "one mark", ".csv", b"\xef\xbb\xbf"
    yield "blank", ".csv", b" \n\t\n\r\n"
    yield "field of 131,073", ".csv", GOOD.encode() + b"x" * 131_073 + b",home,50,40,80,x\n"
    yield "field of a million with lines", ".csv", GOOD.encode() + b'"' + b"x\n" * 500_000 + b'",home,50,40,80,x\n'
    yield "an open quote over 20,000 rows", ".csv", GOOD.encode() + b'"' + b"Bed,home,50,40,80,x\n" * 20_000
    yield "20,000 columns", ".csv", b",".join(b"c%d" % i for i in range(20_000)) + b"\n1,2\n"
    yield "20,000 commas", ".csv", GOOD.encode() + b"," * 20_000 + b"\n"
    yield "20,000 empty lines", ".csv", GOOD.encode() + b"\n" * 20_000
    yield "a column name of 200,000", ".csv", b"x" * 200_000 + b",name\n1,2\n"
    yield "long words", ".csv", GOOD.replace("bright", "word " * 20_000).encode()
    yield "one item many times", ".csv", GOOD.encode() + b"Lamp,home,50,40,80,bright\n" * 2_000


def _binaries() -> Made:
    heads = {"png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "xlsx": b"PK\x03\x04\x14\0\x06\0\x08\0", "gz": b"\x1f\x8b\x08\0",
             "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "elf": b"\x7fELF\x02\x01\x01\0", "sqlite": b"SQLite format 3\0",
             "parquet": b"PAR1\x15\x04", "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "zeros": b"\0" * 4096}  # fmt: skip
    for kind, head in heads.items():
        for suffix in (".csv", ".json"):
            yield kind, suffix, head + random.Random(kind).randbytes(2000)


def _headers() -> Made:
    wrong = {
        "another file": "sku;qty\nA1;5\n",
        "a shop without list prices": "Handle,Title,Variant Price\nlamp,Lamp,50\n",
        "no header": ROWS,
        "header alone": HEADER,
        "header twice": HEADER + GOOD,
        "empty names": ",,,,,\n" + ROWS,
        "a name twice": GOOD.replace("details", "name", 1),
        "case and spaces": GOOD.replace("reference_price", " Reference Price ", 1),
        "in another language": GOOD.replace("name", "nom", 1).replace("low_price", "prix", 1),
        "a line in a name": '"na\nme",category\nLamp,home\n',
        "markup": "<html><body>404 Not Found</body></html>",
        "a separator line": "sep=;\n" + GOOD.replace(",", ";"),
        "pipes": GOOD.replace(",", "|"),
        "a comment": "# exported today\n" + GOOD,
        "text": "Dear customer,\nthe export failed.\n",
    }
    for kind, text in wrong.items():
        yield kind, ".csv", text.encode()


def _prices() -> Made:
    texts = ("", " ", "0", "-0", "-1", "1e400", "1e-400", "nan", "Infinity", "0x10", "1_000", "1.200", "1,2,3", "٣٤",
             "５０", "½", "fifty", "$", "50%", "50-60", "free", "1" * 5000, "9" * 400, "50\t", "=50", "None",
             "50 40 80")  # fmt: skip
    for text in texts:
        yield f"price {text[:20]!r}", ".csv", GOOD.replace("50", text, 1).encode()
    for value in (True, None, [50], {"a": 50}, 10**4000, 1e308, -5, "50", float("nan"), float("inf"), ""):
        yield (
            f"price {str(value)[:20]}",
            ".json",
            json.dumps([ITEMS[0], {**ITEMS[1], "reference_price": value}]).encode(),
        )


def _json() -> Made:
    good = json.dumps(ITEMS)
    texts = {
        "deep lists": "[" * 100_000, "deep objects": '{"a":' * 100_000, "closed deep": "[" * 5_000 + "]" * 5_000,
        "an object": json.dumps({"items": ITEMS}), "a number": "1", "a word": '"x"', "null": "null",
        "scalars": '[1, "a", null, true, [1]]', "no items": "[]", "empty objects": "[{}, {}]",
        "a comma too many": good[:-1] + ",]", "single quotes": good.replace('"', "'"), "two documents": good + good,
        "lines": "\n".join(map(json.dumps, ITEMS)), "a comment": "// x\n" + good, "a key twice": good.replace(
            '"category"', '"name"'), "no string": '[{"name": "L'
        , "5,000 digits": '[{"name": "L", "low_price": ' + "9" * 5000 + "}]", "a constant": good.replace("500", "NaN"),
        "a lone surrogate": good.replace("Bed 0", "\\ud800"), "a zero": good.replace("Bed 0", "\\u0000"),
        "a key of controls": good.replace("category", "\\u0001"), "a huge name": good.replace("Bed 0", "x" * 500_000),
        "a nested name": good.replace('"Bed 0"', '{"en": ["Bed"]}'), "not a number": good.replace("400", "--400"),
    }  # fmt: skip
    for kind, text in texts.items():
        yield kind, ".json", text.encode()


def _spoiled(seed: int) -> Made:
    """Good files cut short, or with a few bytes changed."""
    rng = random.Random(seed)
    for number in range(NUM_SPOILED):
        suffix, content = ((".csv", GOOD.encode()), (".json", json.dumps(ITEMS).encode()))[number % 2]
        if number % 4 < 2:
            yield "cut short", suffix, content[: rng.randrange(len(content))]
            continue
        spoiled = bytearray(content)
        for _ in range(rng.randint(1, 6)):
            spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
        yield "bytes changed", suffix, bytes(spoiled)
