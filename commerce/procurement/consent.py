"""When words agree to a membership fee, where the rules let words do so (``fee_consent="words"``).

The rule is fixed, so the same message is always read the same way. A message agrees if one of its sentences

* has a word of agreement: agree, accept, pay, join, enrol, "sign (me, us) up", consent, yes, fine, okay, deal,
  "go ahead";
* names the thing: fee, member, membership, programme;
* has no word that turns it round: no, not (and "n't"), never, cannot, refuse, decline, without, unless, if, before,
  whether, instead, avoid, rather; and
* is no question.

Sentences end at ".", "!", "?", ";" or a new line; a point within a number ends none. Case does not matter.
"""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d))+[.!?;\n]?")
_AGREES = re.compile(
    r"\b(?:agree[ds]?|accept(?:ed|s)?|pay|paying|join|joining|enrol(?:l)?|consent|yes|fine|ok|okay|deal|go ahead"
    r"|sign (?:me |us )?up)\b"
)
_NAMES_IT = re.compile(r"\b(?:fees?|members?|memberships?|programmes?|programs?)\b")
_TURNS_ROUND = re.compile(
    r"\b(?:no|not|never|refuse[ds]?|decline[ds]?|without|unless|if|before|whether|instead|avoid|rather|cannot)\b|n['’]t\b"
)


def agrees_to_fee(text: str) -> bool:
    """Whether a message agrees to pay a membership fee.

    >>> agrees_to_fee("Fine, we will pay the membership fee of 1000.00 yuan.")
    True
    >>> agrees_to_fee("We will not pay a fee. Yes to 12.50 a unit.")
    False
    """
    return any(_is_consent(match[0]) for match in _SENTENCE.finditer(text.lower()))


def _is_consent(sentence: str) -> bool:
    if sentence.endswith("?") or _TURNS_ROUND.search(sentence):
        return False
    return bool(_AGREES.search(sentence) and _NAMES_IT.search(sentence))
