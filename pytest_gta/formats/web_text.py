"""The text of a web page as markdown, walked without recursion so that no nesting is too deep."""

from __future__ import annotations

import re

from pytest_gta.formats.markup import Element
from pytest_gta.formats.wording import fold_spaces, one_line, table

_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "dir", "div", "dl", "dt"),
        *(
            "dd",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "header",
            "hr",
        ),
        *("html", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)
_SKIPPED = frozenset(("script", "style", "template", "head", "noscript"))
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)|font-size\s*:\s*0(?:px|em|%)?\s*(?:;|$)",
    re.IGNORECASE,
)
_MOST_COMMENT = 1_000
_COUNTED = {
    "a": "links",
    "img": "images",
    "table": "tables",
    "form": "forms",
    "input": "inputs",
    "button": "buttons",
    "canvas": "canvases",
    "svg": "inline drawings",
    "video": "videos",
    "audio": "audio players",
    **{f"h{level}": "headings" for level in range(1, 7)},
}


class PageText:
    """Walks a page and gathers its text.

    Attributes:
        text: The page as markdown, hidden parts and comments marked.
        visible: The words a visitor sees, for counting.
        counts: How many links, images, tables, ... there are.
        hidden: Elements hidden by an attribute or their own style.
        comments: HTML comments.
    """

    def __init__(self, root: Element) -> None:
        self.counts: dict[str, int] = {}
        self.hidden = self.comments = 0
        self._out: list[str] = []
        self._seen: list[str] = []
        self._lists: list[list[int]] = []
        self._hidden_depth = 0
        self._skip_depth = 0
        self._pre_depth = 0
        self._tables: list[list[list[str]]] = []
        self._cell_starts: list[int] = []
        self._walk(root)
        self.text = "".join(self._out)
        self.visible = " ".join(self._seen)

    def _walk(self, root: Element) -> None:
        from lxml import etree

        for event, element in etree.iterwalk(root, events=("start", "end", "comment")):
            if event == "comment":
                self._comment(element)
                self._say(element.tail or "")
                continue
            if not isinstance(element.tag, str):
                continue
            if event == "start":
                self._start(element, element.tag)
                self._say(element.text or "")
            else:
                self._end(element, element.tag)
                self._say(element.tail or "")

    def _comment(self, element: Element) -> None:
        text = one_line(element.text or "", _MOST_COMMENT)
        # Conditional comments are an old way to address one browser; they are no remark of anyone's.
        if text and not text.startswith("[if") and not self._skip_depth:
            self.comments += 1
            self._out.append(f"\n[HTML comment: {text}]\n")

    def _start(self, element: Element, tag: str) -> None:
        if tag in _SKIPPED:
            self._skip_depth += 1
        if self._skip_depth:
            return
        if tag in _COUNTED:
            self.counts[_COUNTED[tag]] = self.counts.get(_COUNTED[tag], 0) + 1
        if tag in _BLOCKS:
            self._new_line()
        if _is_hidden(element):
            if not self._hidden_depth:
                self.hidden += 1
                self._out.append("[hidden: ")
            self._hidden_depth += 1
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._out.append("\n" + "#" * int(tag[1]) + " ")
        elif tag in ("ul", "ol"):
            self._lists.append([0, int(tag == "ol")])
        elif tag == "li":
            self._item()
        elif tag == "br":
            self._out.append("\n")
        elif tag == "hr":
            self._out.append("---\n")
        elif tag == "pre":
            self._pre_depth += 1
        elif tag == "table":
            self._tables.append([])
        elif tag == "tr" and self._tables:
            self._tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell_starts.append(len(self._out))
        else:
            self._out.append(_inline(element, tag))

    def _end(self, element: Element, tag: str) -> None:
        if tag in _SKIPPED:
            self._skip_depth -= 1
            return
        if self._skip_depth:
            return
        if tag == "a":
            address = (element.get("href") or "").strip()
            if address and not address.lower().startswith(("#", "javascript:", "data:")):
                self._out.append(f" ({one_line(address, 300)})")
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "pre":
            self._pre_depth -= 1
        elif tag in ("td", "th") and self._cell_starts:
            self._end_cell(element)
        elif tag == "table" and self._tables:
            self._end_table()
        if _is_hidden(element):
            self._hidden_depth -= 1
            if not self._hidden_depth:
                self._out.append("]\n")
        if tag in _BLOCKS:
            self._new_line()

    def _new_line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._out.append("\n")

    def _item(self) -> None:
        if not self._lists:
            self._out.append("- ")
            return
        self._lists[-1][0] += 1
        number, ordered = self._lists[-1]
        self._out.append("  " * min(len(self._lists) - 1, 8) + (f"{number}. " if ordered else "- "))

    def _end_cell(self, element: Element) -> None:
        start = self._cell_starts.pop()
        text = "".join(self._out[start:])
        if not self._tables:
            return
        del self._out[start:]
        if not self._tables[-1]:
            self._tables[-1].append([])
        row = self._tables[-1][-1]
        row.append(text)
        span = element.get("colspan") or "1"
        row.extend([""] * (min(int(span), 50) - 1 if span.isdigit() else 0))

    def _end_table(self) -> None:
        rows = [row for row in self._tables.pop() if row]
        if len(rows) == 1 and len(rows[0]) == 1:
            # A table of one cell is a frame around other things, not a table.
            self._out.append(rows[0][0])
        elif rows:
            self._out.append("\n" + table([[one_line(text, 2_000) for text in row] for row in rows]) + "\n")

    def _say(self, text: str) -> None:
        if not text or self._skip_depth:
            return
        if not self._pre_depth:
            text = fold_spaces(text.replace("\n", " ").replace("\r", " "))
            if not self._out or self._out[-1].endswith(("\n", " ")):
                text = text.lstrip()
        if text:
            self._out.append(text)
            if not self._hidden_depth:
                self._seen.append(text)


def _is_hidden(element: Element) -> bool:
    if "hidden" in element.attrib:
        return True
    style = element.get("style")
    return bool(style) and _HIDING.search(style) is not None


def _inline(element: Element, tag: str) -> str:
    """Return what stands for an element that is more than its text."""
    label = one_line(element.get("alt") or element.get("aria-label") or element.get("title") or "", 500)
    if tag == "img":
        address = element.get("src") or ""
        name = "inline data" if address.startswith("data:") else one_line(address, 200)
        return f"[image: {label or 'no alt text'} ({name})]"
    if tag == "input":
        kind = element.get("type") or "text"
        words = label or one_line(element.get("placeholder") or element.get("value") or element.get("name") or "", 100)
        return "" if kind == "hidden" else f"[{kind} input{': ' + words if words else ''}]"
    if tag in ("textarea", "select", "canvas", "iframe", "video", "audio", "svg"):
        words = label or one_line(element.get("placeholder") or element.get("id") or element.get("src") or "", 200)
        return f"[{tag}{': ' + words if words else ''}]"
    if tag == "button":
        return "[button] "
    return ""
