"""TextToVideoTool: a narrated video of a text, with pictures of the user's image model or with cards drawn here."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pytest_gta.tools.backend import IMAGES, PYAV, Backend
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.sound_editing import OUTPUT_DIR
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.workspace.workspace import Workspace

_MOST_PICTURES = 6
_PICTURES_S = 60.0
_LEAST_PX, _MOST_PX = 16, 3840
_MOST_FPS, _LONGEST_S = 60, 600
_STYLE = (
    "A picture for one scene of a video. The whole video: {whole}\nThis scene: {scene}\nNo lettering or captions in "
    "the picture; one style in all scenes."
)


def make_video(
    workspace: Workspace,
    confined: ConfinedCall,
    endpoints: ToolEndpoints,
    target: str,
    description: str,
    num_frames: int | None = None,
    resolution: str = "128,128",
    fps: int = 8,
    seconds: float | None = None,
) -> Any:
    """Make a video of a text.

    Args:
        workspace: The task's folder.
        confined: Composes and writes it.
        endpoints: Holds the image model, if any.
        target: The new file, absolute.
        description: The text.
        num_frames: Its length in frames.
        resolution: ``"width,height"`` in pixels.
        fps: Frames a second.
        seconds: Its length in seconds, which goes before `num_frames`.

    Raises:
        ToolFault: An argument makes no sense, or the video cannot be made.
    """
    if not description.strip():
        raise ToolFault("description is empty; give what the video is to show and say")
    width, height = read_resolution(resolution)
    if not 1 <= fps <= _MOST_FPS:
        raise ToolFault(f"fps is {fps}; it goes from 1 to {_MOST_FPS}")
    short = num_frames is None and seconds is None
    frames = round(seconds * fps) if seconds is not None else 8 if num_frames is None else num_frames
    if not 1 <= frames <= _LONGEST_S * fps:
        raise ToolFault(f"{frames} frames at {fps} a second are {frames / fps:g} s; it goes up to {_LONGEST_S} s")
    pictures, remarks = _pictures(endpoints, description, frames / fps, (width, height))
    if short or min(width, height) < 200:
        remarks.append(
            f"That is {round(frames / fps, 3):g} s at {width} x {height}. For a video to watch and listen to, give "
            'seconds (or num_frames) and a resolution such as "1280,720".'
        )
    return confined(
        "pytest_gta.tools.slideshow:compose",
        {
            "target": workspace.relative(Path(target)),
            "description": description,
            "num_frames": frames,
            "width": width,
            "height": height,
            "fps": fps,
            "pictures": [base64.b64encode(picture).decode("ascii") for picture in pictures],
            "remarks": remarks,
        },
    )


def read_resolution(resolution: str) -> tuple[int, int]:
    """Read ``"1280,720"``, ``"1280x720"`` or ``"720p"``.

    Raises:
        ToolFault: It is none of these, or out of range.
    """
    text = resolution.strip().lower().strip("()[]")
    if lines := re.fullmatch(r"(\d{3,4})p", text):
        text = f"{round(int(lines[1]) * 16 / 9 / 2) * 2}x{lines[1]}"
    found = re.fullmatch(r"(\d{1,5})\s*(?:[,x\u00d7*:;/]|\s)\s*(\d{1,5})", text)
    if not found:
        raise ToolFault(f'resolution is {resolution!r}; give "width,height" in pixels, e.g. "1280,720"')
    width, height = int(found[1]), int(found[2])
    if not (_LEAST_PX <= width <= _MOST_PX and _LEAST_PX <= height <= _MOST_PX):
        raise ToolFault(f"resolution is {width} x {height}; each side goes from {_LEAST_PX} to {_MOST_PX} pixels")
    return width, height


def _pictures(
    endpoints: ToolEndpoints, description: str, seconds: float, size: tuple[int, int]
) -> tuple[list[bytes], list[str]]:
    """Have a picture made for each scene; without a model, or when it fails, none, and why."""
    drawn = "Made as a slideshow of cards with its text, drawn here; no model that makes videos took part."
    if endpoints.images is None:
        return [], [drawn]
    from pytest_gta.tools.slideshow import SHORTEST_SCENE_S
    from pytest_gta.tools.storyboard import merged, scenes_of

    scenes = merged(scenes_of(description), int(seconds / SHORTEST_SCENE_S))
    prompts = [_STYLE.format(whole=description[:600], scene=scene.spoken[:800]) for scene in scenes[:_MOST_PICTURES]]
    ratio = size[0] / size[1]
    wanted = "1536x1024" if ratio > 1.2 else "1024x1536" if ratio < 0.83 else "1024x1024"
    try:
        with ThreadPoolExecutor(3) as pool:
            made = list(
                pool.map(lambda prompt: endpoints.generate_image(prompt, wanted, deadline_s=_PICTURES_S), prompts)
            )
    except ToolFault as fault:
        return [], [f"{drawn} ({fault})"]
    remark = (
        f"Made of {len(made)} pictures by the image model {endpoints.images.model}, one after the other, with captions."
    )
    if len(scenes) > len(made):
        remark += f" The last one serves {len(scenes) - len(made) + 1} scenes."
    return made, [remark]


TEXT_TO_VIDEO = Tool(
    ToolSpec(
        "TextToVideoTool",
        "creativity",
        "Makes an MP4 of a text, with a voice that reads it: its title, scenes, list items or sentences one after the "
        "other, as pictures by an image model where one is set up, else as designed cards with the text. Write the "
        "script itself as the description: what is in it is shown and spoken word for word. The length is num_frames / "
        "fps seconds, or `seconds`; allow about 1 second for every 15 characters. Say resolution and length: without "
        "them it is one second at 128 x 128. The answer says how it was made.",
        (
            ToolParameter(
                "description",
                "text",
                "The text: a title line, then a line or paragraph for each scene, e.g. Scene 1: ...",
                example="Our bakery\\nScene 1: Fresh bread at six every morning.\\nScene 2: Come by on Main Street!",
            ),
            OUTPUT_DIR,
            ToolParameter("num_frames", "int", "Length in frames.", optional=True, default=8, example=240),
            ToolParameter(
                "resolution",
                "text",
                '"width,height" in pixels, e.g. "1280,720".',
                optional=True,
                default="128,128",
                example="1280,720",
            ),
            ToolParameter("fps", "int", "Frames a second.", optional=True, default=8, example=24),
            ToolParameter(
                "filename",
                "text",
                "Name of the video (.mp4). Left out: text_to_video.mp4",
                optional=True,
                example="a.mp4",
            ),
            ToolParameter("seconds", "float", "Length in seconds, instead of num_frames.", optional=True, example=20),
        ),
    ),
    make_video,
    writes=".mp4",
    writes_as="text_to_video",
    backends=(
        Backend("image endpoint and PyAV", PYAV.modules, PYAV.extra, IMAGES.endpoint),
        Backend("slideshow with Hibari's voice", (*PYAV.modules, "hibari", "onnxruntime"), "media,tts"),
        Backend("slideshow without a voice", PYAV.modules, PYAV.extra),
    ),
)
TOOLS = (TEXT_TO_VIDEO,)
"""The tools of this module."""
