from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.agents.building import NotOverridden, build_agent
from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.outputs import OutputsAgent
from pytest_gta.agents.pack import PackAgent
from pytest_gta.agents.react import ReactAgent
from pytest_gta.agents.specification import AgentSpec, AgentSpecError, parse_agent_spec, safe_label
from pytest_gta.agents.tool_calling import ToolCallingAgent
from pytest_gta.llm.endpoint import Endpoint


def test_the_three_forms(tmp_path: Path) -> None:
    assert parse_agent_spec("tools", model="org/gpt-5:free") == AgentSpec("tools", "", "org-gpt-5-free")
    assert parse_agent_spec("react", model="org/m") == AgentSpec("react", "", "react-org-m")
    assert parse_agent_spec(" import:my_agent.sub:Class.make ") == AgentSpec(
        "import", "my_agent.sub:Class.make", "my_agent.sub.Class.make"
    )
    spec = parse_agent_spec("outputs:results/run 1", base=tmp_path)
    assert (spec.kind, spec.path, spec.label) == ("outputs", tmp_path / "results" / "run 1", "outputs-run-1")
    assert parse_agent_spec(f"outputs:{tmp_path}", base=Path("/elsewhere")).path == tmp_path
    assert parse_agent_spec("fixture") == AgentSpec("fixture", "", "fixture")
    command = parse_agent_spec("cmd: ./agents/run.sh --fast  x:y", model="m")
    assert command == AgentSpec("cmd", "./agents/run.sh --fast  x:y", "run.sh-m")
    assert parse_agent_spec("http://localhost:8000/api/") == AgentSpec(
        "http", "http://localhost:8000/api/", "localhost-8000"
    )
    assert parse_agent_spec("http:https://agents.example.org") == AgentSpec(
        "http", "https://agents.example.org", "agents.example.org"
    )
    assert parse_agent_spec("https://agents.example.org").target == "https://agents.example.org"
    pack = parse_agent_spec("pack:packs/eval.v1.json", base=tmp_path)
    assert (pack.kind, pack.path, pack.label) == ("pack", tmp_path / "packs" / "eval.v1.json", "pack-eval.v1")
    assert parse_agent_spec("outputs:C:/x", base=tmp_path).path == tmp_path / "C:" / "x"


def test_plain_agents_of_frameworks() -> None:
    spec = parse_agent_spec("openai-agents", model="org/gpt-5")
    assert spec == AgentSpec("import", "pytest_gta.agents.frameworks.openai_agents:build", "openai-agents-org-gpt-5")
    assert (spec.harness, spec.follows_the_paper, spec.runs_the_model) == ("openai-agents", False, False)
    assert parse_agent_spec("lagent", model="m").follows_the_paper
    assert parse_agent_spec("import:my_agent:run").harness == ""


@pytest.mark.parametrize(
    "text", ["", "tool", "lagent:x", "tools:gpt", "react:x", "reacts", "my_agent:run", "Outputs:x", "import", "outputs"]
)
def test_anything_else_lists_the_valid_forms(text: str) -> None:
    with pytest.raises(AgentSpecError) as fault:
        parse_agent_spec(text)
    assert "tools (" in str(fault.value) and "import:pkg.mod:name" in str(fault.value)
    assert "outputs:DIR" in str(fault.value) and "\n" not in str(fault.value)


@pytest.mark.parametrize(
    "target", ["", "my_agent", "my_agent:", ":run", "my-agent:run", "a:b:c", "my_agent.py:run()", "a..b:c"]
)
def test_a_bad_import_shows_the_form(target: str) -> None:
    with pytest.raises(AgentSpecError, match=r"is not of the form pkg\.mod:name, for example import:my_agent:run"):
        parse_agent_spec(f"import:{target}")


def test_outputs_needs_a_folder() -> None:
    with pytest.raises(AgentSpecError, match="needs a folder"):
        parse_agent_spec("outputs:")
    for text in ("http:", "http://", "http:ftp://x", "http:localhost", "http://[::1"):
        with pytest.raises(AgentSpecError, match="is not followed by an address"):
            parse_agent_spec(text)
    for text in ("http://me:secret@host", "https://host/?key=secret"):
        with pytest.raises(AgentSpecError, match="put a key in GTA_AGENT_TOKEN") as fault:
            parse_agent_spec(text)
        assert "secret" not in str(fault.value)
    with pytest.raises(AgentSpecError, match="cmd: needs a command"):
        parse_agent_spec("cmd:")
    with pytest.raises(AgentSpecError, match="needs a file: pack:"):
        parse_agent_spec("pack:")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("gpt-5", "gpt-5"),
        ("a/b c", "a-b-c"),
        ("../..", "agent"),
        ("模型", "agent"),
        ("x" * 99, "x" * 60),
        ("", "agent"),
    ],
)
def test_labels_are_safe_names(text: str, label: str) -> None:
    assert safe_label(text) == label


def test_building_each_kind(tmp_path: Path) -> None:
    limits = Limits()
    endpoint = Endpoint("m", "http://127.0.0.1:9/v1", "")
    assert isinstance(build_agent(parse_agent_spec("tools", model="m"), limits, endpoint=endpoint), ToolCallingAgent)
    assert isinstance(build_agent(parse_agent_spec("react", model="m"), limits, endpoint=endpoint), ReactAgent)
    assert isinstance(build_agent(parse_agent_spec("import:a:b"), limits), ImportedAgent)
    assert isinstance(build_agent(parse_agent_spec(f"outputs:{tmp_path}"), limits), OutputsAgent)
    assert isinstance(build_agent(parse_agent_spec("pack:x.json"), limits), PackAgent)
    assert isinstance(build_agent(parse_agent_spec("cmd:true"), limits), CommandAgent)
    assert isinstance(build_agent(parse_agent_spec("fixture"), limits), NotOverridden)
    for kind in ("tools", "react"):
        with pytest.raises(ValueError, match=f"`{kind}` agent needs the endpoint"):
            build_agent(parse_agent_spec(kind), limits)
