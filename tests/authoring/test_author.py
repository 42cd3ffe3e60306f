"""`pytest-gta author`: from a raw request to a checked task folder, with every decision on record."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_gta.authoring.raw_request import InputFile
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.task_pack import TaskPack
from pytest_gta.cli import main
from pytest_gta.formats.read import read_file_json
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails, refuses, says

RAW = "i run the harbour office and need something on the berths for thursday. csv attached"

DRAFT: dict[str, Any] = {
    "name": "Harbour Berths",
    "category": "planning",
    "request": "I run the harbour office. berths.csv lists our berths.\n\nPlease write Berths.docx, two pages at most.",
    "checkpoints": [
        {
            "requirement": "The berths are right.",
            "weight": 4,
            "leaves": [
                {"requirement": "Berths.docx lists the three berths of berths.csv by name.", "weight": 3},
                {"requirement": "Read berths.csv first.", "weight": 1},
                {"requirement": "Berths.docx gives the depth of each berth in metres.", "weight": 2},
            ],
        },
        {"requirement": "Berths.docx is at most two pages long.", "weight": 1, "leaves": []},
    ],
}


def proposal(node: str, action: str = "pass", text: str = "", weight: int = 0) -> dict[str, Any]:
    return {"node": node, "action": action, "reason": f"why {node}", "text": text, "weight": weight}


BETTER = DRAFT["request"] + " Say which berth is free."
CRITIQUE = {
    "proposals": [
        proposal("request", "augment", BETTER),
        proposal("cp1", "augment", "Berths.docx names the berth that is free.", 5),
        proposal("cp1-1"),
        proposal("cp1-2", "delete"),
        proposal("cp1-3", "refine", "Berths.docx gives the depth of each berth in metres, within 0.1.", 3),
        proposal("cp2"),
    ]
}


def respond(request: RecordedRequest) -> Answer:
    """Draft, or criticise, as the schema asks for."""
    assert request.schema is not None
    return says(json.dumps(DRAFT if "checkpoints" in request.schema["properties"] else CRITIQUE))


class ReaderHere:
    """Reads files in this process."""

    def call(self, target: str, kwargs: Mapping[str, Any], timeout_s: float) -> Any:
        assert target == "pytest_gta.formats.read:read_file_json"
        return read_file_json(**kwargs)


@pytest.fixture
def server(openai_server: Callable[..., OpenAIServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """A model, in a folder that holds an input file."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GTA_MODEL", "GTA_BASE_URL", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    # A confined reader takes a second to start; the test in a real terminal uses one.
    monkeypatch.setattr("pytest_gta.authoring.work.reading", lambda _paths: nullcontext(ReaderHere()))
    (tmp_path / "berths.csv").write_text("berth,depth,free\nnorth,4.5,no\nsouth,6.0,yes\nquay,3.2,no\n")
    return openai_server(respond)


def author(server: OpenAIServer, *more: str, raw: str = RAW) -> int:
    return main(
        ["author", raw, "--into=tasks", "--file=berths.csv", "--model=writer", f"--base-url={server.base_url}", *more]
    )


