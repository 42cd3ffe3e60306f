"""What a deck is to show: the slides a model describes, in whichever shape it describes them."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_gta.tools.document_tree import (
    Block,
    CodeBlock,
    Heading,
    Inline,
    Inlines,
    LineBreak,
    ListBlock,
    Paragraph,
    PictureBlock,
    Quote,
    Rule,
    Table,
    Text,
    plain,
)
from pytest_gta.tools.markdown_document import parse_markdown
from pytest_gta.tools.printable_text import printable
from pytest_gta.tools.slide_visuals import Chart, Picture, read_charts, read_pictures, read_tables
from pytest_gta.tools.tool import ToolFault

EXAMPLE = (
    '[{"title": "Annual review", "subtitle": "March 2026"}, '
    '{"title": "Results", "bullets": ["Revenue up 12 %", "Two new markets"], "image": "{{image_1}}", '
    '"notes": "Thank the team."}, '
    '{"title": "By region", "table": {"headers": ["Region", "Revenue"], "rows": [["North", 120], ["South", 95]]}}]'
)
_NAMES: dict[str, tuple[str, ...]] = {
    "title": ("title", "heading", "header", "slide_title", "name"),
    "subtitle": ("subtitle", "sub_title", "subheading"),
    "content": ("content", "text", "body", "paragraphs", "description", "elements", "blocks"),
    "bullets": ("bullets", "points", "bullet_points", "items", "list"),
    "left": ("left", "left_content", "left_column"),
    "right": ("right", "right_content", "right_column"),
    "columns": ("columns", "two_columns"),
    "table": ("table", "tables"),
    "chart": ("chart", "charts"),
    "images": ("image", "images", "image_path", "image_paths", "picture", "pictures", "img"),
    "notes": ("notes", "speaker_notes", "note", "speakernotes", "presenter_notes"),
    "layout": ("layout", "type", "slide_type"),
}
_KINDS = {"image": "images", "picture": "images", "img": "images", "table": "table", "chart": "chart"}
"""What an element of a slide's content may say it is, besides text, by where it goes."""
_IGNORED = frozenset(("slide", "slide_number", "number", "index", "id", "order", "page"))
_INNER = ("children", "sub_bullets", "subpoints", "items", "bullets", "points", "content")
_LAYOUTS = {
    "title": "title",
    "title slide": "title",
    "cover": "title",
    "section": "section",
    "section header": "section",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph of a slide.

    Attributes:
        content: Its text.
        level: How deep it is indented, 0 to 4.
        mark: ``bullet``, ``number`` or ``none``.
        number: Of a numbered line, what it is numbered.
    """

    content: Inlines
    level: int = 0
    mark: str = "none"
    number: int = 1


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide as described; it may take several to show.

    Attributes:
        layout: ``title``, ``section`` or ``content``.
        columns: One or two columns of lines.
    """

    title: str
    subtitle: str = ""
    layout: str = "content"
    columns: tuple[tuple[Line, ...], ...] = ()
    tables: tuple[Table, ...] = ()
    visuals: tuple[Picture | Chart, ...] = ()
    notes: str = ""


def read_slides(value: Any) -> tuple[list[Slide], list[str]]:
    """Return the slides that a tool's argument describes.

    Args:
        value: A list of slides, an object with ``slides``, JSON text of either, or markdown in which ``---`` or a
            heading starts a slide.

    Returns:
        The slides, and a sentence for each thing in the description that was not used.

    Raises:
        ToolFault: When it is none of these; the message has an example.
    """
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("slides", "slides_content", "pages") if key in value), [value])
    if not isinstance(value, list) or not value:
        raise ToolFault(f"slides_content_str must be a JSON list with a slide an object. For example: {EXAMPLE}")
    notes: list[str] = []
    slides = [_slide(entry, number, notes) for number, entry in enumerate(value, start=1)]
    if slides[0].layout == "content" and _is_cover(slides[0]) and len(slides) > 1:
        slides[0] = replace(slides[0], layout="title")
    return slides, notes


def _from_text(text: str) -> Any:
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.split("\n", 1)[-1].rsplit("```", 1)[0].strip() if "\n" in stripped else stripped
    try:
        value = json.loads(stripped, strict=False)
    except json.JSONDecodeError as error:
        if stripped[:1] in "[{":
            # Python's own notation (single quotes, None, True) is a common slip.
            with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return ast.literal_eval(stripped)
            around = stripped[max(0, error.pos - 30) : error.pos + 30]
            raise ToolFault(
                f"slides_content_str is not valid JSON: {error.msg} at character {error.pos}, near {around!r}. "
                f"For example: {EXAMPLE}"
            ) from None
        return _from_markdown(stripped)
    except RecursionError:
        raise ToolFault("slides_content_str is nested too deep.") from None
    return _from_text(value) if isinstance(value, str) and value != text else value


