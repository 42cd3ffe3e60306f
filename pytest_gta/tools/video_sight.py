"""VideoDescription and VideoObjectDetection: frames of a video, shown to the user's vision model."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gta.tools.backend import VISION, Backend
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.tools.video_editing import VIDEO
from pytest_gta.workspace.workspace import Workspace

_MOST_DESCRIBED, _DESCRIBED_PX = 16, 768
_MOST_SEARCHED, _SEARCHED_PX, _TOGETHER = 16, 1024, 4
_SCALE = 1000

_DESCRIBE = """These {count} pictures are frames of one video ({facts}), in order, at {times}.
Describe the video for someone who cannot see it. First a paragraph on the whole: what happens, who and what is seen, \
where, how it changes, and any text that is shown. Then one line for each picture, beginning with its time, such as \
"{first} s: ". Say only what can be seen."""
_DETECT = """These {count} pictures are frames of a video, at {times}. Find every object in each of them (people, \
animals, vehicles, furniture, tools, ...), partly hidden ones too, each one once.
Answer with JSON only, one entry for each picture, in this form:
{{"pictures": [{{"picture": 1, "objects": [{{"label": "dog", "box": [x1, y1, x2, y2], "confidence": 0.9}}]}}]}}
label: one English word or two, the same for the same kind everywhere. box: left, top, right and bottom edge, from 0 \
to 1000 of the picture's width and height. confidence: 0 to 1. A picture without objects has an empty list."""


@dataclass(frozen=True, slots=True)
class Detection:
    """An object a model found in a frame.

    Attributes:
        label: What it is.
        box: Left, top, right, bottom in parts of a thousand; None when none was given.
        confidence: From 0 to 1; None when none was given.
    """

    label: str
    box: tuple[float, float, float, float] | None
    confidence: float | None


def describe_video(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, video: str, frame_skip: int = 5
) -> str:
    """Return what a vision model sees in a video.

    Raises:
        ToolFault: There is no model, it gave no answer, or the file is no video.
    """
    taken = _frames(workspace, confined, endpoints, video, frame_skip, _MOST_DESCRIBED, _DESCRIBED_PX)
    frames = taken["frames"]
    prompt = _DESCRIBE.format(
        count=len(frames), facts=taken["facts"], times=_times(frames), first=f"{frames[0]['time']:.1f}"
    )
    answer = endpoints.describe(prompt, _pictures(frames))
    return f"{answer}\n[{taken['facts']}. {taken['remark']}]"


def detect_objects(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, video: str, frame_skip: int = 1
) -> str:
    """Return which objects a vision model finds in frames of a video, and where.

    Raises:
        ToolFault: There is no model, its answer cannot be used, or the file is no video. That is never "nothing found".
    """
    taken = _frames(workspace, confined, endpoints, video, frame_skip, _MOST_SEARCHED, _SEARCHED_PX)
    frames = taken["frames"]
    found: list[list[Detection]] = []
    for start in range(0, len(frames), _TOGETHER):
        found += _detected(endpoints, frames[start : start + _TOGETHER])
    lines = [
        f"Frame {frame['number']} ({frame['time']:.1f} s): {_listed(objects, taken['width'], taken['height'])}"
        for frame, objects in zip(frames, found, strict=True)
    ]
    most: dict[str, tuple[int, float]] = {}
    for frame, objects in zip(frames, found, strict=True):
        for label, count in Counter(item.label for item in objects).items():
            if count > most.get(label, (0, 0.0))[0]:
                most[label] = (count, frame["time"])
    ranked = sorted(most.items(), key=lambda entry: (-entry[1][0], entry[0]))
    summary = ", ".join(f"{label} {count} (at {time:.1f} s)" for label, (count, time) in ranked) or "nothing"
    return "\n".join(
        [
            f"Most at once: {summary}.",
            *lines,
            f"[{taken['facts']}. {taken['remark']} Boxes are (x1, y1, x2, y2) in pixels; they and the counts are a "
            "vision model's estimates.]",
        ]
    )


def _frames(
    workspace: Workspace,
    confined: ConfinedCall,
    endpoints: ToolEndpoints,
    video: str,
    frame_skip: int,
    most: int,
    longest_px: int,
) -> dict[str, Any]:
    if endpoints.vision is None:
        endpoints.describe("", [])  # says what to set up, before any work is done
    arguments = {
        "video": workspace.relative(Path(video)),
        "frame_skip": frame_skip,
        "most": most,
        "longest_px": longest_px,
    }
    taken: dict[str, Any] = confined("pytest_gta.tools.video_frames:take_frames", arguments)
    return taken


def _pictures(frames: list[dict[str, Any]]) -> list[tuple[bytes, str]]:
    return [(base64.b64decode(frame["data"]), "image/jpeg") for frame in frames]


def _times(frames: list[dict[str, Any]]) -> str:
    return ", ".join(f"{frame['time']:.1f} s" for frame in frames)


# -- what a model answers ----------------------------------------------------------------------------------------------


