"""The tools that write documents: Word, PDF, slides, web pages."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

if TYPE_CHECKING:
    from pytest_gta.tools.document_tree import Document
    from pytest_gta.tools.picture_sources import PictureSources

PRELOAD = ("docx", "pptx", "reportlab.platypus", "markdown_it", "PIL.Image")

_T = TypeVar("_T")

FILENAME = ToolParameter(
    "filename",
    "text",
    "Name of the file, with or without its suffix; may have folders. A file of this name that you made earlier is "
    "replaced; inputs never are.",
    example="report",
)
OUTPUT_DIR = ToolParameter(
    "output_dir", "text", "Folder of the workspace to write to; the workspace itself unless given.", optional=True
)
_IMAGE_PATHS = ToolParameter(
    "image_paths",
    "text",
    "Pictures to place, as a list or as text with commas: chart.png, photo.jpg. {{image_1}} in the text is where the "
    "first goes, {{image_2}} the second; any picture without a place follows at the end.",
    optional=True,
    default="",
    example=["chart.png"],
    lists=True,
)
_CONTENT = ToolParameter(
    "content",
    "text",
    "The whole text, in markdown: # headings, nested lists, tables, **bold**, links, code, > quotes, "
    "![caption](picture.png). All of it in this one call.",
    example="# Report\n\nRevenue grew by **12 %**.\n\n| Region | Revenue |\n|---|---:|\n| North | 120 |\n\n{{image_1}}",
)
_RENDER_MARKDOWN = ToolParameter(
    "render_markdown",
    "bool",
    "Whether markdown in the text becomes formatting (true unless given). false writes it letter for letter.",
    optional=True,
    default=True,
)

DOCX_FILE_GENERATOR = Tool(
    ToolSpec(
        "DocxFileGenerator",
        "operation",
        "Writes a Word document (.docx): markdown becomes real headings, lists, tables, links and captions; pages are "
        "numbered. Any script. Returns the file's path and says what could not be done.",
        (FILENAME, _CONTENT, _IMAGE_PATHS, OUTPUT_DIR, _RENDER_MARKDOWN),
    ),
    "pytest_gta.tools.document_files:write_docx_file",
    writes=".docx",
)
PDF_FILE_GENERATOR = Tool(
    ToolSpec(
        "PdfFileGenerator",
        "operation",
        "Writes a PDF: markdown becomes headings with bookmarks, lists, tables that repeat their header over pages, "
        "links and captions; pages are numbered. Any script this machine has a font for; characters without one are "
        "named in the answer. Returns the file's path.",
        (FILENAME, _CONTENT, _IMAGE_PATHS, OUTPUT_DIR, _RENDER_MARKDOWN),
    ),
    "pytest_gta.tools.document_files:write_pdf_file",
    writes=".pdf",
)
PPTX_FILE_GENERATOR = Tool(
    ToolSpec(
        "PptxFileGenerator",
        "operation",
        "Writes a PowerPoint deck (.pptx), 16:9. Give a list of slides; each is an object that may have: title, "
        "subtitle, content (text or markdown), bullets (a list, nested for sub-points), left and right (two columns), "
        'table ({"headers": [...], "rows": [[...]]}), chart ({"type": "column|bar|line|pie|area", "categories": [...], '
        '"series": [{"name": "...", "values": [...]}]}), image ("{{image_1}}" or a path, or a list of them), notes '
        "(for the speaker), layout (title or section for a cover). Text gets the largest size that fits and goes on, "
        "on a (continued) slide, when it is too long; nothing overlaps. Returns the file's path and the slide count.",
        (
            FILENAME,
            ToolParameter(
                "slides_content_str",
                "text",
                'The slides: a JSON list, e.g. [{"title": "Results", "bullets": ["Up 12 %", "Two new markets"], '
                '"image": "{{image_1}}", "notes": "Thank the team."}]. Markdown with a heading or --- for each slide '
                "is taken too.",
                example=[{"title": "Results", "bullets": ["Up 12 %", "Two new markets"], "notes": "Thank the team."}],
                lists=True,
            ),
            _IMAGE_PATHS,
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.document_files:write_pptx_file",
    writes=".pptx",
)
HTML_FILE_GENERATOR = Tool(
    ToolSpec(
        "HtmlFileGenerator",
        "operation",
        "Writes a web page (.html, UTF-8). A whole page is kept as it is; a fragment or markdown becomes a whole page "
        "with charset, title, viewport and a readable style. Also writes what belongs to a page: a name ending in "
        ".css, .js, .svg or .json keeps it. Returns the file's path and names what the page refers to and is missing, "
        "and what it loads from the web.",
        (
            FILENAME,
            ToolParameter(
                "html_code",
                "text",
                "The code, with or without a ``` fence around it. All of it in this one call.",
                example="<h1>Report</h1>\n<p>Revenue grew by <b>12&nbsp;%</b>.</p>",
            ),
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.document_files:write_html_file",
    writes=".html",
    writes_also=(".htm", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".xhtml", ".txt", ".md"),
)
TOOLS = (DOCX_FILE_GENERATOR, PDF_FILE_GENERATOR, PPTX_FILE_GENERATOR, HTML_FILE_GENERATOR)
"""The tools of this module."""


def write_docx_file(target: str, content: str, image_paths: Any = "", render_markdown: bool = True) -> dict[str, Any]:
    """Write a Word document in the current folder, which is the workspace.

    Raises:
        ToolFault: The text is empty or `image_paths` is no list of names.
    """
    from pytest_gta.tools.word_writer import write_word

    document, notes = _parsed(content, render_markdown)
    pictures = _pictures(image_paths)
    replaced, _ = written(target, lambda path: write_word(path, document, pictures, title=Path(target).stem))
    return answer(target, replaced, "", [*pictures.notes, *notes])


def write_pdf_file(target: str, content: str, image_paths: Any = "", render_markdown: bool = True) -> dict[str, Any]:
    """Write a PDF in the current folder, which is the workspace.

    Raises:
        ToolFault: The text is empty or `image_paths` is no list of names.
    """
    from pytest_gta.tools.pdf_writer import write_pdf

    document, notes = _parsed(content, render_markdown)
    pictures = _pictures(image_paths)
    replaced, (pages, faults) = written(
        target, lambda path: write_pdf(path, document, pictures, title=Path(target).stem)
    )
    return answer(target, replaced, f"{pages} page{'s' * (pages != 1)}", [*pictures.notes, *notes, *faults])


def write_pptx_file(target: str, slides_content_str: Any, image_paths: Any = "") -> dict[str, Any]:
    """Write a deck in the current folder, which is the workspace.

    Raises:
        ToolFault: The slides are in no known shape or `image_paths` is no list of names.
    """
    from pytest_gta.tools.slide_outline import read_slides
    from pytest_gta.tools.slides_writer import write_slides

    slides, unused = read_slides(slides_content_str)
    pictures = _pictures(image_paths)
    replaced, (count, continued) = written(target, lambda path: write_slides(path, slides, pictures))
    facts = f"{count} slide{'s' * (count != 1)}"
    return answer(target, replaced, facts, [*pictures.notes, *unused, *continued])


def write_html_file(target: str, html_code: str) -> dict[str, Any]:
    """Write a page, or a file that belongs to one, in the current folder, which is the workspace.

    Raises:
        ToolFault: The code is empty.
    """
    from pytest_gta.tools.html_writer import write_html

    if not html_code.strip():
        raise ToolFault("html_code is empty; give the page's code")
    path = Path(target)
    replaced = path.exists()
    return answer(target, replaced, "", write_html(path, html_code))


def written(target: str, write: Callable[[Path], _T]) -> tuple[bool, _T]:
    """Have a file written whole or not at all; return whether it replaced one, and what `write` returned."""
    path = Path(target)
    replaced = path.exists()
    with tempfile.TemporaryDirectory(prefix=".gta-", dir=path.parent, ignore_cleanup_errors=True) as folder:
        draft = Path(folder) / path.name
        result = write(draft)
        draft.replace(path)
    return replaced, result


def answer(target: str, replaced: bool, facts: str, notes: Iterable[str]) -> dict[str, Any]:
    """Return a tool's result: where the file is, what it is, and a line for each thing to know."""
    size = Path(target).stat().st_size
    shown = f"{size / 1024:,.0f} kB" if size >= 1024 else f"{size} bytes"
    what = ", ".join(part for part in (facts, shown) if part)
    first = f"Saved {target} ({what}){', in place of the earlier file of this name' if replaced else ''}."
    return {"text": "\n".join([first, *(f"- {note}" for note in dict.fromkeys(notes))]), "files": [target]}


def _parsed(content: str, render_markdown: bool) -> tuple[Document, list[str]]:
    from pytest_gta.tools.markdown_document import looks_like_markdown, parse_markdown, parse_plain

    if not content.strip():
        raise ToolFault("content is empty; give the whole text of the document, in markdown")
    if render_markdown:
        return parse_markdown(content), []
    if looks_like_markdown(content):
        return parse_plain(content), [
            "The text has markdown in it, which stands there letter for letter, since render_markdown is false."
        ]
    return parse_plain(content), []


def _pictures(image_paths: Any) -> PictureSources:
    from pytest_gta.tools.picture_sources import PictureSources, split_image_paths
    from pytest_gta.workspace.workspace import PathRefused, Workspace

    here = Path.cwd()
    # Bare names of files in folders are found, as everywhere.
    workspace = Workspace.open(here, tuple(Workspace.open(here, ()).files()))

    def exists(name: str) -> bool:
        try:
            workspace.resolve(name)
        except PathRefused:
            return False
        return True

    try:
        names = split_image_paths(image_paths, exists)
    except ValueError as fault:
        raise ToolFault(str(fault)) from None
    return PictureSources(names, workspace.resolve)
