"""The ``gta_*`` fixtures: the stations of a task's road, each of which a suite can override."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_gta.keys import BUILT, CONTENDER, LINEUP, RESULT

if TYPE_CHECKING:
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.benchmark.results import TaskResult, Verdict
    from pytest_gta.benchmark.run_directory import TaskDirectory
    from pytest_gta.benchmark.task import Task
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.run.bench import Bench
    from pytest_gta.run.judged_task import JudgedTask
    from pytest_gta.run.lineup import Lineup
    from pytest_gta.run.road import TaskRun
    from pytest_gta.settings import Settings
    from pytest_gta.tools.tool import Tool
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.workspace import Workspace

INACTIVE = "no agent to measure: pass --gta-model=NAME or --gta-agent=SPEC (--gta-model=local needs no key)"


OVERRIDDEN = (
    "this suite overrides the fixture gta_agent, but {0} is what this run is named after; measure its own agent by "
    "--gta-agent=fixture, or give it as import:pkg.mod:name"
)
WHOSE = "a test without gta_task is about no one agent, and --gta-agent or --gta-model names several"


def _lineup(config: pytest.Config) -> Lineup:
    lineup = config.stash.get(LINEUP, None)
    if lineup is None:
        pytest.skip(INACTIVE)
    return lineup


def _bench(request: pytest.FixtureRequest) -> Bench:
    lineup = _lineup(request.config)
    contender = request.node.stash.get(CONTENDER, None)
    if contender is not None:
        bench: Bench = contender.bench
        return bench
    if lineup.is_several:
        pytest.fail(WHOSE, pytrace=False)
    return lineup.contenders[0].bench


@pytest.fixture(scope="session")
def gta_settings(pytestconfig: pytest.Config) -> Settings:
    """The options of this run, resolved and frozen."""
    return _lineup(pytestconfig).settings


@pytest.fixture
def gta_task(request: pytest.FixtureRequest) -> Task:
    """One task of the dataset; tests that use it are run once for each selected task."""
    from pytest_gta.benchmark.task import TaskFault

    _lineup(request.config)
    _, task = request.param
    if isinstance(task, TaskFault):
        raise task
    given: Task = task
    return given


@pytest.fixture
def _gta_directory(request: pytest.FixtureRequest, gta_task: Task) -> Iterator[TaskDirectory]:
    """The task's part of the run directory, held by one test at a time."""
    directory = _bench(request).run.task(gta_task.slug)
    _forget_earlier_attempt(request.node)
    with directory.lock():
        attempt = getattr(request.node, "execution_count", 1)
        if attempt > 1:
            directory.archive(attempt - 1)
        yield directory


@pytest.fixture
def gta_workspace(request: pytest.FixtureRequest, gta_task: Task, _gta_directory: TaskDirectory) -> Workspace:
    """The directory the agent works in, with the task's input files in it."""
    from pytest_gta.run.road import open_workspace

    bench = _bench(request)
    return open_workspace(gta_task, bench.release, _gta_directory, inputs_required=bench.inputs_required)


@pytest.fixture
def gta_tools(request: pytest.FixtureRequest, gta_task: Task, gta_workspace: Workspace) -> Iterator[Toolbox]:
    """The benchmark's tools, bound to this task's workspace and confined to it."""
    toolbox = _bench(request).toolbox(gta_task, gta_workspace, _contributed_tools(request.config))
    yield toolbox
    toolbox.close()


@pytest.fixture
def gta_agent(request: pytest.FixtureRequest) -> Agent:
    """The agent under test, as ``--gta-agent`` and ``--gta-model`` say. Override this to measure your own."""
    request.node.stash[BUILT] = True
    return _bench(request).agent()


@pytest.fixture(scope="session")
def gta_judge(pytestconfig: pytest.Config) -> TaskJudge:
    """The judge that scores the leaves."""
    return _lineup(pytestconfig).workshop.judge


