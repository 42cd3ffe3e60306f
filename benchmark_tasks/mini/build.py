"""Make every file of `mini` that is not a source: ``python -m benchmark_tasks.mini.build [FOLDER]``.

Writes ``end.json``, ``resources/`` and ``derivations/``, the same bytes in every run with the same versions of Pillow,
reportlab, openpyxl, hibari-tts and av (the last two are optional: without them the recordings that are there are kept).
Without FOLDER it writes where this script lies.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path

from benchmark_tasks.mini.sources.authored import read_task

NAMES = (
    "farm_shop_orders",
    "bakery_meter",
    "bird_tally",
    "street_film",
    "ear_training",
    "moon_chapter",
    "bread_talk",
    "term_marks",
    "craft_fair",
    "day_trip",
    "kitchen_quotes",
    "voice_memo",
    "mug_forum",
    "ad_campaigns",
    "price_screens",
    "kayak_posts",
    "cafe_menu",
    "jingle",
    "harbour_film",
    "name_badges",
    "pet_cover",
    "garden_meeting",
    "parish_records",
    "coffee_manuals",
)
"""The tasks by task id; each is a module and a text in `sources`, and a module in `references`."""


def build(folder: Path) -> None:
    """Write the dataset to `folder`, over an earlier build; inputs that no task uses any more are taken away."""
    shutil.rmtree(folder / "derivations", ignore_errors=True)
    (folder / "derivations").mkdir(parents=True)
    index = {}
    for name in NAMES:
        import_module(f"benchmark_tasks.mini.sources.{name}").make_inputs(folder)
        task = read_task(name)
        index[task.id] = task.record
        _write_json(folder / "derivations" / f"{task.id}.json", task.derivations)
    _write_json(folder / "end.json", index)
    used = {folder / entry["path"] for record in index.values() for entry in record["files"]}
    for path in (folder / "resources").rglob("*"):
        if path.is_file() and path not in used:
            path.unlink()


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
