"""A page on this machine that lists runs and years as they are played and opens each as its report.

``GET /`` is the list, ``/runs.json`` what it shows, ``/report?run=FOLDER`` (repeatable) the report as far as is played,
made again when a log has grown, and ``/live?run=FOLDER`` the report with a frame that loads it again. Only folders of
the list are read, only this machine is answered, and nothing is written but reports in a temporary folder.
"""

from __future__ import annotations

import html
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from experiments.viewing.shelf import UNREADABLE, ShelvedRun, list_runs
from terms.strict_json import strict_dumps

HOST, VIEW_PORT = "127.0.0.1", 8766
PAGES = Path(__file__).parent
"""Where the two pages are."""
_PLAIN, _HTML, _JSON = "text/plain", "text/html", "application/json"


class ViewError(ValueError):
    """A page cannot be shown, with the reason in words."""


class RunsPage:
    """What the page shows of the runs below ``roots``; reports are kept in ``folder``."""

    def __init__(self, roots: Sequence[Path], folder: Path) -> None:
        self._roots, self._folder = roots, folder
        self._building = threading.Lock()  # charts are drawn by one thread
        self._made: dict[tuple[str, ...], tuple[tuple[int, ...], bytes]] = {}

    def runs_json(self) -> bytes:
        """Return every run as JSON."""
        rows = [{**run._asdict(), "progress": run.progress} for run in list_runs(self._roots)]
        return strict_dumps(rows).encode()

    def report(self, names: Sequence[str]) -> bytes:
        """Return the report about the runs called ``names``, made again only where one of them has grown.

        Raises
        ------
        ViewError
            If one is not in the list, or there is nothing to report yet.
        """
        chosen = self._chosen(names)
        key, state = tuple(names), tuple(run.done for run in chosen)
        with self._building:
            if key not in self._made or self._made[key][0] != state:
                self._made[key] = state, self._build(chosen)
            return self._made[key][1]

    def _chosen(self, names: Sequence[str]) -> list[ShelvedRun]:
        known = {run.folder: run for run in list_runs(self._roots)}
        if not names or (missing := [name for name in names if name not in known]):
            raise ViewError(f"no such run: {', '.join(missing) if names else 'none is named'}")
        return [known[name] for name in names]

    def _build(self, runs: Sequence[ShelvedRun]) -> bytes:
        from experiments.report.any_runs import report_any

        if broken := [run for run in runs if run.state == UNREADABLE]:
            raise ViewError(broken[0].what)
        try:
            return report_any([Path(run.folder) for run in runs], self._folder / "report.html").read_bytes()
        except ValueError as error:
            raise ViewError(f"no report yet: {error}") from error


@contextmanager
def shown_page(roots: Sequence[Path], port: int = VIEW_PORT) -> Iterator[str]:
    """Serve the page on this machine while the context lasts and yield its address; a taken port gives way."""
    with tempfile.TemporaryDirectory(prefix="terms-view-") as folder:
        server = _listening(port)
        server.page = RunsPage(roots, Path(folder))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _listening(port: int) -> _Server:
    try:
        return _Server((HOST, port), _Handler)
    except OSError:
        return _Server((HOST, 0), _Handler)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: RunsPage


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        """Answer one request."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in (HOST, "localhost"):  # a page of somebody else's that was made to point here
            self._answer(HTTPStatus.FORBIDDEN, _PLAIN, b"only this machine is answered")
            return
        address = urlsplit(self.path)
        try:
            kind, body = self._page(address.path, parse_qs(address.query).get("run", []))
        except KeyError:
            self._answer(HTTPStatus.NOT_FOUND, _PLAIN, b"no such page")
        except ViewError as error:
            said = f"<!doctype html><meta charset=utf-8><title>terms view</title><p>{html.escape(str(error))}"
            self._answer(HTTPStatus.CONFLICT, _HTML, said.encode())
        else:
            self._answer(HTTPStatus.OK, kind, body)

    def _page(self, path: str, names: list[str]) -> tuple[str, bytes]:
        if path == "/runs.json":
            return _JSON, self.server.page.runs_json()
        if path == "/report":
            return _HTML, self.server.page.report(names)
        return _HTML, (PAGES / {"/": "runs.html", "/live": "live.html"}[path]).read_bytes()

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""
