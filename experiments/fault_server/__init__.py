"""A local OpenAI-compatible server that misbehaves on command, for testing anything that talks to a model.

Start it, and point any client at the address it prints::

    python -m experiments.fault_server --port 0 --rate transport=0.05 --rate fenced=0.02 --seed 7
    # http://127.0.0.1:43117/v1

Which fault a request meets is decided, in this order, by

1. the model's name: ``bot/fault:rate_limit_seconds`` always, ``bot/fault:html@2`` for the first two tries;
2. a script: ``POST /script`` with a JSON list of names, one for each coming request, ``ok`` for none;
3. the plan: ``--rate NAME=P`` for a fault or a group (``transport``, ``reply``, ``calls``, ``metering``,
   ``rejection``, ``own``, ``fatal``). The draw depends on the seed, the messages and the number of the try, so the
   same run meets the same faults in any order and with any number of threads. The try is read from
   ``X-Client-Request-Id: anything#N``, else from the OpenAI SDK's own retry count, else it is how often the same
   messages came before.

Without a fault it answers as a simple bargaining bot: it finds the latest observation in the user messages and replies
with one JSON object (``decision``, ``price``, ``message``, ``belief``). Other prompts get ``pong``. A model called
``shop/MERCHANT/DAYS`` runs a store year by tool calls, as that built-in merchant would.

Pages: ``GET /faults`` the catalogue, ``/ledger`` what was billed for each request in micro-dollars (also for answers
that were lost on the way), ``/requests`` the latest requests as they arrived, without the key, ``/stats`` counts.

In a test, without a process of its own::

    with FaultServer(FaultPlan({"transport": 0.01}, seed=7)) as server:
        client = openai.OpenAI(base_url=server.url, api_key="any")
"""

from experiments.fault_server.fault_http import FaultServer
from experiments.fault_server.fault_list import FaultPlan

__all__ = ["FaultPlan", "FaultServer"]
