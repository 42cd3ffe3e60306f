"""Several agents in one run: each has items, a run directory and results of its own; a table over them at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.results import RunResult
from pytest_gta.cli import main
from tests.openai_server import RecordedRequest, judge
from tests.plugin.conftest import SUITE, WITHOUT, Project

AGENTS = """
from pathlib import Path
from pytest_gta.agents.protocol import AgentRun, StopReason, Usage

def _run(name, task, workspace, cost):
    with (Path(__file__).parent / "runs").open("a") as runs:
        runs.write(f"{name} {task.id}\\n")
    Path(workspace.root, "note.txt").write_text(f"Written by the {name} agent.")
    return AgentRun(StopReason.FINISHED, f"The {name} agent finished task {task.id}.", usage=Usage(cost_usd=cost))

def strong(task, workspace):
    return _run("strong", task, workspace, 0.5)

def weak(task, workspace):
    return _run("weak", task, workspace, None)
"""

STRONG, WEAK = "strong=import:my_agents:strong", "weak=import:my_agents:weak"
DONE = ("strong=outputs:strong", "weak=outputs:weak")
"""The same agents by their finished work: where it does not matter how it came about, no process is started for it."""


@pytest.fixture(params=["-n0", "-n2"])
def workers(request: pytest.FixtureRequest) -> str:
    """Every behaviour holds in one process and over two workers."""
    return str(request.param)


@pytest.fixture
def make_contest(make_project: Callable[..., Project]) -> Callable[..., Project]:
    """Make a project whose judge gives 9 for what the strong agent delivers and 4 for all else."""

    def make(tasks: int = 2, **more: Any) -> Project:
        project = make_project(tasks, **more)
        project.pytester.makepyfile(my_agents=AGENTS)
        for name in ("strong", "weak"):
            for task_id in project.index:
                final = project.pytester.path / name / task_id / "final.txt"
                final.parent.mkdir(parents=True)
                final.write_text(f"The {name} agent finished task {task_id}.")

        def respond(request: RecordedRequest) -> Any:
            return judge(lambda _: 9 if b"strong agent" in request.body else 4)(request)

        project.respond = respond  # type: ignore[method-assign]
        return project

    return make


def contest(project: Project, *args: str, agents: tuple[str, ...] = (STRONG, WEAK)) -> pytest.RunResult:
    """Run the suite with these agents."""
    first, *others = agents
    return project.run(*args, *(f"--gta-agent={agent}" for agent in others), agent=first)


def again(project: Project, *args: str) -> pytest.RunResult:
    """Go on with the run."""
    return project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-report=off", "-p", "no:cacheprovider", *args)


def collected(result: pytest.RunResult) -> list[str]:
    return [line.partition("[")[2].rstrip("]") for line in result.outlines if "::test_workflow[" in line]


def part(project: Project, label: str) -> RunResult:
    """Return one agent's results, read and checked."""
    path = project.pytester.path / "run" / "agents" / label / "results.json"
    return RunResult.model_validate_json(path.read_bytes())


def runs(project: Project) -> list[str]:
    return sorted((project.pytester.path / "runs").read_text().splitlines())


