"""VideoOCR: titles of a video read back, each once, with their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools import ocr, video_text
from pytest_gta.tools.reading_order import TextLine
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import caption, needs_media, tone, write_video, write_wave

pytestmark = needs_media
needs_ocr = pytest.mark.skipif(ocr.engine() != "rapidocr", reason="needs the ocr extra")


def still(image: Image.Image, seconds: float) -> None:
    """Two titles on a plain ground, one after the other."""
    image.paste("navy", (0, 0, *image.size))
    words = "Quarterly results 2026" if seconds < 1 else "Revenue: 4.2 million"
    caption(words, 36, (40, 100))(image, seconds)


@needs_ocr
def test_each_line_comes_once_with_its_time(tmp_path: Path) -> None:
    write_video(tmp_path / "titles.mp4", 2, 10, (480, 270), still)
    with Toolbox(Workspace.open(tmp_path, []), choose_confinement(), only=["VideoOCR"]) as box:
        result = box.call("VideoOCR", {"video": "titles.mp4", "frame_skip": 1})
    assert not result.is_error, result.text
    first, second, note = result.text.splitlines()
    assert first.startswith("[0.0-1.0 s] (")
    assert first.endswith(") Quarterly results 2026")
    assert second.startswith("[1.0-2.0 s] (")
    assert second.endswith(") Revenue: 4.2 million")
    left, top, right, bottom = (int(n) for n in first.partition("(")[2].partition(")")[0].split(","))
    assert (left, top) == (pytest.approx(40, abs=12), pytest.approx(100, abs=14))
    assert (right > 350, bottom < 155) == (True, True)
    assert note == "20 frames, one every 0.1 s, were looked at, and 2 read, those that differ."


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[dict[int, list[str]]], str]]:
    """Return a caller of the tool whose engine reads given words, by how light a frame is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ocr, "engine", lambda: "rapidocr")

    def call(by_tenth: dict[int, list[str]], frame_skip: int | None = 1) -> str:
        def read_lines(picture: Image.Image) -> list[TextLine]:
            tenth = round(picture.getpixel((5, 5))[0] / 255 * 10)
            words = by_tenth.get(tenth, [])
            return [TextLine(10, 20 * n, 110, 20 * n + 18, text) for n, text in enumerate(words)]

        monkeypatch.setattr(ocr, "read_lines", read_lines)
        if not Path("grey.mp4").exists():
            grey = lambda image, at: image.paste((round(255 * at),) * 3, (0, 0, *image.size))  # noqa: E731
            write_video(Path("grey.mp4"), 1, 10, paint=grey)
        return video_text.read_video_text("grey.mp4", frame_skip)

    yield call


def test_readings_that_differ_a_little_are_one_line(readings: Callable[..., str]) -> None:
    text = readings(
        {n: ["Annual Report", f"Annua1 Repart {n % 2}"[:13]] if n == 3 else ["Annual Report"] for n in range(10)}
    )
    assert text.splitlines()[0] == "[0.0-1.0 s] (10, 0, 110, 18) Annual Report"


def test_numbers_that_count_are_lines_of_their_own(readings: Callable[..., str]) -> None:
    lines = readings({n: [f"Score {n}"] for n in range(10)}).splitlines()
    assert lines[:2] == ["[0.0-0.1 s] (10, 0, 110, 18) Score 0", "[0.1-0.2 s] (10, 0, 110, 18) Score 1"]
    assert len(lines) == 11


def test_four_looks_a_second_are_taken_unless_asked(readings: Callable[..., str]) -> None:
    lines = readings({n: [f"Score {n}"] for n in range(10)}, None).splitlines()
    assert [line.rpartition(" ")[2] for line in lines[:-1]] == ["0", "2", "4", "6", "8"]


def test_a_sign_as_large_as_the_picture_is_no_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ocr, "engine", lambda: "rapidocr")
    monkeypatch.setattr(ocr, "read_lines", lambda picture: [TextLine(0, 0, 319, 239, "X")])
    assert video_text.read_video_text(str(write_video(tmp_path / "v.mp4", 0.5))).startswith("No text was found")


def test_steps_are_taken_as_asked(readings: Callable[..., str]) -> None:
    lines = readings({n: [f"Score {n}"] for n in range(10)}, 4).splitlines()
    assert [line.rpartition(" ")[2] for line in lines[:-1]] == ["0", "4", "8"]
    assert lines[-1].startswith("3 frames, one every 0.4 s")


def test_no_text_is_an_answer(readings: Callable[..., str]) -> None:
    assert readings({}).startswith("No text was found in 1.0 s of video.\n10 frames")


def test_time_that_runs_out_passes_over_frames_and_says_so(
    readings: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video_text.CallClock, "used", property(lambda clock: 0.5 * clock.seconds))
    lines = readings({n: [f"Score {n}"] for n in range(10)}).splitlines()
    assert [line.rpartition(" ")[2] for line in lines[:-1]] == ["0", "5", "6", "7", "8", "9"]
    monkeypatch.setattr(video_text.CallClock, "expired", lambda clock: True)
    assert "The time of the call was over at 0.0 of 1.0 s" in readings({n: [f"Score {n}"] for n in range(10)})


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "engine", lambda: "rapidocr")
    video = write_video(tmp_path / "v.mp4", 0.5)
    with pytest.raises(ToolFault, match="frame_skip is 0; it is a step"):
        video_text.read_video_text(str(video), 0)
    with pytest.raises(ToolFault, match="is a sound file, it has no picture"):
        video_text.read_video_text(str(write_wave(tmp_path / "a.wav", tone(440, 0.2))))
    monkeypatch.setattr(ocr, "engine", lambda: "")
    with pytest.raises(ToolFault, match=r"pip install 'pytest-gta\[media,ocr\]'"):
        video_text.read_video_text(str(video))
