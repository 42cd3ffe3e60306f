"""The conversation with a model: every call has its one answer, and it can be made shorter without breaking that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gta.agents.transcript import shortened
from pytest_gta.llm.reply import Reply, ToolCall

STUB_FROM = 400
"""Characters from which an old tool result is worth leaving out."""
NEWEST_KEPT = 4_000
"""Characters of a newest tool result that stay when the history must be shortened hard."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An input picture for the model.

    Attributes:
        path: Its name in the workspace.
        url: A ``data:`` address.
    """

    path: str
    url: str


class History:
    """The messages so far, in the chat API's own form.

    Args:
        system: What the model is told first.
    """

    def __init__(self, system: str) -> None:
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
        self._dropped = 0

    @classmethod
    def restored(cls, kept: Sequence[dict[str, Any]], pictures: Sequence[Picture]) -> History:
        """Return a conversation as `kept` gave it, with its pictures shown again.

        Args:
            kept: The messages.
            pictures: Pictures that there are; one that is not among them any more is named only.
        """
        urls = {picture.path: picture.url for picture in pictures}
        history = cls("")
        history._messages = [{**message, "content": _shown_again(message.get("content"), urls)} for message in kept]
        return history

    def kept(self) -> list[dict[str, Any]]:
        """Return the messages in a form to be written down: pictures by their names."""
        return [{**message, "content": _named(message.get("content"))} for message in self._messages]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What to send."""
        return list(self._messages)

    @property
    def has_pictures(self) -> bool:
        """Whether any message shows a picture."""
        return any(isinstance(m.get("content"), list) for m in self._messages)

    def user(self, text: str, pictures: Sequence[Picture] = ()) -> None:
        """Add a message of the user."""
        if not pictures:
            self._messages.append({"role": "user", "content": text})
            return
        parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
        for picture in pictures:
            parts.append({"type": "text", "text": f"{picture.path}:"})
            parts.append({"type": "image_url", "image_url": {"url": picture.url}})
        self._messages.append({"role": "user", "content": parts})

    def reply(self, reply: Reply, calls: Sequence[ToolCall]) -> None:
        """Add what the model said, with those of its calls that will be answered.

        Arguments that are not a JSON object are kept as text inside one: many servers refuse a history that holds
        anything else, and the model still sees what it wrote.
        """
        message = dict(reply.message)
        if calls:
            kept = {call.id for call in calls}
            entries = [entry for entry in message.get("tool_calls", ()) if entry["id"] in kept]
            message["tool_calls"] = [_readable(entry) for entry in entries]
        else:
            message.pop("tool_calls", None)
            message["content"] = message.get("content") or ""
        self._messages.append(message)

    def said(self, text: str) -> None:
        """Add what the model wrote, without a call."""
        self._messages.append({"role": "assistant", "content": text})

    def acted(self, text: str, call: ToolCall) -> None:
        """Add what the model wrote where that holds a call in words, for `written_out`."""
        entry = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        self._messages.append({"role": "assistant", "content": text, "tool_calls": [entry]})

    def answer(self, call_id: str, text: str) -> None:
        """Add the one answer to a call."""
        self._messages.append({"role": "tool", "tool_call_id": call_id, "content": text})

    def without_tools(self) -> list[dict[str, Any]]:
        """Return the messages with calls and results told in words, for a request that offers no tools.

        Not every server takes messages about tools then.
        """
        told: list[dict[str, Any]] = []
        names: dict[str, str] = {}
        for message in self._messages:
            if message["role"] == "tool":
                name = names.get(message["tool_call_id"], "the tool")
                told.append({"role": "user", "content": f"[Result of {name}]\n{message['content']}"})
                continue
            calls = message.get("tool_calls") or ()
            if not calls:
                told.append(message)
                continue
            names |= {call["id"]: call["function"]["name"] for call in calls}
            lines = [message.get("content") or ""]
            lines += [f"[I called {c['function']['name']} with {c['function']['arguments']}]" for c in calls]
            told.append({"role": "assistant", "content": "\n".join(line for line in lines if line)})
        return _joined(told)

    def written_out(self) -> list[dict[str, Any]]:
        """Return the messages with calls as the model wrote them and results as ``Response:`` of the user."""
        told: list[dict[str, Any]] = []
        for message in self._messages:
            if message["role"] == "tool":
                told.append({"role": "user", "content": f"Response: {message['content']}"})
            else:
                told.append({"role": message["role"], "content": message["content"]})
        return _joined(told)

    def drop_pictures(self, remark: str) -> None:
        """Tell by `remark` what pictures showed."""
        for message in self._messages:
            if isinstance(message.get("content"), list):
                texts = [part["text"] for part in message["content"] if part.get("type") == "text"]
                message["content"] = "\n".join([texts[0], f"[{remark}: {' '.join(t.rstrip(':') for t in texts[1:])}]"])

    def shrink(self) -> str:
        """Make the conversation shorter and return in a few words how; "" when there is nothing left to take out.

        First old tool results make room for a stub; when that is not enough, whole pairs of call and answer go, oldest
        first, pictures go, and the newest results are cut.
        """
        before = self._size()
        stubbed = self._stub_old_results()
        if self._size() <= 0.7 * before:
            return f"{stubbed} old tool results were left out of the conversation"
        dropped = self._drop_old_pairs()
        if self.has_pictures:
            self.drop_pictures("these pictures were left out, the conversation was too long")
        self._cut_results()
        if self._size() >= before:
            return ""
        return f"{dropped} old tool calls with their results were left out of the conversation, newer results were cut"

    def _stub_old_results(self) -> int:
        stubbed = 0
        newest = self._last_reply()
        for message in self._messages[:newest]:
            if message["role"] == "tool" and len(message["content"]) > STUB_FROM:
                size = len(message["content"])
                message["content"] = (
                    f"[This result of {size:,} characters was left out to make room; call the tool again to see it.]"
                )
                stubbed += 1
        return stubbed

    def _drop_old_pairs(self) -> int:
        newest = self._last_reply()
        kept: list[dict[str, Any]] = []
        at, dropped = 0, 0
        for index, message in enumerate(self._messages):
            old = index < newest
            if old and (message["role"] == "tool" or message.get("tool_calls")):
                at = at or len(kept)
                dropped += message["role"] == "tool"
                continue
            kept.append(message)
        if dropped:
            self._dropped += dropped
            kept = [m for m in kept if not m.get("content", "") or not str(m["content"]).startswith(_LEFT_OUT)]
            kept.insert(
                min(at, len(kept)), {"role": "user", "content": f"{_LEFT_OUT} {self._dropped} tool calls and results.]"}
            )
        self._messages = kept
        return dropped

    def _cut_results(self) -> None:
        for message in self._messages:
            if message["role"] == "tool":
                message["content"] = shortened(message["content"], NEWEST_KEPT)

    def _last_reply(self) -> int:
        """Where the newest turn with calls begins; the end when there is none."""
        return max((i for i, m in enumerate(self._messages) if m.get("tool_calls")), default=len(self._messages))

    def _size(self) -> int:
        return sum(len(json.dumps(message)) for message in self._messages)