def _from_markdown(text: str) -> list[dict[str, Any]]:
    """Split markdown into slides at rules and at headings of the two top levels."""
    slides: list[dict[str, Any]] = []
    current: list[Block] = []
    title = ""

    def finish() -> None:
        nonlocal title, current
        if title or current:
            slides.append({"title": title, "content": current})
        title, current = "", []

    for block in parse_markdown(text).blocks:
        if isinstance(block, Rule):
            finish()
        elif isinstance(block, Heading) and block.level <= 2:
            finish()
            title = plain(block.content)
        else:
            current.append(block)
    finish()
    return slides


def _slide(entry: Any, number: int, notes: list[str]) -> Slide:
    if isinstance(entry, str):
        found = _from_markdown(entry)
        entry = found[0] if len(found) == 1 else {"content": entry}
    if not isinstance(entry, Mapping):
        shown = json.dumps(entry, ensure_ascii=False, default=str)[:80]
        raise ToolFault(f"slide {number} must be an object, and {shown} is not. For example: {EXAMPLE}")
    given = _sorted(_by_name(entry, number, notes))
    columns, tables, visuals = [], list[Table](), list[Picture | Chart]()
    sides = given.get("columns")
    if isinstance(sides, list) and len(sides) == 2:
        given["left"], given["right"] = sides
    main = [*_lines(given.get("content"), False), *_lines(given.get("bullets"), True)]
    for parts in ([*main, *_lines(_side(given.get("left")), True)], _lines(_side(given.get("right")), True)):
        lines = [part for part in parts if isinstance(part, Line)]
        columns.append(tuple([_as_label(lines[0]), *lines[1:]] if lines else ()))
        tables.extend(part for part in parts if isinstance(part, Table))
        visuals.extend(part for part in parts if isinstance(part, Picture))
    tables.extend(read_tables(given.get("table"), number))
    visuals.extend(read_charts(given.get("chart"), number))
    visuals.extend(read_pictures(given.get("images"), number))
    title = _words(given.get("title"))
    return Slide(
        title=title,
        subtitle=_words(given.get("subtitle")),
        layout=_LAYOUTS.get(_words(given.get("layout")).lower().replace("_", " "), "content"),
        columns=tuple(columns) if columns[1] else (columns[0],),
        tables=tuple(tables),
        visuals=tuple(dict.fromkeys(visuals)),
        notes=_notes_text(given.get("notes")),
    )


