"""Before a purchase nothing tells a fraudulent supplier from an honest one, except what the published rules give away.

A logistic regression sees everything an agent is told about a supplier before it buys: place in the search, the words
of name, address and messages, opening quotes and the answers to a first offer for three products. It learns on all
worlds but one and ranks the suppliers of each category of that one. Its area under the curve is taken within
categories, because how many suppliers of a category are fraudulent is public knowledge and the same in every world.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from commerce.config import FAIR, PAPER, Rules
from commerce.procurement import dialogue
from commerce.types import FloatArray
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import ok

pytestmark = pytest.mark.slow

SEEDS = tuple(range(101, 111))
T_QUANTILE = 2.262  # 0.975 of Student's t with nine degrees of freedom
NUM_PRODUCTS = 3
LOW_BID = 0.10  # of the reference: below every floor, so nothing is bought by accident
RIDGE = 20.0
#: What the fair rules set differently because the published value shows in a price.
TELLING = {"kernel_types": "drawn", "fraud_price_scale": "as_honest", "honest_floors": "as_fraudulent"}


class Seen(NamedTuple):
    """One supplier as an agent sees it, and, to learn and score with, whether it is fraudulent."""

    group: tuple[int, str]
    words: frozenset[str]
    numbers: tuple[float, ...]
    is_fraudulent: bool


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+", text.lower()))


@cache
def seen(rules: Rules, seed: int) -> tuple[Seen, ...]:
    """Every supplier of a world, each asked once what a message and a first offer bring."""
    world = generate_world(seed, rules)
    year = Year(world, rules)
    rows: list[Seen] = []
    for category in world.category_index:
        found = ok(year, "supplier_search", category=category)["results"]
        products = ok(year, "list_products", category=category, page_size=NUM_PRODUCTS)["results"]
        moves = [
            {"action": "offer", "sku_id": row["product_id"], "price": LOW_BID * row["reference_price"], "quantity": 1}
            for row in products
        ]
        emails = [row["supplier_email"] for row in found]
        talks = [
            {reply["supplier"]: reply for reply in told["replies"]}
            for actions in ([], moves[:1], moves[1:])
            for told in [ok(year, "chatbox", uids=emails, content="hello", actions=actions)]
        ]
        references = [row["reference_price"] for row in products]
        quotes = {email: quotes_of([talk[email] for talk in talks], references) for email in emails}
        centre = np.median([quotes[email] for email in emails], axis=0)
        for place, row in enumerate(found):
            email = row["supplier_email"]
            said = " ".join([row["supplier_name"], email, *(talk[email]["message"] for talk in talks)])
            numbers = numbers_of(np.array(quotes[email]), centre) | {"place": place / len(found), "length": len(said)}
            honest = world.suppliers[world.supplier_index[email]].is_honest
            rows.append(Seen((seed, category), frozenset(words_of(said)), tuple(numbers.values()), not honest))
    assert not year.state.purchases
    return tuple(rows)


def quotes_of(replies: list[dict[str, Any]], references: list[float]) -> list[tuple[float, float]]:
    """Opening as a share of the reference, and what a first low bid moved it by, for each product."""
    outcomes = [outcome for reply in replies for outcome in reply["outcomes"]]
    assert {outcome["decision"] for outcome in outcomes} == {"Offer"}
    return [
        (outcome["opening_price"] / reference, 1 - outcome["price"] / outcome["opening_price"])
        for outcome, reference in zip(outcomes, references, strict=True)
    ]


def numbers_of(quotes: FloatArray, centre: FloatArray) -> dict[str, float]:
    """Levels, spreads and extremes of the quotes of a supplier against those of its category."""
    found: dict[str, float] = {}
    for column, name in enumerate(("opening", "step")):
        excess = quotes[:, column] - centre[:, column]
        found |= {
            f"{name}_level": excess.mean(),
            f"{name}_spread": math.log(1e-4 + np.abs(excess).mean()),
            f"{name}_low": excess.min(),
            f"{name}_high": excess.max(),
        }
    return found | {"step_size": math.log(1e-4 + quotes[:, 1].mean()), "never_moves": float(np.mean(quotes[:, 1] == 0))}


def table(rows: list[Seen], *, prices: bool) -> FloatArray:
    """Features of each row; numbers also squared, so that a difference in spread counts."""
    column = {word: place for place, word in enumerate(sorted({word for row in rows for word in row.words}))}
    has_word = np.zeros((len(rows), len(column)))
    for place, row in enumerate(rows):
        has_word[place, [column[word] for word in row.words]] = 1.0
    if not prices:
        return has_word
    numbers = np.array([row.numbers for row in rows])
    numbers = np.clip((numbers - numbers.mean(axis=0)) / (numbers.std(axis=0) + 1e-12), -4, 4)
    return np.hstack([has_word, numbers, numbers**2])


def fitted(features: FloatArray, labels: FloatArray) -> FloatArray:
    """Weights of a logistic regression with an intercept and a ridge, by Newton's method."""
    x = np.hstack([features, np.ones((len(features), 1))])
    weights = np.zeros(x.shape[1])
    ridge = RIDGE * np.eye(x.shape[1])
    for _ in range(6):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - labels) + ridge @ weights
        weights -= np.linalg.solve((x.T * (p * (1 - p))) @ x + ridge, gradient)
    return weights[:-1]