def state() -> dict[str, Any]:
    (path,) = Path(".gta/author").glob("*/session.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def leaves(task: Task) -> list[tuple[str, str, float]]:
    return [(leaf.id, leaf.requirements, leaf.weight) for leaf in task.leaves]


ALL_ACCEPTED = [
    ("cp1-1", "Berths.docx lists the three berths of berths.csv by name.", 3),
    ("cp1-2", "Berths.docx gives the depth of each berth in metres, within 0.1.", 3),
    ("cp1-3", "Berths.docx names the berth that is free.", 5),
    ("cp2", "Berths.docx is at most two pages long.", 1),
]


def test_a_task_is_drafted_criticised_and_landed(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert author(server, "--yes") == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "draft    Harbour Berths (planning), 4 leaves",
        "critic   2 augment, 2 pass, 1 delete, 1 refine",
        "landed   tasks/harbour-berths",
        "spent    cost unknown, 2 calls",
        "next     pytest-gta validate tasks",
    ]
    assert "pytest-gta: draft: cost unknown, " in said.err
    folder = Path("tasks/harbour-berths")
    assert sorted(p.name for p in Path("tasks").iterdir()) == ["harbour-berths"]
    assert sorted(p.name for p in folder.iterdir()) == ["authoring.json", "berths.csv", "task.yaml"]
    assert (folder / "berths.csv").read_bytes() == Path("berths.csv").read_bytes()
    task = TaskPack(Path("tasks")).task("harbour-berths")
    assert (task.category, task.request, task.brief.inputs) == ("planning", BETTER, ("berths.csv",))
    assert leaves(task) == ALL_ACCEPTED
    assert (folder / "task.yaml").read_text() == (
        "id: harbour-berths\n"
        "category: planning\n"
        "request: |\n"
        "  I run the harbour office. berths.csv lists our berths.\n"
        "\n"
        "  Please write Berths.docx, two pages at most. Say which berth is free.\n"
        "files:\n"
        "  - berths.csv\n"
        "checkpoints:\n"
        "  - requirement: The berths are right.\n"
        "    weight: 4\n"
        "    checkpoints:\n"
        "      - requirement: Berths.docx lists the three berths of berths.csv by name.\n"
        "        weight: 3\n"
        "      - requirement: Berths.docx gives the depth of each berth in metres, within 0.1.\n"
        "        weight: 3\n"
        "      - requirement: Berths.docx names the berth that is free.\n"
        "        weight: 5\n"
        "  - requirement: Berths.docx is at most two pages long.\n"
        "    weight: 1\n"
    )
    record = json.loads((folder / "authoring.json").read_text())
    assert (record["raw_request"], record["model"], record["draft"]) == (RAW, "writer", DRAFT)
    assert record["critique"] == CRITIQUE
    assert {(d["node"], d["choice"], d["by"]) for d in record["decisions"]} == {
        (p["node"], "accept", "--yes") for p in CRITIQUE["proposals"]
    }
    assert record["usage"]["draft"]["calls"] == record["usage"]["critique"]["calls"] == 1
    assert record["usage"]["draft"]["cost_usd"] is None
    assert record == {**state(), "landed": "harbour-berths"}
    assert state()["landed"] == str(folder.absolute())


def test_what_the_model_is_told(server: OpenAIServer) -> None:
    assert author(server, "--yes") == 0
    draft, critique = server.chats
    assert (draft.model, critique.model) == ("writer", "writer")
    system, user = draft.texts
    assert "- ReadCSV: " in system
    assert "data_analysis, education, planning, marketing, creative_design, retrieval_qa" in system
    token = user.split()[2]
    for name in ("EXAMPLE 1", "EXAMPLE 2", "RAW REQUEST", "INPUT FILE berths.csv"):
        assert f"<<<{token} BEGIN {name}>>>" in user
    assert RAW in user
    assert "north" in user
    assert "south" in user
    assert user.endswith("Make the task.")
    seen = critique.texts[1]
    assert "- cp1-2 (weight 1): Read berths.csv first." in seen
    assert "- cp1-2: 'Read berths.csv' is a step" in seen
    assert user.split()[2] != seen.split()[2]


def test_nothing_that_is_done_is_paid_for_again(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    drafting = True

    def only_the_draft(request: RecordedRequest) -> Answer:
        return respond(request) if drafting and "checkpoints" in (request.schema or {})["properties"] else fails(400)

    server.respond = only_the_draft
    assert author(server, "--yes") == 10
    assert "the same command goes on from here" in capsys.readouterr().err
    assert (state()["draft"], state()["critique"], state()["usage"]["draft"]["calls"]) == (DRAFT, None, 1)
    assert not Path("tasks").exists()
    server.respond, drafting = respond, False
    server.requests.clear()
    assert author(server, "--yes") == 0
    assert len(server.chats) == 1
    server.requests.clear()
    assert author(server, "--yes") == 0
    assert server.chats == []
    assert "is there " in capsys.readouterr().out


def test_other_files_another_model_or_other_words_are_another_task(server: OpenAIServer) -> None:
    assert author(server, "--yes") == 0
    Path("berths.csv").write_text("berth\nnorth\n")
    assert author(server, "--yes", "--id=again") == 0
    assert author(server, "--yes", "--id=third", raw=RAW + "!") == 0
    assert len(server.chats) == 6
    assert TaskPack(Path("tasks")).task_ids == ("again", "harbour-berths", "third")


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        (says("Here is your task!"), "not the JSON object asked for"),
        (
            says(json.dumps({**DRAFT, "extra": 1})),
            "not the JSON object asked for (extra: Extra inputs are not permitted)",
        ),
        (says(json.dumps({**DRAFT, "category": "sports"})), "not the JSON object asked for (category: Input should be"),
        (says(json.dumps({**DRAFT, "request": "Do it."})), "the request does not mention its input file berths.csv"),
        (says(json.dumps({**DRAFT, "checkpoints": DRAFT["checkpoints"][1:]})), "the tree has 1 leaves; 3 to 19 are"),
        (refuses("I will not."), "the model declined: I will not."),
    ],
    ids=["prose", "another field", "no such category", "input not named", "too few leaves", "refusal"],
)
def test_a_draft_that_breaks_the_schema_is_asked_for_again(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str], first: Answer, fault: str
) -> None:
    server.respond = lambda r: first if r.number == 0 else respond(r)
    assert author(server, "--yes") == 0
    assert len(server.chats) == 3
    assert f"asking again: {fault}" in capsys.readouterr().err
    assert f"Your last reply did not count: {fault}" in server.chats[1].texts[1]
    assert state()["usage"]["draft"]["calls"] == 2


