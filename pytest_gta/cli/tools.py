"""``pytest-gta tools``: list the benchmark's tools, call one, or serve all of them to an agent over MCP."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.tools.backend import Readiness
    from pytest_gta.tools.endpoints import ToolEndpoints
    from pytest_gta.tools.tool import Tool
    from pytest_gta.workspace.confinement import Confinement
    from pytest_gta.workspace.workspace import Workspace

INPUTS = "resources"
"""The folder of a workspace whose files are inputs, and read-only: where the benchmark's tasks have theirs."""

_PATH_TYPES = ("image", "audio", "video", "file")


def add_to(subcommands: Any) -> None:
    """Add the subcommands."""
    tools = subcommands.add_parser("tools", help="list the benchmark's tools, call one, or serve them over MCP")
    chosen = tools.add_subparsers(title="commands", metavar="COMMAND", required=True)

    parser = chosen.add_parser("list", help="show each tool, what it works with, and whether it is ready here")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print it as JSON, with descriptions and parameters")
    form.add_argument("--markdown", action="store_true", help="print the table of docs/tools.md")
    parser.set_defaults(run=list_tools)

    parser = chosen.add_parser(
        "call",
        help="call one tool and print its answer",
        description="Call one tool and print its answer. The exit code is 1 when the answer is an error. Files outside "
        "the workspace are copied in for the time of the call; what the tool makes is left in the workspace.",
    )
    parser.add_argument("name", metavar="NAME", help="the tool, such as OCR")
    parser.add_argument("arguments", metavar="KEY=VALUE", nargs="*", help="its arguments; KEY=@FILE takes FILE's text")
    parser.add_argument("--json", metavar="ARGS", help="its arguments as a JSON object; - reads it from standard input")
    parser.add_argument(
        "--workspace", metavar="DIR", type=Path, help="the folder to work in (default: the current one)"
    )
    _add_confining(parser)
    parser.set_defaults(run=call_tool)

    parser = chosen.add_parser(
        "serve",
        help="serve the tools to an agent over MCP",
        description="Serve the tools to an agent over MCP: to the program that starts this, through standard input and "
        f"output, or over HTTP. The files in the workspace's {INPUTS} folder are inputs, which no tool changes. "
        "GTA_MCP_TOKEN sets a token that HTTP clients must send (Authorization: Bearer ...).",
    )
    parser.add_argument("--workspace", metavar="DIR", type=Path, required=True, help="the folder that tools work in")
    parser.add_argument("--http", metavar="PORT", type=int, help="serve over HTTP at this port; 0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; other than loopback needs GTA_MCP_TOKEN")
    parser.add_argument("--record", metavar="FILE", type=Path, help="add a JSON line for each call to this file")
    parser.add_argument("--input", metavar="PATH", action="append", default=[], help="a further input, read-only")
    parser.add_argument("--only", metavar="NAMES", help="serve only these tools, separated by commas")
    parser.add_argument(
        "--toolmeta", metavar="FILE", type=Path, help="describe tools as a release's toolmeta.json does"
    )
    _add_confining(parser)
    parser.set_defaults(run=serve_tools)


def _add_confining(parser: argparse.ArgumentParser) -> None:
    from pytest_gta.workspace.confinement import CHOICES

    parser.add_argument(
        "--sandbox",
        metavar="NAME",
        choices=CHOICES,
        default=os.environ.get("GTA_SANDBOX", "").strip() or "auto",
        help=f"how tools are confined: {', '.join(CHOICES)} (default: auto)",
    )
    parser.add_argument("--timeout", metavar="S", type=float, default=120.0, help="seconds a call may take (120)")


# -- list -------------------------------------------------------------------------------------------------------------


def list_tools(given: argparse.Namespace) -> int:
    """Print the tools."""
    from pytest_gta.tools.backend import readiness
    from pytest_gta.tools.endpoint_settings import set_up
    from pytest_gta.tools.tools_page import tools_table

    if given.markdown:
        print("\n".join(tools_table(all_tools())))
        return 0
    there = set_up(_endpoints())
    rows = [(tool, readiness(tool.backends, there)) for tool in all_tools()]
    if given.json:
        print(json.dumps([_as_json(*row) for row in rows], indent=1, ensure_ascii=False))
        return 0
    width = max(len(tool.name) for tool, _ in rows)
    backend_width = max(len(state.backend) for _, state in rows)
    for tool, state in rows:
        print(f"{tool.name:<{width}}  {tool.spec.capability:<10}  {state.backend:<{backend_width}}  {state.words}")
    ready = sum(state.ready for _, state in rows)
    print(f"\n{len(rows)} tools, {ready} ready here")
    return 0


