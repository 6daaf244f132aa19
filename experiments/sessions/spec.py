"""What sessions are played: the laws of their chains, the rules of their money, the arms."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from commerce.bankroll import BankrollConfig
from commerce.economics import SESSION_ECONOMICS, ChainConfig, EconomicsConfig, build_chain, unit_economics
from experiments.engine.header import Recipe
from terms import Scenario
from terms.config import Frozen
from terms.strict_json import strict_dumps

CHAINS = "chains"
"""Name of the digest in a header: of what is drawn in the first sessions."""
#: The digest covers this many sessions; the rest come from the same code and the same seed.
DIGEST_SESSIONS = 4


class Arm(StrEnum):
    """How the agent met the chain: with what happened before, or as if each period were the first."""

    MEMORY = "memory"
    MEMORYLESS = "memoryless"


class SessionsSpec(Frozen, Recipe):
    """Chains, money and arms. The same spec gives the same sessions in any process."""

    pinned: ClassVar[str] = CHAINS

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