def test_each_agent_has_a_run_of_its_own_and_stands_in_the_table(
    make_contest: Callable[..., Project], workers: str
) -> None:
    project = make_contest(2)
    result = contest(project, workers)
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == 1
    assert runs(project) == ["strong 1", "strong 2", "weak 1", "weak 2"]
    strong, weak = part(project, "strong"), part(project, "weak")
    assert (strong.summary["root_score"], weak.summary["root_score"]) == (9, 4)
    assert (strong.summary["root_sr"], weak.summary["root_sr"]) == (100, 0)
    assert [task.run_key for task in strong.tasks] == ["data_analysis_1", "education_2"]
    assert [task.run_key for task in weak.tasks] == ["data_analysis_1", "education_2"]
    assert strong.run["agent"]["label"] == "strong"
    assert strong.run["id"] == "run/strong"
    assert {task.agent.label for task in weak.tasks if task.agent} == {"weak"}
    root = project.pytester.path / "run"
    for label in ("strong", "weak"):
        note = root / "agents" / label / "tasks" / "education_2" / "workspace" / "note.txt"
        assert note.read_text() == f"Written by the {label} agent."
    assert not (root / "tasks").exists()
    assert not (root / "results.json").exists()

    table = json.loads((root / "comparison.json").read_text())
    assert [run["label"] for run in table["runs"]] == ["strong", "weak"]
    assert [run["summary"]["cost_usd"]["agent"] for run in table["runs"]] == [1.0, None]
    assert [run["summary"]["score_per_usd"] for run in table["runs"]] == [9.0, None]
    change = table["runs"][1]["against_first"]["root_score"]
    assert (change["before"], change["after"], change["difference"]) == (9, 4, -5)
    assert table["runs"][1]["against_first"]["tasks"] == 2
    assert table["gate"] == {
        "verdict": "none",
        "reasons": ["weak: 2 of 2 graded tasks below 7 points"],
        "baseline": None,
    }

    lines = result.outlines
    assert "gta: dataset, 2 tasks, 18 leaves for each agent, success from 7 points" in lines
    assert "gta: agent weak: import:my_agents:weak" in lines
    assert "-- strong --" in lines
    assert lines.count("A  strong, 2 of 2 tasks graded") == 1
    row = next(line for line in lines if line.startswith("A  100.0"))
    assert row.split()[-2:] == ["$1.00", "9.000"]
    assert next(line for line in lines if line.startswith("B  0.0")).split()[-2:] == ["unknown", "-"]
    assert "B against A: lower, may be noise, over 2 common tasks" in lines
    assert "  lost       2: data_analysis_1, education_2" in lines
    assert "FAIL (exit 1): weak: 2 of 2 graded tasks below 7 points" in lines
    ends = [line for line in lines if " tasks, " in line and "leaves" in line and "weak" in line]
    assert sorted(line.split()[:2] for line in ends) == [
        ["4.00", "data_analysis_1-weak"],
        ["4.00", "education_2-weak"],
    ]
    summary = lines[lines.index("-- strong --") :]
    assert max(map(len, summary[:-1])) <= 80


@pytest.mark.parametrize(
    ("agents", "options", "expected"),
    [
        (
            (STRONG, WEAK),
            (),
            ["data_analysis_1-strong", "data_analysis_1-weak", "education_2-strong", "education_2-weak"],
        ),
        ((WEAK, STRONG), ("--gta-limit=1",), ["data_analysis_1-strong", "data_analysis_1-weak"]),
        ((STRONG, WEAK), ("--gta-shard=2/2",), ["education_2-strong", "education_2-weak"]),
        ((STRONG, WEAK), ("-k", "weak and education"), ["education_2-weak"]),
        ((STRONG, WEAK), ("--gta-task=2",), ["education_2-strong", "education_2-weak"]),
        (
            (STRONG, WEAK),
            ("--gta-task=1", "--gta-repeat=2", "-k", "weak"),
            ["data_analysis_1_r1-weak", "data_analysis_1_r2-weak"],
        ),
        ((STRONG,), (), ["data_analysis_1", "education_2"]),
        (
            ("tools",),
            ("--gta-model=m-1", "--gta-model=M.2", "--gta-task=1", "--gta-base-url=http://localhost:9/v1"),
            ["data_analysis_1-m-1", "data_analysis_1-m-2"],
        ),
    ],
)
def test_items(
    make_contest: Callable[..., Project], agents: tuple[str, ...], options: tuple[str, ...], expected: list[str]
) -> None:
    assert collected(contest(make_contest(2), "--collect-only", "-q", *options, agents=agents)) == expected


def test_finished_outputs_are_compared_on_the_tasks_they_have(make_contest: Callable[..., Project]) -> None:
    project = make_contest(3)
    (project.outputs / "1").rename(project.outputs.parent / "gone")
    listed = contest(project, "--collect-only", "-q", "--gta-limit=2", agents=(f"old=outputs:{project.outputs}", WEAK))
    assert collected(listed) == ["data_analysis_1-weak", "education_2-old", "education_2-weak"]
    result = contest(project, "--gta-limit=2", agents=(f"old=outputs:{project.outputs}", WEAK))
    assert f"gta: agent old: outputs:{project.outputs.name}, has 1 of 2 tasks" in result.outlines
    assert "B against A: no drop shown over 1 common task" in result.outlines