def all_tools() -> tuple[Tool, ...]:
    """Return all tools, by capability as the benchmark orders them."""
    from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
    from pytest_gta.tools.table import TOOLS

    order = list(TOOL_CAPABILITIES)
    return tuple(sorted(TOOLS, key=lambda tool: order.index(tool.name) if tool.name in order else len(order)))


def _as_json(tool: Tool, state: Readiness) -> dict[str, Any]:
    function = tool.spec.function_schema()["function"]
    return {
        "name": tool.name,
        "capability": tool.spec.capability,
        "backend": state.backend,
        "ready": state.ready,
        "needs": list(state.needs),
        "better": state.better,
        "description": function["description"],
        "parameters": function["parameters"],
    }


# -- call -------------------------------------------------------------------------------------------------------------


def call_tool(given: argparse.Namespace) -> int:
    """Call one tool; print its answer to standard output, an error to standard error."""
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.confined_process import Limits
    from pytest_gta.workspace.workspace import Workspace

    arguments = _arguments(given.arguments, given.json)
    workspace = Workspace.open(_folder(given.workspace or Path.cwd()), ())
    brought = _Brought(workspace)
    with (
        brought,
        Toolbox(
            workspace,
            _confinement(given),
            timeout_s=given.timeout,
            limits=Limits(shared=True),
            endpoints=_endpoints(),
        ) as toolbox,
    ):
        if isinstance(arguments, dict):
            arguments = brought.arguments(given.name, arguments)
        result = toolbox.call(given.name, arguments)
    text = brought.as_given(result.text)
    print(text, file=sys.stderr if result.is_error else sys.stdout)
    return 1 if result.is_error else 0


def _arguments(pairs: Sequence[str], raw: str | None) -> dict[str, Any] | str:
    """Return the arguments as an object, or as the text that is to be one."""
    if raw is not None:
        if pairs:
            raise SettingsError("arguments are given twice: either as KEY=VALUE or by --json")
        text = sys.stdin.read() if raw == "-" else raw
        with suppress(ValueError):
            value = json.loads(text)
            if isinstance(value, dict):
                return value
        return text
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise SettingsError(f"{pair!r} is not KEY=VALUE, such as image=scan.png")
        if value.startswith("@") and Path(value[1:]).is_file():
            try:
                value = Path(value[1:]).read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"{key}: {value[1:]} cannot be read as text: {error}") from None
        arguments[key] = value
    return arguments


class _Brought:
    """Copies of files from outside the workspace, in a hidden folder of it, gone when the call is over."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder: Path | None = None
        self._given: dict[str, str] = {}

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def arguments(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a tool's arguments with the paths of copies for files that lie outside."""
        tool = next((tool for tool in all_tools() if tool.name == name), None)
        if tool is None:
            return dict(arguments)
        paths = {p.name for p in tool.spec.parameters if p.type in _PATH_TYPES} | set(tool.reads)
        return {
            key: self._inside(value) if key in paths and isinstance(value, str) else value
            for key, value in arguments.items()
        }

    def as_given(self, text: str) -> str:
        """Return a text with the paths of copies as the user gave them."""
        for copy, given in self._given.items():
            text = text.replace(copy, given)
        return text

    def _inside(self, value: str) -> str:
        from pytest_gta.workspace.workspace import PathRefused

        try:
            self._workspace.resolve(value)
        except PathRefused:
            source = Path(value).expanduser()
            try:
                if not source.is_file():
                    return value
                if self._folder is None:
                    self._folder = Path(tempfile.mkdtemp(prefix=".pytest-gta-", dir=self._workspace.root))
                shutil.copyfile(source, self._folder / source.name)
            except (OSError, ValueError) as error:
                raise SettingsError(f"{value!r} cannot be copied into the workspace: {error}") from None
            copy = self._workspace.relative(self._folder / source.name)
            self._given[copy] = value
            return copy
        return value


# -- serve ------------------------------------------------------------------------------------------------------------