@pytest.fixture
def gta_run(
    request: pytest.FixtureRequest,
    gta_task: Task,
    gta_agent: Agent,
    gta_tools: Toolbox,
    gta_workspace: Workspace,
    _gta_directory: TaskDirectory,
) -> TaskRun:
    """The agent's finished run of this task: final answer, transcript, deliverables, usage, stop reason."""
    from pytest_gta.agents.protocol import as_agent
    from pytest_gta.benchmark.rebuilding import unfinished
    from pytest_gta.benchmark.results import TaskStatus
    from pytest_gta.run.road import NotMeasured, run_task
    from pytest_gta.run.spending_limit import why_not_begin

    bench = _bench(request)
    lies = _lineup(request.config).is_several or bench.agent_spec.kind not in ("tools", "fixture")
    begins = _gta_directory.agent() is None
    if lies and begins and BUILT not in request.node.stash:
        raise NotMeasured(OVERRIDDEN.format(bench.agent_spec.label))
    reason = why_not_begin(bench, _gta_directory)
    if reason:
        result = unfinished(gta_task, request.node.nodeid, TaskStatus.NOT_RUN, reason, _gta_directory)
        _gta_directory.write_result(result)
        request.node.stash[RESULT] = result
        pytest.skip(f"not run: {reason}")
    return run_task(
        gta_task,
        as_agent(gta_agent),
        gta_tools,
        gta_workspace,
        _gta_directory,
        deadline_s=bench.settings.task_timeout,
        ledger=bench.control.ledger,
    )


@pytest.fixture
def gta_result(
    request: pytest.FixtureRequest, gta_run: TaskRun, gta_judge: TaskJudge, _gta_directory: TaskDirectory
) -> JudgedTask:
    """The judged task. ``gta_result.check()`` passes when the root score reaches the threshold."""
    from pytest_gta.benchmark.results import TaskStatus
    from pytest_gta.checkpoint_reports import emit_verdict, emit_wait
    from pytest_gta.reporters.junit import task_properties
    from pytest_gta.run import silent_judge
    from pytest_gta.run.judged_task import JudgedTask
    from pytest_gta.run.road import NotMeasured, judge_task

    bench, item = _bench(request), request.node
    key = item.stash[CONTENDER].key(gta_run.task.slug)

    def report(verdict: Verdict) -> None:
        emit_verdict(item, key, verdict)

    bench.waits.told = lambda remark: emit_wait(item, key, remark)

    result = judge_task(
        gta_run,
        gta_judge,
        _gta_directory,
        confinement=bench.confinement,
        budget=bench.evidence_budget,
        renderers=bench.renderers,
        threshold=bench.settings.threshold,
        nodeid=item.nodeid,
        on_verdict=report,
        keep=bench.may_reuse,
        drawings=bench.workshop.drawings,
    )
    silent_judge.note(bench.control, result)
    item.stash[RESULT] = result
    result = item.stash[RESULT] = _after_feedback(request, gta_run, result, gta_judge, _gta_directory)
    item.user_properties.extend(task_properties(result))
    if result.status is not TaskStatus.GRADED:
        low, high = result.root_bounds
        raise NotMeasured(
            f"{result.error}; root score between {low:.2f} and {high:.2f}, judge it again with "
            f"--gta-resume={bench.run.whole}"
        )
    return JudgedTask(**dict(result), threshold=bench.settings.threshold, gated=bench.settings.gated)


def _after_feedback(
    request: pytest.FixtureRequest, run: TaskRun, first: TaskResult, judge: TaskJudge, directory: TaskDirectory
) -> TaskResult:
    """Return a task's result with that of its second attempt, when the run gives feedback."""
    bench = _bench(request)
    if bench.settings.feedback == "none":
        return first
    from pytest_gta.agents.protocol import as_agent
    from pytest_gta.checkpoint_reports import emit_going_on
    from pytest_gta.reporters.wording import points
    from pytest_gta.run.second_attempt import attempt_again

    offered = [spec.name for spec in request.getfixturevalue("gta_tools").specs]

    def toolbox(workspace: Workspace) -> Toolbox:
        return bench.toolbox(run.task, workspace, _contributed_tools(request.config), offered)

    def tell() -> None:
        emit_going_on(request.node, request.node.stash[CONTENDER].key(run.task.slug), points(first.root_score))

    agent = as_agent(request.getfixturevalue("gta_agent"))
    feedback = attempt_again(bench, run, first, agent, judge, directory, toolbox, tell)
    if feedback is None:
        return first
    result = first.model_copy(update={"feedback": feedback})
    directory.write_result(result)
    return result


def _forget_earlier_attempt(item: pytest.Item) -> None:
    """A rerun uses the same item: what an earlier attempt left on it must not be reported for this one."""
    if RESULT in item.stash:
        del item.stash[RESULT]
    item.user_properties[:] = [(name, value) for name, value in item.user_properties if not name.startswith("gta_")]


def _contributed_tools(config: pytest.Config) -> list[Tool]:
    contributed = config.hook.pytest_gta_tools(config=config)
    return [tool for tools in contributed for tool in tools]
