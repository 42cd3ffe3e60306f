"""Looks into files for a preview: a small picture, the first text or rows. Runs in a confined process.

Whatever a file is or does, its preview is a value; one that cannot be had says why.
"""

from __future__ import annotations

import base64
import csv
import io
import re
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file

PRELOAD = ("lxml.etree", "lxml.html", "PIL.Image", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "PIL.WebPImagePlugin")

TEXT_CHARACTERS = 6_000
ROWS, COLUMNS, CELL_CHARACTERS = 10, 8, 60
PAGE_BYTES = 400_000
PICTURE_PX = 480
_QUALITIES = ((480, 62), (400, 50), (320, 42), (240, 36), (160, 30))
_ACTIVE = ("script", "noscript", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed", "applet",
           "template", "portal", "audio", "video", "source", "track")  # fmt: skip
_ROW = re.compile(r"(?<!\\)\|")


def previews_json(
    paths: Sequence[str], picture_bytes: int, page_bytes: int, seconds: float, max_bytes: int = 64 * 1024 * 1024
) -> list[dict[str, Any]]:
    """Return the previews of files, in order.

    Args:
        paths: The files.
        picture_bytes: Most bytes of a picture, encoded.
        page_bytes: Most characters of the markup of a web page, to show it without its scripts.
        seconds: Time for one file.
        max_bytes: Largest file that is opened.
    """
    found = []
    for path in paths:
        try:
            found.append(_preview(Path(path), picture_bytes, page_bytes, seconds, max_bytes))
        except Exception as error:  # a parsing library may raise anything at all
            found.append({"fault": f"no preview: {type(error).__name__}"})
    return found


def _preview(path: Path, picture_bytes: int, page_bytes: int, seconds: float, max_bytes: int) -> dict[str, Any]:
    limits = ReadLimits(
        max_bytes=max_bytes, max_unpacked_bytes=128 * 1024 * 1024, max_chars=TEXT_CHARACTERS, max_cells=4_000,
        max_pages=4, max_pictures=1, max_picture_px=PICTURE_PX, max_seconds=seconds, details=False,
    )  # fmt: skip
    started = time.monotonic()
    extract = read_file(path, limits)
    value: dict[str, Any] = {
        "kind": extract.kind,
        "facts": [f"{name} {fact}" for name, fact in list(extract.facts.items())[:6]],
        "fault": extract.faults[0] if extract.faults and not extract.text and not extract.pictures else "",
    }
    if extract.pictures and (picture := _small(extract.pictures[0].data, picture_bytes)):
        value |= picture
        value["where"] = extract.pictures[0].where
    separated = path.suffix.lower() in (".csv", ".tsv") and extract.kind == "text"
    rows = _separated(extract.text) if separated else _rows(extract.text) if extract.kind == "sheets" else []
    if rows:
        value["rows"] = rows
    elif extract.kind != "image" and extract.text:
        value["text"] = extract.text[:TEXT_CHARACTERS]
    if extract.kind == "web" and time.monotonic() - started < seconds and (page := _harmless_page(path, page_bytes)):
        value["page"] = page
    return value


def _small(data: bytes, most: int) -> dict[str, Any] | None:
    """Return a picture as WebP of at most so many bytes, None when it does not become that small."""
    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGBA" if "A" in opened.getbands() or "transparency" in opened.info else "RGB")
    for longest, quality in _QUALITIES:
        image.thumbnail((longest, longest))
        encoded = io.BytesIO()
        image.save(encoded, "WEBP", quality=quality, method=2)
        if encoded.tell() <= most:
            text = base64.b64encode(encoded.getvalue()).decode("ascii")
            return {"picture": text, "width": image.width, "height": image.height}
    return None


def _rows(text: str) -> list[list[str]]:
    """Return the first rows of the first table in a text that writes tables as markdown."""
    rows: list[list[str]] = []
    for line in text.split("\n"):
        if not line.startswith("|"):
            if rows:
                break
            continue
        cells = [cell.strip().replace("\\|", "|")[:CELL_CHARACTERS] for cell in _ROW.split(line.strip())[1:-1]]
        if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rows.append(cells[:COLUMNS])
        if len(rows) > ROWS:
            break
    return rows


def _separated(text: str) -> list[list[str]]:
    """Return the first rows of a text whose cells are separated, none when no separator is found."""
    sample = text[:3_000]
    try:
        dialect = csv.Sniffer().sniff(sample, ",;\t|")
        rows = csv.reader(io.StringIO(sample), dialect)
        found = [[cell[:CELL_CHARACTERS] for cell in row[:COLUMNS]] for row in islice(rows, ROWS + 1) if row]
    except csv.Error:
        return []
    return found if len(found) > 1 else []


def _harmless_page(path: Path, most: int) -> str:
    """Return a web page's markup without what is active or loaded from elsewhere, "" when it is longer than allowed."""
    from lxml import html

    if path.stat().st_size > PAGE_BYTES:
        return ""
    tree = html.document_fromstring(path.read_bytes())
    for element in [*tree.iter(*_ACTIVE)]:
        element.drop_tree()
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name, text in list(element.attrib.items()):
            address = "".join(text.split()).lower()
            loads = name in ("src", "href", "xlink:href", "action", "formaction", "background", "poster", "srcset",
                             "ping", "data")  # fmt: skip
            if name.startswith("on") or (loads and not address.startswith(("data:image/", "#"))):
                del element.attrib[name]
    markup = str(html.tostring(tree, encoding="unicode", doctype="<!doctype html>"))
    return markup if len(markup) <= most else ""
