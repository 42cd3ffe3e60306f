"""What `--gta-agent` says, as a value: which kind of agent, on what, and the label it goes by."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from pytest_gta.agents.frameworks.recognition import FRAMEWORKS
from pytest_gta.llm.addresses import is_http

FORMS = (
    ("tools", "the model given by --gta-model, with native tool calls"),
    ("react", "the same model, in the paper's set-up of thought, action and response in plain text"),
    ("import:pkg.mod:name", "your own agent: a class, a factory, a function, or an agent of a framework"),
    ("openai-agents", "a plain agent of the OpenAI Agents SDK on that model"),
    ("pydantic-ai", "a plain agent of pydantic-ai on that model"),
    ("langgraph", "LangChain's standard agent, a LangGraph, on that model"),
    ("smolagents", "a plain tool-calling agent of smolagents on that model"),
    ("lagent", "the ReAct agent of lagent, the reference's framework, on that model"),
    ("cmd:COMMAND", "any command-line program; cmd:claude, codex, gemini, opencode and openclaw are known"),
    ("http:URL", "a web service that takes a task and gives files"),
    ("manus[:URL]", "Manus by its task API, with the key in MANUS_API_KEY"),
    ("fixture", "the `gta_agent` fixture that the suite's conftest.py overrides"),
    ("outputs:DIR", "finished deliverables, DIR/<task id>/final.txt and DIR/<task id>/files/**"),
    ("pack:FILE", "finished deliverables, named by an eval pack of the reference implementation"),
)

MODEL_KINDS = ("tools", "react")
"""Agents that are a model in a loop of ours."""

HARNESSES = {framework.name: framework.target for framework in FRAMEWORKS}
"""Frameworks whose plain agent runs the model of ``--gta-model``, and what builds it."""

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]*)\s*=(.*)", re.DOTALL)
"""NAME=SPEC. No form of a specification has an equals sign before its first colon."""

_TARGET = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class AgentSpecError(ValueError):
    """A usage error: an agent that is not spelled in a known form, or not there. One line, with the next step."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Which agent to run.

    Attributes:
        kind: ``tools``, ``react``, ``import``, ``cmd``, ``http``, ``manus``, ``fixture``, ``outputs`` or ``pack``.
        target: ``pkg.mod:name``, the command, the address, the folder or the file; "" for a model.
        label: What reports and directories call it, in ``[A-Za-z0-9._-]``.
    """

    kind: str
    target: str
    label: str

    @property
    def runs_the_model(self) -> bool:
        """Whether it is the model of ``--gta-model`` itself."""
        return self.kind in MODEL_KINDS

    @property
    def harness(self) -> str:
        """The framework whose plain agent on the model of ``--gta-model`` it is; "" for any other agent."""
        return next((name for name, target in HARNESSES.items() if (self.kind, self.target) == ("import", target)), "")

    @property
    def follows_the_paper(self) -> bool:
        """Whether it is held to the turns of the paper's comparison, unless told otherwise."""
        return self.kind == "react" or self.harness == "lagent"

    @property
    def path(self) -> Path:
        """What an ``outputs`` or ``pack`` agent hands in."""
        return Path(self.target)


def parse_agent_spec(text: str, *, model: str | None = None, base: Path | None = None) -> AgentSpec:
    """Read an agent's specification; nothing is imported or opened.

    Args:
        text: One of `FORMS`, or NAME= and one of them.
        model: The model under test; its name labels the ``tools`` and the ``react`` agent that is given no name.
        base: What a relative DIR or FILE starts from; the current folder unless given.

    Raises:
        AgentSpecError: When it is none of these.
    """
    name, text = split_name(text)
    if name is not None:
        return replace(parse_agent_spec(text, model=model, base=base), label=safe_label(name))
    kind, colon, target = (part.strip() for part in text.partition(":"))
    if kind == "tools" and not colon:
        return AgentSpec("tools", "", safe_label(model or "tools"))
    if kind == "react" and not colon:
        return AgentSpec("react", "", safe_label(f"react-{model}" if model else "react"))
    if kind == "fixture" and not colon:
        return AgentSpec("fixture", "", "fixture")
    if kind in HARNESSES and not colon:
        return AgentSpec("import", HARNESSES[kind], safe_label(f"{kind}-{model}" if model else kind))
    if kind in ("http", "https") and colon:
        return _service("http", text if target.startswith("//") else target)
    if kind == "manus":
        return _service("manus", target, model) if target else AgentSpec("manus", "", safe_label(model or "manus"))
    if kind == "cmd" and colon:
        if not target:
            raise AgentSpecError("--gta-agent=cmd: needs a command, for example cmd:./my_agent.sh or cmd:codex")
        name = Path(target.split()[0]).name
        return AgentSpec("cmd", target, safe_label(f"{name}-{model}" if model else name))
    if kind == "import" and colon:
        if not _TARGET.fullmatch(target):
            raise AgentSpecError(
                f"--gta-agent={text}: {target!r} is not of the form pkg.mod:name, for example import:my_agent:run"
            )
        return AgentSpec("import", target, safe_label(target.replace(":", ".")))
    if kind in ("outputs", "pack") and colon:
        if not target:
            example = "a folder, for example outputs:my_results" if kind == "outputs" else "a file: pack:eval_pack.json"
            raise AgentSpecError(f"--gta-agent={kind}: needs {example}")
        path = (base or Path.cwd()) / Path(target).expanduser()
        return AgentSpec(kind, str(path), safe_label(f"{kind}-{path.resolve().name.removesuffix('.json')}"))
    valid = "; ".join(f"{form} ({meaning})" for form, meaning in FORMS)
    raise AgentSpecError(f"--gta-agent={text}: not a known agent; valid: {valid}; NAME= before it names it")


def placed(text: str, folder: Path) -> str:
    """Return specifications, one a line, with the paths of finished deliverables as absolute ones, from `folder`."""
    return "\n".join(_placed(line, folder) for line in text.splitlines())


def _placed(line: str, folder: Path) -> str:
    name, spec = split_name(line)
    kind, _, target = (part.strip() for part in spec.partition(":"))
    if kind not in ("outputs", "pack") or not target:
        return line
    return f"{name + '=' if name else ''}{kind}:{folder / Path(target).expanduser()}"


def split_name(text: str) -> tuple[str | None, str]:
    """Return the name that NAME=SPEC gives an agent, None without one, and the specification."""
    named = _NAMED.fullmatch(text.strip())
    return (named[1], named[2].strip()) if named else (None, text.strip())


def _service(kind: str, url: str, model: str | None = None) -> AgentSpec:
    if not is_http(url):
        raise AgentSpecError(f"--gta-agent={kind}: is not followed by an address such as http://localhost:8000")
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query:
        variable = "MANUS_API_KEY" if kind == "manus" else "GTA_AGENT_TOKEN"
        raise AgentSpecError(f"--gta-agent={kind}: the address holds a key or query; put a key in {variable}")
    label = model or (f"{parts.hostname}-{parts.port}" if parts.port else str(parts.hostname))
    return AgentSpec(kind, url, safe_label(label))


def safe_label(text: str) -> str:
    """Return `text` as a name for directories and ids: letters, digits, ``._-``, at most 60 characters."""
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return label[:60].rstrip("-._") or "agent"
