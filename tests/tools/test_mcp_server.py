"""The tools over MCP, as an agent meets them: the public client, a server process of its own, both transports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("mcp_types", reason="needs the mcp extra")
import anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from pytest_gta.tools.backend import readiness
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.table import TOOLS
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement, choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import tone, write_video, write_wave

KEY = "sk-planted-0123456789"
TOKEN = "a token of the test's own"

Connection = Callable[[], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True)
class Ground:
    """Workspaces of two tasks, and what no tool may read: a secret, a rubric, the other task's files, a key."""

    root: Path
    work: Path

    @property
    def record(self) -> Path:
        return self.root / "record" / "calls.jsonl"

    def environment(self, **further: str) -> dict[str, str]:
        dropped = re.compile(r"GTA_|OPENAI_|EVAL_|SERPER_|PYTEST_")
        kept = {name: value for name, value in os.environ.items() if not dropped.match(name)}
        return {**kept, "OPENAI_API_KEY": KEY, **further}

    def arguments(self, *further: str) -> list[str]:
        served = ["tools", "serve", "--workspace", str(self.work), "--record", str(self.record)]
        return ["-m", "pytest_gta", *served, *further]

    def over_stdio(self, *further: str) -> Connection:
        parameters = StdioServerParameters(
            command=sys.executable, args=self.arguments(*further), env=self.environment(), cwd=str(self.root)
        )
        return lambda: stdio_client(parameters)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    root = tmp_path_factory.mktemp("mcp").resolve()
    work, other = root / "tasks" / "one" / "workspace", root / "tasks" / "two" / "workspace"
    (work / "resources" / "files").mkdir(parents=True)
    (work / "resources" / "files" / "sales.csv").write_text("region,sales\nNorth,120\n")
    Image.new("RGB", (64, 48), "navy").save(work / "picture.png")
    other.mkdir(parents=True)
    (other / "answer.txt").write_text("planted answer")
    (root / "secret.txt").write_text("planted secret")
    (root / "end.json").write_text('{"sub_tasks": "planted rubric"}')
    (work / "link.txt").symlink_to(root / "secret.txt")
    (work / "up").symlink_to(root)
    return Ground(root, work)


