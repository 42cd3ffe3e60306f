"""The verdict cache: equal to fresh, never a failure, safe with torn files and several processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.judge.cache import VerdictCache

KEY = "ab" + "0" * 62


def fresh(**changes: object) -> Verdict:
    given = {
        "leaf_id": "cp1-1",
        "status": LeafStatus.SCORED,
        "score": 7.5,
        "analysis": "plan.md names ½ of the towns",
        "key": KEY,
        "evidence_note": "page 2 cut",
        "usage": Usage(calls=2, tokens=Tokens(input=10, cached=5, output=3), cost_usd=None),
        "wall_s": 1.25,
    }
    return Verdict.model_validate({**given, **changes})


def test_a_cached_verdict_equals_the_fresh_one_but_for_cached_and_usage(tmp_path: Path) -> None:
    cache = VerdictCache(tmp_path / "cache")
    cache.put(fresh())
    assert cache.get(KEY, "cp1-1") == fresh(cached=True, usage=Usage())
    assert cache.get(KEY, "cp9") == fresh(leaf_id="cp9", cached=True, usage=Usage())
    assert cache.get("cd" + KEY[2:], "cp1-1") is None


@pytest.mark.parametrize(
    "verdict",
    [
        fresh(status=LeafStatus.JUDGE_ERROR, score=None),
        fresh(status=LeafStatus.JUDGE_REFUSED, score=None),
        fresh(status=LeafStatus.NOT_RUN, score=None),
        fresh(status=LeafStatus.NOT_DELIVERED, score=0.0),
        fresh(cached=True),
        fresh(key=""),
    ],
    ids=lambda verdict: verdict.status.value,
)
def test_only_what_a_judge_scored_afresh_is_kept(tmp_path: Path, verdict: Verdict) -> None:
    VerdictCache(tmp_path).put(verdict)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "binary", "other key", "error inside", "folder"])
def test_an_entry_that_cannot_be_read_is_a_miss_and_is_written_anew(tmp_path: Path, damage: str) -> None:
    cache = VerdictCache(tmp_path)
    cache.put(fresh())
    (entry,) = tmp_path.glob("*/*.json")
    whole = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        entry.write_bytes(
            {
                "cut": whole[:-20],
                "empty": b"",
                "binary": b"\x00\xff" * 50,
                "other key": whole.replace(KEY.encode(), b"ff" + KEY[2:].encode()),
                "error inside": fresh(status=LeafStatus.JUDGE_ERROR, score=None).model_dump_json().encode(),
            }[damage]
        )
    assert cache.get(KEY, "cp1-1") is None
    cache.put(fresh())
    if damage != "folder":
        assert cache.get(KEY, "cp1-1") == fresh(cached=True, usage=Usage())


def test_a_place_that_cannot_be_written_costs_the_entry_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = VerdictCache(tmp_path / "file")
    cache.put(fresh())
    assert cache.get(KEY, "cp1-1") is None


WRITER = """
import sys
from pathlib import Path
from pytest_gta.judge.cache import VerdictCache
from tests.judge.test_cache import KEY, fresh
cache = VerdictCache(Path(sys.argv[1]))
for _ in range(100):
    cache.put(fresh())
    assert cache.get(KEY, "cp1-1").score == 7.5
"""


def test_processes_share_a_directory(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], cwd=root, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors.decode()
    assert [entry.name for entry in tmp_path.rglob("*") if entry.is_file()] == [f"{KEY}.json"]
