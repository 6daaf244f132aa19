"""Agents that misbehave on command, at the top of a module so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from terms import Accept, Offer, Unusable
from terms.agents import build_scripted
from terms.types import ReplyFault, Role

PATIENT = build_scripted("patient")


@dataclass(frozen=True)
class Slow:
    """Plays like ``patient`` and rests before each move for as long as the environment says."""

    name: str = "slow"

    def act(self, observation):
        """Rest, then move."""
        time.sleep(float(os.environ.get("TEST_PAUSE", "0")))
        return PATIENT.act(observation)


@dataclass(frozen=True)
class ProviderDown:
    """Plays like ``patient``; while the file ``outage`` exists its provider fails whenever it sells."""

    outage: str
    name: str = "provider-down"

    def act(self, observation):
        """Fail as a seller, else move."""
        if observation.role is Role.SELLER and Path(self.outage).exists():
            return Unusable(ReplyFault.PROVIDER, "503 Service Unavailable")
        return PATIENT.act(observation)


class AlwaysDown:
    """Never reaches its provider."""

    name = "always-down"

    def act(self, observation):
        """Fail."""
        return Unusable(ReplyFault.PROVIDER, "connection refused")


class AwkwardError(Exception):
    """Can be pickled but not read back: its two arguments are not the one that it hands on."""

    def __init__(self, code, text):
        super().__init__(f"{code} {text}")


@dataclass(frozen=True)
class Raises:
    """Plays like ``patient`` until a talk with reservation price ``at`` reaches ``round``, then raises."""

    at: float
    round: int = 3
    awkward: bool = False
    name: str = "raises"

    def act(self, observation):
        """Move, or raise."""
        if observation.reservation_price == self.at and observation.round == self.round:
            raise AwkwardError(7, "no such key") if self.awkward else KeyError("no such key")
        return PATIENT.act(observation)


@dataclass(frozen=True)
class DiesOnce:
    """Kills its own process in the talk with reservation price ``at``, unless the file ``mark`` exists."""

    at: float
    mark: str
    name: str = "dies-once"

    def act(self, observation):
        """Move, or die."""
        if observation.reservation_price == self.at and not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return PATIENT.act(observation)


@dataclass(frozen=True)
class MeetsOthers:
    """Goes on from round 1 only when ``concurrency`` talks have got there at the same time."""

    concurrency: int = 4
    name: str = "meets-others"
    barrier: threading.Barrier = field(default_factory=lambda: threading.Barrier(4, timeout=20))

    def act(self, observation):
        """Wait for the others, then move."""
        if observation.round == 1:
            self.barrier.wait()
        return PATIENT.act(observation)


def accepts(observation):
    """Accept what stands, else offer the middle of the bounds: an agent that is a plain function."""
    return Accept() if observation.can_accept else Offer((observation.price_min + observation.price_max) / 2)


class NeedsArguments:
    """Cannot be made without arguments."""

    def __init__(self, model):
        self.model = model


NOT_AN_AGENT = 45
