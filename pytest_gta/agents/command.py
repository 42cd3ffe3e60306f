"""Any command-line program as an agent, given as ``cmd:COMMAND``.

The request comes by a file (``$GTA_REQUEST``) and at standard input, the inputs lie in the working directory, the
benchmark's tools are an MCP server (``$GTA_MCP_CONFIG``). Deliverables are what it leaves; its final answer is what it
wrote to ``$GTA_FINAL_ANSWER``, else the end of its standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.agents.command_presets import KEY_VARIABLE, PRESETS, Preset, mcp_servers, settings_of
from pytest_gta.agents.command_process import GRACE_S, CommandEnd, CommandProcess
from pytest_gta.agents.failure import reads_like_an_outage, remark_on_kill
from pytest_gta.agents.imported import agent_environment
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.model_check import outage_behind
from pytest_gta.agents.outputs import FINAL_LIMIT, decoded
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_files import note, open_regular
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.agents.seclusion import Seclusion
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.agents.tool_service import ToolService
from pytest_gta.agents.whole_request import whole_request
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.endpoint import NO_KEY
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.workspace.memory_killer import KILLED_STATUSES, MemoryWatch

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

ANSWER_LIMIT = 20_000
"""Characters of the end of standard output that are a final answer."""
PLACES = ("request", "workspace", "mcp_config", "mcp_url", "model", "base_url")
"""What may stand in braces in a command: ``{request}`` is the path of the file with the request, and so on."""

_LOGGED_OUT = re.compile(
    r"\bnot logged in\b|\bplease (?:run /login|log ?in\b)|\bset an auth method\b|\b(?:no|missing|invalid) api key\b"
    r"|\b401 unauthorized\b",
    re.IGNORECASE,
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def read_command(text: str, bases: Sequence[Path]) -> tuple[Preset, str]:
    """Return a command as a preset, and the absolute path of its program.

    A command that is just the name of a preset is that preset. Of any other, words that name a file below one of
    `bases` are made absolute, as it runs in the task's directory.

    Raises:
        AgentSpecError: When it cannot be split into words, or there is no such program. One line.
    """
    preset = PRESETS.get(text.strip())
    if preset is None:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise AgentSpecError(f"--gta-agent=cmd:{text}: cannot be split into words: {error}") from None
        if not words:
            raise AgentSpecError("--gta-agent=cmd: needs a command, for example cmd:./my_agent.sh or cmd:codex")
        preset = Preset(command=tuple(_absolute(word, bases) for word in words))
    program = shutil.which(preset.command[0])
    if program is None:
        hint = "install it, or put it on the PATH" if text.strip() in PRESETS else "is it installed and executable?"
        raise AgentSpecError(f"--gta-agent=cmd:{text}: there is no program {preset.command[0]!r}; {hint}")
    return preset, str(Path(program).absolute())


def _absolute(word: str, bases: Sequence[Path]) -> str:
    if word.startswith(("-", "/", "{")):
        return word
    for base in bases:
        with contextlib.suppress(OSError, ValueError):
            if (base / word).is_file():
                return str((base / word).absolute())
    return word


class CommandAgent:
    """Runs a command, once for each task.

    Args:
        command: As given after ``cmd:``.
        label: What reports call it.
        limits: The task's budgets; the timeout holds for all that the command starts.
        seclusion: What it is kept from.
        bases: Where relative files of the command are looked for, in this order.
        environment: Variables to set for it.
        withheld: Names of environment variables that it must not see, besides those of the judge and the run.
    """

    def __init__(
        self,
        command: str,
        label: str,
        limits: Limits,
        seclusion: Seclusion,
        *,
        bases: Sequence[Path],
        environment: Mapping[str, str] | None = None,
        withheld: Sequence[str] = (),
    ) -> None:
        self.label = label
        self._command, self._limits, self._seclusion, self._bases = command, limits, seclusion, bases
        self._environment, self._withheld = dict(environment or {}), tuple(withheld)
        self._process: CommandProcess | None = None
        self._stopped = False

    @property
    def wall_cap_s(self) -> float:
        """Seconds after which it has ended whatever happens."""
        return self._limits.task_timeout_s + GRACE_S + 20.0

    def stop(self) -> None:
        """End the command and all it started."""
        self._stopped = True
        if self._process is not None:
            self._process.stop()

    def outage(self, run: AgentRun) -> str:
        """Return why its model does not serve, of a run that left no file; "" when it does or is not known."""
        return outage_behind(run, self._environment)

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Start the command, serve its tool calls and return how it ended.

        Raises:
            AgentUnavailable: When there is no such program, it cannot be started, reports that its model does not
                serve, or was killed because the machine ran out of memory.
        """
        self._stopped = False
        try:
            preset, program = read_command(self._command, self._bases)
        except AgentSpecError as error:
            raise AgentUnavailable(str(error)) from None
        with _private_folder(tools) as (private, beside), ToolService(tools, workspace) as service:
            note(tools, f"the command: {redact(self._command)}; {self._seclusion.note}")
            if service.why_not:
                note(tools, f"the benchmark's tools are not offered: {service.why_not}")
            request = private / "request.txt"
            request.write_text(_request(task, workspace, served=bool(service.url)), "utf-8")
            places = {
                "request": str(request),
                "workspace": str(workspace.root),
                "mcp_config": str(private / "mcp.json"),
                "mcp_url": service.url,
                "model": self._environment.get("GTA_MODEL", ""),
                "base_url": self._environment.get("GTA_BASE_URL", ""),
            }
            environment = self._variables(preset, private, places, service)
            words = self._words(preset, program, places, served=bool(service.url))
            memory = MemoryWatch()
            process = self._process = CommandProcess(
                self._seclusion.wrap(
                    words,
                    workspace=workspace.root,
                    inputs=[workspace.root / name for name in workspace.protected],
                    private=private,
                    home_files=preset.home_files,
                    path=environment.get("PATH", ""),
                ),
                cwd=workspace.root,
                environment=environment,
                request=request,
                output=beside / "agent_output.txt",
                errors=beside / "agent_errors.txt",
            )
            if self._stopped:  # before there was a process to stop
                process.stop()
            if isinstance(tools, RecordedTools):
                tools.end_by(time.monotonic() + self._limits.task_timeout_s)
            try:
                end = process.wait(self._limits.task_timeout_s)
            finally:
                process.stop()
                self._process = None
            for name in ("mcp.json", "settings.json"):
                (private / name).unlink(missing_ok=True)
            if service.fault is not None:
                raise service.fault
            run = self._ending(end, process, _answer(private / "final_answer.txt", process), workspace)
            if run.stop_reason is StopReason.AGENT_ERROR and (end.code is None or end.code in KILLED_STATUSES):
                run = replace(run, stop_detail=remark_on_kill(run.stop_detail, memory))
            return run

    def _variables(
        self, preset: Preset, private: Path, places: Mapping[str, str], service: ToolService
    ) -> dict[str, str]:
        """Return the command's environment, with the files written that it names."""
        variables = {
            "GTA_REQUEST": places["request"],
            "GTA_FINAL_ANSWER": str(private / "final_answer.txt"),
            **self._environment,
            **preset.environment,
        }
        if service.url:
            config = private / "mcp.json"
            config.write_text(json.dumps(mcp_servers(service.url, service.token), indent=1), "utf-8")
            variables |= {
                "GTA_MCP_CONFIG": str(config),
                "GTA_MCP_URL": service.url,
                "GTA_MCP_TOKEN": service.token,
            }
        if preset.settings:
            settings = private / "settings.json"
            settings.write_text(json.dumps(settings_of(preset.settings, places, service.token), indent=1), "utf-8")
            variables[preset.settings_variable] = str(settings)
        if preset.endpoint and places["model"] and places["base_url"] and not os.environ.get(KEY_VARIABLE):
            variables[KEY_VARIABLE] = NO_KEY  # its program asks for one, whatever the server does
        if self._seclusion.program:
            variables["TMPDIR"] = "/tmp"  # noqa: S108 - its own, empty one
        return agent_environment(variables, withheld=self._withheld)

    def _words(self, preset: Preset, program: str, places: Mapping[str, str], *, served: bool) -> list[str]:
        words = [program, *preset.command[1:]]
        if places["model"]:
            words += preset.endpoint if places["base_url"] and preset.endpoint else preset.model
        words += preset.tools if served else ()
        words += preset.secluded if self._seclusion.program else preset.exposed
        words += preset.last
        return [_filled(word, places) for word in words]

    def _ending(self, end: CommandEnd, process: CommandProcess, answer: str, workspace: Workspace) -> AgentRun:
        unknown = Usage(cost_usd=None)
        said = _ESCAPES.sub("", process.errors.end_of_text(2_000)).strip() or answer
        last = one_line(redact(said.splitlines()[-1] if said else ""), 200)
        if end.failed:
            raise AgentUnavailable(f"the command cannot be started: {end.failed}")
        if end.timed_out:
            limit = "it was told to stop" if self._stopped else f"still at work after {self._limits.task_timeout_s:g} s"
            return AgentRun(StopReason.TIMEOUT, answer, limit, usage=unknown)
        if end.code == 0:
            return AgentRun(StopReason.FINISHED, answer, usage=unknown)
        if self._seclusion.program and last.startswith("bwrap: "):
            raise AgentUnavailable(f"the command cannot be started: {last}; --gta-sandbox=off hides nothing from it")
        if not workspace.deliverables().files:
            if _LOGGED_OUT.search(said[-500:]):
                raise AgentUnavailable(f"it has no key or login here (give its key by a variable): {last}")
            if reads_like_an_outage(said[-300:]):
                raise AgentUnavailable(f"its model endpoint does not serve: {last}")
        if end.code is None:
            how = "its launcher was killed"
        else:
            how = f"was ended by signal {-end.code}" if end.code < 0 else f"exited with status {end.code}"
        return AgentRun(
            StopReason.AGENT_ERROR, answer, f"the command {how}{f': {last}' if last else ''}", usage=unknown
        )


