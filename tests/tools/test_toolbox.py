"""What a model writes is read, checked and answered; what it did wrong is told, counted, and runs nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.table import TOOLS
from pytest_gta.tools.tool import Tool, ToolResult
from pytest_gta.tools.toolbox import MAX_TEXT, CallRecord, Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace

PARAMETERS = (
    ToolParameter("words", "text", "Some words.", example="hello"),
    ToolParameter("count", "int", "How many.", optional=True, default=1),
    ToolParameter("rate", "float", "How fast.", optional=True),
    ToolParameter("loud", "bool", "Whether.", optional=True),
    ToolParameter("rows", "text", "Rows.", optional=True, lists=True),
    ToolParameter("file", "file", "A file.", optional=True),
)


class Given:
    """Keeps what a tool was run with."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def __call__(self, **arguments: Any) -> str:
        self.calls.append(arguments)
        return "ran"


@pytest.fixture
def given() -> Given:
    return Given()


@pytest.fixture
def tools(workspace: Workspace, given: Given) -> Iterator[Toolbox]:
    echo = Tool(ToolSpec("Echo", "logic", "Says it.", PARAMETERS), given, reads=("file",))
    none = Tool(ToolSpec("Ping", "logic", "Answers."), given)
    with Toolbox(workspace, Confinement("off", ""), only=["Echo", "Ping"], extra=[echo, none]) as made:
        yield made


# -- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"words": "hi"}', {"words": "hi"}),
        ('{"words": "hi", "count": null}', {"words": "hi"}),
        (
            '{"words": "hi", "count": "3", "rate": "1.5", "loud": "yes"}',
            {"words": "hi", "count": 3, "rate": 1.5, "loud": True},
        ),
        (
            '{"words": 2024, "count": 3.0, "rate": 2, "loud": 0}',
            {"words": "2024", "count": 3, "rate": 2.0, "loud": False},
        ),
        ('{"words": "a\nb\tc"}', {"words": "a\nb\tc"}),
        ('```json\n{"words": "hi"}\n```', {"words": "hi"}),
        ('"{\\"words\\": \\"hi\\"}"', {"words": "hi"}),
        ('{"words": "hi", "rows": [[1, 2]]}', {"words": "hi", "rows": [[1, 2]]}),
        ('{"words": "hi", "rows": "[[1, 2]]"}', {"words": "hi", "rows": "[[1, 2]]"}),
        ('{"words": "\\ud83d\\ude42 \\ud800"}', {"words": "\U0001f642 \ufffd"}),
        ({"words": "hi"}, {"words": "hi"}),
    ],
)
def test_arguments_are_read_and_converted(tools: Toolbox, given: Given, raw: Any, arguments: dict[str, Any]) -> None:
    assert tools.call("Echo", raw) == ToolResult("ran")
    assert given.calls == [arguments]


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        ('{}""', "'\"\"' follows the JSON object"),
        ('""', "the arguments are text, not a JSON object"),
        ("null", "the arguments are null, not a JSON object"),
        (None, "the arguments are null, not a JSON object"),
        ("", "the arguments are empty"),
        ("  ", "the arguments are empty"),
        ("[1]", "the arguments are a list, not a JSON object"),
        ([1], "the arguments are a list, not a JSON object"),
        ("7", "the arguments are a number, not a JSON object"),
        ("true", "the arguments are true or false, not a JSON object"),
        ('{"words": "hi', "the arguments are cut off"),
        ('{"words": "hi"', "the arguments are cut off"),
        ('{"words": ', "the arguments are cut off"),
        ('{"words": "a"}{"words": "b"}', "a second object follows the first"),
        ("{'words': 'hi'}", "not valid JSON: Expecting property name enclosed in double quotes at character 1"),
        ('{"words": NaN}', "NaN is not a JSON number"),
        ("[" * 100_000, "nested too deep|cut off"),
        ("{}", "`words` is missing"),
        ('{"words": null}', "`words` is missing"),
        ('{"word": "hi"}', r"it has no argument `word` \(did you mean `words`\?\); it takes `words`, `count`"),
        ('{"words": "hi", "count": "many"}', '`count` must be a number, and "many" is not'),
        ('{"words": "hi", "count": 2.5}', "`count` must be a whole number, and 2.5 is not"),
        ('{"words": "hi", "count": true}', "`count` must be a number, and true is not"),
        ('{"words": "hi", "rate": "nan"}', '`rate` must be a number, and "nan" is not'),
        ('{"words": "hi", "loud": "maybe"}', '`loud` must be true or false, and "maybe" is not'),
        ('{"words": ["hi"]}', r'`words` must be text, and \["hi"\] is not'),
        ('{"words": true}', "`words` must be text, and true is not"),
        ('{"words": "hi", "file": 3}', "`file` must be a path, as text, and 3 is not"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_runs(tools: Toolbox, given: Given, raw: Any, wrong: str) -> None:
    result = tools.call("Echo", raw)
    assert result.is_error
    assert re.search(wrong, result.text), result.text
    assert result.text.startswith("Echo was not run: ")
    assert result.text.endswith('Arguments that would do: {"words": "hello"}')
    assert given.calls == []
    assert (tools.calls, tools.errors) == (1, 1)


def test_a_tool_without_arguments_takes_none_and_nothing_odd(tools: Toolbox, given: Given) -> None:
    assert not tools.call("Ping", "{}").is_error
    assert not tools.call("Ping", "").is_error
    assert tools.call("Ping", '{}""').is_error
    assert tools.call("Ping", '{"x": 1}').text.startswith(
        "Ping was not run: it has no argument `x`; it takes no arguments"
    )
    assert (tools.calls, tools.errors, len(given.calls)) == (4, 2, 2)


def test_an_unknown_tool_is_answered_with_close_names(tools: Toolbox) -> None:
    assert tools.call("Ecko", "{}") == ToolResult("there is no tool 'Ecko'; did you mean Echo?", is_error=True)
    assert tools.call("ECHO", "{}").text == tools.call("e_cho", "{}").text.replace("e_cho", "ECHO")
    assert tools.call("ECHO", "{}").text == "there is no tool 'ECHO'; did you mean Echo?"
    assert tools.call("Browser", "{}").text == "there is no tool 'Browser'; there are Echo, Ping."
    assert (tools.calls, tools.errors) == (5, 5)


# -- files ------------------------------------------------------------------------------------------------------------


def test_files_to_read_are_resolved(tools: Toolbox, given: Given, workspace: Workspace) -> None:
    for written in (
        "resources/files/sales.csv",
        "sandbox:/resources/files/sales.csv",
        ["sales.csv"],
        {"path": "sales.csv"},
    ):
        assert tools.call("Echo", {"words": "x", "file": written}).text == "ran"
    assert {call["file"] for call in given.calls} == {str(workspace.root / "resources/files/sales.csv")}


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "a/../../x", "link", "~", "file:///etc/passwd", "\\\\s\\x", "a\0b", "/proc/self/environ"],
)
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.reads or tool.writes], ids=lambda tool: tool.name)
def test_no_tool_takes_a_path_that_leaves_the_workspace(workspace: Workspace, tool: Tool, path: str) -> None:
    (workspace.root / "link").symlink_to("/etc/passwd")
    arguments = json.loads(tool.spec.example())
    tried = [{**arguments, name: path} for name in tool.reads]
    if tool.writes:
        tried += [{**arguments, "output_dir": path}]
        if path != "link":  # with its suffix, another name
            tried += [{**arguments, "filename": path + tool.writes}]
    with Toolbox(workspace, Confinement("off", ""), only=[tool.name]) as tools:
        for given in tried:
            result = tools.call(tool.name, given)
            assert result.is_error, given
            assert "passwd:" not in result.text
        assert tools.errors == len(tried)
    assert sorted(p.name for p in workspace.root.iterdir()) == ["link", "resources"]


