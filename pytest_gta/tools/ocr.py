"""Reading the text in pictures, by RapidOCR with the models it carries or by a tesseract program."""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib
import importlib.util
import io
import itertools
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.backend import RAPIDOCR, TESSERACT
from pytest_gta.tools.picture_input import flattened, open_pages
from pytest_gta.tools.reading_order import TextLine, in_reading_order, with_words_joined
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PAGES = 20
"""Of a scan with several pages."""
_PIECE_PX = 1600
"""A longer side is read in pieces: the engine would shrink it, and small letters with it."""
_LEAST_PX = 368
"""A shorter side gets a margin."""
_SEARCHED_PX = 400
"""How far from a piece's full length a blank place to cut at is looked for."""
_MOST_PIXELS = 24_000_000
_WIDE_GAP = 2.0
"""Heights of a word between two words that do not belong together."""
_LANGUAGES = ("chi_sim", "jpn", "kor", "rus", "ara", "deu", "fra", "spa", "ita", "por")
"""Tesseract's languages besides English that are used when they are installed."""

OCR = Tool(
    ToolSpec(
        "OCR",
        "perception",
        "Reads the text in a picture. Answers a line for each line of text, in reading order: "
        "(x1, y1, x2, y2) text, with its box in pixels. Many languages and scripts.",
        (ToolParameter("image", "image", "The picture.", example="resources/scan.png"),),
    ),
    "pytest_gta.tools.ocr:read_text",
    reads=("image",),
    backends=(RAPIDOCR, TESSERACT),
)


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call needs, to import once."""
    return ("numpy", "rapidocr", "onnxruntime", "cv2") if engine() == "rapidocr" else ("PIL.Image",)


def engine() -> str:
    """Return what reads here: ``rapidocr``, ``tesseract`` or "" for nothing."""
    if all(importlib.util.find_spec(name) for name in ("rapidocr", "onnxruntime", "numpy")):
        return "rapidocr"
    return "tesseract" if shutil.which("tesseract") else ""


def read_text(image: str) -> str:
    """Return the lines of text in a picture, each behind its box.

    Args:
        image: The file.

    Raises:
        ToolFault: It is no picture, or there is nothing to read it with.
    """
    pages = open_pages(image, most=MOST_PAGES + 1)
    told = [_told(read_lines(flattened(page))) for page in pages[:MOST_PAGES]]
    if len(told) == 1:
        return told[0]
    marked = [f"[page {number}]\n{text}" for number, text in enumerate(told, 1)]
    if len(pages) > MOST_PAGES:
        marked.append(f"[only the first {MOST_PAGES} pages were read]")
    return "\n".join(marked)


def _told(lines: list[TextLine]) -> str:
    if not lines:
        return "No text was found in the picture."
    return "\n".join(f"({line.left}, {line.top}, {line.right}, {line.bottom}) {line.text}" for line in lines)


def read_lines(picture: Image) -> list[TextLine]:
    """Return the lines of text in an RGB picture, in reading order.

    Raises:
        ToolFault: There is nothing to read it with.
    """
    which = engine()
    if not which:
        raise ToolFault(
            "there is no OCR engine here: pip install 'pytest-gta[ocr]', or have a `tesseract` program on the PATH"
        )
    scale = min(1.0, (_MOST_PIXELS / (picture.width * picture.height)) ** 0.5)
    smaller = picture
    if scale < 1:
        smaller = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    found = _by_rapidocr(smaller) if which == "rapidocr" else _by_tesseract(smaller)
    in_order = in_reading_order([line.scaled(1 / scale) for line in found] if scale < 1 else found)
    return with_words_joined(in_order)


# -- RapidOCR ---------------------------------------------------------------------------------------------------------


def _by_rapidocr(picture: Image) -> list[TextLine]:
    import numpy as np

    pixels = np.asarray(picture)[:, :, ::-1]
    read = _rapidocr()
    lines = []
    for left, top, right, bottom in _pieces(pixels):
        result = read(_padded(pixels[top:bottom, left:right]))
        if result.txts is None or result.boxes is None:  # nothing was found
            continue
        for corners, text in zip(result.boxes, result.txts, strict=True):
            x1, y1 = np.floor(corners.min(axis=0)).astype(int).tolist()
            x2, y2 = np.ceil(corners.max(axis=0)).astype(int).tolist()
            if text.strip():
                lines.append(
                    TextLine(
                        max(0, x1) + left,
                        max(0, y1) + top,
                        min(x2, right - left) + left,
                        min(y2, bottom - top) + top,
                        text.strip(),
                    )
                )
    return lines


@functools.cache
@cache
def _rapidocr() -> Any:
    """Return the engine, made once a process; what it and its libraries say while it is made goes nowhere."""
    logging.disable(logging.CRITICAL)
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return importlib.import_module("rapidocr").RapidOCR(
            params={
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": min(threads, 4),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )


def _padded(pixels: Any) -> Any:
    """Return a small picture with a margin at the right and bottom in the colour of its rim.

    The engine enlarges small pictures until letters are so big that it takes words for lines.
    """
    import numpy as np

    height, width = pixels.shape[:2]
    margin = ((0, max(0, _LEAST_PX - height)), (0, max(0, _LEAST_PX - width)))
    if not any(after for _, after in margin):
        return np.ascontiguousarray(pixels)
    rim = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    colour = np.median(rim, axis=0).astype(pixels.dtype)
    padded = np.empty((height + margin[0][1], width + margin[1][1], 3), dtype=pixels.dtype)
    padded[:] = colour
    padded[:height, :width] = pixels
    return padded


def _pieces(pixels: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield the parts to read a picture in: left, top, right, bottom; cut where there is no writing if possible."""
    height, width = pixels.shape[:2]
    grey = pixels.mean(axis=2, dtype="float32")
    # A row without writing changes little along its way.
    rows = _cuts(abs(grey[:, 1:] - grey[:, :-1]).sum(axis=1), height)
    for top, bottom in itertools.pairwise(rows):
        band = grey[top:bottom]
        columns = _cuts(abs(band[1:] - band[:-1]).sum(axis=0), width)
        for left, right in itertools.pairwise(columns):
            yield left, top, right, bottom


