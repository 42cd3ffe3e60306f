"""PDF documents: text page by page, which pages are scans, pictures of pages, links, comments, attachments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.extract import Picture
from pytest_gta.formats.limits import MIB
from pytest_gta.formats.pdf_sight import unseen_text
from pytest_gta.formats.pictures import encode
from pytest_gta.formats.reading import PictureCandidate, Reading, Source, Unreadable
from pytest_gta.formats.wording import clean, one_line, plural, spans, spread, squeeze

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_THIN_CHARS = 16
_MOST_DETAIL_PAGES = 300
_MOST_SIGHT_PAGES = 100
_MOST_TEXT_PAGES = 12
_MOST_LINKS = 200
_MOST_PAGE_CHARS = 400_000
_POINTS_PER_INCH = 72
_MOST_IN_MEMORY = 32 * MIB
_STRUCTURE_MARKS = (b"/Annots", b"/EmbeddedFile", b"/AcroForm", b"/Outlines", b"/ObjStm", b"/Encrypt")


def read(source: Source, reading: Reading) -> None:
    """Read a PDF; a page that is broken is a placeholder and a fault, the others are read.

    Raises:
        Unreadable: When it cannot be opened, or needs a password.
    """
    import pypdfium2
    from pypdfium2 import PdfiumError

    try:
        # In memory it is much quicker to read; a very large one is read from where it lies.
        source.stream.seek(0)
        document = pypdfium2.PdfDocument(source.data() if source.size <= _MOST_IN_MEMORY else source.stream)
    except PdfiumError as error:
        raise Unreadable(_refusal(error)) from None
    count = len(document)
    reading.facts["pages"] = count
    if count == 0:
        raise Unreadable("it has no pages")
    _properties(document, reading)
    remarks = _structure(source, reading) if reading.limits.details and _has_structure(source) else {}
    texts, scanned, blank = _page_texts(document, remarks, reading)
    if scanned:
        # First, because a reader of the text alone would take the document for a short one.
        share = f"{len(scanned)} of {plural(count, 'page')}"
        reading.notes.insert(0, f"{share} are scans or pictures without text: {spans(scanned)}")
        reading.facts["pages without text"] = len(scanned)
    if blank:
        reading.note(f"blank pages: {spans(blank)}")
    for number, text in enumerate(texts, 1):
        mark = " [a picture, no text in the file]" if number in scanned else ""
        reading.add(f"\n=== page {number}{mark} ===\n{text or '[no text]'}")
        for remark in remarks.get(number, ()):
            reading.add(remark)
    _pictures(document, count, scanned, reading)


def _refusal(error: Exception) -> str:
    text = str(error)
    if "assword" in text:
        return "it is encrypted and needs a password (an empty one was tried)"
    if "ecurity" in text:
        return "it is encrypted in a way that is not supported"
    return "it is damaged or incomplete and cannot be opened"


def _page_texts(
    document: PdfDocument, remarks: dict[int, list[str]], reading: Reading
) -> tuple[list[str], list[int], list[int]]:
    """Return the text of each page, and the numbers of pages that are pictures, and that are empty."""
    from pypdfium2 import PdfiumError

    texts: list[str] = []
    scanned: list[int] = []
    blank: list[int] = []
    size = 0
    for index in range(len(document)):
        past = size > reading.limits.offset + reading.limits.max_chars
        if index >= reading.limits.max_pages or past or reading.expired:
            reading.fault(f"the text of pages {index + 1}-{len(document)} was not read: the limit was reached")
            break
        try:
            page = document[index]
            if index == 0:
                width, height = page.get_size()
                reading.facts["page size"] = f"{width / _POINTS_PER_INCH:.3g} x {height / _POINTS_PER_INCH:.3g} in"
            text = squeeze(_text(page))
            if len("".join(text.split())) < _THIN_CHARS:
                kind = _kind_without_text(page, bool(text))
                if kind == "picture":
                    scanned.append(index + 1)
                elif kind == "blank":
                    blank.append(index + 1)
            if index < _MOST_SIGHT_PAGES and reading.limits.details and (unseen := unseen_text(page)):
                reading.note(f"page {index + 1} holds text that is not seen, marked [hidden text: ...]")
                remarks.setdefault(index + 1, []).append(f"[hidden text: {unseen}]")
            page.close()
        except (PdfiumError, ValueError, OSError) as error:
            reading.fault(f"page {index + 1} could not be read ({one_line(str(error), 100)})")
            text = "[this page could not be read]"
        texts.append(text)
        size += len(text)
    return texts, scanned, blank


def _text(page: Any) -> str:
    text_page = page.get_textpage()
    try:
        count = text_page.count_chars()
        return clean(text_page.get_text_range(0, min(count, _MOST_PAGE_CHARS))) if count else ""
    except RecursionError:
        # The library steps over characters that yield no text one call deep each; a bounding box asks for none of that.
        return clean(text_page.get_text_bounded())
    finally:
        text_page.close()


def _kind_without_text(page: Any, has_some: bool) -> str:
    """Return what a page with hardly any text is: a ``picture`` (scan, drawing), ``blank``, or just ``short``."""
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    if next(iter(page.get_objects(filter=(FPDF_PAGEOBJ_IMAGE,), max_depth=3)), None) is not None:
        return "picture"
    if has_some:
        return "short"
    return "blank" if next(iter(page.get_objects(max_depth=3)), None) is None else "picture"


def _pictures(document: PdfDocument, count: int, scanned: list[int], reading: Reading) -> None:
    """Choose the pages to be pictured: of scans as many as there is room for, the rest spread over the document."""
    most = reading.limits.max_pictures
    if most <= 0:
        return
    reserved = [scanned[i] for i in spread(len(scanned), most if len(scanned) >= most else len(scanned))]
    others = [n for n in range(1, count + 1) if n not in set(scanned)]
    # Pages whose text is given need fewer pictures than those that have nothing else.
    rest = min(most - len(reserved), _MOST_TEXT_PAGES)
    chosen = sorted(reserved + [others[i] for i in spread(len(others), rest)])
    for number in chosen:
        reading.candidates.append(
            PictureCandidate(f"page {number}", _maker(document, number, reading), f"page {number}")
        )
    unseen = [number for number in scanned if number not in chosen]
    if unseen:
        reading.fault(f"pages that are pictures without text are not shown: {spans(unseen)}")
    if len(chosen) < count:
        reading.fault(f"{len(chosen)} of {plural(count, 'page')} are pictured: {spans(chosen)}")


def _maker(document: PdfDocument, number: int, reading: Reading) -> Any:
    def make() -> Picture:
        from pypdfium2 import PdfiumError

        try:
            page = document[number - 1]
            scale = min(reading.limits.max_picture_px / max(*page.get_size(), 1.0), 4.0)
            image = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False).to_pil()
            page.close()
            return encode(image.convert("RGB"), f"page {number}")
        except (PdfiumError, ValueError, OSError, MemoryError) as error:
            raise Unreadable(f"page {number} could not be pictured ({one_line(str(error), 100)})") from None

    return make


def _has_structure(source: Source) -> bool:
    """Whether there may be more than pages: looking for it costs half a second, and most made PDFs have nothing."""
    if source.size > _MOST_IN_MEMORY:
        return True
    data = source.data()
    return any(mark in data for mark in _STRUCTURE_MARKS)


def _structure(source: Source, reading: Reading) -> dict[int, list[str]]:
    """Add outline, form fields and attachments; return remarks (links, comments) by page."""
    import logging

    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    remarks: dict[int, list[str]] = {}
    try:
        source.stream.seek(0)
        document = PdfReader(source.stream, strict=False)
        if document.is_encrypted:
            reading.note("it is encrypted, with an empty password")
            if not document.decrypt(""):
                return remarks
        _entries(document, reading)
        _attachments(document, reading)
        _fields(document, reading)
        for number, page in enumerate(document.pages, 1):
            if number > _MOST_DETAIL_PAGES or reading.expired:
                reading.note(f"links and comments are listed for the first {number - 1} pages")
                break
            found = list(_annotations(page, reading))
            if found:
                remarks[number] = found
    except DependencyError:
        reading.note("its outline, links and comments are encrypted in a way that cannot be read here")
    except Exception as error:
        # pypdf raises nearly anything on damaged objects; the pages have been read without it.
        reason = one_line(str(error), 100) if isinstance(error, PyPdfError) else type(error).__name__
        reading.fault(f"its outline, links and comments could not be read to their end ({reason})")
    return remarks


def _properties(document: PdfDocument, reading: Reading) -> None:
    said = []
    for name, value in document.get_metadata_dict(skip_empty=True).items():
        text = one_line(str(value), 500)
        # What ReportLab writes when nobody said anything.
        if text.strip("()") in ("", "anonymous", "unspecified", "untitled") or name.endswith("Date"):
            continue
        said.append(f"{name.lower()}: {text}")
    if said:
        reading.add(f"[document properties: {'; '.join(said)}]")


def _entries(document: Any, reading: Reading) -> None:
    titles = [one_line(str(item.title), 120) for item in _outline(document.outline)]
    if titles:
        reading.facts["outline entries"] = len(titles)
        reading.add("[outline: " + "; ".join(titles[:80]) + ("; …" if len(titles) > 80 else "") + "]")


def _outline(items: Any, depth: int = 0) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            if depth < 10:
                yield from _outline(item, depth + 1)
        else:
            yield item


def _attachments(document: Any, reading: Reading) -> None:
    names = []
    for name, contents in document.attachments.items():
        names.append(f"{one_line(str(name), 200)} ({sum(len(c) for c in contents):,} bytes)")
    if names:
        reading.facts["attachments"] = len(names)
        reading.fault(f"attached files are listed, not opened: {'; '.join(names[:20])}")


def _fields(document: Any, reading: Reading) -> None:
    fields = document.get_fields() or {}
    said = [f"{one_line(str(n), 80)}: {one_line(str(f.get('/V', '')), 300) or '(empty)'}" for n, f in fields.items()]
    if said:
        reading.facts["form fields"] = len(said)
        reading.add("[form fields] " + "; ".join(said[:200]))


def _annotations(page: Any, reading: Reading) -> Iterator[str]:
    links: list[str] = []
    for reference in page.get("/Annots", None) or ():
        annotation = reference.get_object()
        if annotation is None:
            continue
        action = annotation.get("/A")
        action = action.get_object() if action is not None else {}
        if "/URI" in action:
            links.append(one_line(str(action["/URI"]), 300))
        elif annotation.get("/Contents") and annotation.get("/Subtype") not in ("/Link", "/Popup", "/Widget"):
            reading.count("comments")
            author = one_line(str(annotation.get("/T", "")), 60)
            yield f"[comment{' by ' + author if author else ''}: {one_line(str(annotation['/Contents']), 2000)}]"
    if links:
        reading.count("links", len(links))
        distinct = list(dict.fromkeys(links))
        yield "[links: " + " ; ".join(distinct[:_MOST_LINKS]) + "]"
