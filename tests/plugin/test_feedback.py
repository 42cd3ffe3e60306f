"""A second attempt after feedback, as the user of pytest meets it."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_gta.benchmark.results import TaskResult
from pytest_gta.benchmark.run_directory import NotWritten, TaskDirectory
from pytest_gta.cli import main as cli
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails, judge, says
from tests.plugin.conftest import Project

Make = Callable[..., Project]
Start = Callable[..., OpenAIServer]

AGENT = """
import pytest
from pathlib import Path
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, StopReason, Tokens, Usage

class Improving:
    label = "improving"

    def run(self, task, tools, workspace):
        with Path("{log}").open("a") as log:
            log.write(f"{{task.id}} {{task.earlier_answer}} {{len(task.turns)}}\\n")
        usage = Usage(calls=1, tokens=Tokens(input=100, output=10), cost_usd=0.5)
        report = workspace.resolve("report.md", writing=True)
        if task.earlier_answer is None:
            report.write_text("A draft.")
            return AgentRun(StopReason.FINISHED, "A draft.", turns=1, usage=usage)
        {second}

@pytest.fixture
def gta_agent():
    return Improving()
"""
BETTER = (
    "report.write_text(report.read_text() + ' A better one.'); "
    "return AgentRun(StopReason.FINISHED, 'A better one.', turns=2, usage=usage)"
)


class Reviewed:
    """A project whose judge finds fault with some leaves until the work is a better one."""

    def __init__(self, project: Project, second: str | None = BETTER) -> None:
        self.project = project
        self.poor: dict[str, str] = {}
        """By requirement: what the judge says of it until it is better."""
        self.log = project.pytester.path / "agent.log"
        if second:
            project.pytester.makeconftest(AGENT.format(log=self.log, second=second))
        project.respond = self.respond  # type: ignore[method-assign]

    def find_fault(self, task_id: str, *numbers: int) -> None:
        for number in numbers:
            self.poor[self.project.leaf(task_id, number)] = f"Nothing on harbour {number}; score 2/10."

    def respond(self, request: RecordedRequest) -> Any:
        requirement = self.project._requirement(request)
        better = "A better one." in "\n".join(request.texts)
        lacks = self.poor.get(requirement) if not better else None
        if isinstance(score := self.project.scores.get(requirement, 9), Answer):
            return score
        answer = judge(lambda _: 2 if lacks else score)(request)
        text = json.loads(answer.text or "")
        return replace(answer, text=json.dumps(text | {"analysis": lacks or "All is well here."}))

    def run(self, *args: str, agent: str = "fixture", mode: str = "checkpoint") -> pytest.RunResult:
        return self.project.run(f"--gta-feedback={mode}", *args, agent=agent)

    def resume(self, *args: str) -> pytest.RunResult:
        return self.project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider", *args)

    @property
    def runs(self) -> list[str]:
        """The agent's runs: task id, earlier answer and number of turns."""
        return self.log.read_text().splitlines()


