"""One llama.cpp engine in a process of its own: ``python -m pytest_gta.llm.local_engine``.

The first line of standard input is its settings, as JSON: ``model`` (path), ``api_key``, ``context`` (tokens). It
prints one line, ``{"port": ...}``, and serves until standard input ends, that is, as long as its parent lives.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Serve until the parent is gone."""
    settings = json.loads(sys.stdin.readline())
    # llama.cpp may write to standard output as well; the line for the parent goes out by a way of its own.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["api_key"]]
    params.n_ctx = settings["context"]
    # One request at a time: slots that share a core would each have to read the long common prompt for themselves.
    params.n_parallel = 1
    # One thread, asleep when idle: two wait for each other by spinning, and crawl whenever a core is busy otherwise.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1
        threads.poll = 0
    params.n_threads_http = 4
    params.cache_ram_mib = 256
    params.ui = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    answer.write(json.dumps({"port": int(server.listening_address.rpartition(":")[2])}) + "\n")
    answer.close()
    sys.stdin.read()
    # Not by the usual way: nothing is to be saved, and native threads may take their time.
    os._exit(0)


if __name__ == "__main__":
    main()
