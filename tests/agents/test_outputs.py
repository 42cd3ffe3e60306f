"""Recorded outputs as an agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_gta.agents.outputs import OutputsAgent, decoded
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.recorded_tasks import available_ids
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.results import StopReason
from tests.agents.conftest import Bench, brief


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    files = folder / "7" / "files"
    (files / "charts").mkdir(parents=True)
    (folder / "7" / "final.txt").write_text("The report is done.\n")
    (files / "report.docx").write_bytes(b"PK docx")
    (files / "charts" / "sales 2024.png").write_bytes(b"png")
    (files / "empty.csv").write_bytes(b"")
    return folder


def test_files_and_answer_are_handed_in(bench: Bench, recorded: Path) -> None:
    record = bench.run(OutputsAgent(recorded, "outputs-recorded"), brief(inputs=bench.workspace.inputs))
    assert (record.stop_reason, record.final_answer, record.stop_detail) == (
        StopReason.FINISHED, "The report is done.", "",
    )  # fmt: skip
    assert (record.label, record.turns, record.usage.cost_usd) == ("outputs-recorded", 0, None)
    files = {d.path: d.bytes for d in bench.workspace.deliverables().files}
    assert files == {"charts/sales 2024.png": 3, "empty.csv": 0, "report.docx": 7}


def test_links_and_special_files_are_listed_not_followed(bench: Bench, recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    files = recorded / "7" / "files"
    (files / "link.txt").symlink_to(tmp_path / "secret")
    (files / "loop").symlink_to(files)
    (files / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(files / "pipe")
    (files / "resources").mkdir()
    (files / "resources" / "notes.txt").write_text("overwritten?")
    (files / ".hidden").write_text("x")
    record = bench.run(OutputsAgent(recorded), brief(inputs=bench.workspace.inputs))
    assert record.stop_reason is StopReason.FINISHED
    notes = [step.text for step in bench.steps_of("note")]
    assert notes[:4] == [
        "not taken: .hidden ('.hidden' is a hidden name, which would not be delivered; leave out the dot)",
        "not taken: elsewhere (a link)",
        "not taken: link.txt (a link)",
        "not taken: loop (a link)",
    ]
    assert notes[4:] == [
        "not taken: pipe (not a regular file)",
        "not taken: resources/notes.txt (has the name of an input file)",
    ]
    assert record.stop_detail.endswith("and 5 more remarks in the transcript")
    assert list(record.notes) == notes
    assert (bench.workspace.root / "resources" / "notes.txt").read_text() == "42 apples"
    assert len(bench.workspace.deliverables().files) == 3


@pytest.mark.parametrize("what", ["files", "final.txt"])
def test_a_link_in_place_of_either_is_not_followed(bench: Bench, recorded: Path, tmp_path: Path, what: str) -> None:
    (recorded / "7" / what).rename(tmp_path / "moved")
    (recorded / "7" / what).symlink_to(tmp_path / "moved")
    record = bench.run(OutputsAgent(recorded), brief(inputs=bench.workspace.inputs))
    assert "not followed" in record.stop_detail
    assert (record.final_answer == "") is (what == "final.txt")
    assert len(bench.workspace.deliverables().files) == (0 if what == "files" else 3)


def test_a_missing_answer_is_empty_and_said(bench: Bench, recorded: Path) -> None:
    (recorded / "7" / "final.txt").unlink()
    record = bench.run(OutputsAgent(recorded), brief(inputs=bench.workspace.inputs))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "")
    assert record.stop_detail == "there is no final.txt: the final answer is empty"


def test_nothing_recorded_at_all_is_no_answer(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "recorded" / "7" / "files").mkdir(parents=True)
    record = bench.run(OutputsAgent(tmp_path / "recorded"), brief())
    assert record.stop_reason is StopReason.NO_ANSWER


@pytest.mark.parametrize("task_id", ["8", "../7", "/etc", ".."])
def test_a_task_without_outputs_is_an_error_not_a_zero(bench: Bench, recorded: Path, task_id: str) -> None:
    with pytest.raises(AgentUnavailable, match="holds no outputs for task"):
        bench.run(OutputsAgent(recorded), brief(task_id=task_id))


@pytest.mark.parametrize(
    "data",
    [
        "Größe: 5 €".encode(),
        "Größe: 5 €".encode("utf-8-sig"),
        "Größe: 5 €".encode("utf-16"),
        "Größe: 5 €".encode("utf-32"),
        "Größe: 5 €".encode("cp1252"),
        b"Gr\xc3\xb6\xc3\x9fe: \x005 \xe2\x82\xac",
    ],
)
def test_encodings(data: bytes) -> None:
    assert decoded(data) == "Größe: 5 €"


def test_an_outage_in_the_answer_is_judged_and_said(bench: Bench, recorded: Path) -> None:
    (recorded / "7" / "final.txt").write_text(
        "[AgentError] HTTPError: 503 Server Error: Service Unavailable for url: https://api.example/v1?key=abcdefgh12\n"
    )
    record = bench.run(OutputsAgent(recorded), brief(inputs=bench.workspace.inputs))
    assert record.stop_reason is StopReason.FINISHED
    assert record.final_answer.startswith("[AgentError] HTTPError: 503")
    assert record.stop_detail == "the recorded answer reads like an outage of the agent's model, judged as it stands"


def test_available_ids(recorded: Path) -> None:
    (recorded / "12").mkdir()
    (recorded / "12" / "final.txt").write_text("x")
    (recorded / "3" / "files").mkdir(parents=True)
    (recorded / "empty").mkdir()
    (recorded / ".git" / "files").mkdir(parents=True)
    (recorded / "readme.md").write_text("x")
    assert available_ids(recorded) == ("12", "3", "7")


def test_a_wrong_folder_is_one_clear_line(recorded: Path, tmp_path: Path) -> None:
    for folder, said in (
        (tmp_path / "nowhere", "there is no such folder; give the folder that holds <task id>/final.txt"),
        (recorded / "7" / "final.txt", "is not a folder"),
        (recorded / "7" / "files", "holds no recorded outputs; expected <task id>/final.txt in it"),
        (tmp_path, f"did you mean outputs:{recorded}?"),
    ):
        with pytest.raises(AgentSpecError) as fault:
            available_ids(folder)
        assert said in str(fault.value) and str(fault.value).startswith(f"--gta-agent=outputs:{folder}: ")