@pytest.fixture
def reviewed(make_project: Make) -> Callable[..., Reviewed]:
    return lambda tasks=1, second=BETTER: Reviewed(make_project(tasks), second)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_the_first_attempt_counts_and_the_second_is_beside_it(reviewed: Callable[..., Reviewed], workers: str) -> None:
    made = reviewed(2)
    made.find_fault("1", *range(len(made.project.leaves("1"))))
    result = made.run(workers, "--junitxml=junit.xml", "--gta-markdown=summary.md")
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "gta: feedback checkpoint: the first attempt is the one that counts",
            " 2.00  data_analysis_1        at first, goes on after feedback",
            "*after checkpoint feedback: 9.00; the first attempt is the one that counts",
            "Root SR@7 50.0 % *",
            "Feedback (checkpoint), over 2 tasks, 1 of them with nothing to improve",
            "                first   second     gain  95 %",
            "Root Score       5.50     9.00    +3.50  [[]0.00, 7.00]",
            "Root SR        50.0 %  100.0 %    +50.0  [[]0.0, 100.0]",
            "The second attempts cost on top: agent $0.50, judge unknown",
        ]
    )
    assert all(len(line) <= 80 for line in result.outlines if line.startswith(("Feedback", "Root S", "The second")))
    one, two = (made.project.tasks()[task_id] for task_id in ("1", "2"))
    assert (one["root_score"], one["success"], one["agent"]["final_answer"]) == (2.0, False, "A draft.")
    again = one["feedback"]
    assert (again["mode"], again["status"], again["carried_over"]) == ("checkpoint", "graded", False)
    assert (again["root_score"], again["success"], again["error"]) == (9.0, True, None)
    assert (again["agent"]["turns"], again["agent"]["final_answer"]) == (2, "A better one.")
    assert again["agent"]["cost_usd"] == 0.5
    assert [leaf["score"] for leaf in _leaves(again["checkpoints"])] == [9] * len(made.project.leaves("1"))
    assert again["deliverables"][0]["bytes"] == len("A draft. A better one.")
    assert one["deliverables"][0]["bytes"] == len("A draft.")
    assert (two["feedback"]["carried_over"], two["feedback"]["root_score"]) == (True, 9.0)
    assert two["feedback"]["agent"] is None
    run = made.project.pytester.path / "run" / "tasks" / _folder(one)
    assert (run / "workspace" / "report.md").read_text() == "A draft."
    assert (run / "after_feedback" / "workspace" / "report.md").read_text() == "A draft. A better one."
    summary = made.project.results()["summary"]
    assert (summary["root_score"], summary["succeeded"]) == (5.5, 1)
    assert summary["cost_usd"]["agent"] == 1.0
    gain = summary["feedback"]
    assert (gain["tasks"], gain["carried_over"], gain["unscored"], gain["errors"], gain["not_run"]) == (2, 1, 0, 0, 0)
    assert (gain["root_score"]["before"], gain["root_score"]["after"], gain["root_score"]["gain"]) == (5.5, 9.0, 3.5)
    assert gain["root_score"]["gain_ci"] == [0.0, 7.0]
    assert (gain["root_sr"]["before"], gain["root_sr"]["after"], gain["root_sr"]["gain"]) == (50.0, 100.0, 50.0)
    assert gain["won"] == [_folder(one)] and gain["lost"] == []
    assert gain["cost_usd"]["agent"] == 0.5
    assert sorted(made.runs) == ["1 A draft. 2", "1 None 1", "2 None 1"]
    junit = (made.project.pytester.path / "junit.xml").read_text()
    for name, value in (
        ("root_score", "9.0000"), ("status", "graded"), ("status", "carried_over"), ("root_score_gain", "3.5000"),
    ):  # fmt: skip
        assert f'name="gta_feedback_{name}" value="{value}"' in junit
    markdown = (made.project.pytester.path / "summary.md").read_text()
    assert "| Root Score | 5.50 | 9.00 | +3.50 | [0.00, 7.00] |" in markdown
    assert "Over 2 tasks, 1 of them with nothing to improve; the first attempt is the one that counts." in markdown


def test_the_report_is_made_anew_from_the_run_directory(
    reviewed: Callable[..., Reviewed], capsys: pytest.CaptureFixture[str]
) -> None:
    made = reviewed()
    made.find_fault("1", *range(len(made.project.leaves("1"))))
    made.run()
    before = made.project.results()
    (made.project.pytester.path / "run" / "results.json").unlink()
    capsys.readouterr()
    options = ["--threshold", "9.5", "--html", "report.html", "--json", "anew.json"]
    assert cli(["report", "run", *options]) == 1
    assert "Root Score       2.00     9.00    +7.00" in capsys.readouterr().out
    after = json.loads((made.project.pytester.path / "anew.json").read_text())
    assert after["summary"]["feedback"]["root_score"] == before["summary"]["feedback"]["root_score"]
    assert (before["tasks"][0]["feedback"]["success"], after["tasks"][0]["feedback"]["success"]) == (True, False)
    assert after["summary"]["feedback"]["root_sr"]["after"] == 0.0


def _leaves(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [leaf for node in nodes for leaf in (_leaves(node["checkpoints"]) if node["checkpoints"] else [node])]


def _folder(task: dict[str, Any]) -> str:
    return str(task["run_key"])


# -- what the agent is told -------------------------------------------------------------------------------------------


def _improves(request: RecordedRequest) -> Answer:
    return says("A better one." if request.turn else "A draft.")


@pytest.mark.parametrize("agent", ["tools", "react"])
def test_the_model_goes_on_in_its_conversation_and_sees_only_what_failed(
    reviewed: Callable[..., Reviewed], openai_server: Start, agent: str
) -> None:
    made = reviewed(second=None)
    made.find_fault("1", 0, 2)
    mark = "Final Answer: " if agent == "react" else ""
    model = openai_server(lambda request: mark + ("A better one." if request.turn else "A draft."))
    made.run("--gta-model=m", f"--gta-base-url={model.base_url}", agent=agent)
    first, second = model.chats
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2]["role"] == "assistant" and "A draft." in second.texts[-2]
    told = second.texts[-1]
    whole = len(made.project.leaves("1"))
    assert told.startswith(
        f"Your work was reviewed and falls short of what was asked: 2 of {whole} requirements are not met."
    )
    assert "1. Nothing on harbour 0; (score left out)." in told and "2. Nothing on harbour 2;" in told
    assert "All is well here." not in told and "weight" not in told.lower() and "/10" not in told
    for requirement in made.project.leaves("1"):
        assert requirement not in told
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0
    settings = made.project.results()["run"]["agent"]["settings"]
    assert settings["feedback"] == "checkpoint"


