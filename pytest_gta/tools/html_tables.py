"""Tables written in HTML inside markdown."""

from __future__ import annotations

import contextlib
from html.parser import HTMLParser

from pytest_gta.tools.document_tree import Inline, LineBreak, Table, Text


def tables_in_html(html: str) -> list[Table]:
    """Return the tables of a piece of HTML; a table inside a cell is read as that cell's text."""
    reader = _Reader()
    with contextlib.suppress(AssertionError):  # the parser's answer to "<![" that is no marked section
        reader.feed(html)
        reader.close()
    return reader.tables


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self._depth = 0
        self._rows: list[list[tuple[Inline, ...]]] = []
        self._cell: list[Inline] | None = None
        self._span = 1
        self._bold = 0
        self._has_header = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self._rows, self._has_header = [], False
        elif self._depth == 1 and tag == "tr":
            self._end_cell()
            self._rows.append([])
        elif self._depth == 1 and tag in ("td", "th"):
            self._end_cell()
            self._cell = []
            span = dict(attrs).get("colspan") or "1"
            self._span = min(int(span), 50) if span.isdigit() else 1
            self._has_header |= tag == "th" and len(self._rows) <= 1
        elif tag == "br" and self._cell is not None:
            self._cell.append(LineBreak())
        elif tag in ("b", "strong"):
            self._bold += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr") and self._depth == 1:
            self._end_cell()
        elif tag in ("b", "strong"):
            self._bold = max(0, self._bold - 1)
        elif tag == "table" and self._depth:
            self._depth -= 1
            if not self._depth:
                self._end_table()

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if words and self._cell is not None:
            gap = " " if self._cell and isinstance(self._cell[-1], Text) else ""
            self._cell.append(Text(gap + words, bold=bool(self._bold)))

    def close(self) -> None:
        super().close()
        if self._depth:
            self._end_table()

    def _end_cell(self) -> None:
        if self._cell is not None:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].extend([tuple(self._cell), *[()] * (self._span - 1)])
        self._cell, self._span = None, 1

    def _end_table(self) -> None:
        self._end_cell()
        self._depth = 0
        rows = [row for row in self._rows if row]
        width = max(map(len, rows), default=0)
        if not width:
            return
        cells = [(*row, *[()] * (width - len(row))) for row in rows]
        header = cells.pop(0) if self._has_header else ((),) * width
        self.tables.append(Table(header, tuple(cells), ("left",) * width))
