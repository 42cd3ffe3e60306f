"""Agents that users have built with a framework: recognised, given the tools, and run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from pytest_gta.agents.adapter import NotAnAgent, adapted, check_adaptable
from pytest_gta.agents.frameworks.framework_agent import as_text
from pytest_gta.agents.frameworks.recognition import FRAMEWORKS, framework_of
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, StopReason
from pytest_gta.benchmark.results import AgentRecord
from tests.agents.frameworks.conftest import MODEL, PACKAGES, Frameworks
from tests.agents.frameworks.test_frameworks import model
from tests.openai_server import OpenAIServer

READY = {
    "openai-agents": """
from agents import Agent, OpenAIProvider, function_tool
import os

@function_tool
def own(text: str) -> str:
    "The user's own tool."
    return "own " + text

model = OpenAIProvider(base_url=os.environ["GTA_BASE_URL"], use_responses=False).get_model(os.environ["GTA_MODEL"])
agent = Agent(name="mine", instructions="Be kind.", model=model, tools=[own])
""",
    "pydantic-ai": """
import os
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

agent = Agent(
    OpenAIChatModel(os.environ["GTA_MODEL"], provider=OpenAIProvider(base_url=os.environ["GTA_BASE_URL"])),
    instructions="Be kind.",
)

@agent.tool_plain
def own(text: str) -> str:
    "The user's own tool."
    return "own " + text
""",
    "langgraph": """
import os
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from pytest_gta.agents.frameworks.langgraph import tools_of

def own(text: str) -> str:
    "The user's own tool."
    return "own " + text

def agent(tools):
    model = ChatOpenAI(model=os.environ["GTA_MODEL"], base_url=os.environ["GTA_BASE_URL"])
    return create_agent(model, [own, *tools_of(tools)], system_prompt="Be kind.")
""",
    "smolagents": """
import os
from smolagents import OpenAIModel, ToolCallingAgent, tool

@tool
def own(text: str) -> str:
    \"\"\"The user's own tool.

    Args:
        text: Some text.
    \"\"\"
    return "own " + text

model = OpenAIModel(os.environ["GTA_MODEL"], api_base=os.environ["GTA_BASE_URL"])
agent = ToolCallingAgent(tools=[own], model=model, instructions="Be kind.")
""",
}


@pytest.fixture
def ready(frameworks: Frameworks, made: Callable[..., Any]) -> Callable[..., AgentRecord]:
    """Run the user's object in this process, as the fixture `gta_agent` would hand it out."""

    def run(name: str, server: OpenAIServer, source: str) -> AgentRecord:
        agent = made(name, server, source)
        check_adaptable(agent)
        return frameworks.bench.run(agent, frameworks.task())

    return run


@pytest.fixture
def made(frameworks: Frameworks, modules: Callable[..., Any]) -> Callable[[str, OpenAIServer, str], Any]:
    """The object `agent` of a user's module."""

    def load(name: str, server: OpenAIServer, source: str) -> Any:
        frameworks.point_at(server, name)
        file = modules(my_agent=source) / "my_agent.py"
        # Kept in a file: some frameworks read the source of the functions that they make tools of.
        spec = importlib.util.spec_from_file_location("my_agent", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.agent

    return load


@pytest.mark.parametrize("name", sorted(READY))
def test_a_ready_agent_keeps_its_own_tools_and_instructions(
    name: str, ready: Callable[..., AgentRecord], frameworks: Frameworks, openai_server: Callable[..., OpenAIServer]
) -> None:
    write = ("Write", {"filename": "a.txt", "text": "x"})
    server = openai_server(model(name, ("own", {"text": "y"}), write, "Done."))
    record = ready(name, server, READY[name])
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "Done.")
    assert [d.path for d in frameworks.bench.workspace.deliverables().files] == ["a.txt"]
    # Only calls of the benchmark's tools are counted.
    assert (record.turns, record.tool_calls) == (3, 1)
    asked = "\n".join(server.chats[0].texts)
    assert "Be kind." in asked and "Write a greeting." in asked
    assert "own y" in "\n".join(server.chats[1].texts)


