"""One story of a Word document (its body, a header, a note, a comment) as markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_gta.formats.charts import describe_chart
from pytest_gta.formats.drawing import smartart
from pytest_gta.formats.markup import Element, all_text, attribute, child, descendants, local
from pytest_gta.formats.package import Package
from pytest_gta.formats.reading import Reading, Unreadable
from pytest_gta.formats.word_styles import ParagraphStyle, Styles, is_on, is_shaded, is_unseen
from pytest_gta.formats.wording import one_line, squeeze, table

_DEEPEST = 60
_CONTAINERS = ("sdtContent", "smartTag", "customXml", "fldSimple", "ruby", "rubyBase", "bdo", "dir")
_BROKEN = (Unreadable, ValueError, KeyError, IndexError, AttributeError, TypeError)
_BOLD_SEAM = re.compile(r"\*\*(\s*)\*\*")
_LINK_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')


class Story:
    """Turns one story into text.

    Attributes:
        words: Words met so far.
        paragraphs: Paragraphs with text.
        headings: Those that are headings.
        tables: Tables.
        changes: Tracked insertions and deletions.
    """

    def __init__(self, package: Package, part: str, styles: Styles, reading: Reading, place: str = "") -> None:
        self._package, self._part, self._styles, self._reading = package, part, styles, reading
        self._relations = package.relations(part)
        self._place = place or "the document"
        self._boxes: list[str] = []
        self._link_field = ""
        self.words = self.paragraphs = self.headings = self.tables = self.changes = 0

    def blocks(self, holder: Element) -> None:
        """Add all blocks below an element to the reading, until its limits are reached."""
        for text in self._walk(holder, 0):
            if self._reading.expired:
                self._reading.fault("the end of the document was not read: the time for this file was over")
                return
            if self._reading.full:
                return
            self._reading.add(text)

    def text(self, holder: Element) -> str:
        """Return the text of all blocks below an element."""
        return "\n".join(self._walk(holder, 0))

    def _walk(self, holder: Element, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            self._reading.fault(f"{self._place} is nested too deeply to be read to its end")
            yield "[nested too deeply to be read]"
            return
        for block in holder:
            try:
                yield from self._block(block, local(block), depth)
            except _BROKEN as error:
                self._boxes = []
                reason = str(error) if isinstance(error, Unreadable) else f"unexpected content ({type(error).__name__})"
                self._reading.fault(f"a passage of {self._place} could not be read: {reason}")
                yield f"[a passage that could not be read: {reason}]"

    def _block(self, block: Element, name: str, depth: int) -> Iterator[str]:
        if name == "p":
            text = self._paragraph(block, depth)
            boxes, self._boxes = self._boxes, []
            if text:
                yield text
            yield from boxes
        elif name == "tbl":
            yield self._table(block, depth)
        elif name == "sdt":
            content = child(block, "sdtContent")
            if content is not None:
                yield from self._walk(content, depth + 1)
        elif name in ("ins", "moveTo", *_CONTAINERS):
            yield from self._walk(block, depth + 1)
        elif name in ("del", "moveFrom"):
            self.changes += 1
            yield f"[deleted: {one_line(all_text(block, 'delText', 't'), 2000)}]"
        elif name == "AlternateContent":
            yield from self._walk(_branch(block), depth + 1)
        elif name == "altChunk":
            self._reading.fault("a part that was inserted from another file is not shown")

    def _paragraph(self, paragraph: Element, depth: int) -> str:
        properties = child(paragraph, "pPr")
        style_id = attribute(child(properties, "pStyle"), "val")
        chain = self._styles.chain(style_id)
        shaded = is_shaded(child(properties, "shd")) or any(style.shaded for style in chain)
        text = "".join(self._inline(paragraph, depth, shaded)).strip("\n")
        text = _BOLD_SEAM.sub(r"\1", text)
        if not text.strip():
            return ""
        self.paragraphs += 1
        self.words += len(text.split())
        if any(style.hidden for style in chain):
            text = f"[hidden text: {text}]"
        level = self._styles.heading(style_id)
        if level:
            self.headings += 1
        elif any(style.name == "caption" for style in chain):
            text = f"[caption] {text}"
        if attribute(child(properties, "jc"), "val") == "center":
            text = f"[centered] {text}"
        return self._mark(properties, chain, level) + (text.replace("**", "") if level else text)

    def _mark(self, properties: Element | None, chain: list[ParagraphStyle], level: int) -> str:
        numbers = child(properties, "numPr")
        list_id = attribute(child(numbers, "numId"), "val")
        listed = next((style for style in chain if style.list_id), None)
        place = attribute(child(numbers, "ilvl"), "val")
        if not list_id and listed is not None:
            list_id, place = listed.list_id, place or str(listed.list_depth)
        if level:
            mark = self._styles.numbering.mark(list_id, level - 1) if list_id not in ("", "0") else ""
            return "\n" + "#" * min(level, 6) + " " + ("" if mark.strip() == "-" else mark.lstrip())
        if list_id in ("", "0"):
            return ""
        return self._styles.numbering.mark(list_id, int(place) if place.isdigit() else 0)

    def _inline(self, holder: Element, depth: int, shaded: bool) -> Iterator[str]:
        if depth > _DEEPEST:
            return
        for element in holder:
            name = local(element)
            if name == "r":
                yield self._run(element, depth, shaded)
            elif name == "hyperlink":
                yield self._hyperlink(element, depth, shaded)
            elif name in ("ins", "moveTo"):
                self.changes += 1
                text = "".join(self._inline(element, depth + 1, shaded))
                yield f"[inserted: {text}]" if text.strip() else text
            elif name in ("del", "moveFrom"):
                self.changes += 1
                text = all_text(element, "delText", "t")
                yield f"[deleted: {text}]" if text.strip() else ""
            elif name == "sdt":
                content = child(element, "sdtContent")
                if content is not None:
                    yield from self._inline(content, depth + 1, shaded)
            elif name in _CONTAINERS:
                yield from self._inline(element, depth + 1, shaded)
            elif name in ("oMath", "oMathPara"):
                yield f"[formula: {all_text(element, 't')}]"
            elif name == "AlternateContent":
                yield from self._inline(_branch(element), depth + 1, shaded)

    def _hyperlink(self, element: Element, depth: int, shaded: bool) -> str:
        text = "".join(self._inline(element, depth + 1, shaded))
        relation = self._relations.get(attribute(element, "id"))
        if relation is not None and relation.external and text.strip():
            return f"{text} ({one_line(relation.target, 300)})"
        return text

    def _run(self, run: Element, depth: int, shaded: bool) -> str:
        properties = child(run, "rPr")
        said = "".join(self._run_content(element, local(element), depth) for element in run)
        if not said.strip():
            return said
        if is_on(child(properties, "vanish")) or is_unseen(properties, shaded):
            self._reading.note("it holds hidden text, marked [hidden text: ...]")
            return f"[hidden text: {said}]"
        if is_on(child(properties, "b")) and not said.startswith("["):
            left, right = len(said) - len(said.lstrip()), len(said.rstrip())
            return f"{said[:left]}**{said[left:right]}**{said[right:]}"
        if is_on(child(properties, "strike")):
            return f"~~{said}~~"
        return said

    def _run_content(self, element: Element, name: str, depth: int) -> str:
        if name in ("t", "delText"):
            return str(element.text or "")
        if name == "tab":
            return "\t"
        if name in ("br", "cr"):
            return "\n[page break]\n" if attribute(element, "type") == "page" else "\n"
        if name == "noBreakHyphen":
            return "-"
        if name == "instrText":
            return self._field(element.text or "")
        if name == "fldChar":
            if attribute(element, "fldCharType") == "end" and self._link_field:
                link, self._link_field = self._link_field, ""
                return f" ({link})"
            return ""
        if name in ("footnoteReference", "endnoteReference"):
            return f"[^{'e' if name[0] == 'e' else ''}{attribute(element, 'id')}]"
        if name == "commentReference":
            return f"[comment {attribute(element, 'id')}]"
        if name == "sym":
            return "\u2022"
        if name == "AlternateContent":
            return "".join(self._run_content(e, local(e), depth) for e in _branch(element))
        if name in ("drawing", "pict", "object"):
            return self._graphics(element, name, depth)
        return ""

    def _field(self, instruction: str) -> str:
        match = _LINK_FIELD.search(instruction)
        if match:
            self._link_field = one_line(match.group(1), 300)
        return ""

    def _graphics(self, holder: Element, name: str, depth: int) -> str:
        """Describe a drawing; the text boxes in it are kept for after the paragraph."""
        alt = next((a for p in descendants(holder, "docPr") if (a := one_line(attribute(p, "descr"), 1000))), "")
        with_alt = f", alt text: {alt}" if alt else ""
        said = []
        outside = _outside_boxes(holder)
        for element in outside:
            kind = local(element)
            if kind == "blip":
                said.append(self._picture(attribute(element, "embed"), with_alt))
            elif kind == "imagedata":
                said.append(self._picture(attribute(element, "id"), with_alt))
            elif kind == "chart" and attribute(element, "id"):
                relation = self._relations.get(attribute(element, "id"))
                if relation is None or relation.external:
                    self._reading.fault(f"a chart in {self._place} is missing from the file")
                    said.append("[chart, missing from the file]")
                else:
                    said.append(
                        "\n" + describe_chart(self._package, relation.target, self._place, self._reading) + "\n"
                    )
            elif kind == "relIds":
                self._reading.count("diagrams")
                said.append(f"\n[diagram]\n{smartart(self._package, self._part, holder)}\n[end of diagram]\n")
            elif kind == "OLEObject":
                said.append(f"[embedded object: {attribute(element, 'ProgID')}]")
            elif kind == "txbxContent":
                text = squeeze(self._inner_text(element, depth + 1))
                if text:
                    self._reading.count("text boxes")
                    self._boxes.append(f"[text box]\n{text}\n[end of text box]")
        if not said and alt and name == "drawing":
            said.append(f"[shape{with_alt}]")
        return "".join(said)

    def _inner_text(self, holder: Element, depth: int) -> str:
        """Return the text of a box; boxes inside it come after their own paragraph there."""
        kept, self._boxes = self._boxes, []
        text = "\n".join(self._walk(holder, depth))
        self._boxes = kept
        return text

    def _picture(self, relation_id: str, with_alt: str) -> str:
        self._reading.count("pictures")
        number = self._reading.facts["pictures"]
        where = f"picture {number}"
        relation = self._relations.get(relation_id)
        if relation is None or relation.external or relation.target not in self._package:
            self._reading.fault(f"{where} is missing from the file")
            return f"[{where}, missing from the file{with_alt}]"
        self._reading.candidates.append(self._package.picture(relation.target, where))
        return f"[{where}{with_alt}]"

    def _table(self, element: Element, depth: int) -> str:
        self.tables += 1
        rows: list[list[str]] = []
        for row in _through(element, "tr"):
            cells: list[str] = []
            for entry in _through(row, "tc"):
                properties = child(entry, "tcPr")
                merge = child(properties, "vMerge")
                continued = merge is not None and attribute(merge, "val", "continue") == "continue"
                text = "" if continued else squeeze(self._inner_text(entry, depth + 1))
                cells.append(text)
                span = attribute(child(properties, "gridSpan"), "val")
                cells.extend([""] * (min(int(span), 60) - 1 if span.isdigit() else 0))
            rows.append(cells)
        return "\n" + table(rows) + "\n" if rows else ""


def _through(holder: Element, tag: str) -> Iterator[Element]:
    """Yield rows or cells, also those inside content controls or tracked insertions."""
    for element in holder:
        name = local(element)
        if name == tag:
            yield element
        elif name in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _through(element, tag)


def _outside_boxes(holder: Element) -> Iterator[Element]:
    """Yield the elements of a drawing in order; a text box as one, for it is a story of its own; one of each choice."""
    for element in holder:
        name = local(element)
        yield element
        if name == "AlternateContent":
            yield from _outside_boxes(_branch(element))
        elif name != "txbxContent":
            yield from _outside_boxes(element)


def _branch(choice: Element) -> Element:
    """Return the one branch of a choice between renderings of the same content."""
    for name in ("Choice", "Fallback"):
        found = child(choice, name)
        if found is not None:
            return found
    return choice
