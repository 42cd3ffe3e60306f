"""Labels by people, from a CSV or JSON file.

JSON: ``{"<task id>": {"root_score": 7.5, "leaves": {"<leaf id>": 8}}}``; the whole may stand under ``"tasks"``. A value
is a number of points, ``"pass"`` or ``"fail"`` (or true or false), an object with such a ``"score"``, or, with several
raters, an object of rater to value.

CSV: the columns ``task`` and ``leaf`` (empty or ``root`` for the task itself), and either ``score``, with ``rater``
where there are several, or one column a rater, named after them. Other columns that hold words are named in `REMARKS`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pytest_gta.judge.calibration.ratings import Mark, Ratings

REMARKS = ("analysis", "category", "comment", "comments", "note", "notes", "reason", "requirement", "requirements")
"""Columns and fields that are read past."""

Key = TypeVar("Key")
_TASK, _LEAF, _SCORE = ("task", "task_id"), ("leaf", "leaf_id", "checkpoint"), ("score", "label", "expected")
_ROOT = ("", "root", "root_score")
_WORDS = {"pass": True, "fail": False, "true": True, "false": False, "yes": True, "no": False}
ONLY_RATER = "labels"
"""The rater's name where a file names none."""


class LabelError(ValueError):
    """A file of labels that cannot be used: the message names the place and the reason."""


class _Label(NamedTuple):
    place: str
    rater: str
    task: str
    leaf: str
    value: Any


def read_labels(path: Path) -> tuple[Ratings, ...]:
    """Return the labels of a file, one `Ratings` for each rater, in the order they appear.

    Raises:
        LabelError: When it cannot be read, holds no labels, or a label is not one or is given twice.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path} cannot be read: {error}") from None
    found = _from_json(text) if text.lstrip().startswith(("{", "[")) else _from_csv(text)
    raters: dict[str, Ratings] = {}
    try:
        for label in found:
            _add(raters.setdefault(label.rater, Ratings(label.rater)), label)
    except LabelError as error:
        raise LabelError(f"{path}: {error}") from None
    if not raters:
        raise LabelError(f"{path} holds no labels")
    return tuple(raters.values())


def _add(ratings: Ratings, label: _Label) -> None:
    try:
        mark = _mark(label.value)
    except ValueError as error:
        raise LabelError(f"{label.place}: {label.value!r} {error}") from None
    if label.leaf.lower() in _ROOT:
        _set(ratings.roots, label.task, mark, label)
    else:
        _set(ratings.leaves, (label.task, label.leaf), mark, label)


def _set(marks: dict[Key, Mark], key: Key, mark: Mark, label: _Label) -> None:
    if key in marks:
        raise LabelError(f"{label.place}: {label.rater!r} labels it twice")
    marks[key] = mark


def _mark(value: Any) -> Mark:
    if isinstance(value, bool):
        return Mark(success=value)
    if isinstance(value, int | float):
        return Mark(float(value))
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return Mark(success=_WORDS[word])
        try:
            return Mark(float(word.replace(",", ".")))
        except ValueError as error:
            raise ValueError(str(error) if "points" in str(error) else _NO_LABEL) from None
    raise ValueError(_NO_LABEL)


_NO_LABEL = "is neither a number of points from 0 to 10 nor pass or fail"


def _from_json(text: str) -> Iterator[_Label]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LabelError(f"not readable as JSON: {error}") from None
    tasks = data.get("tasks", data) if isinstance(data, dict) else None
    if not isinstance(tasks, Mapping):
        raise LabelError("the labels are to be an object of task id to labels")
    for task, labels in tasks.items():
        if not isinstance(labels, Mapping):
            raise LabelError(f"task {task}: the labels are to be an object with root_score and leaves")
        for name in ("root_score", "root"):
            if labels.get(name) is not None:
                yield from _values(f"task {task}, root", task, "", labels[name])
        leaves = labels.get("leaves", {})
        if not isinstance(leaves, Mapping):
            raise LabelError(f"task {task}: leaves are to be an object of leaf id to label")
        for leaf, value in leaves.items():
            yield from _values(f"task {task}, leaf {leaf}", task, leaf, value)


def _values(place: str, task: str, leaf: str, value: Any) -> Iterator[_Label]:
    if not isinstance(value, Mapping):
        yield _Label(place, ONLY_RATER, task, leaf, value)
        return
    single = next((name for name in _SCORE if name in value), None)
    if single:
        yield from _values(place, task, leaf, value[single])
        return
    for rater, given in value.items():
        if rater.lower() not in REMARKS and given is not None:
            yield _Label(place, rater, task, leaf, given)


def _from_csv(text: str) -> Iterator[_Label]:
    header = text.splitlines()[0] if text.strip() else ""
    delimiter = max(",;\t", key=header.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns = {name: name.strip().lower() for name in rows.fieldnames or ()}
    task_column = next((name for name, low in columns.items() if low in _TASK), None)
    leaf_column = next((name for name, low in columns.items() if low in _LEAF), None)
    if task_column is None or leaf_column is None:
        raise LabelError("the first line is to name the columns task and leaf (empty for the root), and the scores")
    score_column = next((name for name, low in columns.items() if low in _SCORE), None)
    rater_column = next((name for name, low in columns.items() if low == "rater"), None)
    taken = (task_column, leaf_column, rater_column)
    others = [name for name, low in columns.items() if name not in taken and low not in REMARKS]
    raters = [score_column] if score_column else others
    for row in rows:
        for column in raters:
            value = (row.get(column) or "").strip()
            if not value:
                continue
            rater = (row[rater_column] or "").strip() if rater_column else ""
            yield _Label(
                f"line {rows.line_num}",
                rater or (ONLY_RATER if score_column else column.strip()),
                (row[task_column] or "").strip(),
                (row[leaf_column] or "").strip(),
                value,
            )