def _cuts(ink: Any, length: int) -> list[int]:
    """Return where to cut a side: 0, places with little ink, its length."""
    cuts = [0]
    while length - cuts[-1] > _PIECE_PX:
        end = cuts[-1] + _PIECE_PX
        # The middle of the widest blank stretch is furthest from letters on either side.
        window = ink[end - _SEARCHED_PX : end]
        blank = window <= window.min() + 0.02 * (window.max() - window.min())
        best, best_length, run = 0, 0, 0
        for place, is_blank in enumerate(blank):
            run = run + 1 if is_blank else 0
            if run > best_length:
                best, best_length = place - run // 2, run
        cuts.append(end - _SEARCHED_PX + best)
    return [*cuts, length]


# -- tesseract --------------------------------------------------------------------------------------------------------


def _by_tesseract(picture: Image) -> list[TextLine]:
    program = shutil.which("tesseract")
    assert program is not None
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=False)  # noqa: S603
    installed = listed.stdout.split()
    languages = "+".join(["eng", *(name for name in _LANGUAGES if name in installed)])
    given = io.BytesIO()
    picture.save(given, "PNG")
    run = subprocess.run(  # noqa: S603 - the program is the user's own
        [program, "stdin", "stdout", "-l", languages, "tsv"], input=given.getvalue(), capture_output=True, check=False
    )
    if run.returncode != 0:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ToolFault(f"tesseract could not read the picture: {said[-1] if said else f'exit {run.returncode}'}")
    return tesseract_lines(run.stdout.decode("utf-8", "replace"))


def tesseract_lines(table: str) -> list[TextLine]:
    """Read tesseract's table of words as lines."""
    words: dict[tuple[str, ...], list[TextLine]] = {}
    csv.field_size_limit(sys.maxsize)
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row.get("level") != "5" or not text:
            continue
        left, top, width, height = (int(row[name]) for name in ("left", "top", "width", "height"))
        word = TextLine(left, top, left + width, top + height, text)
        key = row["block_num"], row["par_num"], row["line_num"]
        line = words.get(key)
        if line and left - line[-1].right > _WIDE_GAP * max(height, line[-1].height):
            # The cells of a table's row are lines of their own.
            words[(*key, str(len(words)))] = words.pop(key)
        words.setdefault(key, []).append(word)
    return [_joined(line) for line in words.values()]


def _joined(words: list[TextLine]) -> TextLine:
    return TextLine(
        min(word.left for word in words),
        min(word.top for word in words),
        max(word.right for word in words),
        max(word.bottom for word in words),
        " ".join(word.text for word in words),
    )
