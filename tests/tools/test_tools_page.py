"""docs/tools.md tells of the tools what they tell of themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_gta.cli import main
from pytest_gta.tools.backend import VISION, Backend
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool
from pytest_gta.tools.tools_page import tools_table

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_page_s_table_is_the_tools_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list", "--markdown"]) == 0
    table = re.search(r"<!-- the table .*-->\n(.*)<!-- end of the table -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert table is not None
    assert table[1] == capsys.readouterr().out, (
        "put the output of `pytest-gta tools list --markdown` into docs/tools.md"
    )


def test_a_row() -> None:
    parameters = (ToolParameter("image", "image", "."), ToolParameter("k", "int", ".", optional=True))
    spec = ToolSpec("Look", "perception", "Looks, e.g. at A | B (or C). Answers text.", parameters)
    tool = Tool(spec, "m:f", paged=True, backends=(VISION, Backend("A library", ("json",), "sight")))
    assert list(tools_table([tool]))[2:] == [
        "| `Look` | perception | Looks, e.g. at A \\| B (or C). | `image`, `[k]`, `[offset]` "
        "| vision endpoint or A library (`sight`) |"
    ]
