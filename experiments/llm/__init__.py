"""Language models behind one client: settings, retries, cost, cache and the log of every call.

::

    log = CallLog(run / "model_calls.jsonl")
    meter = Meter(ceiling_microusd=2_000_000, start=log.start)
    client = ChatClient(ModelSettings(model="vendor/model"), meter=meter, log=log)
    client.complete([{"role": "user", "content": "hello"}], call_id="greeting/1").text

One client, meter and log serve all threads of a process. Each process has its own log; a ceiling over several
processes has to be divided among their meters.
"""
