"""The description of the HTTP service for programs: ``python -m experiments.serving.openapi`` writes ``openapi.json``.

The file is what the running service says at ``/openapi.json``; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.extras import need
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.storage.files import write_atomically

need("serve", "fastapi")

from experiments.serving.http_app import build_app  # noqa: E402 - only after its absence was named

OPENAPI = Path(__file__).with_name("openapi.json")


def openapi_text() -> str:
    """Return the description as the file holds it."""
    return json.dumps(build_app(ServedYears(ServeSettings())).openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    write_atomically(OPENAPI, openapi_text().encode())