def serve_tools(given: argparse.Namespace) -> int:
    """Serve the tools until the client has gone or this is interrupted."""
    try:
        import anyio

        from pytest_gta.tools.mcp_server import ToolServer
    except ImportError as error:
        raise SettingsError(f"serving needs the MCP package: pip install 'pytest-gta[mcp]' ({error})") from None
    from pytest_gta.llm.addresses import LOOPBACK
    from pytest_gta.tools.call_log import CallLog
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.confined_process import Limits

    token = os.environ.get("GTA_MCP_TOKEN", "").strip()
    if given.http is not None and given.host not in LOOPBACK and not token:
        raise SettingsError(
            f"--host {given.host} lets other machines connect: set GTA_MCP_TOKEN to a token of your own"
        )
    workspace = _served(given.workspace, given.input)
    confinement = _confinement(given)
    toolbox = Toolbox(
        workspace,
        confinement,
        only=given.only.replace(",", " ").split() if given.only else None,
        metadata=_toolmeta(given.toolmeta) if given.toolmeta else None,
        timeout_s=given.timeout,
        # The agent may well write in the folder by itself.
        limits=Limits(shared=True),
        endpoints=_endpoints(),
    )
    if toolbox.unknown:
        _say(f"there is no tool {', '.join(toolbox.unknown)}; the others are served")
    server = ToolServer(toolbox, CallLog(_record(given.record, workspace) if given.record else None))

    def ready(where: str) -> None:
        _say(f"{len(toolbox.specs)} tools on {workspace.root} {where}; {confinement.note}")

    try:
        if given.http is None:
            ready("over standard input and output")
            anyio.run(server.serve_stdio)
        else:
            anyio.run(
                lambda: server.serve_http(given.host, given.http, token=token, on_ready=lambda u: ready(f"at {u}"))
            )
    except OSError as error:
        if given.http is not None:
            raise SettingsError(f"cannot listen at {given.host}:{given.http}: {error}") from None
        # Standard output is closed: the client has gone.
    except KeyboardInterrupt:
        pass
    finally:
        counts = server.log.counts
        rate = "" if counts.success_rate is None else f", Tool SR {counts.success_rate:.1f} %"
        _say(f"{counts.calls} calls, {counts.errors} errors{rate}")
        if not server.busy:
            toolbox.close()
    return 0


def _served(root: Path, further: Sequence[str]) -> Workspace:
    """Open the workspace to serve, made if need be; its inputs are the files in `INPUTS` and those that were named."""
    from pytest_gta.workspace.workspace import Workspace

    root = root.expanduser().absolute()
    if Path.home().resolve().is_relative_to(root.resolve()):
        raise SettingsError(f"--workspace {root}: your home folder would be in it; name a folder of its own")
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--workspace {root} is not a folder and cannot be made: {error.strerror}") from None
    found = [path for path in sorted((root / INPUTS).rglob("*")) if path.is_file() and not path.is_symlink()]
    inputs = [path.relative_to(root).as_posix() for path in found]
    for path in further:
        if Path(path).is_absolute() or not (root / path).is_file():
            raise SettingsError(f"--input {path}: there is no such file in {root}; name it relative to that folder")
        inputs.append(Path(path).as_posix())
    return Workspace.open(root, list(dict.fromkeys(inputs)))


def _record(file: Path, workspace: Workspace) -> Path:
    path = file.expanduser().absolute()
    if path.resolve().is_relative_to(workspace.root):
        raise SettingsError(f"--record {path}: it lies in the workspace, where the agent could change it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise SettingsError(f"--record {path} cannot be written to: {error.strerror}") from None
    return path


def _toolmeta(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.expanduser().read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"--toolmeta {file} cannot be read: {error}") from None
    if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
        raise SettingsError(f"--toolmeta {file} is not an object that has an object for each tool")
    return value


# -- what these share -------------------------------------------------------------------------------------------------


def _endpoints() -> ToolEndpoints:
    from pytest_gta.tools.endpoint_settings import EndpointSettingsError, endpoints_from

    try:
        return endpoints_from(os.environ)
    except EndpointSettingsError as error:
        raise SettingsError(str(error)) from None


def _confinement(given: argparse.Namespace) -> Confinement:
    from pytest_gta.workspace.confinement import ConfinementUnavailable, choose_confinement

    try:
        return choose_confinement(given.sandbox)
    except (ConfinementUnavailable, ValueError) as error:
        raise SettingsError(str(error).replace("--gta-sandbox", "--sandbox")) from None


def _folder(path: Path) -> Path:
    path = path.expanduser().absolute()
    if not path.is_dir():
        raise SettingsError(f"--workspace {path} is not a folder")
    return path


def _say(line: str) -> None:
    print(f"pytest-gta: {line}", file=sys.stderr, flush=True)
