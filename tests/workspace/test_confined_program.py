from __future__ import annotations

import time
from pathlib import Path

import pytest

from pytest_gta.formats.renderers import find_renderers
from pytest_gta.workspace.confined_program import Program, ProgramFailed, run_program, running
from pytest_gta.workspace.process_tree import children
from tests.waiting import eventually, runs

WAYS = [
    pytest.param(False, id="limits"),
    pytest.param(
        True, id="bwrap", marks=pytest.mark.skipif(not find_renderers().confined, reason="bubblewrap does not work")
    ),
]


def shell(folder: Path, script: str, confined: bool, **more: object) -> Program:
    return Program("The program", ("/bin/sh", "-c", script), folder, confined=confined, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("confined", WAYS)
def test_it_works_in_its_own_folder_with_a_clean_environment(
    tmp_path: Path, confined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    run_program(shell(tmp_path, "env > seen; pwd > where", confined), 10)
    assert "sk-secret" not in (tmp_path / "seen").read_text()
    assert f"HOME={tmp_path}\n" in (tmp_path / "seen").read_text()
    assert (tmp_path / "where").read_text().strip() == str(tmp_path)


@pytest.mark.parametrize("confined", WAYS)
def test_a_hanging_program_is_ended_with_all_it_started(tmp_path: Path, confined: bool) -> None:
    started = time.monotonic()
    script = "sleep 300 & setsid sleep 300 & sleep 300"
    with pytest.raises(ProgramFailed, match="The program took longer than 1 s"):
        run_program(shell(tmp_path, script, confined), 1.0)
    assert time.monotonic() - started < 60
    with pytest.raises(ProgramFailed), running(shell(tmp_path, "sleep 301 & sleep 301", confined)) as process:
        assert eventually(lambda: children(process.pid))
        below = children(process.pid)
        raise ProgramFailed
    assert eventually(lambda: not any(map(runs, below)))
    assert process.poll() is not None


@pytest.mark.parametrize("confined", WAYS)
def test_failing_and_outgrowing_are_said_plainly(tmp_path: Path, confined: bool) -> None:
    with pytest.raises(ProgramFailed, match="The program ended with code 3"):
        run_program(shell(tmp_path, "exit 3", confined), 10)
    greedy = "python3 -c 'import time; x = bytearray(200_000_000); time.sleep(120)'"
    with pytest.raises(ProgramFailed, match="The program took more than 95 MB"):
        run_program(shell(tmp_path, greedy, confined, memory_bytes=100_000_000), 90)


@pytest.mark.skipif(not find_renderers().confined, reason="bubblewrap does not work")
def test_confined_it_reads_only_what_it_is_given_and_has_no_network(tmp_path: Path) -> None:
    folder, given, other = tmp_path / "own", tmp_path / "given", tmp_path / "other"
    for place in (folder, given, other):
        place.mkdir()
        (place / "file").write_text(place.name)
    script = (
        f"cat {given}/file > read; cat {other}/file > other 2>/dev/null; echo x 2>/dev/null > {given}/new;"
        " cat /proc/net/dev > devices; ls /root /home > homes 2>/dev/null; true"
    )
    run_program(shell(folder, script, confined=True, readable=(given,)), 10)
    assert (folder / "read").read_text() == "given"
    assert (folder / "other").read_text() == ""
    assert not (given / "new").exists()
    devices = [line.partition(":")[0].strip() for line in (folder / "devices").read_text().splitlines()[2:]]
    assert devices in (["lo"], [])
    assert (folder / "homes").read_text() == ""


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailed, match="ended with code 127"):
        run_program(Program("Nothing", (str(tmp_path / "nothing"),), tmp_path, confined=False), 5)
    assert not list(tmp_path.iterdir())