@pytest.fixture(scope="module")
def http(ground: Ground) -> Iterator[str]:
    """The address of a server over HTTP, which wants a token."""
    process = subprocess.Popen(
        [sys.executable, *ground.arguments("--http", "0")],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ground.root,
        env=ground.environment(GTA_MCP_TOKEN=TOKEN),
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        assert address, line + process.stderr.read()
        yield address[0]
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


@pytest.fixture(params=["stdio", "http"])
def connection(request: pytest.FixtureRequest, ground: Ground) -> Connection:
    if request.param == "stdio":
        return ground.over_stdio()
    return over_http(request.getfixturevalue("http"), TOKEN)


def over_http(address: str, token: str) -> Connection:
    import httpx2

    def connect() -> AbstractAsyncContextManager[Any]:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        return streamable_http_client(address, http_client=client)

    return connect


def talk(connection: Connection, ask: Callable[[Client], Any], mode: str = "auto") -> Any:
    """Return what an asynchronous function of a client returns."""

    async def run() -> Any:
        async with Client(connection(), mode=mode) as client:
            return await ask(client)

    return anyio.run(run)


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


# -- every tool -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_are_listed_with_their_own_schemas(connection: Connection, mode: str) -> None:
    async def ask(client: Client) -> Any:
        return (await client.list_tools()).tools, client.server_info, client.instructions

    tools, server, told = talk(connection, ask, mode)
    with Toolbox(Workspace.open(Path(), ()), Confinement("off", "")) as toolbox:
        expected = [spec.function_schema()["function"] for spec in toolbox.specs]
    listed = [{"name": t.name, "description": t.description, "parameters": t.input_schema} for t in tools]
    assert listed == expected
    assert server.name == "gta-tools"
    assert "resources/files/sales.csv" in told


def test_every_tool_answers(ground: Ground) -> None:
    # Over one transport: what a tool answers is made before either is chosen, and others test each of the two.
    make_inputs(ground.work)

    async def ask(client: Client) -> dict[str, Any]:
        return {tool.name: await client.call_tool(tool.name, arguments(tool.spec)) for tool in TOOLS}

    answers = talk(ground.over_stdio(), ask)
    wrong = {}
    for tool in TOOLS:
        answer, state = answers[tool.name], readiness(tool.backends, ())
        if state.ready and answer.is_error:
            wrong[tool.name] = text_of(answer)
        if not state.ready:
            brings = [word for need in state.needs for word in need.split() if "GTA_" in word or "pytest-gta[" in word]
            if not answer.is_error or not any(word in text_of(answer) for word in brings):
                wrong[tool.name] = f"{state.words}: {text_of(answer)}"
        for part in answer.content:
            if part.type == "resource_link":
                assert (ground.work / part.name).stat().st_size == part.size
    assert wrong == {}


def make_inputs(work: Path) -> None:
    """Make the sound and the film that `arguments` names; its documents are made by the generators, called before."""
    if (work / "film.mp4").exists():
        return
    pytest.importorskip("av", reason="needs the media extra")
    write_wave(work / "sound.wav", tone(440, 2.0))
    write_video(work / "film.mp4", seconds=2.0)


def arguments(spec: ToolSpec) -> dict[str, Any]:
    """Arguments that a tool can work on, in the workspace as `make_inputs` leaves it."""
    given: dict[str, Any] = json.loads(spec.example())
    documents = {"ReadDOCX": "made.docx", "ReadPDF": "made.pdf", "ReadPPTX": "made.pptx", "ReadXLSX": "made.xlsx"}
    made = {f"{kind}FileGenerator": f"made.{kind.lower()}" for kind in ("Docx", "Pdf", "Pptx", "Xlsx", "Csv", "Html")}
    paths = {
        "image": "picture.png",
        "audio": "sound.wav",
        "video": "film.mp4",
        "csv_file": "resources/files/sales.csv",
        "file": documents.get(spec.name, ""),
        "filename": made.get(spec.name, ""),
        "bbox": "(4, 4, 40, 40)",
        "start_time": 0.2,
        "end_time": 1.2,
        "num_frames": 4,
        "duration": 1,
    }
    names = {p.name for p in spec.parameters}
    for name, value in paths.items():
        if name in names and value != "" and (name in given or name in ("end_time", "num_frames")):
            given[name] = value
    return given


# -- results ----------------------------------------------------------------------------------------------------------


def test_files_come_as_links_and_small_pictures_as_pictures(connection: Connection, ground: Ground) -> None:
    async def ask(client: Client) -> Any:
        made = await client.call_tool("Plot", {"command": "plt.plot([1, 2])\nplt.savefig('a chart.png')\nplt.close()"})
        link = next(part for part in made.content if part.type == "resource_link")
        return made, await client.read_resource(link.uri), await client.list_resources()

    made, read, listed = talk(connection, ask)
    assert [part.type for part in made.content] == ["text", "resource_link", "image"]
    link, picture = made.content[1:]
    assert (link.uri, link.name, link.mime_type) == ("workspace:///a%20chart.png", "a chart.png", "image/png")
    assert link.size == (ground.work / "a chart.png").stat().st_size
    assert picture.mime_type == "image/png" and read.contents[0].blob == picture.data
    assert {"resources/files/sales.csv", "a chart.png"} <= {entry.name for entry in listed.resources}
    assert {"link.txt"} & {entry.name for entry in listed.resources} == set()


def test_what_a_model_does_wrong_is_an_error_result(connection: Connection) -> None:
    async def ask(client: Client) -> Any:
        return [
            await client.call_tool("Calculater", {"expression": "1"}),
            await client.call_tool("Calculator", {}),
            await client.call_tool("Calculator", {"expression": "1", "extra": 2}),
            await client.call_tool("Calculator", {"expression": "1/0"}),
            await client.call_tool("Calculator", {"expression": "6*7"}),
        ]

    answers = talk(connection, ask)
    assert [answer.is_error for answer in answers] == [True, True, True, True, False]
    assert "did you mean Calculator" in text_of(answers[0])
    assert "`expression` is missing" in text_of(answers[1])
    assert "`extra`" in text_of(answers[2])
    assert text_of(answers[4]) == "42"


def test_calls_are_recorded(ground: Ground) -> None:
    async def ask(client: Client) -> None:
        await client.call_tool("Calculator", {"expression": "2**10"})
        await client.call_tool("Calculator", {"expression": "nonsense"})

    talk(ground.over_stdio(), ask)
    first, second = map(json.loads, ground.record.read_text().splitlines()[-2:])
    assert (first["tool"], first["ok"], first["arguments"]) == ("Calculator", True, {"expression": "2**10"})
    assert (second["ok"], second["arguments"]) == (False, {"expression": "nonsense"})


def test_what_is_served_can_be_chosen_and_described(ground: Ground) -> None:
    meta = ground.root / "toolmeta.json"
    meta.write_text(json.dumps({"Calculator": {"description": "Sums."}, "OCR": {}}))

    async def ask(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = talk(ground.over_stdio("--toolmeta", str(meta), "--only", "Calculator"), ask)
    assert [(tool.name, tool.description) for tool in tools] == [("Calculator", "Sums.")]


def test_a_call_that_hangs_does_not_keep_the_server_from_ending(ground: Ground) -> None:
    async def ask(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "Solver", {"command": "open('began', 'w').close()\nwhile True: pass"})
            with anyio.fail_after(60):
                while not (ground.work / "began").exists():
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()

    started = time.monotonic()
    talk(ground.over_stdio(), ask)
    assert time.monotonic() - started < 100, "a call may take two minutes"


# -- the token --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_nothing_is_served_without_the_token(http: str, headers: dict[str, str]) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(http, data=body, headers=headers), timeout=10)
    assert refused.value.code == 401
    refused.value.close()


def test_a_page_in_a_browser_cannot_reach_the_server(http: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example", "Content-Type": "application/json"}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(http, data=b"{}", headers=headers), timeout=10)
    assert refused.value.code in (403, 421)
    refused.value.close()


# -- the workspace is not left ----------------------------------------------------------------------------------------

STRONG = choose_confinement().backend in ("sandlock", "bwrap")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("{root}/secret.txt", "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("../../../secret.txt", "goes up with '..'"),
        ("resources/../../../../end.json", "goes up with '..'"),
        ("link.txt", "a link that leaves"),
        ("up/end.json", "a link that leaves"),
        ("file://{root}/secret.txt", "a file address"),
        ("~/secret.txt", "in a home folder"),
        ("picture.png\0.txt", "NUL"),
        ("../../two/workspace/answer.txt", "goes up with '..'"),
        ("{root}/tasks/two/workspace/answer.txt", "outside the workspace"),
        ("/proc/self/environ", "outside the workspace"),
        ("/proc/self/root/etc/passwd", "outside the workspace"),
        ("http://127.0.0.1/x", "a http: address"),
    ],
)
def test_no_path_leaves_the_workspace(ground: Ground, path: str, reason: str, held: Asked) -> None:
    path = path.format(root=ground.root)
    for tool, argument in (("ReadCSV", "csv_file"), ("ReadPDF", "file"), ("OCR", "image"), ("AudioClipTool", "audio")):
        given = {argument: path} | ({"start_time": 0, "end_time": 1} if tool == "AudioClipTool" else {})
        answer = held.call(tool, given)
        assert answer.is_error, tool
        assert reason in text_of(answer), tool
        assert "planted" not in text_of(answer)
    written = held.call("CsvFileGenerator", {"filename": path, "data_str": "a,b\n1,2"})
    assert written.is_error or path == "link.txt"
    refused = held.read(path)
    assert isinstance(refused, MCPError) and reason in refused.message
    assert (ground.root / "secret.txt").read_text() == "planted secret"
    assert (ground.root / "end.json").read_text() == '{"sub_tasks": "planted rubric"}'


READ_ALL = """
import os, socket
WANTED = {wanted!r}
def attempt(function, *arguments):
    try:
        return str(function(*arguments))
    except BaseException as error:
        return type(error).__name__
def read(path):
    with open(path, 'rb') as file:
        return file.read(10_000)
def solution():
    said = []
    for path in WANTED:
        said.append(attempt(read, path))
        for name in ('symlink', 'link'):
            attempt(os.unlink, 'stolen.txt')
            attempt(getattr(os, name), path, 'stolen.txt')
            said.append(attempt(read, 'stolen.txt'))
    attempt(os.unlink, 'stolen.txt')
    pids = ['self', 'thread-self', 1, os.getppid(), *[name for name in os.listdir('/proc') if name.isdigit()]]
    for pid in pids:
        for name in ('environ', 'cmdline', 'root{root}/secret.txt', 'cwd/../../../secret.txt', 'fd/0', 'fd/1'):
            said.append(attempt(read, f'/proc/{{pid}}/{{name}}') if 'fd' not in name else '')
    said.append(attempt(os.listdir, '{root}'))
    said.append(str(dict(os.environ)))
    said.append(attempt(socket.create_connection, ('127.0.0.1', {port}), 1))
    open('loot.txt', 'w').write('\\n'.join(said))
    return ' '.join(said)
"""


@pytest.mark.skipif(not STRONG, reason="no confinement that hides files works here")
@pytest.mark.parametrize("tool", ["Plot", "Solver"])
def test_code_a_model_wrote_reads_no_secret_no_rubric_and_no_key(
    ground: Ground, held: Asked, http: str, tool: str
) -> None:
    wanted = [str(ground.root / name) for name in ("secret.txt", "end.json", "tasks/two/workspace/answer.txt")]
    wanted += ["../../../secret.txt", "link.txt", "up/end.json", str(ground.record)]
    port = int(http.rpartition(":")[2].partition("/")[0])
    code = READ_ALL.format(wanted=wanted, root=ground.root, port=port)
    (ground.work / "loot.txt").unlink(missing_ok=True)
    answer = held.call(tool, {"command": code})
    loot = (ground.work / "loot.txt").read_text() + text_of(answer)
    assert "PermissionError" in loot or "FileNotFoundError" in loot
    for planted in ("planted", KEY, TOKEN, "secret.txt', ", "<socket"):
        assert planted not in loot
    leftover = held.read("stolen.txt")
    assert isinstance(leftover, MCPError)


def test_without_confinement_the_same_code_reads_all_of_it(ground: Ground) -> None:
    """What was tried above is a real attempt."""
    code = READ_ALL.format(wanted=[str(ground.root / "secret.txt"), "up/end.json"], root=ground.root, port=9)
    with Toolbox(Workspace.open(ground.work, ()), Confinement("off", "")) as toolbox:
        toolbox.call("Solver", {"command": code})
    loot = (ground.work / "loot.txt").read_text()
    assert "planted secret" in loot and "planted rubric" in loot
    (ground.work / "loot.txt").unlink()


@pytest.mark.skipif(not STRONG, reason="no confinement that hides files works here")
def test_a_link_that_code_made_is_not_followed_by_other_tools(ground: Ground, held: Asked) -> None:
    code = f"""
import os
for name, target in (('s.csv', 'secret.txt'), ('s.png', 'end.json')):
    os.symlink({str(ground.root)!r} + '/' + target, name)
print('made')
"""
    held.call("Solver", {"command": code})
    assert (ground.work / "s.csv").is_symlink()
    for tool, given in (("ReadCSV", {"csv_file": "s.csv"}), ("OCR", {"image": "s.png"})):
        answer = held.call(tool, given)
        assert answer.is_error and "a link that leaves the workspace" in text_of(answer)
    answer = held.call("CsvFileGenerator", {"filename": "s.csv", "data_str": "a\n1"})
    assert answer.is_error and (ground.root / "secret.txt").read_text() == "planted secret"
    assert isinstance(held.read("workspace:///s.csv"), MCPError)


def test_inputs_are_not_changed(ground: Ground, held: Asked) -> None:
    answer = held.call("CsvFileGenerator", {"filename": "resources/files/sales.csv", "data_str": "a\n1"})
    assert answer.is_error and "write under another name" in text_of(answer)
    held.call("Solver", {"command": "open('resources/files/sales.csv', 'w').write('x')\nprint('done')"})
    assert (ground.work / "resources" / "files" / "sales.csv").read_text() == "region,sales\nNorth,120\n"


class Asked:
    """A server in this process, asked as its protocol handlers are; what was raised is returned."""

    def __init__(self, ground: Ground) -> None:
        from pytest_gta.tools.mcp_server import ToolServer

        self._workspace = Workspace.open(ground.work, ["resources/files/sales.csv"])
        self._toolbox = Toolbox(self._workspace, choose_confinement())
        self._server = ToolServer(self._toolbox).protocol()

    def call(self, tool: str, given: dict[str, Any]) -> Any:
        return self._ask(lambda client: client.call_tool(tool, given))

    def read(self, path: str) -> Any:
        return self._ask(lambda client: client.read_resource(path))

    def close(self) -> None:
        self._toolbox.close()

    def _ask(self, ask: Callable[[Client], Any]) -> Any:
        async def run() -> Any:
            async with Client(self._server) as client:
                try:
                    return await ask(client)
                except MCPError as error:
                    return error

        return anyio.run(run)


@pytest.fixture(scope="module")
def held(ground: Ground) -> Iterator[Asked]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        asked = Asked(ground)
        try:
            yield asked
        finally:
            asked.close()
