"""XML of documents, parsed so that it can neither fetch anything nor blow up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

from lxml import etree

from pytest_gta.formats.reading import Unreadable

Element = Any
"""An lxml element; lxml ships no types."""

_SAFE: dict[str, bool] = {"resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": False}


def parse(data: bytes, on_damage: Callable[[str], None] | None = None) -> Element:
    """Return the root element.

    Entities are never expanded, nothing is loaded from elsewhere. A damaged document is read as far as it goes.

    Args:
        data: The document.
        on_damage: Called with what is wrong, when it is damaged and something of it can be read all the same.

    Raises:
        Unreadable: When there is no element to be found, or the document declares entities of its own.
    """
    parser = etree.XMLParser(recover=True, remove_comments=True, **_SAFE)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"its XML is damaged ({str(error)[:100]})") from None
    if root is None:
        raise Unreadable("its XML is damaged")
    if root.getroottree().docinfo.internalDTD is not None:
        raise Unreadable("its XML declares a document type of its own, which is not read for safety")
    if len(parser.error_log) and on_damage is not None:
        on_damage(str(parser.error_log[0].message)[:100])
    return root


def stream(source: IO[bytes], tags: tuple[str, ...]) -> Iterator[Element]:
    """Yield each element of the given tags when it is complete, and free it afterwards.

    Raises:
        Unreadable: When the XML is damaged from here on; what was yielded before is good.
    """
    try:
        for _, element in etree.iterparse(source, events=("end",), tag=tags, remove_comments=True, **_SAFE):
            yield element
            element.clear()
            # The parent keeps empty shells of all earlier children; a million of them is what fills memory.
            parent = element.getparent()
            if parent is not None:
                while element.getprevious() is not None:
                    del parent[0]
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"its XML is damaged ({str(error)[:100]})") from None


def local(element: Element) -> str:
    """Return an element's tag without its namespace, "" for comments and processing instructions."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield the children whose tag without namespace is one of `names`; none of None."""
    for child in element if element is not None else ():
        if local(child) in names:
            yield child


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first element down a path of tags without namespaces, or None."""
    for name in path:
        if element is None:
            return None
        element = next(children(element, name), None)
    return element


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Yield all elements below with one of these tags (without namespace), in document order."""
    for found in element.iter():
        if found is not element and local(found) in names:
            yield found


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    if element is None:
        return default
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return str(value)
    return default


def all_text(element: Element, *names: str) -> str:
    """Return the texts of all elements below with one of these tags, joined without a gap."""
    return "".join(found.text or "" for found in descendants(element, *names))