def test_a_ready_agent_in_a_process_of_its_own(
    frameworks: Frameworks, modules: Callable[..., Any], openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server(model("smolagents", ("Echo", {"text": "y"}), "Done."))
    folder = modules(my_agent=READY["smolagents"])
    record = frameworks.imported("smolagents", server, "my_agent:agent", folder)
    assert (record.final_answer, record.tool_calls, frameworks.bench.seen) == ("Done.", 1, [("Echo", "y")])


def test_one_object_serves_task_after_task(
    frameworks: Frameworks, made: Callable[..., Any], openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server(model("smolagents", "Done."))
    agent = made("smolagents", server, READY["smolagents"])
    for _ in range(2):
        assert frameworks.bench.run(agent, frameworks.task()).turns == 1
    assert sorted(agent.tools) == ["final_answer", "own"]


def test_code_of_a_smolagents_agent_calls_the_tools(
    ready: Callable[..., AgentRecord], frameworks: Frameworks, openai_server: Callable[..., OpenAIServer]
) -> None:
    code = 'Thought: write\n<code>\nWrite("a.txt", text=Echo(text="y"))\nfinal_answer("Done.")\n</code>'
    server = openai_server(lambda _: code)
    source = """
import os
from smolagents import CodeAgent, OpenAIModel
model = OpenAIModel(os.environ["GTA_MODEL"], api_base=os.environ["GTA_BASE_URL"])
agent = CodeAgent(tools=[], model=model)
"""
    record = ready("smolagents", server, source)
    assert (record.final_answer, record.tool_calls) == ("Done.", 2)
    assert (frameworks.bench.workspace.root / "a.txt").read_text() == "echo y"


def test_an_agent_that_answers_in_a_type_of_its_own(
    ready: Callable[..., AgentRecord], openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server(model("pydantic-ai", ("final_result", {"city": "Paris"})))
    source = READY["pydantic-ai"].replace('instructions="Be kind.",', "output_type=City,").replace(
        "agent = Agent(", "from pydantic import BaseModel\n\nclass City(BaseModel):\n    city: str\n\nagent = Agent("
    )  # fmt: skip
    assert ready("pydantic-ai", server, source).final_answer == '{\n  "city": "Paris"\n}'


def test_a_ready_graph_cannot_be_given_tools(
    frameworks: Frameworks, openai_server: Callable[..., OpenAIServer]
) -> None:
    frameworks.point_at(openai_server(), "langgraph")
    from langgraph.graph import END, START, MessagesState, StateGraph

    builder = StateGraph(MessagesState)
    builder.add_node("only", lambda state: {"messages": [("ai", "Answered.")]})
    builder.add_edge(START, "only")
    builder.add_edge("only", END)
    graph = builder.compile()
    with pytest.raises(
        NotAnAgent, match=r"langgraph, and a compiled graph has its tools built in: .* tools_of\(tools\)"
    ):
        check_adaptable(graph)
    record = frameworks.bench.run(lambda task: graph, frameworks.task())
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "Answered.")


LAGENT = """
import os
from lagent.actions import ActionExecutor
from lagent.agents import ReAct
from lagent.llms import GPTAPI

model = GPTAPI(MODEL, openai_api_base=os.environ["GTA_BASE_URL"] + "/chat/completions", query_per_second=1000)
agent = ReAct(llm=model, action_executor=ActionExecutor(actions=[]), max_turn=10)
""".replace("MODEL", repr(MODEL))


def test_an_agent_with_lagents_own_model(
    ready: Callable[..., AgentRecord], frameworks: Frameworks, openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server(model("lagent", ("Write", {"filename": "a.txt", "text": "naïve ☕"}), "Done."))
    record = ready("lagent", server, LAGENT)
    assert (record.final_answer, record.turns, record.tool_calls) == ("Done.", 2, 1)
    assert record.usage.cost_usd is None
    assert (frameworks.bench.workspace.root / "a.txt").read_text() == "naïve ☕"


def test_lagents_own_model_on_a_server_that_is_gone(
    ready: Callable[..., AgentRecord], openai_server: Callable[..., OpenAIServer]
) -> None:
    server = openai_server()
    server.close()
    with pytest.raises(AgentUnavailable, match="does not serve"):
        ready("lagent", server, LAGENT)


# -- without any framework installed ---------------------------------------------------------------------------------


def imitation(package: str, name: str, **members: Any) -> Any:
    """An object of a class that goes by a framework's name."""
    return type(name, (), {"__module__": f"{package}.somewhere", **members})()


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_an_agent_is_known_by_its_class_and_what_it_has(framework: Any) -> None:
    assert framework.name in PACKAGES
    signs = dict.fromkeys(framework.signs, lambda self: None)
    assert framework_of(imitation(framework.package, framework.base, **signs)) is framework
    assert framework_of(imitation(framework.package, framework.base)) is None
    assert framework_of(imitation("mine", framework.base, **signs)) is None


def test_an_own_run_of_a_task_wins_over_the_framework() -> None:
    class Base:
        __module__ = "smolagents.agents"
        tools = ()

    Base.__name__ = "MultiStepAgent"

    class Mine(Base):
        def run(self, task: Any, tools: Any) -> str:
            return f"mine {task}"

    assert framework_of(Mine()) is not None
    run = adapted(Mine()).run("T", "tools", "W")  # type: ignore[arg-type]
    assert isinstance(run, AgentRun) and run.final_answer == "mine T"


def test_final_outputs_as_text() -> None:
    assert [as_text(value) for value in (None, "a", {"k": "ü"}, 7)] == ["", "a", '{\n  "k": "ü"\n}', "7"]
