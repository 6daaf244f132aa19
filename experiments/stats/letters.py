"""Letters beside agents: two share one exactly if their own test does not tell them apart.

Built by inserting one different pair after the other and absorbing what another letter already says (Piepho 2004,
Journal of Computational and Graphical Statistics 13, 456-466). An agent may have several letters, because not being
told apart is not transitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letter_groups(ranked: Sequence[str], differ: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return the agents of each letter, in the order of ``ranked``; ``differ`` are the pairs told apart."""
    groups = [frozenset(ranked)] if ranked else []
    for first, second in differ:
        parted = [group - {name} for group in groups if {first, second} <= group for name in (first, second)]
        kept = [group for group in groups if not {first, second} <= group]
        for group in parted:
            if not any(group <= other for other in kept):
                kept = [other for other in kept if not other <= group] + [group]
        groups = kept
    places = {name: place for place, name in enumerate(ranked)}
    members = [tuple(sorted(group, key=places.__getitem__)) for group in groups]
    return tuple(sorted(members, key=lambda group: [places[name] for name in group]))


def letters_of(groups: Sequence[Sequence[str]]) -> Mapping[str, str]:
    """Return the letters of each agent, ``a`` for the first group; after ``z`` comes ``a1``."""
    found: dict[str, list[str]] = {}
    for place, group in enumerate(groups):
        turn, letter = divmod(place, len(_ALPHABET))
        for name in group:
            found.setdefault(name, []).append(_ALPHABET[letter] + (str(turn) if turn else ""))
    return {name: " ".join(letters) for name, letters in found.items()}
