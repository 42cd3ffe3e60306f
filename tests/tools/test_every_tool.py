"""What holds for every tool: its words, its examples, and that no path leads out of the workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.tools.arguments import read_arguments
from pytest_gta.tools.table import TOOLS
from pytest_gta.tools.tool import Tool
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from tests.tools.conftest import make_workspace

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
readers = pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.reads], ids=lambda tool: tool.name)

SECRET = "planted-secret-8841"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    folder = tmp_path_factory.mktemp("every")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "other" / "task").mkdir(parents=True)
    (folder / "other" / "task" / "secret.txt").write_text(SECRET)
    workspace = make_workspace(folder / "workspace")
    (workspace.root / "link.txt").symlink_to(folder / "secret.txt")
    (workspace.root / "linked").symlink_to(folder / "other")
    with Toolbox(workspace, Confinement("off", "")) as made:
        yield made


@every_tool
def test_the_words_are_there_and_the_example_would_be_accepted(tool: Tool) -> None:
    assert tool.spec.description.endswith(".") and len(tool.spec.description) > 20
    names = [parameter.name for parameter in tool.spec.parameters]
    assert len(set(names)) == len(names) and all(parameter.description for parameter in tool.spec.parameters)
    assert set(tool.reads) <= set(names)
    assert read_arguments(tool.spec.example(), tool.spec).keys() == set(tool.spec.required)
    json.dumps(tool.spec.function_schema())


@readers
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../secret.txt",
        "resources/../../secret.txt",
        "link.txt",
        "linked/task/secret.txt",
        "~/secret.txt",
        "file:///etc/passwd",
        "//server/share/x",
        "sales\0.csv",
        "/proc/self/environ",
        "",
    ],
)
def test_no_path_leads_out_of_the_workspace(tools: Toolbox, tool: Tool, path: str) -> None:
    given: dict[str, Any] = {**json.loads(tool.spec.example()), **dict.fromkeys(tool.reads, path)}
    answer = tools.call(tool.name, given)
    assert answer.is_error and not answer.files
    assert SECRET not in answer.text and "root:" not in answer.text
    assert str(Path(tools.workspace.root).parent) not in answer.text