def make(target: str) -> dict[str, Any]:
    Path(target).write_text("made")
    return {"text": "Done.", "files": [target, "gone.txt", "/etc/passwd"]}


FILENAME = ToolParameter("filename", "text", "Name.", optional=True)
OUTPUT_DIR = ToolParameter("output_dir", "text", "Folder.", optional=True)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({"filename": "report"}, "report.docx"),
        ({"filename": "report.docx"}, "report.docx"),
        ({"filename": "Report.DOCX"}, "Report.DOCX"),
        ({"filename": "report.v2"}, "report.v2.docx"),
        ({"filename": "out/report", "output_dir": "out"}, "out/report.docx"),
        ({"filename": "report", "output_dir": "out/"}, "out/report.docx"),
        ({"filename": "report", "output_dir": "/mnt/data"}, "report.docx"),
        ({"filename": "report", "output_dir": "./"}, "report.docx"),
        ({"filename": "/mnt/data/report", "output_dir": "out"}, "report.docx"),
        ({}, "document.docx"),
    ],
)
def test_the_file_a_tool_makes_gets_the_name_that_was_asked_for(
    workspace: Workspace, arguments: dict[str, str], target: str
) -> None:
    maker = Tool(
        ToolSpec("Maker", "operation", "Makes it.", (FILENAME, OUTPUT_DIR)), make, writes=".docx", writes_as="document"
    )
    with Toolbox(workspace, Confinement("off", ""), extra=[maker]) as tools:
        assert tools.call("Maker", arguments) == ToolResult(f"Done.\nFiles: {target}", (target,))
    assert (workspace.root / target).read_text() == "made"


def test_inputs_are_not_overwritten(workspace: Workspace) -> None:
    maker = Tool(ToolSpec("Maker", "operation", "Makes it.", (FILENAME, OUTPUT_DIR)), make, writes=".csv")
    with Toolbox(workspace, Confinement("off", ""), extra=[maker]) as tools:
        result = tools.call("Maker", {"filename": "resources/files/sales.csv"})
        assert "is an input; write under another name" in result.text
        assert tools.call("Maker", {"filename": "x", "output_dir": "resources/files"}).is_error


# -- answers ----------------------------------------------------------------------------------------------------------


def long_answer(workspace: Workspace) -> str:
    return "".join(f"line {number:06}\n" for number in range(6_000))


