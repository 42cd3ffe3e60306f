"""A run of GTA-Atomic: an agent of one's own, its answers compared with the dataset's, and no judge asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.run.bench import Bench
from pytest_gta.settings import resolve
from pytest_gta.workspace.workspace import Workspace
from tests.atomic_factory import make_atomic
from tests.plugin.conftest import SUITE, WITHOUT

AGENT = """
import pytest

ANSWERS = {"0": "There are seven.", "1": "It is Oslo in Sweden, near Norway.", "2": "It costs $12.", "10": ""}


class Mine:
    label = "mine"

    def run(self, task, tools, workspace):
        picture = workspace.resolve(task.inputs[0])
        assert picture.is_file()
        names = ",".join(spec.name for spec in tools.specs)
        workspace.resolve("tools.txt", writing=True).write_text(names)
        return ANSWERS[task.id]


@pytest.fixture
def gta_agent():
    return Mine()
"""
"""An agent in the suite's own process: what it may touch is tried elsewhere."""


@pytest.fixture
def run_atomic(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("OPENAI_API_KEY", "EVAL_OPENAI_API_KEY", "EVAL_OPENAI_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GTA_DATA", str(pytester.path / "data"))
    make_atomic(pytester.path / "data" / "gta_dataset.zip")
    pytester.makepyfile(test_suite=SUITE, conftest=AGENT)

    def run(*arguments: str, dataset: str = "atomic") -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            "--gta-agent=fixture",
            f"--gta-dataset={dataset}",
            "--gta-run-dir=run",
            "--gta-render=off",
            *WITHOUT,
            *arguments,
        )

    return run


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_answers_are_compared_and_no_model_judges(run_atomic: Any, pytester: pytest.Pytester, workers: str) -> None:
    result = run_atomic(workers, "--gta-fail-under=50", "--gta-max-cost=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "gta: atomic, 4 tasks, 4 leaves, success from 7 points",
            "gta: agent fixture, judge answer-key",
            "gta: a question is a task of one leaf, its answer: Root SR is the share of right answers",
            "gta: questions left out: 1 because its answer is an open one, 1 because its answer is a picture",
            "*= GTA-Atomic =*",
            "*Root SR@7 50.0 %*",
        ]
    )
    results = json.loads((pytester.path / "run" / "results.json").read_text())
    assert results["run"]["judge"]["model"] == "answer-key"
    assert results["run"]["dataset"]["name"] == "atomic"
    scores = {task["task_id"]: task["root_score"] for task in results["tasks"]}
    assert scores == {"0": 10, "1": 0, "2": 10, "10": 0}
    assert results["summary"]["root_sr"] == 50
    assert results["summary"]["cost_usd"]["judge"] == 0
    wrong = next(task for task in results["tasks"] if task["task_id"] == "1")
    assert wrong["checkpoints"][0]["analysis"] == "The answer says 'Sweden'."
    assert list(results["summary"]["by_category"]) == ["tools_1", "tools_2"]
    offered = (pytester.path / "run" / "tasks" / "tools_2_2" / "workspace" / "tools.txt").read_text()
    assert offered == "OCR,Calculator"
    assert "GTA-Atomic report" in (pytester.path / "run" / "report.html").read_text()


def test_a_wrong_answer_is_a_failed_test(run_atomic: Any) -> None:
    result = run_atomic("-k", "tools_2")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1