def test_agents_from_the_ini_file_and_the_environment(
    make_contest: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_contest(1)
    project.pytester.makeini(f"[pytest]\ngta_agent =\n    {STRONG}\n    {WEAK}\ngta_dataset = {project.dataset}\n")
    both = ["data_analysis_1-strong", "data_analysis_1-weak"]
    options = ("--collect-only", "-q", "-p", "no:cacheprovider")
    assert collected(project.pytester.runpytest_inprocess(*options)) == both
    monkeypatch.setenv("GTA_AGENT", f"a={STRONG[7:]}\nb={WEAK[5:]}")
    assert collected(project.pytester.runpytest_inprocess(*options)) == ["data_analysis_1-a", "data_analysis_1-b"]


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        ((STRONG, "robot"), (), "--gta-agent=robot: not a known agent; valid: tools*"),
        ((STRONG, "b=import:my_agents:gone"), (), "agent b: --gta-agent=import:my_agents:gone: *"),
        ((STRONG, "b=outputs:nowhere"), (), "agent b: *nowhere*"),
        ((STRONG, "cmd:no-such-program-here"), (), "agent no-such-program-here: *"),
        ((STRONG, "fixture"), (), "--gta-agent=fixture is one agent for all tasks and cannot be one of several*"),
        ((STRONG, "strong=import:my_agents:weak"), (), "--gta-agent: * have the same name 'strong'; give each its own"),
        ((STRONG, "react"), (), "--gta-agent=react needs a model: add --gta-model=NAME*"),
        ((STRONG, "b=outputs:outputs"), ("--gta-repeat=2",), "agent b: --gta-repeat=2 runs the agent anew*"),
        ((STRONG, WEAK), ("--gta-threshold=eleven",), "--gta-threshold: 'eleven' is not a number from 0 to 10"),
        ((STRONG, WEAK), ("--gta-task=99",), "--gta-task: '99' is not in the dataset*"),
    ],
)
def test_a_bad_one_is_named_before_anything_is_spent(
    make_contest: Callable[..., Project], agents: tuple[str, ...], options: tuple[str, ...], message: str
) -> None:
    project = make_contest(1)
    result = contest(project, *options, agents=agents)
    assert result.ret == 4
    errors = [line for line in result.errlines if line.startswith("ERROR: pytest-gta: ")]
    assert len(errors) == 1
    result.stderr.fnmatch_lines([f"ERROR: pytest-gta: {message}"])
    assert "Traceback" not in result.stderr.str()
    assert project.server.chats == []
    assert not (project.pytester.path / "run").exists()


@pytest.mark.parametrize(
    ("options", "code", "last"),
    [
        (("--gta-fail-under=50",), 1, "FAIL (exit 1): weak: Root SR 0.0 % < 50 %"),
        (
            ("--gta-fail-under-score=4",),
            0,
            "PASS (exit 0): strong: Root Score 9.00 >= 4; weak: Root Score 4.00 >= 4",
        ),
    ],
)
def test_a_gate_holds_for_each_agent(
    make_contest: Callable[..., Project], options: tuple[str, ...], code: int, last: str
) -> None:
    project = make_contest(1)
    result = contest(project, *options, agents=DONE)
    assert result.ret == code
    assert last in result.outlines
    gate = json.loads((project.pytester.path / "run" / "comparison.json").read_text())["gate"]
    assert gate["verdict"] == ("fail" if code else "pass")
    assert part(project, "strong").gate.verdict == "pass"