@pytest.mark.parametrize(
    ("proposals", "fault"),
    [
        (CRITIQUE["proposals"][:-1], "there is no proposal for cp2"),
        ([*CRITIQUE["proposals"], proposal("cp9")], "there is no node cp9"),
        ([*CRITIQUE["proposals"], proposal("cp2")], "there is more than one proposal for cp2"),
        ([*CRITIQUE["proposals"][:-1], proposal("cp2", "refine")], "cp2: `text` is empty, and refine needs words"),
        ([proposal("request", "delete"), *CRITIQUE["proposals"][1:]], "request: it cannot be deleted"),
        ([proposal("request", "refine", "Do."), *CRITIQUE["proposals"][1:]], "request: the new words lack berths.csv"),
    ],
)
def test_a_critique_of_no_use_is_asked_for_again_and_then_given_up(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str], proposals: list[dict[str, Any]], fault: str
) -> None:
    server.respond = lambda r: respond(r) if r.number == 0 else says(json.dumps({"proposals": proposals}))
    assert author(server, "--yes") == 10
    err = capsys.readouterr().err
    assert f"gave 3 replies that are of no use: {fault}" in err
    assert (len(server.chats), state()["usage"]["critique"]["calls"]) == (4, 3)
    assert not Path("tasks").exists()


