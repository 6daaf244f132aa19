"""A model's place in a year: what pins it, and sitting down in the folder of the year."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from commerce.procurement.spoken import SupplierVoice
from commerce.setting import Setting
from commerce.tools import tool_schemas
from experiments.engine.header import Header
from experiments.llm.calls import MODEL_CALLS, CallLog
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings
from experiments.players.seat import PACE
from experiments.storekeeper.keeper import Storekeeper
from experiments.storekeeper.memory import PriceGuard
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.storekeeper.turn_codec import tool_lines
from experiments.years.briefing import make_opening
from experiments.years.limits import Limits
from experiments.years.seats import MerchantSeat, PlainSeat, YearSeat
from experiments.years.sitting import CallGuard, YearSitting
from experiments.years.spec import YearSpec
from experiments.years.supplier_words import RecordedWords, SupplierNarrator
from experiments.years.taking_over import BRANCH, BranchPoint, BranchSeat
from experiments.years.transcript import Opening
from terms.strict_json import strict_dumps


@dataclass(frozen=True)
class StorekeeperSeat(YearSeat):
    """A model that is to run years.

    Parameters
    ----------
    base_name
        Name in reports; settings that depart from ``baseline`` add their suffix.
    model
        How it is asked.
    storekeeper
        Its context and memory.
    client
        The connection that all its years share; ``None`` for checking only.
    baseline
        The settings that carry the plain name.
    voice, speaker
        How the model that words the suppliers' answers is asked, if any does, and its connection.
    """

    base_name: str
    model: ModelSettings
    storekeeper: StorekeeperSettings = field(default_factory=StorekeeperSettings)
    client: ChatClient | None = None
    baseline: StorekeeperSettings = field(default_factory=StorekeeperSettings)
    voice: ModelSettings | None = None
    speaker: ChatClient | None = None

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other sitters
        """Name of its row."""
        spoken = f"+voice-{self.voice.model}" if self.voice else ""
        return self.base_name + spoken + self.storekeeper.suffix(self.baseline)

    @property
    def limits(self) -> Limits:  # type: ignore[override]  # a field of other seats
        """Limits of its years."""
        return self.storekeeper.limits

    @property
    def settings(self) -> dict[str, Any]:
        """Return what pins the agent beyond its name; money and pace may change when a year is taken up again."""
        return {
            "model": self.model.model_dump(mode="json", exclude=PACE),
            "storekeeper": self.storekeeper.model_dump(mode="json"),
            "base_name": self.base_name,
            "baseline": self.baseline.model_dump(mode="json"),
            **({"voice": self.voice.model_dump(mode="json", exclude=PACE)} if self.voice else {}),
        }

    def opening(self, setting: Setting) -> Opening:
        """Return the rules, the tools, and what is said about the context and about calling tools in text."""
        chosen, is_json = self.storekeeper, self.storekeeper.tool_mode == "json"
        budget = chosen.budget(self.model.max_output_tokens)
        context = {
            "tokens": chosen.context_tokens,
            "evict_at": budget.at,
            "evict_to": budget.to,
            "is_plain": chosen.memory is Memory.PLAIN,
            **chosen.model_dump(include={"keep_groups", "reflect_days", "keep_reflections"}),
            "memory": chosen.memory.value,
            "price_limit_pct": chosen.price_limit_pct,
        }
        extra = {"context": context, "tools_as_json": tool_lines(tool_schemas()) if is_json else None}
        return make_opening(self.name, setting, self.limits, extra)

    def guard(self) -> CallGuard | None:
        """Return the guard of price limits, where they are enforced."""
        is_limited = self.storekeeper.memory is Memory.PRICE_LIMITS
        return PriceGuard(self.storekeeper.price_limit_pct) if is_limited else None

    @contextmanager
    def sit(self, folder: Path) -> Iterator[StorekeeperSeat]:
        """Open the call log of the year and yield the seat whose answers are taken from there first."""
        if self.client is None:
            raise TypeError(f"{self.name} has no client and cannot play")
        with CallLog(folder / MODEL_CALLS) as log:
            speaker = None if self.speaker is None else self.speaker.logged_in(log)
            yield replace(self, client=self.client.logged_in(log), speaker=speaker)

    def supplier_voice(self, folder: Path, header: Header[YearSpec], *, is_playing: bool) -> SupplierVoice | None:
        """Return who words the suppliers' answers: a model while the year is played, else what it said then."""
        if self.voice is None:
            return None
        if not is_playing:
            return RecordedWords(folder)
        if self.speaker is None:
            raise TypeError(f"{self.name} has nobody to speak for the suppliers and cannot play")
        return SupplierNarrator(folder, self.speaker, year_key(header))

    def start(self, header: Header[YearSpec]) -> Storekeeper:
        """Return the agent of a year."""
        return self._keeper(header, self.client)

    def stop(self) -> None:
        """Let every year end at its next call."""
        for client in (self.client, self.speaker):
            if client is not None:
                client.stop()

    def check(self, session: YearSitting, header: Header[YearSpec]) -> None:
        """Make sure that every request of the past would be sent again as it was."""
        self._keeper(header, None).check(session)

    def _keeper(self, header: Header[YearSpec], client: ChatClient | None) -> Storekeeper:
        return Storekeeper(
            client=client,
            name=self.name,
            seed=year_key(header),
            settings=self.storekeeper,
            max_output_tokens=self.model.max_output_tokens,
            prices=self.model.prices,
        )


def year_key(header: Header[YearSpec]) -> int:
    """Return the number that names the calls of a year: years that differ in anything have different ones."""
    what = {"agent": header.agent, "settings": header.settings, "spec": header.spec.model_dump(mode="json")}
    return int(sha256(strict_dumps(what).encode()).hexdigest()[:16], 16)


def year_seat_of(header: Header[YearSpec]) -> YearSeat:
    """Return the seat of a stored year's agent, without a connection: good for checking only."""
    stored = header.settings
    if BRANCH in stored:
        point = BranchPoint.model_validate(stored[BRANCH])
        own = {name: value for name, value in stored.items() if name != BRANCH}
        return BranchSeat(year_seat_of(header.model_copy(update={"agent": point.successor, "settings": own})), point)
    if not stored:
        return MerchantSeat(header.agent)
    if "storekeeper" not in stored:
        return PlainSeat(header.agent, limits=Limits.model_validate(stored.get("limits", {})))
    try:
        return StorekeeperSeat(
            base_name=stored["base_name"],
            model=ModelSettings.model_validate(stored["model"]),
            storekeeper=StorekeeperSettings.model_validate(stored["storekeeper"]),
            baseline=StorekeeperSettings.model_validate(stored["baseline"]),
            voice=ModelSettings.model_validate(stored["voice"]) if "voice" in stored else None,
        )
    except KeyError as error:
        raise ValueError(f"settings of {header.agent!r} have no {error}") from error
