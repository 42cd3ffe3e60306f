"""Office documents as PDF: a headless LibreOffice, a start and a profile of its own for each document."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytest_gta.formats.font_packages import give_fonts
from pytest_gta.workspace.confined_program import Program, ProgramFailed, run_program

FILTERS = {
    "word": "pdf:writer_pdf_Export",
    "slides": 'pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}',
    # A sheet a page: cut into sheets of paper, a table is in pieces and its charts are anywhere.
    "sheets": 'pdf:calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}',
}
"""How each family is asked for."""

SUFFIXES = {
    "word": ("docx", "docm", "doc", "odt", "rtf"),
    "slides": ("pptx", "pptm", "ppt", "odp", "ppsx"),
    "sheets": ("xlsx", "xlsm", "xls", "ods", "xlsb"),
}
"""Suffixes under which LibreOffice knows a family; a text that a family's reader knows as well is not among them."""

MOST_BYTES = 100 * 1024**2
"""Larger documents are not drawn."""


def document_to_pdf(binary: Path, document: Path, family: str, folder: Path, *, confined: bool, seconds: float) -> Path:
    """Convert a document and return the PDF, which has the document's whole name: ``Report.docx.pdf``.

    Works on a copy: the program leaves lock files beside what it opens.

    Args:
        binary: The program.
        document: What to convert.
        family: One of `FILTERS`.
        folder: An empty folder for the copy, the program's profile and the PDF.
        confined: Whether to run it under bubblewrap.
        seconds: Time for it.

    Raises:
        ProgramFailed: When there is no PDF.
    """
    suffix = document.suffix.lower()
    if suffix.lstrip(".") not in SUFFIXES[family]:
        raise ProgramFailed(f"LibreOffice does not know a name that ends in {suffix[:12] or 'nothing'}")
    if document.stat().st_size > MOST_BYTES:
        raise ProgramFailed(f"it is larger than {MOST_BYTES // 1024**2} MB")
    copy = folder / f"document{suffix}"
    shutil.copyfile(document, copy)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [str(binary), profile, "--headless", "--norestore", "--nolockcheck", "--nologo"]
    give_fonts(folder)
    command += ["--convert-to", FILTERS[family], "--outdir", str(folder / "made"), str(copy)]
    run_program(Program("LibreOffice", tuple(command), folder, confined=confined), seconds)
    made = folder / "made" / "document.pdf"
    if made.is_symlink() or not made.is_file():
        # It ends with success also when it could not read the document.
        raise ProgramFailed("LibreOffice could not read it")
    return made.rename(folder / f"{document.name[-200:]}.pdf")