def test_without_scores_of_one_agent_the_whole_is_inconclusive(make_contest: Callable[..., Project]) -> None:
    project = make_contest(1, suite=SUITE)
    project.pytester.path.joinpath("my_agents.py").write_text(
        AGENTS + "\nfrom pytest_gta.agents.protocol import AgentUnavailable\n\ndef down(task):\n"
        "    raise AgentUnavailable('out of credit')\n"
    )
    result = contest(project, agents=(STRONG, "down=import:my_agents:down"))
    assert result.ret == 10
    assert "INCONCLUSIVE (exit 10): down: the task has no score" in "\n".join(result.outlines)
    assert part(project, "strong").summary["root_sr"] == 100


def test_it_is_resumed_as_a_whole_and_another_agent_can_join(make_contest: Callable[..., Project]) -> None:
    project = make_contest(2)
    contest(project, "-k", "education")
    first = len(project.server.chats)
    assert runs(project) == ["strong 2", "weak 2"]
    result = again(project)
    result.assert_outcomes(passed=2, failed=2)
    assert runs(project) == ["strong 1", "strong 2", "weak 1", "weak 2"]
    assert len(project.server.chats) - first == 2 * len(project.leaves("1"))
    assert [task.resumed for task in part(project, "weak").tasks] == [False, True]

    third = again(project, f"--gta-agent={STRONG}", f"--gta-agent={WEAK}", "--gta-agent=third=import:my_agents:strong")
    third.assert_outcomes(passed=4, failed=2)
    assert part(project, "third").summary["root_score"] == 9
    gone = again(project, f"--gta-agent={STRONG}")
    assert gone.ret == 4
    assert "is a run of several agents (strong, weak, third); leave --gta-agent and --gta-model out" in str(gone.stderr)


def test_going_on_with_one_agent_takes_no_tasks_from_another(
    make_contest: Callable[..., Project], capsys: pytest.CaptureFixture[str], workers: str
) -> None:
    project = make_contest(2)
    stop = 'def pytest_runtest_setup(item):\n    if "education_2" in item.name:\n        raise KeyboardInterrupt\n'
    project.pytester.makeconftest(stop)
    project.run("-n0", f"--gta-agent={DONE[1]}", agent=DONE[0], no_reraise_ctrlc=True)
    for label in ("strong", "weak"):
        assert [task.status.value for task in part(project, label).tasks] == ["graded", "not_run"]
    project.pytester.path.joinpath("conftest.py").unlink()
    options = ("--gta-resume=run", "--gta-report=off", *WITHOUT, "-k", "strong", workers)
    # What the other agent's task came to is part of what the run means.
    assert project.pytester.runpytest_inprocess(*options).ret == 1
    root = project.pytester.path / "run"
    both = ["data_analysis_1", "education_2"]
    for label in ("strong", "weak"):
        assert json.loads((root / "agents" / label / "run.json").read_text())["selected"] == both
    assert main(["report", str(root)]) == 1
    assert "B  weak, 1 of 2 tasks graded" in capsys.readouterr().out
    assert part(project, "weak").tasks[1].status.value == "not_run"
    assert part(project, "strong").summary["graded"] == 2


