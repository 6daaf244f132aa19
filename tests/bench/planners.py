"""What the players of a year end with: ``python -m tests.bench.planners RULES FIRST LAST FILE [NAME ...]``.

Plays the worlds FIRST to LAST with every player, all of them if none is named, appends a line a year to FILE, and
prints the table of what FILE holds of RULES: assets and luck-adjusted assets with their intervals, the least,
bankruptcies, mornings overdrawn, the bound over the assets, the seven dimensions with ranks, and the share of the
planner's assets that negotiation decides. Years that are in FILE are not played again, so a long table can be made in
pieces. ``planner-at-quotes`` is the planner that knows everything and takes the first quote of each talk.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commerce.config import Rules, rules_named
from commerce.merchants import play_year
from commerce.metrics import year_metrics
from commerce.world import generate_world
from commerce.year import Year
from experiments.comparing.dimensions import DIMENSION_HEADINGS, DIMENSIONS, dimension_rows, rank_dimensions
from oracle.store.bound import year_bound
from oracle.store.year_players import FULL_KNOWLEDGE_PLANNER, HONEST_PLANNER, build_year_player, full_knowledge_planner
from terms.estimates import Estimate, estimate_mean

AT_QUOTES = "planner-at-quotes"
PLAYERS = (
    "idle", "rule-based", "price-gouger", "listing-hoarder", "fraud-seeker", "first-quote",
    HONEST_PLANNER, FULL_KNOWLEDGE_PLANNER, AT_QUOTES,
)  # fmt: skip
_METRICS = ("luck_adjusted_assets", "is_bankrupt", *DIMENSIONS)


def played(name: str, rules: Rules, seed: int) -> dict[str, Any]:
    """Play one year and return its line."""
    world, start = generate_world(seed, rules), time.process_time()
    player = (
        full_knowledge_planner(world, rules, "first-quote")
        if name == AT_QUOTES
        else build_year_player(name, world, rules, seed)
    )
    year = play_year(Year(world, rules), player)
    seconds = time.process_time() - start
    metrics, bound = year_metrics(year), year_bound(world, rules)
    return {
        "rules": rules.name,
        "player": name,
        "world": seed,
        "bound": bound.upper,
        "overdrawn": year.state.totals.overdrawn_mornings,
        "seconds": round(seconds, 2),
        **{name: metrics[name].value for name in _METRICS},
    }


def main(rules: Rules, seeds: range, file: Path, names: list[str]) -> None:
    """Play what is lacking, then print the table."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    have = {(line["rules"], line["player"], line["world"]) for line in lines}
    with file.open("a") as out:
        for seed in seeds:
            for name in names:
                if (rules.name, name, seed) not in have:
                    lines.append(played(name, rules, seed))
                    out.write(json.dumps(lines[-1]) + "\n")
                    out.flush()
    for text in _table([line for line in lines if line["rules"] == rules.name]):
        sys.stdout.write(text + "\n")


def _table(lines: list[dict[str, Any]]) -> Iterator[str]:
    by_player = {name: [line for line in lines if line["player"] == name] for name in PLAYERS}
    by_player = {name: rows for name, rows in by_player.items() if rows}
    for name, rows in by_player.items():
        assets, adjusted = (_mean(rows, metric) for metric in ("final_assets", "luck_adjusted_assets"))
        ratio = estimate_mean([row["bound"] / row["final_assets"] for row in rows if row["final_assets"] > 0])
        above = sum(row["luck_adjusted_assets"] > row["bound"] for row in rows)
        yield (
            f"{name:23} n {len(rows)}, assets {_text(assets)}, luck-adjusted {_text(adjusted)}, least "
            f"{min(row['final_assets'] for row in rows):,.0f}, {sum(row['is_bankrupt'] for row in rows):.0f} bankrupt, "
            f"{sum(row['overdrawn'] for row in rows)} overdrawn, bound over assets {_text(ratio, 2)}, {above} above, "
            f"{sum(row['seconds'] for row in rows) / len(rows):.1f} s"
        )
    bounds = {row["world"]: row["bound"] for row in lines}
    yield f"bound {_text(estimate_mean(list(bounds.values())))}, {len(bounds)} worlds"
    estimates = {name: {metric: _mean(rows, metric) for metric in DIMENSIONS} for name, rows in by_player.items()}
    for cells in (DIMENSION_HEADINGS, *dimension_rows(rank_dimensions(estimates))):
        yield " | ".join(cells)
    floors, quotes = (
        {row["world"]: row["final_assets"] for row in by_player.get(name, [])}
        for name in (FULL_KNOWLEDGE_PLANNER, AT_QUOTES)
    )
    if shares := [1 - quotes[world] / floors[world] for world in floors if world in quotes]:
        share = estimate_mean(shares)
        yield f"decided by negotiation: {_text(share, 3)}, {share.n} worlds"


def _mean(rows: list[dict[str, Any]], metric: str) -> Estimate:
    return estimate_mean([row[metric] for row in rows if row[metric] is not None])


def _text(found: Estimate, digits: int = 0) -> str:
    if found.estimate is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.estimate:,.{digits}f}"
    return f"{found.estimate:,.{digits}f} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


if __name__ == "__main__":
    main(
        rules_named(sys.argv[1]),
        range(int(sys.argv[2]), int(sys.argv[3]) + 1),
        Path(sys.argv[4]),
        sys.argv[5:] or list(PLAYERS),
    )
