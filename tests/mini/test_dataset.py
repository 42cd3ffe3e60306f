"""The bundled dataset keeps to the release's shape and to its own rules, and its scripts make what is checked in."""

from __future__ import annotations

import json
import re
import wave
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmark_tasks.mini import reference
from benchmark_tasks.mini.build import build
from benchmark_tasks.mini.sources import recording
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import CATEGORIES, Task
from tests.mini.rubric import MINI

NAMED_FILE = re.compile(
    r"(?<![\w/.-])[A-Za-z]\w+\.(?:docx|pdf|pptx|xlsx|csv|html|md|json|png|wav|mp4|svg|txt|srt|py|js|css|ics)\b"
)
KEYS = ["tools", "files", "dialogs", "sub_tasks", "workflow_category_6class", "capabilities"]
"""Those of a release, and the one of our own."""


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    found = Release(MINI).tasks()
    assert all(isinstance(task, Task) for task in found), found
    return [task for task in found if isinstance(task, Task)]


def test_every_category_has_as_many_tasks_as_the_others(tasks: list[Task]) -> None:
    counts = {slug: sum(task.category == slug for task in tasks) for slug in CATEGORIES.values()}
    assert set(counts.values()) == {4}
    assert len(tasks) == 24


def test_records_have_the_keys_of_a_release() -> None:
    for record in json.loads((MINI / "end.json").read_text("utf-8")).values():
        assert list(record) == KEYS
        (message,) = record["dialogs"]
        assert list(message) == ["role", "content", "resources"]
        assert message["resources"] == record["files"]
        for entry in record["files"]:
            assert list(entry) == ["type", "path", "url"]


def test_inputs_exist_and_the_request_names_them(tasks: list[Task]) -> None:
    for task in tasks:
        assert task.notes == ()
        for resource in task.resources:
            assert (MINI / resource.path).stat().st_size > 0
            assert resource.path in task.request
    named = {resource.path for task in tasks for resource in task.resources}
    made = {path.relative_to(MINI).as_posix() for path in (MINI / "resources").rglob("*") if path.is_file()}
    assert made == named, "a resource that no task uses, or the other way round"


def test_requests_and_leaves_are_short_and_weighted(tasks: list[Task]) -> None:
    for task in tasks:
        assert len(task.request.split()) <= 150
        assert 5 <= len(task.leaves) <= 12
        assert 2 <= len(task.checkpoints) <= 4
        for node in task.nodes():
            assert node.weight in {1, 2, 3, 4, 5}
            assert len(node.requirements.split()) <= 45, node
        texts = [leaf.requirements for leaf in task.leaves]
        assert len(set(texts)) == len(texts)


def test_files_asked_for_are_judged_and_the_other_way_round(tasks: list[Task]) -> None:
    for task in tasks:
        inputs = {Path(resource.path).name for resource in task.resources}
        asked = set(NAMED_FILE.findall(task.request)) - inputs
        judged = {name for node in task.nodes() for name in NAMED_FILE.findall(node.requirements)}
        assert asked
        assert asked == judged, task.id


def test_requests_name_no_tool(tasks: list[Task]) -> None:
    tools = re.compile(r"\b[A-Z]\w*(?:Generator|Tool|Reduction)\b|\bRead[A-Z]{3,4}\b|\bOCR\b|\b[Pp]ython\b")
    for task in tasks:
        assert not tools.search(task.request)


def test_each_value_on_record_stands_in_its_leaf(tasks: list[Task]) -> None:
    for task in tasks:
        record = json.loads((MINI / "derivations" / f"{task.id}.json").read_text("utf-8"))
        texts = {leaf.id: leaf.requirements for leaf in task.leaves}
        assert set(record) <= set(texts)
        assert record
        for leaf_id, values in record.items():
            for entry in values.values():
                value = entry["value"]
                assert entry["how"]
                for part in value if isinstance(value, list) else [value]:
                    assert any(form in texts[leaf_id] for form in written(part)), (task.id, leaf_id, part)


def written(value: object) -> set[str]:
    """The ways a value may be written in a leaf."""
    if isinstance(value, str):
        return {value}
    return {f"{value:{form}}" for form in ("", ",", "g", ".0f", ",.2f", ".3f")}


def test_references_are_exactly_the_files_asked_for(tasks: list[Task], outputs: Path) -> None:
    for task in tasks:
        if task.id == "53" and find_spec("av") is None:
            continue
        inputs = {Path(resource.path).name for resource in task.resources}
        asked = set(NAMED_FILE.findall(task.request)) - inputs
        made = {path.name for path in (outputs / task.id / "files").rglob("*") if path.is_file()}
        assert made == asked, task.id
        assert (outputs / task.id / "final.txt").read_text("utf-8").strip()


def test_the_dataset_is_small() -> None:
    size = sum(path.stat().st_size for path in MINI.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert size < 25_000_000


def test_a_rebuild_makes_what_is_checked_in(tmp_path: Path) -> None:
    build(tmp_path)
    kept = sorted(
        p for p in MINI.rglob("*") if p.is_file() and p.relative_to(MINI).parts[0] in ("resources", "derivations")
    )
    made = sorted(p for p in tmp_path.rglob("*") if p.is_file() and p.name != "end.json")
    assert [p.relative_to(MINI) for p in kept] == [p.relative_to(tmp_path) for p in made]
    assert (tmp_path / "end.json").read_bytes() == (MINI / "end.json").read_bytes()
    for old, new in zip(kept, made, strict=True):
        assert contents(old) == contents(new), old


def test_without_the_optional_libraries_recordings_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "find_spec", lambda _: None)
    for name in ("bread_talk", "street_film"):
        import_module(f"benchmark_tasks.mini.sources.{name}").make_inputs(tmp_path)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(made) == 2
    assert all(path.read_bytes() == (MINI / path.relative_to(tmp_path)).read_bytes() for path in made)


def test_a_reference_that_needs_a_missing_library_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(reference, "NAMES", ("harbour_film", "pet_cover"))
    monkeypatch.setattr(import_module("benchmark_tasks.mini.references.harbour_film"), "import_module", missing)
    assert list(reference.make_references(tmp_path)) == ["53"]
    assert [path.name for path in tmp_path.iterdir()] == ["61"]


def contents(path: Path) -> object:
    """What a file holds, apart from how a version of a library packs it."""
    if path.suffix == ".png":
        from PIL import Image

        with Image.open(path) as image:
            return image.size
    if path.suffix == ".pdf":
        import pypdf

        return [page.extract_text() for page in pypdf.PdfReader(path).pages]
    if path.suffix == ".xlsx":
        import openpyxl

        return [(sheet.title, list(sheet.values)) for sheet in openpyxl.load_workbook(path)]
    if path.suffix == ".wav":
        with wave.open(str(path)) as sound:
            return sound.getparams()
    return path.suffix if path.suffix == ".mp4" else path.read_bytes()
