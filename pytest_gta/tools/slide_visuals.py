"""Tables, pictures and charts of a slide, in the shapes models describe them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gta.tools.document_tree import Inlines, Paragraph, PictureBlock, Table, Text, plain
from pytest_gta.tools.markdown_document import parse_markdown
from pytest_gta.tools.printable_text import printable
from pytest_gta.tools.tool import ToolFault


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to place; see `PictureSources.find`. `caption` may be ""."""

    source: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart the reading program draws: ``column``, ``bar``, ``line``, ``pie`` or ``area``."""

    kind: str
    title: str
    categories: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]


def read_tables(value: Any, number: int) -> Iterator[Table]:
    """Yield the tables of a slide: ``{"headers", "rows"}``, a list of rows, a list of objects, or markdown.

    Raises:
        ToolFault: When it is none of these.
    """
    if value is None:
        return
    if isinstance(value, str):
        yield from (block for block in parse_markdown(value).blocks if isinstance(block, Table))
        return
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, Mapping) and ("rows" in part or "data" in part) for part in value)
    ):
        for part in value:
            yield from read_tables(part, number)
        return
    rows: Any = value
    header: Any = None
    if isinstance(value, Mapping):
        header = next((value[key] for key in ("headers", "header", "columns") if key in value), None)
        rows = next((value[key] for key in ("rows", "data", "body") if key in value), None)
        if rows is None and header is None:
            header, rows = ["", ""], [[key, cell] for key, cell in value.items()]
    if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
        header = header or list(dict.fromkeys(str(key) for row in rows for key in row))
        rows = [[row.get(key, "") for key in header] for row in rows]
    rows = rows or []
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows) or not (header or rows):
        raise ToolFault(
            f'slide {number}: a table is {{"headers": ["A", "B"], "rows": [["1", "2"]]}} or rows, the first of '
            "them the header."
        )
    if header is None:
        header, rows = rows[0], rows[1:]
    width = max(len(row) for row in [header, *rows])
    cells = [tuple(_cell(cell) for cell in [*row, *[""] * (width - len(row))]) for row in [header, *rows]]
    numeric = ["right" if _numeric([plain(row[i]) for row in cells[1:]]) else "left" for i in range(width)]
    yield Table(cells[0], tuple(cells[1:]), tuple(numeric))


def _cell(value: Any) -> Inlines:
    if value is None:
        return ()
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    blocks = parse_markdown(text).blocks
    if len(blocks) == 1 and isinstance(blocks[0], Paragraph):
        return blocks[0].content
    return (Text(printable(text).replace("\n", " ")),)


def _numeric(cells: Sequence[str]) -> bool:
    shown = [cell.strip() for cell in cells if cell.strip()]
    return bool(shown) and all(
        any(char.isdigit() for char in cell) and len(cell) <= 14 and sum(char.isalpha() for char in cell) <= 2
        for cell in shown
    )


def read_pictures(value: Any, number: int) -> Iterator[Picture]:
    """Yield the pictures of a slide: paths, placeholders, numbers, markdown or ``{"path", "caption"}``.

    Raises:
        ToolFault: When it is none of these.
    """
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        if isinstance(part, Mapping):
            source = next((part[key] for key in ("path", "src", "image", "file", "url", "source") if key in part), "")
            caption = next((part[key] for key in ("caption", "alt", "title", "description") if key in part), "")
            yield Picture(str(source), printable(str(caption)))
        elif isinstance(part, int) and not isinstance(part, bool):
            yield Picture(f"{{{{image_{part}}}}}")
        elif isinstance(part, str):
            shown = [block for block in parse_markdown(part).blocks if isinstance(block, PictureBlock)]
            yield from [Picture(block.source, block.alt) for block in shown] or [Picture(part)]
        else:
            raise ToolFault(
                f'slide {number}: an image is a path or a placeholder, e.g. "chart.png" or "{{{{image_1}}}}".'
            )


def read_charts(value: Any, number: int) -> Iterator[Chart]:
    """Yield the charts of a slide, in the shape of the example in the error or of Chart.js.

    Raises:
        ToolFault: When it is neither.
    """
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        fault = ToolFault(
            f'slide {number}: a chart is {{"type": "column", "title": "Sales", "categories": ["Q1", "Q2"], '
            '"series": [{"name": "2026", "values": [10, 12]}]}'
        )
        if not isinstance(part, Mapping):
            raise fault
        data = part["data"] if isinstance(part.get("data"), Mapping) and "labels" in part["data"] else part
        categories = next((data[key] for key in ("categories", "labels", "x") if key in data), None)
        series = next((data[key] for key in ("series", "datasets", "values", "y", "data") if key in data), None)
        if categories is None:
            categories, series = _by_category(series)
        if isinstance(series, Mapping):
            series = [{"name": name, "values": values} for name, values in series.items()]
        if isinstance(series, list) and series and not isinstance(series[0], Mapping):
            series = [{"name": part.get("title", ""), "values": series}]
        if not isinstance(categories, list) or not isinstance(series, list) or not series:
            raise fault
        read = []
        for one in series:
            values = one.get("values", one.get("data")) if isinstance(one, Mapping) else None
            if not isinstance(values, list):
                raise fault
            read.append(
                (printable(str(one.get("name", one.get("label", "")))), tuple(_figure(value) for value in values))
            )
        kind = str(next((part[key] for key in ("chart_type", "kind", "type") if key in part), "column")).lower()
        yield Chart(
            kind,
            printable(str(part.get("title") or "")),
            tuple(printable(str(label)) for label in categories),
            tuple(read),
        )


def _by_category(data: Any) -> tuple[list[Any] | None, Any]:
    """Return the categories and the values of ``{"A": 1, "B": 2}`` or ``[{"label": "A", "value": 1}, ...]``."""
    if isinstance(data, Mapping) and data and not any(isinstance(value, list | Mapping) for value in data.values()):
        return list(data), list(data.values())
    if isinstance(data, list) and data and all(isinstance(point, Mapping) and "value" in point for point in data):
        names = ("label", "name", "category", "x")
        labels = [next((point[key] for key in names if key in point), "") for point in data]
        return labels, [point["value"] for point in data]
    return None, data


def _figure(value: Any) -> float | None:
    try:
        return float(str(value).replace(",", "").replace("%", ""))
    except ValueError:
        return None
