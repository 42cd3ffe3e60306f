"""A run scored from finished outputs: what the user sees and what results.json holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.openai_server import fails, hangs
from tests.plugin.conftest import SUITE, Project


@pytest.fixture(params=["-n0", "-n2"])
def workers(request: pytest.FixtureRequest) -> str:
    """Every behaviour holds in one process and over two workers."""
    return str(request.param)


@pytest.fixture(params=["-n0", "-n1"])
def worker(request: pytest.FixtureRequest) -> str:
    """What concerns a single task holds in one process and over a worker."""
    return str(request.param)


def test_scores_and_summary(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(3)
    project.fail_task("2", 3)
    result = project.run(workers)
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == 1
    output = result.stdout.str()
    assert "Root SR@7 66.7 %" in output
    assert "(2 of 3 graded tasks)" in output
    assert "FAIL (exit 1): 1 of 3 graded tasks below 7 points" in output
    assert "root score 3.00 < 7" in output
    summary = project.results()["summary"]
    assert summary["root_sr"] == pytest.approx(200 / 3)
    assert summary["root_score"] == pytest.approx((8 + 3 + 8) / 3)
    assert summary["graded"] == 3
    assert summary["scored_leaves"] == sum(len(project.leaves(task_id)) for task_id in project.index)
    assert len(project.judged()) == summary["scored_leaves"]
    assert len(set(project.judged())) == len(project.judged())


def test_weighted_root_score_is_exact(make_project: Callable[..., Project], worker: str) -> None:
    project = make_project(1)
    leaves = project.leaves("1")
    project.scores = {requirement: number % 11 for number, requirement in enumerate(leaves)}
    project.run(worker)

    def score(node: dict[str, object]) -> float:
        children = node.get("sub_tasks")
        if not children:
            return float(project.scores[str(node["requirements"])])
        assert isinstance(children, list)
        return sum(c["weight"] * score(c) for c in children) / sum(c["weight"] for c in children)

    expected = score({"sub_tasks": project.index["1"]["sub_tasks"]})
    assert project.tasks()["1"]["root_score"] == pytest.approx(expected, abs=1e-9)


def test_verbose_shows_each_leaf_and_changes_no_count(make_project: Callable[..., Project], worker: str) -> None:
    project = make_project(1)
    project.scores = {project.leaf("1", 0): 2}
    result = project.run(worker, "-v")
    leaves = len(project.leaves("1"))
    lines = [line for line in result.outlines if "/10 [cp" in line]
    assert len(lines) == leaves
    assert sum(" 2.0/10" in line for line in lines) == 1
    result.assert_outcomes(passed=1)


def test_quiet_says_only_the_headline(make_project: Callable[..., Project]) -> None:
    result = make_project(2).run("-q")
    output = result.stdout.str()
    assert "Root SR@7 100.0 %" in output
    assert "category" not in output
    assert result.outlines[-1].startswith("2 passed")


def test_runs_without_terminal(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    assert project.run("-p", "no:terminal").ret == 0
    assert project.results()["summary"]["root_sr"] == 100


def test_one_line_a_task_as_it_ends(make_project: Callable[..., Project], workers: str) -> None:
    result = make_project(4).run(workers)
    lines = [line for line in result.outlines if " tasks, " in line and line.lstrip().startswith("8.00")]
    assert len(lines) == 4
    assert "4/4 tasks" in lines[-1]
    assert [" s left" in line for line in lines] == [False, False, True, False]
    assert max(map(len, lines)) < 80


def test_plain_asserts_on_result_and_run(make_project: Callable[..., Project]) -> None:
    project = make_project(
        1,
        files=True,
        suite="""
def test_result(gta_result, gta_run, gta_settings):
    assert gta_result.root_score == 8
    assert gta_result.leaf("cp1").score == 8
    assert [f.path for f in gta_run.deliverables.files] == ["table.csv"]
    assert gta_run.final_answer == "Finished task 1."
    assert gta_settings.threshold == 7
""",
    )
    project.run().assert_outcomes(passed=1)


TRIED_ONCE = """
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        import pytest_gta.workspace.confinement as confinement
        confinement.choose_confinement = None
