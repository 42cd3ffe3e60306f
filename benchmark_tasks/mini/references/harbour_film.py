"""Reference deliverables of task 53: teaser, cover, texts."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources import harbour_film as source
from benchmark_tasks.mini.sources.drawing import centred
from benchmark_tasks.mini.sources.recording import write_film


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer; needs ``av``."""
    av: Any = import_module("av")
    kept: list[Image.Image] = []
    with av.open(str(Path(source.__file__).parents[1] / source.FILM)) as container:
        for frame in container.decode(video=0):
            if source.SCENE[0] - 0.01 <= frame.time < source.SCENE[1] - 0.01:
                kept.append(_titled(frame.to_image()))
    write_film(files / "Teaser.mp4", kept, rate=source.RATE)
    kept[len(kept) // 2].save(files / "Cover.png")
    texts = {
        "alt_text": "A sailing boat crosses the water from left to right, past a harbour wall with a red beacon, in "
        "sunshine.",
        "post": "Come aboard: Open Harbour Day on 14 June. Boats, piers and people who love them, all day long.",
        "hashtags": ["#OpenHarbourDay", "#sailing", "#14June"],
        "duration_seconds": round(len(kept) / source.RATE, 2),
        "width": source.SIZE[0],
        "height": source.SIZE[1],
    }
    (files / "Teaser_Texts.json").write_text(json.dumps(texts, indent=2), encoding="utf-8")
    return f"The teaser lasts {len(kept) / source.RATE:.1f} seconds; cover and texts are ready."


def _titled(image: Image.Image) -> Image.Image:
    draw = ImageDraw.Draw(image)
    draw.rectangle((60, 300, 580, 346), fill="#123b4a")
    centred(draw, (320, 322), source.TITLE, 34, "#ffffff")
    return image