def test_a_run_can_be_reported_and_is_compared_with_its_like(
    run_atomic: Any, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_gta.cli import main

    run_atomic("--gta-limit=2")
    results = pytester.path / "run" / "results.json"
    results.unlink()
    assert main(["report", str(pytester.path / "run")]) == 1
    assert json.loads(results.read_text())["summary"]["root_sr"] == 50
    with pytest.raises(SystemExit):
        main(["compare", str(pytester.path / "run"), "--published"])
    assert "is a run of GTA-Atomic, the figures are of GTA-Workflow" in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--judge-model=answer-key",)], ids=["as it is", "with the key"])
@pytest.mark.parametrize("command", ["diagnose", "aa"])
def test_no_judge_can_be_asked_again(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], command: str, more: tuple[str, ...]
) -> None:
    manifest = {"dataset": {"path": "atomic", "sha256": "0" * 64}, "judge": {"model": "answer-key"}}
    pytester.mkdir("run")
    (pytester.path / "run" / "run.json").write_text(json.dumps(manifest))
    from pytest_gta.cli import main

    with pytest.raises(SystemExit) as refused:
        main([command, "run", *more])
    assert refused.value.code == 2
    assert "run is a run of GTA-Atomic, whose answers are compared with a key" in capsys.readouterr().err


def test_an_estimate_has_no_judge(run_atomic: Any) -> None:
    result = run_atomic("--gta-estimate")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["Tasks    4 tasks, 4 leaves", "Judge    0 calls, no tokens, no cost"])


def test_by_its_path_it_says_what_to_add(run_atomic: Any, pytester: pytest.Pytester) -> None:
    path = str(Path("data") / "gta_dataset.zip")
    refused = run_atomic(dataset=path)
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*gta_dataset.zip is GTA-Atomic, whose questions are scored by their answers and*"])
    assert run_atomic("--gta-judge-model=answer-key", "--gta-fail-under=50", dataset=path).ret == 0


def test_the_bundled_model_is_offered_the_questions_own_tools_too(tmp_path: Path) -> None:
    make_atomic(tmp_path / "gta_dataset.zip")
    settings = resolve({"gta_model": "local", "gta_dataset": "atomic"}.get, lambda _: "", {})
    assert settings is not None
    bench = Bench(settings, tmp_path, {"GTA_DATA": str(tmp_path)})
    task = bench.release.task("2")
    tools = bench.toolbox(task, Workspace.stage(tmp_path / "work", task, bench.release), [])
    assert [spec.name for spec in tools.specs] == ["OCR", "Calculator"]
    tools.close()


def test_an_answer_key_is_for_questions_with_answers(run_atomic: Any) -> None:
    refused = run_atomic("--gta-judge-model=answer-key", dataset="mini")
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*--gta-judge-model=answer-key: *mini has no answers to compare with*"])


def test_it_is_run_by_itself(run_atomic: Any) -> None:
    refused = run_atomic(dataset="mini,atomic")
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*--gta-dataset=atomic: its questions are scored by their answers; run it by*"])
    for more in ("--gta-judge-model=some-judge", "--gta-feedback=checkpoint"):
        by_path = run_atomic(more, dataset=f"mini,{Path('data') / 'gta_dataset.zip'}")
        assert by_path.ret == 4
        by_path.stderr.fnmatch_lines(["*gta_dataset.zip is GTA-Atomic, whose questions are*; run it by itself"])


def test_it_is_fetched_first(run_atomic: Any, pytester: pytest.Pytester) -> None:
    (pytester.path / "data" / "gta_dataset.zip").unlink()
    refused = run_atomic()
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*--gta-dataset=atomic: the release is not in *; get it by: pytest-gta fetch atomic"])


def test_the_answers_are_not_told_as_feedback(run_atomic: Any, pytester: pytest.Pytester) -> None:
    refused = run_atomic("--gta-feedback=checkpoint")
    assert refused.ret == 4 and "the reason of an answer key names the answer" in refused.stderr.str()
    run_atomic("--gta-feedback=coarse")
    results = json.loads((pytester.path / "run" / "results.json").read_text())
    feedback = {task["task_id"]: task["feedback"] for task in results["tasks"]}
    assert feedback["0"]["carried_over"] and feedback["1"]["root_score"] == 0.0
    told = (pytester.path / "run" / "tasks").glob("*_1/after_feedback/transcript.jsonl")
    assert "1 of 1 requirements is not met" in next(told).read_text()
