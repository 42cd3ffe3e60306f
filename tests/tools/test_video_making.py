"""TextToVideoTool as a model calls it; the videos it makes are decoded, measured, read and listened to."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.tools import narration, ocr, video_making
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.slideshow import compose
from pytest_gta.tools.tool import ToolFault, ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.tools.video_making import read_resolution
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import level, needs_media, pictures_of, sound_of

pytestmark = needs_media
needs_voice = pytest.mark.skipif(importlib.util.find_spec("hibari") is None, reason="needs the tts extra")

SCRIPT = "The River Festival\nScene 1: Boats leave the harbour at dawn.\nScene 2: Music plays on the bridge all night."


class Painter(ToolEndpoints):
    """An image model that paints plain pictures, or none."""

    def __init__(self, colours: list[str]) -> None:
        super().__init__(images=Endpoint("brush-1", "http://127.0.0.1:9/v1", "key"))
        self.colours, self.asked = colours, list[tuple[str, str]]()

    def generate_image(self, prompt: str, size: str = "", *, deadline_s: float = 90.0) -> bytes:
        self.asked.append((prompt, size))
        if not self.colours:
            raise ToolFault("the image model gave no answer: it is out of paint")
        out = io.BytesIO()
        Image.new("RGB", (96, 64), self.colours[len(self.asked) - 1]).save(out, "PNG")
        return out.getvalue()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("making")


@pytest.fixture(scope="module")
def call(root: Path) -> Iterator[Callable[..., ToolResult]]:
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=["TextToVideoTool"]) as box:
        yield lambda **arguments: box.call("TextToVideoTool", arguments)


def test_length_size_and_rate_are_as_asked(call: Callable[..., ToolResult], root: Path) -> None:
    import av

    result = call(description=SCRIPT, num_frames=90, resolution="480,270", fps=15, filename="asked")
    assert (result.is_error, result.files) == (False, ("asked.mp4",)), result.text
    assert "6.000 s, 480 x 270, 15 fps, 90 frames" in result.text
    images, times = pictures_of(root / "asked.mp4")
    assert (len(images), images[0].size) == (90, (480, 270))
    assert times[-1] == pytest.approx(89 / 15, abs=0.001)
    with av.open(str(root / "asked.mp4")) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
        assert container.duration / 1e6 == pytest.approx(6.0, abs=0.05)
    # A line at the lower edge grows; the scenes differ.
    gone = [
        sum(red > 180 for red in image.crop((0, 268, 480, 269)).convert("RGB").tobytes()[::3])
        for image in (images[8], images[80])
    ]
    assert gone[0] == pytest.approx(480 * 9 / 90, abs=8)
    assert images[8].getpixel((240, 5)) != images[80].getpixel((240, 5))


@needs_voice
def test_a_voice_reads_the_text(call: Callable[..., ToolResult], root: Path) -> None:
    result = call(description=SCRIPT, seconds=12, resolution="320x180", filename="voice.mp4")
    assert "12.000 s, 320 x 180, 8 fps, 96 frames" in result.text
    assert "Narrated by the Hibari voice" in result.text
    assert "Made as a slideshow of cards with its text, drawn here" in result.text
    sound, rate = sound_of(root / "voice.mp4")
    assert sound.shape[1] / rate == pytest.approx(12, abs=0.06)
    assert level(sound) > -35
    from pytest_gta.formats.speech import can_hear

    if can_hear():
        from pytest_gta.tools.speech import recognise

        heard = recognise(str(root / "voice.mp4")).lower()
        assert "river festival" in heard
        assert "music plays on the bridge" in heard


@pytest.mark.skipif(ocr.engine() != "rapidocr", reason="needs the ocr extra")
def test_the_text_can_be_read_in_the_picture(call: Callable[..., ToolResult], root: Path) -> None:
    call(description=SCRIPT, num_frames=20, resolution="640,360", fps=5, filename="read.mp4")
    images, _ = pictures_of(root / "read.mp4")
    read = " ".join(line.text for line in ocr.read_lines(images[-2]))
    assert "Music plays on the bridge all night" in read


def test_the_defaults_are_those_of_the_benchmark(call: Callable[..., ToolResult], root: Path) -> None:
    result = call(description="A red car drives along the coast.")
    assert "1.000 s, 128 x 128, 8 fps, 8 frames" in result.text
    assert "That is 1 s at 128 x 128." in result.text
    assert "It has no narration" in result.text
    assert len(pictures_of(root / result.files[0])[0]) == 8
    assert call(description="Another one.").files == ("text_to_video_2.mp4",)


@needs_voice
def test_a_voice_stops_where_the_video_does(call: Callable[..., ToolResult]) -> None:
    text = "First comes this. " + "Then something rather long is said about it. " * 5
    result = call(description=text, num_frames=40, fps=8, resolution="320,180", filename="short.mp4")
    assert "There is time for 2 of 6 sentences only" in result.text


def test_text_that_has_no_room_is_said(call: Callable[..., ToolResult]) -> None:
    result = call(description="word " * 400, num_frames=8, filename="full.mp4")
    assert "The picture is too small, or the video too short, for all of the text" in result.text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"description": " "}, "description is empty"),
        ({"description": "---"}, "description is empty"),
        ({"description": "x", "resolution": "wide"}, 'give "width,height" in pixels'),
        ({"description": "x", "resolution": "9,9"}, "each side goes from 16 to 3840 pixels"),
        ({"description": "x", "fps": 0}, "fps is 0; it goes from 1 to 60"),
        ({"description": "x", "num_frames": 0}, "0 frames at 8 a second are 0 s"),
        ({"description": "x", "seconds": 9999}, "it goes up to 600 s"),
    ],
)
def test_arguments_that_make_no_sense_are_answered(
    call: Callable[..., ToolResult], arguments: dict[str, object], reason: str
) -> None:
    result = call(**arguments)
    assert result.is_error
    assert reason in result.text


@pytest.mark.parametrize(
    ("text", "size"),
    [("1280,720", (1280, 720)), ("(640, 480)", (640, 480)), ("1920x1080", (1920, 1080)), ("720p", (1280, 720))],
)
def test_resolutions_in_the_forms_that_are_used(text: str, size: tuple[int, int]) -> None:
    assert read_resolution(text) == size


def test_an_image_model_makes_the_pictures(root: Path) -> None:
    painter = Painter(["red", "lime", "blue"])
    only = ["TextToVideoTool"]
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=only, endpoints=painter) as box:
        arguments = {"description": SCRIPT, "seconds": 6, "resolution": "320,180", "filename": "painted.mp4"}
        result = box.call("TextToVideoTool", arguments)
    assert not result.is_error, result.text
    assert "Made of 3 pictures by the image model brush-1" in result.text
    assert "slideshow of cards" not in result.text
    assert {size for _, size in painter.asked} == {"1536x1024"}
    assert "Boats leave the harbour at dawn." in painter.asked[1][0]
    images, _ = pictures_of(root / "painted.mp4")
    colours = [max(range(3), key=image.getpixel((160, 40)).__getitem__) for image in images]
    assert colours == sorted(colours)
    assert set(colours) == {0, 1, 2}


def test_an_image_model_that_fails_is_named(root: Path) -> None:
    with Toolbox(Workspace.open(root, []), choose_confinement(), endpoints=Painter([])) as box:
        result = box.call("TextToVideoTool", {"description": SCRIPT, "filename": "fallen.mp4"})
    assert not result.is_error
    assert "no model that makes videos took part. (the image model gave no answer: it is out of paint)" in result.text


def test_what_is_no_picture_becomes_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = compose("a.mp4", "One.", 2, 64, 64, 10, ["bm8gcGljdHVyZQ=="])["text"]
    assert text.count("What the image model made for a scene is no picture; a card is shown there.") == 1
    assert len(pictures_of(tmp_path / "a.mp4")[0]) == 2


def test_more_frames_than_a_call_can_make_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest_gta.tools.call_clock.CallClock.expired", lambda clock: True)
    with pytest.raises(ToolFault, match="only 1 of 50 frames of 320 x 180 could be made in the time of a call"):
        compose("a.mp4", "One. Two.", 50, 320, 180, 10)
    assert not (tmp_path / "a.mp4").exists()


# -- the voice ---------------------------------------------------------------------------------------------------------


def test_a_missing_voice_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narration.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(narration.shutil, "which", lambda name: None)
    assert narration.Narrator("Hello there.").why_silent == "no voice is installed: pip install 'pytest-gta[tts]'"


def test_no_voice_reads_a_language_it_does_not_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narration.shutil, "which", lambda name: None)
    assert "the text is in Chinese" in narration.Narrator("这是一个关于河流的故事。").why_silent
    assert "another language" in narration.Narrator("Die Katze ist nicht im Haus und das ist gut.").why_silent


def test_espeak_reads_other_scripts_where_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    program = tmp_path / "espeak-ng"
    program.write_text(
        f"#!{sys.executable}\n"
        "import math, struct, sys, wave\n"
        "assert sys.argv[1:3] == ['-v', 'ru'], sys.argv\n"
        "words = sys.stdin.buffer.read().decode().split()\n"
        "with wave.open(sys.stdout.buffer, 'wb') as out:\n"
        "    out.setnchannels(1); out.setsampwidth(2); out.setframerate(22050); out.setnframes(22050 * len(words))\n"
        "    for n in range(22050 * len(words)):\n"
        "        out.writeframesraw(struct.pack('<h', int(9000 * math.sin(n * 0.1))))\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    narrator = narration.Narrator("Добрый вечер.")
    assert narrator.name == "espeak-ng"
    (sound,) = narrator.speak(["Добрый вечер."])
    assert len(sound) / narration.VOICE_HZ == pytest.approx(2, abs=0.05)


def test_tools_of_this_module_name_their_backends() -> None:
    assert [backend.extra for backend in video_making.TEXT_TO_VIDEO.backends] == ["media", "media,tts", "media"]
