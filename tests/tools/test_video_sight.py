"""VideoDescription and VideoObjectDetection with a vision model that answers what the test says."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.tools import video_sight
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.tool import ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.tools.video_sight import detections_in
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import needs_media, tone, write_video, write_wave

pytestmark = needs_media


class Seer(ToolEndpoints):
    """A vision model that notes what it is shown."""

    def __init__(self) -> None:
        super().__init__(vision=Endpoint("eyes", "http://127.0.0.1:9/v1", "key"))
        self.asked: list[tuple[str, list[Image.Image]]] = []
        self.answers: list[str] = []

    def describe(
        self, prompt: str, pictures: Sequence[tuple[bytes, str]], *, deadline_s: float = 90.0, room: int = 2_000
    ) -> str:
        self.asked.append((prompt, [Image.open(io.BytesIO(data)) for data, _ in pictures]))
        return self.answers.pop(0)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sight")
    write_video(root / "film.mp4", 4, 10, (320, 240), sound=tone(440, 4, 44_100))
    write_video(root / "short.mp4", 0.4, 10, (1600, 200))
    write_wave(root / "sound.wav", tone(440, 0.5))
    (root / "empty.mp4").write_bytes(b"")
    return root


@pytest.fixture
def seer() -> Seer:
    return Seer()


@pytest.fixture
def call(root: Path, seer: Seer) -> Iterator[Callable[..., ToolResult]]:
    only = [tool.name for tool in video_sight.TOOLS]
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=only, endpoints=seer) as box:
        yield lambda name, **arguments: box.call(name, arguments)


def test_frames_are_spread_over_the_video_with_their_times(call: Callable[..., ToolResult], seer: Seer) -> None:
    seer.answers = ["The picture turns red.\n0.0 s: dark\n2.0 s: red"]
    result = call("VideoDescription", video="film.mp4", frame_skip=20)
    assert (result.is_error, result.text) == (
        False,
        "The picture turns red.\n0.0 s: dark\n2.0 s: red\n[4.0 s, 320 x 240, 10 fps, with sound. 2 of its 40 frames "
        "were looked at (every 20th frame, from 0.0 to 2.0 s).]",
    )
    prompt, pictures = seer.asked[0]
    assert (
        "These 2 pictures are frames of one video (4.0 s, 320 x 240, 10 fps, with sound), in order, at 0.0 s, 2.0 s."
        in prompt
    )
    assert [picture.getpixel((9, 9))[0] for picture in pictures] == pytest.approx([0, 127], abs=6)


def test_too_many_frames_are_thinned_out_and_that_is_said(call: Callable[..., ToolResult], seer: Seer) -> None:
    seer.answers = ["A film."]
    result = call("VideoDescription", video="film.mp4")
    assert "8 of its 40 frames were looked at (every 5th frame, from 0.0 to 3.5 s)." in result.text
    seer.answers = ["A film."]
    result = call("VideoDescription", video="film.mp4", frame_skip=1)
    assert "14 of its 40 frames were looked at (every 3rd frame" in result.text
    assert "; not every 1st, as asked for, since that would be too many." in result.text


def objects(*labels: str) -> list[dict[str, Any]]:
    return [{"label": label, "box": [100, 200, 500, 1000], "confidence": 0.9} for label in labels]


def test_objects_are_counted_frame_by_frame(call: Callable[..., ToolResult], seer: Seer) -> None:
    answer = [{"picture": 1, "objects": objects("dog")}, {"picture": 2, "objects": objects("Dog", "dog", "tree")}]
    seer.answers = [f"```json\n{json.dumps({'pictures': answer})}\n```"]
    result = call("VideoObjectDetection", video="film.mp4", frame_skip=20)
    lines = result.text.splitlines()
    assert lines[:3] == [
        "Most at once: dog 2 (at 2.0 s), tree 1 (at 2.0 s).",
        "Frame 0 (0.0 s): 1 dog | dog (32, 48, 160, 240) conf 0.90",
        "Frame 20 (2.0 s): 2 dog, 1 tree | dog (32, 48, 160, 240) conf 0.90 | dog (32, 48, 160, 240) conf 0.90 | "
        "tree (32, 48, 160, 240) conf 0.90",
    ]
    assert "a vision model's estimates" in lines[3]


def test_frames_go_out_in_small_groups(call: Callable[..., ToolResult], seer: Seer) -> None:
    def answer(count: int) -> str:
        return json.dumps({"pictures": [{"picture": n + 1, "objects": []} for n in range(count)]})

    seer.answers = [answer(4), answer(1)]
    result = call("VideoObjectDetection", video="film.mp4", frame_skip=8)
    assert [len(pictures) for _, pictures in seer.asked] == [4, 1]
    assert result.text.count("(no detections)") == 5
    assert result.text.startswith("Most at once: nothing.")


def test_an_answer_that_is_none_is_asked_for_again_and_never_counts_as_nothing(
    call: Callable[..., ToolResult], seer: Seer
) -> None:
    good = json.dumps({"pictures": [{"picture": n + 1, "objects": objects("cup")} for n in range(4)]})
    seer.answers = ["I see four pictures of a room.", good]
    result = call("VideoObjectDetection", video="short.mp4")
    assert not result.is_error
    assert "An earlier answer could not be used: it is no JSON." in seer.asked[1][0]
    assert max(seer.asked[0][1][0].size) == 1024
    assert "cup (160, 40, 800, 200)" in result.text
    seer.answers = ["no idea", "still no idea"]
    result = call("VideoObjectDetection", video="short.mp4")
    assert result.is_error
    assert "gave no list of objects" in result.text
    assert "still no idea" in result.text


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "it is no JSON"),
        ('{"pictures": [{"picture": 1, "objects": [', "it is no JSON, or was cut off"),
        ('{"pictures": [{"picture": 1, "objects": []}]}', "picture 2 is missing"),
        ('{"pictures": [{"picture": 3, "objects": []}]}', "there is no picture 3"),
        ('{"pictures": [{"picture": 1}]}', "entry 1 of `pictures` has no list `objects`"),
        ('{"pictures": [{"picture": 1, "objects": [{"box": [1, 2, 3, 4]}]}]}', "an object has no label"),
        ('{"dogs": 3}', "it holds no list `pictures`"),
    ],
)
def test_answers_that_cannot_be_used_say_why(answer: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        detections_in(answer, 2)


def test_boxes_that_make_no_sense_are_left_out() -> None:
    answer = 'Sure: [{"objects": [{"label": "a", "box": [5, 5, 1, 9]}, {"label": "b", "box": "all"}, "c"]}]'
    assert [(item.label, item.box) for item in detections_in(answer, 1)[0]] == [("a", None), ("b", None), ("c", None)]


@pytest.mark.parametrize("tool", ["VideoDescription", "VideoObjectDetection"])
def test_without_a_model_it_says_what_to_set(root: Path, tool: str) -> None:
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=[tool]) as box:
        result = box.call(tool, {"video": "film.mp4"})
    assert result.is_error
    assert "GTA_VISION_MODEL" in result.text


@pytest.mark.parametrize(
    ("name", "reason"),
    [("empty.mp4", "is empty (0 bytes)"), ("sound.wav", "is a sound file"), ("no.mp4", "there is no file 'no.mp4'")],
)
@pytest.mark.parametrize("tool", ["VideoDescription", "VideoObjectDetection"])
def test_what_is_no_video_is_said(
    call: Callable[..., ToolResult], seer: Seer, tool: str, name: str, reason: str
) -> None:
    result = call(tool, video=name)
    assert result.is_error
    assert reason in result.text
    assert seer.asked == []
    assert call(tool, video="film.mp4", frame_skip=-1).is_error
