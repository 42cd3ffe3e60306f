"""Asks a model for a draft and for a critique; a reply that breaks the schema or the rules is asked for again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_gta.authoring.critique import CritiqueAnswer, critique_faults
from pytest_gta.authoring.draft import DraftAnswer, draft_faults, draft_nodes, draft_task
from pytest_gta.authoring.prompts import critique_messages, draft_messages
from pytest_gta.authoring.raw_request import RawRequest
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.usage import Usage
from pytest_gta.benchmark.wording import wording_findings
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.model_error import ModelError
from pytest_gta.llm.redaction import one_line
from pytest_gta.llm.reply import Reply

RE_ASKS = 2
"""How often a reply that is of no use is asked for again."""

DEADLINE_S = 600.0
"""Seconds for one reply, the client's retries included."""

_ROOM = 16_384

Answer = TypeVar("Answer", bound=BaseModel)
Message = dict[str, Any]


class NoAnswer(Exception):
    """The model gave nothing that can be used: one line says why."""


class Author:
    """Drafts and criticises.

    Args:
        client: The model.
        examples: Tasks that show it how it is done.
        tools: What agents can do: tool name and description.
        tell: Told in a line when a reply has to be asked for again.
    """

    def __init__(
        self,
        client: ChatClient,
        examples: Sequence[Task],
        tools: Iterable[tuple[str, str]],
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._client, self._examples, self._tools, self._tell = client, examples, tuple(tools), tell

    def draft(self, raw: RawRequest, inputs: Sequence[tuple[str, str]], spent: Callable[[Usage], None]) -> DraftAnswer:
        """Return a draft of a task.

        Args:
            raw: What it is made from.
            inputs: Input files by name, as a model is shown them.
            spent: Told what each reply took, also of one that is of no use.

        Raises:
            NoAnswer: When there is none.
        """

        def messages(fault: str) -> list[Message]:
            return draft_messages(raw.text, inputs, self._examples, self._tools, fault)

        return self._ask(messages, DraftAnswer, lambda answer: draft_faults(answer, raw.names), spent)

    def critique(
        self, raw: RawRequest, inputs: Sequence[tuple[str, str]], draft: DraftAnswer, spent: Callable[[Usage], None]
    ) -> CritiqueAnswer:
        """Return a proposal for every node of a draft.

        Args:
            raw: What the draft was made from.
            inputs: Input files by name, as a model is shown them.
            draft: The draft.
            spent: Told what each reply took, also of one that is of no use.

        Raises:
            NoAnswer: When there is none.
        """
        nodes, signs = draft_nodes(draft), draft_signs(draft, raw.names)

        def messages(fault: str) -> list[Message]:
            return critique_messages(raw.text, inputs, draft, signs, fault)

        return self._ask(messages, CritiqueAnswer, lambda answer: critique_faults(answer, nodes, raw.names), spent)

    def _ask(
        self,
        messages: Callable[[str], list[Message]],
        schema: type[Answer],
        faults: Callable[[Answer], Iterable[str]],
        spent: Callable[[Usage], None],
    ) -> Answer:
        fault = ""
        for _ in range(1 + RE_ASKS):
            if fault:
                self._tell(f"asking again: {fault}")
            try:
                reply = self._client.chat_blocking(
                    messages(fault), schema=schema, deadline_s=DEADLINE_S, max_output_tokens=_ROOM
                )
            except ModelError as error:
                spent(error.usage)
                raise NoAnswer(str(error)) from None
            spent(reply.usage)
            answer = _read(reply, schema)
            if isinstance(answer, schema):
                found = list(faults(answer))
                if not found:
                    return answer
                fault = one_line("; ".join(found))
            else:
                fault = str(answer)
        raise NoAnswer(f"{self._client.endpoint.shown} gave {1 + RE_ASKS} replies that are of no use: {fault}")


def draft_signs(draft: DraftAnswer, inputs: Sequence[str]) -> list[str]:
    """Return what checks by pattern find in the words of a draft."""
    found = wording_findings(draft_task(draft, "draft", inputs))
    return [f"{finding.node_id or 'request'}: {finding.message}" for finding in found]


def _read(reply: Reply, schema: type[Answer]) -> Answer | str:
    """Return the answer, or why it is none."""
    if reply.refusal or reply.finish_reason == "content_filter":
        return f"the model declined: {one_line(reply.refusal or 'content filter', 200)}"
    text = re.sub(r"\A.*</think>", "", reply.text, flags=re.DOTALL).strip()
    fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.DOTALL)
    try:
        return schema.model_validate_json(fenced.group(1) if fenced else text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"not the JSON object asked for ({where + ': ' if where else ''}{one_line(first['msg'], 200)})"
