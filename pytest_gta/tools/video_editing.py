"""The tools that make a video from another: VideoClip and AddTextVideoTool."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.backend import PYAV
from pytest_gta.tools.call_clock import CallClock
from pytest_gta.tools.document_files import answer, written
from pytest_gta.tools.media_input import MediaInput, need_media, upright
from pytest_gta.tools.media_output import VideoOutput
from pytest_gta.tools.sound_editing import END, OUTPUT_DIR, START, clip_range, damage, other_file
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

    from pytest_gta.tools.text_picture import Colour, Lettering, TextPainter

PRELOAD = ("numpy", "av", "PIL.Image", "PIL.ImageDraw", "PIL.ImageFont")

_HERSHEY_PX = 30.0
"""Height of a font that is as large as OpenCV's at scale 1."""
_MARGIN = 0.02
_NAMED_COLOURS: dict[str, Colour] = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 160, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "orange": (255, 165, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}

VIDEO = ToolParameter(
    "video",
    "text",
    "Path of the video in the workspace (mp4, mov, webm, mkv, avi, gif, ...).",
    example="resources/video/talk.mp4",
)

VIDEO_CLIP = Tool(
    ToolSpec(
        "VideoClip",
        "operation",
        "Cuts a part out of a video, exact to the frame, with its sound, as an MP4 (H.264, AAC) that plays everywhere. "
        "Times beyond the video are drawn in, which the answer says. Returns the path of the clip and its length.",
        (
            VIDEO,
            START,
            END,
            ToolParameter(
                "filename",
                "text",
                "Name of the clip (.mp4). Left out: <video>_clip.mp4",
                optional=True,
                example="a.mp4",
            ),
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.video_editing:clip_video",
    reads=("video",),
    writes=".mp4",
    writes_as="{video}_clip",
    backends=(PYAV,),
)
ADD_TEXT_VIDEO = Tool(
    ToolSpec(
        "AddTextVideoTool",
        "operation",
        "Writes text onto the picture of a video, in any script, all through or between two times, and keeps the "
        "sound. Text that is too wide is broken into lines; the answer says where it stands. Makes an MP4.",
        (
            VIDEO,
            OUTPUT_DIR,
            ToolParameter("text", "text", "What to write. Left out: Hello, World!", optional=True, example="Chapter 1"),
            ToolParameter(
                "position",
                "text",
                'Left and upper edge of the text in pixels, "x,y", or in words: top, bottom, center, top left, bottom '
                "right, ... Left out: 50,50",
                optional=True,
                example="50,50",
            ),
            ToolParameter(
                "font",
                "int",
                "OpenCV's number of a font: 0 to 2 sans, 3 to 5 serif, 6 and 7 slanted; 16 more slants it. Left out: 0",
                optional=True,
            ),
            ToolParameter(
                "font_scale", "float", "Size; 1.0 is about 30 pixels high. Left out: 1.0", optional=True, example=1.5
            ),
            ToolParameter(
                "color",
                "text",
                'Colour as "B,G,R", 0-255 each (blue first), or #rrggbb, or a name. Left out: 255,255,255',
                optional=True,
                example="255,255,255",
            ),
            ToolParameter(
                "thickness", "int", "Strength of the letters; 3 and more is bold. Left out: 2", optional=True
            ),
            ToolParameter(
                "filename",
                "text",
                "Name of the video (.mp4). Left out: <video>_text.mp4",
                optional=True,
                example="a.mp4",
            ),
            ToolParameter("start_time", "float", "When the text appears, in seconds. Left out: 0", optional=True),
            ToolParameter("end_time", "float", "When it goes, in seconds. Left out: never", optional=True),
        ),
    ),
    "pytest_gta.tools.video_editing:add_text",
    reads=("video",),
    writes=".mp4",
    writes_as="{video}_text",
    backends=(PYAV,),
)
TOOLS = (VIDEO_CLIP, ADD_TEXT_VIDEO)
"""The tools of this module."""


def clip_video(
    target: str, video: str, start_time: float | None = None, end_time: float | None = None
) -> dict[str, Any]:
    """Cut a part out of a video, in the current folder, which is the workspace.

    Raises:
        ToolFault: The file cannot be read, or nothing of it lies between the times.
    """
    need_media("VideoClip")
    other_file(target, video)
    notes: list[str] = []
    with MediaInput(video) as media:
        media.need_video()
        start, end = clip_range(start_time, end_time, media.seconds(), notes, "video")
    facts = _copied(target, video, start, end, notes)
    return answer(target, facts[0], f"{facts[1]}, from {start:g} to {round(end, 3):g} s", notes)


def add_text(
    target: str,
    video: str,
    text: str = "Hello, World!",
    position: str = "50,50",
    font: int = 0,
    font_scale: float = 1.0,
    color: str = "255,255,255",
    thickness: int = 2,
    start_time: float | None = None,
    end_time: float | None = None,
) -> dict[str, Any]:
    """Write text onto a video, in the current folder, which is the workspace.

    Raises:
        ToolFault: The file cannot be read, or an argument makes no sense.
    """
    from pytest_gta.tools.printable_text import printable, with_real_line_ends
    from pytest_gta.tools.text_picture import Lettering, TextPainter

    need_media("AddTextVideoTool")
    other_file(target, video)
    text = printable(with_real_line_ends(text)).strip("\n")
    if not text.strip():
        raise ToolFault("text is empty; give what to write")
    if not 0 < font_scale <= 50:
        raise ToolFault(f"font_scale is {font_scale:g}; it goes from above 0 to 50, 1 being about 30 pixels high")
    if not 0 <= thickness <= 100:
        raise ToolFault(f"thickness is {thickness}; it goes from 0 to 100")
    notes: list[str] = []
    with MediaInput(video) as media:
        media.need_video()
        seconds = media.seconds()
        first = next((frame for _, frame in media.pictures()), None)
        if first is None:
            raise ToolFault(f"no picture of {video!r} could be decoded")
        first = upright(first)
        width, height = first.width // 2 * 2, first.height // 2 * 2
    begin, until = _window(start_time, end_time, seconds, notes)
    size = max(6, round(_HERSHEY_PX * font_scale))
    lettering = Lettering(
        size,
        _colour(color),
        "serif" if font % 16 in (3, 4, 5) else "sans",
        bold=thickness >= 3 or font % 16 == 4,
        slanted=font >= 16 or font % 16 in (6, 7),
        outline=max(1, round(size / 18)),
    )
    painter = TextPainter()
    overlay, x, y = _laid_out(painter, text, lettering, position, (width, height), notes)
    replaced, facts = _copied(target, video, 0.0, seconds, notes, (overlay, x, y, begin, until))
    if remark := painter.remark():
        notes.insert(0, remark)
    shown = f"shown from {begin:g} to {round(until, 3):g} s" if begin > 0 or until < seconds else "shown all through"
    where = f"text at {x},{y}, {overlay.width} x {overlay.height} pixels, {shown}"
    return answer(target, replaced, f"{facts}; {where}", notes)


Overlay = tuple["Image", int, int, float, float]
"""A picture to lay over, its left and upper edge, and when it appears and goes."""


def _copied(
    target: str, video: str, start: float, end: float, notes: list[str], overlay: Overlay | None = None
) -> tuple[bool, str]:
    """Write what lies between two times as a new video; return whether it replaced one, and its facts."""
    clock = CallClock(share=0.9)
    with MediaInput(video) as pictures, MediaInput(video) as sounds:
        rate = pictures.frame_rate
        frames = pictures.at_rate(rate, start, end)
        first = next(frames, None)
        if first is None:
            raise ToolFault(f"no picture could be decoded between {start:g} and {end:g} s")
        size = first.width // 2 * 2, first.height // 2 * 2
        sound = (sounds.rate, min(sounds.channels, 2)) if sounds.sound is not None else None

        def write(path: Path) -> str:
            with VideoOutput(path, size, rate, sound) as output:
                if sound is not None:
                    output.with_sound(_stereo(sounds.blocks(start, end), sounds.channels))
                for frame in _with_overlay(first, frames, rate, start, overlay, output.size):
                    output.write(frame)
                    if clock.expired():
                        raise ToolFault(
                            f"only {output.seconds:.0f} of {end - start:.0f} s could be written in the time of a call; "
                            "ask for a shorter part (VideoClip's start_time and end_time)"
                        )
                heard = f"sound {sound[0]} Hz" if sound else "no sound"
                return f"{output.seconds:.3f} s, {output.size[0]} x {output.size[1]}, {float(rate):g} fps, {heard}"

        replaced, facts = written(target, write)
        pictures.damaged += sounds.damaged
        damage(pictures, notes)
    return replaced, facts


def _with_overlay(
    first: Any, frames: Iterator[Any], rate: Fraction, start: float, overlay: Overlay | None, size: tuple[int, int]
) -> Iterator[Any]:
    import av
    import numpy as np

    if overlay is None:
        yield first
        yield from frames
        return
    picture, x, y, begin, until = overlay
    graph = av.filter.Graph()
    base = graph.add_buffer(width=size[0], height=size[1], format=av.VideoFormat("yuv420p"), time_base=1 / rate)
    text = graph.add_buffer(
        width=picture.width, height=picture.height, format=av.VideoFormat("rgba"), time_base=1 / rate
    )
    when = f"between(t,{max(0.0, begin - start):.4f},{until - start:.4f})"
    layer = graph.add("overlay", f"x={x}:y={y}:eof_action=repeat:enable='{when}'")
    sink = graph.add("buffersink")
    base.link_to(layer, 0, 0)
    text.link_to(layer, 0, 1)
    layer.link_to(sink)
    graph.configure()
    laid = av.VideoFrame.from_ndarray(np.asarray(picture), format="rgba")
    laid.pts, laid.time_base = 0, 1 / rate
    text.push(laid)
    text.push(None)
    for number, frame in enumerate(_chained(first, frames)):
        even = frame.reformat(*size, format="yuv420p")
        even.pts, even.time_base = number, 1 / rate
        base.push(even)
        yield from _pulled(sink)
    base.push(None)
    yield from _pulled(sink)


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _pulled(sink: Any) -> Iterator[Any]:
    import av

    while True:
        try:
            yield sink.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return


def _stereo(blocks: Iterator[Any], channels: int) -> Iterator[Any]:
    import numpy as np

    for block in blocks:
        yield block if channels <= 2 else np.repeat(block.mean(axis=0, keepdims=True), 2, axis=0)


# -- where, when and how text stands -----------------------------------------------------------------------------------


def _window(start: float | None, end: float | None, seconds: float, notes: list[str]) -> tuple[float, float]:
    begin, until = max(0.0, start or 0.0), seconds if end is None else end
    if begin >= seconds > 0:
        raise ToolFault(f"the video is {seconds:.2f} s long; text that appears at {begin:g} s is never seen")
    if until <= begin:
        raise ToolFault(f"the text would go at {until:g} s, not after it appears at {begin:g} s")
    if until > seconds + 0.05:
        notes.append(f"end_time {until:g} s is after the end; the video is {seconds:.2f} s long.")
    return begin, min(until, seconds) if seconds > 0 else until


def _laid_out(
    painter: TextPainter,
    text: str,
    lettering: Lettering,
    position: str,
    size: tuple[int, int],
    notes: list[str],
) -> tuple[Image, int, int]:
    """Return the text as a picture and where its left and upper edge are, wholly within the frame."""
    from dataclasses import replace

    margin = round(_MARGIN * min(size))
    words = re.findall("[a-z]+", position.lower())
    numbers = [float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", position)]
    if not words and len(numbers) != 2:
        raise ToolFault(f'position is {position!r}; give "x,y" in pixels, e.g. "50,50", or words such as "bottom"')
    if words and (numbers or not set(words) <= _PLACES):
        raise ToolFault(f"position is {position!r}; in words it is made of {', '.join(sorted(_PLACES))}")
    align = "left" if numbers else "right" if "right" in words else "left" if "left" in words else "center"
    left = max(0, min(round(numbers[0]), size[0] - 1)) if numbers else margin
    room = size[0] - left - margin
    if room < size[0] / 4:
        room = size[0] - 2 * margin
    # Smaller letters rather than lost ones.
    while True:
        lines = painter.wrapped(text, lettering, room)
        picture = painter.painted(lines, lettering, align)
        if (picture.height <= size[1] and picture.width <= size[0]) or lettering.size <= 6:
            break
        smaller = max(6, int(lettering.size * 0.85))
        lettering = replace(lettering, size=smaller, outline=max(1, round(smaller / 18)))
    if len(lines) > len(text.split("\n")):
        notes.append(f"The text was broken into {len(lines)} lines to fit the picture.")
    wanted = (round(numbers[0]), round(numbers[1])) if numbers else _place(words, picture, size, margin)
    x = max(0, min(wanted[0], size[0] - picture.width))
    y = max(0, min(wanted[1], size[1] - picture.height))
    if numbers and (x, y) != wanted:
        notes.append(
            f"At {wanted[0]},{wanted[1]} the text would not be wholly in the picture ({size[0]} x {size[1]}); "
            f"it stands at {x},{y}."
        )
    return picture, x, y


_PLACES = frozenset(("top", "bottom", "center", "centre", "middle", "left", "right"))


def _place(words: list[str], picture: Image, size: tuple[int, int], margin: int) -> tuple[int, int]:
    across, down = size[0] - picture.width, size[1] - picture.height
    x = margin if "left" in words else across - margin if "right" in words else across // 2
    y = margin if "top" in words else down - margin if "bottom" in words else down // 2
    return x, y


def _colour(written_as: str) -> Colour:
    text = written_as.strip().lower().strip("()[]")
    if text in _NAMED_COLOURS:
        return _NAMED_COLOURS[text]
    if found := re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", text):
        return int(found[1], 16), int(found[2], 16), int(found[3], 16)
    numbers = [float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", text)]
    if len(numbers) != 3 or not all(0 <= number <= 255 and math.isfinite(number) for number in numbers):
        raise ToolFault(f'color is {written_as!r}; give "B,G,R" with 0 to 255 each, e.g. "0,0,255" for red, or a name')
    blue, green, red = (round(number) for number in numbers)
    return red, green, blue