def _by_name(entry: Mapping[Any, Any], number: int, notes: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    unknown = []
    for key, value in entry.items():
        word = str(key).strip().lower().replace(" ", "_").replace("-", "_")
        name = next((name for name, words in _NAMES.items() if word in words), None)
        if name is None:
            unknown += [] if word in _IGNORED else [str(key)]
        elif name in given and isinstance(given[name], list) and isinstance(value, list):
            given[name] = [*given[name], *value]
        elif value not in (None, "", [], {}):
            given[name] = value
    if unknown:
        notes.append(
            f"Slide {number}: {', '.join(map(repr, unknown[:5]))} was not used; a slide takes title, subtitle, "
            "content, bullets, left, right, table, chart, image, notes, layout."
        )
    return given


def _sorted(given: dict[str, Any]) -> dict[str, Any]:
    """Return a slide whose content no longer has the pictures, tables and charts: they stand where those go."""
    content = given.get("content")
    if not isinstance(content, list):
        return given
    sorted_ = {**given, "content": []}
    for part in content:
        place = _KINDS.get(str(part.get("type", "")).strip().lower()) if isinstance(part, Mapping) else None
        if place is None:
            sorted_["content"].append(part)
            continue
        there = sorted_.get(place, [])
        inner = part.get(place.removesuffix("s"), part)
        sorted_[place] = [*(there if isinstance(there, list) else [there]), inner]
    return sorted_


def _side(value: Any) -> Any:
    """Return a column that is an object with a title as a list that starts with it."""
    if isinstance(value, Mapping):
        title = next((value[key] for key in ("title", "heading", "header") if isinstance(value.get(key), str)), None)
        inner = next((value[key] for key in _INNER if isinstance(value.get(key), list)), None)
        if title and inner is not None:
            return [f"**{title}**", *inner]
    return value


def _as_label(line: Line) -> Line:
    """Return a first line that is all bold without its bullet: it names the list under it."""
    bold = all(isinstance(part, Text) and part.bold for part in line.content)
    return replace(line, mark="none") if bold and line.mark == "bullet" else line


def _is_cover(slide: Slide) -> bool:
    lines = slide.columns[0] if slide.columns else ()
    short = sum(len(plain(line.content)) for line in lines) <= 160 and len(lines) <= 3
    return (
        bool(slide.title)
        and not slide.tables
        and not slide.visuals
        and len(slide.columns) == 1
        and short
        and (all(line.mark == "none" for line in lines))
    )


def _words(value: Any) -> str:
    if value is None or isinstance(value, Mapping):
        return ""
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return (
        " ".join(
            plain(block.content) for block in parse_markdown(text).blocks if isinstance(block, Heading | Paragraph)
        )
        or printable(text).strip()
    )


def _notes_text(value: Any) -> str:
    if isinstance(value, list):
        return printable("\n".join(map(str, value)))
    return printable(str(value)) if value is not None else ""


def _lines(value: Any, bulleted: bool, level: int = 0) -> list[Line | Table | Picture]:
    """Return what a slide's text holds: markdown, a list of it, nested lists, or ``{"text", "children"}`` objects."""
    if value is None:
        return []
    if isinstance(value, list):
        if value and all(
            isinstance(part, Heading | Paragraph | ListBlock | Table | CodeBlock | Quote | PictureBlock | Rule)
            for part in value
        ):
            return list(_from_blocks(value, level))
        parts: list[Line | Table | Picture] = []
        for part in value:
            # A list right after a text is what belongs under it.
            deeper = level + 1 if isinstance(part, list) and parts else level
            parts.extend(_lines(part, True, min(deeper, 4)))
        return parts
    if isinstance(value, Mapping):
        return _from_object(value, level)
    blocks = parse_markdown(str(value)).blocks
    parts = list(_from_blocks(blocks, level))
    if bulleted:
        parts = [
            replace(part, mark="bullet") if isinstance(part, Line) and part.mark == "none" else part for part in parts
        ]
    return parts


def _from_object(value: Mapping[Any, Any], level: int) -> list[Line | Table | Picture]:
    text = next(
        (value[key] for key in ("text", "content", "title", "heading", "point", "bullet") if key in value), None
    )
    children = next((value[key] for key in _INNER if key in value), None)
    own = value.get("level")
    level = min(max(own, 0), 4) if isinstance(own, int) and not isinstance(own, bool) else level
    if text is None and children is None:
        return [
            line
            for key, inner in value.items()
            for line in _lines(f"**{key}:** {inner}" if not isinstance(inner, list | dict) else str(key), True, level)
            + (_lines(inner, True, min(level + 1, 4)) if isinstance(inner, list | dict) else [])
        ]
    return _lines(text, True, level) + _lines(children, True, min(level + 1, 4))


def _from_blocks(blocks: Sequence[Block], level: int) -> Iterator[Line | Table | Picture]:
    for block in blocks:
        if isinstance(block, Heading):
            yield Line(
                tuple(replace(part, bold=True) if isinstance(part, Text) else part for part in block.content), level
            )
        elif isinstance(block, Paragraph):
            yield from (Line(content, level) for content in _at_line_ends(block.content))
        elif isinstance(block, ListBlock):
            yield from _list_lines(block, level)
        elif isinstance(block, Quote):
            for part in _from_blocks(block.blocks, level):
                yield replace(part, content=_in_italics(part.content)) if isinstance(part, Line) else part
        elif isinstance(block, CodeBlock):
            yield from (Line((Text(line.replace(" ", "\u00a0"), code=True),), level) for line in block.text.split("\n"))
        elif isinstance(block, PictureBlock):
            yield Picture(block.source, block.alt)
        elif isinstance(block, Table):
            yield block


def _list_lines(block: ListBlock, level: int) -> Iterator[Line | Table | Picture]:
    for number, item in enumerate(block.items, start=block.start):
        inner = list(_from_blocks(item.blocks[:1], level))
        mark = "number" if block.ordered else "bullet"
        done = {None: "", True: "☑ ", False: "☐ "}[item.checked]
        for index, part in enumerate(inner):
            if isinstance(part, Line) and part.mark == "none":
                first = index == 0
                content = (Text(done), *part.content) if first and done else part.content
                yield replace(part, content=content, mark=mark if first else "none", number=number)
            else:
                yield part
        for part in _from_blocks(item.blocks[1:], min(level + 1, 4)):
            yield part


def _at_line_ends(content: Inlines) -> Iterator[Inlines]:
    line: list[Inline] = []
    for part in content:
        if isinstance(part, LineBreak):
            if line:
                yield tuple(line)
            line = []
        else:
            line.append(part)
    if line:
        yield tuple(line)


def _in_italics(content: Inlines) -> Inlines:
    return tuple(replace(part, italic=True) if isinstance(part, Text) else part for part in content)
