"""VideoClip and AddTextVideoTool as a model calls them; the videos they make are decoded and looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools import video_editing
from pytest_gta.tools.font_files import FontFolders
from pytest_gta.tools.media_input import MediaInput
from pytest_gta.tools.text_picture import Lettering, TextPainter
from pytest_gta.tools.tool import ToolFault, ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import level, needs_media, pictures_of, pitch, sound_of, tone, write_video, write_wave
from tests.tools.fonts import dejavu, square_font

pytestmark = needs_media

Call = Callable[..., ToolResult]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import numpy as np

    root = tmp_path_factory.mktemp("video") / "workspace"
    (root / "resources" / "video").mkdir(parents=True)
    steps = np.concatenate([tone(hz, 1, 44_100, channels=2) for hz in (300, 500, 700, 900)], axis=1)
    write_video(root / "resources" / "video" / "talk.mp4", 4, 10, sound=steps)
    write_video(root / "mute.mov", 2, 25, (322, 240))
    write_video(root / "web.webm", 2, 10, sound=tone(440, 2, 48_000), rate=48_000, codec="libvpx-vp9")
    colours = [Image.new("RGB", (101, 77), colour) for colour in ("red", "lime", "blue")]
    colours[0].save(root / "slow.gif", save_all=True, append_images=colours[1:], duration=[1000, 2000, 500])
    write_wave(root / "sound.wav", tone(440, 1))
    (root / "empty.mp4").write_bytes(b"")
    (root / "cut.mp4").write_bytes((root / "resources" / "video" / "talk.mp4").read_bytes()[:5000])
    Image.new("RGB", (32, 32)).save(root / "picture.mp4", "PNG")
    return root


@pytest.fixture(scope="module")
def call(root: Path) -> Iterator[Call]:
    workspace = Workspace.open(root, ["resources/video/talk.mp4"])
    with Toolbox(workspace, choose_confinement(), only=[tool.name for tool in video_editing.TOOLS]) as box:
        yield lambda name, **arguments: box.call(name, arguments)


def test_a_clip_is_exact_and_keeps_its_sound(call: Call, root: Path) -> None:
    result = call("VideoClip", video="talk.mp4", start_time=1.5, end_time=2.5, filename="part")
    assert (result.is_error, result.files) == (False, ("part.mp4",)), result.text
    assert "1.000 s, 320 x 240, 10 fps, sound 44100 Hz, from 1.5 to 2.5 s" in result.text
    images, times = pictures_of(root / "part.mp4")
    assert len(images) == 10
    assert times == pytest.approx([number / 10 for number in range(10)], abs=0.001)
    # The red of a picture tells its time in the whole video.
    assert images[0].getpixel((9, 9))[0] == pytest.approx(255 * 15 / 40, abs=4)
    assert images[-1].getpixel((9, 9))[0] == pytest.approx(255 * 24 / 40, abs=4)
    sound, rate = sound_of(root / "part.mp4")
    assert sound.shape[1] / rate == pytest.approx(1, abs=0.03)
    assert pitch(sound[0, : int(0.45 * rate)], rate) == pytest.approx(500, abs=4)
    assert pitch(sound[0, int(0.55 * rate) : int(0.95 * rate)], rate) == pytest.approx(700, abs=4)


def test_what_is_made_plays_everywhere(call: Call, root: Path) -> None:
    import av

    call("VideoClip", video="talk.mp4", filename="plays.mp4")
    with av.open(str(root / "plays.mp4")) as container:
        video, sound = container.streams.video[0].codec_context, container.streams.audio[0].codec_context
        assert (video.name, video.pix_fmt, sound.name) == ("h264", "yuv420p", "aac")
    data = (root / "plays.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


@pytest.mark.parametrize(
    ("video", "seconds", "facts"),
    [
        ("mute.mov", 2.0, "322 x 240, 25 fps, no sound"),
        ("web.webm", 2.0, "320 x 240, 10 fps, sound 48000 Hz"),
        ("slow.gif", 3.5, "100 x 76, 20 fps, no sound"),
    ],
)
def test_other_formats_are_read(call: Call, root: Path, video: str, seconds: float, facts: str) -> None:
    result = call("VideoClip", video=video)
    assert facts in result.text
    assert result.files == (f"{Path(video).stem}_clip.mp4",)
    with MediaInput(root / result.files[0]) as made:
        assert made.seconds() == pytest.approx(seconds, abs=0.06)


def test_a_slow_picture_lasts_as_long_as_it_did(call: Call, root: Path) -> None:
    call("VideoClip", video="slow.gif", start_time=0.5, end_time=3.25, filename="slow")
    images, _ = pictures_of(root / "slow.mp4")
    shown = [max(range(3), key=image.getpixel((50, 40)).__getitem__) for image in images]
    assert [shown.count(colour) / 20 for colour in range(3)] == [0.5, 2.0, 0.25]


def test_a_video_stored_lying_is_put_upright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = write_video(tmp_path / "lying.mp4", 0.5, paint=lambda image, _: image.paste("lime", (0, 0, 320, 60)))
    data = bytearray(left.read_bytes())
    # The matrix of the picture track: a quarter turn to the right, as a telephone held upright writes it.
    at = data.index(b"tkhd") + 4 + 40
    for index, value in enumerate((0, 1 << 16, 0, -(1 << 16), 0, 0, 240 << 16, 0, 1 << 30)):
        data[at + 4 * index : at + 4 * index + 4] = value.to_bytes(4, "big", signed=True)
    left.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    video_editing.clip_video("upright.mp4", "lying.mp4")
    images, _ = pictures_of(tmp_path / "upright.mp4")
    assert images[0].size == (240, 320)
    assert images[0].getpixel((230, 160))[1] > 200
    assert images[0].getpixel((20, 160))[1] < 60


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.mp4", "'empty.mp4' is empty (0 bytes)"),
        ("cut.mp4", "'cut.mp4' cannot be opened as sound or video: it is damaged"),
        ("sound.wav", "'sound.wav' is a sound file, it has no picture"),
        ("picture.mp4", "'picture.mp4' is a single image (PNG image)"),
        ("nothing.mp4", "there is no file 'nothing.mp4' in the workspace"),
    ],
)
@pytest.mark.parametrize("tool", ["VideoClip", "AddTextVideoTool"])
def test_what_is_no_video_is_said(call: Call, tool: str, name: str, reason: str) -> None:
    result = call(tool, video=name)
    assert result.is_error
    assert reason in result.text


def test_a_clip_of_nothing_is_refused(call: Call) -> None:
    result = call("VideoClip", video="talk.mp4", start_time=5, end_time=6)
    assert result.is_error
    assert "the video is 4.00 s long; nothing of it lies after 5 s" in result.text


def test_a_part_too_long_for_a_call_is_refused_with_what_to_do(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr("pytest_gta.tools.call_clock.CallClock.expired", lambda clock: True)
    with pytest.raises(ToolFault, match="only 0 of 4 s could be written in the time of a call; ask for a shorter part"):
        video_editing.clip_video("late.mp4", "resources/video/talk.mp4")
    assert not (root / "late.mp4").exists()


# -- text on a video ---------------------------------------------------------------------------------------------------


def _light(image: Image.Image, box: tuple[int, int, int, int]) -> int:
    """How many white pixels a part of a picture has."""
    return sum(image.crop(box).convert("L").point(lambda value: 255 if value > 225 else 0).histogram()[255:])


def test_text_stands_where_and_when_it_is_asked_for(call: Call, root: Path) -> None:
    result = call(
        "AddTextVideoTool",
        video="talk.mp4",
        text="Hello",
        position="100,150",
        start_time=1,
        end_time=3,
        filename="hello.mp4",
    )
    assert not result.is_error, result.text
    assert "text at 100,150" in result.text
    assert "shown from 1 to 3 s" in result.text
    images, _ = pictures_of(root / "hello.mp4")
    assert len(images) == 40
    box = (100, 150, 200, 190)
    assert [_light(images[number], box) > 200 for number in (5, 12, 20, 28, 35)] == [False, True, True, True, False]
    assert _light(images[20], (0, 0, 320, 145)) == 0
    sound, rate = sound_of(root / "hello.mp4")
    assert sound.shape[1] / rate == pytest.approx(4, abs=0.03)
    for second, hz in enumerate((300, 500, 700, 900)):
        part = sound[0, int((second + 0.2) * rate) : int((second + 0.8) * rate)]
        assert pitch(part, rate) == pytest.approx(hz, abs=4)
        assert level(part) == pytest.approx(-9, abs=1)


def test_defaults_are_those_of_the_benchmark(call: Call, root: Path) -> None:
    result = call("AddTextVideoTool", video="mute.mov")
    assert "text at 50,50" in result.text
    assert result.files == ("mute_text.mp4",)
    images, _ = pictures_of(root / "mute_text.mp4")
    assert _light(images[20], (50, 50, 322, 90)) > 400


def test_text_outside_the_picture_is_moved_into_it(call: Call) -> None:
    result = call("AddTextVideoTool", video="talk.mp4", text="Far away", position="5000,-50", filename="far.mp4")
    assert not result.is_error
    assert "the text would not be wholly in the picture (320 x 240)" in result.text


def test_long_text_is_broken_into_lines(call: Call, root: Path) -> None:
    text = "A caption that is far too long for a single line of this small picture"
    result = call("AddTextVideoTool", video="talk.mp4", text=text, position="bottom", filename="long.mp4")
    assert "The text was broken into 4 lines to fit the picture." in result.text
    images, _ = pictures_of(root / "long.mp4")
    assert _light(images[10], (0, 0, 320, 80)) == 0
    assert _light(images[10], (0, 80, 320, 240)) > 1000


@pytest.mark.parametrize(
    ("color", "expected"), [("0,0,255", (255, 0, 0)), ("#00ff00", (0, 255, 0)), ("blue", (0, 0, 255))]
)
def test_colours_are_blue_first_or_named(call: Call, root: Path, color: str, expected: tuple[int, int, int]) -> None:
    call("AddTextVideoTool", video="mute.mov", text="█", position="100,60", font_scale=3, color=color, filename="c.mp4")
    images, _ = pictures_of(root / "c.mp4")
    assert images[5].getpixel((130, 110)) == pytest.approx(expected, abs=12)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"position": "left of the dog"}, "in words it is made of bottom, center"),
        ({"position": "50"}, 'give "x,y" in pixels'),
        ({"color": "1,2"}, 'give "B,G,R" with 0 to 255 each'),
        ({"color": "300,0,0"}, 'give "B,G,R" with 0 to 255 each'),
        ({"font_scale": 0}, "font_scale is 0"),
        ({"thickness": -1}, "thickness is -1"),
        ({"text": "  "}, "text is empty"),
        ({"start_time": 3, "end_time": 2}, "the text would go at 2 s, not after it appears at 3 s"),
        ({"start_time": 9}, "text that appears at 9 s is never seen"),
    ],
)
def test_arguments_that_make_no_sense_are_answered(call: Call, arguments: dict[str, object], reason: str) -> None:
    result = call("AddTextVideoTool", video="talk.mp4", filename="no.mp4", **arguments)
    assert result.is_error
    assert reason in result.text


def test_any_script_is_drawn_or_said_to_lack_a_font() -> None:
    painter = TextPainter()
    lettering = Lettering(30, outline=1)
    shown = painter.painted(painter.wrapped("Grüße Привет שלום مرحبا ☺", lettering, 2000), lettering)
    assert painter.remark() == ""
    assert shown.getbbox() is not None
    painter.painted(["\U0001f9ff\U00010400\uf8ff\uf8fe"], lettering)
    remark = painter.remark()
    assert "\uf8ff" in remark
    assert "drawn as empty boxes" in remark


def test_lines_are_broken_at_words_and_in_chinese_anywhere() -> None:
    painter, lettering = TextPainter(), Lettering(20)
    lines = painter.wrapped("one two three\nfour", lettering, painter.width("one two", lettering) + 1)
    assert lines == ["one two", "three", "four"]
    chinese = painter.wrapped("这是一个很长的句子。", lettering, painter.width("这是一个", lettering) + 1)
    assert len(chinese) >= 3
    assert "".join(chinese) == "这是一个很长的句子。"
    assert not any(line.startswith("。") for line in chinese)
    assert "".join(painter.wrapped("x" * 60, lettering, 100)) == "x" * 60


def test_a_line_in_two_directions_has_each_letter_in_a_font_that_has_it(tmp_path: Path) -> None:
    pytest.importorskip("bidi")
    pytest.importorskip("arabic_reshaper")
    square_font(tmp_path / "SquareCJK.ttf", "字")
    painter, lettering = TextPainter(FontFolders([tmp_path, dejavu()])), Lettering(40)
    line = painter.painted(["字 مرحبا"], lettering)
    assert painter.missing == set()
    # The first letter is a square that is all filled.
    assert line.getchannel("A").crop((2, 5, 38, 38)).getextrema() == (255, 255)
    painter.painted(["文 مرحبا"], lettering)
    assert painter.missing == {"文"}