"""


def test_a_worker_takes_the_confinement_that_the_controller_tried(make_project: Callable[..., Project]) -> None:
    project = make_project(1, files=True)
    project.pytester.makeconftest(TRIED_ONCE)
    assert project.run("-n1").ret == 0
    assert project.tasks()["1"]["deliverables"][0]["evidence"] == "full"


def test_two_tests_of_a_task_share_its_run(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(
        2,
        suite=SUITE + "\ndef test_b(gta_run):\n    assert gta_run.final_answer\n",
    )
    project.run(workers).assert_outcomes(passed=4)
    assert len(project.judged()) == sum(len(project.leaves(t)) for t in project.index)
    assert project.results()["summary"]["graded"] == 2


def test_nothing_delivered_is_zero_without_a_call(make_project: Callable[..., Project]) -> None:
    project = make_project(1, answer=False)
    result = project.run()
    assert result.ret == 1
    task = project.tasks()["1"]
    assert (task["status"], task["root_score"]) == ("graded", 0.0)
    assert {leaf["status"] for leaf in _leaves(task["checkpoints"])} == {"not_delivered"}
    assert project.server.chats == []


def test_a_bad_task_is_an_error_of_its_own(make_project: Callable[..., Project]) -> None:
    def spoil(index: dict[str, dict[str, object]]) -> None:
        nodes = index["2"]["sub_tasks"]
        assert isinstance(nodes, list)
        nodes[0]["weight"] = -1

    project = make_project(3, edit=spoil)
    result = project.run()
    result.assert_outcomes(passed=2, errors=1)
    assert "task 2, checkpoint cp1: weight -1.0 is not a finite number above 0" in result.stdout.str()
    assert result.ret == 10
    assert project.tasks()["2"]["status"] == "error"


def _leaves(nodes: list[dict[str, object]]) -> list[dict[str, object]]:
    found = []
    for node in nodes:
        children = node["checkpoints"]
        assert isinstance(children, list)
        found.extend(_leaves(children) if children else [node])
    return found


def test_a_judge_that_is_waited_for_is_said(make_project: Callable[..., Project], worker: str) -> None:
    project = make_project(1)
    normal, busy = project.respond, [fails(503, "overloaded"), fails(503, "overloaded")]
    project.respond = lambda request: busy.pop() if busy else normal(request)  # type: ignore[method-assign]
    result = project.run(worker)
    assert result.ret == 0
    assert any(line.startswith(" wait  judge: retrying in ") and "503" in line for line in result.outlines)
    assert project.results()["summary"]["root_sr"] == 100


def test_a_judge_that_takes_a_request_and_hangs_is_asked_again_and_said(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_gta.run.workshop.JUDGE_ATTEMPT_S", 1.5)
    project = make_project(1)
    normal, silent = project.respond, [hangs()]
    project.respond = lambda request: silent.pop() if silent else normal(request)  # type: ignore[method-assign]
    result = project.run("-n0")
    assert result.ret == 0
    waits = [line for line in result.outlines if line.startswith(" wait  judge: ")]
    assert any("asked again after" in line or "no whole answer within" in line for line in waits)
    assert project.results()["summary"]["root_sr"] == 100


def test_what_an_agent_has_that_was_not_taken_is_noted(make_project: Callable[..., Project]) -> None:
    project = make_project(2, files=True)
    for number in range(25):
        (project.outputs / "1" / "files" / f"link{number:02}").symlink_to("table.csv")
    (project.outputs / "2" / "files" / "only").symlink_to("table.csv")
    project.fail_task("1", 3)
    output = project.run().stdout.str()
    first, second = (project.tasks()[task_id] for task_id in ("1", "2"))
    assert first["agent"]["notes"] == [f"not taken: link{number:02} (a link)" for number in range(25)]
    shown = [note for note in first["notes"] if "link" in note or "more" in note]
    assert shown == [*first["agent"]["notes"][:20], "and 5 more notes in the transcript"]
    assert "note: not taken: link00 (a link)" in output
    # A single one is in the line that says how the agent ended.
    assert second["agent"]["notes"] == [second["agent"]["stop_detail"]] == ["not taken: only (a link)"]
    assert not second["notes"]
