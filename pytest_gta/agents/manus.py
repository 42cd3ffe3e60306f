"""Manus by its task API (version 2), given as ``manus`` or ``manus:URL`` for a service that speaks the same.

    POST /v2/file.upload {"filename"}   -> {"ok", "file": {"id"}, "upload_url"}, then PUT the bytes there
    POST /v2/task.create                {"message": {"content": [text and files]}, "agent_profile"} -> {"ok", "task_id"}
    GET  /v2/task.listMessages          the newest first: `status_update`, `assistant_message` with `attachments`,
                                        `error_message`
    POST /v2/task.stop {"task_id"}      when the time is up

The key is sent to the service alone, never to the addresses of files that it names.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pytest_gta.agents import service
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.service import MAX_FILE_BYTES, TRIES, ServiceAgent, made_before
from pytest_gta.agents.whole_request import whole_request
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.http_request import HttpAnswer, fetch
from pytest_gta.llm.redaction import one_line, redact

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

MANUS_URL = "https://api.manus.ai"
KEY_VARIABLE = "MANUS_API_KEY"
MESSAGES = 100
"""Messages of a task that are read, the newest."""

NEW_S = 60.0
"""Seconds in which a task that was handed in may be unknown."""

_STATUSES = {"running": "running", "stopped": "finished", "waiting": "finished", "error": "failed"}
_NO_CREDIT = re.compile(r"\bcredits?\b|\bquota\b|\bbilling\b|\bpayment\b", re.IGNORECASE)


class ManusAgent(ServiceAgent):
    """Hands each task to Manus: inputs are uploaded, attachments of its messages are the deliverables.

    ``--gta-model`` is the agent profile. Deliverables go by their names alone; of one name the newest counts.

    Args:
        url: The service's address.
        label: What reports call it.
        limits: The task's budgets.
        environment: Tells the model, if any.
    """

    token_variable = KEY_VARIABLE
    create_path = "/v2/task.create"
    uses_our_tools = False

    def __init__(self, url: str, label: str, limits: Limits, *, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(url or MANUS_URL, label, limits, environment=environment)
        self._handed_in = 0.0

    def _authorization(self, token: str) -> dict[str, str]:
        return {"x-manus-api-key": token}

    def _hand_in(self, task: Brief, workspace: Workspace, served: dict[str, Any]) -> str:
        paths = [
            path for path in (*workspace.inputs, *made_before(task, workspace)) if (workspace.root / path).is_file()
        ]
        names = "\n".join(f"- {PurePosixPath(path).name} (the request calls it {path})" for path in paths)
        text = whole_request(task) + (f"\n\nThe attached files:\n{names}" if paths else "")
        text += "\n\nAttach every file that you deliver to your last message, under the name that the request asks for."
        content: list[dict[str, str]] = [{"type": "text", "text": text}]
        content += [{"type": "file", "file_id": self._upload(workspace, path)} for path in paths]
        body = {"message": {"content": content}, "interactive_mode": False, "hide_in_task_list": True}
        body |= {"agent_profile": self._model} if self._model else {}
        answer = self._done(self._send(self.create_path, json.dumps(body).encode()), "the new task")
        self._handed_in = time.monotonic()
        return self._named(answer, "task_id", "the new task")

    def _upload(self, workspace: Workspace, path: str) -> str:
        asked = json.dumps({"filename": PurePosixPath(path).name}).encode()
        answer = self._done(self._send("/v2/file.upload", asked), f"the upload of {path}")
        file = answer.get("file")
        number = self._named(file if isinstance(file, dict) else {}, "id", f"the upload of {path}")
        where = self._named(answer, "upload_url", f"the upload of {path}")
        data = (workspace.root / path).read_bytes()
        what = f"does not take the input {path}"
        self._at(where, what, data=data, method="PUT", most_bytes=service.MAX_STATUS_BYTES)
        return number

    def _status(self, number: str) -> dict[str, Any]:
        asked = urlencode({"task_id": number, "order": "desc", "limit": MESSAGES})
        try:
            answer = self._done(self._send(f"/v2/task.listMessages?{asked}"), f"task {number}")
        except AgentUnavailable as fault:
            # A new task may not be known yet where messages are kept.
            if "it answers 404" in str(fault) and time.monotonic() < self._handed_in + NEW_S:
                return {"status": "running"}
            raise
        listed = answer.get("messages")
        if not isinstance(listed, list):
            raise AgentUnavailable(f"{self._url} does not speak the protocol: `messages` is not a list")
        messages = [message for message in listed if isinstance(message, dict)]
        told = next((_part(m, "status_update") for m in messages if m.get("type") == "status_update"), {})
        state = told.get("agent_status", "running")
        if state not in _STATUSES:
            raise AgentUnavailable(
                f"{self._url} does not speak the protocol: `agent_status` is {json.dumps(state)[:40]}"
            )
        said = [_part(m, "assistant_message") for m in messages if m.get("type") == "assistant_message"]
        faults = [_part(m, "error_message") for m in messages if m.get("type") == "error_message"]
        error = _text(faults[0].get("content")) if faults else ""
        files = _attachments(said)
        if state == "error" and not files and _NO_CREDIT.search(error):
            raise AgentUnavailable(f"{self._url} does not serve: {one_line(redact(error), 200)}")
        answers = (text for message in said if (text := _text(message.get("content"))))
        return {"status": _STATUSES[state], "final_answer": next(answers, ""), "files": files, "error": error}

    def _cancel(self, number: str) -> None:
        self._send("/v2/task.stop", json.dumps({"task_id": number}).encode(), tries=1)

    def _send_for(self, number: str, entry: Any, path: str) -> HttpAnswer:
        what = f"does not hand over {path[:200]}"
        return self._at(entry["url"], what, most_bytes=MAX_FILE_BYTES, redirects=True)

    def _at(self, url: str, what: str, **how: Any) -> HttpAnswer:
        """Ask where a file lies: at another address, signed and often redirected. Nothing of the key goes there."""
        wrong = ""
        for attempt in range(TRIES):
            if attempt:
                self._stopped.wait(0.5 * attempt)
            try:
                answer = fetch(url, timeout_s=10 * service.REQUEST_S, **how)
            except (OSError, ValueError) as error:
                wrong = one_line(redact(str(error)), 200)
                continue
            if 200 <= answer.status < 300:
                return answer
            wrong = f"it answers {answer.status}"
        raise AgentUnavailable(f"{self._url} {what}: {wrong}")

    def _done(self, answer: HttpAnswer, what: str) -> dict[str, Any]:
        """Return what was answered, when it is no refusal."""
        value = self._object(answer, what)
        if value.get("ok") is False:
            error = value.get("error")
            said = error if isinstance(error, dict) else {"message": error}
            words = ": ".join(str(said[name]) for name in ("code", "message") if said.get(name))
            raise AgentUnavailable(
                f"{self._url} refuses {what}: {one_line(redact(words or 'it does not say why'), 200)}"
            )
        return value

    def _named(self, value: Mapping[str, Any], name: str, what: str) -> str:
        found = value.get(name)
        if not isinstance(found, str) or not found.strip():
            raise AgentUnavailable(f"{self._url} does not speak the protocol: {what} has no `{name}`")
        return found


def _part(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = message.get(name)
    return part if isinstance(part, dict) else {}


def _text(content: Any) -> str:
    """Return a message's words, which come as text or as a list of parts."""
    if isinstance(content, list):
        return "\n".join(_text(part.get("text")) for part in content if isinstance(part, dict)).strip()
    return content.strip() if isinstance(content, str) else ""


def _attachments(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attachments of messages, the newest first; of one name only the newest."""
    found: dict[str, dict[str, Any]] = {}
    for message in messages:
        listed = message.get("attachments")
        for entry in listed if isinstance(listed, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("url"), str):
                name = PurePosixPath(str(entry.get("filename") or "")).name
                found.setdefault(name, {"path": name or None, "url": entry["url"]})
    return list(found.values())
