"""Slides written as a PowerPoint file: nothing overlaps, nothing leaves the slide, what is too long goes on."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_gta.tools.column_widths import column_shares
from pytest_gta.tools.document_tree import Inlines, Table, Text, plain
from pytest_gta.tools.picture_sources import LoadedPicture, PictureSources
from pytest_gta.tools.slide_charts import add_chart
from pytest_gta.tools.slide_design import (
    BODY,
    LAYOUTS,
    NAVY,
    TITLE,
    WHITE,
    WIDTH,
    add_slide_number,
    colour,
    new_deck,
    place,
)
from pytest_gta.tools.slide_outline import Line, Slide
from pytest_gta.tools.slide_text import INSET, Box, add_caption, write_lines, write_runs
from pytest_gta.tools.slide_visuals import Chart, Picture
from pytest_gta.tools.text_fit import LEADING, fitting_size, line_count, split_lines, text_height

_SIZES = (24.0, 22.0, 20.0, 18.0, 16.0)
_SPLIT_SIZE = 16.0
_TABLE_SIZES = (16.0, 14.0, 12.0, 11.0)
_SPLIT_TABLE_SIZE = 12.0
_GAP = 18.0
_MOST_VISUALS = 6
_PER_PIXEL = 0.75


@dataclass(frozen=True, slots=True)
class _Page:
    """What one slide of the file shows."""

    columns: tuple[tuple[Line, ...], ...] = ()
    size: float = _SPLIT_SIZE
    table: Table | None = None
    table_size: float = 12.0
    visuals: tuple[LoadedPicture | Chart, ...] = ()
    captions: tuple[str, ...] = ()


def write_slides(target: Path, slides: Sequence[Slide], pictures: PictureSources) -> tuple[int, list[str]]:
    """Write a deck as pptx.

    Text gets the largest size that fits; what does not fit at 16 points goes on, on a slide with the same title and
    "(continued)". Pictures and charts stand beside or below the text, tables keep their header row on every slide.
    Images given and not placed follow at the end.

    Returns:
        How many slides the file has, and a sentence for each slide that had to be continued.

    Raises:
        OSError: The file cannot be written.
    """
    writer = _SlidesWriter(pictures)
    used: list[str] = []
    for slide in slides:
        used.extend(part.source for part in slide.visuals if isinstance(part, Picture))
        writer.add(slide)
    for name in pictures.unplaced(used):
        if pictures.find(name):
            writer.add(Slide(Path(name).stem.replace("_", " "), visuals=(Picture(name),)))
    writer.save(target, slides[0].title if slides else "")
    return writer.count, writer.notes


class _SlidesWriter:
    def __init__(self, pictures: PictureSources) -> None:
        self._deck = new_deck()
        self._pictures = pictures
        self.count = 0
        self.notes: list[str] = []

    def save(self, target: Path, title: str) -> None:
        properties = self._deck.core_properties
        properties.title, properties.author, properties.comments = title[:250], "", ""
        properties.created = properties.modified = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
        self._deck.save(str(target))

    def add(self, slide: Slide) -> None:
        """Add a slide, and those it is continued on."""
        if slide.layout in ("title", "section") and not slide.tables and not slide.visuals:
            self._add_cover(slide)
            return
        pages = self._pages(slide)
        for index, page in enumerate(pages):
            title = slide.title if index == 0 else f"{slide.title} (continued)" if slide.title else "(continued)"
            written = self._add_page(title, page)
            if index == 0 and slide.notes:
                written.notes_slide.notes_text_frame.text = slide.notes
        if len(pages) > 1:
            self.notes.append(f"{slide.title or 'A slide'!r} did not fit one slide and takes {len(pages)}.")

    # -- what goes on which slide ------------------------------------------------------------------------------------

    def _pages(self, slide: Slide) -> list[_Page]:
        lead = Line((Text(slide.subtitle, bold=True),)) if slide.subtitle else None
        columns = [list(column) for column in slide.columns] or [[]]
        if lead:
            columns[0].insert(0, lead)
        visuals, captions = self._load(slide.visuals)
        tables = list(slide.tables)
        pages: list[_Page] = []
        has_text = any(columns)
        if has_text and len(tables) == 1 and not visuals and len(columns) == 1:
            together = self._text_over_table(columns[0], tables[0])
            if together:
                return [together]
        beside = visuals[:3] if has_text and not tables and len(columns) == 1 else ()
        if has_text:
            pages.extend(_text_pages(columns, bool(beside)))
            if beside:
                pages[0] = replace(pages[0], visuals=beside, captions=captions[:3])
        for table in tables:
            pages.extend(_table_pages(table))
        left, words = visuals[len(beside) :], captions[len(beside) :]
        for start in range(0, len(left), _MOST_VISUALS):
            end = start + _MOST_VISUALS
            pages.append(_Page(visuals=left[start:end], captions=words[start:end]))
        return pages or [_Page()]

    def _load(self, parts: Sequence[Picture | Chart]) -> tuple[tuple[LoadedPicture | Chart, ...], tuple[str, ...]]:
        found: list[tuple[LoadedPicture | Chart, str]] = []
        for part in parts:
            if isinstance(part, Chart):
                found.append((part, ""))
            elif (loaded := self._pictures.find(part.source)) is not None:
                found.append((loaded, part.caption))
        return tuple(part for part, _ in found), tuple(caption for _, caption in found)

    def _text_over_table(self, lines: list[Line], table: Table) -> _Page | None:
        for size in _SIZES[1:]:
            room = BODY[3] - text_height(lines, size, BODY[2] - 2 * INSET) - _GAP
            for table_size in _TABLE_SIZES:
                if sum(_row_heights(table, table_size)) <= room:
                    return _Page((tuple(lines),), size, table, table_size)
        return None

    # -- one slide ---------------------------------------------------------------------------------------------------

    def _new(self, layout: str, title: str, *, light: bool = False) -> Any:
        slide = self._deck.slides.add_slide(self._deck.slide_layouts[LAYOUTS[layout]])
        self.count += 1
        if slide.shapes.title is not None:
            if title:
                frame = slide.shapes.title.text_frame
                frame.word_wrap = True
                sizes = (40.0, 36.0, 32.0, 28.0, 24.0) if light else (30.0, 26.0, 22.0, 18.0)
                width, height = (WIDTH - 200, 150.0) if light else TITLE[2:]
                line = Line((Text(title),))
                size = fitting_size([line], width - 2 * INSET, height - 4, sizes) or sizes[-1]
                write_lines(frame, [line], size, colour_of=WHITE if light else "")
            else:
                slide.shapes.title._element.getparent().remove(slide.shapes.title._element)
        return slide

    def _add_cover(self, slide: Slide) -> None:
        from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

        written = self._new(slide.layout, slide.title, light=True)
        lines = [line for column in slide.columns for line in column]
        if slide.subtitle:
            lines.insert(0, Line((Text(slide.subtitle),)))
        body = next(shape for shape in written.placeholders if shape.placeholder_format.idx == 1)
        if written.shapes.title is not None:
            place(written.shapes.title, (100, 130, WIDTH - 200, 150))
            written.shapes.title.text_frame.vertical_anchor = MSO_ANCHOR.BOTTOM
            for paragraph in written.shapes.title.text_frame.paragraphs:
                paragraph.alignment = PP_ALIGN.CENTER
        if lines:
            place(body, (130, 298, WIDTH - 260, 150))
            size = fitting_size(lines, WIDTH - 260 - 2 * INSET, 150, (22.0, 20.0, 18.0, 16.0, 14.0)) or 12.0
            write_lines(body.text_frame, lines, size, colour_of="D9E2F3")
            body.text_frame.vertical_anchor = MSO_ANCHOR.TOP
            for paragraph in body.text_frame.paragraphs:
                paragraph.alignment = PP_ALIGN.CENTER
        else:
            body._element.getparent().remove(body._element)
        if slide.notes:
            written.notes_slide.notes_text_frame.text = slide.notes

    def _add_page(self, title: str, page: _Page) -> Any:
        has_text = any(page.columns)
        layout = "bare" if not has_text else "columns" if len(page.columns) == 2 else "content"
        slide = self._new(layout, title)
        left, top, width, height = BODY
        if has_text and len(page.columns) == 2:
            half = (width - _GAP) / 2
            for index, column in enumerate(page.columns):
                self._fill(slide, index + 1, column, page.size, (left + index * (half + _GAP), top, half, height))
            _drop_empty(slide)
        elif has_text:
            box = (left, top, width, height)
            if page.visuals:
                box = (left, top, width * 0.52 - _GAP, height)
            elif page.table is not None:
                box = (left, top, width, text_height(page.columns[0], page.size, width - 2 * INSET) + 6)
            self._fill(slide, 1, page.columns[0], page.size, box)
        if page.visuals:
            room = (left + width * 0.52, top, width * 0.48, height) if has_text else (left, top, width, height)
            self._place_visuals(slide, page.visuals, page.captions, room)
        if page.table is not None:
            above = text_height(page.columns[0], page.size, width - 2 * INSET) + _GAP if has_text else 0.0
            _add_table(slide, page.table, page.table_size, (left, top + above, width, height - above))
        add_slide_number(slide)
        return slide

    def _fill(self, slide: Any, index: int, lines: Sequence[Line], size: float, box: Box) -> None:
        shape = next(shape for shape in slide.placeholders if shape.placeholder_format.idx == index)
        place(shape, box)
        if lines:
            write_lines(shape.text_frame, lines, size)

    def _place_visuals(
        self, slide: Any, visuals: Sequence[LoadedPicture | Chart], captions: Sequence[str], room: Box
    ) -> None:
        from pptx.util import Pt

        for visual, caption, cell in zip(visuals, captions, _grid(visuals, room), strict=True):
            left, top, width, height = cell
            under = 22.0 if caption else 0.0
            if isinstance(visual, Chart):
                add_chart(slide, visual, cell)
                continue
            wide, high = visual.size_within(width, height - under, per_pixel=2 * _PER_PIXEL)
            x, y = left + (width - wide) / 2, top + (height - under - high) / 2
            shape = slide.shapes.add_picture(io.BytesIO(visual.data), Pt(x), Pt(y), Pt(wide), Pt(high))
            shape._element.nvPicPr.cNvPr.set("descr", caption or Path(visual.name).stem)
            if caption:
                add_caption(slide, caption, (left, y + high + 2, width, 20))


def _text_pages(columns: list[list[Line]], beside: bool) -> list[_Page]:
    full = BODY[2] - 2 * INSET
    height = BODY[3] - 8
    if len(columns) == 2:
        width = (BODY[2] - _GAP) / 2 - 2 * INSET
        sizes = [fitting_size(column, width, height, _SIZES) for column in columns]
        if all(sizes):
            return [_Page(tuple(tuple(column) for column in columns), min(size for size in sizes if size))]
        parts = [split_lines(column, _SPLIT_SIZE, width, height) for column in columns]
        count = max(len(part) for part in parts)
        return [
            _Page(tuple(tuple(part[index]) if index < len(part) else () for part in parts), _SPLIT_SIZE)
            for index in range(count)
        ]
    lines = columns[0]
    width = BODY[2] * 0.52 - _GAP - 2 * INSET if beside else full
    size = fitting_size(lines, width, height, _SIZES)
    if size:
        return [_Page((tuple(lines),), size)]
    groups = split_lines(lines, _SPLIT_SIZE, width, height)
    if beside and len(groups) > 1:
        # The picture is on the first slide only: what follows has the whole width.
        rest = [line for group in groups[1:] for line in group]
        groups = [groups[0], *split_lines(rest, _SPLIT_SIZE, full, height)]
    return [_Page((tuple(group),), _SPLIT_SIZE) for group in groups]


def _shares(table: Table, size: float) -> list[float]:
    rows = [[plain(cell) for cell in row] for row in (table.header, *table.rows)]
    return column_shares(rows, BODY[2] / (size * 0.58))


def _row_heights(table: Table, size: float) -> list[float]:
    rows = (table.header, *table.rows)
    shares = _shares(table, size)
    heights = []
    for row in rows:
        lines = [line_count(plain(cell), size, share * BODY[2] - 16) for cell, share in zip(row, shares, strict=True)]
        heights.append(max(lines, default=1) * size * LEADING + 9)
    return heights


def _table_pages(table: Table) -> list[_Page]:
    for size in _TABLE_SIZES:
        if sum(_row_heights(table, size)) <= BODY[3]:
            return [_Page(table=table, table_size=size)]
    size = _SPLIT_TABLE_SIZE if len(table.header) <= 8 else 9.0
    head, *heights = _row_heights(table, size)
    pages: list[_Page] = []
    rows: list[tuple[Inlines, ...]] = []
    used = head
    for row, height in zip(table.rows, heights, strict=True):
        if rows and used + height > BODY[3]:
            pages.append(_Page(table=replace(table, rows=tuple(rows)), table_size=size))
            rows, used = [], head
        rows.append(row)
        used += height
    return [*pages, _Page(table=replace(table, rows=tuple(rows)), table_size=size)]


def _grid(visuals: Sequence[LoadedPicture | Chart], room: Box) -> list[Box]:
    """Share a room among pictures: the rows and columns in which they come out largest."""
    left, top, width, height = room
    best: tuple[float, list[Box]] = (-1.0, [])
    for columns in range(1, len(visuals) + 1):
        rows = -(-len(visuals) // columns)
        wide, high = (width - _GAP * (columns - 1)) / columns, (height - _GAP * (rows - 1)) / rows
        area = 0.0
        for visual in visuals:
            shape = (visual.width, visual.height) if isinstance(visual, LoadedPicture) else (16, 9)
            scale = min(wide / shape[0], high / shape[1])
            area += shape[0] * shape[1] * scale * scale
        boxes = [
            (left + index % columns * (wide + _GAP), top + index // columns * (high + _GAP), wide, high)
            for index in range(len(visuals))
        ]
        best = max(best, (area, boxes), key=lambda found: found[0])
    return best[1]


def _add_table(slide: Any, table: Table, size: float, box: Box) -> None:
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
    from pptx.util import Pt

    has_header = any(plain(cell).strip() for cell in table.header)
    rows = (table.header, *table.rows) if has_header or not table.rows else table.rows
    heights = _row_heights(table, size)[-len(rows) :]
    left, top, width, _ = box
    shape = slide.shapes.add_table(len(rows), len(table.header), Pt(left), Pt(top), Pt(width), Pt(sum(heights)))
    grid = shape.table
    grid.first_row = has_header
    shares = _shares(table, size)
    for column, share in zip(grid.columns, shares, strict=True):
        column.width = Pt(share * width)
    for index, (row, height) in enumerate(zip(rows, heights, strict=True)):
        grid.rows[index].height = Pt(height)
        for number, (content, alignment) in enumerate(zip(row, table.alignments, strict=True)):
            cell = grid.cell(index, number)
            cell.margin_top = cell.margin_bottom = Pt(3)
            cell.vertical_anchor = MSO_ANCHOR.MIDDLE
            paragraph = cell.text_frame.paragraphs[0]
            paragraph.alignment = getattr(PP_ALIGN, alignment.upper())
            header = has_header and index == 0
            cell.fill.solid()
            cell.fill.fore_color.rgb = colour(NAVY if header else "EEF2F9" if index % 2 == 0 else WHITE)
            write_runs(paragraph, content, size, WHITE if header else "", bold=header)


def _drop_empty(slide: Any) -> None:
    for shape in list(slide.placeholders):
        if shape.placeholder_format.idx in (1, 2) and not shape.text_frame.text:
            shape._element.getparent().remove(shape._element)