def test_a_review_by_file(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert author(server, "--review-file=review.yaml") == 10
    assert "written  review.yaml" in capsys.readouterr().out
    text = Path("review.yaml").read_text()
    assert text.startswith("# The review of a drafted task.")
    assert "    decision:\n    your_words:\n" in text
    assert "null" not in text
    review = yaml.safe_load(text)
    assert [entry["node"] for entry in review["review"]] == ["request", "cp1", "cp1-1", "cp1-2", "cp1-3", "cp2"]
    assert review["review"][4] == {
        "node": "cp1-3",
        "drafted": "Berths.docx gives the depth of each berth in metres.",
        "weight": 2,
        "critic": "refine",
        "reason": "why cp1-3",
        "proposed": "Berths.docx gives the depth of each berth in metres, within 0.1.",
        "proposed_weight": 3,
        "choices": "accept, edit, reject, drop",
        "decision": None,
        "your_words": None,
        "your_weight": None,
    }
    assert author(server, "--review-file=review.yaml") == 10
    assert "open     6 of 6 entries of review.yaml have no decision: request, cp1, " in capsys.readouterr().out
    for entry, decision in zip(review["review"], ("reject", "accept", "drop", "reject", "edit", "accept"), strict=True):
        entry["decision"] = decision
    review["review"][4] |= {"your_words": "Berths.docx gives each depth.", "your_weight": 2.5}
    Path("review.yaml").write_text(yaml.safe_dump(review))
    assert author(server, "--review-file=review.yaml") == 0
    assert len(server.chats) == 2
    task = TaskPack(Path("tasks")).task("harbour-berths")
    assert task.request == DRAFT["request"]
    assert leaves(task) == [
        ("cp1-1", "Read berths.csv first.", 1),
        ("cp1-2", "Berths.docx gives each depth.", 2.5),
        ("cp1-3", "Berths.docx names the berth that is free.", 5),
        ("cp2", "Berths.docx is at most two pages long.", 1),
    ]
    out = " ".join(capsys.readouterr().out.split())
    assert "warning task harbour-berths, checkpoint cp1-1: 'Read berths.csv' is a step" in out
    recorded = json.loads(Path("tasks/harbour-berths/authoring.json").read_text())["decisions"]
    assert [(d["node"], d["choice"], d["text"], d["weight"], d["by"]) for d in recorded] == [
        ("request", "reject", "", None, "file"),
        ("cp1", "accept", "", None, "file"),
        ("cp1-1", "drop", "", None, "file"),
        ("cp1-2", "reject", "", None, "file"),
        ("cp1-3", "edit", "Berths.docx gives each depth.", 2.5, "file"),
        ("cp2", "accept", "", None, "file"),
    ]


def test_a_review_as_json(server: OpenAIServer) -> None:
    assert author(server, "--review-file=review.json") == 10
    review = json.loads(Path("review.json").read_text())
    for entry in review["review"]:
        entry["decision"] = "accept"
    Path("review.json").write_text(json.dumps(review))
    assert author(server, "--review-file=review.json") == 0
    assert leaves(TaskPack(Path("tasks")).task("harbour-berths")) == ALL_ACCEPTED


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"decision": "maybe"}, "request: decision 'maybe' is none of accept, edit, reject"),
        ({"decision": "drop"}, "request: decision 'drop' is none of accept, edit, reject"),
        ({"decision": "edit"}, "request: to edit, write `your_words`"),
        ({"decison": "edit"}, "there is no key `decison` here; did you mean `decision`?"),
        ({"node": "cp7"}, "cp7 is no node of the draft, or is there twice"),
    ],
)
def test_a_slip_in_a_review_is_named_with_its_line(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str], edit: dict[str, str], message: str
) -> None:
    author(server, "--review-file=review.yaml")
    review = yaml.safe_load(Path("review.yaml").read_text())
    review["review"][0] |= edit
    Path("review.yaml").write_text(yaml.safe_dump(review, sort_keys=False))
    with pytest.raises(SystemExit) as ended:
        author(server, "--review-file=review.yaml")
    assert ended.value.code == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith("pytest-gta: review.yaml, line ")
    assert err.endswith(message)


