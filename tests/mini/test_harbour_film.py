"""Task 53: the numbers of its leaves from the frames of the film, and its reference deliverables."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    av = pytest.importorskip("av")
    with av.open(str(INPUTS / "video/53-harbour_raw.mp4")) as container:
        rate = float(container.streams.video[0].average_rate)
        frames = [(frame.time, frame.to_image()) for frame in container.decode(video=0)]
    bright = [second for second, image in frames if sum(image.getpixel((20, 20))) > 300]
    assert all(b - a < 1.5 / rate for a, b in pairwise(bright)), "one scene"
    length = bright[-1] - bright[0] + 1 / rate
    width, height = frames[0][1].size
    holds(leaves["53/cp1-1"], f"{length:.1f}", width, height)
    holds(leaves["53/cp2-1"], width, height)
    holds(leaves["53/cp3-1"], f"{length:.1f}", width, height)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    av = pytest.importorskip("av")
    with av.open(str(outputs / "53/files/Teaser.mp4")) as container:
        frames = [frame.to_image() for frame in container.decode(video=0)]
    assert len(frames) == 60 and frames[0].size == (640, 360)
    assert all(sum(image.getpixel((20, 20))) > 300 for image in frames)
    texts = json.loads((outputs / "53/files/Teaser_Texts.json").read_text("utf-8"))
    assert len(texts) == 6 and len(texts["post"]) < 200 and len(texts["hashtags"]) == 3
