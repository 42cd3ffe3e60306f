"""Ways to spoil a deliverable. Each changes one file of a folder, and raises `EditFault` when there is nothing to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Edit = Callable[[Path], None]
"""Changes one file in the folder it is given."""

TIDES = (
    "How tides come about",
    "The Moon pulls on the ocean, and the water rises on the side that faces it and on the far side.",
    "As the Earth turns, a coast passes both bulges, so most places see two high tides a day.",
    "Near new and full moon the Sun pulls along the same line, and the range is greatest.",
)
"""What a deliverable of the right name holds when it holds something else."""


class EditFault(Exception):
    """What an edit was to change is not there: the reference deliverable has changed."""


def emptied(name: str) -> Edit:
    """Leave the file with no byte in it."""

    def edit(folder: Path) -> None:
        _existing(folder, name).write_bytes(b"")

    return edit


def replaced(name: str, *pairs: tuple[str, str]) -> Edit:
    """Replace texts in a text file."""

    def edit(folder: Path) -> None:
        path = _existing(folder, name)
        text = _text(path)
        for old, new in pairs:
            if old not in text:
                raise EditFault(f"{name} does not hold {old!r}")
            text = text.replace(old, new)
        path.write_bytes(text.encode())

    return edit


def matched(name: str, pattern: str, change: str | Callable[[re.Match[str]], str]) -> Edit:
    """Replace all that matches a pattern in a text file; the dot matches line ends as well."""

    def edit(folder: Path) -> None:
        path = _existing(folder, name)
        text, changes = re.subn(pattern, change, _text(path), flags=re.DOTALL)
        if not changes:
            raise EditFault(f"{name} holds nothing like {pattern!r}")
        path.write_bytes(text.encode())

    return edit


def json_changed(name: str, change: Callable[[Any], Any]) -> Edit:
    """Replace what a JSON file holds."""

    def edit(folder: Path) -> None:
        path = _existing(folder, name)
        path.write_text(json.dumps(change(json.loads(path.read_text("utf-8"))), indent=2), "utf-8")

    return edit


def word_replaced(name: str, *pairs: tuple[str, str]) -> Edit:
    """Replace texts in the paragraphs of a Word file."""

    def edit(folder: Path) -> None:
        import docx

        path = _existing(folder, name)
        document = docx.Document(str(path))
        for old, new in pairs:
            found = [paragraph for paragraph in document.paragraphs if old in paragraph.text]
            if not found:
                raise EditFault(f"{name} does not hold {old!r}")
            for paragraph in found:
                paragraph.text = paragraph.text.replace(old, new)
        document.save(str(path))

    return edit


def other_content(name: str) -> Edit:
    """Replace a file by one of its kind that is about something else."""

    def edit(folder: Path) -> None:
        path = _existing(folder, name)
        _WRITERS.get(path.suffix, _write_text)(path)

    return edit


def _existing(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise EditFault(f"there is no {name}")
    return path


def _text(path: Path) -> str:
    """Return a text with its line ends as they are."""
    return path.read_bytes().decode()


def _write_text(path: Path) -> None:
    path.write_text("\n\n".join(TIDES) + "\n", "utf-8")


def _write_csv(path: Path) -> None:
    path.write_text("harbour,high_tide,low_tide\nDover,6.8,0.8\nBrest,7.0,1.1\nHamburg,3.9,0.3\n", "utf-8")


def _write_html(path: Path) -> None:
    title, *rest = TIDES
    body = "\n".join(f"<p>{text}</p>" for text in rest)
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n",
        "utf-8",
    )


def _write_word(path: Path) -> None:
    import docx

    document = docx.Document()
    document.add_heading(TIDES[0], 0)
    for text in TIDES[1:]:
        document.add_paragraph(text)
    document.save(str(path))


def _write_workbook(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("Harbour", "High tide, m"), ("Dover", 6.8), ("Brest", 7.0), ("Hamburg", 3.9)):
        book.active.append(row)
    book.active.title = "Tides"
    book.save(path)


def _write_pdf(path: Path) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    flow = [Paragraph(TIDES[0], styles["Title"]), *(Paragraph(text, styles["BodyText"]) for text in TIDES[1:])]
    SimpleDocTemplate(str(path), title=TIDES[0]).build(flow)


_WRITERS: dict[str, Callable[[Path], None]] = {
    ".csv": _write_csv,
    ".html": _write_html,
    ".docx": _write_word,
    ".xlsx": _write_workbook,
    ".pdf": _write_pdf,
}
