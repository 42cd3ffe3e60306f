"""PowerPoint decks: each slide's text in order, tables, charts, SmartArt, notes, comments and pictures."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_gta.formats.charts import describe_chart
from pytest_gta.formats.drawing import paragraphs, smartart
from pytest_gta.formats.markup import Element, all_text, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package, Relation
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.slide_sight import SlideSight
from pytest_gta.formats.wording import one_line, spans, table

_EMU_PER_INCH = 914_400
_BULLETED = ("body", "obj", "")
_FURNITURE = ("sldNum", "dt")
_BROKEN = (Unreadable, ValueError, KeyError, IndexError, AttributeError, TypeError, RecursionError)


@dataclass(slots=True)
class _Slide:
    """One slide while it is read."""

    number: int
    part: str
    relations: dict[str, Relation]
    sight: SlideSight
    pictures: int = 0

    @property
    def where(self) -> str:
        return f"slide {self.number}"


def read(source: Source, reading: Reading) -> None:
    """Read a deck slide by slide; one that is broken is a placeholder and a fault, the others are read.

    Raises:
        Unreadable: When the package or its list of slides cannot be read.
    """
    package = Package(source.stream, reading.limits)
    main = next(iter(package.related("", "officeDocument")), "") or "ppt/presentation.xml"
    deck = package.xml(main)
    size = child(deck, "sldSz")
    ids = [next((v for k, v in item.attrib.items() if k.endswith("}id")), "") for item in descendants(deck, "sldId")]
    reading.facts["slides"] = len(ids)
    width, height = int(attribute(size, "cx", "0")), int(attribute(size, "cy", "0"))
    if size is not None:
        reading.facts["slide size"] = f"{width / _EMU_PER_INCH:.4g} x {height / _EMU_PER_INCH:.4g} in"
    package.add_properties(reading)
    hidden = []
    for number, relation_id in enumerate(ids, 1):
        if reading.full:
            break
        if number > reading.limits.max_pages or reading.expired:
            reading.fault(f"slides {number}-{len(ids)} were not read: the limit for this file was reached")
            break
        relation = package.relations(main).get(relation_id)
        try:
            if relation is None or relation.external:
                raise Unreadable("the deck lists it but does not hold it")
            if _read_slide(package, relation.target, number, (width, height), reading):
                hidden.append(number)
        except _BROKEN as error:
            reason = str(error) if isinstance(error, Unreadable) else f"unexpected content ({type(error).__name__})"
            reading.add(f"\n=== slide {number} ===\n[this slide could not be read: {reason}]")
            reading.fault(f"slide {number} could not be read: {reason}")
    if hidden:
        reading.note(f"hidden slides: {spans(hidden)}")
    package.report_damage(reading)


def _read_slide(package: Package, part: str, number: int, size: tuple[int, int], reading: Reading) -> bool:
    root = package.xml(part)
    slide = _Slide(number, part, package.relations(part), SlideSight(package, part, root, *size))
    is_hidden = root.get("show") in ("0", "false")
    tree = child(root, "cSld", "spTree")
    blocks: list[str] = []
    title = ""
    for shape in tree if tree is not None else ():
        if not title and _placeholder(shape) in ("title", "ctrTitle"):
            title = one_line(all_text(shape, "t"), 200)
    blocks.extend(_shapes(package, slide, tree, reading) if tree is not None else [])
    head = f"\n=== slide {number}{': ' + title if title else ' (no title)'}{' [hidden slide]' if is_hidden else ''} ==="
    layout = _layout_name(package, part)
    reading.add(head + (f"\n(layout: {layout})" if layout else ""))
    reading.add("\n".join(blocks) if blocks else "[nothing on this slide]")
    for effect, fact in (("transition", "slides with transitions"), ("timing", "slides with animations")):
        element = next(descendants(root, effect), None)
        if element is not None and (
            effect == "transition" or any(True for _ in descendants(element, "animEffect", "set", "anim"))
        ):
            reading.count(fact)
    _notes(package, slide, reading)
    _comments(package, slide, reading)
    return is_hidden


def _shapes(package: Package, slide: _Slide, tree: Element, reading: Reading, depth: int = 0) -> list[str]:
    blocks: list[str] = []
    for shape in tree:
        name = local(shape)
        if name == "AlternateContent":
            branch = next(children(shape, "Choice", "Fallback"), None)
            if branch is not None:
                blocks.extend(_shapes(package, slide, branch, reading, depth))
            continue
        try:
            if name == "grpSp" and depth < 40:
                blocks.extend(_shapes(package, slide, shape, reading, depth + 1))
                continue
            text = _shape(package, slide, shape, name, reading)
        except _BROKEN as error:
            reason = str(error) if isinstance(error, Unreadable) else f"unexpected content ({type(error).__name__})"
            reading.fault(f"something in {slide.where} could not be read: {reason}")
            text = f"[something that could not be read: {reason}]"
        if text:
            why = slide.sight.hidden(shape)
            if why:
                reading.note(f"{slide.where} holds text that is not seen, marked [{why}: ...]")
            blocks.append(f"[{why}: {text}]" if why else text)
    return blocks


def _shape(package: Package, slide: _Slide, shape: Element, name: str, reading: Reading) -> str:
    if name == "sp":
        return _text_shape(slide, shape)
    if name == "pic":
        return _picture(package, slide, shape, reading)
    if name == "graphicFrame":
        return _frame(package, slide, shape, reading)
    return ""


def _text_shape(slide: _Slide, shape: Element) -> str:
    kind = _placeholder(shape)
    if kind in _FURNITURE:
        return ""
    body = child(shape, "txBody")
    text = paragraphs(body, slide.relations, bulleted=kind in _BULLETED) if body is not None else ""
    if text and kind in ("title", "ctrTitle"):
        return "# " + " ".join(text.split())
    if text and kind == "subTitle":
        return "## " + " ".join(text.split())
    alt = _alt_text(shape)
    return text or (f"[shape: {alt}]" if alt else "")


def _picture(package: Package, slide: _Slide, shape: Element, reading: Reading) -> str:
    for media in descendants(shape, "videoFile", "audioFile"):
        relation = slide.relations.get(attribute(media, "link"))
        reading.count("media")
        target = relation.target.rsplit("/", 1)[-1] if relation else "?"
        return f"[{local(media)[:-4]}: {target}{_with_alt(shape)}]"
    slide.pictures += 1
    reading.count("pictures")
    where = f"{slide.where}, picture {slide.pictures}"
    relation = slide.relations.get(attribute(next(descendants(shape, "blip"), None), "embed"))
    if relation is None or relation.external or relation.target not in package:
        reading.fault(f"{where} is missing from the file")
        return f"[picture {slide.pictures}, missing from the file{_with_alt(shape)}]"
    reading.candidates.append(package.picture(relation.target, where))
    return f"[picture {slide.pictures}{_with_alt(shape)}]"


def _frame(package: Package, slide: _Slide, shape: Element, reading: Reading) -> str:
    data = child(shape, "graphic", "graphicData")
    if data is None:
        return ""
    for content in data:
        name = local(content)
        if name == "tbl":
            reading.count("tables")
            return _table(content, slide)
        if name == "chart":
            relation = slide.relations.get(attribute(content, "id"))
            if relation is None or relation.external:
                raise Unreadable("a chart is missing from the file")
            return describe_chart(package, relation.target, slide.where, reading) + _alt_line(shape)
        if name == "relIds":
            reading.count("diagrams")
            return "[diagram]\n" + smartart(package, slide.part, shape) + "\n[end of diagram]"
        if name in ("oleObj", "AlternateContent"):
            program = next((attribute(e, "progId") for e in data.iter() if attribute(e, "progId")), "")
            reading.count("embedded objects")
            return f"[embedded object{': ' + program if program else ''}{_with_alt(shape)}]"
    return ""


def _table(element: Element, slide: _Slide) -> str:
    rows = []
    for row in children(element, "tr"):
        cells = []
        for entry in children(row, "tc"):
            body = child(entry, "txBody")
            continued = entry.get("hMerge") == "1" or entry.get("vMerge") == "1"
            cells.append(paragraphs(body, slide.relations) if body is not None and not continued else "")
        rows.append(cells)
    return table(rows)


def _notes(package: Package, slide: _Slide, reading: Reading) -> None:
    for part, root in package.roots(slide.part, "notesSlide", f"the notes of {slide.where}", reading):
        texts = []
        for shape in descendants(root, "sp"):
            body = child(shape, "txBody")
            if body is not None and _placeholder(shape) not in (*_FURNITURE, "sldImg", "hdr", "ftr"):
                texts.append(paragraphs(body, package.relations(part)))
        text = "\n".join(t for t in texts if t)
        if text:
            reading.count("slides with notes")
            reading.add(f"[speaker notes]\n{text}\n[end of notes]")


def _comments(package: Package, slide: _Slide, reading: Reading) -> None:
    for _, root in package.roots(slide.part, "comments", f"the comments of {slide.where}", reading):
        for comment in descendants(root, "cm", "reply"):
            own, body = child(comment, "text"), child(comment, "txBody")
            text = (own.text or "") if own is not None else all_text(comment if body is None else body, "t")
            if text.strip():
                reading.count("comments")
                reading.add(f"[comment: {one_line(text, 2000)}]")


def _layout_name(package: Package, part: str) -> str:
    for layout in package.related(part, "slideLayout"):
        try:
            return one_line(attribute(child(package.xml(layout), "cSld"), "name"), 80)
        except Unreadable:
            return ""
    return ""


def _placeholder(shape: Element) -> str | None:
    """Return a shape's placeholder type, "" for one without a type (it is a body), None for no placeholder."""
    for holder in ("nvSpPr", "nvPicPr", "nvGraphicFramePr"):
        found = child(shape, holder, "nvPr", "ph")
        if found is not None:
            return str(found.get("type", ""))
    return None


def _properties(shape: Element) -> Element | None:
    for holder in ("nvSpPr", "nvPicPr", "nvGraphicFramePr", "nvGrpSpPr"):
        found = child(shape, holder, "cNvPr")
        if found is not None:
            return found
    return None


def _alt_text(shape: Element) -> str:
    properties = _properties(shape)
    return one_line(attribute(properties, "descr"), 1000) if properties is not None else ""


def _with_alt(shape: Element) -> str:
    alt = _alt_text(shape)
    return f", alt text: {alt}" if alt else ""


def _alt_line(shape: Element) -> str:
    alt = _alt_text(shape)
    return f"\n[alt text: {alt}]" if alt else ""