_LEFT_OUT = "[Left out here to make room:"
_PICTURE = "picture"


def _named(content: Any) -> Any:
    """Return a message's content with each picture as the name that stands before it."""
    if not isinstance(content, list):
        return content
    parts: list[dict[str, Any]] = []
    for part in content:
        if part.get("type") == "image_url":
            part = {"type": _PICTURE, "path": str(parts[-1]["text"]).removesuffix(":")}
        parts.append(part)
    return parts


def _shown_again(content: Any, urls: Mapping[str, str]) -> Any:
    """Return a message's content as it was before `_named`."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image_url", "image_url": {"url": urls[part["path"]]}} if part.get("type") == _PICTURE else part
        for part in content
        if part.get("type") != _PICTURE or part["path"] in urls
    ]


def _readable(entry: dict[str, Any]) -> dict[str, Any]:
    written = entry["function"]["arguments"]
    try:
        if isinstance(json.loads(written), dict):
            return entry
    except (ValueError, RecursionError):
        pass
    quoted = json.dumps({"unreadable_arguments": shortened(written, 2_000)}) if written.strip() else "{}"
    return {**entry, "function": {**entry["function"], "arguments": quoted}}


def _joined(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join neighbouring text messages of one role: many chat templates want the roles to alternate."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        last = joined[-1] if joined else None
        texts = last is not None and isinstance(last["content"], str) and isinstance(message["content"], str)
        if last is not None and last["role"] == message["role"] and texts:
            joined[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined
