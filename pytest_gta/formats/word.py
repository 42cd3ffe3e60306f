"""Word documents as markdown: headings, lists, tables, text boxes, notes, comments, tracked changes, pictures."""

from __future__ import annotations

from pytest_gta.formats.markup import Element, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.word_story import Story
from pytest_gta.formats.word_styles import Styles
from pytest_gta.formats.wording import one_line, squeeze

_NOTES = (("footnotes", "footnote", "^"), ("endnotes", "endnote", "^e"))


def read(source: Source, reading: Reading) -> None:
    """Read a document; a part of it that is broken is a fault, the rest is read.

    Raises:
        Unreadable: When the package or its main part cannot be read.
    """
    package = Package(source.stream, reading.limits)
    main = next(iter(package.related("", "officeDocument")), "") or "word/document.xml"
    root = package.xml(main)
    body = child(root, "body")
    if body is None:
        raise Unreadable("it has no body")
    package.add_properties(reading)
    styles = Styles.of(_optional(package, main, "styles", reading), _optional(package, main, "numbering", reading))
    story = Story(package, main, styles, reading)
    _headers_and_footers(package, main, root, styles, reading)
    story.blocks(body)
    _facts(root, story, reading)
    for kind, tag, sign in _NOTES:
        _notes(package, main, kind, tag, sign, styles, reading)
    _comments(package, main, styles, reading)
    package.report_damage(reading)


def _optional(package: Package, main: str, kind: str, reading: Reading) -> Element | None:
    return next((root for _, root in package.roots(main, kind, f"the {kind}", reading)), None)


def _headers_and_footers(package: Package, main: str, root: Element, styles: Styles, reading: Reading) -> None:
    relations = package.relations(main)
    said: set[str] = set()
    for reference in descendants(root, "headerReference", "footerReference"):
        relation = relations.get(attribute(reference, "id"))
        kind = local(reference)[:6]
        if relation is None or relation.external:
            continue
        try:
            story = Story(package, relation.target, styles, reading, place=f"page {kind}")
            text = squeeze(story.text(package.xml(relation.target)))
        except Unreadable as fault:
            reading.fault(f"a page {kind} could not be read: {fault}")
            continue
        line = f"[page {kind}: {text}]"
        if text and line not in said:
            said.add(line)
            reading.add(line)


def _notes(package: Package, main: str, kind: str, tag: str, sign: str, styles: Styles, reading: Reading) -> None:
    for part, root in package.roots(main, kind, f"the {kind}", reading):
        lines = []
        for note in children(root, tag):
            if attribute(note, "type") in ("separator", "continuationSeparator", "continuationNotice"):
                continue
            text = squeeze(Story(package, part, styles, reading, place=tag).text(note))
            lines.append(f"[{sign}{attribute(note, 'id')}]: {text.strip()}")
        if lines:
            reading.facts[kind] = len(lines)
            reading.add(f"\n=== {kind} ===\n" + "\n".join(lines))


def _comments(package: Package, main: str, styles: Styles, reading: Reading) -> None:
    for part, root in package.roots(main, "comments", "the comments", reading):
        lines = []
        for comment in children(root, "comment"):
            author = one_line(attribute(comment, "author"), 80) or "unknown"
            text = one_line(Story(package, part, styles, reading, place="comment").text(comment), 4000)
            lines.append(f"[comment {attribute(comment, 'id')} by {author}: {text}]")
        if lines:
            reading.facts["comments"] = len(lines)
            reading.add("\n=== comments ===\n" + "\n".join(lines))


def _facts(root: Element, story: Story, reading: Reading) -> None:
    for name, value in (
        ("words", story.words),
        ("paragraphs", story.paragraphs),
        ("headings", story.headings),
        ("tables", story.tables),
        ("tracked changes", story.changes),
    ):
        if value or name == "words":
            reading.facts[name] = value
    breaks = sum(attribute(b, "type") == "page" for b in descendants(root, "br"))
    if breaks:
        reading.facts["page breaks"] = breaks
    # Word itself notes where each page ended when it last laid the document out; other writers do not.
    rendered = sum(1 for _ in descendants(root, "lastRenderedPageBreak"))
    if rendered:
        reading.facts["pages when last saved"] = rendered + 1
    if any("TOC" in (field.text or "") for field in descendants(root, "instrText")):
        reading.facts["table of contents"] = "yes"
