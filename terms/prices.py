"""Reading a price as people write it. Anything that could be read in two ways is not a price.

Accepted are an optional currency sign or code on either side and one number, either plain or grouped in threes with one
kind of separator, with at most one decimal mark: ``$1,299.00``, ``1.299,00 EUR``, ``45,50``. ``1,2,3`` and ``4_500``
are refused.
"""

from __future__ import annotations

import math
import re

_CURRENCY = r"(?:[$€£¥]|[A-Z]{3}|dollars?|euros?)?"
_SPACE = r"[ \u00a0\u202f]*"
_PLAIN = r"(?:0|[1-9]\d*)(?:[.,]\d{1,2}|\.\d{4,})?"
_GROUPED = r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d{1,2})?|(?:\.\d{3})+,\d{1,2}|(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?)"
_PRICE = re.compile(f"{_CURRENCY}{_SPACE}({_GROUPED}|{_PLAIN}){_SPACE}{_CURRENCY}")


def parse_price(text: str) -> float | None:
    """Return the price written in ``text``, or ``None`` if it is not exactly one unambiguous price.

    A comma followed by three digits groups (``1,299``), as in the English-language data this project reads; a point
    followed by three digits (``1.299``) could group or divide, and a leading zero (``0,500``) fits neither: no price.
    """
    match = _PRICE.fullmatch(text.strip())
    if match is None or (not text.isascii() and any(char.isdigit() and not char.isascii() for char in text)):
        return None
    digits = re.sub(r"[ \u00a0\u202f]", "", match.group(1))
    price = _as_float(digits)
    return price if math.isfinite(price) else None


def _as_float(digits: str) -> float:
    if "," in digits and "." in digits:
        decimal = max(digits.rfind(","), digits.rfind("."))
        return float(re.sub(r"[.,]", "", digits[:decimal]) + "." + digits[decimal + 1 :])
    if "," in digits:
        head, _, tail = digits.rpartition(",")
        return float(digits.replace(",", "")) if len(tail) == 3 else float(f"{head}.{tail}")
    return float(digits)