def _filled(word: str, places: Mapping[str, str]) -> str:
    for name in PLACES:
        word = word.replace(f"{{{name}}}", places[name])
    return word


@contextmanager
def _private_folder(tools: Tools) -> Iterator[tuple[Path, Path]]:
    """Give a folder for the command's own use, and the one for its output, which it cannot reach."""
    transcript = getattr(tools, "transcript", None)
    if transcript is not None and transcript.path is not None:
        private = transcript.path.with_name("command")
        private.mkdir(parents=True, exist_ok=True)
        yield private, transcript.path.parent
        return
    with tempfile.TemporaryDirectory(prefix="pytest-gta-") as folder:
        private = Path(folder, "command")
        private.mkdir()
        yield private, Path(folder)


def _request(task: Brief, workspace: Workspace, *, served: bool) -> str:
    lines = [
        "Carry out the request below on your own: nobody answers questions. Where something is open, decide sensibly "
        "and say what you assumed.",
        "Your working directory is the task's. Deliver what the request asks for as files in it, under the names and "
        "in the formats it asks for.",
    ]
    if workspace.inputs:
        lines.append(f"Input files, read-only: {', '.join(workspace.inputs)}")
    if served:
        lines.append('The MCP server "gta" offers tools that work on the same files.')
    lines.append("End with a short final answer: the results, and the files you delivered by name.")
    return "\n".join(lines) + f"\n\nThe request:\n\n{whole_request(task)}\n"


def _answer(file: Path, process: CommandProcess) -> str:
    try:
        with open_regular(file) as reader:
            written = decoded(reader.read(FINAL_LIMIT)).strip()
    except OSError:
        written = ""
    return written or _ESCAPES.sub("", process.output.end_of_text(ANSWER_LIMIT)).strip()
