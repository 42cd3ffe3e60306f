"""VideoOCR: the text in the picture of a video, each line once, with the time it is shown."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.backend import Backend
from pytest_gta.tools.call_clock import CallClock
from pytest_gta.tools.media_input import MediaInput, need_media, upright
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault
from pytest_gta.tools.video_editing import VIDEO
from pytest_gta.tools.video_frames import Sampling, sampled

if TYPE_CHECKING:
    import numpy as np

    from pytest_gta.tools.reading_order import TextLine

_MOST_FRAMES = 240
_USUAL_HZ = 4
"""Looks a second: text that nobody could read is not looked for."""
_SAME = 0.85
"""How alike two readings have to be to be one line: recognisers read one line a little differently each time."""
_THUMBNAIL = (96, 54)
_CHANGED = 10
"""Shades (of 255) by which some spot of a picture made small must differ for it to be read anew."""
_HEAD_START = 0.15
"""Share of the time by which reading may be behind the video's own course at first."""

VIDEO_OCR = Tool(
    ToolSpec(
        "VideoOCR",
        "perception",
        "Reads the text in the picture of a video (titles, captions, slides, signs). Answers each line once: the time "
        "it is shown, its box (x1, y1, x2, y2) in pixels, the text. Frames that look like the one before are not read "
        "again.",
        (
            VIDEO,
            ToolParameter(
                "frame_skip",
                "int",
                "Look at every frame_skip-th frame; wider steps are taken in a long video. Left out: four a second",
                optional=True,
                example=10,
            ),
        ),
    ),
    "pytest_gta.tools.video_text:read_video_text",
    reads=("video",),
    backends=(
        Backend("RapidOCR and PyAV, offline", ("av", "numpy", "rapidocr", "onnxruntime"), "media,ocr"),
        Backend("tesseract and PyAV, offline", ("av", "numpy"), "media", program="tesseract"),
    ),
)
TOOLS = (VIDEO_OCR,)
"""The tools of this module."""


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call needs."""
    from pytest_gta.tools import ocr

    return ("av", *ocr.preload(function, arguments))


@dataclass(slots=True)
class _Shown:
    """A line of text and when it is there."""

    line: TextLine
    first: float
    last: float
    order: int
    readings: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        return self.readings.most_common(1)[0][0]


def read_video_text(video: str, frame_skip: int | None = None) -> str:
    """Return the text in a video.

    Raises:
        ToolFault: The file is no video that can be decoded, or there is nothing to read it with.
    """
    from pytest_gta.tools.ocr import engine

    need_media("VideoOCR")
    if not engine():
        raise ToolFault(
            "there is no OCR engine here: pip install 'pytest-gta[media,ocr]', or have a `tesseract` program on the "
            "PATH"
        )
    clock = CallClock()
    with MediaInput(video) as media:
        media.need_video()
        rate = float(media.video.average_rate or 25)
        sampling = sampled(media, max(1, int(rate / _USUAL_HZ)) if frame_skip is None else frame_skip, _MOST_FRAMES)
        lines, looked, read, end = _read(media, sampling, clock)
        damaged = media.damaged
    if not looked:
        raise ToolFault(f"no picture of {video!r} could be decoded")
    step = sampling.every / sampling.rate
    notes = [f"{looked} frames, one every {step:.2g} s, were looked at, and {read} read, those that differ."]
    if end < sampling.times[-1] - 2 * step:
        notes.append(
            f"The time of the call was over at {end:.1f} of {sampling.seconds:.1f} s: cut the rest out with VideoClip "
            "and call VideoOCR on it."
        )
    if damaged:
        notes.append("The file is damaged: parts of it could not be decoded.")
    if not lines:
        return "\n".join([f"No text was found in {sampling.seconds:.1f} s of video.", *notes])
    rows = [
        f"[{shown.first:.1f}-{min(shown.last + step, sampling.seconds):.1f} s] "
        f"({shown.line.left}, {shown.line.top}, {shown.line.right}, {shown.line.bottom}) {shown.text}"
        for shown in sorted(lines, key=lambda shown: (shown.first, shown.order))
    ]
    return "\n".join([*rows, *notes])


def _read(media: MediaInput, sampling: Sampling, clock: CallClock) -> tuple[list[_Shown], int, int, float]:
    """Go through a video; return its lines, how many frames were looked at and how many read, and where it ended."""
    from pytest_gta.tools.ocr import read_lines

    lines: list[_Shown] = []
    here: list[_Shown] = []
    looked = read = 0
    end = 0.0
    last: np.ndarray[Any, Any] | None = None
    for time, frame in media.pictures_at(list(sampling.times)):
        if read and clock.expired():
            break
        looked += 1
        end = time
        picture = upright(frame).to_image()
        small = _thumbnail(picture)
        if last is not None and int(abs(small - last).max()) < _CHANGED:
            for shown in here:
                shown.last = time
            continue
        # Frames are passed over rather than the end of a video left out.
        gone = time / max(sampling.seconds, 0.01)
        if read and clock.used / clock.seconds > _HEAD_START + (1 - _HEAD_START) * gone:
            continue
        found = [line for line in read_lines(picture) if not _imagined(line, picture)]
        here = _matched(lines, here, found, time)
        last = small
        read += 1
    return lines, looked, read, end


def _matched(lines: list[_Shown], before: list[_Shown], found: list[TextLine], time: float) -> list[_Shown]:
    """Join what was found with the lines that were there already; return those that are there now."""
    now: list[_Shown] = []
    open_lines = list(before)
    for line in found:
        alike = [
            (difflib.SequenceMatcher(None, shown.text, line.text, autojunk=False).ratio(), -index)
            for index, shown in enumerate(open_lines)
        ]
        best, place = max(alike, default=(0.0, 0))
        if best >= _SAME and not _differ_in_number(open_lines[-place].text, line.text):
            shown = open_lines.pop(-place)
            shown.last = time
        else:
            shown = _Shown(line, time, time, len(lines))
            lines.append(shown)
        shown.readings[line.text] += 1
        now.append(shown)
    return now


def _differ_in_number(one: str, other: str) -> bool:
    """Whether two alike lines are two: a counter or a clock that went on."""
    return [char for char in one if char.isdigit()] != [char for char in other if char.isdigit()]


def _imagined(line: TextLine, picture: Any) -> bool:
    """Whether a reading is what recognisers make of a picture without text: a sign as large as the picture."""
    return len(line.text) <= 2 and line.width * line.height > 0.4 * picture.width * picture.height


def _thumbnail(picture: Any) -> np.ndarray[Any, Any]:
    import numpy as np
    from PIL import Image

    return np.asarray(picture.convert("L").resize(_THUMBNAIL, Image.Resampling.BOX), dtype=np.int16)