def test_coarse_feedback_is_one_remark(reviewed: Callable[..., Reviewed], openai_server: Start) -> None:
    made = reviewed(second=None)
    made.find_fault("1", 0, 2)
    model = openai_server(_improves)
    made.run("--gta-model=m", f"--gta-base-url={model.base_url}", agent="tools", mode="coarse")
    told = model.chats[1].texts[-1]
    assert told.startswith("Your work was reviewed") and "2 of" in told and "\n" not in told
    assert "harbour" not in told and "REMARKS" not in told
    assert made.project.results()["summary"]["feedback"]["mode"] == "coarse"


def test_a_command_is_started_again_where_its_files_are(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(second=None)
    made.find_fault("1", 0)
    source = """
        import pathlib, sys
        request, report = sys.stdin.read(), pathlib.Path("report.md")
        report.write_text((report.read_text() if report.exists() else "") + "A draft. ")
        print("A better one." if "Nothing on harbour 0" in request and "said so far" in request else "said so far")
    """
    made.project.pytester.makefile(".py", agent=source)
    told = made.run("-v", agent=f"cmd:{sys.executable} agent.py")
    told.stdout.fnmatch_lines(["*[[]data_analysis_1] * at first, goes on after feedback*"])
    task = made.project.tasks()["1"]
    assert task["agent"]["final_answer"] == "said so far"
    assert task["deliverables"][0]["bytes"] == len("A draft. ")
    again = task["feedback"]
    assert (again["agent"]["final_answer"], again["root_score"]) == ("A better one.", 9.0)
    assert again["deliverables"][0]["bytes"] == 2 * len("A draft. ")


# -- what may go wrong ------------------------------------------------------------------------------------------------


def test_unchanged_work_is_not_judged_again(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(second="return AgentRun(StopReason.FINISHED, 'A draft.', usage=usage)")
    made.find_fault("1", 0)
    made.run()
    task = made.project.tasks()["1"]
    leaves = len(made.project.leaves("1"))
    assert len(made.project.server.chats) == leaves
    assert (task["feedback"]["judge"]["calls"], task["feedback"]["judge"]["cached_leaves"]) == (0, leaves)
    assert task["feedback"]["root_score"] == task["root_score"]
    assert made.project.results()["summary"]["feedback"]["root_score"]["gain"] == 0


def test_an_agent_that_breaks_down_keeps_what_it_had_delivered(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(second="raise RuntimeError('lost the thread')")
    made.find_fault("1", 0)
    made.run()
    task = made.project.tasks()["1"]
    again = task["feedback"]
    assert (again["status"], again["agent"]["stop_reason"]) == ("graded", "agent_error")
    assert "lost the thread" in again["agent"]["stop_detail"] and again["agent"]["final_answer"] == ""
    assert again["root_score"] == task["root_score"] > 2


def test_an_endpoint_that_is_gone_is_an_error_and_a_resumed_run_makes_it_good(
    reviewed: Callable[..., Reviewed], openai_server: Start
) -> None:
    made = reviewed(second=None)
    made.find_fault("1", 0)
    down = [True]

    def respond(request: RecordedRequest) -> Answer:
        return fails(401, "the key was revoked") if request.turn and down[0] else _improves(request)

    model = openai_server(respond)
    result = made.run("--gta-model=m", f"--gta-base-url={model.base_url}", agent="tools")
    task = made.project.tasks()["1"]
    assert task["status"] == "graded" and task["feedback"]["status"] == "error"
    assert "the key was revoked" in task["feedback"]["error"] and task["feedback"]["root_score"] is None
    summary = made.project.results()["summary"]["feedback"]
    assert (summary["tasks"], summary["errors"], summary["root_score"]["gain"]) == (0, 1, None)
    result.stdout.fnmatch_lines(["*1 second attempt without a score: 1 in error*"])
    down[0] = False
    asked, judged = len(model.chats), len(made.project.server.chats)
    made.resume()
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0
    assert len(model.chats) == asked + 1
    assert len(made.project.server.chats) == judged + len(made.project.leaves("1"))


def test_a_worker_that_dies_in_the_second_attempt_leaves_the_first_ones_score(
    reviewed: Callable[..., Reviewed], capsys: pytest.CaptureFixture[str]
) -> None:
    made = reviewed(second="import os; os.kill(os.getpid(), 9) if not Path('go').exists() else None; " + BETTER)
    made.find_fault("1", 0)
    result = made.run("-n1", "--gta-threshold=6")
    task = made.project.tasks()["1"]
    assert (task["status"], task["success"], task["error"]) == ("graded", True, None)
    assert task["root_score"] > 6
    assert (task["feedback"]["status"], task["feedback"]["root_score"]) == ("error", None)
    assert "crashed while running" in task["feedback"]["error"] and "--gta-resume=" in task["feedback"]["error"]
    assert made.project.results()["summary"]["feedback"]["errors"] == 1
    result.assert_outcomes(errors=1)
    assert "FAIL (exit 1): the graded task reaches 6 points; 1 other test failed" in result.outlines
    assert result.ret == 1
    assert cli(["report", str(made.project.pytester.path / "run")]) == 0
    assert made.project.tasks()["1"]["root_score"] == task["root_score"]
    (made.project.pytester.path / "go").touch()
    assert made.resume().ret == 0
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0


def test_interrupted_in_the_second_attempt_the_first_ones_score_stands(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(2, second="raise KeyboardInterrupt")
    made.find_fault("1", 0)
    command = [*made.project.arguments("fixture"), "--gta-feedback=checkpoint", "-n0"]
    result = made.project.pytester.runpytest_subprocess(*command)
    one, two = (made.project.tasks()[task_id] for task_id in ("1", "2"))
    assert (one["status"], one["feedback"]["status"], two["status"]) == ("graded", "not_run", "not_run")
    assert one["feedback"]["error"] == "the run ended before this task did"
    result.stdout.fnmatch_lines(["INTERRUPTED (exit 2): 1 of 2 tasks not run; go on with --gta-resume=*"])


def test_a_fault_of_ours_in_the_second_attempt_is_its_error_and_not_the_tasks(
    reviewed: Callable[..., Reviewed], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = reviewed()
    made.find_fault("1", 0)

    def broken(*_: object, **__: object) -> None:
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("pytest_gta.run.second_attempt.judge_task", broken)
        result = made.run("--gta-threshold=6")
    result.assert_outcomes(passed=1)
    assert "PASS (exit 0): the graded task reaches 6 points" in result.outlines
    again = made.project.tasks()["1"]["feedback"]
    assert (again["status"], again["error"]) == ("error", "unexpected error: OSError: too many open files")
    assert again["agent"]["final_answer"] == "A better one."
    transcript = made.project.pytester.path / "run/tasks/data_analysis_1/after_feedback/transcript.jsonl"
    assert "in broken" in transcript.read_text()
    assert made.resume().ret == 0
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0


def test_an_error_of_pytest_is_never_a_pass(reviewed: Callable[..., Reviewed], monkeypatch: pytest.MonkeyPatch) -> None:
    made = reviewed()
    made.find_fault("1", 0)
    write = TaskDirectory.write_result

    def full(directory: TaskDirectory, result: TaskResult) -> None:
        if result.feedback is not None:
            raise NotWritten(errno.ENOSPC, "No space left on device", "result.json")
        write(directory, result)

    monkeypatch.setattr(TaskDirectory, "write_result", full)
    result = made.run("--gta-threshold=6")
    result.assert_outcomes(errors=1)
    assert result.ret == 1
    assert "FAIL (exit 1): the graded task reaches 6 points; 1 other test failed" in result.outlines
    assert "result.json cannot be written: No space left on device; put that right" in result.stdout.str()
    assert made.project.tasks()["1"]["status"] == "graded"


def test_a_second_judging_that_fails_is_unscored_and_can_be_made_good(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed()
    made.find_fault("1", 0)
    broken = made.project.leaf("1", 1)
    respond = made.respond

    def fails_later(request: RecordedRequest) -> Any:
        later = "A better one." in "\n".join(request.texts)
        return Answer(text="no idea") if later and made.project._requirement(request) == broken else respond(request)

    made.project.respond = fails_later  # type: ignore[method-assign]
    made.run()
    again = made.project.tasks()["1"]["feedback"]
    assert (again["status"], again["root_score"], again["success"]) == ("unscored", None, None)
    assert again["root_bounds"][0] < again["root_bounds"][1] and "1 of" in again["error"]
    assert made.project.results()["summary"]["feedback"]["unscored"] == 1
    made.project.respond = respond  # type: ignore[method-assign]
    runs, judged = made.runs, len(made.project.server.chats)
    made.resume()
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0
    assert made.runs == runs and made.project.judged()[judged:] == [broken]


def test_a_first_attempt_without_a_score_gets_no_feedback(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(2)
    made.find_fault("2", 0)
    made.project.scores[made.project.leaf("1", 0)] = Answer(text="no idea")
    assert made.run().ret == 10
    assert made.project.tasks()["1"]["status"] == "unscored"
    assert made.project.tasks()["1"]["feedback"] is None
    assert made.project.results()["summary"]["feedback"]["without_first"] == 1
    assert "1 A draft. 2" not in made.runs and "2 A draft. 2" in made.runs


def test_when_the_budget_is_reached_no_second_attempt_begins(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed()
    made.find_fault("1", 0)
    made.run("--gta-max-tokens=100")
    again = made.project.tasks()["1"]["feedback"]
    assert again["status"] == "not_run" and again["error"].startswith("budget reached")
    assert made.runs == ["1 None 1"]
    made.resume("--gta-max-tokens=1000000")
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0
    assert made.runs == ["1 None 1", "1 A draft. 2"]


def test_killed_between_the_attempts_the_first_is_not_paid_again(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed(second="import time; time.sleep(0 if Path('go').exists() else 600); " + BETTER)
    made.find_fault("1", 0)
    command = [
        sys.executable, "-m", "pytest", *made.project.arguments("fixture"), "--gta-feedback=checkpoint", "-n0",
    ]  # fmt: skip
    path = made.project.pytester.path
    with subprocess.Popen(
        command, cwd=path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        while not (made.log.exists() and len(made.runs) == 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    assert made.runs == ["1 None 1", "1 A draft. 2"]
    (path / "go").touch()
    judged = len(made.project.server.chats)
    made.resume()
    task = made.project.tasks()["1"]
    assert made.runs == ["1 None 1", "1 A draft. 2", "1 A draft. 2"]
    assert (task["resumed"], task["feedback"]["root_score"]) == (True, 9.0)
    assert sorted(made.project.judged()[judged:]) == sorted(made.project.leaves("1"))


def test_feedback_can_be_added_to_a_finished_run(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed()
    made.find_fault("1", 0)
    made.project.run(agent="fixture")
    assert made.project.tasks()["1"]["feedback"] is None
    assert made.project.results()["summary"]["feedback"] is None
    made.resume("--gta-feedback=coarse")
    assert made.project.tasks()["1"]["feedback"]["root_score"] == 9.0
    assert made.runs == ["1 None 1", "1 A draft. 2"]
    other = made.resume("--gta-feedback=checkpoint")
    assert other.ret == 4
    assert "was made with another --gta-feedback (coarse, now checkpoint)" in other.stderr.str()


def test_finished_outputs_cannot_go_on(make_project: Make) -> None:
    project = make_project(1)
    result = project.run("--gta-feedback=coarse")
    assert result.ret == 4
    assert "--gta-feedback=coarse lets the agent go on with its work" in result.stderr.str()
    assert not (project.pytester.path / "run").exists()
    wrong = project.run("--gta-feedback=some")
    assert wrong.ret == 4 and "'some' is not one of none, coarse, checkpoint" in wrong.stderr.str()


SUITES_OWN_TOOLS = """
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import Tool
from pytest_gta.tools.toolbox import Toolbox

@pytest.fixture
def gta_tools(gta_workspace):
    from pytest_gta.workspace.confinement import Confinement

    spec = ToolSpec("Tide", "perception", "Tells the tide.", ())
    tide = Tool(spec, lambda: "high")
    yield Toolbox(gta_workspace, Confinement("off", ""), only=["Tide", "Calculator"], extra=[tide])
"""


def test_tools_that_only_the_suite_can_make_are_named_when_they_are_gone(reviewed: Callable[..., Reviewed]) -> None:
    made = reviewed()
    conftest = made.project.pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text() + SUITES_OWN_TOOLS)
    made.find_fault("1", 0)
    made.run()
    task = made.project.tasks()["1"]
    assert task["agent"]["tools_offered"] == ["Calculator", "Tide"]
    assert task["feedback"]["agent"]["tools_offered"] == ["Calculator"]
    second = made.project.pytester.path / "run" / "tasks" / _folder(task) / "after_feedback" / "transcript.jsonl"
    assert "tools of the suite's own gta_tools are not here any more: Tide" in second.read_text()
