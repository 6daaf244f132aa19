"""The HTTP side: a server on the loopback, with a ledger of its bills and an echo of its requests."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from experiments.fault_server.bad_answers import BadAnswer, FaultCall, refused, streamed
from experiments.fault_server.bots import Shops, bot_reply, single_call
from experiments.fault_server.fault_list import FAULTS, Chooser, FaultPlan, answer

_KEPT_REQUESTS, _KEPT_BYTES = 1000, 16 * 2**20
_NUM_BLANKS = 60
_BOT = {"id": "bot", "object": "model", "context_length": 131_072}


@dataclass(frozen=True)
class Bill:
    """One line of the server's ledger."""

    serial: int
    request_id: str
    model: str
    attempt: int
    fault: str | None
    status: int
    microusd: int


class _LatestRequests:
    """The latest requests, as many as fit; a thousand long conversations would fill the memory."""

    def __init__(self) -> None:
        self._rows: deque[tuple[dict[str, Any], int]] = deque()
        self._bytes = 0

    def add(self, request: dict[str, Any], size: int) -> None:
        self._rows.append((request, size))
        self._bytes += size
        while len(self._rows) > 1 and (len(self._rows) > _KEPT_REQUESTS or self._bytes > _KEPT_BYTES):
            self._bytes -= self._rows.popleft()[1]

    def shown(self) -> list[dict[str, Any]]:
        return [request for request, _ in self._rows]


class FaultServer:
    """A server that runs in threads of this process while the ``with`` block lasts.

    Parameters
    ----------
    plan
        Which faults it makes, ``None`` for none but those asked for by model name or script.
    key
        The only key it lets in; ``None`` for any or none.
    slow_s
        Seconds a slow answer takes.
    latency_s
        Seconds every answer takes.
    port
        0 for any free one.
    """

    def __init__(
        self,
        plan: FaultPlan | None = None,
        *,
        key: str | None = None,
        slow_s: float = 1.0,
        latency_s: float = 0.0,
        port: int = 0,
    ) -> None:
        self._chooser = Chooser(plan or FaultPlan())
        self._key = key
        self._slow_s, self._latency_s = slow_s, latency_s
        self._lock = threading.Lock()
        self._ledger: list[Bill] = []
        self._requests = _LatestRequests()
        self._shops = Shops()
        self._num_requests = self._in_flight = self._most_in_flight = 0
        self._http = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def origin(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """Base URL for clients."""
        return self.origin + "/v1"

    @property
    def ledger(self) -> list[Bill]:
        """Bills so far."""
        with self._lock:
            return list(self._ledger)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return the latest requests: ``headers`` in lower case, without the key, and ``body``."""
        with self._lock:
            return self._requests.shown()

    @property
    def stats(self) -> dict[str, int]:
        """Counts of requests, of most in flight at once, and the sum of all bills."""
        with self._lock:
            total = sum(bill.microusd for bill in self._ledger)
            return {"requests": self._num_requests, "most_in_flight": self._most_in_flight, "microusd": total}

    def script(self, names: Iterable[str]) -> None:
        """Set the faults of the next requests, one each; ``ok`` is none."""
        self._chooser.script(names)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def wait(self) -> None:
        """Block until the server stops."""
        self._thread.join()

    def respond(self, body: Any, headers: dict[str, str]) -> BadAnswer:
        """Return the answer to a chat completion request and enter its bill."""
        if self._key is not None and headers.get("authorization") != f"Bearer {self._key}":
            # Some vendors repeat the key they were given in the message.
            return refused(401, f"Incorrect API key provided: {headers.get('authorization', 'none')}")
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or "model" not in body:
            return refused(400, "the body must be an object with model and messages")
        try:
            fault, attempt = self._chooser.choose(body, headers)
        except ValueError as error:
            return refused(400, str(error))
        shown = {name: value for name, value in headers.items() if name != "authorization"}
        with self._lock:
            self._num_requests += 1
            serial = self._num_requests
            self._requests.add({"headers": shown, "body": body}, int(headers.get("content-length") or 0))
        request_id = headers.get("x-client-request-id", "")
        acting = self._shops.answer(body, request_id)
        text, calls = (bot_reply(body["messages"]), single_call(body.get("tools"))) if acting is None else acting
        key = headers.get("authorization", "").removeprefix("Bearer ")
        made = answer(FaultCall(body, text, serial, self._slow_s, calls, key), fault)
        if body.get("stream"):
            made = streamed(made)
        bill = Bill(serial, request_id, str(body["model"]), attempt, fault, made.status, made.microusd)
        with self._lock:
            self._ledger.append(bill)
        return made

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request as in flight, and take the usual time over it."""
        with self._lock:
            self._in_flight += 1
            self._most_in_flight = max(self._most_in_flight, self._in_flight)
        try:
            time.sleep(self._latency_s)
            yield
        finally:
            with self._lock:
                self._in_flight -= 1

    def page(self, path: str) -> Any:
        """Return what ``GET path`` shows, or ``None``."""
        pages: dict[str, Callable[[], Any]] = {
            "/ledger": lambda: {"microusd": self.stats["microusd"], "bills": [vars(bill) for bill in self.ledger]},
            "/requests": lambda: self.requests,
            "/stats": lambda: self.stats,
            "/faults": lambda: [{"name": fault.name, "group": fault.group} for fault in FAULTS.values()],
            "/v1/models": lambda: {"object": "list", "data": [_BOT]},
        }
        return pages[path]() if path in pages else None


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # the default of 5 resets connections of a busy client
    daemon_threads = True

    def __init__(self, address: tuple[str, int], owner: FaultServer) -> None:
        super().__init__(address, _Handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up, which they do all the time here."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        shown = self.server.owner.page(self.path)
        self._send(refused(404, f"no page {self.path}") if shown is None else BadAnswer(json.dumps(shown)))

    def do_POST(self) -> None:
        owner = self.server.owner
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(text)
        except ValueError:
            self._send(refused(400, "the body is not JSON"))
            return
        if self.path == "/script":
            self._script(body)
        elif self.path == "/v1/chat/completions":
            with owner.counted():
                self._send(owner.respond(body, {name.lower(): value for name, value in self.headers.items()}))
        else:
            self._send(refused(404, f"no page {self.path}"))

    def _script(self, names: Any) -> None:
        try:
            self.server.owner.script(names)
        except (TypeError, ValueError) as error:
            self._send(refused(400, str(error)))
        else:
            self._send(BadAnswer(json.dumps({"scripted": len(names)})))

    def _send(self, made: BadAnswer) -> None:
        data = made.body.encode("utf-8", "surrogatepass")
        blanks = b" " * _NUM_BLANKS if made.delivery == "blanks first" else b""
        lines = {
            "Content-Type": made.content_type,
            "Content-Length": str(len(blanks) + len(data)),
            **made.headers,
        }
        head = f"HTTP/1.1 {made.status} {HTTPStatus(made.status).phrase}\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in lines.items()
        )
        whole = head.encode() + b"\r\n" + data
        if made.delivery in ("half", "nothing"):
            self.close_connection = True
            whole = whole[: len(whole) - len(data) // 2] if made.delivery == "half" else b""
        if blanks:
            self.wfile.write(head.encode() + b"\r\n")
            for _ in blanks:
                time.sleep(made.delay_s / len(blanks))
                self.wfile.write(b" ")
            whole = data
        else:
            time.sleep(made.delay_s)
        self.wfile.write(whole)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet; the ledger tells more."""
