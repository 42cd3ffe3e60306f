"""Web pages: what a visitor reads, in order, as markdown; what is hidden, referenced and scripted is told apart."""

from __future__ import annotations

import base64
import binascii
import re
from html import unescape
from urllib.parse import unquote, urlsplit

from pytest_gta.formats.limits import MIB
from pytest_gta.formats.markup import Element
from pytest_gta.formats.pictures import embedded
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.text import decode, shorten_data
from pytest_gta.formats.web_text import PageText
from pytest_gta.formats.wording import one_line, plural, squeeze

PAGE_SOURCE = "=== page source ==="
"""The line that stands between what a visitor reads and the page's source."""

_MOST_BYTES = 12 * MIB
_MOST_SOURCE_CHARS = 120_000
_DATA_IMAGE = re.compile(r"data:(image/[\w.+-]+)((?:;[\w=-]+)*),(.*)", re.DOTALL)
_TEXTS = re.compile(
    r"<!--(?:.*?-->|.*)|<(script|style|textarea|pre|svg|template|noscript)\b(?:.*?</\1\s*>|.*)"
    r"|>(?P<text>[^<>]{80,})(?=<)",
    re.DOTALL | re.IGNORECASE,
)
"""Texts between tags; what is no text of the page is stepped over, to the end of the source where it does not end."""
_LONG_TEXT, _FIRST_WORDS = 80, 40
_MOST_COMPARED = 400_000_000
"""Characters that are compared at most, to find which texts are given twice."""


def read(source: Source, reading: Reading) -> None:
    """Read a page: its text as a visitor sees it, then what it loads, then its source.

    Raises:
        Unreadable: When it holds no markup at all.
    """
    from lxml import etree, html

    text, encoding = decode(source.beginning(_MOST_BYTES, reading))
    if encoding not in ("utf-8", "ascii"):
        reading.facts["encoding"] = encoding
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        # Bytes, because a declared encoding inside a text that is already decoded is refused.
        root = html.document_fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        raise Unreadable("it holds no markup that can be read") from None
    reading.facts["doctype"] = "yes" if text.lstrip("\ufeff \t\r\n")[:9].lower() == "<!doctype" else "none"
    _head(root, reading)
    page = PageText(root)
    reading.facts["words"] = len(page.visible.split())
    body = squeeze(page.text)
    reading.add(body or "[no visible text]")
    for name, number in page.counts.items():
        reading.facts[name] = number
    if page.hidden:
        reading.note(f"{plural(page.hidden, 'hidden element')}, marked [hidden: ...]")
    if page.comments:
        reading.note(f"{plural(page.comments, 'HTML comment')}, marked [HTML comment: ...]")
    _images(root, source, reading)
    _source(root, text, body, reading)


def _head(root: Element, reading: Reading) -> None:
    title = root.findtext(".//head/title") or root.findtext(".//title") or ""
    if title.strip():
        reading.add(f"[page title: {one_line(title, 300)}]")
    else:
        reading.note("the page has no title")
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        if name in ("description", "keywords", "author", "og:title", "og:description") and meta.get("content"):
            reading.add(f"[{name}: {one_line(meta.get('content'), 500)}]")
        if name == "viewport":
            reading.facts["adapts to screen width"] = "viewport set"


def _images(root: Element, source: Source, reading: Reading) -> None:
    """Say of each image, style sheet and script that the page loads whether it is there."""
    said: dict[str, str] = {}
    data_images = 0
    for element in root.iter("img", "script", "link", "video", "audio", "source", "iframe", "embed", "object"):
        address = element.get("src") or element.get("href") or element.get("data") or ""
        if element.tag == "link" and "stylesheet" not in (element.get("rel") or ""):
            continue
        if not address or address.startswith("#"):
            continue
        if address.startswith("data:"):
            if element.tag == "img":
                data_images += 1
                _data_image(address, f"inline image {data_images}", reading)
            continue
        said.setdefault(f"{element.tag} {one_line(address, 200)}", _presence(address, source))
    if data_images:
        reading.facts["inline images"] = data_images
    if said:
        reading.add("\n=== files the page loads ===\n" + "\n".join(f"{name}: {state}" for name, state in said.items()))
        missing = [name for name, state in said.items() if state.startswith("missing")]
        if missing:
            reading.note(f"files the page loads that are missing: {one_line('; '.join(missing), 400)}")


def _presence(address: str, source: Source) -> str:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https") or address.startswith("//"):
        return "on the internet, not loaded here"
    if parts.scheme or parts.path.startswith("/"):
        return "an address that only works where the page was made"
    if source.folder is None or "\x00" in parts.path:
        return "not looked for"
    try:
        return "present" if (source.folder / unquote(parts.path)).is_file() else "missing"
    except (OSError, ValueError):
        return "missing"


def _data_image(address: str, where: str, reading: Reading) -> None:
    match = _DATA_IMAGE.match(address)
    if match is None or match.group(1) == "image/svg+xml":
        return
    encoded, is_base64 = match.group(3), "base64" in match.group(2)

    def content() -> bytes:
        try:
            return base64.b64decode(encoded) if is_base64 else unquote(encoded).encode("latin-1")
        except (binascii.Error, ValueError):
            raise Unreadable("its data is damaged") from None

    reading.candidates.append(embedded(match.group(1), where, content, reading.limits, encoded[:200]))


def _source(root: Element, text: str, body: str, reading: Reading) -> None:
    """Add the page's source: structure, styles and scripts are what a page is made of, and often what is asked for."""
    for tag, name in (("script", "script"), ("style", "style")):
        size = sum(len(element.text or "") for element in root.iter(tag))
        if size:
            reading.facts[f"{name} characters"] = size
    source, cut = shorten_data(text).strip("\n"), 0
    reading.add(f"\n{PAGE_SOURCE}")
    if not reading.limits.repeats:
        source, cut = _without_repeats(source, body)
    if cut:
        reading.add("(of long texts that stand above, only the first words)")
    if len(source) > _MOST_SOURCE_CHARS:
        head, tail = _MOST_SOURCE_CHARS * 3 // 4, _MOST_SOURCE_CHARS // 4
        cut = len(source) - head - tail
        source = f"{source[:head]}\n[... {cut:,} characters of the source not included ...]\n{source[-tail:]}"
        reading.fault(f"{cut:,} characters from the middle of its source are not included; its visible text is")
    reading.add(source)


def _without_repeats(source: str, body: str) -> tuple[str, int]:
    """Return a source in which long texts that the page's text holds word for word are cut to their first words.

    Args:
        source: The source.
        body: The text that is given of the page before it.

    Returns:
        The source, and how many texts were cut.
    """
    given = " ".join(body.split())
    room = _MOST_COMPARED // max(len(given), 1)
    cut = 0

    def shortened(match: re.Match[str]) -> str:
        nonlocal cut, room
        text = match.group("text")
        if text is None or room <= 0:
            return match.group()
        room -= 1
        words = " ".join(unescape(text).split())
        if len(words) < _LONG_TEXT or words not in given:
            return match.group()
        cut += 1
        first = text.lstrip()[:_FIRST_WORDS]
        return f">{first.rpartition(' ')[0] or first} [...]"

    return _TEXTS.sub(shortened, source), cut