def test_a_long_answer_comes_in_pages_that_miss_nothing(workspace: Workspace) -> None:
    reader = Tool(ToolSpec("Reader", "operation", "Reads."), long_answer, paged=True)
    whole, text, offset = long_answer(workspace), "", 0
    with Toolbox(workspace, Confinement("off", ""), extra=[reader]) as tools:
        spec = next(spec for spec in tools.specs if spec.name == "Reader")
        assert [parameter.name for parameter in spec.parameters] == ["offset"]
        for _ in range(3):
            page = tools.call("Reader", {"offset": offset} if offset else {}).text
            assert len(page) < MAX_TEXT + 300
            body = page.split("\n[characters")[0]
            text += body.split("]\n", 1)[1] if offset else body
            if "to read on" not in page:
                break
            offset = int(page.rsplit('"offset": ', 1)[1].rstrip("]"))
        assert text == whole
        assert (
            tools.call("Reader", {"offset": 10**6}).text
            == "`offset` is 1000000, and the answer has 72,000 characters, counted from 0"
        )
        assert tools.call("Reader", {"offset": -1}).is_error


def test_an_answer_that_has_no_pages_is_cut_and_says_so(workspace: Workspace) -> None:
    talker = Tool(ToolSpec("Talker", "logic", "Talks."), lambda: "x" * 5_000_000)
    with Toolbox(workspace, Confinement("off", ""), extra=[talker]) as tools:
        text = tools.call("Talker", {}).text
    assert text.endswith("\n[cut: 30,000 of 5,000,000 characters are shown]")
    assert len(text) < MAX_TEXT + 100


def test_each_call_is_recorded(workspace: Workspace) -> None:
    records: list[CallRecord] = []
    with Toolbox(workspace, Confinement("off", ""), on_call=records.append) as tools:
        tools.call("Calculator", '{"expression": "6*7"}')
        tools.call("Calculator", "{")
        tools.call("Nothing", "{}")
        assert (tools.calls, tools.errors) == (3, 2)
    assert [(record.name, record.ok) for record in records] == [
        ("Calculator", True),
        ("Calculator", False),
        ("Nothing", False),
    ]
    assert records[0].bytes == 2
    assert 0 < records[0].seconds < 60


def test_what_a_contributed_tool_raises_is_an_error_result(workspace: Workspace) -> None:
    def fails() -> str:
        raise RuntimeError("no such luck")

    with Toolbox(workspace, Confinement("off", ""), extra=[Tool(ToolSpec("Bad", "logic", "Fails."), fails)]) as tools:
        assert tools.call("Bad", {}) == ToolResult("Bad failed: RuntimeError: no such luck", is_error=True)


def test_a_call_that_takes_too_long_is_an_error_result(workspace: Workspace) -> None:
    with Toolbox(workspace, Confinement("process", ""), timeout_s=3) as tools:
        result = tools.call("Solver", {"command": "while True: pass"})
        assert result == ToolResult("Solver failed: it was ended after 3 s, the time a call may take", is_error=True)
        assert tools.call("Solver", {"command": "print(1)"}).text == "1"


# -- what is on offer -------------------------------------------------------------------------------------------------


def test_the_benchmarks_names_and_parameters_are_offered(workspace: Workspace) -> None:
    with Toolbox(workspace, Confinement("off", "")) as tools:
        schemas = {spec.name: spec.function_schema()["function"] for spec in tools.specs}
    assert {"Calculator", "Plot", "Solver"} <= set(schemas)
    assert schemas["Calculator"]["parameters"]["required"] == ["expression"]
    plot = schemas["Plot"]["parameters"]
    assert (list(plot["properties"]), plot["required"]) == (["command"], ["command"])
    assert plot["properties"]["command"]["type"] == "string"
    assert plot["additionalProperties"] is False
    for schema in schemas.values():
        assert json.loads(json.dumps(schema)) == schema
        assert len(schema["description"]) > 40


def test_a_release_offers_its_tools_in_its_words(workspace: Workspace) -> None:
    code = {"name": "command", "type": "text", "description": "Code!"}
    wordless = {"name": "expression", "type": "text", "description": None}
    metadata = {
        "Solver": {"name": "Solver", "description": "Solves.", "inputs": [code]},
        "Calculator": {"name": "Calculator", "description": None, "inputs": [wordless]},
        "TimeMachine": {"name": "TimeMachine", "description": "Goes back.", "inputs": []},
    }
    with Toolbox(workspace, Confinement("off", ""), metadata=metadata) as tools:
        solver, calculator = tools.specs
        assert tools.unknown == ("TimeMachine",)
        assert (solver.description, solver.parameters[0].description) == ("Solves.", "Code!")
        assert calculator.description.startswith("Evaluates one arithmetic expression")
        assert tools.call("Plot", "{}").text.startswith("there is no tool 'Plot'")


def test_only_some_may_be_offered(workspace: Workspace) -> None:
    with Toolbox(workspace, Confinement("off", ""), only=["Calculator", "Nope"]) as tools:
        assert [spec.name for spec in tools.specs] == ["Calculator"]
        assert tools.unknown == ("Nope",)
