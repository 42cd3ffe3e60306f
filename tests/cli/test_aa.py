"""`pytest-gta aa`: a judge with known noise, on the outputs of a run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from pytest_gta.cli.judge_options import judge_settings
from pytest_gta.run.finished_work import open_finished_work
from tests.openai_server import fails
from tests.plugin.conftest import Project


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def measured(make_project: Callable[..., Project]) -> Project:
    """A run of three tasks; every leaf had 8 points, those of task 2 had 2."""
    project = make_project(3)
    project.fail_task(list(project.index)[1])
    project.run("-q")
    return project


def again(*more: str) -> tuple[int, dict[str, Any]]:
    code = main(["aa", "run", "--json", "noise.json", *more])
    return code, json.loads(Path("noise.json").read_text())


def test_the_same_judge_has_no_noise_and_the_run_stays(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before, asked = contents(Path("run")), len(measured.server.chats)
    code, noise = again()
    assert code == 0
    leaves = sum(len(measured.leaves(task)) for task in measured.index)
    assert len(measured.server.chats) - asked == leaves
    assert (noise["leaves"]["pairs"], noise["leaves"]["flipped"], noise["leaves"]["identical"]) == (leaves, 0, leaves)
    assert (noise["tasks"]["pairs"], noise["tasks"]["flip_rate"]) == (3, 0)
    assert noise["gate"]["root_sr"] == pytest.approx([200 / 3, 200 / 3])
    assert noise["usage"]["calls"] == leaves
    assert contents(Path("run")) == before
    assert "no drop would be seen for certain" in capsys.readouterr().out


def test_flips_are_counted_at_the_threshold(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = measured.index
    measured.scores.update(dict.fromkeys(measured.leaves(first), 6))  # 8 before: flips
    measured.scores.update(dict.fromkeys(measured.leaves(second), 3))  # 2 before
    code, noise = again()
    assert code == 0
    counts = [len(measured.leaves(task)) for task in (first, second, third)]
    assert noise["leaves"]["flipped"] == counts[0]
    assert noise["leaves"]["mean_difference"] == pytest.approx((2 * counts[0] + counts[1]) / sum(counts))
    assert (noise["tasks"]["flipped"], noise["tasks"]["flip_rate"]) == (1, pytest.approx(100 / 3))
    assert noise["tasks"]["drift"] == pytest.approx((-2 + 1) / 3)
    assert noise["gate"]["root_sr"] == pytest.approx([200 / 3, 100 / 3])
    out = capsys.readouterr().out
    assert f"flipped: {noise['flipped_tasks'][0]}" in out
    assert "33.3 [6.1, 79.2]" in out
    assert again("--threshold=5")[1]["tasks"]["flipped"] == 0


def test_another_number_of_samples_judges_twice(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    asked = len(measured.server.chats)
    code, noise = again("--samples=3")
    assert code == 0
    assert len(measured.server.chats) - asked == 2 * 3 * noise["leaves"]["pairs"]
    assert "3 tasks had not been judged in this way, and were judged twice" in capsys.readouterr().out


def test_what_has_no_score_is_left_out_and_said(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    first = next(iter(measured.index))
    measured.scores[measured.leaf(first, 0)] = fails(400, "no such thing")
    code, noise = again()
    assert code == 10
    assert (noise["tasks"]["pairs"], len(noise["unscored"])) == (2, 1)
    captured = capsys.readouterr()
    assert "leaves without a score in one of the judgings, left out: 1" in captured.out
    assert "no such thing" in captured.err


def test_what_is_no_run_or_has_changed(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["aa", "empty"])
    assert ended.value.code == 2
    assert "is not a run directory" in capsys.readouterr().err
    tasks = json.loads((measured.dataset / "end.json").read_text())
    (measured.dataset / "end.json").write_text(json.dumps(tasks, indent=3))
    with pytest.raises(SystemExit):
        main(["aa", "run"])
    assert "has changed since the run" in capsys.readouterr().err


def test_what_judges_again_keeps_account_aside(measured: Project) -> None:
    run = Path("run").absolute()
    given = argparse.Namespace()
    with open_finished_work(run, lambda fixed: judge_settings(given, fixed, {}), {}) as work:
        aside = work.bench.run.root
        # The bundled model's log goes there before anything else does.
        assert aside.is_dir()
        assert not aside.is_relative_to(run)
        assert (work.bench.settings.cache, work.bench.settings.judge_model) == (None, "judge")
        assert sorted(work.tasks) == work.run.run_keys()
    assert not aside.exists()
