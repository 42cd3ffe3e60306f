"""Reading the text in pictures, by RapidOCR with the models it carries or by a tesseract program."""

from __future__ import annotations

import contextlib
import csv
import importlib
import importlib.util
import io
import itertools
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.wording import plural
from pytest_gta.tools.backend import RAPIDOCR, TESSERACT
from pytest_gta.tools.pdf_scan import PdfScan, is_pdf
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
_INK = 6.0
"""How far the brightness of writing is from that of its ground at least, of 255."""
_MARGIN_PX = 40
_MOST_PIXELS = 24_000_000
_WIDE_GAP = 2.0
"""Heights of a word between two words that do not belong together."""
_WIDE_PLACE = 1.5
"""Heights that a place of writing is wide at least."""
_WORD = 3
"""Letters of a line that tell which way it runs."""
_MOST_LINES = 3
"""Lines that have to lie or stand wrong for a page to be turned."""
_AS_SURE = 0.02
_LANGUAGES = ("chi_sim", "jpn", "kor", "rus", "ara", "deu", "fra", "spa", "ita", "por")
"""Tesseract's languages besides English that are used when they are installed."""

OCR = Tool(
    ToolSpec(
        "OCR",
        "perception",
        "Reads the text in a picture. Answers a line for each line of text, in reading order: "
        "(x1, y1, x2, y2) text, with its box in pixels. Many languages and scripts. Of a PDF it reads the pages that "
        "are only pictures.",
        (ToolParameter("image", "image", "The picture, or a scanned PDF.", example="resources/scan.png"),),
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
    if is_pdf(image):
        scan = PdfScan(image)
        pages: Iterable[tuple[int, Image]] = scan.pictures(MOST_PAGES)
        count = len(scan.numbers)
    else:
        opened = open_pages(image, most=MOST_PAGES + 1)
        pages, count = enumerate(map(flattened, opened[:MOST_PAGES]), 1), len(opened)
    told = [(number, _told(read_page(page))) for number, page in pages]
    if told == [(1, told[0][1])] and count == 1:
        return told[0][1]
    marked = [f"[page {number}]\n{text}" for number, text in told]
    if count > MOST_PAGES:
        marked.append(f"[only the first {MOST_PAGES} of these pages were read]")
    return "\n".join(marked)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What was read of a picture.

    Attributes:
        lines: The lines, in reading order, with their places in the picture as it is.
        unread: How many places look like text and could not be read.
        sure: How sure the engine is of the letters, 0 to 1.
        on_head: How many places were taken for writing that stands on its head.
        turned: By how many degrees the picture was turned to be read.
    """

    lines: list[TextLine]
    unread: int = 0
    sure: float = 0.0
    on_head: int = 0
    turned: int = 0


def _told(page: ReadPage) -> str:
    told = [f"({line.left}, {line.top}, {line.right}, {line.bottom}) {line.text}" for line in page.lines]
    if not told and not page.unread:
        return "No text was found in the picture."
    if page.turned:
        how = "The page stands on its head" if page.turned == 180 else "The lines run up or down"
        told.insert(0, f"[{how}: the picture was turned to be read. The boxes are those in the file.]")
    if page.unread:
        told.append(
            f"[{plural(page.unread, 'more place' if page.lines else 'place')} may be text and could not be read; the "
            "engine here reads Latin letters, Chinese and Japanese.]"
        )
    return "\n".join(told)


def read_lines(picture: Image) -> list[TextLine]:
    """Return the lines of text in an RGB picture, in reading order.

    Raises:
        ToolFault: There is nothing to read it with.
    """
    return read_page(picture).lines


def read_page(picture: Image) -> ReadPage:
    """Read an RGB picture; one that lies on its side is turned.

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
    page = _upright(smaller) if which == "rapidocr" else _in_order(ReadPage(_by_tesseract(smaller)))
    return replace(page, lines=[line.scaled(1 / scale) for line in page.lines]) if scale < 1 else page


def _in_order(page: ReadPage) -> ReadPage:
    return replace(page, lines=with_words_joined(in_reading_order(page.lines)))


# -- RapidOCR ---------------------------------------------------------------------------------------------------------


def _upright(picture: Image) -> ReadPage:
    """Read a picture, turned if its lines run up or down or stand on their head and it reads better so."""
    page = _by_rapidocr(picture)
    lines = [line for line in page.lines if len(line.text) >= _WORD]
    sideways = sum(line.height > 1.5 * line.width for line in lines)
    if sideways >= _MOST_LINES and sideways * 2 > len(lines):
        turns: tuple[int, ...] = (90, 270)
    elif page.on_head >= _MOST_LINES and page.on_head * 2 > len(page.lines):
        turns = (180,)
    else:
        return _in_order(page)
    # The engine turns words that stand on their head, so that all copies would read the same: it is told not to.
    copies = {degrees: _by_rapidocr(picture.rotate(degrees, expand=True), turning=False) for degrees in turns}
    degrees, best = max(copies.items(), key=lambda copy: copy[1].sure)
    if best.sure < page.sure - _AS_SURE:  # columns of letters that stand upright, as in Chinese
        return _in_order(page)
    back = [_turned_back(line, degrees, picture.width, picture.height) for line in _in_order(best).lines]
    return replace(best, lines=back, turned=degrees)


def _turned_back(line: TextLine, degrees: int, width: int, height: int) -> TextLine:
    """Return a line of a picture that was turned to the left by some degrees with its place in the picture before."""
    if degrees == 90:
        box = (width - line.bottom, line.left, width - line.top, line.right)
    elif degrees == 180:
        box = (width - line.right, height - line.bottom, width - line.left, height - line.top)
    else:
        box = (line.top, height - line.right, line.bottom, height - line.left)
    return TextLine(*box, line.text)


def _by_rapidocr(picture: Image, *, turning: bool = True) -> ReadPage:
    import numpy as np

    pixels = np.asarray(picture)[:, :, ::-1]
    read = _rapidocr()
    lines, scores, seen, on_head = [], list[float](), 0, 0
    for left, top, right, bottom in _pieces(pixels):
        result = read(_padded(pixels[top:bottom, left:right]), use_cls=turning)
        seen, on_head = seen + read.seen, on_head + read.on_head
        if result.txts is None or result.boxes is None:  # nothing was found
            continue
        for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            x1, y1 = np.floor(corners.min(axis=0)).astype(int).tolist()
            x2, y2 = np.ceil(corners.max(axis=0)).astype(int).tolist()
            line = TextLine(
                max(0, x1) + left,
                max(0, y1) + top,
                min(x2, right - left) + left,
                min(y2, bottom - top) + top,
                text.strip(),
            )
            # Of letters it does not know, the engine leaves the commas between them.
            if line.width <= 4 * line.height or any(char.isalnum() for char in line.text):
                lines.append(line)
                scores.append(float(score))
                seen -= line.width > _WIDE_PLACE * line.height
    if not any(char.isalnum() for line in lines for char in line.text):
        lines = []  # dashes and dots alone are no text
    return ReadPage(lines, max(0, seen), sum(scores) / len(scores) if scores else 0.0, on_head)


@cache
def _rapidocr() -> Any:
    """Return the engine, made once a process; what it and its libraries say while it is made goes nowhere."""
    import numpy as np

    logging.disable(logging.CRITICAL)
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        usual: Any = importlib.import_module("rapidocr").RapidOCR

        class Engine(usual):  # type: ignore[misc]
            """The engine, which also says how many places look like text, and which of them it had to turn."""

            seen = on_head = 0

            def build_final_output(self, picture: Any, places: Any, ways_up: Any, *rest: Any) -> Any:
                boxes = [] if places.boxes is None else places.boxes
                # Letters make wide places; other shapes that the engine takes for writing are as high.
                self.seen = sum(
                    bool(wide > _WIDE_PLACE * high) for wide, high in (np.ptp(box, axis=0) for box in boxes)
                )
                self.on_head = sum("180" in label for label, _ in ways_up.cls_res or ())
                return super().build_final_output(picture, places, ways_up, *rest)

        return Engine(
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
            yield from _with_ink(grey, left, top, right, bottom)


def _with_ink(grey: Any, left: int, top: int, right: int, bottom: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the part of a piece that is not blank: the engine overlooks a few words on a large empty page."""
    import numpy as np

    piece = grey[top:bottom, left:right]
    ink = abs(piece - np.median(piece)) > _INK
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if len(rows):
        yield (
            max(left, left + int(columns[0]) - _MARGIN_PX),
            max(top, top + int(rows[0]) - _MARGIN_PX),
            min(right, left + int(columns[-1]) + _MARGIN_PX),
            min(bottom, top + int(rows[-1]) + _MARGIN_PX),
        )


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