def _detected(endpoints: ToolEndpoints, frames: list[dict[str, Any]]) -> list[list[Detection]]:
    prompt = _DETECT.format(count=len(frames), times=_times(frames))
    pictures = _pictures(frames)
    answer = endpoints.describe(prompt, pictures, room=6_000)
    try:
        return detections_in(answer, len(frames))
    except ValueError as fault:
        again = f"{prompt}\nAn earlier answer could not be used: {fault}. Answer with the JSON alone."
    answer = endpoints.describe(again, pictures, room=6_000)
    try:
        return detections_in(answer, len(frames))
    except ValueError as fault:
        shown = " ".join(answer.split())[:200]
        raise ToolFault(
            f"the vision model gave no list of objects for the frames at {_times(frames)}: {fault}; it said: {shown}"
        ) from None


def detections_in(answer: str, count: int) -> list[list[Detection]]:
    """Return the objects that a model's answer names, for each of `count` pictures.

    Raises:
        ValueError: With what is wrong with it.
    """
    value = _json_in(answer)
    entries = value.get("pictures", value.get("frames")) if isinstance(value, dict) else value
    if entries is None and isinstance(value, dict) and count == 1 and "objects" in value:
        entries = [value]
    if not isinstance(entries, list):
        raise ValueError("it holds no list `pictures`")
    found: dict[int, list[Detection]] = {}
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("objects"), list):
            raise ValueError(f"entry {place + 1} of `pictures` has no list `objects`")
        number = entry.get("picture", place + 1)
        if not isinstance(number, int) or not 1 <= number <= count:
            raise ValueError(f"there is no picture {number!r}")
        found[number] = [_detection(item) for item in entry["objects"]]
    missing = [str(number) for number in range(1, count + 1) if number not in found]
    if missing:
        raise ValueError(f"picture {', '.join(missing)} is missing")
    return [found[number] for number in range(1, count + 1)]


def _detection(item: Any) -> Detection:
    label = item.get("label") if isinstance(item, dict) else item
    if not isinstance(label, str) or not label.strip():
        raise ValueError("an object has no label")
    box = item.get("box") if isinstance(item, dict) else None
    confidence: Any = item.get("confidence") if isinstance(item, dict) else None
    numbers = [float(n) for n in box if _is_number(n)] if isinstance(box, list) else []
    whole = len(numbers) == 4 and numbers[0] < numbers[2] and numbers[1] < numbers[3] and max(numbers) <= _SCALE * 1.02
    return Detection(
        label.strip().lower()[:60],
        (numbers[0], numbers[1], numbers[2], numbers[3]) if whole and min(numbers) >= 0 else None,
        float(confidence) if _is_number(confidence) and 0 <= float(confidence) <= 1 else None,
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _json_in(answer: str) -> Any:
    """The first JSON object or list in an answer, whatever stands around it."""
    decoder = json.JSONDecoder()
    for place in re.finditer(r"[\[{]", answer):
        try:
            value, _ = decoder.raw_decode(answer, place.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            return value
    raise ValueError("it is no JSON" + (", or was cut off" if "{" in answer else ""))


def _listed(objects: list[Detection], width: int, height: int) -> str:
    if not objects:
        return "(no detections)"
    counts = Counter(item.label for item in objects)
    head = ", ".join(f"{count} {label}" for label, count in counts.most_common())
    parts = []
    for item in objects:
        text = item.label
        if item.box is not None:
            x1, y1, x2, y2 = item.box
            corners = (x1 * width, y1 * height, x2 * width, y2 * height)
            text += f" ({', '.join(str(round(corner / _SCALE)) for corner in corners)})"
        if item.confidence is not None:
            text += f" conf {item.confidence:.2f}"
        parts.append(text)
    return f"{head} | {' | '.join(parts)}"


_SEES = Backend("vision endpoint and PyAV", ("av", "numpy"), "media", VISION.endpoint)

VIDEO_DESCRIPTION = Tool(
    ToolSpec(
        "VideoDescription",
        "perception",
        "Looks at frames spread over a video and describes what happens, who and what is seen, and text in the "
        "picture, then each frame with its time. Does not listen to the sound (SpeechToText does).",
        (
            VIDEO,
            ToolParameter(
                "frame_skip",
                "int",
                "Look at every frame_skip-th frame; wider steps are taken when those are more than 16. Left out: 5",
                optional=True,
                example=25,
            ),
        ),
    ),
    describe_video,
    reads=("video",),
    backends=(_SEES,),
)
VIDEO_OBJECT_DETECTION = Tool(
    ToolSpec(
        "VideoObjectDetection",
        "perception",
        "Finds the objects in frames spread over a video: what, how many and where, with the time of each frame.",
        (
            VIDEO,
            ToolParameter(
                "frame_skip",
                "int",
                "Look at every frame_skip-th frame; wider steps are taken when those are more than 16. Left out: 1",
                optional=True,
                example=25,
            ),
        ),
    ),
    detect_objects,
    reads=("video",),
    backends=(_SEES,),
)
TOOLS = (VIDEO_DESCRIPTION, VIDEO_OBJECT_DETECTION)
"""The tools of this module."""
