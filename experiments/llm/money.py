r"""Amounts of money as people and models write them, read strictly: a doubtful amount is no amount.

An amount is a number in one of these forms, with an optional currency sign, code or word beside it:

====================  ===========================  ==========================
form                  example                      value
====================  ===========================  ==========================
plain                 ``45``, ``45.5``, ``4.5e1``  45, 45.5, 45
grouped by comma      ``1,200.51``                 1200.51
grouped by point      ``1.200,51``                 1200.51
grouped by space      ``1'200``, ``1\u00a0200,5``   1200, 1200.5
decimal comma         ``45,50``                    45.5
====================  ===========================  ==========================

Digits of every script count. Refused are a minus sign, a suffix (``45k``, ``45%``), wrong groups (``1,2,3``),
underscores, a value too large for a float, and ``1.200 EUR``, which is 1.2 to one reader and 1200 to another.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import NamedTuple

_SIGN = r"[$€£¥₹]"
_CODE = r"USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD"
_WORD = r"dollars?|euros?|pounds?|bucks"
_GROUP_SPACE = "\u00a0\u202f\u2009'’"
_AMOUNT = re.compile(
    rf"""(?P<minus>[-−]\s?)?
    (?P<before>(?:{_SIGN}|(?<![A-Za-z])(?:{_CODE}))[\s\u00a0]?)?
    (?P<inner>[-−+])?
    (?<!\d[.,_{_GROUP_SPACE}])(?(before)|(?<![A-Za-z\d_]))
    (?P<number>\d(?:[\d.,_{_GROUP_SPACE}]*\d)?(?:e[+-]?\d+)?)
    (?P<after>[\s\u00a0]?(?:{_SIGN}|(?:{_CODE}|{_WORD})(?![A-Za-z])))?
    (?P<rest>[A-Za-z%_]*)""",
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_COMMA_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_POINT_GROUPS = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_SPACE_GROUPS = re.compile(rf"[1-9]\d{{0,2}}(?:[{_GROUP_SPACE}]\d{{3}})+(?:[.,]\d{{1,2}})?")
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}|0,\d+")
_POINT_AND_THREE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_NOT_OWN = re.compile(r"\b(?:your|yours|from|not|was|were|than|instead)\b[^.;,:!?\n]*$", re.IGNORECASE)
_CONTEXT = 80


class Amount(NamedTuple):
    """An amount at ``text[start:end]``; ``value`` is ``None`` where it cannot be read without guessing."""

    value: float | None
    start: int
    end: int
    has_currency: bool


def find_amounts(text: str) -> list[Amount]:
    """Return every amount in ``text``, in order, also those that cannot be read."""
    return [_read_match(match) for match in _AMOUNT.finditer(_plain_digits(text))]


def read_amount(text: str) -> float | None:
    """Return the amount that ``text`` as a whole is, or ``None``."""
    trimmed = text.strip()
    match = _AMOUNT.fullmatch(_plain_digits(trimmed))
    return None if match is None else _read_match(match).value


def stated_price(text: str) -> float | None:
    """Return the one price the writer of ``text`` names as their own, or ``None`` where there is none or a doubt.

    Amounts with a currency go before bare numbers. An amount that its clause calls the other side's or past ("your",
    "from", "was", "not", "than") is passed over. This describes a message; it never becomes a move.
    """
    found = find_amounts(text)
    if any(amount.has_currency for amount in found):
        found = [amount for amount in found if amount.has_currency]
    own = [item.value for item in found if not _NOT_OWN.search(text[max(0, item.start - _CONTEXT) : item.start])]
    return own[0] if len(set(own)) == 1 else None


def _plain_digits(text: str) -> str:
    """Write every decimal digit and Arabic separator in ASCII; positions stay."""
    if text.isascii():
        return text
    return "".join(_plain_char(char) for char in text)


def _plain_char(char: str) -> str:
    if char == "\u066b":
        return "."
    if char == "\u066c":
        return ","
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def _read_match(match: re.Match[str]) -> Amount:
    has_currency = bool(match["before"] or match["after"])
    is_doubtful = match["minus"] or match["inner"] or match["rest"]
    value = None if is_doubtful else _read_number(match["number"], has_currency)
    return Amount(value, match.start(), match.end(), has_currency)


def _read_number(number: str, has_currency: bool) -> float | None:
    if has_currency and _POINT_AND_THREE.fullmatch(number):
        return None
    if _PLAIN.fullmatch(number):
        plain = number
    elif _COMMA_GROUPS.fullmatch(number):
        plain = number.replace(",", "")
    elif _POINT_GROUPS.fullmatch(number):
        plain = number.replace(".", "").replace(",", ".")
    elif _SPACE_GROUPS.fullmatch(number):
        plain = re.sub(f"[{_GROUP_SPACE}]", "", number).replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(number):
        plain = number.replace(",", ".")
    else:
        return None
    value = float(plain)
    return value if math.isfinite(value) else None
