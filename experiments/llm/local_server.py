"""The process that serves the small local model: llama.cpp's own server, in-process, until its standard input closes.

``python -m experiments.llm.local_server MODEL.gguf [PORT]`` prints the address it listens at as its first line. The
parent holds the other end of standard input, so the server ends with its parent however that ends.
"""

from __future__ import annotations

import os
import sys

ALIAS = "smollm2-135m"
CONTEXT_TOKENS = 8192
CACHE_MIB = 128


def serve_model(model_path: str, port: int = 0) -> object:
    """Start the server and return it; it stops when the returned object goes.

    Parameters
    ----------
    model_path
        Weights in GGUF form.
    port
        0 takes a free one; the returned object's ``listening_address`` has it.
    """
    # Two spinning threads beside another busy process can hang for minutes; read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model_path
    params.model_alias = {ALIAS}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cache_ram_mib = CACHE_MIB  # the default keeps the state of past prompts until it fills gigabytes
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = 0
    params.ui = False
    server: object = xllamacpp.Server(params)
    return server


def main(arguments: list[str]) -> None:
    """Serve until standard input closes."""
    server = serve_model(arguments[0], int(arguments[1]) if len(arguments) > 1 else 0)
    sys.stdout.write(f"{server.listening_address}\n")  # type: ignore[attr-defined]  # the library has no types
    sys.stdout.flush()
    while sys.stdin.buffer.read(1024):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
