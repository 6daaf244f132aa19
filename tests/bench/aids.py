"""What ``remind`` and ``enforce`` are worth to merchants that listen and to one that does not, on the same worlds.

``python -m tests.bench.aids [WORLDS] [DAYS]``. The heeding merchant plays like another one, but where it is told a
better own earlier quote for what it is about to take, it first bids that price :data:`PATIENCE` times. Printed are the
gains in yuan with 95 % intervals over worlds, and the buys dearer than an own quote.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from commerce.merchants import build_merchant
from commerce.merchants.base import Call, Merchant
from commerce.metrics import year_metrics
from commerce.year import Result
from experiments.comparing.aided import aid_gains
from experiments.comparing.years import YearOutcomes, compare_years
from experiments.years.spec import YearSpec

PATIENCE = 2
ROWS = {"rule-based": ((), ("enforce",)), "first-quote": ((), ("enforce",)),
        "heeding-rule-based": ((), ("remind",), ("enforce",))}  # fmt: skip
"""Who plays with which aids; to a merchant that does not listen ``remind`` is nothing."""


@dataclass
class Heeding:
    """A merchant that bids its own best earlier quote before it takes a dearer one."""

    merchant: Merchant
    call: Call = field(init=False)
    told: dict[str, float] = field(default_factory=dict)

    def __call__(self, call: Call) -> None:
        """Play the year."""
        self.call = call
        self.merchant(self._heed)

    def _heed(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        moves = list(arguments.get("actions", ()))
        if tool != "chatbox" or len(arguments["uids"]) > 1 or any(move["action"] != "accept" for move in moves):
            return self._ask(tool, arguments)
        bought: list[Any] = []
        for _ in range(PATIENCE):
            dear = [move for move in moves if self.told.get(move["sku_id"], move["price"]) < move["price"]]
            if not dear:
                break
            bids = [{**move, "action": "offer", "price": self.told[move["sku_id"]]} for move in dear]
            answered = outcomes_of(self._ask(tool, {**arguments, "actions": bids}))
            answers = {row["sku_id"]: row for row in answered}
            bought += [row for row in answered if "order" in row]
            moves = [moved for move in moves if (moved := after(move, answers.get(move["sku_id"])))]
        last = self._ask(tool, {**arguments, "actions": moves}) if moves else self.call("check_balance", {})
        if not bought or last.data is None:
            return last
        reply = {"supplier": arguments["uids"][0], "message": "", "outcomes": [*bought, *outcomes_of(last)]}
        return replace(last, data={"bank_balance": last.data["bank_balance"], "replies": [reply]})

    def _ask(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        result = self.call(tool, arguments)
        for outcome in outcomes_of(result):
            if "your_best_earlier_quote" in outcome:
                self.told[outcome["sku_id"]] = outcome["your_best_earlier_quote"]["price"]
        return result


def after(move: Mapping[str, Any], answer: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the accept that is left of ``move`` once its bid was answered."""
    if answer is None or answer["decision"] == "Error":
        return dict(move)
    return {**move, "price": answer["price"]} if answer["decision"] == "Offer" else None


def outcomes_of(result: Result) -> list[Mapping[str, Any]]:
    """Return every outcome of a message."""
    replies = (result.data or {}).get("replies", ())
    return [outcome for reply in replies for outcome in reply["outcomes"] if "sku_id" in outcome]


def main(num_worlds: int, num_days: int) -> None:
    """Play and print."""
    assets: dict[str, dict[str, list[float]]] = {}
    for who, steps in ROWS.items():
        name = who.removeprefix("heeding-")
        for aids in steps:
            row, dear = "+".join([who, *aids]), list[tuple[float, float]]()
            for seed in range(1, num_worlds + 1):
                year = YearSpec(world_seed=seed, rules="fair", num_days=num_days, aids=aids).build_year()
                merchant = build_merchant(name, year.setting.world, year.setting.rules, 0)
                (merchant if who == name else Heeding(merchant))(year.call)
                year.stop()
                found = year_metrics(year)
                assets.setdefault(row, {})[str(seed)] = [found["final_assets"].value or 0.0]
                dear.append((found["dearer_buys"].value or 0.0, found["dearer_paid"].value or 0.0))
            share, paid = (fmean(part) for part in zip(*dear, strict=True))
            mean = fmean(value for (value,) in assets[row].values())
            print(f"{row:30} assets {mean:12,.0f}  dearer buys {share:.3f}  dearer paid {paid:10,.0f}")  # noqa: T201
    for who in ROWS:
        part = {row: values for row, values in assets.items() if row.partition("+")[0] == who}
        for gain in aid_gains(compare_years(YearOutcomes(part, {}), "final_assets")):
            print(gain.in_words())  # noqa: T201


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] or ("20", "365"))))
