"""Agents that go on with work they have done, after a further message of the user."""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.agents.building import EXPOSED
from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.history import History, Picture
from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.kept_conversation import FILE
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.react import ReactAgent
from pytest_gta.agents.service import ServiceAgent
from pytest_gta.agents.whole_request import whole_request
from pytest_gta.benchmark.results import StopReason
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.workspace.workspace import Workspace
from tests.agents.conftest import QUICK, Bench, brief
from tests.agents.test_service import Double, as_json, serve
from tests.openai_server import OpenAIServer, calls, in_turn, says

__all__ = ["serve"]

Start = Callable[..., OpenAIServer]
FURTHER = "Two things are missing."


def test_a_brief_that_goes_on() -> None:
    first = brief("Do it.", "And in colour.")
    second = first.going_on("Done.", FURTHER)
    assert (first.earlier_answer, first.unanswered) == (None, ("Do it.", "And in colour."))
    assert (second.turns, second.unanswered) == (("Do it.", "And in colour.", FURTHER), (FURTHER,))
    assert (second.earlier_answer, second.id, second.inputs) == ("Done.", first.id, first.inputs)
    assert whole_request(first) == "Do it.\n\nAnd in colour."
    assert whole_request(second).split("\n\n") == [
        "You have worked on this request before; the files you delivered then are where you left them.",
        "The request was:", "Do it.", "And in colour.",
        "Your final answer then was:", "Done.",
        "The user answers:", FURTHER,
    ]  # fmt: skip


def test_the_tools_agent_goes_on_in_the_same_conversation(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(
            calls(("Write", {"filename": "report.txt", "text": "42"})),
            says("Done: report.txt"),
            calls(("Echo", {"text": "again"})),
            says("Now it is whole."),
        )
    )
    task = brief(inputs=bench.workspace.inputs)
    first = bench.ask(server, task)
    second = bench.ask(server, task.going_on(first.final_answer, FURTHER))
    assert (second.stop_reason, second.final_answer, second.turns) == (StopReason.FINISHED, "Now it is whole.", 2)
    before, after = server.chats[1].messages, server.chats[2].messages
    assert after[: len(before)] == before
    assert [(m["role"], m["content"]) for m in after[len(before) :]] == [
        ("assistant", "Done: report.txt"),
        ("user", FURTHER),
    ]
    assert any("goes on with its conversation of 5 messages" in step.text for step in bench.steps_of("note"))


def test_without_its_conversation_it_goes_on_from_request_and_answer(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(says("Better.")))
    task = brief("Count the apples.", inputs=bench.workspace.inputs)
    assert bench.ask(server, task.going_on("", FURTHER)).final_answer == "Better."
    told = [(m["role"], m["content"]) for m in server.chats[0].messages[1:]]
    assert told == [
        ("user", "Count the apples.\n\n[Input files: resources/notes.txt]"),
        ("assistant", "(I gave no answer.)"),
        ("user", FURTHER),
    ]
    assert any("was not kept" in step.text for step in bench.steps_of("note"))


@pytest.mark.parametrize("damage", ["", "{}", "[1]", "[["])
def test_a_conversation_that_is_not_readable_is_none(bench: Bench, openai_server: Start, damage: str) -> None:
    bench.transcript.parent.joinpath(FILE).write_text(damage)
    server = openai_server(in_turn(says("Better.")))
    assert bench.ask(server, brief().going_on("Done.", FURTHER)).final_answer == "Better."
    assert [m["content"] for m in server.chats[0].messages[2:]] == ["Done.", FURTHER]


