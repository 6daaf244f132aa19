"""Two sessions of one OpenEnv server, as a trainer has them; steps are paid by exact turn rewards.

Needs the extra ``openenv``. In production: ``python -m experiments.adapters.openenv_server --port 8000``.
"""

import json
import socket
import threading
import time

import uvicorn
from openenv.core import GenericEnvClient

from experiments.adapters.openenv_server import make_app

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
server = uvicorn.Server(uvicorn.Config(make_app(), port=port, log_level="critical"))
thread = threading.Thread(target=server.run, daemon=True)
thread.start()
while not server.started:
    time.sleep(0.05)

address = f"http://127.0.0.1:{port}"
with GenericEnvClient(base_url=address).sync() as one, GenericEnvClient(base_url=address).sync() as other:
    first, second = (env.reset(seed=7, regimes=["overlap"]).observation for env in (one, other))
    assert first == second  # the same seed is the same episode: a group
    for env, decision, price in ((one, "Reject", None), (other, "Offer", 50.0)):
        result = env.step({"reply": json.dumps({"decision": decision, "price": price, "message": "My answer."})})
        print(f"{decision} paid {result.reward:+.3f}, done {result.done}, {result.observation['ending']}")
server.should_exit = True
thread.join()