def test_an_agent_left_out_from_the_start_is_no_part_of_the_report(
    make_contest: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_contest(2)
    contest(project, "-k", "strong and education")
    again(project, "-k", "strong")
    root = project.pytester.path / "run"
    assert json.loads((root / "agents" / "weak" / "run.json").read_text())["selected"] == []
    capsys.readouterr()
    assert main(["report", str(root)]) == 0
    assert "weak" not in capsys.readouterr().out


def test_a_part_is_a_run_like_any_other(
    make_contest: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_contest(2)
    contest(project, "--gta-json=gta.json", "--gta-markdown=gta.md")
    root = project.pytester.path / "run"
    options = json.loads((root / "agents" / "weak" / "run.json").read_text())["options"]
    assert options["json"] == str(root.parent / "gta-weak.json") and "markdown" not in options
    assert main(["compare", str(root)]) == 0
    text = capsys.readouterr().out
    assert f"B  {root}/agents/weak: weak, 2 of 2 tasks graded" in text
    assert main(["report", str(root / "agents" / "strong")]) == 0
    assert main(["pack", str(root / "agents" / "weak"), "-o", str(root / "pack.json")]) == 0
    capsys.readouterr()
    for command in (["pack", str(root), "-o", "x.json"], ["aa", str(root)]):
        with pytest.raises(SystemExit) as refused:
            main(command)
        assert refused.value.code == 2
        assert f"is a run of several agents; name one of them: {root}/agents/strong" in capsys.readouterr().err
    asked = len(project.server.chats)
    alone = project.pytester.runpytest_inprocess(
        f"--gta-resume={root / 'agents' / 'weak'}", "--gta-rejudge=all", "--gta-report=off", "-p", "no:cacheprovider"
    )
    alone.assert_outcomes(failed=2)
    assert len(project.server.chats) - asked == 18
    assert len(runs(project)) == 4


def test_a_killed_run_is_reported_from_its_parts(
    make_contest: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_contest(2)
    contest(project, agents=DONE)
    root = project.pytester.path / "run"
    for file in (root / "comparison.json", *root.glob("agents/*/results.json")):
        file.unlink()
    (root / "agents" / "weak" / "tasks" / "education_2" / "result.json").unlink()
    wanted = [f"--{name}={root}/all.{suffix}" for name, suffix in REPORTS]
    assert main(["report", str(root), *wanted]) == 1
    text = capsys.readouterr().out
    assert "FAIL (exit 1): weak: 1 of 1 graded task below 7 points" in text
    assert "B  weak, 1 of 2 tasks graded" in text
    assert part(project, "weak").tasks[1].status.value == "not_run"
    assert json.loads((root / "comparison.json").read_text())["runs"][0]["summary"]["root_score"] == 9
    assert RunResult.model_validate_json((root / "all-weak.json").read_bytes()).summary["graded"] == 1
    page = (root / "all.html").read_text()
    assert '<a href="all-strong.html">A: strong</a>' in page
    assert (root / "all-strong.html").is_file()
    assert (root / "all.xml").read_text().count("<testsuite ") == 2
    assert "## GTA-Workflow: 2 agents" in (root / "all.md").read_text()


REPORTS = (("json", "json"), ("html", "html"), ("junit", "xml"), ("markdown", "md"))


def test_shards_are_merged_agent_by_agent(
    make_contest: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_contest(2)
    shards = []
    for number in (1, 2):
        shards.append(project.pytester.path / f"shard-{number}")
        contest(project, f"--gta-shard={number}/2", f"--gta-run-dir={shards[-1]}", agents=DONE)
    whole = project.pytester.path / "run"
    assert main(["merge", *map(str, shards), "-o", str(whole), "--fail-under=50"]) == 1
    assert "FAIL (exit 1): weak: Root SR 0.0 % < 50 %" in capsys.readouterr().out
    assert [task.task_id for task in part(project, "strong").tasks] == ["1", "2"]
    assert main(["report", str(whole)]) == 1


def test_each_agent_is_held_against_its_own_baseline(make_contest: Callable[..., Project]) -> None:
    project = make_contest(7)
    contest(project, "--gta-run-dir=main", agents=DONE)
    swapped = (DONE[0].replace(":strong", ":weak"), DONE[1])
    result = contest(project, "--gta-baseline=main", agents=swapped)
    assert result.ret == 1
    assert part(project, "strong").gate.verdict == "fail"
    assert part(project, "weak").gate.verdict == "pass"
    last = next(line for line in result.outlines if line.startswith("FAIL (exit 1): "))
    assert last.startswith("FAIL (exit 1): strong: Root SR fell from 100.0 to 0.0 % over 7 common tasks, p = 0.016")
    other = contest(project, "--gta-baseline=main", "--gta-run-dir=x", agents=(DONE[0], "c=outputs:weak"))
    assert other.ret == 4
    assert "has no agent 'c'; it has strong, weak" in str(other.stderr)


def test_the_budget_is_of_all_agents_together(make_contest: Callable[..., Project]) -> None:
    project = make_contest(2)
    spent = len(json.dumps({})) and 1
    result = contest(project, "-n0", f"--gta-max-tokens={spent}")
    result.assert_outcomes(failed=0, passed=1, skipped=3)
    assert result.ret == 10
    assert runs(project) == ["strong 1"]
    assert part(project, "weak").summary["not_run"] == 2
    assert "budget reached" in str(part(project, "weak").tasks[0].error)


def test_an_estimate_is_of_all_agents(make_contest: Callable[..., Project]) -> None:
    project = make_contest(2)
    result = contest(project, "--gta-estimate")
    assert result.ret == 0
    assert "Tasks    4 tasks, 36 leaves, of 2 agents" in result.outlines
    assert "Agent    weak: tokens unknown, cost unknown" in result.outlines
    assert any(line.startswith("Judge    36 calls, about ") for line in result.outlines)
    assert not (project.pytester.path / "run").exists()


def test_an_overridden_agent_is_refused_among_several_and_wrapped_ones_are_not(
    make_contest: Callable[..., Project],
) -> None:
    project = make_contest(1)
    override = "import pytest\n\n@pytest.fixture\ndef gta_agent({0}):\n    return {1}\n"
    project.pytester.makeconftest(override.format("", "lambda task: 'mine'"))
    result = contest(project, "--gta-run-dir=refused")
    result.assert_outcomes(errors=2)
    assert result.ret == 10
    assert "overrides the fixture gta_agent, but weak is what this run is named after" in result.stdout.str()
    assert not (project.pytester.path / "runs").exists()
    project.pytester.makeconftest(override.format("gta_agent", "gta_agent"))
    contest(project).assert_outcomes(passed=1, failed=1)


def test_reports_go_beside_the_one_of_all(make_contest: Callable[..., Project]) -> None:
    project = make_contest(1)
    out = project.pytester.path / "out"
    result = contest(
        project, f"--gta-json={out}/r.json", f"--gta-markdown={out}/r.md", f"--gta-report={out}/r.html",
        f"--junitxml={out}/junit.xml", f"--html={out}/pytest.html", "--self-contained-html",
        agents=DONE,
    )  # fmt: skip
    assert result.ret == 1
    assert {"r.json", "r-strong.json", "r-weak.json", "r.md", "r.html", "r-strong.html", "r-weak.html"} <= {
        file.name for file in out.iterdir()
    }
    assert RunResult.model_validate_json((out / "r-strong.json").read_bytes()).summary["root_score"] == 9
    assert '<a href="r-weak.html">B: weak</a>' in (out / "r.html").read_text()
    assert "| Task | strong | weak |" in (out / "r.md").read_text()
    assert "| data_analysis_1 | **9.00** | 4.00 |" in (out / "r.md").read_text()
    junit = (out / "junit.xml").read_text()
    assert '<property name="gta_strong_root_score" value="9.0000"' in junit
    assert '<property name="gta_weak_root_score" value="4.0000"' in junit
    assert 'name="test_workflow[data_analysis_1-weak]"' in junit
    page = (out / "pytest.html").read_text()
    assert "GTA-Workflow: 2 agents" in page
    assert "FAIL (exit 1): weak: 1 of 1 graded task below 7 points" in page


def test_commands_see_nothing_of_each_other(tmp_path: Path) -> None:
    from pytest_gta.run.lineup import Lineup
    from pytest_gta.settings import resolve

    given = {"gta_agent": ["a=cmd:cat", "b=cmd:cat"], "gta_dataset": "mini", "gta_run_dir": str(tmp_path / "run")}
    settings = resolve(given.get, lambda _name: "", {})
    assert settings is not None
    for contender in Lineup(settings, tmp_path, {}).contenders:
        seclusion = contender.bench.agent_under_test.seclusion
        if seclusion is None or not seclusion.program:
            pytest.skip("bubblewrap does not work here")
        assert tmp_path / "run" in seclusion.hidden


def test_a_name_without_others_changes_the_label_only(make_contest: Callable[..., Project]) -> None:
    project = make_contest(1)
    contest(project, agents=(STRONG,)).assert_outcomes(passed=1)
    assert project.results()["run"]["agent"]["label"] == "strong"
    assert [task["run_key"] for task in project.results()["tasks"]] == ["data_analysis_1"]
    assert Path(project.pytester.path / "run" / "tasks" / "data_analysis_1").is_dir()
