"""A task as a YAML file: what it becomes, and what is said of every slip, with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_gta.benchmark.task import Checkpoint, Resource, Task
from pytest_gta.benchmark.task_file import read_task_file

WHOLE = """\
category: Data Analysis & Quantitative Reasoning
request: |
  Our orders are in data/orders.xlsx, the shop in shop.png.

  Please give me Summary.md.
files:
  - data/orders.xlsx
  - shop.png
capabilities: [logic, operation]
tools: [ReadXLSX]
checkpoints:
  - requirement: The figures are right.
    weight: 5
    checkpoints:
      - requirement: Summary.md gives net revenue as EUR 12.50.
        weight: 2.5
      - id: best
        requirement: Summary.md names July as the best month.
  - requirement: Summary.md is at most half a page long.
"""


def read(folder: Path, text: str | bytes, name: str = "orders.yaml") -> Task | list[str]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    result = read_task_file(path, name).read
    return result if isinstance(result, Task) else [str(fault) for fault in result]


def test_a_whole_task(tmp_path: Path) -> None:
    task = read(tmp_path, WHOLE)
    assert isinstance(task, Task)
    assert (task.id, task.category, task.slug) == ("orders", "data_analysis", "data_analysis_orders")
    assert task.request.startswith("Our orders are in data/orders.xlsx")
    assert task.request.endswith("Please give me Summary.md.")
    assert task.resources == (Resource("data/orders.xlsx", "file"), Resource("shop.png", "image"))
    assert task.expected_tools == ("ReadXLSX",)
    assert task.capabilities.names == ("operation", "logic")
    assert task.checkpoints == (
        Checkpoint(
            "cp1",
            "The figures are right.",
            5.0,
            (
                Checkpoint("cp1-1", "Summary.md gives net revenue as EUR 12.50.", 2.5),
                Checkpoint("best", "Summary.md names July as the best month.", 1.0),
            ),
        ),
        Checkpoint("cp2", "Summary.md is at most half a page long.", 1.0),
    )


def test_the_id_is_the_files_name_or_the_folders(tmp_path: Path) -> None:
    named = [read(tmp_path, WHOLE, name) for name in ("a b.yml", "farm/task.yaml", "x/7.yaml")]
    assert [task.id for task in named if isinstance(task, Task)] == ["a b", "farm", "7"]
    own = read(tmp_path, "id: 12\n" + WHOLE)
    assert isinstance(own, Task)
    assert own.id == "12"


def test_several_messages_and_a_category_of_ones_own(tmp_path: Path) -> None:
    task = read(tmp_path, "request: [First., Second.]\ncategory: Customer Care\ncheckpoints: [{requirement: It is.}]")
    assert isinstance(task, Task)
    assert (task.turns, task.category) == (("First.", "Second."), "customer_care")


NO_TASK = (
    "L1: is no task: it has neither `request` nor `checkpoints`. Is it an input file? List it under `files` of its task"
)
HEAD = "category: planning\nrequest: Do it.\n"
LEAF = "checkpoints:\n  - requirement: It is done.\n"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (HEAD + "checkpoints:\n  - requirement: no\n", ["checkpoint cp1: L4: `requirement` is a truth value, expected "
                                                       "a text; put it in quotes"]),
        (HEAD + "checkpoint:\n  - requirement: A.\n", ["L3: there is no key `checkpoint` here; did you mean "
                                                     "`checkpoints`?", "L1: `checkpoints` is missing, expected a list "
                                                     "of checkpoints"]),
        (HEAD + LEAF + "    weigth: 3\n", ["checkpoint cp1: L5: there is no key `weigth` here; did you mean "
                                           "`weight`?"]),
        (HEAD + LEAF + "    weight: 0\n", ["checkpoint cp1: L4: weight 0.0 is not a finite number above 0"]),
        (HEAD + LEAF + "    weight: .inf\n", ["checkpoint cp1: L5: `weight` is not finite, expected a number above 0"]),
        (HEAD + LEAF + "    weight: .nan\n", ["checkpoint cp1: L5: `weight` is not finite, expected a number above 0"]),
        (HEAD + LEAF + "    weight: high\n", ["checkpoint cp1: L5: `weight` is a text, expected a number above 0"]),
        (HEAD + LEAF + "  - weight: 2\n", ["checkpoint cp2: L5: `requirement` is missing"]),
        (HEAD + LEAF + "  - just text\n", ["checkpoint cp2: L5: is a text, expected the keys id, requirement, weight, "
                                           "checkpoints"]),
        (HEAD + LEAF + "    checkpoints:\n      - requirement: A.\n        id: cp1\n",
         ["checkpoint cp1: L4: this id is used twice"]),
        (HEAD + "checkpoints: []\n", ["L1: the rubric has no checkpoints"]),
        (HEAD + "request: Again.\n" + LEAF, ["L3: the key `request` is there twice"]),
        (HEAD + "files: a.csv\n" + LEAF, ["L3: `files` is a text, expected a list"]),
        (HEAD + "files: [../a.csv, /etc/passwd, b.csv, b.csv, 3]\n" + LEAF,
         ["L3: the input path '../a.csv' leaves the folder of orders.yaml",
          "L3: the input path '/etc/passwd' leaves the folder of orders.yaml",
          "L3: b.csv is listed twice",
          "L3: an entry of `files` is a number, expected a path"]),
        (HEAD + "capabilities: [logics]\n" + LEAF,
         ["L3: `capabilities` names 'logics', which is none of them (logic)"]),
        (HEAD + "tools: [Reader]\n" + LEAF,
         ["L3: `tools` names 'Reader', which is none of them (ReadPDF, ReadCSV, ReadXLSX, "
          "ReadPPTX)"]),
        ("category: planning\nrequest: ''\n" + LEAF, ["L2: `request` is empty, expected a text"]),
        ("request: Do it.\n" + LEAF, ["L1: `category` is missing"]),
        ("a: 1\nb: 2\n", [NO_TASK]),
        ("id: x\ncategory: a\n", [NO_TASK]),
        ("", ["L1: is empty"]),
        ("- a\n- b\n", [NO_TASK]),
        (HEAD + "a: &x {requirement: A.}\ncheckpoints: [*x, *x]\n",
         ["L3: an alias (`*name`) repeats this value; write it out instead"]),
        (HEAD + "--- \nrequest: Two.\n", ["L3: is not YAML: but found another document"]),
        (b"request: caf\xe9\n", ["L1: is not UTF-8 text"]),
    ],
)  # fmt: skip
def test_every_slip_is_named_with_its_line(tmp_path: Path, text: str | bytes, faults: list[str]) -> None:
    found = read(tmp_path, text)
    assert isinstance(found, list)
    plain = [fault.replace("orders.yaml, line ", "L") for fault in found]
    assert [re.sub("^task orders(, |: )", "", fault) for fault in plain] == faults


def test_a_tab_is_said_to_be_one(tmp_path: Path) -> None:
    (fault,) = read(tmp_path, HEAD + "checkpoints:\n\t- requirement: A.\n")
    assert re.match(r"task orders: orders\.yaml, line 4: is not YAML: .*\(indent with blanks, not tabs\)$", str(fault))


def test_all_faults_of_a_file_are_found_at_once(tmp_path: Path) -> None:
    text = "request: 5\nfiles: [../a]\nextra: 1\ncheckpoints:\n  - weight: x\n  - requirement: [a]\n"
    found = read(tmp_path, text)
    assert isinstance(found, list)
    assert [fault.split(": ")[0] for fault in found] == [
        "task orders",
        "task orders",
        "task orders",
        "task orders, checkpoint cp1",
        "task orders, checkpoint cp1",
        "task orders, checkpoint cp2",
    ]
    assert [fault.partition("line ")[2].partition(":")[0] for fault in found] == ["3", "2", "1", "5", "5", "6"]


def test_a_bomb_of_aliases_and_a_deep_nest_are_faults(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    found = read(tmp_path, bomb)
    assert isinstance(found, list)
    assert "an alias" in found[0]
    deep = read(tmp_path, "request: " + "[" * 20_000)
    assert isinstance(deep, list)
    assert len(deep) == 1
    nested = HEAD
    for depth in range(25):
        nested += "  " * depth + "checkpoints:\n" + "  " * depth + "- requirement: A.\n"
    levels = read(tmp_path, nested)
    assert isinstance(levels, list)
    assert "is nested more than 20 levels deep" in levels[0]


def test_a_file_that_cannot_be_opened_is_a_fault(tmp_path: Path) -> None:
    (fault,) = read_task_file(tmp_path / "gone.yaml", "gone.yaml").read  # type: ignore[misc]
    assert str(fault) == "task gone: gone.yaml cannot be read (No such file or directory)"
