"""What the kernel says about processes that it ended for want of memory, in either version of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.workspace.memory_killer import MemoryWatch, kills


def machine(root: Path, groups: str, **files: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        write(root, name, text)
    return root


def write(root: Path, name: str, text: str) -> None:
    places = {
        "events": "sys/fs/cgroup/box/memory.events",
        "control": "sys/fs/cgroup/memory/box/memory.oom_control",
        "vmstat": "proc/vmstat",
    }
    file = root / places[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("groups", "name", "before", "after"),
    [
        ("0::/box\n", "events", "low 0\noom 1\noom_kill 2\noom_group_kill 0\n", "low 0\noom 3\noom_kill 3\n"),
        ("9:name=systemd:/\n4:memory:/box\n0::/\n", "control", "under_oom 0\noom_kill 0\n", "oom_kill 1\n"),
        ("", "vmstat", "nr_free_pages 7\noom_kill 5\n", "nr_free_pages 9\noom_kill 6\n"),
    ],
)
def test_the_count_rises(tmp_path: Path, groups: str, name: str, before: str, after: str) -> None:
    root = machine(tmp_path, groups, **{name: before})
    watch = MemoryWatch(root)
    assert watch.has_killed() is False
    write(root, name, after)
    assert watch.has_killed() is True
    assert MemoryWatch(root).has_killed() is False


def test_what_others_on_the_machine_lose_does_not_count(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/box\n", events="oom_kill 2\n", vmstat="oom_kill 5\n")
    watch = MemoryWatch(root)
    write(root, "vmstat", "oom_kill 6\n")
    assert (kills(root), watch.has_killed()) == (2, False)
    write(root, "events", "oom_kill 3\n")
    assert (kills(root), watch.has_killed()) == (3, True)


def test_a_machine_that_does_not_say(tmp_path: Path) -> None:
    assert kills(tmp_path) is None
    assert MemoryWatch(tmp_path).has_killed() is None
    assert kills(machine(tmp_path, "0::/box\n", events="oom_kill many\n", vmstat="")) is None
