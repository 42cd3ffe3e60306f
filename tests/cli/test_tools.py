"""``pytest-gta tools``: list, call, serve, as a user types them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.cli import main
from pytest_gta.tools.table import TOOLS
from tests.openai_server import OpenAIServer, says


@pytest.fixture(autouse=True)
def _clean(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GTA_VISION_MODEL", "GTA_SPEECH_MODEL", "GTA_IMAGE_MODEL", "SERPER_API_KEY", "GTA_SEARCH_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.chdir(tmp_path)


# -- list -------------------------------------------------------------------------------------------------------------


def test_list_shows_every_tool_with_its_backend_and_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines[:-2]}
    assert list(rows) == list(TOOL_CAPABILITIES)
    assert re.search(r"Calculator +logic +built in +ready$", rows["Calculator"])
    assert re.search(
        r"ImageDescription +perception +vision endpoint +needs set GTA_VISION_MODEL$", rows["ImageDescription"]
    )
    assert re.fullmatch(rf"{len(TOOLS)} tools, \d+ ready here", lines[-1])


def test_list_as_json_knows_what_is_set_up(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTA_VISION_MODEL", "seer")
    assert main(["tools", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(rows) == len(TOOLS)
    described = rows["ImageDescription"]
    assert (described["ready"], described["needs"], described["backend"]) == (True, [], "vision endpoint")
    assert described["parameters"]["required"] == ["image"]
    assert rows["GoogleSearch"]["needs"] == ["set SERPER_API_KEY or GTA_SEARCH_URL"]


def test_the_tools_are_the_benchmark_s_with_their_capabilities() -> None:
    assert {tool.name: tool.spec.capability for tool in TOOLS} == TOOL_CAPABILITIES


# -- call -------------------------------------------------------------------------------------------------------------


def call(*arguments: str) -> int:
    return main(["tools", "call", *arguments])


def test_call_prints_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("Calculator", "expression=6*7 == 42") == 0
    assert capsys.readouterr() == ("True\n", "")


def test_call_reads_a_file_of_the_current_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs the ocr extra")
    pytest.importorskip("onnxruntime", reason="needs the ocr extra")
    picture = Image.new("RGB", (480, 90), "white")
    ImageDraw.Draw(picture).text((20, 25), "Invoice 4711", fill="black", font_size=40)
    picture.save(tmp_path / "scan.png")
    assert call("OCR", "image=scan.png") == 0
    assert re.findall(r"Invoice|4711", capsys.readouterr().out) == ["Invoice", "4711"]


def test_call_leaves_what_it_makes_in_the_workspace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("# Head\n\nBody.")
    assert call("DocxFileGenerator", "filename=report", "content=@text.md", "--workspace", ".") == 0
    assert "report.docx" in capsys.readouterr().out
    assert (tmp_path / "report.docx").read_bytes()[:2] == b"PK"


def test_a_file_from_elsewhere_is_copied_in_for_the_call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.csv").write_text("region,sales\nNorth,120\n")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for given in (str(tmp_path / "data.csv"), "../data.csv"):
        assert call("ReadCSV", f"csv_file={given}") == 0
        assert "North" in capsys.readouterr().out
    assert call("ReadPDF", "file=../data.csv") == 1
    assert ".pytest-gta-" not in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_a_call_that_fails_says_why_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("ReadCSV", "csv_file=none.csv") == 1
    out, err = capsys.readouterr()
    assert out == "" and "there is no file 'none.csv'" in err
    assert call("ReedCSV", "csv_file=none.csv") == 1
    assert "did you mean ReadCSV" in capsys.readouterr().err


def test_arguments_as_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("Calculator", "--json", '{"expression": "2**10"}') == 0
    assert capsys.readouterr().out == "1024\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"expression": "3**3"}'))
    assert call("Calculator", "--json", "-") == 0
    assert capsys.readouterr().out == "27\n"
    assert call("Calculator", "--json", '{"expression": ') == 1
    assert "cut off" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Calculator", "6*7"], "'6*7' is not KEY=VALUE"),
        (["Calculator", "expression=1", "--json", "{}"], "given twice"),
        (["Calculator", "expression=1", "--workspace", "nowhere"], "is not a folder"),
    ],
)
def test_a_call_that_makes_no_sense_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        call(*arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_call_asks_the_endpoint_that_the_environment_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("RGB", (40, 40), "red").save(tmp_path / "red.png")
    with OpenAIServer(lambda _: says("A red square.")) as server:
        monkeypatch.setenv("GTA_VISION_MODEL", "seer")
        monkeypatch.setenv("GTA_VISION_BASE_URL", server.base_url)
        assert call("ImageDescription", "image=red.png") == 0
    assert "A red square." in capsys.readouterr().out
    assert server.chats[0].model == "seer"


# -- serve: what it refuses; that it serves is told in tests/tools/test_mcp_server.py ----------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workspace", "/"], "your home folder would be in it"),
        (["--workspace", "ws", "--record", "ws/calls.jsonl"], "the agent could change it"),
        (["--workspace", "ws", "--http", "0", "--host", "0.0.0.0"], "set GTA_MCP_TOKEN"),
        (["--workspace", "ws", "--input", "none.csv"], "there is no such file"),
        (["--workspace", "ws", "--toolmeta", "none.json"], "cannot be read"),
        (["--workspace", "file"], "is not a folder"),
    ],
)
def test_serve_refuses(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    pytest.importorskip("mcp_types", reason="needs the mcp extra")
    monkeypatch.delenv("GTA_MCP_TOKEN", raising=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["tools", "serve", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_serve_without_the_package_says_what_to_install(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['mcp_types'] = None\n"
        f"from pytest_gta.cli import main; main(['tools', 'serve', '--workspace', {str(tmp_path)!r}])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "pip install 'pytest-gta[mcp]'" in ended.stderr
