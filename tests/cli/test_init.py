"""`pytest-gta init`: what it writes runs, and what was there stays."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.cli import main
from pytest_gta.options import OPTIONS
from tests.plugin.conftest import Project

yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflows")

WRITTEN = ("test_gta.py", "my_agent.py", ".github/workflows/gta.yml")


def test_the_written_suite_runs(make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(2)
    assert main(["init", "repository"]) == 0
    out = capsys.readouterr().out
    root = Path("repository")
    assert [line.split() for line in out.splitlines()[:3]] == [["written", f"repository/{path}"] for path in WRITTEN]
    assert "  cd repository" in out
    command = re.search(r"^  pytest (.*)$", out, re.MULTILINE)
    assert command is not None
    asked = [word for word in command.group(1).split() if "judge" not in word]
    project.pytester.chdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        judged_by = [f"--gta-judge-base-url={project.server.base_url}", "--gta-judge-model=judge", "--gta-cache=off"]
        more = [f"--gta-dataset={project.dataset}", "--gta-run-dir=run", "--gta-report=off", "--gta-render=off"]
        ended = project.pytester.runpytest_subprocess(*asked, *judged_by, *more)
    ended.assert_outcomes(passed=2)
    tasks = project.tasks("repository/run")
    for task in tasks.values():
        assert task["agent"]["final_answer"] == "I wrote report.md."
        assert (task["agent"]["tool_calls"], task["agent"]["tool_errors"]) == (1, 0)
        assert [file["path"] for file in task["deliverables"]] == ["report.md"]
    report = next(root.glob("run/tasks/*/workspace/report.md")).read_text()
    sizes = [int(size) for size in re.findall(r": (\d+) bytes", report)]
    assert f"- {sum(sizes)} bytes in all" in report


def test_without_an_agent_the_suite_skips(pytester: pytest.Pytester) -> None:
    assert main(["init"]) == 0
    pytester.runpytest_subprocess("test_gta.py").assert_outcomes(skipped=1)


def test_what_exists_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_gta.py").write_text("mine")
    assert main(["init"]) == 0
    assert "exists   test_gta.py (left as it is)" in capsys.readouterr().out
    assert Path("test_gta.py").read_text() == "mine"
    before = {path: Path(path).read_bytes() for path in WRITTEN}
    assert main(["init", "."]) == 0
    assert capsys.readouterr().out.count("exists  ") == 3
    assert {path: Path(path).read_bytes() for path in WRITTEN} == before


def test_an_agent_of_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--agent", "pkg.agents:answer"]) == 0
    assert "def answer(task, tools, workspace):" in Path("pkg/agents.py").read_text()
    assert "--gta-agent=import:pkg.agents:answer" in Path(WRITTEN[2]).read_text()
    assert 'gta_agent = "import:pkg.agents:answer"' in capsys.readouterr().out
    Path("other").mkdir()
    assert main(["init", "--agent=other:run"]) == 0
    assert not Path("other.py").exists()
    for wrong in ("my_agent", "my agent:run", "a:b:c", "class:run", "../x:run"):
        with pytest.raises(SystemExit) as ended:
            main(["init", f"--agent={wrong}"])
        assert ended.value.code == 2
        assert "is not of the form MODULE:NAME" in capsys.readouterr().err


def fenced(kind: str) -> list[str]:
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def test_the_documented_workflow_is_the_written_one(tmp_path: Path) -> None:
    main(["init", str(tmp_path)])
    written = (tmp_path / WRITTEN[2]).read_text()
    github, gitlab = fenced("yaml")
    assert github == written
    workflow = yaml.safe_load(written)
    measure, gate = workflow["jobs"]["measure"], workflow["jobs"]["gate"]
    assert measure["strategy"]["matrix"]["shard"] == list(range(1, int(workflow["env"]["SHARDS"]) + 1))
    assert gate["needs"] == "measure"
    assert all(("run" in step) != ("uses" in step) for job in (measure, gate) for step in job["steps"])
    jobs = yaml.safe_load(gitlab)
    assert jobs["gta-measure"]["parallel"] == 4
    assert jobs["gta-gate"]["needs"] == ["gta-measure"]
    assert jobs["gta-gate"]["allow_failure"] == {"exit_codes": 10}


def test_the_workflows_use_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    flags = {option.flag for option in OPTIONS}
    both = "\n".join(fenced("yaml"))
    used = set(re.findall(r"--gta-[a-z-]+", both))
    assert len(used) >= 5
    assert used <= flags
    for command in ("merge", "report"):
        lines = [line for line in both.splitlines() if f"pytest-gta {command} " in line]
        assert len(lines) == 2
        with pytest.raises(SystemExit):
            main([command, "--help"])
        known = capsys.readouterr().out
        for line in lines:
            assert all(flag in known for flag in re.findall(r"(?<!\S)--?[a-z][a-z-]*", line)), line


def test_the_github_commands_do_what_they_say(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The run lines of the written workflow, in a shell, on two shards that are there."""
    project = make_project(3)
    main(["init", "."])
    workflow = yaml.safe_load(Path(WRITTEN[2]).read_text())
    steps = {
        step.get("name"): step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    }
    shard_step = next(run for name, run in steps.items() if name and name.startswith("Measure"))
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GTA_JUDGE_BASE_URL": project.server.base_url,
        "GTA_JUDGE_MODEL": "judge",
        "GTA_DATASET": str(project.dataset),
        "GTA_RENDER": "off",
        "SHARDS": "2",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for shard in ("1", "2"):
        script = (
            shard_step.replace("${{ matrix.shard }}", shard).replace("-n 4", "-n 0").replace("--gta-max-cost=20", "")
        )
        ended = project.pytester.run("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
        assert ended.ret == 0, ended.stdout.str()
    assert not (tmp_path / "step.md").exists()
    Path("shards").mkdir()
    for shard in ("1", "2"):
        Path(f"shard-{shard}").rename(f"shards/gta-shard-{shard}")
    for name in ("Merge and decide", "Report", "Keep as the baseline"):
        ended = project.pytester.run("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps[name])
        assert ended.ret == 0, ended.stdout.str()
    assert len(project.results("whole")["tasks"]) == 3
    assert "Root SR" in (tmp_path / "step.md").read_text()
    assert "<html" in Path("gta-report.html").read_text()
    Path("whole").rename("first")
    assert project.pytester.run("bash", "-e", "-c", steps["Merge and decide"]).ret == 0
    assert project.results("whole")["gate"]["baseline"]["verdict"] == "pass"
