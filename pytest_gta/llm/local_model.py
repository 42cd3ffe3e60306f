"""The bundled small model, ``--gta-model=local``: no key, no network after the first use, and no judge of anything.

It shows that the whole road works. Its scores say nothing of how good an agent or a judge is.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.local_weights import LocalModelUnavailable, find_weights
from pytest_gta.llm.redaction import one_line

MODEL = "local"
CONTEXT_TOKENS = 4096

_START_S = 120.0
_MOST_ENGINES = 4


class LocalModelServer:
    """One server for all processes of a run, in processes of its own, on loopback.

    Whoever starts it keeps it: it ends with `stop`, and by itself when the starter dies in whatever way. The endpoint
    may be handed to other processes by its `base_url` alone, which holds the key: show only its `shown_url`.

    Args:
        log: File for what llama.cpp has to say; nowhere by default.
        engines: Requests answered at the same time, one core each; by default one a core, at most four.
        weights_folder: Where the weights are kept; the user's cache by default.
        on_progress: Told in one line before something takes long.
    """

    def __init__(
        self,
        *,
        log: Path | None = None,
        engines: int | None = None,
        weights_folder: Path | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self.engines = engines or min(_MOST_ENGINES, len(os.sched_getaffinity(0)))
        self._log = log
        self._weights_folder = weights_folder
        self._on_progress = on_progress
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None

    def start(self) -> Endpoint:
        """Start the server, fetching the weights first where they are missing, and return where it is.

        Raises:
            LocalModelUnavailable: When the bindings or the weights are missing, or the server does not come up.
        """
        if self._endpoint is not None:
            return self._endpoint
        if importlib.util.find_spec("xllamacpp") is None:
            raise LocalModelUnavailable("the local model needs xllamacpp: pip install 'pytest-gta[local]'")
        weights = find_weights(self._weights_folder, on_progress=self._on_progress)
        key = secrets.token_hex(16)
        port = self._launch({"model": str(weights), "api_key": key, "context": CONTEXT_TOKENS, "engines": self.engines})
        # The key is in the address as well, so that the address alone can be handed to another process.
        self._endpoint = Endpoint(MODEL, f"http://127.0.0.1:{port}/v1?key={key}", key, native_tools=False)
        return self._endpoint

    def stop(self) -> None:
        """End the server; does nothing when it does not run."""
        process, self._process, self._endpoint = self._process, None, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def __enter__(self) -> Endpoint:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self, settings: dict[str, str | int]) -> int:
        log = self._log.open("wb") if self._log is not None else None
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest_gta.llm.local_server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log or subprocess.DEVNULL,
                text=True,
                # Ctrl-C is for the starter, who then stops the server.
                start_new_session=True,
            )
        finally:
            if log is not None:
                log.close()
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        answer: dict[str, str | int] = {}
        try:
            # Not as an argument or a variable, which others on the machine could read.
            process.stdin.write(json.dumps(settings) + "\n")
            process.stdin.flush()
            ready = wait([process.stdout.fileno()], _START_S)
            answer = json.loads(process.stdout.readline() or "{}") if ready else {}
        except (OSError, ValueError):
            answer = {}
        except BaseException:
            self.stop()
            raise
        if "port" not in answer:
            self.stop()
            raise LocalModelUnavailable(f"the local model did not start: {answer.get('error') or self._last_words()}")
        return int(answer["port"])

    def _last_words(self) -> str:
        if self._log is None:
            return "its process ended; give it a log file to learn why"
        lines = self._log.read_text("utf-8", "replace").strip().splitlines()
        return f"{one_line(lines[-1], 200) if lines else 'no message'} (see {self._log})"
