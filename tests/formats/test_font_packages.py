"""Fonts of Python packages, for programs that draw documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.formats.font_packages import font_packages, give_fonts


def test_fonts_of_packages_are_found_and_given_to_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    for name in ("cvttf_Han", "some_fonts/deeper", "fontTools", "some_fonts-1.0.dist-info", "numpy"):
        (site / name).mkdir(parents=True)
        (site / name / f"{name.replace('/', '-')}.ttf").write_bytes(name.encode())
    (site / "some_fonts" / "NotoSans[wght].ttf").write_bytes(b"Latin")
    (site / "some_fonts" / "NotoSansThai[wght].otf").write_bytes(b"Thai")
    monkeypatch.setattr("sys.path", [str(site), str(tmp_path)])
    assert [path.name for path in font_packages()] == ["cvttf_Han", "some_fonts"]
    home = tmp_path / "home"
    home.mkdir()
    give_fonts(home)
    give_fonts(home)
    assert {path.name: path.read_bytes() for path in (home / ".fonts").iterdir()} == {
        "cvttf_Han.ttf": b"cvttf_Han",
        "some_fonts-deeper.ttf": b"some_fonts/deeper",
        "NotoSansThai[wght].otf": b"Thai",
    }


def test_without_such_packages_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    give_fonts(tmp_path)
    assert list(tmp_path.iterdir()) == []