def test_the_review_of_another_draft_is_refused(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    author(server, "--review-file=review.yaml")
    with pytest.raises(SystemExit):
        author(server, "--review-file=review.yaml", raw="Another request.")
    assert "review.yaml is the review of another draft" in capsys.readouterr().err


def test_without_a_terminal_the_review_is_written_to_a_file(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert author(server) == 10
    (path,) = Path(".gta/author").glob("*/review.yaml")
    out = capsys.readouterr().out
    assert f"written  {path}" in out
    assert f"then run the same command with --review-file {path}" in out


def test_a_dry_run_asks_nothing(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["author", RAW, "--into=tasks", "--file=berths.csv", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert server.requests == []
    assert not Path("tasks").exists()
    assert not Path(".gta").exists()
    assert [line for line in out.splitlines() if line.startswith("=====")] == [
        "===== DRAFT: system =====",
        "===== DRAFT: user =====",
        "===== CRITIQUE: system =====",
        "===== CRITIQUE: user =====",
        "===== nothing was asked and nothing was spent =====",
    ]
    assert "quay" in out
    assert "(the drafted checkpoints)" in out


def test_the_request_may_be_in_a_file_or_come_from_a_pipe(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("post.html").write_text("<html><body><h1>Help</h1><p>Berths, please.</p></body></html>")
    assert author(server, "--yes", raw="post.html") == 0
    assert "Berths, please." in server.chats[0].texts[1]
    assert "<h1>" not in server.chats[0].texts[1]

    class Piped:
        def read(self, _characters: int) -> str:
            return "From a pipe."

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr("sys.stdin", Piped())
    assert author(server, "--yes", "--id=piped", raw="-") == 0
    assert "From a pipe." in server.chats[2].texts[1]


def test_own_exemplars_id_and_category(server: OpenAIServer) -> None:
    assert author(server, "--yes") == 0
    assert author(server, "--yes", "--exemplars=tasks", "--id=b-2", "--category=harbour", raw="Once more.") == 0
    assert "Say which berth is free." in server.chats[2].texts[1]
    assert TaskPack(Path("tasks")).task("b-2").category == "harbour"


def test_mistakes_cost_nothing_and_take_one_line(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    (Path("theirs")).mkdir()
    Path("theirs/end.json").write_text("{}")
    Path("taken/mine").mkdir(parents=True)
    for arguments, message in (
        (["x.txt", "--into=t", "--model=m"], "REQUEST: there is no file x.txt"),
        ([" ", "--into=t", "--model=m"], "REQUEST is empty"),
        (["Do it.", "--into=t"], "no model is named: add --model=NAME"),
        (["Do it.", "--into=t", "--model=local", "--id=x"], "--model=local: the bundled model is too small for this"),
        (["Do it.", "--into=t", "--model=m"], "no API key for the model 'm': set OPENAI_API_KEY"),
        (["Do it.", "--into=t", "--model=m", "--id=A b"], "--id: 'A b' is not of lower case letters"),
        (["Do it.", "--into=t", "--model=m", "--file=no.csv"], "--file: no.csv cannot be read: No such file"),
        (["Do it.", "--into=t", "--model=m", "--file=berths.csv", "--file=berths.csv"], "--file: rename berths.csv"),
        (["Do it.", "--into=t", "--model=m", "--base-url=ftp://x"], "--base-url "),
        (["Do it.", "--into=theirs", "--model=m", "--id=a"], "theirs is a dataset in the release's shape"),
        (["Do it.", "--into=taken", "--model=m", "--id=mine"], "taken already has a task mine; give this one another"),
    ):
        try:
            code = main(["author", *arguments])
        except SystemExit as ended:
            code = int(str(ended.code))
        err = capsys.readouterr().err
        assert (code, err.count("\n")) == (2, 1), (arguments, err)
        assert err.startswith(f"pytest-gta: {message}"), (arguments, err)
    assert server.requests == []


def test_an_unreadable_state_is_said_to_be_one(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    author(server, "--review-file=r.yaml")
    (path,) = Path(".gta/author").glob("*/session.json")
    path.write_text("{")
    with pytest.raises(SystemExit) as ended:
        author(server, "--yes")
    assert ended.value.code == 2
    assert f"{path} cannot be gone on with; delete it to begin anew" in capsys.readouterr().err


def test_a_rubric_of_which_nothing_is_left_is_not_landed(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    author(server, "--review-file=r.yaml")
    review = yaml.safe_load(Path("r.yaml").read_text())
    for entry in review["review"]:
        entry["decision"] = "accept" if entry["node"] in ("request", "cp1-2") else "drop"
    Path("r.yaml").write_text(yaml.safe_dump(review))
    assert author(server, "--review-file=r.yaml") == 2
    assert "nothing of the rubric is left" in capsys.readouterr().err
    assert not Path("tasks").exists()


def test_a_name_the_model_gives_commands_no_terminal(
    openai_server: Callable[..., OpenAIServer], server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = openai_server(
        lambda request: says(
            json.dumps(
                {**DRAFT, "name": "Harbour \x1b[31mBerths"} if "checkpoints" in str(request.schema) else CRITIQUE
            )
        )
    )
    assert author(hostile, "--yes") == 0
    assert capsys.readouterr().out.startswith("draft    Harbour \u241b[31mBerths (planning), 4 leaves\n")


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_request_that_is_not_utf_8_is_refused_before_anything_is_paid(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], errors: str
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\xc3\xa9 \xff\n"), "utf-8", errors)
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(SystemExit) as ended:
        author(server, "--yes", raw="-")
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "pytest-gta: REQUEST is not UTF-8; put it into a file and name that: the encoding of a file is found out\n"
    )
    assert server.requests == []


def test_an_input_file_whose_name_is_not_utf_8_is_refused(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not every file system can hold such a name.
    monkeypatch.setattr(
        "pytest_gta.authoring.raw_request.input_file", lambda path: InputFile(path.absolute(), "0" * 64, 1)
    )
    with pytest.raises(SystemExit) as ended:
        author(server, "--yes", "--file=inp \udcff.csv")
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err
        == "pytest-gta: --file: the name of inp \u2039U+DCFF\u203a.csv is not UTF-8; rename it\n"
    )
    assert server.requests == []


def test_a_folder_is_no_request(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mails").mkdir()
    with pytest.raises(SystemExit) as ended:
        author(server, "--yes", raw="mails")
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "pytest-gta: REQUEST: mails is a folder; name a file in it, or give the request in words\n"
    )
    assert server.requests == []


@pytest.mark.parametrize(
    ("raw", "more", "text"),
    [
        ("/dev/zero", (), "REQUEST: /dev/zero is no file with an end; name another, or give the request in words"),
        (RAW, ("--file=/dev/zero",), "--file: /dev/zero cannot be read: it is a device or a pipe, not a file"),
        (RAW, ("--file=pipe",), "--file: pipe cannot be read: it is a device or a pipe, not a file"),
        (RAW, ("--file=long.csv",), "--file: long.csv cannot be read: it has 65 bytes; 64 are the most"),
        ("-", (), "REQUEST has more than 40,000 characters, which are the most"),
    ],
)
def test_what_never_ends_is_not_read(
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raw: str,
    more: tuple[str, ...],
    text: str,
) -> None:
    monkeypatch.setattr("pytest_gta.authoring.raw_request.MAX_BYTES", 64)
    os.mkfifo("pipe")
    Path("long.csv").write_bytes(b"1" * 65)
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr("sys.stdin", endless)
        with pytest.raises(SystemExit) as ended:
            author(server, "--yes", *more, raw=raw)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"pytest-gta: {text}\n"
    assert server.requests == []


def test_a_review_file_that_never_ends_is_not_read(server: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        author(server, "--review-file=/dev/zero")
    assert ended.value.code == 2
    assert "/dev/zero cannot be read: it is a device or a pipe, not a file\n" in capsys.readouterr().err


def test_a_task_that_is_made_is_put_into_another_place_without_asking_again(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert author(server, "--yes") == 0
    asked = len(server.requests)
    assert author(server, "--yes", "--into=other") == 0
    assert author(server, "--yes", "--id=berths") == 0
    assert len(server.requests) == asked
    places = [line for line in capsys.readouterr().out.splitlines() if line.startswith("landed")]
    assert places == ["landed   tasks/harbour-berths", "landed   other/harbour-berths", "landed   tasks/berths"]
    assert author(server, "--yes") == 0
    there = Path("tasks/berths").absolute()
    assert capsys.readouterr().out == f"is there {there} (made earlier from the same request)\n"