def test_its_answer_on_the_last_turn_is_part_of_the_conversation(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Echo", {"text": "a"})), says("So far so good."), says("All done.")))
    first = bench.ask(server, brief(), limits=Limits(max_turns=2, task_timeout_s=20.0))
    assert (first.stop_reason, first.final_answer) == (StopReason.MAX_TURNS, "So far so good.")
    bench.ask(server, brief().going_on(first.final_answer, FURTHER))
    assert [m["content"] for m in server.chats[2].messages[-2:]] == ["So far so good.", FURTHER]


def test_pictures_are_shown_again_and_not_kept(bench: Bench, tmp_path: Path, openai_server: Start) -> None:
    root = tmp_path / "seen" / "workspace"
    root.mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(root / "red.png")
    seeing = dataclasses.replace(bench, workspace=Workspace.open(root, ["red.png"]))
    server = openai_server(in_turn(says("A red square.")))
    task = brief("What is it?", inputs=["red.png"])
    seeing.ask(server, task)
    kept = (seeing.transcript.parent / FILE).read_text()
    assert "base64" not in kept and json.loads(kept)[1]["content"][2] == {"type": "picture", "path": "red.png"}
    seeing.ask(server, task.going_on("A red square.", FURTHER))
    assert server.chats[1].messages[1] == server.chats[0].messages[1]
    assert [request.pictures for request in server.chats] == [1, 1]


def test_a_picture_that_is_gone_is_named_only() -> None:
    history = History("s")
    history.user("Look.", [Picture("a.png", "data:1"), Picture("b.png", "data:2")])
    again = History.restored(json.loads(json.dumps(history.kept())), [Picture("b.png", "data:3")])
    assert again.messages[1]["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "text", "text": "a.png:"},
        {"type": "text", "text": "b.png:"},
        {"type": "image_url", "image_url": {"url": "data:3"}},
    ]
    assert again.messages[0] == history.messages[0]


def test_a_kept_conversation_holds_no_secret(
    bench: Bench, openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "very-secret-value")
    server = openai_server(
        in_turn(calls(("Echo", {"text": "very-secret-value"})), says("It is very-secret-value, sk-abcdefgh12345678"))
    )
    bench.ask(server, brief("Use very-secret-value."))
    kept = (bench.transcript.parent / FILE).read_text()
    assert "very-secret-value" not in kept and "sk-abcdefgh12345678" not in kept
    assert kept.count("[secret]") >= 4


def test_react_goes_on_in_the_same_conversation(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(
            'Thought: I see.\nAction: Echo\nAction Input: {"text": "a"}',
            "Thought: done\nFinal Answer: First.",
            "Thought: better\nFinal Answer: Second.",
        )
    )
    endpoint = Endpoint("text-model", server.base_url, "sk-test-0123456789abcdef")
    agent = ReactAgent(endpoint, "react", Limits(max_turns=10, task_timeout_s=20.0), retry=QUICK)
    task = brief(inputs=bench.workspace.inputs)
    first = bench.run(agent, task)
    second = bench.run(agent, task.going_on(first.final_answer, FURTHER))
    assert (first.final_answer, second.final_answer) == ("First.", "Second.")
    before, after = server.chats[1].messages, server.chats[2].messages
    assert after[: len(before)] == before
    assert after[len(before)]["content"] == "Thought: done\nFinal Answer: First."
    assert after[-1] == {"role": "user", "content": FURTHER} and len(after) == len(before) + 2


def test_an_imported_agent_sees_what_it_answered(bench: Bench, modules: Callable[..., Path]) -> None:
    folder = modules(mine="def run(task):\n    return f'{task.earlier_answer!r} {task.turns!r} {task.unanswered!r}'\n")
    agent = ImportedAgent("mine:run", "mine", Limits(task_timeout_s=60.0), import_paths=[folder])
    assert bench.run(agent, brief(), deadline_s=60.0).final_answer == "None ('Do it.',) ('Do it.',)"
    second = bench.run(agent, brief().going_on("Done.", "More."), deadline_s=60.0)
    assert second.final_answer == "'Done.' ('Do it.', 'More.') ('More.',)"


def test_a_command_reads_it_in_its_request(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import sys\nprint(sys.stdin.read())\n")
    limits = Limits(task_timeout_s=60.0)
    agent = CommandAgent(f"{sys.executable} agent.py", "cmd", limits, EXPOSED, bases=[tmp_path])
    said = bench.run(agent, brief().going_on("Done.", FURTHER), deadline_s=90.0).final_answer
    assert said.endswith(
        "The request was:\n\nDo it.\n\nYour final answer then was:\n\nDone.\n\nThe user answers:\n\n" + FURTHER
    )


def test_a_service_is_sent_what_it_made(bench: Bench, serve: Callable[..., Double]) -> None:
    double = serve(at={"/tasks/7": as_json({"status": "finished", "final_answer": "Better."})})
    (bench.workspace.root / "report.md").write_text("# Report")
    agent = ServiceAgent(double.url, "service", Limits(task_timeout_s=20.0))
    task = brief(inputs=bench.workspace.inputs)
    assert bench.run(agent, task.going_on("Done.", FURTHER)).final_answer == "Better."
    bench.run(agent, task)
    second, first = (json.loads(body) for method, path, _, body in double.requests if path == "/tasks")
    assert [file["path"] for file in first["files"]] == ["resources/notes.txt"]
    sent = {file["path"]: base64.b64decode(file["base64"]) for file in second["files"]}
    assert sent == {"resources/notes.txt": b"42 apples", "report.md": b"# Report"}
    assert first["request"] == "Do it." and second["request"].endswith(f"The user answers:\n\n{FURTHER}")
