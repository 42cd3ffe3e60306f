"""GTA-Atomic: short questions, each with one right answer, as tasks whose rubric is that answer.

The shape is the one of GTA-Atomic v0.1.0 (``gta_dataset.zip``): ``dataset.json``, an object of questions with
``dialogs``, ``files``, ``tools`` and ``gt_answer``. Only the first message of the user is asked and only the question's
own tools are offered, as in the benchmark's end-to-end mode. Questions without an answer key are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.answer_key import AnswerKey, read_answer
from pytest_gta.benchmark.dataset import numeric_first
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.benchmark.task_record import read_task
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES

ANSWER_LEAF = "answer"
"""The id of a question's one leaf."""


class AtomicDataset(Release):
    """The questions of GTA-Atomic that have an answer key.

    Args:
        path: The folder or zip file.
        name: What reports call it.

    Raises:
        DatasetError: When there is no readable ``dataset.json`` in it.
    """

    index = "dataset.json"

    def __init__(self, path: Path, name: str | None = None) -> None:
        super().__init__(path, name or "atomic")
        self._questions: dict[str, Task | tuple[TaskFault, ...]] = {}

    @cached_property
    def _answers(self) -> dict[str, AnswerKey | str | ValueError]:
        return {task_id: _answer(record) for task_id, record in self._records.items()}

    @cached_property
    def answer_keys(self) -> Mapping[str, AnswerKey]:
        """The key of each question that has one, by its id."""
        return {task_id: answer for task_id, answer in self._answers.items() if isinstance(answer, AnswerKey)}

    @cached_property
    def left_out(self) -> Mapping[str, int]:
        """Why questions are left out, and how many."""
        return Counter(answer for answer in self._answers.values() if isinstance(answer, str))

    @property
    def question_ids(self) -> tuple[str, ...]:
        """The ids of all questions, also of those that are left out."""
        return tuple(sorted(self._records, key=numeric_first))

    def offered(self, question_id: str) -> list[str]:
        """Return the names of a question's tools."""
        return [entry["name"] for entry in _tools(self._records[question_id])]

    def files_of(self, question_id: str) -> list[str]:
        """Return the paths of a question's input files."""
        record = self._records[question_id]
        listed = record.get("files") if isinstance(record, Mapping) else None
        entries = listed if isinstance(listed, list) else []
        return [str(entry.get("path")) for entry in entries if isinstance(entry, Mapping)]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the questions with a key, and of those whose record is not usable."""
        return tuple(i for i in self.question_ids if not isinstance(self._answers[i], str))

    def read(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        """Return one question as a task, or all that is wrong with it."""
        if task_id not in self._questions:
            self._questions[task_id] = self._read_question(task_id)
        return self._questions[task_id]

    def tools_of(self, task: Task) -> Mapping[str, Mapping[str, Any]]:
        """Return the question's own tools, in its words."""
        return {entry["name"]: entry for entry in _tools(self._records[task.id])}

    def _read_question(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        record, answer = self._records[task_id], self._answers[task_id]
        if not isinstance(answer, AnswerKey):
            return (TaskFault(task_id, None, str(answer)),)
        names = self.offered(task_id)
        task = read_task(task_id, _as_task(record, answer, names), self._exists)
        lacking = [name for name in names if name not in TOOL_CAPABILITIES]
        if isinstance(task, Task) and lacking:
            note = f"the question offers {', '.join(lacking)}, which pytest-gta does not have"
            return replace(task, notes=(*task.notes, note))
        return task


def _answer(record: Any) -> AnswerKey | str | ValueError:
    if not isinstance(record, Mapping):
        return ValueError("is not an object")
    try:
        return read_answer(record.get("gt_answer"))
    except ValueError as error:
        return error


def _tools(record: Any) -> list[dict[str, Any]]:
    listed = record.get("tools") if isinstance(record, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)]


def _as_task(record: Mapping[str, Any], key: AnswerKey, tools: list[str]) -> dict[str, Any]:
    """Return a question in the shape of a GTA-Workflow record."""
    dialogs = record.get("dialogs")
    messages = [message for message in dialogs if isinstance(message, Mapping)] if isinstance(dialogs, list) else []
    asked = [message.get("content") for message in messages if message.get("role") == "user"]
    return {
        "dialogs": [{"role": "user", "content": text} for text in asked[:1]],
        "files": record.get("files"),
        "tools": tools,
        "sub_tasks": [{"id": ANSWER_LEAF, "requirements": key.requirement, "weight": 1}],
        "workflow_category_6class": f"tools {len(tools)}",
    }
