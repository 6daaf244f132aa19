"""Letters against brute force: what two agents share is exactly what their own test says."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.families import letter_groups, letters_of

NAMES = tuple("pqrstuvw")


@st.composite
def differing(draw):
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    pairs = list(combinations(names, 2))
    return names, [pair for pair in pairs if draw(st.booleans())]


def cliques(names, differ):
    """Return the largest sets of agents none of which differ, by trying every set."""
    apart = {frozenset(pair) for pair in differ}
    sets = [
        frozenset(chosen)
        for size in range(1, len(names) + 1)
        for chosen in combinations(names, size)
        if not any(frozenset(pair) in apart for pair in combinations(chosen, 2))
    ]
    return {each for each in sets if not any(each < other for other in sets)}


@given(differing())
def test_two_agents_share_a_letter_exactly_if_they_do_not_differ(case):
    names, differ = case
    letters = letters_of(letter_groups(names, differ))
    assert set(letters) == set(names)
    for pair in combinations(names, 2):
        shared = set(letters[pair[0]].split()) & set(letters[pair[1]].split())
        assert bool(shared) == (pair not in differ)


@given(differing())
def test_no_letter_says_what_another_says(case):
    names, differ = case
    assert set(map(frozenset, letter_groups(names, differ))) == cliques(names, differ)


def test_piephos_problem_of_three_by_hand():
    """Best and worst differ, the middle differs from neither: a, a b, b. The tie to a leader alone would hide it."""
    groups = letter_groups(("top", "middle", "bottom"), [("bottom", "top")])
    assert groups == (("top", "middle"), ("middle", "bottom"))
    assert letters_of(groups) == {"top": "a", "middle": "a b", "bottom": "b"}


def test_after_z():
    assert letters_of([[str(n)] for n in range(28)])["27"] == "b1"
    assert letter_groups((), []) == ()
