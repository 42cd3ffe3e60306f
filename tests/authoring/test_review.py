"""What comes of decisions, whoever makes them, and the review in the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.authoring.critique import Action, Proposal
from pytest_gta.authoring.review import Choice, Decision, after_review, choices_for
from pytest_gta.authoring.terminal_review import ReviewStopped, TerminalReview
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.benchmark.task_pack import TaskPack
from pytest_gta.cli.author_review import edited
from tests.authoring.test_author import DRAFT, RAW, respond
from tests.openai_server import OpenAIServer

TREE = (
    Checkpoint("cp1", "Group one.", 4, (Checkpoint("cp1-1", "Leaf a.", 3), Checkpoint("cp1-2", "Leaf b.", 1))),
    Checkpoint("cp2", "Leaf c.", 2),
)
NODES = ("request", "cp1", "cp1-1", "cp1-2", "cp2")


def proposals(**given: tuple[str, str, int]) -> list[Proposal]:
    """Return proposals: those given by node (hyphens as underscores), a pass for every other."""
    made = []
    for node in NODES:
        action, text, weight = given.get(node.replace("-", "_"), ("pass", "", 0))
        made.append(Proposal(node=node, action=Action(action), reason="why", text=text, weight=weight))
    return made


def decided(**given: str | tuple[str, float | None]) -> dict[str, Decision]:
    """Return decisions: those given by node, words for an edit, accept for every other."""
    made = {}
    for node in NODES:
        choice = given.get(node.replace("-", "_"), "accept")
        words, weight = ("", None) if isinstance(choice, str) else choice
        kind = Choice(choice) if isinstance(choice, str) else Choice.EDIT
        made[node] = Decision(node=node, choice=kind, text=words, weight=weight, by="test", at="now")
    return made


def shape(nodes: tuple[Checkpoint, ...]) -> list[Any]:
    return [(n.id, n.requirements, n.weight, shape(n.children)) if n.children else (n.id, n.requirements, n.weight)
            for n in nodes]  # fmt: skip


AS_DRAFTED = [("cp1", "Group one.", 4, [("cp1-1", "Leaf a.", 3), ("cp1-2", "Leaf b.", 1)]), ("cp2", "Leaf c.", 2)]


@pytest.mark.parametrize(
    ("proposed", "choices", "tree"),
    [
        ({}, {}, AS_DRAFTED),
        ({"cp2": ("refine", "Leaf C.", 5)}, {}, [AS_DRAFTED[0], ("cp2", "Leaf C.", 5)]),
        ({"cp2": ("refine", "Leaf C.", 5)}, {"cp2": "reject"}, AS_DRAFTED),
        ({"cp2": ("refine", "Leaf C.", 5)}, {"cp2": ("Mine.", None)}, [AS_DRAFTED[0], ("cp2", "Mine.", 5)]),
        ({}, {"cp2": ("Mine.", 1.5)}, [AS_DRAFTED[0], ("cp2", "Mine.", 1.5)]),
        ({"cp2": ("augment", "Leaf d.", 3)}, {}, [*AS_DRAFTED, ("cp3", "Leaf d.", 3)]),
        ({"cp2": ("augment", "Leaf d.", 3)}, {"cp2": ("Mine.", None)}, [*AS_DRAFTED, ("cp3", "Mine.", 3)]),
        (
            {"cp1": ("augment", "Leaf n.", 2)},
            {},
            [(*AS_DRAFTED[0][:3], [*AS_DRAFTED[0][3], ("cp1-3", "Leaf n.", 2)]), AS_DRAFTED[1]],
        ),
        ({"cp1": ("refine", "Group 1.", 1)}, {}, [("cp1", "Group 1.", 1, AS_DRAFTED[0][3]), AS_DRAFTED[1]]),
        ({"cp1": ("delete", "", 0)}, {}, [("cp1", "Leaf c.", 2)]),
        ({"cp1": ("delete", "", 0)}, {"cp1": "reject"}, AS_DRAFTED),
        ({"cp1": ("delete", "", 0)}, {"cp1": ("Kept.", None)}, [("cp1", "Kept.", 4, AS_DRAFTED[0][3]), AS_DRAFTED[1]]),
        ({}, {"cp1_1": "drop"}, [("cp1", "Group one.", 4, [("cp1-1", "Leaf b.", 1)]), AS_DRAFTED[1]]),
        ({}, {"cp1_1": "drop", "cp1_2": "drop"}, [("cp1", "Leaf c.", 2)]),
        (
            {"cp1": ("augment", "Leaf n.", 2)},
            {"cp1_1": "drop", "cp1_2": "drop"},
            [("cp1", "Group one.", 4, [("cp1-1", "Leaf n.", 2)]), ("cp2", "Leaf c.", 2)],
        ),
    ],
)
def test_what_comes_of_decisions(proposed: dict[str, Any], choices: dict[str, Any], tree: list[Any]) -> None:
    reviewed = after_review("Draft.", TREE, proposals(**proposed), decided(**choices))
    assert (reviewed.request, shape(reviewed.checkpoints)) == ("Draft.", tree)


@pytest.mark.parametrize(
    ("action", "choice", "request_"),
    [
        ("augment", "accept", "Better."),
        ("refine", "accept", "Better."),
        ("refine", "reject", "Draft."),
        ("pass", "accept", "Draft."),
        ("pass", ("Mine.", None), "Mine."),
        ("refine", ("Mine.", None), "Mine."),
    ],
)
def test_what_comes_of_the_request(action: str, choice: Any, request_: str) -> None:
    given = proposals(request=(action, "Better.", 0))
    assert after_review("Draft.", TREE, given, decided(request=choice)).request == request_


def test_what_can_be_decided() -> None:
    request, group, leaf, *_ = proposals(request=("refine", "B.", 0), cp1=("delete", "", 0))
    assert [",".join(choices_for(p)) for p in (request, group, leaf)] == [
        "accept,edit,reject",
        "accept,edit,reject",
        "accept,edit,drop",
    ]


class Person:
    """Types what it is given, and sees what is said."""

    def __init__(self, *typed: str | type[BaseException], edits: tuple[str | type[BaseException], ...] = ()) -> None:
        self.typed, self.edits = iter(typed), iter(edits)
        self.seen: list[str] = []
        self.offered: list[str] = []
        self.review = TerminalReview(self._ask, self.seen.append, self._edit, lambda: "now")

    def _ask(self, prompt: str) -> str:
        self.seen.append(prompt)
        return self._given(self.typed)

    def _edit(self, text: str) -> str:
        self.offered.append(text)
        return self._given(self.edits)

    @staticmethod
    def _given(answers: Iterator[str | type[BaseException]]) -> str:
        answer = next(answers)
        if isinstance(answer, str):
            return answer
        raise answer

    def decide(
        self, given: list[Proposal], done: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, str, str, float | None]]:
        for decision in self.review.decide("Draft request.", TREE, given, set(done)):
            assert (decision.by, decision.at) == ("terminal", "now")
            yield decision.node, decision.choice.value, decision.text, decision.weight


def test_a_review_in_the_terminal() -> None:
    person = Person("a", "reject", "e", "0", "2.5", "d", "edit", "", edits=("Mine.", "Also mine."))
    given = proposals(cp1=("refine", "Group 1.", 2), cp1_1=("augment", "Leaf n.", 4))
    assert list(person.decide(given)) == [
        ("request", "accept", "", None),
        ("cp1", "reject", "", None),
        ("cp1-1", "edit", "Mine.", 2.5),
        ("cp1-2", "drop", "", None),
        ("cp2", "edit", "Also mine.", None),
    ]
    assert person.offered == ["Leaf n.", "Leaf c."]
    assert person.seen[:4] == ["", "[1/5] request", "  Draft request.", "  critic: pass - why"]
    assert "[3/5] cp1-1, leaf, weight 3" in person.seen
    assert "  adds (weight 4):" in person.seen
    assert "  > Leaf n." in person.seen
    assert "[a]ccept, [e]dit, [r]eject, [d]rop, [q]uit? " in person.seen
    assert "  a weight is a number above 0" in person.seen
    assert "weight [4]: " in person.seen
    assert max(map(len, person.seen)) < 80


def test_what_is_no_choice_is_asked_again_and_an_empty_edit_too() -> None:
    person = Person("x", "r", "", "e", "a", edits=("",))
    assert next(person.decide(proposals())) == ("request", "accept", "", None)
    assert [line for line in person.seen if "none of them" in line] == [
        "  'x' is none of them",
        "  'r' is none of them",
        "  '' is none of them",
    ]
    assert "  nothing was changed" in person.seen


@pytest.mark.parametrize("end", ["q", "QUIT", EOFError, KeyboardInterrupt])
def test_a_person_may_stop_and_go_on(end: Any) -> None:
    person = Person("a", end)
    deciding = person.decide(proposals())
    assert next(deciding)[0] == "request"
    with pytest.raises(ReviewStopped):
        next(deciding)
    again = Person("a", "a", "a")
    assert [d[0] for d in again.decide(proposals(), frozenset({"request", "cp1"}))] == ["cp1-1", "cp1-2", "cp2"]
    assert "[3/5] cp1-1, leaf, weight 3" in again.seen


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_a_person_may_stop_at_the_new_words(end: type[BaseException]) -> None:
    with pytest.raises(ReviewStopped):
        next(Person("e", edits=(end,)).decide(proposals()))


def test_words_of_a_model_cannot_play_with_the_terminal() -> None:
    person = Person("a")
    given = [Proposal(node="request", action=Action.PASS, reason="\x1b[2Jgone", text="", weight=0)]
    assert next(person.decide(given))[0] == "request"
    assert not any("\x1b" in line for line in person.seen)


def test_an_editor_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text("import pathlib, sys\np = pathlib.Path(sys.argv[1])\np.write_text(p.read_text().upper())\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {editor}")
    assert edited("two\nlines") == "TWO\nLINES"
    assert edited("SAME") == ""
    monkeypatch.setenv("VISUAL", f"{tmp_path}/none")
    assert edited("words") == ""


def test_several_lines_without_an_editor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO("One.\n\nTwo.\n.\nNew.\nlost"))
    assert edited("First.\nSecond.") == "One.\n\nTwo."
    assert "a line with only a dot ends them" in capsys.readouterr().out
    assert edited("First.") == "New."
    with pytest.raises(EOFError):
        edited("First.\nSecond.")


def test_a_review_through_a_real_terminal(
    openai_server: Callable[..., OpenAIServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decide the first nodes, stop, and go on with the same command."""
    server = openai_server(respond)
    (tmp_path / "berths.csv").write_text("berth,depth\nnorth,4.5\n")
    command = [sys.executable, "-m", "pytest_gta", "author", RAW, "--into=tasks", "--file=berths.csv"]
    command += ["--model=writer", f"--base-url={server.base_url}"]
    code, shown = _typed(command, tmp_path, ["a", "a", "q"])
    assert code == 10
    assert "[1/6] request" in shown
    assert "stopped  4 of 6 are open; the same command goes on from here" in shown
    code, shown = _typed(command, tmp_path, ["a", "r", "e", "Berths.docx gives depths.", "", "a"])
    assert code == 0, shown
    assert "[3/6] cp1-1, leaf, weight 3" in shown
    assert "[1/6]" not in shown
    assert len(server.chats) == 2
    task = TaskPack(tmp_path / "tasks").task("harbour-berths")
    assert [leaf.requirements for leaf in task.leaves] == [
        "Berths.docx lists the three berths of berths.csv by name.",
        "Read berths.csv first.",
        "Berths.docx gives depths.",
        "Berths.docx names the berth that is free.",
        DRAFT["checkpoints"][1]["requirement"],
    ]
    record = json.loads((tmp_path / "tasks/harbour-berths/authoring.json").read_text())
    assert [d["choice"] for d in record["decisions"]] == ["accept", "accept", "accept", "reject", "edit", "accept"]
    assert {d["by"] for d in record["decisions"]} == {"terminal"}


def _typed(command: list[str], folder: Path, lines: list[str]) -> tuple[int, str]:
    """Run a command in a terminal of its own; type a line whenever it asks; return its exit code and all it showed."""
    leader, follower = pty.openpty()
    hidden = ("VISUAL", "EDITOR", "GTA_MODEL", "GTA_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    process = subprocess.Popen(
        command, cwd=folder, stdin=follower, stdout=follower, stderr=follower, env=environment, close_fds=True
    )
    os.close(follower)
    shown, waiting, until = "", list(lines), time.monotonic() + 300
    asked = 0
    try:
        while time.monotonic() < until:
            ready, _, _ = select.select([leader], [], [], 1.0)
            if ready:
                try:
                    data = os.read(leader, 4096)
                except OSError:  # the other end is closed
                    break
                if not data:
                    break
                shown += data.decode("utf-8", "replace")
            prompts = sum(shown.count(end) for end in ("[q]uit? ", "new words: ", "weight ["))
            if waiting and prompts > asked:
                asked += 1
                os.write(leader, waiting.pop(0).encode() + b"\n")
        return process.wait(timeout=60), shown
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(leader)
