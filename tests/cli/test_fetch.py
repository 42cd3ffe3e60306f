from __future__ import annotations

import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from pytest_gta.cli.transfer_display import TransferDisplay, size
from tests.file_server import FileServer, Trouble
from tests.release_factory import make_release


@pytest.fixture(autouse=True)
def _a_place_of_its_own(tmp_path: Path, file_server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    file_server.content = make_release(tmp_path / "made.zip", tasks=6).read_bytes()
    monkeypatch.setenv("GTA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GTA_MIRROR", file_server.url)


def failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_what_is_said(tmp_path: Path, file_server: FileServer, capsys: pytest.CaptureFixture[str]) -> None:
    archive, content = tmp_path / "data" / "gta_workflow_dataset.zip", file_server.content
    assert main(["fetch", "workflow"]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"GTA-Workflow v0.2.0, from {file_server.url}/gta_workflow_dataset.zip\n"
    lines = printed.out.splitlines()
    assert lines[0] == f"fetched {archive}"
    assert lines[1] == f"         6 tasks, 5 files, {size(len(content))}"
    assert lines[2] == f"sha256   {hashlib.sha256(content).hexdigest()}"
    assert lines[3].endswith(", as no other is known; what is fetched later must have it too")
    assert lines[4:] == [
        "next     pytest --gta-dataset=workflow --gta-model=MODEL -n 8",
        "         pytest-gta validate workflow",
        "         pytest-gta stats workflow",
    ]
    assert main(["fetch", "workflow"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"is there {archive}", *lines[1:]]
    assert main(["fetch", "workflow", "--check"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"checked {archive}", *lines[1:]]
    assert len(file_server.asked) == 1


def test_the_next_commands_work(capsys: pytest.CaptureFixture[str], pytester: pytest.Pytester) -> None:
    assert main(["fetch", "workflow"]) == 0
    assert main(["validate", "workflow"]) == 0
    assert main(["stats", "workflow"]) == 0
    assert "6 tasks;" in capsys.readouterr().out
    pytester.makepyfile("import pytest\n@pytest.mark.gta\ndef test_workflow(gta_task): pass\n")
    listed = pytester.runpytest_subprocess(
        "--gta-dataset=workflow", "--gta-model=local", "--collect-only", "-q", "-p", "no:cacheprovider"
    )
    assert listed.ret == 0
    listed.stdout.fnmatch_lines(["*test_workflow?data_analysis_1?"])


def test_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "big disk"
    assert main(["fetch", "workflow", "--to", str(folder), "--unpack"]) == 0
    out = capsys.readouterr().out
    assert f"unpacked {folder}/gta_workflow_dataset\n" in out
    assert f"--gta-dataset='{folder}/gta_workflow_dataset.zip'" in out
    assert (folder / "gta_workflow_dataset" / "end.json").is_file()
    assert not (tmp_path / "data").exists()


def test_the_mirror_on_the_command_line_wins(
    file_server: FileServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GTA_MIRROR", "http://127.0.0.1:9")
    assert main(["fetch", "workflow", "--mirror", f"{file_server.url}/renamed.zip"]) == 0
    assert file_server.asked[0].path == "/renamed.zip"


def test_what_to_type_next_has_the_places_that_were_named(
    tmp_path: Path, file_server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, mirror = tmp_path / "big disk", file_server.url
    places = ["--to", str(folder), "--mirror", mirror.replace("://", "://user:pass-1234@")]
    said = failure(["fetch", "workflow", "--check", *places], capsys)
    assert said.endswith(f"get it by: pytest-gta fetch workflow --mirror {mirror} --to '{folder}'\n")


def test_a_changed_file_is_shouted_about(
    tmp_path: Path, file_server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fetch", "workflow"])
    old = hashlib.sha256(file_server.content).hexdigest()
    file_server.content = make_release(tmp_path / "other.zip", tasks=7).read_bytes()
    new = hashlib.sha256(file_server.content).hexdigest()
    capsys.readouterr()
    said = failure(["fetch", "workflow", "--force"], capsys).splitlines()[1:]
    assert said[0] == "pytest-gta: GTA-Workflow HAS CHANGED, OR THIS IS NOT IT: it was not taken"
    assert said[1] == f"  sha256 found     {new}"
    assert said[2].startswith(f"  sha256 expected  {old}  (the one recorded on ")
    assert said[-1].endswith(f"pytest-gta fetch workflow --sha256={new}")
    assert main(["fetch", "workflow", "--force", f"--sha256={new}"]) == 0
    assert "         the one given by --sha256; what" in capsys.readouterr().out


def test_mistakes(file_server: FileServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert failure(["fetch", "workflow", "--sha256=12"], capsys) == (
        "pytest-gta: --sha256: a sum of 64 hexadecimal digits is needed\n"
    )
    assert "invalid choice: 'mini'" in failure(["fetch", "mini"], capsys)
    assert "not allowed with argument" in failure(["fetch", "workflow", "--check", "--force"], capsys)
    file_server.troubles = [Trouble(status=404)]
    missing = failure(["fetch", "workflow"], capsys).splitlines()
    assert len(missing) == 2
    assert missing[1].startswith(f"pytest-gta: {file_server.url}/gta_workflow_dataset.zip: HTTP 404, the file is not")
    monkeypatch.setenv("GTA_MIRROR", "m.example")
    assert failure(["fetch", "workflow"], capsys) == (
        "pytest-gta: --mirror (GTA_MIRROR): an http:// or https:// address is needed\n"
    )


def test_stopped_by_hand(
    file_server: FileServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_gta.datasets.fetching.Download.run", stop)
    assert main(["fetch", "workflow"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "stopped; the same command goes on from what is there: pytest-gta fetch workflow"
    )


def start() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest_gta", "fetch", "workflow"]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_killed_in_the_middle(tmp_path: Path, file_server: FileServer, capsys: pytest.CaptureFixture[str]) -> None:
    half = len(file_server.content) // 2
    file_server.troubles = [Trouble(cut_at=half, silent=True)]
    part = tmp_path / "data" / "gta_workflow_dataset.zip.part"
    process = start()
    deadline = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size == half) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert part.stat().st_size == half
    assert main(["fetch", "workflow"]) == 0
    assert [asked.range for asked in file_server.asked] == ["", f"bytes={half}-"]
    assert not part.exists()
    assert (tmp_path / "data" / "gta_workflow_dataset.zip").read_bytes() == file_server.content


def test_one_download_for_processes_that_start_cold(tmp_path: Path, file_server: FileServer) -> None:
    processes = [start() for _ in range(4)]
    ended = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(out.split()[0] for out, _ in ended) == ["fetched", "is", "is", "is"]
    assert len(file_server.asked) == 1


def test_the_atomic_dataset(tmp_path: Path, file_server: FileServer, capsys: pytest.CaptureFixture[str]) -> None:
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("gta_dataset/dataset.json", '{"0": {}, "1": {}}')
    file_server.content = buffer.getvalue()
    assert main(["fetch", "atomic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"fetched {tmp_path}/data/gta_dataset.zip"
    assert lines[1].startswith("         2 questions, 1 file, ")
    assert lines[4] == "next     pytest --gta-dataset=atomic --gta-model=MODEL -n 8"
    assert main(["fetch", "atomic", "--to", str(tmp_path / "b")]) == 0
    assert f"next     export GTA_DATA={tmp_path}/b\n" in capsys.readouterr().out


# -- how far it is ----------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((80, 24)))
    terminal = Terminal()
    display = TransferDisplay(terminal)
    display.stage("downloading")
    display.progress(500_000, 2_000_000)
    display.line("the connection broke; trying again in 1.0 s")
    display.progress(0, 2_000_000)
    display.progress(2_000_000, 2_000_000)
    display.stage("checking")
    display.progress(5, None)
    display.close()
    shown = terminal.getvalue()
    assert "downloading:  25%|" in shown
    assert "the connection broke; trying again in 1.0 s\n" in shown
    assert "downloading: 100%|" in shown
    assert "2.00M/2.00M" in shown
    assert "checking: 5.00B" in shown


def test_lines_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 29.0, 31.0, 31.0, 32.0, 70.0, 70.0))
    monkeypatch.setattr("pytest_gta.cli.transfer_display.time.monotonic", lambda: next(clock))
    log = io.StringIO()
    display = TransferDisplay(log)
    display.stage("downloading")
    for done, total in ((10, 100), (1_500_000, 6_000_000), (2_000_000, 6_000_000), (7_000_000_000, None)):
        display.progress(done, total)
    display.close()
    assert log.getvalue() == "downloading: 1.5 MB of 6.0 MB (25 %)\ndownloading: 7.0 GB\n"


@pytest.mark.parametrize(
    ("number", "shown"), [(999, "999 bytes"), (1500, "1.5 kB"), (300_125_130, "300 MB"), (6_140_000_000, "6.1 GB")]
)
def test_sizes(number: int, shown: str) -> None:
    assert size(number) == shown
