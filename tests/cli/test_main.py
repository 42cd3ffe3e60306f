from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_gta import __version__
from pytest_gta.cli import main
from pytest_gta.options_page import options_page


def test_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options"]) == 0
    assert capsys.readouterr().out == options_page()


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in ((["--version"], f"pytest-gta {__version__}"), (["--help"], "validate")):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out


def test_it_is_a_module_too_and_takes_a_closed_pipe_quietly() -> None:
    command = f"{sys.executable} -m pytest_gta options | head -n 1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "# Options\n", "")
