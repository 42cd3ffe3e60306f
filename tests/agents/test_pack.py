"""An eval pack as an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.pack import PackAgent
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.recorded_tasks import packed_ids
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.results import StopReason
from tests.agents.conftest import Bench, brief


def pack(folder: Path, answer: str = "Done.", files: Any = None, **meta: Any) -> PackAgent:
    folder.mkdir(exist_ok=True)
    entry = {
        "task_id": 7,
        "sample_idx": 1,
        "assistant_outputs": [[{"role": "assistant", "content": answer}]],
        "attached_files": files,
        "meta": meta,
    }
    (folder / "pack.json").write_text(json.dumps({"schema_version": 1, "tasks": [entry]}))
    return PackAgent(folder / "pack.json", "pack-pack")


def test_answer_and_files_are_handed_in(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "out" / "7" / "files" / "charts").mkdir(parents=True)
    (tmp_path / "out" / "7" / "files" / "charts" / "a.png").write_bytes(b"png")
    (tmp_path / "elsewhere.csv").write_text("a,b")
    agent = pack(tmp_path / "packs", files=["out/7/files/charts/a.png", str(tmp_path / "elsewhere.csv")])
    record = bench.run(agent)
    assert (record.stop_reason, record.final_answer, record.stop_detail, record.label) == (
        StopReason.FINISHED, "Done.", "", "pack-pack",
    )  # fmt: skip
    assert record.usage.cost_usd is None
    assert {d.path: d.bytes for d in bench.workspace.deliverables().files} == {"charts/a.png": 3, "elsewhere.csv": 3}


def test_missing_files_are_named_and_never_a_zero(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("x")
    agent = pack(tmp_path / "packs", files=["there.csv", *[f"gone/{n}.csv" for n in range(7)]])
    with pytest.raises(AgentUnavailable) as fault:
        bench.run(agent)
    assert "task 7: attached files are missing: gone/0.csv, " in str(fault.value)
    assert "gone/4.csv and 2 more" in str(fault.value) and "there.csv" not in str(fault.value)


@pytest.mark.parametrize("name", ["../up.csv", "/etc/x.csv", "resources/notes.txt", ".hidden.csv"])
def test_names_that_cannot_be_used_are_listed(bench: Bench, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text("x")
    record = bench.run(pack(tmp_path, files=["a.csv"], workspace_paths=[name]), brief(inputs=bench.workspace.inputs))
    assert f"not taken: {name} (" in record.stop_detail
    assert bench.workspace.deliverables().files == ()
    assert (bench.workspace.root / "resources" / "notes.txt").read_text() == "42 apples"


def test_a_task_that_is_not_in_the_pack(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="has no entry for task 8"):
        bench.run(pack(tmp_path), brief(task_id="8"))


def test_an_outage_is_remarked_on(bench: Bench, tmp_path: Path) -> None:
    record = bench.run(pack(tmp_path, "Error code: 503 Service Unavailable"))
    assert "reads like an outage" in record.stop_detail


def test_ids(tmp_path: Path) -> None:
    assert packed_ids(pack(tmp_path).file) == ("7",)
    with pytest.raises(AgentSpecError, match=r"--gta-agent=pack: .*gone\.json cannot be read"):
        packed_ids(tmp_path / "gone.json")