def area(rows: list[Seen], scores: FloatArray) -> float:
    """How often a fraudulent supplier scores above an honest one of its category, ties counting half."""
    groups: dict[tuple[int, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row, score in zip(rows, scores.tolist(), strict=True):
        groups[row.group][row.is_fraudulent].append(score)
    wins = [
        (bad > good) + 0.5 * (bad == good) for honest, frauds in groups.values() for good in honest for bad in frauds
    ]
    return float(np.mean(wins))


def detection(rules: Rules, *, prices: bool = True) -> tuple[float, float]:
    """The 95 % interval of the area over held-out worlds."""
    rows = [row for seed in SEEDS for row in seen(rules, seed)]
    features, labels = table(rows, prices=prices), np.array([float(row.is_fraudulent) for row in rows])
    world = np.array([row.group[0] for row in rows])
    areas = []
    for seed in SEEDS:
        weights = fitted(features[world != seed], labels[world != seed])
        areas.append(area([row for row in rows if row.group[0] == seed], features[world == seed] @ weights))
    half = T_QUANTILE * float(np.std(areas, ddof=1)) / math.sqrt(len(areas))
    return float(np.mean(areas)) - half, float(np.mean(areas)) + half


def test_fair_gives_nothing_away():
    low, high = detection(FAIR)
    assert low <= 0.5 <= high
    assert high < 0.54


def test_words_give_nothing_away_in_paper():
    low, high = detection(PAPER, prices=False)
    assert low <= 0.5 <= high
    assert high < 0.54


def test_paper_gives_nothing_away_but_by_the_named_fields():
    low, high = detection(PAPER.model_copy(update=TELLING))
    assert low <= 0.5 <= high
    assert high < 0.54
    assert detection(PAPER)[0] > 0.9


@pytest.mark.parametrize("field", TELLING)
def test_each_named_field_tells_by_itself_at_its_published_value(field):
    others = {name: value for name, value in TELLING.items() if name != field}
    assert detection(PAPER.model_copy(update=others))[0] > 0.5


def test_a_planted_leak_is_found(monkeypatch):
    """If only the fraudulent made their pitches, their words would tell."""
    monkeypatch.setattr(dialogue, "guise", lambda world, supplier: world.suppliers[supplier].fraud)
    seen.cache_clear()
    try:
        assert detection(FAIR, prices=False)[0] > 0.6
    finally:
        seen.cache_clear()
