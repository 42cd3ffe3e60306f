from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from pytest_gta.benchmark.rebuilding import left_out, rebuild
from pytest_gta.benchmark.results import JudgeRecord, TaskStatus
from pytest_gta.benchmark.run_directory import NotWritten, RunDirectory, append_line, read_lines, write_atomic
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.usage import Usage
from tests.domain import a_run, a_task, an_agent, by_id, graded, not_graded, scored, unscored


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "run")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "x.json"
    write_atomic(path, "old")

    def fail(fd: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["x.json"]


def test_a_torn_line_is_skipped_and_ended_before_the_next_is_written(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    append_line(path, '{"n": 1}')
    with path.open("ab") as out:
        out.write(b'{"n": 2, "tex')
    assert [entry["n"] for entry in read_lines(path)] == [1]
    append_line(path, '{"n": 3}')
    append_line(path, "[4]")
    with path.open("ab") as out:
        out.write(b"\xff\xfe\n\n")
    assert [entry["n"] for entry in read_lines(path)] == [1, 3]
    assert list(read_lines(tmp_path / "none.jsonl")) == []


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    def write(worker: int) -> None:
        for n in range(25):
            append_line(path, json.dumps({"worker": worker, "n": n, "text": "x" * 3000}))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = list(read_lines(path))
    assert len(entries) == 100
    assert {(e["worker"], e["n"]) for e in entries} == {(w, n) for w in range(4) for n in range(25)}


def test_the_last_verdict_of_a_leaf_counts_and_all_are_paid_for(run: RunDirectory) -> None:
    directory = run.task("planning_7")
    directory.add_verdict(unscored("cp1").model_copy(update={"usage": Usage(calls=2, cost_usd=0.2)}))
    directory.add_verdict(scored("cp1", 8, usage=Usage(calls=1, cost_usd=0.1)))
    directory.add_verdict(scored("cp2", 3))
    append_line(directory.root / "verdicts.jsonl", '{"leaf_id": "cp2", "status": "scored", "score": 98}')
    verdicts = directory.verdicts()
    assert {leaf_id: verdict.score for leaf_id, verdict in verdicts.items()} == {"cp1": 8.0, "cp2": 3.0}
    assert directory.judge_usage().calls == 3
    assert directory.judge_usage().cost_usd == pytest.approx(0.3)


def test_how_the_agent_ended_and_the_result_come_back_as_they_were(run: RunDirectory) -> None:
    directory = run.task("planning_7")
    assert directory.agent() is directory.result() is None
    directory.write_agent(an_agent(final_answer="Done: ✓"))
    directory.write_result(graded("7", 8.5))
    assert directory.agent() == an_agent(final_answer="Done: ✓")
    assert directory.result() == graded("7", 8.5)
    (directory.root / "result.json").write_text('{"task_id": "7"')
    assert directory.result() is None


def test_a_new_attempt_starts_empty_and_the_old_one_is_set_aside(run: RunDirectory) -> None:
    directory = run.task("planning_7")
    directory.add_verdict(scored("cp1", 8))
    staged = directory.workspace / "resources"
    staged.mkdir(parents=True)
    staged.chmod(0o555)
    directory.archive(1)
    assert not directory.root.exists()
    assert (run.root / "attempts" / "planning_7.1" / "verdicts.jsonl").is_file()
    directory.add_verdict(scored("cp1", 2))
    (directory.workspace / "inputs").mkdir(parents=True)
    (directory.workspace / "inputs").chmod(0o555)
    directory.restart()
    assert list(directory.root.iterdir()) == []


def test_a_directory_is_held_by_one_at_a_time(run: RunDirectory) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait(60)
        with run.task("planning_7").lock():
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with run.task("planning_7").lock():
        inside.set()
        thread.join(0.2)
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]


def test_what_is_no_run_says_so(run: RunDirectory) -> None:
    with pytest.raises(FileNotFoundError):
        run.manifest()
    run.root.mkdir()
    (run.root / "run.json").write_text("[]")
    with pytest.raises(ValueError, match="does not hold an object"):
        run.manifest()
    assert run.run_keys() == []
    assert run.results() is None


def test_results_are_written_to_their_place_and_anywhere_else(run: RunDirectory, tmp_path: Path) -> None:
    result = a_run(graded("7", 8.5))
    assert run.write_results(result) == run.root / "results.json"
    elsewhere = run.write_results(result, tmp_path / "ci" / "gta.json")
    assert elsewhere.read_bytes() == (run.root / "results.json").read_bytes()
    assert run.results() is not None


# -- a run that was killed ---------------------------------------------------------------------------------------------


def test_a_killed_run_is_rebuilt_from_its_parts(run: RunDirectory) -> None:
    tasks = {task.slug: task for task in (a_task(str(n)) for n in range(1, 6))}
    run.write_manifest({"selected": list(tasks)})
    run.task("planning_1").write_result(graded("1", 8))
    judged = run.task("planning_2")
    judged.write_agent(an_agent())
    judged.add_verdict(scored("cp1-1", 9, usage=Usage(calls=1, cost_usd=0.125)))
    run.task("planning_3").write_agent(an_agent())
    run.task("planning_4").workspace.mkdir(parents=True)

    results = rebuild(run, tasks, 7)

    assert [r.run_key for r in results] == [f"planning_{n}" for n in range(1, 6)]
    assert [r.status for r in results] == ["graded"] + ["not_run"] * 4
    second = results[1]
    assert second.leaf("cp1-1").score == 9.0
    assert second.leaf("cp2").status == "not_run"
    assert second.root_bounds == score_tree(tasks["planning_2"].checkpoints, by_id(scored("cp1-1", 9))).bounds
    assert second.agent == an_agent()
    assert second.judge.usage.cost_usd == 0.125
    assert [r.error for r in results[1:]] == [
        "the run ended before this task did: its agent had ended (finished), 1 leaf had been judged",
        "the run ended before this task did: its agent had ended (finished)",
        "the run ended while the agent was at work",
        "the run ended before this task began",
    ]


def test_only_what_the_judge_of_the_run_said_is_rebuilt(run: RunDirectory) -> None:
    tasks = {task.slug: task for task in (a_task(str(n)) for n in range(1, 5))}
    run.write_manifest({"judge": {"name": "first"}, "selected": list(tasks)})
    for number in "123":
        run.task(f"planning_{number}").write_result(graded(number, 8, judge=JudgeRecord(name="first")))
    run.task("planning_2").add_verdict(scored("cp2", 3))
    run.task("planning_4").write_result(not_graded("4", TaskStatus.ERROR))

    run.write_manifest({"judge": {"name": "second"}, "selected": list(tasks)})
    run.task("planning_2").add_verdict(scored("cp1-1", 9))
    run.task("planning_3").write_result(graded("3", 5, judge=JudgeRecord(name="second")))
    results = rebuild(run, tasks, 7)
    assert [(r.run_key, r.status, r.root_score) for r in results] == [
        ("planning_2", "not_run", None),
        ("planning_3", "graded", 5),
        ("planning_4", "error", None),
    ]
    assert [results[0].leaf(leaf).score for leaf in ("cp1-1", "cp2")] == [9, None]
    assert run.task("planning_2").known_verdicts()["cp2"].score == 3
    assert left_out(run, results) == (
        "left out, because another judge than second scored them (first): planning_1; "
        f"choose them with --gta-resume={run.root} to have them judged anew"
    )

    run.write_manifest({"judge": {"name": "first"}, "selected": list(tasks)})
    results = rebuild(run, tasks, 7)
    assert [(r.run_key, r.root_score) for r in results] == [("planning_1", 8), ("planning_2", 8), ("planning_4", None)]


def test_a_new_threshold_counts_successes_anew_without_a_judge(run: RunDirectory) -> None:
    run.write_manifest({"selected": ["planning_1", "planning_2"]})
    run.task("planning_1").write_result(graded("1", 6.5))
    run.task("planning_2").write_result(graded("2", 9))
    assert [r.success for r in rebuild(run, {}, 7)] == [False, True]
    assert [r.success for r in rebuild(run, {}, 6.5)] == [True, True]


def test_a_run_is_rebuilt_without_its_dataset_and_without_a_list_of_tasks(run: RunDirectory) -> None:
    run.write_manifest({})
    run.task("planning_9").write_result(graded("9", 8))
    run.task("planning_10").write_agent(an_agent())
    results = rebuild(run, {}, 7)
    assert [(r.run_key, r.status) for r in results] == [
        ("planning_10", TaskStatus.NOT_RUN),
        ("planning_9", TaskStatus.GRADED),
    ]
    assert results[0].checkpoints == ()
    assert results[0].root_bounds == (0.0, 10.0)


def test_a_line_that_a_full_disk_took_in_part_is_not_called_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "v.jsonl", os.write
    room = [4]

    def scarce(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = write(fd, data[: room[0]])
        room[0] -= taken
        return taken

    monkeypatch.setattr(os, "write", scarce)
    with pytest.raises(NotWritten, match=r"v\.jsonl cannot be written: No space left on device") as caught:
        append_line(path, '{"n": 1}')
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    room[0] = 1000
    append_line(path, '{"n": 2}')
    assert [entry["n"] for entry in read_lines(path)] == [2]


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = RunDirectory(tmp_path / "file")
    with pytest.raises(NotWritten, match=r"file/run\.json cannot be written: "):
        run.write_manifest({})
    with pytest.raises(NotWritten, match="file/tasks/t cannot be written: "):
        run.task("t").restart()
    with pytest.raises(NotWritten, match="file/locks/t cannot be written: "), run.task("t").lock():
        pass


def test_a_run_of_several_agents_and_its_parts(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    assert run.agents() == ()
    run.write_manifest({"agents": [{"label": "a"}, {"label": "b"}]})
    part = run.of_agent("b")
    assert run.agents() == ("a", "b")
    assert part.root == tmp_path / "run" / "agents" / "b"
    assert (part.whole, part.id) == (tmp_path / "run", "run/b")
    assert part.control == run.control == tmp_path / "run" / "control"
    assert (run.whole, run.id) == (tmp_path / "run", "run")
    alone = RunDirectory(tmp_path / "agents" / "x")
    assert (alone.whole, alone.id) == (alone.root, "x")
