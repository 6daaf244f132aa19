"""What a folder of sessions holds: an agent, the laws of its chains, the rules of its money, and their hash."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field

from commerce.bankroll import BankrollConfig
from commerce.economics import SESSION_ECONOMICS, ChainConfig, EconomicsConfig, build_chain, unit_economics
from experiments.episodes.config import code_versions
from experiments.storage.journal import strict_dumps
from terms import Scenario
from terms.config import Frozen

FORMAT = 1
#: The digest covers this many sessions; the rest come from the same code and the same seed.
DIGEST_SESSIONS = 4


class Arm(StrEnum):
    """How the agent met the chain: with what happened before, or as if each period were the first."""

    MEMORY = "memory"
    MEMORYLESS = "memoryless"


class SessionsSpec(Frozen):
    """Chains, money and arms. The same spec gives the same sessions in any process."""

    chain: ChainConfig = ChainConfig()
    bankroll: BankrollConfig = BankrollConfig()
    economics: EconomicsConfig = SESSION_ECONOMICS
    with_memoryless: bool = Field(False, description="also replay every session without memory")

    @property
    def label(self) -> str:
        """Short name for tables and folders."""
        rules = self.bankroll
        return f"{rules.supplier_mode}-{self.chain.perspective}-{self.chain.seed}-{rules.num_sessions}x{rules.horizon}"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms to play."""
        return tuple(Arm) if self.with_memoryless else (Arm.MEMORY,)

    def digest(self) -> str:
        """Return a hash of what is drawn in the first sessions, so that a changed world cannot pass for the same."""
        facts = hashlib.sha256()
        for session in range(min(DIGEST_SESSIONS, self.bankroll.num_sessions)):
            chain = build_chain(session, self.chain, self.bankroll)
            for supplier, scenario in zip(chain.who, chain.scenarios, strict=True):
                economics = unit_economics(scenario, self.economics).model_dump(mode="json")
                facts.update(strict_dumps([supplier.number, _drawn(scenario), economics]).encode())
        return facts.hexdigest()


def _drawn(scenario: Scenario) -> dict[str, Any]:
    names = ("scenario_id", "regime", "family", "opener", "harshness")
    drawn = {**{name: getattr(scenario, name) for name in names}, "luck": scenario.noise}
    return {**drawn, "agent": asdict(scenario.agent_type), "counterpart": asdict(scenario.counterpart_type)}


class SessionsHeader(Frozen):
    """The content of ``run.json``: written first, compared on resume, checked by ``verify``."""

    format: int = FORMAT
    mode: Literal["bankroll"] = "bankroll"
    agent: str
    agent_settings: dict[str, Any] = Field(default_factory=dict)
    spec: SessionsSpec
    digest: str
    versions: dict[str, str]
    salt: str = Field("", description="of the seeds that agents are handed; empty where anybody may know them")

    @classmethod
    def of(cls, agent: str, spec: SessionsSpec, agent_settings: dict[str, Any] | None = None, salt: str = "") -> Self:
        """Describe sessions of ``agent`` with the code that is installed now."""
        settings = json.loads(strict_dumps(agent_settings or {}))
        return cls(
            agent=agent, agent_settings=settings, spec=spec, digest=spec.digest(), versions=code_versions(), salt=salt
        )
