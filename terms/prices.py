r"""The one reader of prices as people and models write them: in catalogues, replies, messages and at the keyboard.

Read strictly: what could be read in two ways is no price. A price is a number in one of these forms, with an optional
currency sign, code or word beside it:

====================  ===========================  ==============
form                  example                      value
====================  ===========================  ==============
plain                 ``45``, ``45.5``, ``4.5e1``  45, 45.5, 45
grouped by comma      ``1,200.51``                 1200.51
grouped as in India   ``1,09,900``                 109900
grouped by point      ``1.200,51``, ``1.200.000``  1200.51, 1.2e6
grouped by space      ``1'200``, ``1 200,5``       1200, 1200.5
decimal comma         ``45,50``, ``0,375``         45.5, 0.375
====================  ===========================  ==============

Digits of every script count. A comma before three digits groups (``1,299``), as in the English-language data this
project reads; a point before three digits (``1.200``) groups for one writer and divides for another, so it is no price.
Refused are a minus sign, a suffix (``45k``, ``45%``, ``45¢``), wrong groups (``1,2,3``), a leading zero (``012``),
underscores and a value too large for a float.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import NamedTuple

_SIGN = r"(?:(?<![A-Za-z])(?:US|CA|C|AU|A|NZ|HK|R|S)\$|[$£¥฿元円₠-₿])"
_CODE = (
    r"(?:(?i:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)|AED|ARS|BDT|BGN|BRL|CLP|COP|CZK|DKK|EGP|HKD|HUF|IDR|ILS|ISK|KES|KRW|LKR"
    r"|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|VND|ZAR|Rs\.?)"
)
_WORD = r"(?i:dollars?|euros?|pounds?|rupees?|bucks)"
_SPACES = "\u00a0\u202f\u2009'’"
_PRICE = re.compile(
    rf"""(?P<minus>[-−]\s?)?
    (?P<before>(?:{_SIGN}|(?<![A-Za-z]){_CODE})[\s\u00a0]?)?
    (?P<inner>[-−+])?
    (?<!\d[.,_{_SPACES}])(?(before)|(?<![A-Za-z\d_]))
    (?P<number>\d(?:[\d.,_{_SPACES}]*\d)?(?:[eE][+-]?\d+)?)
    (?P<after>[\s\u00a0]?(?:{_SIGN}|(?:{_CODE}|{_WORD})(?![A-Za-z])))?
    (?P<rest>[A-Za-z%_¢]*(?:\s(?i:cents?|percent)\b)?)""",
    re.VERBOSE,
)
_WHOLE = r"(?:0|[1-9]\d*)"
_PLAIN = re.compile(rf"{_WHOLE}(?:\.\d+)?(?:[eE][+-]?\d+)?")
_COMMA_GROUPS = re.compile(r"[1-9](?:\d{0,2}(?:,\d{3})+|\d?(?:,\d{2})+,\d{3})(?:\.\d+)?")
_POINT_GROUPS = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_SPACE_GROUPS = re.compile(rf"[1-9]\d{{0,2}}(?:[{_SPACES}]\d{{3}})+(?:[.,]\d{{1,2}})?")
_DECIMAL_COMMA = re.compile(rf"{_WHOLE},\d{{1,2}}|0,\d+")
_POINT_AND_THREE = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_GROUP_OF_THREE = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_NOT_OWN = re.compile(r"\b(?:your|yours|from|not|was|were|than|instead)\b[^.;,:!?\n]*$", re.IGNORECASE)
_CONTEXT = 80


class PriceFound(NamedTuple):
    """A price at ``text[start:end]``; ``value`` is ``None`` where it cannot be read without guessing."""

    value: float | None
    start: int
    end: int
    has_currency: bool


def find_prices(text: str) -> list[PriceFound]:
    """Return every price in ``text``, in order, also those that cannot be read."""
    return [_read_match(match) for match in _PRICE.finditer(_plain_digits(text))]


def parse_price(text: str) -> float | None:
    """Return the price that ``text`` as a whole is, or ``None`` if it is not exactly one unambiguous price.

    Only here an ordinary space may group (``1 299,00``): in the middle of a sentence it parts two numbers.
    """
    match = _PRICE.fullmatch(_GROUP_OF_THREE.sub("\u00a0", _plain_digits(text.strip())))
    return None if match is None else _read_match(match).value


def stated_price(text: str) -> float | None:
    """Return the one price the writer of ``text`` names as their own, or ``None`` where there is none or a doubt.

    Prices with a currency go before bare numbers. One that its clause calls the other side's or past ("your", "from",
    "was", "not", "than") is passed over. This describes a message; it never becomes a move.
    """
    found = find_prices(text)
    if any(price.has_currency for price in found):
        found = [price for price in found if price.has_currency]
    own = [item.value for item in found if not _NOT_OWN.search(text[max(0, item.start - _CONTEXT) : item.start])]
    return own[0] if len(set(own)) == 1 else None


def _plain_digits(text: str) -> str:
    """Write every decimal digit, full-width form and Arabic separator in ASCII; positions stay."""
    if text.isascii():
        return text
    return "".join(_plain_char(char) for char in text)


def _plain_char(char: str) -> str:
    if char == "\u066b":
        return "."
    if char == "\u066c":
        return ","
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    return unicodedata.normalize("NFKC", char) if "\uff01" <= char <= "\uffe6" else char


def _read_match(match: re.Match[str]) -> PriceFound:
    has_currency = bool(match["before"] or match["after"])
    is_doubtful = match["minus"] or match["inner"] or match["rest"]
    value = None if is_doubtful else _read_number(match["number"])
    return PriceFound(value, match.start(), match.end(), has_currency)


def _read_number(number: str) -> float | None:
    if _POINT_AND_THREE.fullmatch(number):
        return None
    if _PLAIN.fullmatch(number):
        plain = number
    elif _COMMA_GROUPS.fullmatch(number):
        plain = number.replace(",", "")
    elif _POINT_GROUPS.fullmatch(number):
        plain = number.replace(".", "").replace(",", ".")
    elif _SPACE_GROUPS.fullmatch(number):
        plain = re.sub(f"[{_SPACES}]", "", number).replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(number):
        plain = number.replace(",", ".")
    else:
        return None
    value = float(plain)
    return value if math.isfinite(value) else None
